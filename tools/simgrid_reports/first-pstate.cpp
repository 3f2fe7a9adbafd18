// A host that is in pstate 1 from the start, where it takes 50 W instead of 100 W, idles for 10 s.
// Expected: 500 J
// Found: 1000 J
#include <cstdio>
#include <fstream>
#include <simgrid/plugins/energy.h>
#include <simgrid/s4u.hpp>

namespace s4u = simgrid::s4u;

int main(int argc, char* argv[])
{
  std::ofstream("first-pstate.xml") << R"(<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="zone" routing="Full"><host id="ada" speed="1Gf,0.5Gf" pstate="1">
<prop id="wattage_per_state" value="100:100:200,50:50:80"/></host></zone></platform>)";
  s4u::Engine engine(&argc, argv);
  sg_host_energy_plugin_init();
  engine.load_platform("first-pstate.xml");
  auto* ada = engine.host_by_name("ada");
  ada->add_actor("sleeper", [=] {
    s4u::this_actor::sleep_for(10);
    std::printf("%.0f J\n", sg_host_get_consumed_energy(ada));
  });
  engine.run();
  return 0;
}

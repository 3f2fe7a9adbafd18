// A host of an XML file that starts at the slower of two speeds, with the governor ondemand.
// With: --cfg=plugin:host_dvfs --cfg=plugin/dvfs/governor:ondemand --log=host_dvfs.thresh:critical
// Expected: 1 governor
// Found: 2 governors
#include <cstdio>
#include <fstream>
#include <simgrid/s4u.hpp>

namespace s4u = simgrid::s4u;

char const* const platform = R"(<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
<zone id="world" routing="Full">
  <host id="ada" speed="2Gf,1Gf" pstate="1"/>
</zone>
</platform>
)";

int main(int argc, char* argv[])
{
  s4u::Engine engine(&argc, argv);
  std::ofstream("governor-twice.xml") << platform;
  engine.load_platform("governor-twice.xml");
  engine.get_netzone_root()->seal(); // as run() does
  std::size_t const count = engine.get_actor_count();
  std::printf("%zu governor%s\n", count, count == 1 ? "" : "s");
  engine.host_by_name("ada")->add_actor("worker", [] { s4u::this_actor::execute(1e9); });
  engine.run();
  return 0;
}

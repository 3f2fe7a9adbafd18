// A link of 100 W, 10 W when it is off, is off for 10 s.
// Expected: 100 J
// Found: 1000 J
#include <cstdio>
#include <simgrid/plugins/energy.h>
#include <simgrid/s4u.hpp>

namespace s4u = simgrid::s4u;

int main(int argc, char* argv[])
{
  s4u::Engine engine(&argc, argv);
  sg_link_energy_plugin_init();
  auto* zone = engine.get_netzone_root()->add_netzone_full("zone");
  auto* ada  = zone->add_host("ada", 1e9);
  auto* wire = zone->add_link("wire", 1e9);
  wire->set_property("wattage_range", "100.0:200.0");
  wire->set_property("wattage_off", "10");
  zone->seal();

  ada->add_actor("switch", [=] {
    wire->turn_off();
    s4u::this_actor::sleep_for(10);
    std::printf("%.0f J\n", sg_link_get_consumed_energy(wire));
  });
  engine.run();
  return 0;
}

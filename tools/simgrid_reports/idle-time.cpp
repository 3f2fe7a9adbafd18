// The idle time of a host that was busy from 0 s to 1 s.
// With: --cfg=plugin:host_load
// Expected: idle for 0 s
// Found: idle for 1 s
#include <cstdio>
#include <simgrid/plugins/load.h>
#include <simgrid/s4u.hpp>

namespace s4u = simgrid::s4u;

int main(int argc, char* argv[])
{
  s4u::Engine engine(&argc, argv);
  auto* zone = engine.get_netzone_root()->add_netzone_full("zone");
  auto* ada  = zone->add_host("ada", 1e9);
  zone->seal();

  ada->add_actor("main", [=] {
    s4u::this_actor::execute(1e9);
    std::printf("idle for %g s\n", sg_host_get_idle_time(ada));
  });
  engine.run();
  return 0;
}

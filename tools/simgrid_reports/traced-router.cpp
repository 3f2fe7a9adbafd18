// A platform with a router, or with a cluster, which has one, and any tracing of resources.
// With: --cfg=tracing:yes --cfg=tracing/platform:yes
// Expected: done
// Found: SIGSEGV
#include <cstdio>
#include <simgrid/s4u.hpp>

namespace s4u = simgrid::s4u;

int main(int argc, char* argv[])
{
  s4u::Engine engine(&argc, argv);
  auto* zone = engine.get_netzone_root()->add_netzone_full("zone");
  zone->add_router("router");
  zone->seal();
  engine.run();
  std::printf("done\n");
  return 0;
}

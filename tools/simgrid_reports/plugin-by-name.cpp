// The battery plug-in, which --cfg=plugin:help lists; likewise chiller, solar_panel and task.
// With: --cfg=plugin:battery
// Expected: done
// Found: SIGABRT, bad_function_call
#include <cstdio>
#include <simgrid/s4u.hpp>

namespace s4u = simgrid::s4u;

int main(int argc, char* argv[])
{
  s4u::Engine engine(&argc, argv);
  auto* zone = engine.get_netzone_root()->add_netzone_full("zone");
  auto* ada  = zone->add_host("ada", 1e9);
  zone->seal();
  engine.run();
  std::printf("done on %s\n", ada->get_cname());
  return 0;
}

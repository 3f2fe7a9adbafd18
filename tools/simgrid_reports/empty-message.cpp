// A message of 0 bytes crosses a link with a latency of 1 s.
// With: --cfg=host/model:ptask_L07
// Expected: arrives at 1.000 s
// Found: arrives at 0.000 s
#include <cstdio>
#include <simgrid/s4u.hpp>

namespace s4u = simgrid::s4u;

int main(int argc, char* argv[])
{
  s4u::Engine engine(&argc, argv);
  auto* zone = engine.get_netzone_root()->add_netzone_full("zone");
  auto* ada  = zone->add_host("ada", 1e9);
  auto* bob  = zone->add_host("bob", 1e9);
  auto* wire = zone->add_link("wire", 1e9)->set_latency(1.0);
  zone->add_route(ada, bob, {wire});
  zone->seal();

  ada->add_actor("sender", [=] {
    s4u::Comm::sendto(ada, bob, 0);
    std::printf("arrives at %.3f s\n", s4u::Engine::get_clock());
  });
  engine.run();
  return 0;
}

// One transfer over a link with a latency of 1 ms, whose bandwidth changes after 5 ms. With SimGrid's defaults the
// latency counts 13.01 times, so the transfer begins at 13.01 ms and takes 1.05 s at the new bandwidth, cross-traffic
// included: it ends at 1.063 s.
// Expected: ends at 1.063010 s
// Found: Deadlock detected
#include <cstdio>
#include <simgrid/s4u.hpp>

namespace s4u = simgrid::s4u;

int main(int argc, char* argv[])
{
  s4u::Engine engine(&argc, argv);
  auto* zone        = engine.get_netzone_root()->add_netzone_full("zone");
  auto* source      = zone->add_host("source", 1e9);
  auto* destination = zone->add_host("destination", 1e9);
  auto* link        = zone->add_link("link", 2e9)->set_latency(1e-3);
  zone->add_route(source, destination, {link});
  zone->seal();

  source->add_actor("sender", [=] {
    s4u::Comm::sendto(source, destination, 0.97e9);
    std::printf("ends at %.6f s\n", s4u::Engine::get_clock());
  });
  source->add_actor("operator", [=] {
    s4u::this_actor::sleep_for(5e-3);
    link->set_bandwidth(1e9);
  });
  engine.run();
  return 0;
}

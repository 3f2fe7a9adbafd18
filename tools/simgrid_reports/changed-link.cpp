// During a transfer from ada to bob, the latency of the link of the way back becomes 0.
// Expected: bob has it at 1.013 s
// Found: SIGABRT, Variable penalty should not be negative!
#include <cstdio>
#include <simgrid/s4u.hpp>

namespace s4u = simgrid::s4u;

int main(int argc, char* argv[])
{
  s4u::Engine engine(&argc, argv);
  auto* zone  = engine.get_netzone_root()->add_netzone_full("zone");
  auto* ada   = zone->add_host("ada", 1e9);
  auto* bob   = zone->add_host("bob", 1e9);
  auto* there = zone->add_link("there", 1e9)->set_latency(1e-3);
  auto* back  = zone->add_link("back", 1e9)->set_latency(5e-3);
  zone->add_route(ada, bob, {s4u::LinkInRoute(there)}, false);
  zone->add_route(bob, ada, {s4u::LinkInRoute(back)}, false);
  zone->seal();

  ada->add_actor("sender", [=] {
    s4u::CommPtr transfer = s4u::Comm::sendto_init(ada, bob)->set_payload_size(970000000);
    transfer->start();
    s4u::this_actor::sleep_for(0.5);
    back->set_latency(0);
    transfer->wait();
    std::printf("bob has it at %.3f s\n", s4u::Engine::get_clock());
  });
  engine.run();
  return 0;
}

// The bandwidth of a link rises to ten times at 0.5 s, during a transfer of 1 GB.
// With: --cfg=network/model:CM02 --cfg=network/crosstraffic:0
// Expected: ends at 0.550 s
// Found: ends at 1.000 s
#include <cstdio>
#include <simgrid/s4u.hpp>

namespace s4u = simgrid::s4u;

int main(int argc, char* argv[])
{
  s4u::Engine engine(&argc, argv);
  auto* zone = engine.get_netzone_root()->add_netzone_full("zone");
  auto* ada  = zone->add_host("ada", 1e9);
  auto* bob  = zone->add_host("bob", 1e9);
  auto* wire = zone->add_link("wire", 1e9);
  zone->add_route(ada, bob, {wire});
  zone->seal();

  ada->add_actor("sender", [=] {
    s4u::CommPtr transfer = s4u::Comm::sendto_async(ada, bob, 1e9);
    s4u::this_actor::sleep_for(0.5);
    wire->set_bandwidth(1e10);
    transfer->wait();
    std::printf("ends at %.3f s\n", s4u::Engine::get_clock());
  });
  engine.run();
  return 0;
}

// Two equal transfers over one link, of which the second one is suspended after 0.5 s and resumed at once. That should
// change nothing: both end at the same date.
// Expected: first ends at 2.177958 s
// Found: first ends at 1.339835 s
#include <cstdio>
#include <simgrid/s4u.hpp>

namespace s4u = simgrid::s4u;

int main(int argc, char* argv[])
{
  s4u::Engine engine(&argc, argv);
  auto* zone        = engine.get_netzone_root()->add_netzone_full("zone");
  auto* source      = zone->add_host("source", 1e9);
  auto* destination = zone->add_host("destination", 1e9);
  auto const* link  = zone->add_link("link", 1e9)->set_latency(1e-3);
  zone->add_route(source, destination, {link});
  zone->seal();

  for (bool interrupted : {false, true})
    source->add_actor(interrupted ? "second" : "first", [=] {
      s4u::CommPtr transfer = s4u::Comm::sendto_init(source, destination)->set_payload_size(1e9);
      transfer->start();
      s4u::this_actor::sleep_for(0.5);
      if (interrupted)
        transfer->suspend()->resume();
      transfer->wait();
      std::printf("%s ends at %.6f s\n", s4u::this_actor::get_cname(), s4u::Engine::get_clock());
    });
  engine.run();
  return 0;
}

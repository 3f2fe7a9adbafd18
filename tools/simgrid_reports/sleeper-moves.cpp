// A sleeping actor is moved from bob to ada before bob fails.
// Expected: wakes at 10 s
// Found: wakes at 2 s
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

  s4u::ActorPtr sleeper = bob->add_actor("sleeper", [] {
    s4u::this_actor::sleep_for(10);
    std::printf("wakes at %g s\n", s4u::Engine::get_clock());
  });
  ada->add_actor("main", [=] {
    s4u::this_actor::sleep_for(1);
    sleeper->set_host(ada);
    s4u::this_actor::sleep_for(1);
    bob->turn_off();
  });
  engine.run();
  return 0;
}

// An actor that has ended is moved to another host.
// Expected: moved
// Found: SIGSEGV
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

  ada->add_actor("main", [=] {
    s4u::ActorPtr dead = bob->add_actor("dead", [] {});
    s4u::this_actor::sleep_for(1);
    dead->set_host(ada);
    std::printf("moved\n");
  });
  engine.run();
  return 0;
}

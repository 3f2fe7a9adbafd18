// What a suspended actor waits for fails. It should hear of it when it is resumed, at 1.5 s.
// Expected: worker: Host failure at 1.5 s
// Found: SIGABRT, This exception may be lost by subsequent calls
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
    s4u::ActorPtr worker = ada->add_actor("worker", [=] {
      try {
        s4u::this_actor::exec_init(1e9)->set_host(bob)->wait();
      } catch (simgrid::HostFailureException const&) {
        std::printf("worker: Host failure at %g s\n", s4u::Engine::get_clock());
      }
    });
    s4u::this_actor::sleep_for(0.5);
    worker->suspend();
    bob->turn_off();
    s4u::this_actor::sleep_for(1);
    worker->resume();
  });
  engine.run();
  return 0;
}

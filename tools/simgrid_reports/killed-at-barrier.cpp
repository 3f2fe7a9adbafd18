// The first of two actors is killed at a barrier for two. Those who come later should pass it.
// Expected: second passes at 2 s
// Found: SIGSEGV
#include <cstdio>
#include <simgrid/s4u.hpp>

namespace s4u = simgrid::s4u;

int main(int argc, char* argv[])
{
  s4u::Engine engine(&argc, argv);
  auto* zone = engine.get_netzone_root()->add_netzone_full("zone");
  auto* ada  = zone->add_host("ada", 1e9);
  zone->seal();

  s4u::BarrierPtr barrier = s4u::Barrier::create(2);
  auto wait               = [barrier] {
    barrier->wait();
    std::printf("%s passes at %g s\n", s4u::this_actor::get_cname(), s4u::Engine::get_clock());
  };
  ada->add_actor("main", [=] {
    s4u::ActorPtr first = ada->add_actor("first", wait);
    s4u::this_actor::sleep_for(1);
    first->kill();
    ada->add_actor("second", wait);
    s4u::this_actor::sleep_for(1);
    ada->add_actor("third", wait);
  });
  engine.run();
  return 0;
}

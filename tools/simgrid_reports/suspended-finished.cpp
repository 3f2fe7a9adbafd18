// An actor is suspended that still has an execution that is over.
// Expected: worker ends at 5 s
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

  ada->add_actor("main", [=] {
    s4u::ActorPtr worker = ada->add_actor("worker", [] {
      s4u::ExecPtr work = s4u::this_actor::exec_async(1e9);
      s4u::this_actor::sleep_for(5);
      work->wait();
      std::printf("worker ends at %g s\n", s4u::Engine::get_clock());
    });
    s4u::this_actor::sleep_for(2);
    worker->suspend();
    worker->resume();
  });
  engine.run();
  return 0;
}

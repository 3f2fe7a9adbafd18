// An execution of two threads shares two cores with another one, is suspended and at once resumed.
// Expected: other ends at 1.5 s
// Found: other ends at 1 s
#include <cstdio>
#include <simgrid/s4u.hpp>

namespace s4u = simgrid::s4u;

int main(int argc, char* argv[])
{
  s4u::Engine engine(&argc, argv);
  auto* zone = engine.get_netzone_root()->add_netzone_full("zone");
  auto* ada  = zone->add_host("ada", 1e9)->set_core_count(2);
  zone->seal();

  ada->add_actor("main", [] {
    s4u::ExecPtr work  = s4u::this_actor::exec_init(2e9)->set_thread_count(2)->start();
    s4u::ExecPtr other = s4u::this_actor::exec_init(1e9)->start();
    work->suspend()->resume();
    other->wait();
    std::printf("other ends at %g s\n", s4u::Engine::get_clock());
  });
  engine.run();
  return 0;
}

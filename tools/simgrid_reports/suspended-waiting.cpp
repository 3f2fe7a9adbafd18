// An execution that waits for a place on its host is suspended at 0.5 s. It should begin when it is resumed, at 3 s.
// Expected: second: 4 s
// Found: second: 2 s
#include <cstdio>
#include <simgrid/s4u.hpp>

namespace s4u = simgrid::s4u;

int main(int argc, char* argv[])
{
  s4u::Engine engine(&argc, argv);
  auto* zone = engine.get_netzone_root()->add_netzone_full("zone");
  auto* ada  = zone->add_host("ada", 1e9);
  auto* bob  = zone->add_host("bob", 1e9);
  zone->seal();
  ada->set_concurrency_limit(1);

  bob->add_actor("main", [=] {
    s4u::ExecPtr first  = s4u::this_actor::exec_init(1e9)->set_host(ada);
    s4u::ExecPtr second = s4u::this_actor::exec_init(1e9)->set_host(ada);
    first->start();
    second->start();
    s4u::this_actor::sleep_until(0.5);
    second->suspend();
    s4u::this_actor::sleep_until(3);
    second->resume();
    second->wait();
    std::printf("second: %g s\n", second->get_finish_time());
  });
  engine.run();
  return 0;
}

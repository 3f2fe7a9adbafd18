// Of two executions on a host that takes one at a time, the first is suspended at 0.5 s. The second should begin then.
// Expected: second: 1.5 s
// Found: second: 4.5 s
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
    first->suspend();
    s4u::this_actor::sleep_until(3);
    first->resume();
    second->wait();
    std::printf("second: %g s\n", second->get_finish_time());
  });
  engine.run();
  return 0;
}

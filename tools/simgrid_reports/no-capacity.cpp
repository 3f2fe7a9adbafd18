// A host stands still, in a pstate of 0 flop/s, from 1 s to 6 s of an execution of 2 s.
// Expected: ends at 7.000 s
// Found: ends at 2.000 s
#include <cstdio>
#include <simgrid/s4u.hpp>

namespace s4u = simgrid::s4u;

int main(int argc, char* argv[])
{
  s4u::Engine engine(&argc, argv);
  auto* zone = engine.get_netzone_root()->add_netzone_full("zone");
  auto* ada  = zone->add_host("ada", std::vector<double>{1e9, 0.0});
  zone->seal();

  ada->add_actor("worker", [=] {
    s4u::ExecPtr work = s4u::this_actor::exec_async(2e9);
    s4u::this_actor::sleep_for(1);
    ada->set_pstate(1);
    s4u::this_actor::sleep_for(5);
    ada->set_pstate(0);
    work->wait();
    std::printf("ends at %.3f s\n", work->get_finish_time());
  });
  engine.run();
  return 0;
}

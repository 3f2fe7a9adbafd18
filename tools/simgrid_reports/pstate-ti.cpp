// At 1 s of an execution of 2 s, its host goes to a pstate of half its speed.
// With: --cfg=cpu/optim:TI
// Expected: ends at 3.000 s
// Found: ends at 2.000 s
#include <cstdio>
#include <simgrid/s4u.hpp>

namespace s4u = simgrid::s4u;

int main(int argc, char* argv[])
{
  s4u::Engine engine(&argc, argv);
  auto* zone = engine.get_netzone_root()->add_netzone_full("zone");
  auto* ada  = zone->add_host("ada", std::vector<double>{1e9, 5e8});
  auto* bob  = zone->add_host("bob", 1e9);
  zone->seal();

  ada->add_actor("worker", [] {
    s4u::this_actor::execute(2e9);
    std::printf("ends at %.3f s\n", s4u::Engine::get_clock());
  });
  bob->add_actor("operator", [=] {
    s4u::this_actor::sleep_for(1);
    ada->set_pstate(1);
  });
  engine.run();
  return 0;
}

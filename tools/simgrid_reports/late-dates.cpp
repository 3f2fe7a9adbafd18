// Two actors sleep until dates of which the second one is after 235 days.
// Expected: wakes at 20325938.014 s
// Found: Deadlock detected
#include <cstdio>
#include <simgrid/s4u.hpp>

namespace s4u = simgrid::s4u;

int main(int argc, char* argv[])
{
  s4u::Engine engine(&argc, argv);
  auto* zone = engine.get_netzone_root()->add_netzone_full("zone");
  auto* ada  = zone->add_host("ada", 1e9);
  zone->seal();

  for (double date : {2564189.925492203, 20325938.01403336})
    ada->add_actor("sleeper", [=] {
      s4u::this_actor::sleep_for(date);
      std::printf("wakes at %.3f s\n", s4u::Engine::get_clock());
    });
  engine.run();
  return 0;
}

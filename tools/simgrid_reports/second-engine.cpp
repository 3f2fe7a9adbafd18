// Two simulations in a row, the second with an engine of its own.
// Expected: second ends at 1 s
// Found: second ends at 2 s
#include <cstdio>
#include <simgrid/s4u.hpp>

namespace s4u = simgrid::s4u;

int main(int argc, char* argv[])
{
  for (char const* which : {"first", "second"}) {
    s4u::Engine engine(&argc, argv);
    auto* zone = engine.get_netzone_root()->add_netzone_full("zone");
    auto* ada  = zone->add_host("ada", 1e9);
    zone->seal();
    ada->add_actor("worker", [] { s4u::this_actor::execute(1e9); });
    engine.run();
    std::printf("%s ends at %g s\n", which, s4u::Engine::get_clock());
  }
  return 0;
}

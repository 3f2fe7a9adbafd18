// The load of a host under cpu/optim:TI.
// With: --cfg=cpu/optim:TI
// Expected: load 1e+09
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
    s4u::ExecPtr work = s4u::this_actor::exec_async(1e9);
    s4u::this_actor::sleep_for(0.5);
    std::printf("load %g\n", ada->get_load());
    work->wait();
  });
  engine.run();
  return 0;
}

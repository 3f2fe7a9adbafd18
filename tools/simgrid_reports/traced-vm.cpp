// A virtual machine, and tracing of virtual machines.
// With: --cfg=tracing:yes --cfg=tracing/vm:yes
// Expected: done
// Found: SIGABRT, already present in all_containers_
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
    auto* machine = ada->create_vm("machine", 1);
    machine->start();
    s4u::this_actor::sleep_for(1);
    machine->destroy();
    std::printf("done\n");
  });
  engine.run();
  return 0;
}

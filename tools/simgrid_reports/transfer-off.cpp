// A transfer to a host that is off.
// Expected: failed
// Found: SIGABRT, to_->is_on() failed
#include <cstdio>
#include <simgrid/s4u.hpp>

namespace s4u = simgrid::s4u;

int main(int argc, char* argv[])
{
  s4u::Engine engine(&argc, argv);
  auto* zone = engine.get_netzone_root()->add_netzone_full("zone");
  auto* ada  = zone->add_host("ada", 1e9);
  auto* bob  = zone->add_host("bob", 1e9);
  auto* wire = zone->add_link("wire", 1e9);
  zone->add_route(ada, bob, {wire});
  zone->seal();

  ada->add_actor("sender", [=] {
    bob->turn_off();
    try {
      s4u::Comm::sendto(ada, bob, 1e6);
    } catch (simgrid::NetworkFailureException const&) {
      std::printf("failed\n");
    }
  });
  engine.run();
  return 0;
}

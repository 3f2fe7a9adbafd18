// A detached put outlives its host. Who gets it should learn that the sender has failed.
// Expected: failed
// Found: SIGABRT, from_->is_on() failed
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

  s4u::Mailbox* box = s4u::Mailbox::by_name("box");
  ada->add_actor("sender", [=] {
    static int payload;
    box->put_init(&payload, 1000000)->detach();
    s4u::this_actor::sleep_for(10);
  });
  bob->add_actor("receiver", [=] {
    s4u::this_actor::sleep_for(1);
    ada->turn_off();
    try {
      box->get<int>();
    } catch (simgrid::NetworkFailureException const&) {
      std::printf("failed\n");
    }
  });
  engine.run();
  return 0;
}

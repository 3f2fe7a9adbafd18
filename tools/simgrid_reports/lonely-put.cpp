// With the plug-in link_load or link_energy, an actor is killed while it waits for somebody to take its message.
// With: --cfg=plugin:link_load
// Expected: done
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
    s4u::ActorPtr sender = ada->add_actor("sender", [] {
      static int payload;
      s4u::Mailbox::by_name("box")->put(&payload, 1000000);
    });
    s4u::this_actor::sleep_for(1);
    sender->kill();
    std::printf("done\n");
  });
  engine.run();
  return 0;
}

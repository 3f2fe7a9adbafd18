// A split-duplex link that goes off at 1 s and on at 2 s.
// Expected: done at 3 s
// Found: SIGABRT, Unknown event!
#include <cstdio>
#include <fstream>
#include <simgrid/s4u.hpp>

namespace s4u = simgrid::s4u;

char const* const platform = R"(<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
<zone id="world" routing="Full">
  <host id="ada" speed="1Gf"/>
  <link id="wire" bandwidth="1GBps" latency="0" sharing_policy="SPLITDUPLEX" state_file="state.txt"/>
</zone>
</platform>
)";

int main(int argc, char* argv[])
{
  s4u::Engine engine(&argc, argv);
  std::ofstream("state.txt") << "1 0\n2 1\n";
  std::ofstream("split-duplex-state.xml") << platform;
  engine.load_platform("split-duplex-state.xml");
  engine.host_by_name("ada")->add_actor("sleeper", [] {
    s4u::this_actor::sleep_for(3);
    std::printf("done at %g s\n", s4u::Engine::get_clock());
  });
  engine.run();
  return 0;
}

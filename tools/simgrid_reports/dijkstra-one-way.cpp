// From carl there is a way to bob, but no way leads to carl. That should not matter to the way from ada to bob.
// Expected: ada to bob: there
// Found: SIGALRM, ada to bob:
#include <cstdio>
#include <fstream>
#include <simgrid/s4u.hpp>
#include <unistd.h>

namespace s4u = simgrid::s4u;

char const* const platform = R"(<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
<zone id="world" routing="Dijkstra">
  <host id="ada" speed="1Gf"/>
  <host id="bob" speed="1Gf"/>
  <host id="carl" speed="1Gf"/>
  <link id="there" bandwidth="1GBps" latency="0"/>
  <link id="from_carl" bandwidth="1GBps" latency="0"/>
  <route src="ada" dst="bob"><link_ctn id="there"/></route>
  <route src="carl" dst="bob" symmetrical="NO"><link_ctn id="from_carl"/></route>
</zone>
</platform>
)";

int main(int argc, char* argv[])
{
  s4u::Engine engine(&argc, argv);
  std::ofstream("dijkstra-one-way.xml") << platform;
  engine.load_platform("dijkstra-one-way.xml");
  engine.get_netzone_root()->seal();
  std::vector<s4u::Link*> links;
  std::printf("ada to bob:");
  std::fflush(stdout);
  alarm(2);
  engine.host_by_name("ada")->route_to(engine.host_by_name("bob"), links, nullptr);
  for (auto const* link : links)
    std::printf(" %s\n", link->get_cname());
  return 0;
}

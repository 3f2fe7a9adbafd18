// Host bob has no route to the gateway of his zone.
// Expected: SIGABRT, no route
// Found: bob to eve: outer
#include <cstdio>
#include <fstream>
#include <simgrid/s4u.hpp>

namespace s4u = simgrid::s4u;

char const* const platform = R"(<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
<zone id="world" routing="Full">
  <zone id="left" routing="Full">
    <host id="ada" speed="1Gf"/>
    <host id="bob" speed="1Gf"/>
  </zone>
  <zone id="right" routing="Full">
    <host id="eve" speed="1Gf"/>
  </zone>
  <link id="outer" bandwidth="1GBps" latency="0"/>
  <zoneRoute src="left" dst="right" gw_src="ada" gw_dst="eve"><link_ctn id="outer"/></zoneRoute>
</zone>
</platform>
)";

int main(int argc, char* argv[])
{
  s4u::Engine engine(&argc, argv);
  std::ofstream("missing-way-out.xml") << platform;
  engine.load_platform("missing-way-out.xml");
  engine.get_netzone_root()->seal();
  auto* bob = engine.host_by_name("bob");
  auto* eve = engine.host_by_name("eve");
  std::vector<s4u::Link*> links;
  bob->route_to(eve, links, nullptr);
  std::printf("bob to eve:");
  for (auto const* link : links)
    std::printf(" %s", link->get_cname());
  std::printf("\n");
  return 0;
}

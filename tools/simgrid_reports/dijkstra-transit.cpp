// From left to right through the zone middle, which the way enters at router in and leaves at router out.
// Expected: ada to bob: enter across leave
// Found: SIGSEGV
#include <cstdio>
#include <fstream>
#include <simgrid/s4u.hpp>

namespace s4u = simgrid::s4u;

char const* const platform = R"(<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
<zone id="world" routing="Dijkstra">
  <zone id="left" routing="Full"><host id="ada" speed="1Gf"/></zone>
  <zone id="middle" routing="Full">
    <router id="in"/>
    <router id="out"/>
    <link id="across" bandwidth="1GBps" latency="0"/>
    <route src="in" dst="out"><link_ctn id="across"/></route>
  </zone>
  <zone id="right" routing="Full"><host id="bob" speed="1Gf"/></zone>
  <link id="enter" bandwidth="1GBps" latency="0"/>
  <link id="leave" bandwidth="1GBps" latency="0"/>
  <zoneRoute src="left" dst="middle" gw_src="ada" gw_dst="in"><link_ctn id="enter"/></zoneRoute>
  <zoneRoute src="middle" dst="right" gw_src="out" gw_dst="bob"><link_ctn id="leave"/></zoneRoute>
</zone>
</platform>
)";

int main(int argc, char* argv[])
{
  s4u::Engine engine(&argc, argv);
  std::ofstream("dijkstra-transit.xml") << platform;
  engine.load_platform("dijkstra-transit.xml");
  engine.get_netzone_root()->seal();
  auto* ada = engine.host_by_name("ada");
  auto* bob = engine.host_by_name("bob");
  std::vector<s4u::Link*> links;
  ada->route_to(bob, links, nullptr);
  std::printf("ada to bob:");
  for (auto const* link : links)
    std::printf(" %s", link->get_cname());
  std::printf("\n");
  return 0;
}

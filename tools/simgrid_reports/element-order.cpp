// A link before the first zone, as the DTD allows it.
// Expected: loaded
// Found: SIGABRT, Starting tag <zone> is not allowed here
#include <cstdio>
#include <fstream>
#include <simgrid/s4u.hpp>

namespace s4u = simgrid::s4u;

char const* const platform = R"(<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
<zone id="world" routing="Full">
  <link id="wire" bandwidth="1GBps" latency="0"/>
  <zone id="left" routing="Full"><host id="ada" speed="1Gf"/></zone>
  <zone id="right" routing="Full"><host id="bob" speed="1Gf"/></zone>
  <zoneRoute src="left" dst="right" gw_src="ada" gw_dst="bob"><link_ctn id="wire"/></zoneRoute>
</zone>
</platform>
)";

int main(int argc, char* argv[])
{
  s4u::Engine engine(&argc, argv);
  std::ofstream("element-order.xml") << platform;
  engine.load_platform("element-order.xml");
  std::printf("loaded\n");
  return 0;
}

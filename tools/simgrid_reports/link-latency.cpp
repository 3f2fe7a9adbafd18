// A link without a latency, for which the DTD has the default 0.
// Expected: loaded
// Found: SIGABRT, cannot parse number
#include <cstdio>
#include <fstream>
#include <simgrid/s4u.hpp>

namespace s4u = simgrid::s4u;

char const* const platform = R"(<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
<zone id="world" routing="Full">
  <host id="ada" speed="1Gf"/>
  <link id="wire" bandwidth="1GBps"/>
</zone>
</platform>
)";

int main(int argc, char* argv[])
{
  s4u::Engine engine(&argc, argv);
  std::ofstream("link-latency.xml") << platform;
  engine.load_platform("link-latency.xml");
  std::printf("loaded\n");
  return 0;
}

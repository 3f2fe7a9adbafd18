// A route over a link that does not exist.
// Expected: no-line.xml:7
// Found: SIGABRT, Link not found: wire
#include <cstdio>
#include <fstream>
#include <simgrid/s4u.hpp>

namespace s4u = simgrid::s4u;

char const* const platform = R"(<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
<zone id="world" routing="Full">
  <host id="ada" speed="1Gf"/>
  <host id="bob" speed="1Gf"/>
  <route src="ada" dst="bob"><link_ctn id="wire"/></route>
</zone>
</platform>
)";

int main(int argc, char* argv[])
{
  s4u::Engine engine(&argc, argv);
  std::ofstream("no-line.xml") << platform;
  engine.load_platform("no-line.xml");
  std::printf("loaded\n");
  return 0;
}

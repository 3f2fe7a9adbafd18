// A torus as the only element of a platform; a flat cluster may be that.
// Expected: loaded
// Found: SIGSEGV
#include <cstdio>
#include <fstream>
#include <simgrid/s4u.hpp>

namespace s4u = simgrid::s4u;

char const* const platform = R"(<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
<cluster id="torus" prefix="n" radical="0-3" suffix="" speed="1Gf" bw="1GBps" lat="0"
         topology="TORUS" topo_parameters="2,2"/>
</platform>
)";

int main(int argc, char* argv[])
{
  s4u::Engine engine(&argc, argv);
  std::ofstream("cluster-without-zone.xml") << platform;
  engine.load_platform("cluster-without-zone.xml");
  std::printf("loaded\n");
  return 0;
}

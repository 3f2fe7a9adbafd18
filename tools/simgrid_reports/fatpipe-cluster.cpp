// A cluster whose links are fat pipes; both transfers leave by the link of n0.
// With: --cfg=network/model:CM02 --cfg=network/crosstraffic:0
// Expected: ends at 1.0 s
// Found: ends at 2.0 s
#include <cstdio>
#include <fstream>
#include <simgrid/s4u.hpp>

namespace s4u = simgrid::s4u;

char const* const platform = R"(<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
<zone id="world" routing="Full">
  <cluster id="one" prefix="n" radical="0-2" suffix="" speed="1Gf" bw="1GBps" lat="0" sharing_policy="FATPIPE"/>
</zone>
</platform>
)";

int main(int argc, char* argv[])
{
  s4u::Engine engine(&argc, argv);
  std::ofstream("fatpipe-cluster.xml") << platform;
  engine.load_platform("fatpipe-cluster.xml");
  auto* source = engine.host_by_name("n0");
  for (char const* name : {"n1", "n2"})
    source->add_actor(name, [=, &engine] {
      s4u::Comm::sendto(source, engine.host_by_name(name), 1e9);
      std::printf("ends at %.1f s\n", s4u::Engine::get_clock());
    });
  engine.run();
  return 0;
}

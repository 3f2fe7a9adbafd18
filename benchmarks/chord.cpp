// SimGrid's example dht-chord, whose nodes are compiled from its source, timed as benchmarks/actors.cpp.
//
//   chord PLATFORM BITS DEPLOYMENT
//
// Prints the processor time that it took and the simulated date of the end.

#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "s4u-dht-chord.hpp"

XBT_LOG_NEW_DEFAULT_CATEGORY(s4u_chord, "Chord");

int main(int argc, char* argv[])
{
  sg4::Engine engine(&argc, argv);
  if (argc != 4)
    return 2;
  engine.load_platform(argv[1]);
  int const bits = std::atoi(argv[2]);
  Node::set_parameters(bits, 1 << bits, 50);
  engine.register_actor<Node>("node");
  std::clock_t const start = std::clock();
  engine.load_deployment(argv[3]);
  engine.run();
  std::printf("%.9f %.12g\n", static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, sg4::Engine::get_clock());
  return 0;
}

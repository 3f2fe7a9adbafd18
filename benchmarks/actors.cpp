// The C++ side of benchmarks/actors.py: the same programs on SimGrid's own actors, with raw contexts.
//
//   actors PLATFORM ping_pong|master_worker ACTORS ROUNDS
//
// Prints the seconds that it took and the simulated date of the end.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <simgrid/s4u.hpp>

namespace s4u = simgrid::s4u;

static int payload;

static void ping(const std::string& number, int rounds)
{
  auto* out = s4u::Mailbox::by_name("ping-" + number);
  auto* in  = s4u::Mailbox::by_name("pong-" + number);
  for (int i = 0; i < rounds / 2; i++) {
    out->put(&payload, 1000);
    in->get<int>();
  }
  if (rounds % 2 != 0)
    out->put(&payload, 1000);
}

static void pong(const std::string& number, int rounds)
{
  auto* in  = s4u::Mailbox::by_name("ping-" + number);
  auto* out = s4u::Mailbox::by_name("pong-" + number);
  for (int i = 0; i < rounds / 2; i++) {
    in->get<int>();
    out->put(&payload, 1000);
  }
  if (rounds % 2 != 0)
    in->get<int>();
}

static void master(int workers, int rounds)
{
  for (int i = 0; i < rounds; i++)
    for (int worker = 0; worker < workers; worker++)
      s4u::Mailbox::by_name("worker-" + std::to_string(worker))->put(&payload, 1000);
}

static void worker(int number, int rounds)
{
  auto* in = s4u::Mailbox::by_name("worker-" + std::to_string(number));
  for (int i = 0; i < rounds; i++) {
    in->get<int>();
    s4u::this_actor::execute(1e6);
  }
}

int main(int argc, char* argv[])
{
  s4u::Engine engine(&argc, argv);
  if (argc != 5)
    return 2;
  engine.load_platform(argv[1]);
  bool const pairs  = std::string(argv[2]) == "ping_pong";
  int const actors  = std::atoi(argv[3]);
  int const rounds  = std::atoi(argv[4]);
  auto const start  = std::chrono::steady_clock::now();
  auto const& hosts = engine.get_all_hosts();
  if (pairs) {
    for (int i = 0; i < actors / 2; i++) {
      hosts[2 * i]->add_actor("ping", ping, std::to_string(i), rounds);
      hosts[2 * i + 1]->add_actor("pong", pong, std::to_string(i), rounds);
    }
  } else {
    hosts[0]->add_actor("master", master, actors, rounds);
    for (int i = 0; i < actors; i++)
      hosts[i + 1]->add_actor("worker", worker, i, rounds);
  }
  engine.run();
  double const seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::printf("%.9f %.12g\n", seconds, s4u::Engine::get_clock());
  return 0;
}

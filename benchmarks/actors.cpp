// The C++ side of benchmarks/actors.py: the same programs on SimGrid's own actors, with raw contexts.
//
//   actors PLATFORM ping_pong|master_worker|exchange ACTORS ROUNDS HOSTS PEERS
//
// Prints the processor time that it took and the simulated date of the end.

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

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

enum class Kind { START, PING, PONG, STOP };

struct Message {
  Kind kind;
  s4u::Mailbox* sender;
};

static void send(s4u::Mailbox* to, Kind kind, s4u::Mailbox* sender, long size)
{
  to->put_init(new Message{kind, sender}, static_cast<uint64_t>(size))->detach([](void* message) {
    delete static_cast<Message*>(message);
  });
}

static void starter(int actors)
{
  std::vector<s4u::Mailbox*> boxes;
  for (int i = 0; i < actors; i++)
    boxes.push_back(s4u::Mailbox::by_name("peer-" + std::to_string(i)));
  for (int i = 0; i < actors; i++)
    send(boxes[i], Kind::START, nullptr, 1000L * (i + 1));
  for (int i = 0; i < actors; i++)
    s4u::Mailbox::by_name("starter")->get<int>();
  for (auto* box : boxes)
    send(box, Kind::STOP, nullptr, 1);
}

static long draw(long state)
{
  return (state * 1103515245 + 12345) & 0x7FFFFFFF;
}

static void peer(int number, int actors, int peers, int rounds)
{
  long state = number;
  std::vector<s4u::Mailbox*> others;
  for (int i = 0; i < peers; i++) {
    state = draw(state);
    others.push_back(s4u::Mailbox::by_name("peer-" + std::to_string((state >> 8) % actors)));
  }
  auto* box = s4u::Mailbox::by_name("peer-" + std::to_string(number));
  for (;;) {
    auto* message                 = box->get<Message>();
    auto const [kind, sender_box] = *message;
    delete message;
    if (kind == Kind::STOP)
      return;
    if (kind == Kind::PING) {
      send(sender_box, Kind::PONG, nullptr, 1000 + number);
    } else if (rounds > 0) {
      rounds--;
      state = draw(state);
      send(others[(state >> 8) % peers], Kind::PING, box, 1000 + state % 65536);
    } else {
      s4u::Mailbox::by_name("starter")->put(&payload, 1);
    }
  }
}

int main(int argc, char* argv[])
{
  s4u::Engine engine(&argc, argv);
  if (argc != 7)
    return 2;
  engine.load_platform(argv[1]);
  std::string const program = argv[2];
  int const actors          = std::atoi(argv[3]);
  int const rounds          = std::atoi(argv[4]);
  int const used            = std::atoi(argv[5]);
  int const peers           = std::atoi(argv[6]);
  std::clock_t const start  = std::clock();
  auto const& hosts         = engine.get_all_hosts();
  if (program == "ping_pong") {
    for (int i = 0; i < actors / 2; i++) {
      hosts[2 * i]->add_actor("ping", ping, std::to_string(i), rounds);
      hosts[2 * i + 1]->add_actor("pong", pong, std::to_string(i), rounds);
    }
  } else if (program == "exchange") {
    hosts[0]->add_actor("starter", starter, actors);
    for (int i = 0; i < actors; i++)
      hosts[i % used]->add_actor("peer", peer, i, actors, peers, rounds);
  } else {
    hosts[0]->add_actor("master", master, actors, rounds);
    for (int i = 0; i < actors; i++)
      hosts[i + 1]->add_actor("worker", worker, i, rounds);
  }
  engine.run();
  std::printf("%.9f %.12g\n", static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, s4u::Engine::get_clock());
  return 0;
}

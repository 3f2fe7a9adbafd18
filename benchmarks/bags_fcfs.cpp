// The C++ side of benchmarks/bags.py: first come, first served on a tree, on SimGrid's own actors.
//
//   bags_fcfs PLATFORM PROBLEM COMPLETIONS
//
// PROBLEM holds the numbers of hosts and applications and the slots of a buffer; then flop, byte, weight and tasks
// of each application; then name, number of the parent (-1 for the root) and speed of each host, parents first.
// Writes the application and the date of each task's end to COMPLETIONS; prints the processor time that it took to load
// the platform and to run [s], the simulated date of the end, the tasks done and the peak memory [KiB]. Nodes do what
// simplugin/bags/actors does.

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <deque>
#include <fstream>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <simgrid/s4u.hpp>

namespace s4u = simgrid::s4u;

// A number, and headers [byte].
static constexpr double SMALL = 48.0;
// The target that is the node's own worker; children are 1, 2, ...
static constexpr int WORKER = 0;

struct Application {
  double flop;
  double byte;
  double weight;
  int tasks;
};

// A task, or the news that no task of its type will come any more.
struct Parcel {
  int kind;
  bool is_end;
};

struct Node {
  std::string name;
  const std::vector<Application>* applications;
  int capacity;
  bool is_root;
  double speed;
  std::vector<std::string> children;

  std::vector<int> stock;
  std::deque<int> arrivals;
  std::deque<int> queue;
  std::vector<int> handed;
  std::vector<bool> ended;
  std::vector<bool> told;
  std::vector<std::pair<int, double>> done;
  bool port_free  = true;
  bool is_open    = false;
  bool is_asking  = true;
  int pending     = 0;
  int in_hand     = -1;
  int sending     = -1;
  int destination = -1;
  s4u::SemaphorePtr work, port, ask, over;

  bool all_ended() const { return std::find(ended.begin(), ended.end(), false) == ended.end(); }
  int held() const { return std::accumulate(stock.begin(), stock.end(), 0) + (sending >= 0 ? 1 : 0); }
  int needs() const;
  int next_type() const;
  void request(int target) { queue.push_back(target); }
  void serve(int target, int kind);
  bool serve_one();
  void tell_ends();
  void look();
};

int Node::needs() const
{
  if (is_root || not is_open || all_ended())
    return 0;
  return std::max(capacity - held() - pending, 0);
}

// The oldest task; at the root, types take turns by their weights.
int Node::next_type() const
{
  if (not is_root)
    return arrivals.front();
  int best     = -1;
  double least = 0;
  for (size_t kind = 0; kind < stock.size(); kind++) {
    double const due = (handed[kind] + 1) / (*applications)[kind].weight;
    if (stock[kind] > 0 && (best < 0 || due < least)) {
      best  = static_cast<int>(kind);
      least = due;
    }
  }
  return best;
}

void Node::serve(int target, int kind)
{
  handed[kind]++;
  stock[kind]--;
  if (not is_root)
    arrivals.pop_front();
  else if (stock[kind] == 0)
    ended[kind] = true;
  queue.erase(std::find(queue.begin(), queue.end(), target));
  if (target == WORKER) {
    in_hand = kind;
    work->release();
    return;
  }
  port_free   = false;
  sending     = kind;
  destination = target;
  port->release();
}

// The oldest request that can be served gets the oldest task.
bool Node::serve_one()
{
  if (std::accumulate(stock.begin(), stock.end(), 0) == 0)
    return false;
  auto const found = std::find_if(queue.begin(), queue.end(), [this](int t) { return t == WORKER || port_free; });
  if (found == queue.end())
    return false;
  serve(*found, next_type());
  return true;
}

void Node::tell_ends()
{
  for (int kind = 0; kind < static_cast<int>(ended.size()); kind++) {
    if (not ended[kind] || told[kind] || stock[kind] > 0 || kind == sending)
      continue;
    told[kind] = true;
    for (auto const& child : children) {
      auto* box = s4u::Mailbox::by_name("tasks for " + child);
      box->put_init(new Parcel{kind, true}, SMALL)->detach();
    }
  }
}

void Node::look()
{
  while (is_open && serve_one())
    ;
  if (not is_asking && needs() > 0) {
    is_asking = true;
    ask->release();
  }
  tell_ends();
  if (in_hand < 0 && sending < 0 && std::find(told.begin(), told.end(), false) == told.end())
    over->release();
}

static void schedule(Node* node)
{
  s4u::this_actor::sleep_for(0.0);
  node->is_asking = false;
  node->is_open   = true;
  if (node->speed > 0)
    node->request(WORKER);
  node->look();
  auto* box = s4u::Mailbox::by_name("requests of " + node->name);
  while (true) {
    node->ask->acquire();
    int const asked = node->needs();
    node->pending += asked;
    box->put(new int(asked), SMALL);
    node->is_asking = false;
    node->look();
  }
}

static void hear(Node* node, int target)
{
  auto* box = s4u::Mailbox::by_name("requests of " + node->children[target - 1]);
  while (true) {
    auto const asked = box->get_unique<int>();
    for (int i = 0; i < *asked; i++)
      node->request(target);
    node->look();
  }
}

static void receive(Node* node)
{
  auto* box = s4u::Mailbox::by_name("tasks for " + node->name);
  while (not node->all_ended()) {
    auto const parcel = box->get_unique<Parcel>();
    if (parcel->is_end) {
      node->ended[parcel->kind] = true;
    } else {
      node->pending--;
      node->stock[parcel->kind]++;
      node->arrivals.push_back(parcel->kind);
    }
    node->look();
  }
}

static void send(Node* node)
{
  while (true) {
    node->port->acquire();
    auto* box         = s4u::Mailbox::by_name("tasks for " + node->children[node->destination - 1]);
    double const byte = (*node->applications)[node->sending].byte;
    box->put(new Parcel{node->sending, false}, byte);
    node->sending   = -1;
    node->port_free = true;
    node->look();
  }
}

static void work(Node* node)
{
  while (true) {
    node->work->acquire();
    s4u::this_actor::execute((*node->applications)[node->in_hand].flop);
    node->done.emplace_back(node->in_hand, s4u::Engine::get_clock());
    node->in_hand = -1;
    node->request(WORKER);
    node->look();
  }
}

static void start(Node* node)
{
  auto* here = s4u::this_actor::get_host();
  here->add_actor("schedules", schedule, node)->daemonize();
  here->add_actor("works", work, node)->daemonize();
  if (not node->children.empty())
    here->add_actor("sends", send, node)->daemonize();
  for (int target = 1; target <= static_cast<int>(node->children.size()); target++)
    here->add_actor("hears", hear, node, target)->daemonize();
  if (not node->is_root)
    here->add_actor("receives", receive, node)->daemonize();
  node->over->acquire();
}

static std::vector<std::unique_ptr<Node>> read_problem(const char* file, std::vector<Application>& applications)
{
  std::ifstream in(file);
  int hosts = 0, types = 0, capacity = 0;
  in >> hosts >> types >> capacity;
  applications.resize(types);
  for (auto& each : applications)
    in >> each.flop >> each.byte >> each.weight >> each.tasks;
  std::vector<std::unique_ptr<Node>> nodes;
  for (int number = 0; number < hosts; number++) {
    auto node  = std::make_unique<Node>();
    int parent = -1;
    in >> node->name >> parent >> node->speed;
    node->applications = &applications;
    node->capacity     = capacity;
    node->is_root      = parent < 0;
    node->stock.assign(types, 0);
    node->handed.assign(types, 0);
    node->ended.assign(types, false);
    node->told.assign(types, false);
    for (auto* each : {&node->work, &node->port, &node->ask, &node->over})
      *each = s4u::Semaphore::create(0);
    if (parent >= 0)
      nodes[parent]->children.push_back(node->name);
    else
      for (int kind = 0; kind < types; kind++)
        node->stock[kind] = applications[kind].tasks;
    nodes.push_back(std::move(node));
  }
  return nodes;
}

// Time of this process on processors [s].
static double processor_time()
{
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// What this program itself used at most [KiB]; getrusage would count its parent's too.
static long peak_memory()
{
  std::ifstream in("/proc/self/status");
  for (std::string word; in >> word;)
    if (word == "VmHWM:") {
      long kibibytes = 0;
      in >> kibibytes;
      return kibibytes;
    }
  return 0;
}

int main(int argc, char* argv[])
{
  s4u::Engine engine(&argc, argv);
  if (argc != 4)
    return 2;
  double const begin = processor_time();
  engine.load_platform(argv[1]);
  double const loading = processor_time() - begin;
  std::vector<Application> applications;
  auto const nodes     = read_problem(argv[2], applications);
  double const started = processor_time();
  for (auto const& node : nodes)
    engine.host_by_name(node->name)->add_actor("node", start, node.get());
  engine.run();
  double const seconds = processor_time() - started;
  std::ofstream out(argv[3]);
  out.precision(17);
  size_t tasks = 0;
  for (auto const& node : nodes)
    for (auto const& [kind, date] : node->done) {
      out << kind << ' ' << date << '\n';
      tasks++;
    }
  std::printf("%.9f %.9f %.12g %zu %ld\n", loading, seconds, s4u::Engine::get_clock(), tasks, peak_memory());
  return 0;
}

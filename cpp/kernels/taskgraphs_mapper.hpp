// The mapper of parallel task graphs: the rules are those that simplugin.taskgraphs.mapping documents.
//
// Of each cluster the processors are kept by the dates at which they get free, so that any allocation takes the first
// ones: a candidate costs what its number of processors does, at most.
#pragma once

#include "taskgraphs.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <stdexcept>
#include <utility>
#include <vector>

namespace taskgraphs {

using Index = std::int64_t;

enum class Packing { OFF, EARLIEST, LARGEST };

struct Rules {
  Packing packing;
  bool by_bottom_level;
  bool reserve;
  bool transfers;
  bool together;
  bool kept; // what stays on a processor costs nothing
};

template <typename Value>
std::vector<Value> values(py::array_t<Value, py::array::c_style | py::array::forcecast> const& array)
{
  return {array.data(), array.data() + array.size()};
}

template <typename Value> py::array_t<Value> array_of(std::vector<Value> const& values)
{
  return py::array_t<Value>(static_cast<py::ssize_t>(values.size()), values.data());
}

inline void require(bool condition, char const* what)
{
  if (not condition)
    throw std::invalid_argument(what);
}

/// The neighbours of each task on one side.
struct Neighbours {
  std::vector<Index> start;
  std::vector<Index> task;

  bool fit(size_t tasks) const
  {
    return start.size() == tasks + 1 && start.front() == 0 && start.back() == static_cast<Index>(task.size()) &&
           std::is_sorted(start.begin(), start.end()) && std::all_of(task.begin(), task.end(), [tasks](Index each) {
             return each >= 0 && each < static_cast<Index>(tasks);
           });
  }
};

struct Tasks {
  std::vector<double> flop;
  std::vector<double> alpha;
  std::vector<double> release;
  Neighbours before;
  std::vector<double> byte; // of each edge, as in `before`
  Neighbours after;

  Tasks(Floats const& flops, Floats const& alphas, Floats const& releases, Neighbours earlier, Floats const& bytes,
        Neighbours later)
      : flop(values(flops)), alpha(values(alphas)), release(values(releases)), before(std::move(earlier)),
        byte(values(bytes)), after(std::move(later))
  {
    require(alpha.size() == flop.size() && release.size() == flop.size(), "tasks: arrays of different lengths");
    require(before.fit(flop.size()) && after.fit(flop.size()), "tasks: the neighbours do not fit the tasks");
    require(byte.size() == before.task.size(), "tasks: one number of bytes an edge is needed");
  }

  Index size() const { return static_cast<Index>(flop.size()); }
};

struct Clusters {
  std::vector<Index> processors;
  std::vector<double> speed;
  std::vector<double> bandwidth;
  std::vector<double> latency;
  std::vector<double> shared;
  std::vector<Index> hub; // the switch of each cluster

  Clusters(Integers const& counts, Floats const& speeds, Floats const& bandwidths, Floats const& latencies,
           Floats const& capacities, Integers const& hubs)
      : processors(values(counts)), speed(values(speeds)), bandwidth(values(bandwidths)), latency(values(latencies)),
        shared(values(capacities)), hub(values(hubs))
  {
    size_t const count = speed.size();
    require(processors.size() == count && bandwidth.size() == count && hub.size() == count,
            "clusters: arrays of different lengths");
    require(latency.size() == count * count && shared.size() == count * count,
            "clusters: latency and shared need a number for each two clusters");
  }

  Index size() const { return static_cast<Index>(speed.size()); }
};

/// What a redistribution moves between processors if the rest is kept, as parts of all its data.
struct Moved {
  double sent     = 1.0; // the most that leaves a processor of the source, times their number
  double received = 1.0; // the most that arrives at one of the target, times their number
  double all      = 1.0;
};

/// Returns what moves if both sets of processors hold the data in equal blocks.
Moved moved(std::vector<Index> const& sources, std::vector<Index> const& targets);

/// A processor, by when it gets free and its number in the site.
using Slot = std::pair<double, Index>;

/// A task on the first processors of a cluster.
struct Candidate {
  Index cluster  = -1;
  Index count    = 0;
  double free    = 0.0; // when its processors are
  double arrival = 0.0; // of its data
  double start   = 0.0;
  double finish  = 0.0;
};

/// The data of a task on its way to one cluster: how long it takes depends on how many processors receive it.
class Inputs {
public:
  explicit Inputs(Index clusters) : byte_(clusters), latency_(clusters) {}

  void clear()
  {
    sent_ = 0.0;
    std::fill(byte_.begin(), byte_.end(), 0.0);
  }
  /// Adds data from `count` processors of a cluster, which send so much and are part of so much that is received, and
  /// of so much that passes what the two clusters share.
  void add(Clusters const& clusters, Index source, Index count, Index target, double sent, double received,
           double through)
  {
    auto const pair  = source * clusters.size() + target;
    latency_[source] = clusters.latency[pair];
    byte_[source]    = std::max(byte_[source], received);
    sent_ = std::max(sent_,
                     clusters.latency[pair] + std::max(sent / (static_cast<double>(count) * clusters.bandwidth[source]),
                                                       through / clusters.shared[pair]));
  }
  /// Returns how long the slowest redistribution to `count` processors takes.
  double time(double bandwidth, Index count) const
  {
    double longest = sent_;
    for (std::size_t source = 0; source < byte_.size(); source++)
      if (byte_[source] > 0)
        longest = std::max(longest, latency_[source] + byte_[source] / (static_cast<double>(count) * bandwidth));
    return longest;
  }

private:
  double sent_ = 0.0;
  std::vector<double> byte_; // the most that comes from each cluster
  std::vector<double> latency_;
};

class Mapper {
public:
  Mapper(Tasks tasks, Clusters clusters, Rules rules)
      : tasks_(std::move(tasks)), clusters_(std::move(clusters)), rules_(rules),
        allocation_(clusters_.size() * tasks_.size(), 1), priority_(tasks_.size()), placed_(tasks_.size()),
        start_(tasks_.size(), NONE), finish_(tasks_.size(), NONE), processors_(tasks_.size()), slots_(clusters_.size()),
        inputs_(clusters_.size()), sent_(tasks_.size()), received_(tasks_.size()), busy_(clusters_.size()),
        passing_(clusters_.size())
  {
    Index number = 0;
    for (Index cluster = 0; cluster < clusters_.size(); cluster++)
      for (Index each = 0; each < clusters_.processors[cluster]; each++)
        slots_[cluster].emplace_back(0.0, number++);
    free_.resize(number);
    for (Index task = 0; task < tasks_.size(); task++)
      for (Index at = tasks_.before.start[task]; at < tasks_.before.start[task + 1]; at++) {
        sent_[tasks_.before.task[at]] += tasks_.byte[at];
        received_[task] += tasks_.byte[at];
      }
  }

  void set_allocation(Index first, Integers const& processors, Floats const& time);
  void plan();
  std::vector<double> forecast(double now) const;
  void update(double now);
  std::vector<Index> map_ready(double now, std::vector<Index> const& ready);
  std::vector<Index> deviate(double now, Index task, Integers const& processors);
  void started(Index task, double date)
  {
    check(task);
    start_[task] = date;
  }
  void finished(Index task, double date)
  {
    check(task);
    finish_[task] = date;
  }

  py::tuple mapping(Index task) const
  {
    check(task);
    Candidate const& place = placed_[task];
    return py::make_tuple(place.cluster, array_of(processors_[task]), place.start, place.finish);
  }
  py::tuple schedule() const;

private:
  static constexpr double NONE = std::numeric_limits<double>::quiet_NaN();

  Tasks tasks_;
  Clusters clusters_;
  Rules rules_;
  std::vector<Index> allocation_; // by cluster and task
  std::vector<double> priority_;
  std::vector<Candidate> placed_; // with the dates as they are estimated
  std::vector<double> start_;     // what really happened; not a number before
  std::vector<double> finish_;
  std::vector<std::vector<Index>> processors_;
  std::vector<Index> order_;             // of mapping
  std::vector<Index> pending_;           // mapped in this order, but not finished
  std::vector<Index> waiting_;           // ready, but not mapped
  std::vector<std::vector<Slot>> slots_; // of each cluster, sorted
  std::vector<double> free_;             // when each processor ended its last finished task
  Inputs inputs_;
  std::vector<Moved> moved_; // of the inputs, if the rest is kept
  std::vector<double> sent_; // by each task, to all that follow it
  std::vector<double> received_;
  std::vector<double> busy_;        // until when each switch has data to pass on
  std::vector<double> passing_;     // what a task's data add to that
  std::vector<double> busy_before_; // `busy_` before each of the mapped tasks, in their order

  double time(Index task, Index count, Index cluster) const
  {
    double const alpha = tasks_.alpha[task];
    return (alpha + (1 - alpha) / static_cast<double>(count)) * tasks_.flop[task] / clusters_.speed[cluster];
  }
  void check(Index task) const;
  Candidate candidate(Index task, Index cluster, Index count, double now) const;
  Candidate packed(Index task, Candidate const& whole, double now);
  Candidate best(Index task, double now);
  bool all_taken(double now) const
  {
    return std::all_of(slots_.begin(), slots_.end(), [now](auto const& slots) { return slots.front().first > now; });
  }
  using Event  = std::pair<double, Index>; // the end of a task, or that task -1 - n is ready
  using Events = std::priority_queue<Event, std::vector<Event>, std::greater<Event>>;

  void collect_inputs(Index task, Index cluster, Index count);
  void pass(Index source, Index target, double byte);
  double queue(double now) const;
  void place(Index task, Candidate const& candidate, double now);
  std::vector<Index> map_sorted(double now, std::vector<Index> const& ready);
  void follow(Events events, std::vector<Index> waits);
  void reestimate(Index task, double now, std::vector<double>& free);
};

} // namespace taskgraphs

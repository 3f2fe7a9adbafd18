// Growth of allocations, and their size on other clusters, for simplugin/taskgraphs/policies/allocation.py.

#include "taskgraphs.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

namespace taskgraphs {

namespace {

using Count = std::int64_t;

// Relative: times of that little difference are the same.
constexpr double SLACK = 1 + 1e-12;

void check_length(py::array const& array, py::ssize_t length, char const* name)
{
  if (array.ndim() != 1 || array.shape(0) != length)
    throw std::invalid_argument(std::string(name) + " must have one dimension and " + std::to_string(length) +
                                " entries");
}

/// Amdahl's law, operation by operation as in simplugin/taskgraphs/timing.py.
double task_time(double flop, double alpha, Count processors, double speed)
{
  return (alpha + (1 - alpha) / static_cast<double>(processors)) * flop / speed;
}

/// The first count in first..last that is right, if all after it are; last if none is.
template <class Right> Count first_right(Count first, Count last, Right const& right)
{
  while (first < last) {
    Count const middle = first + (last - first) / 2;
    if (right(middle))
      last = middle;
    else
      first = middle + 1;
  }
  return first;
}

Integers fewest_processors(Floats const& flops, Floats const& alphas, Floats const& times, Floats const& speeds,
                           Integers const& processors)
{
  check_length(alphas, flops.size(), "alpha");
  check_length(times, flops.size(), "time");
  check_length(processors, speeds.size(), "processors");
  Integers fewest({speeds.size(), flops.size()});
  auto to = fewest.mutable_unchecked<2>();
  for (py::ssize_t cluster = 0; cluster < speeds.size(); cluster++)
    for (py::ssize_t task = 0; task < flops.size(); task++) {
      double const limit = times.data()[task] * SLACK;
      auto const fast    = [&, speed = speeds.data()[cluster]](Count count) {
        return task_time(flops.data()[task], alphas.data()[task], count, speed) <= limit;
      };
      to(cluster, task) = first_right(1, processors.data()[cluster], fast);
    }
  return fewest;
}

Integers most_processors(Floats const& flops, Floats const& alphas, Floats const& times, double speed, Count processors)
{
  check_length(alphas, flops.size(), "alpha");
  check_length(times, flops.size(), "time");
  Integers most(flops.size());
  for (py::ssize_t task = 0; task < flops.size(); task++) {
    auto const too_fast = [&](Count count) {
      return task_time(flops.data()[task], alphas.data()[task], count, speed) * SLACK < times.data()[task];
    };
    most.mutable_data()[task] = std::max<Count>(first_right(1, processors + 1, too_fast) - 1, 1);
  }
  return most;
}

/// A graph whose tasks have one processor each, and grow.
///
/// Only the critical path matters: the bottom levels of its tasks are right after each step. All others are lazy: times
/// only fall, so that a bottom level that was right once stays an upper bound. It is computed anew where the path may
/// turn, that is where the bottom level of a task's heir falls below the bound of another successor.
class Growth {
public:
  Growth(Floats const& flops, Floats const& alphas, Integers const& successor_start, Integers const& successors,
         Integers const& order, Integers const& levels, Integers const& most, double speed)
      : size_(flops.size()), flop_(flops.data(), flops.data() + size_), alpha_(alphas.data(), alphas.data() + size_),
        most_(most.data(), most.data() + size_), level_(levels.data(), levels.data() + size_), speed_(speed),
        successor_start_(successor_start.data(), successor_start.data() + size_ + 1),
        successor_(successors.data(), successors.data() + successors.size()), tasks_(size_ + 1)
  {
    std::vector<bool> entry(size_, true);
    for (Count const task : successor_)
      entry[task] = false;
    for (Count task = 0; task < size_; task++)
      if (entry[task])
        successor_.push_back(task);
    successor_start_.push_back(static_cast<Count>(successor_.size()));
    for (Count task = 0; task < size_; task++) {
      tasks_[task].next_time = task_time(flop_[task], alpha_[task], 1, speed_);
      add_processor(task);
    }
    for (Count at = size_ - 1; at >= 0; at--)
      start(order.data()[at]);
    start(size_);
    start_ = tasks_;
  }

  /// CPA: until the critical path is no longer than what all processors take for all areas.
  std::vector<Count> balanced(double processors)
  {
    restart();
    while (critical_path() > area() / processors) {
      Count const task = best_of_path();
      if (task < 0)
        break;
      grow(task);
    }
    return counts();
  }

  /// SCRAP: as long as the areas take no more than so many processors over the critical path.
  std::vector<Count> within_area(double limit)
  {
    restart();
    while (true) {
      Count const task = best_of_path();
      if (task < 0)
        break;
      grow(task);
      if (area() > limit * critical_path()) {
        tasks_[task].count--;
        break;
      }
    }
    return counts();
  }

  /// SCRAP-MAX: as long as no level has more than so many processors. Tasks of full levels are passed over, or the
  /// first that would have grown ends it.
  std::vector<Count> within_levels(Count limit, bool passes)
  {
    restart();
    depths_right_ = depths_that_turn();
    std::vector<Count> held(1 + *std::max_element(level_.begin(), level_.end()));
    for (Count const level : level_)
      if (level >= 0)
        held[level]++;
    auto const close = [&](Count level) {
      for (Count task = 0; passes && held[level] >= limit && task < size_; task++)
        if (level_[task] == level) {
          tasks_[task].gain           = 0.0;
          best_of(tasks_[task].depth) = UNKNOWN;
        }
    };
    for (Count level = 0; level < static_cast<Count>(held.size()); level++)
      close(level);
    while (true) {
      Count const task = best_of_path();
      if (task < 0 || held[level_[task]] >= limit)
        break;
      held[level_[task]]++;
      grow(task);
      close(level_[task]);
    }
    return counts();
  }

private:
  struct alignas(64) Task {
    double time      = 0.0;
    double below     = 0.0;  // the largest bottom level of the successors, as far as it is known
    double length    = 0.0;  // the bottom level, or more
    double next_time = 0.0;  // with one more processor
    double gain      = 0.0;  // what one more processor is worth; 0 if the task may not grow
    double least     = 0.0;  // the heir stays one as long as its bottom level is at least this
    int heir         = NONE; // the first successor of that bottom level; none without any
    int count        = 0;
    int exact        = 0; // for a task outside the path: the number of steps after which the bottom level was right
    int depth        = 0; // edges of the longest path to an exit task
  };

  static constexpr int NONE    = -1;
  static constexpr int UNKNOWN = -2;
  static constexpr int BLOCK   = 64; // depths whose best task is kept

  Count size_;
  std::vector<double> flop_;
  std::vector<double> alpha_;
  std::vector<Count> most_;
  std::vector<Count> level_;
  double speed_;
  std::vector<Count> successor_start_;
  std::vector<Count> successor_;
  std::vector<Task> tasks_; // the last one is the root, which takes no time and comes before all entry tasks
  std::vector<Task> start_;
  int steps_                = 0;
  std::size_t depths_right_ = 0; // bottom levels of the path are right at depths below this one
  std::vector<int> grown_;       // by depth: the last step at which a task of this depth or less grew
  std::vector<int> path_;        // by depth: the task of the critical path
  std::vector<int> best_;        // by block of depths: the first task of the path with the largest gain
  std::vector<int> waiting_;     // tasks whose bottom levels wait for those of their heirs

  void start(Count task)
  {
    int& depth = tasks_[task].depth;
    for (Count at = successor_start_[task]; at < successor_start_[task + 1]; at++)
      depth = std::max(depth, tasks_[successor_[at]].depth + 1);
    look_below(task);
  }

  void restart()
  {
    tasks_                 = start_;
    steps_                 = 0;
    std::size_t const size = tasks_[size_].depth + 1;
    grown_.assign(size, 0);
    path_.assign(size, NONE);
    best_.assign(size / BLOCK + 1, UNKNOWN);
    depths_right_ = size;
    lay_path(tasks_[size_].depth, size_);
  }

  /// The depths below which the path may turn: above are tasks that have one successor each, from the root on. All
  /// others come after them, so that only the length of the critical path asks for their bottom levels.
  std::size_t depths_that_turn() const
  {
    Count task = size_;
    while (successor_start_[task + 1] - successor_start_[task] == 1)
      task = successor_[successor_start_[task]];
    return tasks_[task].depth + 1;
  }

  std::vector<Count> counts() const
  {
    std::vector<Count> found(size_);
    for (Count task = 0; task < size_; task++)
      found[task] = tasks_[task].count;
    return found;
  }

  void add_processor(Count number)
  {
    Task& task      = tasks_[number];
    int const count = ++task.count;
    task.time       = task.next_time;
    task.next_time  = task_time(flop_[number], alpha_[number], count + 1, speed_);
    // What is not faster on one more gains nothing, though its time is divided by more.
    bool const grows = count < most_[number] && task.next_time < task.time;
    task.gain        = grows ? task.time / count - task.next_time / (count + 1) : 0.0;
  }

  void look_below(Count number)
  {
    Task& task = tasks_[number];
    task.below = task.least = 0.0;
    task.heir               = NONE;
    for (Count at = successor_start_[number]; at < successor_start_[number + 1]; at++) {
      double const length = tasks_[successor_[at]].length;
      if (task.heir < 0 || length > task.below) {
        // Of equals, the first is the heir.
        task.least = task.heir < 0 ? 0.0 : std::nextafter(task.below, HUGE_VAL);
        task.heir  = static_cast<int>(successor_[at]);
        task.below = length;
      } else {
        task.least = std::max(task.least, length);
      }
    }
    task.length = task.time + task.below;
  }

  /// Adds a processor to a task of the path, and corrects the bottom levels of those before it.
  void grow(Count number)
  {
    add_processor(number);
    Task& task          = tasks_[number];
    best_of(task.depth) = UNKNOWN;
    steps_++;
    double length = task.length = task.time + task.below;
    for (std::size_t depth = task.depth; depth < depths_right_; depth++)
      grown_[depth] = steps_;
    for (std::size_t depth = task.depth + 1; depth < depths_right_; depth++)
      if (path_[depth] >= 0) {
        Task& before = tasks_[path_[depth]];
        if (length < before.least)
          length = turn(path_[depth]);
        before.below  = length;
        before.length = length = before.time + length;
      }
  }

  /// Lets the path turn after one of its tasks, if another successor is its heir now; returns that one's bottom level.
  double turn(int number)
  {
    Task& task     = tasks_[number];
    int const heir = task.heir;
    correct(number);
    if (task.heir != heir)
      lay_path(task.depth - 1, task.heir);
    return task.below;
  }

  /// Lays the path through a task, from some depth on to where it meets the path that there was.
  void lay_path(int depth, int number)
  {
    for (; depth >= 0 && path_[depth] != number; depth--) {
      if (path_[depth] >= 0)
        tasks_[path_[depth]].exact = steps_;
      path_[depth] = NONE;
      if (tasks_[number].depth == depth) {
        path_[depth] = number;
        number       = tasks_[number].heir;
      }
      best_of(depth) = UNKNOWN;
    }
  }

  /// True if no task below has grown since the bottom level was right.
  bool is_exact(int number) const
  {
    Task const& task = tasks_[number];
    return path_[task.depth] == number || task.depth == 0 || task.exact >= grown_[task.depth - 1];
  }

  /// Corrects the bottom level of a task, and those of its heirs.
  ///
  /// A task's heir has the largest upper bound of all successors, and is the first of these. If it turns out to be its
  /// bottom level, it is the largest of those, too; otherwise the successor that has the largest bound now is next.
  void correct(int number)
  {
    waiting_.assign(1, number);
    while (!waiting_.empty()) {
      Task& task = tasks_[waiting_.back()];
      if (task.heir >= 0) {
        if (!is_exact(task.heir)) {
          waiting_.push_back(task.heir);
          continue;
        }
        if (tasks_[task.heir].length < task.least) {
          look_below(waiting_.back());
          continue;
        }
        task.below  = tasks_[task.heir].length;
        task.length = task.time + task.below;
      }
      task.exact = steps_;
      waiting_.pop_back();
    }
  }

  double critical_path() const { return tasks_[size_].below; }

  int& best_of(int depth) { return best_[depth / BLOCK]; }

  /// The first task of the path, from some depth up to another, that one more processor is worth most to.
  int best_between(int first, int last) const
  {
    int best    = NONE;
    double gain = 0.0;
    for (int depth = last - 1; depth >= first; depth--)
      if (path_[depth] >= 0 && tasks_[path_[depth]].gain > gain) {
        best = path_[depth];
        gain = tasks_[best].gain;
      }
    return best;
  }

  /// The task of the critical path that one more processor is worth most to; none if there is none.
  Count best_of_path()
  {
    int best    = NONE;
    double gain = 0.0;
    for (int block = static_cast<int>(best_.size()) - 1; block >= 0; block--) {
      if (best_[block] == UNKNOWN)
        best_[block] = best_between(block * BLOCK, std::min<int>((block + 1) * BLOCK, path_.size()));
      if (best_[block] >= 0 && tasks_[best_[block]].gain > gain) {
        best = best_[block];
        gain = tasks_[best].gain;
      }
    }
    return best;
  }

  // Added up anew, in the order of the tasks: sums that are kept up to date would depend on their history.
  double area() const
  {
    double sum = 0.0;
    for (Count task = 0; task < size_; task++)
      sum += tasks_[task].time * static_cast<double>(tasks_[task].count);
    return sum;
  }
};

Growth growth(Floats const& flops, Floats const& alphas, Integers const& successor_start, Integers const& successors,
              Integers const& order, Integers const& levels, Integers const& most, double speed)
{
  py::ssize_t const size = flops.size();
  if (size == 0)
    throw std::invalid_argument("a graph without tasks");
  check_length(alphas, size, "alpha");
  check_length(successor_start, size + 1, "successor_start");
  check_length(successors, successor_start.data()[size], "successor");
  for (Integers const* const array : {&order, &levels, &most})
    check_length(*array, size, "each of order, level and most");
  auto const outside = [size](Count task) { return task < 0 || task >= size; };
  if (std::any_of(successors.data(), successors.data() + successors.size(), outside) ||
      std::any_of(order.data(), order.data() + size, outside))
    throw std::invalid_argument("a task that is not there");
  return {flops, alphas, successor_start, successors, order, levels, most, speed};
}

Integers as_array(std::vector<Count> const& counts)
{
  return Integers(static_cast<py::ssize_t>(counts.size()), counts.data());
}

} // namespace

void register_allocation(py::module_& module)
{
  module.def("fewest_processors", &fewest_processors, py::arg("flop"), py::arg("alpha"), py::arg("time"),
             py::arg("speed"), py::arg("processors"));
  module.def("most_processors", &most_processors, py::arg("flop"), py::arg("alpha"), py::arg("time"), py::arg("speed"),
             py::arg("processors"));
  py::class_<Growth>(module, "Growth")
      .def(py::init(&growth), py::arg("flop"), py::arg("alpha"), py::arg("successor_start"), py::arg("successor"),
           py::arg("order"), py::arg("level"), py::arg("most"), py::arg("speed"))
      .def(
          "balanced", [](Growth& self, double processors) { return as_array(self.balanced(processors)); },
          py::arg("processors"))
      .def(
          "within_area", [](Growth& self, double limit) { return as_array(self.within_area(limit)); }, py::arg("limit"))
      .def(
          "within_levels",
          [](Growth& self, Count limit, bool passes) { return as_array(self.within_levels(limit, passes)); },
          py::arg("limit"), py::arg("passes"));
}

} // namespace taskgraphs

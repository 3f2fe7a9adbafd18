// How allocations of simplugin/taskgraphs/allocation.py grow, and what they are on other clusters.

#include "taskgraphs.hpp"

#include <algorithm>
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
/// Only the longest path matters, so bottom levels are lazy: times only fall, so that a level that was right once stays
/// an upper bound, and is worked out anew where the longest path may go.
class Growth {
public:
  Growth(Floats const& flops, Floats const& alphas, Integers const& successor_start, Integers const& successors,
         Integers const& order, Integers const& levels, Integers const& most, double speed)
      : size_(flops.size()), flop_(flops.data(), flops.data() + size_), alpha_(alphas.data(), alphas.data() + size_),
        most_(most.data(), most.data() + size_), level_(levels.data(), levels.data() + size_), speed_(speed),
        successor_start_(successor_start.data(), successor_start.data() + size_ + 1),
        successor_(successors.data(), successors.data() + successors.size())
  {
    std::vector<bool> entry(size_, true);
    for (Count const task : successor_)
      entry[task] = false;
    for (Count task = 0; task < size_; task++)
      if (entry[task])
        successor_.push_back(task);
    successor_start_.push_back(static_cast<Count>(successor_.size()));
    start_.tasks.resize(size_ + 1);
    for (Count task = 0; task < size_; task++) {
      start_.tasks[task].next_time = task_time(flop_[task], alpha_[task], 1, speed_);
      add_processor(start_, task);
    }
    state_ = start_;
    for (Count at = size_ - 1; at >= 0; at--)
      start(order.data()[at]);
    start(size_);
    state_.grown.resize(state_.tasks[size_].depth + 1);
    start_ = state_;
  }

  /// CPA: until the critical path is no longer than what all processors take for all areas.
  std::vector<Count> balanced(double processors)
  {
    state_ = start_;
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
    state_ = start_;
    while (true) {
      Count const task = best_of_path();
      if (task < 0)
        break;
      grow(task);
      if (area() > limit * critical_path()) {
        state_.tasks[task].count--;
        break;
      }
    }
    return counts();
  }

  /// SCRAP-MAX: as long as no level has more than so many processors. Tasks of full levels are passed over, or the
  /// first that would have grown ends it.
  std::vector<Count> within_levels(Count limit, bool passes)
  {
    state_ = start_;
    std::vector<Count> held(1 + *std::max_element(level_.begin(), level_.end()));
    for (Count const level : level_)
      if (level >= 0)
        held[level]++;
    auto const close = [&](Count level) {
      for (Count task = 0; passes && held[level] >= limit && task < size_; task++)
        if (level_[task] == level)
          state_.tasks[task].gain = 0.0;
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
  struct Task {
    double time      = 0.0;
    double next_time = 0.0; // with one more processor
    double gain      = 0.0; // what one more processor is worth; 0 if the task may not grow
    double below     = 0.0; // the largest bottom level of the successors, as far as it is known
    double length    = 0.0; // the bottom level, or more
    Count heir       = -1;  // the first successor of that bottom level; -1 without any
    Count count      = 0;
    Count exact      = 0; // the number of steps after which the bottom level was right
    Count depth      = 0; // edges of the longest path to an exit task
  };

  struct State {
    std::vector<Task> tasks;  // the last one is the root, which takes no time and comes before all entry tasks
    std::vector<Count> grown; // by depth: the last step at which a task of this depth or less grew
    Count steps = 0;
  };

  Count size_;
  std::vector<double> flop_;
  std::vector<double> alpha_;
  std::vector<Count> most_;
  std::vector<Count> level_;
  double speed_;
  std::vector<Count> successor_start_;
  std::vector<Count> successor_;
  std::vector<Count> path_;
  State start_;
  State state_;

  void start(Count task)
  {
    Count& depth = state_.tasks[task].depth;
    for (Count at = successor_start_[task]; at < successor_start_[task + 1]; at++)
      depth = std::max(depth, state_.tasks[successor_[at]].depth + 1);
    look_below(state_.tasks[task], task);
  }

  std::vector<Count> counts() const
  {
    std::vector<Count> found;
    for (Count task = 0; task < size_; task++)
      found.push_back(state_.tasks[task].count);
    return found;
  }

  void add_processor(State& state, Count number)
  {
    Task& task        = state.tasks[number];
    Count const count = ++task.count;
    task.time         = task.next_time;
    task.next_time    = task_time(flop_[number], alpha_[number], count + 1, speed_);
    // What is not faster on one more gains nothing, though its time is divided by more.
    bool const grows = count < most_[number] && task.next_time < task.time;
    task.gain = grows ? task.time / static_cast<double>(count) - task.next_time / static_cast<double>(count + 1) : 0.0;
  }

  void look_below(Task& task, Count number)
  {
    task.below = 0.0;
    task.heir  = -1;
    for (Count at = successor_start_[number]; at < successor_start_[number + 1]; at++)
      if (double const length = state_.tasks[successor_[at]].length; task.heir < 0 || length > task.below) {
        task.heir  = successor_[at];
        task.below = length;
      }
    task.length = task.time + task.below;
  }

  void grow(Count number)
  {
    add_processor(state_, number);
    Task& task  = state_.tasks[number];
    task.length = task.time + task.below;
    state_.steps++;
    std::fill(state_.grown.begin() + task.depth, state_.grown.end(), state_.steps);
  }

  /// True if no task below has grown since the bottom level was right.
  bool is_exact(Task const& task) const { return task.depth == 0 || task.exact >= state_.grown[task.depth - 1]; }

  /// Returns the length of the longest path, and makes the bottom levels along it right.
  ///
  /// A task's heir has the largest upper bound of all successors, and is the first of these. If it turns out to be its
  /// bottom level, it is the largest of those, too; otherwise the successor that has the largest bound now is next.
  double critical_path()
  {
    path_.assign(1, size_);
    while (!path_.empty()) {
      Task& task = state_.tasks[path_.back()];
      if (task.heir >= 0) {
        Task const& heir = state_.tasks[task.heir];
        if (!is_exact(heir)) {
          path_.push_back(task.heir);
          continue;
        }
        if (heir.length != task.below) {
          look_below(task, path_.back());
          continue;
        }
      }
      task.exact = state_.steps;
      path_.pop_back();
    }
    return state_.tasks[size_].below;
  }

  /// The task of the critical path that one more processor is worth most to; -1 if there is none.
  Count best_of_path()
  {
    critical_path();
    Count best  = -1;
    double gain = 0.0;
    for (Count task = state_.tasks[size_].heir; task >= 0; task = state_.tasks[task].heir)
      if (state_.tasks[task].gain > gain) {
        best = task;
        gain = state_.tasks[task].gain;
      }
    return best;
  }

  // Added up anew, in the order of the tasks: sums that are kept up to date would depend on their history.
  double area() const
  {
    double sum = 0.0;
    for (Count task = 0; task < size_; task++)
      sum += state_.tasks[task].time * static_cast<double>(state_.tasks[task].count);
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

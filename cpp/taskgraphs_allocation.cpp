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
        successor_(successors.data(), successors.data() + successors.size()), depth_(size_ + 1)
  {
    std::vector<bool> entry(size_, true);
    for (Count const task : successor_)
      entry[task] = false;
    for (Count task = 0; task < size_; task++)
      if (entry[task])
        successor_.push_back(task);
    successor_start_.push_back(static_cast<Count>(successor_.size()));
    for (auto* const values : {&start_.time, &start_.next_time, &start_.gain, &start_.below, &start_.length})
      values->resize(size_ + 1);
    for (auto* const values : {&start_.count, &start_.heir, &start_.exact})
      values->resize(size_ + 1);
    state_ = start_;
    for (Count task = 0; task < size_; task++) {
      state_.next_time[task] = task_time(flop_[task], alpha_[task], 1, speed_);
      add_processor(task);
    }
    for (Count at = size_ - 1; at >= 0; at--)
      start(order.data()[at]);
    start(size_);
    state_.grown.resize(depth_[size_] + 1);
    start_ = state_;
  }

  /// CPA: until the critical path is no longer than what all processors take for all areas.
  std::vector<Count> balanced(double processors)
  {
    state_ = start_;
    while (critical_path() > area() / processors) {
      Count const task = best_of_path([](Count) { return true; });
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
      Count const task = best_of_path([](Count) { return true; });
      if (task < 0)
        break;
      grow(task);
      if (area() > limit * critical_path()) {
        state_.count[task]--;
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
    while (true) {
      Count const task = best_of_path([&](Count each) { return !passes || held[level_[each]] < limit; });
      if (task < 0 || held[level_[task]] >= limit)
        break;
      held[level_[task]]++;
      grow(task);
    }
    return counts();
  }

private:
  // The last entry of each is the root, which takes no time and comes before all entry tasks.
  struct State {
    std::vector<Count> count;
    std::vector<double> time;
    std::vector<double> next_time; // with one more processor
    std::vector<double> gain;      // what one more processor is worth; 0 if the task may not grow
    std::vector<double> below;     // the largest bottom level of the successors, as far as it is known
    std::vector<double> length;    // the bottom level, or more
    std::vector<Count> heir;       // the first successor of that bottom level; -1 without any
    std::vector<Count> exact;      // the number of steps after which the bottom level was right
    std::vector<Count> grown;      // by depth: the last step at which a task of this depth or less grew
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
  std::vector<Count> depth_; // edges of the longest path to an exit task
  std::vector<Count> path_;
  State start_;
  State state_;

  void start(Count task)
  {
    for (Count at = successor_start_[task]; at < successor_start_[task + 1]; at++)
      depth_[task] = std::max(depth_[task], depth_[successor_[at]] + 1);
    look_below(task);
  }

  std::vector<Count> counts() const { return {state_.count.begin(), state_.count.end() - 1}; }

  void add_processor(Count task)
  {
    Count const count      = ++state_.count[task];
    state_.time[task]      = state_.next_time[task];
    state_.next_time[task] = task_time(flop_[task], alpha_[task], count + 1, speed_);
    // What is not faster on one more gains nothing, though its time is divided by more.
    bool const grows = count < most_[task] && state_.next_time[task] < state_.time[task];
    state_.gain[task] =
        grows ? state_.time[task] / static_cast<double>(count) - state_.next_time[task] / static_cast<double>(count + 1)
              : 0.0;
  }

  void look_below(Count task)
  {
    double below = 0.0;
    Count heir   = -1;
    for (Count at = successor_start_[task]; at < successor_start_[task + 1]; at++)
      if (heir < 0 || state_.length[successor_[at]] > below) {
        heir  = successor_[at];
        below = state_.length[heir];
      }
    state_.below[task]  = below;
    state_.heir[task]   = heir;
    state_.length[task] = state_.time[task] + below;
  }

  void grow(Count task)
  {
    add_processor(task);
    state_.length[task] = state_.time[task] + state_.below[task];
    state_.steps++;
    std::fill(state_.grown.begin() + depth_[task], state_.grown.end(), state_.steps);
  }

  /// True if no task below has grown since the bottom level was right.
  bool is_exact(Count task) const { return depth_[task] == 0 || state_.exact[task] >= state_.grown[depth_[task] - 1]; }

  /// Returns the length of the longest path, and makes the bottom levels along it right.
  ///
  /// A task's heir has the largest upper bound of all successors, and is the first of these. If it turns out to be its
  /// bottom level, it is the largest of those, too; otherwise the successor that has the largest bound now is next.
  double critical_path()
  {
    path_.assign(1, size_);
    while (!path_.empty()) {
      Count const task = path_.back();
      Count const heir = state_.heir[task];
      if (heir >= 0 && !is_exact(heir)) {
        path_.push_back(heir);
        continue;
      }
      if (heir >= 0 && state_.length[heir] != state_.below[task]) {
        look_below(task);
        continue;
      }
      state_.exact[task] = state_.steps;
      path_.pop_back();
    }
    return state_.below[size_];
  }

  /// The task of the critical path that one more processor is worth most to; -1 if there is none.
  template <class Free> Count best_of_path(Free const& free)
  {
    critical_path();
    Count best  = -1;
    double gain = 0.0;
    for (Count task = state_.heir[size_]; task >= 0; task = state_.heir[task])
      if (state_.gain[task] > gain && free(task)) {
        best = task;
        gain = state_.gain[task];
      }
    return best;
  }

  // Added up anew, in the order of the tasks: sums that are kept up to date would depend on their history.
  double area() const
  {
    double sum = 0.0;
    for (Count task = 0; task < size_; task++)
      sum += state_.time[task] * static_cast<double>(state_.count[task]);
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

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
class Growth {
public:
  Growth(Floats const& flops, Floats const& alphas, Integers const& successor_start, Integers const& successors,
         Integers const& order, Integers const& levels, Integers const& most, double speed)
      : size_(flops.size()), flop_(flops.data(), flops.data() + size_), alpha_(alphas.data(), alphas.data() + size_),
        most_(most.data(), most.data() + size_), level_(levels.data(), levels.data() + size_), speed_(speed),
        order_(order.data(), order.data() + size_), position_(size_),
        successor_start_(successor_start.data(), successor_start.data() + size_ + 1),
        successor_(successors.data(), successors.data() + successors.size()), predecessor_(successor_.size()),
        predecessor_start_(size_ + 1), dirty_((size_ + WORD - 1) / WORD)
  {
    link();
    start_.count.assign(size_, 1);
    for (auto* const values : {&start_.time, &start_.next_time, &start_.gain, &start_.below, &start_.length})
      values->resize(size_);
    start_.heir.resize(size_);
    state_ = start_;
    for (Count task = 0; task < size_; task++) {
      state_.next_time[task] = task_time(flop_[task], alpha_[task], 1, speed_);
      state_.count[task]     = 0;
      add_processor(task);
    }
    for (Count at = size_ - 1; at >= 0; at--) {
      look_below(order_[at]);
      state_.length[order_[at]] = state_.time[order_[at]] + state_.below[order_[at]];
    }
    start_ = state_;
  }

  /// CPA: until the critical path is no longer than what all processors take for all areas.
  std::vector<Count> balanced(double processors)
  {
    state_ = start_;
    while (true) {
      Count const entry = first_task();
      if (state_.length[entry] <= area() / processors)
        break;
      Count const task = best_of_path(entry, [](Count) { return true; });
      if (task < 0)
        break;
      grow(task);
    }
    return state_.count;
  }

  /// SCRAP: as long as the areas take no more than so many processors over the critical path.
  std::vector<Count> within_area(double limit)
  {
    state_ = start_;
    while (true) {
      Count const task = best_of_path(first_task(), [](Count) { return true; });
      if (task < 0)
        break;
      grow(task);
      if (area() > limit * state_.length[first_task()]) {
        state_.count[task]--;
        break;
      }
    }
    return state_.count;
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
      Count const task = best_of_path(first_task(), [&](Count each) { return !passes || held[level_[each]] < limit; });
      if (task < 0 || held[level_[task]] >= limit)
        break;
      held[level_[task]]++;
      grow(task);
    }
    return state_.count;
  }

private:
  static constexpr Count WORD = 64;

  struct State {
    std::vector<Count> count;
    std::vector<double> time;
    std::vector<double> next_time; // with one more processor
    std::vector<double> gain;      // what one more processor is worth; 0 if the task may not grow
    std::vector<double> below;     // the largest bottom level of the successors
    std::vector<double> length;    // the bottom level
    std::vector<Count> heir;       // the first successor of that bottom level; -1 without any
  };

  Count size_;
  std::vector<double> flop_;
  std::vector<double> alpha_;
  std::vector<Count> most_;
  std::vector<Count> level_;
  double speed_;
  std::vector<Count> order_;
  std::vector<Count> position_;
  std::vector<Count> successor_start_;
  std::vector<Count> successor_;
  std::vector<Count> predecessor_;
  std::vector<Count> predecessor_start_;
  std::vector<Count> entry_;
  // Whose bottom levels may have changed, by their place in the order.
  std::vector<std::uint64_t> dirty_;
  State start_;
  State state_;

  void link()
  {
    for (Count at = 0; at < size_; at++)
      position_[order_[at]] = at;
    for (Count const task : successor_)
      predecessor_start_[task + 1]++;
    for (Count task = 0; task < size_; task++) {
      if (predecessor_start_[task + 1] == 0)
        entry_.push_back(task);
      predecessor_start_[task + 1] += predecessor_start_[task];
    }
    std::vector<Count> next(predecessor_start_.begin(), predecessor_start_.end() - 1);
    for (Count task = 0; task < size_; task++)
      for (Count at = successor_start_[task]; at < successor_start_[task + 1]; at++)
        predecessor_[next[successor_[at]]++] = task;
  }

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
    state_.below[task] = below;
    state_.heir[task]  = heir;
  }

  /// Adds a processor, and shortens the ancestors whose longest path goes through the task.
  void grow(Count grown)
  {
    add_processor(grown);
    Count word   = position_[grown] / WORD;
    dirty_[word] = std::uint64_t{1} << (position_[grown] % WORD);
    for (; word >= 0; word--)
      while (dirty_[word]) {
        int const bit = 63 - __builtin_clzll(dirty_[word]);
        dirty_[word] &= ~(std::uint64_t{1} << bit);
        Count const task = order_[word * WORD + bit];
        if (task != grown)
          look_below(task);
        double const before = state_.length[task];
        state_.length[task] = state_.time[task] + state_.below[task];
        if (state_.length[task] == before)
          continue;
        for (Count at = predecessor_start_[task]; at < predecessor_start_[task + 1]; at++) {
          Count const above = predecessor_[at];
          if (state_.below[above] == before)
            dirty_[position_[above] / WORD] |= std::uint64_t{1} << (position_[above] % WORD);
        }
      }
  }

  /// The entry task of the longest path, the first if there are several.
  Count first_task() const
  {
    Count first = entry_.front();
    for (Count const task : entry_)
      if (state_.length[task] > state_.length[first])
        first = task;
    return first;
  }

  /// The task of the path that one more processor is worth most to; -1 if there is none.
  template <class Free> Count best_of_path(Count task, Free const& free) const
  {
    Count best  = -1;
    double gain = 0.0;
    for (; task >= 0; task = state_.heir[task])
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

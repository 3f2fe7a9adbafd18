// Rounds of pricing over the agents of a deployment, for simplugin.pricing.policies.
//
// Every sum has one order, that of the agents, and is made by one thread: results have the same bits for any number of
// threads, and are those of the actors, who add up what their neighbours send in the same order.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace pricing {

namespace py = pybind11;

using Floats   = py::array_t<double, py::array::c_style | py::array::forcecast>;
using Integers = py::array_t<std::int64_t, py::array::c_style | py::array::forcecast>;
using Flags    = py::array_t<bool, py::array::c_style | py::array::forcecast>;

/// The values of an array; throws if their number is not the expected one.
double const* values_of(Floats const& array, std::size_t size, char const* name);

/// Large memory in huge pages.
void* allocate(std::size_t bytes);

/// Numbers without initial values.
template <class T> class Buffer {
public:
  explicit Buffer(std::size_t size = 0) : data_(static_cast<T*>(allocate(size * sizeof(T)))), size_(size) {}
  T& operator[](std::size_t i) { return data_.get()[i]; }
  T const& operator[](std::size_t i) const { return data_.get()[i]; }
  T* data() { return data_.get(); }
  T const* data() const { return data_.get(); }
  std::size_t size() const { return size_; }

private:
  struct Free {
    void operator()(T* data) const { std::free(data); }
  };
  std::unique_ptr<T, Free> data_;
  std::size_t size_;
};

/// Memory that rounds use again: the system would clear new memory in every round. Used by the thread that has the GIL.
class Pool {
public:
  Buffer<double> take(std::size_t size);
  void give_back(Buffer<double> memory) { free_.push_back(std::move(memory)); }

private:
  std::vector<Buffer<double>> free_;
};

/// Values of a type that consists of doubles, for one round.
template <class T> class Scratch {
public:
  Scratch(std::shared_ptr<Pool> pool, std::size_t size)
      : pool_(std::move(pool)), memory_(pool_->take(size * (sizeof(T) / sizeof(double))))
  {
  }
  Scratch(Scratch const&) = delete;
  ~Scratch() { pool_->give_back(std::move(memory_)); }
  T* data() { return reinterpret_cast<T*>(memory_.data()); }

private:
  std::shared_ptr<Pool> pool_;
  Buffer<double> memory_;
};

/// Agents in a row that are of one application and level.
struct Run {
  std::size_t first;
  std::size_t last;
  std::size_t application;
  std::size_t level;
  /// True if all of them compute.
  bool computes = true;
};

/// Agents of a short run: what two threads hand over, and what stays in the cache between two loops over it. Loops
/// without resources or parents are apart, because compilers then use vectors.
constexpr std::size_t SHORT = 1024;

/// The hosts, or the links. They are numbered by their first use, in the order of agents: agents in a row mostly use
/// resources in a row, as trees of different applications have branches in common.
struct Side {
  /// The resource of each agent by that number, -1 without one.
  Buffer<std::int32_t> place;
  /// The resource of each such number, and its capacity.
  Buffer<std::int32_t> resource;
  Buffer<double> capacity;
  /// How many have agents; the others come last.
  std::size_t used = 0;
  std::size_t size() const { return resource.size(); }
  /// Begin to load the value of a resource that comes up soon, of values in the order of resources.
  template <class T> void fetch(T* values, std::size_t place) const
  {
    constexpr std::size_t ahead = 32;
    if (place + ahead < size())
      __builtin_prefetch(values + resource[place + ahead]);
  }
};

enum : std::size_t { HOSTS, LINKS };

/// The trees of all applications, and the resources of their agents.
class Trees {
public:
  /// Arguments are the fields of `SharedDeployment`.
  Trees(Integers const& application, Integers const& parent, Integers const& host, Integers const& link,
        Flags const& computes, Integers const& masters, Floats const& speed, Floats const& bandwidth);

  std::size_t agents() const { return parent.size(); }
  std::size_t applications() const { return masters.size(); }
  std::size_t resources() const { return sides[HOSTS].size() + sides[LINKS].size(); }
  /// An array without initial values, whose memory returns to the pool.
  Floats array(std::vector<std::size_t> const& shape) const;
  /// One number, or two, an agent.
  Floats of_agents() const { return array({agents()}); }
  Floats of_slots() const { return array({2, agents()}); }
  std::shared_ptr<Pool> const& pool() const { return pool_; }

  /// Sum up the trees: `own(i)` of each agent, and then `sent(i)` of its children in their order, which is called once
  /// the sum of i is complete.
  template <class Own, class Sent> void rise(double* sums, Own own, Sent sent) const;
  /// Call `links(run)` and then `hosts(run)` for short runs in the order of agents. With two threads, one calls all
  /// of `links`, and the other follows with `hosts`.
  template <class ForLinks, class ForHosts> void descend(ForLinks links, ForHosts hosts) const;
  /// Call a function for short runs in the order of agents.
  template <class ForRun> void each_run(ForRun for_run) const
  {
    for (Run const& run : runs_)
      for_run(run);
  }
  /// Call a function for hosts and for links, at the same time with two threads.
  template <class ForSide> void both(ForSide side) const;

  Buffer<std::int32_t> parent;
  Buffer<std::uint8_t> computes;
  std::vector<std::size_t> masters;
  std::array<Side, 2> sides;
  int threads = 1;

private:
  template <class First, class Second> void in_parallel(First first, Second second) const;
  template <class Own, class Sent>
  void rise(std::vector<Run> const& tree, double* sums, Own const& own, Sent const& sent) const;

  /// In the order of agents, short; and the agents of each application, by level.
  std::vector<Run> runs_;
  std::vector<std::vector<Run>> trees_;
  std::shared_ptr<Pool> pool_ = std::make_shared<Pool>();
};

template <class First, class Second> void Trees::in_parallel(First first, Second second) const
{
  if (threads < 2) {
    first();
    second();
    return;
  }
  std::thread other(second);
  first();
  other.join();
}

template <class Own, class Sent> void Trees::rise(double* sums, Own own, Sent sent) const
{
  std::atomic<std::size_t> next = 0;
  auto const work               = [&] {
    for (std::size_t k; (k = next++) < trees_.size();)
      rise(trees_[k], sums, own, sent);
  };
  in_parallel(work, work);
}

template <class Own, class Sent>
void Trees::rise(std::vector<Run> const& tree, double* sums, Own const& own, Sent const& sent) const
{
  // Each level begins with its own values just before its children are added, while it is in the cache.
  auto const level_before = [&tree](std::size_t end) {
    std::size_t first = end;
    while (first > 0 && tree[first - 1].level == tree[end - 1].level)
      first--;
    return first;
  };
  std::size_t end = tree.size(), begin = end;
  while (begin > 0) {
    std::size_t const above = level_before(begin);
    for (std::size_t r = above; r < begin; r++)
      for (std::size_t i = tree[r].first; i < tree[r].last; i++)
        sums[i] = own(i);
    for (std::size_t r = begin; r < end; r++)
      for (std::size_t i = tree[r].first; i < tree[r].last; i++)
        sums[parent[i]] += sent(i);
    end   = begin;
    begin = above;
  }
}

template <class ForLinks, class ForHosts> void Trees::descend(ForLinks links, ForHosts hosts) const
{
  if (threads < 2) {
    for (Run const& run : runs_) {
      links(run);
      hosts(run);
    }
    return;
  }
  std::atomic<std::size_t> done = 0;
  in_parallel(
      [&] {
        for (Run const& run : runs_) {
          links(run);
          done.store(run.last, std::memory_order_release);
        }
      },
      [&] {
        for (Run const& run : runs_) {
          while (done.load(std::memory_order_acquire) < run.last)
            std::this_thread::yield();
          hosts(run);
        }
      });
}

template <class ForSide> void Trees::both(ForSide side) const
{
  in_parallel([&] { side(HOSTS); }, [&] { side(LINKS); });
}

void register_gradient(py::class_<Trees>& trees);
void register_market(py::class_<Trees>& trees);

} // namespace pricing

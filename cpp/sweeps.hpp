// Sweeps over the trees of all applications at once, for simplugin.pricing.compiled.
//
// Agents come in an order in which fathers precede their sons, so that one run down the arrays is a sweep from the
// masters, and one run up them a sweep to the masters. The order is chosen for memory (arrange.cpp); indices have 32
// bits, as memory is what limits a sweep.
#pragma once

#include <cstdint>

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace sweeps {

namespace py = pybind11;

using Index    = std::int32_t;
using Floats   = py::array_t<double, py::array::c_style>;
using Indices  = py::array_t<Index, py::array::c_style>;
using Integers = py::array_t<std::int64_t, py::array::c_style>;
using Flags    = py::array_t<bool, py::array::c_style>;

/// Throws unless an array has one dimension of this length.
void check_length(py::array const& array, py::ssize_t length, char const* name);

/// The trees of all applications: a column per field of agents, fathers before sons; -1 stands for none.
struct Trees {
  Indices father;
  Indices link;
  Indices host;
  Indices application;
  Flags computes;
  Floats byte; // of each application, as the next one
  Floats flop;
  Index agents;
  Index links;
  Index hosts;

  Trees(Indices father, Indices link, Indices host, Indices application, Flags computes, Floats byte, Floats flop,
        Index links, Index hosts);
};

/// Two sums by resource, of agents that mostly come with others of the same one: the sums stay in registers until
/// another resource's turn, as memory would make each addition wait for the one before.
class Sums {
public:
  Sums(double* first, double* second) : first_totals_(first), second_totals_(second) {}
  Sums(Sums const&)            = delete;
  Sums& operator=(Sums const&) = delete;
  ~Sums() { store(); }

  void add(Index resource, double first, double second)
  {
    if (resource != at_) {
      store();
      at_     = resource;
      first_  = first_totals_[resource];
      second_ = second_totals_[resource];
    }
    first_ += first;
    second_ += second;
  }

private:
  double* first_totals_;
  double* second_totals_;
  Index at_      = -1;
  double first_  = 0.0;
  double second_ = 0.0;

  void store()
  {
    if (at_ >= 0) {
      first_totals_[at_]  = first_;
      second_totals_[at_] = second_;
    }
  }
};

void register_trees(py::module_& module);
void register_arrange(py::module_& module);
void register_gradient(py::module_& module);
void register_market(py::module_& module);

} // namespace sweeps

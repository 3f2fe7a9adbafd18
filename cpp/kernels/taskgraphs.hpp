// Allocation and mapping of parallel task graphs, for simplugin.taskgraphs.
#pragma once

#include <cstdint>

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace taskgraphs {

namespace py = pybind11;

using Floats   = py::array_t<double, py::array::c_style | py::array::forcecast>;
using Integers = py::array_t<std::int64_t, py::array::c_style | py::array::forcecast>;

void register_allocation(py::module_& module);
void register_mapping(py::module_& module);

} // namespace taskgraphs

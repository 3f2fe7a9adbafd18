// simplugin.core.elementary._elementary: the functions of elementary.hpp for numbers and arrays.

#include "elementary.hpp"

#include <algorithm>

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

namespace py = pybind11;
using Floats = py::array_t<double, py::array::c_style | py::array::forcecast>;

PYBIND11_MODULE(_elementary, module)
{
  auto const define = [&module](char const* name, double (*function)(double)) {
    module.def(name, function, py::arg("x").noconvert(), py::pos_only());
    // Less than half of the overhead of py::vectorize.
    module.def(
        name,
        [function](Floats const& x) -> py::object {
          if (x.ndim() == 0)
            return py::float_(function(*x.data()));
          Floats y({x.shape(), x.shape() + x.ndim()});
          std::transform(x.data(), x.data() + x.size(), y.mutable_data(), function);
          return y;
        },
        py::arg("x"), py::pos_only());
  };
  define("exp", [](double x) { return elementary::exp(x); });
  define("expm1", elementary::expm1);
  define("log", elementary::log);
  define("log1p", elementary::log1p);
  define("log2", elementary::log2);
  module.def("power", elementary::power, py::arg("x").noconvert(), py::arg("y").noconvert(), py::pos_only());
  module.def("power", py::vectorize(elementary::power), py::arg("x"), py::arg("y"), py::pos_only());
}

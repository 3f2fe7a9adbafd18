// Mapping of allocated tasks on the clusters of a site, for simplugin.taskgraphs.mapping: what is in it.

#include "taskgraphs_mapper.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

namespace taskgraphs {

void register_mapping(py::module_& module)
{
  py::class_<Tasks>(module, "MappingTasks")
      .def(py::init([](Floats const& flop, Floats const& alpha, Floats const& release, Integers const& before_start,
                       Integers const& before, Floats const& byte, Integers const& after_start, Integers const& after) {
             return Tasks(flop, alpha, release, {values(before_start), values(before)}, byte,
                          {values(after_start), values(after)});
           }),
           py::arg("flop"), py::arg("alpha"), py::arg("release"), py::arg("before_start"), py::arg("before"),
           py::arg("byte"), py::arg("after_start"), py::arg("after"));
  py::class_<Clusters>(module, "MappingClusters")
      .def(py::init<Integers const&, Floats const&, Floats const&, Floats const&, Floats const&, Integers const&>(),
           py::arg("processors"), py::arg("speed"), py::arg("bandwidth"), py::arg("latency"), py::arg("shared"),
           py::arg("switch"));
  py::class_<Mapper>(module, "Mapper")
      .def(py::init([](Tasks const& tasks, Clusters const& clusters, std::string const& packing, bool by_bottom_level,
                       bool reserve, bool transfers, bool together, bool kept) {
             auto const kind = packing == "off"       ? Packing::OFF
                               : packing == "largest" ? Packing::LARGEST
                                                      : Packing::EARLIEST;
             return Mapper(tasks, clusters, {kind, by_bottom_level, reserve, transfers, together, kept});
           }),
           py::arg("tasks"), py::arg("clusters"), py::arg("packing"), py::arg("by_bottom_level"), py::arg("reserve"),
           py::arg("transfers"), py::arg("together"), py::arg("kept"))
      .def("set_allocation", &Mapper::set_allocation, py::arg("first"), py::arg("processors"), py::arg("time"))
      .def("plan", &Mapper::plan)
      .def("copy", [](Mapper const& mapper) { return Mapper(mapper); })
      .def(
          "forecast", [](Mapper const& mapper, double now) { return array_of(mapper.forecast(now)); }, py::arg("now"))
      .def("map_ready", &Mapper::map_ready, py::arg("now"), py::arg("ready"))
      .def("deviate", &Mapper::deviate, py::arg("now"), py::arg("task"), py::arg("processors"))
      .def("started", &Mapper::started, py::arg("task"), py::arg("date"))
      .def("finished", &Mapper::finished, py::arg("task"), py::arg("date"))
      .def("update", &Mapper::update, py::arg("now"))
      .def("mapping", &Mapper::mapping, py::arg("task"))
      .def("schedule", &Mapper::schedule);
  module.def(
      "moved_parts",
      [](std::vector<Integers> const& sources, std::vector<Integers> const& targets) {
        auto const rows    = static_cast<py::ssize_t>(sources.size());
        auto const columns = static_cast<py::ssize_t>(targets.size());
        py::array_t<double> parts({py::ssize_t{3}, rows, columns});
        auto part = parts.mutable_unchecked<3>();
        std::vector<std::vector<Index>> ends;
        std::transform(targets.begin(), targets.end(), std::back_inserter(ends), values<Index>);
        for (py::ssize_t row = 0; row < rows; row++)
          for (py::ssize_t column = 0; column < columns; column++) {
            Moved const found    = moved(values(sources[row]), ends[column]);
            part(0, row, column) = found.sent;
            part(1, row, column) = found.received;
            part(2, row, column) = found.all;
          }
        return parts;
      },
      py::arg("sources"), py::arg("targets"));
}

} // namespace taskgraphs

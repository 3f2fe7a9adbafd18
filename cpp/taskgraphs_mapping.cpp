#include "taskgraphs.hpp"

namespace taskgraphs {

void register_mapping(py::module_& /*module*/) {}

} // namespace taskgraphs

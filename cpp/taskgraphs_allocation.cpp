#include "taskgraphs.hpp"

namespace taskgraphs {

void register_allocation(py::module_& /*module*/) {}

} // namespace taskgraphs

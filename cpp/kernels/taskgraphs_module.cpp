// simplugin.taskgraphs._kernels: what is in it.

#include "taskgraphs.hpp"

PYBIND11_MODULE(_kernels, module)
{
  taskgraphs::register_allocation(module);
  taskgraphs::register_mapping(module);
}

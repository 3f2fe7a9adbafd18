// simplugin.pricing._sweeps: what is in it.

#include "sweeps.hpp"

PYBIND11_MODULE(_sweeps, module)
{
  sweeps::register_trees(module);
  sweeps::register_arrange(module);
  sweeps::register_gradient(module);
  sweeps::register_market(module);
}

// Trees, checked once so that sweeps need not.

#include "sweeps.hpp"

#include <initializer_list>
#include <stdexcept>
#include <string>
#include <utility>

namespace sweeps {

namespace {

/// Throws unless all of an array is in [least, bound).
void check_range(Indices const& array, Index least, Index bound, char const* name)
{
  Index const* const values = array.data();
  for (py::ssize_t i = 0; i < array.size(); i++)
    if (values[i] < least || values[i] >= bound)
      throw std::invalid_argument(std::string(name) + " of agent " + std::to_string(i) + " is " +
                                  std::to_string(values[i]) + ", out of range");
}

/// Adds to each agent what is below it; sons are added from the last in the arrays to the first.
void gather(Trees const& trees, Floats& flows)
{
  check_length(flows, trees.agents, "flow");
  Index const* const father = trees.father.data();
  double* const flow        = flows.mutable_data();
  Index const agents        = trees.agents;
  py::gil_scoped_release const release;
  for (Index i = agents - 1; i >= 0; i--)
    if (father[i] >= 0)
      flow[father[i]] += flow[i];
}

} // namespace

void check_length(py::array const& array, py::ssize_t length, char const* name)
{
  if (array.ndim() != 1 || array.shape(0) != length)
    throw std::invalid_argument(std::string(name) + " must have shape (" + std::to_string(length) + ",)");
}

Trees::Trees(Indices father, Indices link, Indices host, Indices application, Flags computes, Floats byte, Floats flop,
             Index links, Index hosts)
    : father(std::move(father)), link(std::move(link)), host(std::move(host)), application(std::move(application)),
      computes(std::move(computes)), byte(std::move(byte)), flop(std::move(flop)),
      agents(static_cast<Index>(this->father.size())), links(links), hosts(hosts)
{
  check_length(this->link, agents, "link");
  check_length(this->host, agents, "host");
  check_length(this->application, agents, "application");
  check_length(this->computes, agents, "computes");
  check_length(this->flop, this->byte.size(), "flop");
  check_range(this->link, -1, links, "link");
  check_range(this->host, 0, hosts, "host");
  check_range(this->application, 0, static_cast<Index>(this->byte.size()), "application");
  for (Index i = 0; i < agents; i++) {
    Index const above = this->father.data()[i];
    if (above < -1 || above >= i || (above < 0) != (this->link.data()[i] < 0))
      throw std::invalid_argument("father of agent " + std::to_string(i) + " is " + std::to_string(above) +
                                  "; fathers come first, and only a master has none, nor a link");
  }
}

void register_trees(py::module_& module)
{
  py::class_<Trees>(module, "Trees")
      .def(py::init<Indices, Indices, Indices, Indices, Flags, Floats, Floats, Index, Index>(),
           py::arg("father").noconvert(), py::arg("link").noconvert(), py::arg("host").noconvert(),
           py::arg("application").noconvert(), py::arg("computes").noconvert(), py::arg("byte").noconvert(),
           py::arg("flop").noconvert(), py::arg("n_links"), py::arg("n_hosts"))
      .def_readonly("link", &Trees::link)
      .def_readonly("host", &Trees::host)
      .def("gather", &gather, py::arg("flow").noconvert());
}

} // namespace sweeps

// A round of the scaled gradient iteration, as in simplugin/pricing/gradient.py, operation by operation.

#include "sweeps.hpp"

#include <utility>
#include <vector>

namespace sweeps {

namespace {

/// Prices of hosts or links, and the sums that change them.
struct Resources {
  Floats price;
  std::vector<double> load;
  std::vector<double> demand;

  explicit Resources(Floats prices) : price(std::move(prices)), load(price.size()), demand(price.size()) {}
};

/// A task of an application, and what an agent adds to the denominators of Eqs. (17) and (18).
struct Task {
  double byte;
  double flop;
  double inverse; // of the marginal utility
  double host_share;
  double link_share;

  Task(double byte, double flop, double inverse)
      : byte(byte), flop(flop), inverse(inverse), host_share(flop * flop * inverse), link_share(byte * byte * inverse)
  {
  }
};

/// numpy.maximum(value, 0): not a number stays so.
double positive_part(double value)
{
  return value < 0 ? 0.0 : value;
}

/// Eqs. (10), (11) and (16), and the sums of Eqs. (17) and (18), in one run down the arrays. `flow` comes as what
/// gather() gave and leaves as the new rates, for the next gather(): one array less to read there.
void scaled_down(Trees const& trees, Indices const& counts, Floats const& inverses, double memory_step,
                 double rate_step, double utility_step, Resources& on_links, Resources& on_hosts, Floats& rates,
                 Floats& memories, Floats& flows, Floats& etas)
{
  Index const agents = trees.agents;
  check_length(counts, agents, "count");
  check_length(inverses, trees.byte.size(), "inverse");
  for (Floats const* const array : {&rates, &memories, &flows, &etas})
    check_length(*array, agents, "each of rate, memory, flow and eta");
  check_length(on_links.price, trees.links, "price of links");
  check_length(on_hosts.price, trees.hosts, "price of hosts");
  Index const* const father      = trees.father.data();
  Index const* const link        = trees.link.data();
  Index const* const host        = trees.host.data();
  Index const* const application = trees.application.data();
  bool const* const computes     = trees.computes.data();
  Index const* const count       = counts.data();
  double const* const link_price = on_links.price.data();
  double const* const host_price = on_hosts.price.data();
  Sums of_link(on_links.load.data(), on_links.demand.data());
  Sums of_host(on_hosts.load.data(), on_hosts.demand.data());
  double* const rate   = rates.mutable_data();
  double* const memory = memories.mutable_data();
  double* const flow   = flows.mutable_data();
  double* const eta    = etas.mutable_data();
  std::vector<Task> tasks;
  for (py::ssize_t k = 0; k < inverses.size(); k++)
    tasks.emplace_back(trees.byte.data()[k], trees.flop.data()[k], inverses.data()[k]);
  py::gil_scoped_release const release;
  for (Index i = 0; i < agents; i++) {
    Task const& task = tasks[application[i]];
    double path      = 0.0;
    if (father[i] >= 0) {
      Index const l = link[i];
      path          = eta[father[i]] + link_price[l];
      of_link.add(l, task.byte * flow[i], count[i] * task.link_share);
    }
    eta[i] = path;
    if (computes[i]) {
      Index const h      = host[i];
      double const price = task.byte * path + task.flop * host_price[h];
      of_host.add(h, task.flop * rate[i], task.host_share);
      double const drawn = (1 - rate_step) * rate[i] + rate_step * memory[i];
      memory[i]          = (1 - memory_step) * memory[i] + memory_step * rate[i];
      rate[i]            = positive_part(drawn + utility_step * (1 - task.inverse * price));
    }
    flow[i] = rate[i];
  }
}

/// Eqs. (17) and (18).
void reprice(Resources& resources, Floats const& capacities, double step)
{
  check_length(capacities, resources.price.size(), "capacity");
  double* const price          = resources.price.mutable_data();
  double const* const capacity = capacities.data();
  double* const load           = resources.load.data();
  double* const demand         = resources.demand.data();
  std::size_t const count      = resources.load.size();
  py::gil_scoped_release const release;
  for (std::size_t r = 0; r < count; r++) {
    price[r] = demand[r] > 0 ? positive_part(price[r] + step * ((load[r] - capacity[r]) / demand[r])) : 0.0;
    load[r] = demand[r] = 0.0; // for the next round
  }
}

} // namespace

void register_gradient(py::module_& module)
{
  py::class_<Resources>(module, "Resources")
      .def(py::init<Floats>(), py::arg("price").noconvert())
      .def_readonly("price", &Resources::price)
      .def("reprice", &reprice, py::arg("capacity").noconvert(), py::arg("step"));
  module.def("scaled_down", &scaled_down, py::arg("trees"), py::arg("count").noconvert(),
             py::arg("inverse").noconvert(), py::arg("memory_step"), py::arg("rate_step"), py::arg("utility_step"),
             py::arg("links"), py::arg("hosts"), py::arg("rate").noconvert(), py::arg("memory").noconvert(),
             py::arg("flow").noconvert(), py::arg("eta").noconvert());
}

} // namespace sweeps

// The order of agents in which sweeps stream through memory.

#include "sweeps.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace sweeps {

namespace {

/// Ranks hosts as a depth-first tour of the first tree meets them, then those that only later trees reach. Sons are
/// toured from the last to the first: a run up the arrays then adds them to their father from the first to the last.
std::vector<Index> tour(std::int64_t const* father, std::int64_t const* application, std::int64_t const* host,
                        Index agents, Index applications, Index hosts)
{
  std::vector<Index> size(agents, 1);
  std::vector<Index> start(applications + 1, 0);
  for (Index i = agents - 1; i >= 0; i--) {
    if (father[i] >= 0)
      size[father[i]] += size[i];
    else
      start[application[i] + 1] = size[i];
  }
  std::partial_sum(start.begin(), start.end(), start.begin());
  // Each tree, and each subtree in it, has an interval of the tour, which its sons take from the end.
  std::vector<Index> end(agents);
  std::vector<Index> agent_at(agents);
  for (Index i = 0; i < agents; i++) {
    Index const last = father[i] >= 0 ? end[father[i]] : start[application[i] + 1];
    if (father[i] >= 0)
      end[father[i]] -= size[i];
    end[i]                   = last;
    agent_at[last - size[i]] = i;
  }
  std::vector<Index> rank(hosts, -1);
  Index next = 0;
  for (Index const i : agent_at)
    if (rank[host[i]] < 0)
      rank[host[i]] = next++;
  for (Index& of_host : rank)
    if (of_host < 0)
      of_host = next++;
  return rank;
}

/// All agents of a host side by side, hosts in the order of the tour; where an application's tree goes against the
/// tour, the agents above come before everything else, in the order given.
Indices arrange(Integers const& fathers, Integers const& applications_of, Integers const& hosts_of, Index applications,
                Index hosts)
{
  check_length(applications_of, fathers.size(), "application");
  check_length(hosts_of, fathers.size(), "host");
  auto const agents       = static_cast<Index>(fathers.size());
  auto const* father      = fathers.data();
  auto const* host        = hosts_of.data();
  auto const* application = applications_of.data();
  Indices order(agents);
  Index* out = order.mutable_data();
  py::gil_scoped_release const release;
  std::vector<Index> const rank = tour(father, application, host, agents, applications, hosts);
  std::vector<bool> ahead(agents);
  for (Index i = agents - 1; i >= 0; i--)
    if (father[i] >= 0 && (ahead[i] || rank[host[father[i]]] > rank[host[i]]))
      ahead[father[i]] = true;
  std::vector<Index> place(hosts + 1, 0);
  for (Index i = 0; i < agents; i++)
    place[ahead[i] ? 0 : rank[host[i]] + 1]++;
  std::exclusive_scan(place.begin(), place.end(), place.begin(), Index{0});
  for (Index i = 0; i < agents; i++)
    out[place[ahead[i] ? 0 : rank[host[i]] + 1]++] = i;
  return order;
}

/// New numbers of hosts or links: in the order in which agents meet them; negative ones stand for none.
Indices first_met(Indices const& met, Index count)
{
  Indices numbers(count);
  Index* number = numbers.mutable_data();
  std::fill_n(number, count, -1);
  Index next = 0;
  for (py::ssize_t i = 0; i < met.size(); i++) {
    Index const which = met.data()[i];
    if (which >= 0 && number[which] < 0)
      number[which] = next++;
  }
  for (Index which = 0; which < count; which++)
    if (number[which] < 0)
      number[which] = next++;
  return numbers;
}

} // namespace

void register_arrange(py::module_& module)
{
  module.def("arrange", &arrange, py::arg("father").noconvert(), py::arg("application").noconvert(),
             py::arg("host").noconvert(), py::arg("n_applications"), py::arg("n_hosts"));
  module.def("first_met", &first_met, py::arg("met").noconvert(), py::arg("count"));
}

} // namespace sweeps

// A round of local markets, for simplugin/pricing/policies/market.py, which has the formulas.

#include "pricing.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace pricing {

namespace {

/// A divisor that gives 0 where there is no metric.
double divisor(double metric)
{
  return metric > 0 ? metric : std::numeric_limits<double>::infinity();
}

/// The numbers of hosts, or of links, in an array of resources.
template <class T> T* part(T* resources, std::size_t s, Trees const& trees)
{
  return resources + (s == LINKS ? trees.sides[HOSTS].size() : 0);
}

double const* resources_of(Trees const& trees, Floats const& values, char const* name)
{
  return values_of(values, trees.resources(), name);
}

/// The row of one side, of an array of slots.
template <class T> T* row(T* slots, std::size_t s, Trees const& trees)
{
  return slots + s * trees.agents();
}

double const* slots_of(Trees const& trees, Floats const& values, char const* name)
{
  return values_of(values, 2 * trees.agents(), name);
}

// ---- step 1 ---------------------------------------------------------------------------------------------------------

/// A bid at a resource of which not all bids got an offer.
struct Bid {
  std::size_t agent;
  std::size_t place;
  double request, give, wants, yields;
};

/// What is bid in the market of a resource.
struct Bids {
  double wanted;
  double yielded;

  void add(double wants, double yields)
  {
    wanted += wants;
    yielded += yields;
  }
  /// The price at which the offers fit the capacity, or the price before if none depends on it.
  double price(double capacity, double before) const
  {
    if (!(yielded > 0))
      return before;
    double const least = (wanted - capacity) / yielded;
    return least < 0 ? 0.0 : least;
  }
};

/// Clear the markets of all hosts, or of all links.
void clear_side(Trees const& trees, std::size_t s, double const* request, double const* metric, double const* demands,
                Bids* sums, double* price, double* offer, double* prices)
{
  Side const& side = trees.sides[s];
  std::fill_n(sums, side.size(), Bids{0, 0});
  std::array<double, SHORT> gives;
  auto const set_gives = [&](Run const& run) {
    double const demand                  = demands[run.application];
    double const* const __restrict theta = metric + run.first;
    for (std::size_t i = 0; i < run.last - run.first; i++)
      gives[i] = demand / divisor(theta[i]);
  };
  trees.each_run([&](Run const& run) {
    double const demand = demands[run.application];
    set_gives(run);
    for (std::size_t i = run.first; i < run.last; i++)
      if (request[i] > 0)
        sums[side.place[i]].add(demand * request[i], demand * gives[i - run.first]);
  });
  for (std::size_t place = 0; place < side.size(); place++)
    price[place] = sums[place].price(side.capacity[place], 0);
  // Resources of which a bid was dropped; the others are done.
  std::vector<std::uint8_t> going(side.size());
  bool all_stay = true;
  trees.each_run([&](Run const& run) {
    set_gives(run);
    for (std::size_t i = run.first; i < run.last; i++) {
      offer[i] = 0;
      if (request[i] > 0) {
        double const spent = price[side.place[i]] * gives[i - run.first];
        if (request[i] > spent)
          offer[i] = request[i] - spent;
        else
          going[side.place[i]] = 1, all_stay = false;
      }
    }
  });
  std::vector<Bid> bids;
  if (!all_stay)
    trees.each_run([&](Run const& run) {
      double const demand = demands[run.application];
      for (std::size_t i = run.first; i < run.last; i++)
        if (side.place[i] >= 0 && going[side.place[i]] && offer[i] > 0) {
          double const give = demand / divisor(metric[i]);
          bids.push_back(
              {i, static_cast<std::size_t>(side.place[i]), request[i], give, demand * request[i], demand * give});
        }
    });
  while (!bids.empty()) {
    for (Bid const& bid : bids)
      sums[bid.place] = {0, 0};
    for (Bid const& bid : bids)
      sums[bid.place].add(bid.wants, bid.yields);
    for (Bid const& bid : bids) {
      price[bid.place] = sums[bid.place].price(side.capacity[bid.place], price[bid.place]);
      going[bid.place] = 0;
    }
    for (Bid const& bid : bids) {
      double const spent = price[bid.place] * bid.give;
      bool const stays   = bid.request > spent;
      offer[bid.agent]   = stays ? bid.request - spent : 0.0;
      if (!stays)
        going[bid.place] = 1;
    }
    auto const done = [&](Bid const& bid) { return !going[bid.place] || !(offer[bid.agent] > 0); };
    bids.erase(std::remove_if(bids.begin(), bids.end(), done), bids.end());
  }
  for (std::size_t place = 0; place < side.size(); place++) {
    side.fetch(prices, place);
    prices[side.resource[place]] = price[place];
  }
}

py::tuple clear(Trees const& trees, Floats const& requests, Floats const& metrics, Floats const& demands)
{
  double const* const request = slots_of(trees, requests, "request");
  double const* const metric  = slots_of(trees, metrics, "metric");
  double const* const demand  = values_of(demands, 2 * trees.applications(), "demand");
  Floats offers               = trees.of_slots();
  Floats prices               = trees.array({trees.resources()});
  double *const offer = offers.mutable_data(), *const price = prices.mutable_data();
  Scratch<Bids> sums(trees.pool(), trees.resources());
  Scratch<double> found(trees.pool(), trees.resources());
  {
    py::gil_scoped_release const released;
    trees.both([&](std::size_t s) {
      clear_side(trees, s, row(request, s, trees), row(metric, s, trees), demand + s * trees.applications(),
                 part(sums.data(), s, trees), part(found.data(), s, trees), row(offer, s, trees),
                 part(price, s, trees));
    });
  }
  return py::make_tuple(offers, prices);
}

// ---- steps 3 to 6 ---------------------------------------------------------------------------------------------------

Floats answers(Trees const& trees, Floats const& offers, Floats const& requests, Floats const& metrics,
               Floats const& slacks, Floats const& shares)
{
  double const* const offer   = slots_of(trees, offers, "offer");
  double const* const request = slots_of(trees, requests, "request");
  double const* const pull    = row(slots_of(trees, metrics, "metric"), LINKS, trees);
  double const* const slack   = values_of(slacks, trees.agents(), "slack");
  double const* const share   = values_of(shares, trees.agents(), "share");
  double const* const flow    = row(offer, LINKS, trees);
  double const* const asked   = row(request, LINKS, trees);
  Floats middles              = trees.of_agents();
  double* const middle        = middles.mutable_data();
  py::gil_scoped_release const released;
  trees.rise(
      middle, [=](std::size_t i) { return 2 * offer[i] - request[i]; },
      [=](std::size_t i) { return share[i] * (middle[i] + slack[i] * (pull[i] * (2 * flow[i] - asked[i]))); });
  return middles;
}

/// Residuals of the slots of a resource.
struct Residuals {
  double planned = 0;
  double moved   = 0;
};

/// Numbers of an application in a round: the worth of a task at its master, and what bounds its slots.
struct Terms {
  double nu, value, reached;
};

/// Slots of one side, before and after a round.
struct SlotRow {
  double const *request, *metric, *offer, *bound, *offer_before, *paid_before;
  /// Plans to take, or none for those of the round.
  double const* given;
  double *plan, *paid, *next;
  std::int32_t const* place;
  Residuals* sums;
  double onward;

  /// Settle the slots of a run for their plans, 0 without a bound, and the worth of a task to each.
  void settle(Run const& run, Terms const& own, double const* __restrict planned, double const* __restrict worth) const
  {
    std::size_t const first = run.first, count = run.last - run.first;
    double const* const __restrict d = request + first, * const __restrict theta = metric + first;
    double const* const __restrict z = offer + first, * const __restrict most = bound + first;
    double const* const __restrict z_before = offer_before + first, * const __restrict paid_then = paid_before + first;
    double* const __restrict plan_to = plan + first, * const __restrict paid_to = paid + first;
    double* const __restrict next_to = next + first;
    double const reached = own.reached, value = own.value, over = onward;
    std::array<double, SHORT> plan_residual, move_residual;
#pragma GCC ivdep
    for (std::size_t i = 0; i < count; i++) {
      double const limit = most[i], plan_here = planned[i];
      double const missed = plan_here - z[i];
      double const pays   = theta[i] * (d[i] - z[i]);
      double const gap    = missed * (1 / (reached < limit ? reached : limit));
      double const pay    = (pays - paid_then[i]) / value;
      double const shift  = theta[i] * (z[i] - z_before[i]) / value;
      double const drift  = theta[i] * missed / value;
      plan_residual[i]    = gap * gap + pay * pay;
      move_residual[i]    = shift * shift + drift * drift;
      plan_to[i]          = plan_here;
      paid_to[i]          = pays;
      next_to[i]          = z[i] + worth[i] * (1 / divisor(theta[i])) + over * missed;
    }
    for (std::size_t i = 0; i < count; i++)
      if (most[i] > 0) {
        Residuals& sum = sums[place[first + i]];
        sum.planned += plan_residual[i];
        sum.moved += move_residual[i];
      }
  }
};

} // namespace

void register_market(py::class_<Trees>& trees)
{
  trees.def("clear", &clear, py::arg("request"), py::arg("metric"), py::arg("demand"));
  trees.def("answers", &answers, py::arg("offer"), py::arg("request"), py::arg("metric"), py::arg("slack"),
            py::arg("share"));
  trees.def(
      "settle",
      [](Trees const& self, Floats const& request, Floats const& metric, Floats const& offer, Floats const& bound,
         Floats const& offer_before, Floats const& paid_before, Floats middles, Floats const& slacks,
         Floats const& shares, Floats const& numbers, Floats const& residuals, double relaxation, double memory,
         std::optional<Floats> const& given) {
        std::size_t const agents = self.agents(), applications = self.applications();
        Floats plan = self.of_slots();
        Floats paid = self.of_slots(), next = self.of_slots();
        Floats residuals_after = self.array({self.resources(), 2});
        auto const* const from =
            reinterpret_cast<Residuals const*>(values_of(residuals, 2 * self.resources(), "residual"));
        auto* const to = reinterpret_cast<Residuals*>(residuals_after.mutable_data());
        Scratch<Residuals> sums(self.pool(), self.resources());
        std::array<SlotRow, 2> rows{};
        for (std::size_t const s : {HOSTS, LINKS})
          rows[s] = {row(slots_of(self, request, "request"), s, self),
                     row(slots_of(self, metric, "metric"), s, self),
                     row(slots_of(self, offer, "offer"), s, self),
                     row(slots_of(self, bound, "bound"), s, self),
                     row(slots_of(self, offer_before, "offer"), s, self),
                     row(slots_of(self, paid_before, "paid"), s, self),
                     given ? row(slots_of(self, *given, "plan"), s, self) : nullptr,
                     row(plan.mutable_data(), s, self),
                     row(paid.mutable_data(), s, self),
                     row(next.mutable_data(), s, self),
                     self.sides[s].place.data(),
                     part(sums.data(), s, self),
                     relaxation - 1};
        values_of(middles, agents, "middle");
        double* const middle       = middles.mutable_data();
        double const* const slack  = values_of(slacks, agents, "slack");
        double const* const share  = values_of(shares, agents, "share");
        double const* const number = values_of(numbers, 3 * applications, "numbers");
        std::vector<Terms> terms(applications);
        for (std::size_t k = 0; k < applications; k++)
          terms[k] = {number[k], number[applications + k], number[2 * applications + k]};
        double* const nu = middle;
        {
          py::gil_scoped_release const released;
          std::fill_n(sums.data(), self.resources(), Residuals());
          SlotRow const over = rows[LINKS], on = rows[HOSTS];
          auto const links = [&](Run const& run) {
            Terms const own = terms[run.application];
            std::array<double, SHORT> plans, worths;
            for (std::size_t i = run.first; i < run.last; i++) {
              double const sum = middle[i];
              double above     = 0;
              if (run.level == 0) {
                nu[i] = own.nu;
              } else {
                above             = nu[self.parent[i]];
                double const pull = over.metric[i];
                double const bent = pull * (2 * over.offer[i] - over.request[i]) - pull * sum;
                nu[i]             = share[i] * (above + bent);
              }
              plans[i - run.first]  = over.bound[i] > 0 ? sum + slack[i] * nu[i] : 0.0;
              worths[i - run.first] = above - nu[i];
            }
            over.settle(run, own, given ? over.given + run.first : plans.data(), worths.data());
          };
          auto const hosts = [&](Run const& run) {
            std::array<double, SHORT> plans;
            for (std::size_t i = run.first; i < run.last; i++)
              plans[i - run.first] =
                  on.bound[i] > 0 ? (2 * on.offer[i] - on.request[i]) + nu[i] * (1 / divisor(on.metric[i])) : 0.0;
            on.settle(run, terms[run.application], given ? on.given + run.first : plans.data(), nu + run.first);
          };
          self.descend(links, hosts);
          self.both([&](std::size_t s) {
            Side const& side = self.sides[s];
            for (std::size_t place = 0; place < side.size(); place++) {
              side.fetch(part(from, s, self), place);
              side.fetch(part(to, s, self), place);
              std::int32_t const resource = side.resource[place];
              Residuals const before = part(from, s, self)[resource], sum = part(sums.data(), s, self)[place];
              part(to, s, self)[resource] = {memory * before.planned + sum.planned, memory * before.moved + sum.moved};
            }
          });
        }
        return py::make_tuple(plan, paid, next, middles, residuals_after);
      },
      py::kw_only(), py::arg("request"), py::arg("metric"), py::arg("offer"), py::arg("bound"), py::arg("offer_before"),
      py::arg("paid_before"), py::arg("middle"), py::arg("slack"), py::arg("share"), py::arg("numbers"),
      py::arg("residual"), py::arg("relaxation"), py::arg("memory"), py::arg("plan") = py::none());
  trees.def(
      "weights",
      [](Trees const& self, Floats const& metrics) {
        double const* const metric = slots_of(self, metrics, "metric");
        double const* const pull   = row(metric, LINKS, self);
        Floats slacks = self.of_agents(), shares = self.of_agents();
        double *const slack = slacks.mutable_data(), *const share = shares.mutable_data();
        {
          py::gil_scoped_release const released;
          for (std::size_t const master : self.masters)
            share[master] = 1;
          self.rise(
              slack, [=](std::size_t i) { return 1 / divisor(metric[i]); },
              [=](std::size_t i) {
                share[i] = 1 / (1 + pull[i] * slack[i]);
                return slack[i] * share[i];
              });
        }
        return py::make_tuple(slacks, shares);
      },
      py::arg("metric"));
  trees.def(
      "adapt",
      [](Trees const& self, Floats const& offers, Floats const& bounds, Floats const& demands, Floats const& numbers,
         Floats const& prices, Floats const& balances, double size, double floor, double ceiling) {
        double const* const offer   = slots_of(self, offers, "offer");
        double const* const bound   = slots_of(self, bounds, "bound");
        double const* const demand  = values_of(demands, 2 * self.applications(), "demand");
        double const* const number  = values_of(numbers, 2 * self.applications(), "numbers");
        double const* const price   = resources_of(self, prices, "price");
        double const* const balance = resources_of(self, balances, "balance");
        Floats metrics              = self.of_slots();
        double* const metric        = metrics.mutable_data();
        py::gil_scoped_release const released;
        self.both([&](std::size_t s) {
          Side const& side = self.sides[s];
          Buffer<std::array<double, 2>> known(side.size());
          for (std::size_t place = 0; place < side.size(); place++)
            known[place] = {part(price, s, self)[side.resource[place]], part(balance, s, self)[side.resource[place]]};
          self.each_run([&](Run const& run) {
            double const task  = demand[s * self.applications() + run.application];
            double const value = number[run.application], reached = number[self.applications() + run.application];
            for (std::size_t i = run.first; i < run.last; i++) {
              double& to         = row(metric, s, self)[i];
              double const limit = row(bound, s, self)[i];
              to                 = 0;
              if (!(limit > 0))
                continue;
              auto const& [cost_each, factor] = known[side.place[i]];
              double const own                = std::min(limit, reached);
              double const cost               = std::min(task * cost_each / value, ceiling);
              double const part               = std::min(row(offer, s, self)[i] / own, ceiling);
              to = size * value / own * std::sqrt((cost + floor) / (part + floor)) * factor;
            }
          });
        });
        return metrics;
      },
      py::kw_only(), py::arg("offer"), py::arg("bound"), py::arg("demand"), py::arg("numbers"), py::arg("price"),
      py::arg("balance"), py::arg("size"), py::arg("floor"), py::arg("ceiling"));
  trees.def(
      "move",
      [](Trees const& self, Floats const& offers, Floats const& plans, Floats const& nus, Floats const& metrics,
         double relaxation) {
        double const* const offer  = slots_of(self, offers, "offer");
        double const* const plan   = slots_of(self, plans, "plan");
        double const* const metric = slots_of(self, metrics, "metric");
        double const* const nu     = values_of(nus, self.agents(), "nu");
        Floats requests            = self.of_slots();
        double* const request      = requests.mutable_data();
        py::gil_scoped_release const released;
        self.both([&](std::size_t s) {
          self.each_run([&](Run const& run) {
            for (std::size_t i = run.first; i < run.last; i++) {
              std::size_t const slot = s * self.agents() + i;
              double const above     = s == LINKS && run.level > 0 ? nu[self.parent[i]] - nu[i] : nu[i];
              request[slot]          = 0;
              if (metric[slot] > 0)
                request[slot] =
                    offer[slot] + above * (1 / metric[slot]) + (relaxation - 1) * (plan[slot] - offer[slot]);
            }
          });
        });
        return requests;
      },
      py::arg("offer"), py::arg("plan"), py::arg("nu"), py::arg("metric"), py::arg("relaxation"));
  trees.def(
      "carried",
      [](Trees const& self, Floats const& offers, Floats const& bounds) {
        double const* const offer = slots_of(self, offers, "offer");
        double const* const room  = row(offer, LINKS, self);
        double const* const bound = row(slots_of(self, bounds, "bound"), LINKS, self);
        Floats parts = self.of_agents(), flows = self.of_agents();
        double *const part = parts.mutable_data(), *const flow = flows.mutable_data();
        py::gil_scoped_release const released;
        std::fill_n(part, self.agents(), 1.0);
        self.rise(
            flow, [=](std::size_t i) { return offer[i]; },
            [=](std::size_t i) {
              double const passed = bound[i] > 0 ? std::min(flow[i], room[i]) : flow[i];
              if (flow[i] > 0)
                part[i] = passed / flow[i];
              return passed;
            });
        self.each_run([&](Run const& run) {
          if (run.level > 0)
            for (std::size_t i = run.first; i < run.last; i++)
              part[i] *= part[self.parent[i]];
        });
        return parts;
      },
      py::arg("offer"), py::arg("bound"));
}

} // namespace pricing

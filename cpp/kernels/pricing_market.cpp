// A round of local markets, for simplugin/pricing/policies/market.py, which has the formulas.

#include "pricing.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace pricing {

namespace {

/// 1 / value, or 0 of 0.
double inverted(double value)
{
  return value > 0 ? 1 / value : 0.0;
}

/// Decrease of a slot's offer with the price.
double give_of(double demand, double metric)
{
  return metric > 0 ? demand / metric : 0.0;
}

/// Numbers of hosts, then of links, in one array.
class Resources {
public:
  explicit Resources(Trees const& trees)
      : offset_{0, trees.sides[HOSTS].size()}, values(offset_[LINKS] + trees.sides[LINKS].size())
  {
  }
  double* of(std::size_t s) { return values.mutable_data() + offset_[s]; }

private:
  std::array<std::size_t, 2> offset_;

public:
  Floats values;
};

/// Numbers of resources that the caller gives.
class Given {
public:
  Given(Trees const& trees, Floats const& values, char const* name)
      : data_(values_of(values, trees.sides[HOSTS].size() + trees.sides[LINKS].size(), name)),
        links_(trees.sides[HOSTS].size())
  {
  }
  double const* of(std::size_t s) const { return data_ + (s == LINKS ? links_ : 0); }

private:
  double const* data_;
  std::size_t links_;
};

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

/// The market of a resource.
struct Market {
  double wanted  = 0;
  double yielded = 0;
  double price   = 0;

  void bid(double wants, double yields)
  {
    wanted += wants;
    yielded += yields;
  }
  void close(double capacity)
  {
    if (yielded > 0) {
      double const least = (wanted - capacity) / yielded;
      price              = least < 0 ? 0.0 : least;
    }
    wanted = yielded = 0;
  }
};

/// Clear the markets of all hosts, or of all links.
void clear_side(Trees const& trees, std::size_t s, double const* request, double const* metric, double const* demands,
                double* offer, double* prices)
{
  Side const& side = trees.sides[s];
  Buffer<Market> markets(side.size());
  std::fill(markets.data(), markets.data() + side.size(), Market());
  trees.each_run([&](Run const& run) {
    double const demand = demands[run.application];
    for (std::size_t i = run.first; i < run.last; i++)
      if (request[i] > 0)
        markets[side.place[i]].bid(demand * request[i], demand * give_of(demand, metric[i]));
  });
  for (std::size_t place = 0; place < side.size(); place++)
    markets[place].close(side.capacity[place]);
  // Resources of which a bid was dropped; the others are done.
  std::vector<std::uint8_t> going(side.size());
  trees.each_run([&](Run const& run) {
    double const demand = demands[run.application];
    for (std::size_t i = run.first; i < run.last; i++) {
      offer[i] = 0;
      if (request[i] > 0) {
        double const spent = markets[side.place[i]].price * give_of(demand, metric[i]);
        if (request[i] > spent)
          offer[i] = request[i] - spent;
        else
          going[side.place[i]] = 1;
      }
    }
  });
  std::vector<Bid> bids;
  trees.each_run([&](Run const& run) {
    double const demand = demands[run.application];
    for (std::size_t i = run.first; i < run.last; i++)
      if (offer[i] > 0 && going[side.place[i]]) {
        double const give = give_of(demand, metric[i]);
        bids.push_back({i, static_cast<std::size_t>(side.place[i]), request[i], give, demand * request[i], demand * give});
      }
  });
  while (!bids.empty()) {
    for (Bid const& bid : bids)
      markets[bid.place].bid(bid.wants, bid.yields);
    for (Bid const& bid : bids) {
      going[bid.place] = 0;
      if (markets[bid.place].yielded > 0)
        markets[bid.place].close(side.capacity[bid.place]);
    }
    for (Bid const& bid : bids) {
      double const spent = markets[bid.place].price * bid.give;
      bool const stays   = bid.request > spent;
      offer[bid.agent]   = stays ? bid.request - spent : 0.0;
      if (!stays)
        going[bid.place] = 1;
    }
    auto const done = [&](Bid const& bid) { return !going[bid.place] || !(offer[bid.agent] > 0); };
    bids.erase(std::remove_if(bids.begin(), bids.end(), done), bids.end());
  }
  for (std::size_t place = 0; place < side.size(); place++)
    prices[side.resource[place]] = markets[place].price;
}

py::tuple clear(Trees const& trees, Floats const& requests, Floats const& metrics, Floats const& demands)
{
  double const* const request = slots_of(trees, requests, "request");
  double const* const metric  = slots_of(trees, metrics, "metric");
  double const* const demand  = values_of(demands, 2 * trees.applications(), "demand");
  Floats offers               = trees.of_slots();
  Resources prices(trees);
  std::array<double*, 2> const price{prices.of(HOSTS), prices.of(LINKS)};
  double* const offer = offers.mutable_data();
  {
    py::gil_scoped_release const released;
    trees.both([&](std::size_t s) {
      clear_side(trees, s, row(request, s, trees), row(metric, s, trees), demand + s * trees.applications(),
                 row(offer, s, trees), price[s]);
    });
  }
  return py::make_tuple(offers, prices.values);
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
  double *plan, *paid, *next;
  bool planned;

  /// Settle a slot: `plan` is its plan unless it has one, `worth` that of a task.
  void settle(std::size_t i, double planned_here, double worth, double onward, Terms const& own, Residuals* sums,
              std::int32_t const* place) const
  {
    if (!(bound[i] > 0)) {
      plan[i] = paid[i] = next[i] = 0;
      return;
    }
    if (!planned)
      plan[i] = planned_here;
    double const theta = metric[i], offered = offer[i];
    double const missed = plan[i] - offered;
    paid[i]             = theta * (request[i] - offered);
    double const gap    = missed * (1 / std::min(bound[i], own.reached));
    double const pay    = (paid[i] - paid_before[i]) / own.value;
    double const shift  = theta * (offered - offer_before[i]) / own.value;
    double const drift  = theta * missed / own.value;
    Residuals& sum      = sums[place[i]];
    sum.planned += gap * gap + pay * pay;
    sum.moved += shift * shift + drift * drift;
    next[i] = offered + worth * inverted(theta) + onward * missed;
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
         Floats const& offer_before, Floats const& paid_before, Floats const& middles, Floats const& slacks,
         Floats const& shares, Floats const& numbers, Floats const& planned, Floats const& moved, double relaxation,
         double memory, std::optional<Floats> const& given) {
        std::size_t const agents = self.agents(), applications = self.applications();
        Floats plan = self.of_slots();
        Floats paid = self.of_slots(), next = self.of_slots(), nus = self.of_agents();
        if (given) {
          double const* const from = slots_of(self, *given, "plan");
          std::copy(from, from + 2 * agents, plan.mutable_data());
        }
        Resources planned_after(self), moved_after(self);
        Given const planned_before(self, planned, "planned"), moved_before(self, moved, "moved");
        std::array<SlotRow, 2> rows{};
        for (std::size_t const s : {HOSTS, LINKS})
          rows[s] = {row(slots_of(self, request, "request"), s, self),
                     row(slots_of(self, metric, "metric"), s, self),
                     row(slots_of(self, offer, "offer"), s, self),
                     row(slots_of(self, bound, "bound"), s, self),
                     row(slots_of(self, offer_before, "offer"), s, self),
                     row(slots_of(self, paid_before, "paid"), s, self),
                     row(plan.mutable_data(), s, self),
                     row(paid.mutable_data(), s, self),
                     row(next.mutable_data(), s, self),
                     given.has_value()};
        double const* const middle = values_of(middles, agents, "middle");
        double const* const slack  = values_of(slacks, agents, "slack");
        double const* const share  = values_of(shares, agents, "share");
        double const* const number = values_of(numbers, 3 * applications, "numbers");
        std::vector<Terms> terms(applications);
        for (std::size_t k = 0; k < applications; k++)
          terms[k] = {number[k], number[applications + k], number[2 * applications + k]};
        double* const nu    = nus.mutable_data();
        double const onward = relaxation - 1;
        std::array<double*, 2> const planned_to{planned_after.of(HOSTS), planned_after.of(LINKS)};
        std::array<double*, 2> const moved_to{moved_after.of(HOSTS), moved_after.of(LINKS)};
        {
          py::gil_scoped_release const released;
          std::array<Buffer<Residuals>, 2> sums{Buffer<Residuals>(self.sides[HOSTS].size()),
                                                Buffer<Residuals>(self.sides[LINKS].size())};
          self.both([&](std::size_t s) { std::fill_n(sums[s].data(), sums[s].size(), Residuals()); });
          SlotRow const over = rows[LINKS], on = rows[HOSTS];
          auto const links = [&](Run const& run) {
            Terms const own = terms[run.application];
            for (std::size_t i = run.first; i < run.last; i++) {
              double above = 0;
              if (run.level == 0) {
                nu[i] = own.nu;
              } else {
                above             = nu[self.parent[i]];
                double const pull = over.metric[i];
                double const bent = pull * (2 * over.offer[i] - over.request[i]) - pull * middle[i];
                nu[i]             = share[i] * (above + bent);
              }
              over.settle(i, middle[i] + slack[i] * nu[i], above - nu[i], onward, own, sums[LINKS].data(),
                          self.sides[LINKS].place.data());
            }
          };
          auto const hosts = [&](Run const& run) {
            Terms const own = terms[run.application];
            for (std::size_t i = run.first; i < run.last; i++)
              on.settle(i, (2 * on.offer[i] - on.request[i]) + nu[i] * inverted(on.metric[i]), nu[i], onward, own,
                        sums[HOSTS].data(), self.sides[HOSTS].place.data());
          };
          self.descend(links, hosts);
          self.both([&](std::size_t s) {
            Side const& side = self.sides[s];
            for (std::size_t place = 0; place < side.size(); place++) {
              std::int32_t const resource = side.resource[place];
              planned_to[s][resource]     = memory * planned_before.of(s)[resource] + sums[s][place].planned;
              moved_to[s][resource]       = memory * moved_before.of(s)[resource] + sums[s][place].moved;
            }
          });
        }
        return py::make_tuple(plan, paid, next, nus, planned_after.values, moved_after.values);
      },
      py::kw_only(), py::arg("request"), py::arg("metric"), py::arg("offer"), py::arg("bound"), py::arg("offer_before"),
      py::arg("paid_before"), py::arg("middle"), py::arg("slack"), py::arg("share"), py::arg("numbers"),
      py::arg("planned"), py::arg("moved"), py::arg("relaxation"), py::arg("memory"), py::arg("plan") = py::none());
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
              slack, [=](std::size_t i) { return inverted(metric[i]); },
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
        double const* const offer  = slots_of(self, offers, "offer");
        double const* const bound  = slots_of(self, bounds, "bound");
        double const* const demand = values_of(demands, 2 * self.applications(), "demand");
        double const* const number = values_of(numbers, 2 * self.applications(), "numbers");
        Given const price(self, prices, "price"), balance(self, balances, "balance");
        Floats metrics       = self.of_slots();
        double* const metric = metrics.mutable_data();
        py::gil_scoped_release const released;
        self.both([&](std::size_t s) {
          Side const& side = self.sides[s];
          Buffer<std::array<double, 2>> known(side.size());
          for (std::size_t place = 0; place < side.size(); place++)
            known[place] = {price.of(s)[side.resource[place]], balance.of(s)[side.resource[place]]};
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
                    offer[slot] + above * inverted(metric[slot]) + (relaxation - 1) * (plan[slot] - offer[slot]);
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

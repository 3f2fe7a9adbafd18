// A round of the report's gradient, for simplugin/pricing/policies/gradient.py, which has the equations.

#include "elementary.hpp"
#include "pricing.hpp"

#include <algorithm>

namespace pricing {

namespace {

/// Choices of `GradientIteration` and of `GradientAssumptions`.
struct Rule {
  double alpha;
  bool scaled, late, fresh, seidel, counted, normalised;
};

/// Of a resource in a round.
struct Cell {
  double price;
  double load;
  double demand;
};

/// Numbers of an application in a round.
struct Terms {
  double flop, byte;
  /// The pull is `worth - inverse * price`; see Eqs. (12) and (16).
  double worth, inverse;
  double memory, rate, utility;
  double host_demand, link_demand;
};

double positive(double value)
{
  return value <= 0 ? 0.0 : value;
}

class Round {
public:
  Round(Trees const& trees, Rule const& rule, Floats const& rate, Floats const& memory, Floats const& count)
      : trees_(trees), rule_(rule), host_cells_(trees.pool(), trees.sides[HOSTS].size()),
        link_cells_(trees.pool(), trees.sides[LINKS].size()), cells_{host_cells_.data(), link_cells_.data()},
        terms_(trees.applications()), rate_(values_of(rate, trees.agents(), "rate")),
        memory_(values_of(memory, trees.agents(), "memory")), count_(values_of(count, trees.agents(), "count"))
  {
  }

  /// Run it; `numbers` has, for each application, flop, byte, weight, received throughput and the step sizes.
  py::tuple run(std::array<Floats, 2> const& prices, std::array<Floats, 2> const& steps, Floats const& numbers)
  {
    std::size_t const applications = trees_.applications();
    double const* const given      = values_of(numbers, 8 * applications, "numbers");
    auto const number              = [&](std::size_t row, std::size_t k) { return given[row * applications + k]; };
    auto const inverse             = [&](double throughput, double weight) {
      return (rule_.alpha == 1 ? throughput : elementary::power(throughput, rule_.alpha)) / weight;
    };
    std::array<double const*, 2> old{}, sizes{};
    for (std::size_t const s : {HOSTS, LINKS}) {
      old[s]   = values_of(prices[s], trees_.sides[s].size(), "price");
      sizes[s] = values_of(steps[s], steps[s].size() == 1 ? 1 : trees_.sides[s].size(), "step");
    }
    Floats flows = trees_.of_agents(), next_rates = trees_.of_agents(), next_memories = trees_.of_agents();
    flow_ = flows.mutable_data(), next_rate_ = next_rates.mutable_data(), next_memory_ = next_memories.mutable_data();
    Floats throughputs(static_cast<py::ssize_t>(applications));
    std::array<Floats, 2> next{trees_.array({trees_.sides[HOSTS].size()}), trees_.array({trees_.sides[LINKS].size()})};
    std::array<double*, 2> const to{next[HOSTS].mutable_data(), next[LINKS].mutable_data()};
    {
      py::gil_scoped_release const released;
      gather(rate_);
      for (std::size_t k = 0; k < applications; k++) {
        double const throughput       = flow_[trees_.masters[k]];
        double const weight           = number(2, k);
        double const received         = rule_.late ? number(3, k) : throughput;
        throughputs.mutable_data()[k] = throughput;
        double const least            = number(7, k);
        double const known            = received > least ? received : least;
        terms_[k]                     = {
            number(0, k), number(1, k), 1, inverse(received, weight), number(4, k), number(5, k), number(6, k), 0, 0};
        if (!rule_.normalised) {
          terms_[k].worth   = weight * elementary::power(known, -rule_.alpha);
          terms_[k].inverse = 1;
        }
        scale(k, inverse(rule_.fresh ? throughput : received, weight));
      }
      trees_.both([&](std::size_t s) {
        Side const& side = trees_.sides[s];
        for (std::size_t place = 0; place < side.size(); place++) {
          side.fetch(old[s], place);
          cells_[s][place] = {old[s][side.resource[place]], 0, rule_.scaled ? 0.0 : 1.0};
        }
      });
      if (rule_.seidel) {
        descend<true, false>();
        rate_ = next_rate_;
        gather(rate_);
        for (std::size_t k = 0; k < applications; k++)
          if (rule_.fresh)
            scale(k, inverse(flow_[trees_.masters[k]], number(2, k)));
        descend<false, true>();
      } else {
        descend<true, true>();
      }
      trees_.both([&](std::size_t s) { set_prices(s, old[s], sizes[s], steps[s].size() == 1, to[s]); });
    }
    return py::make_tuple(next_rates, next_memories, next[HOSTS], next[LINKS], throughputs);
  }

private:
  /// The flows of tasks that rates lead to.
  void gather(double const* rate)
  {
    trees_.rise(flow_, [rate](std::size_t i) { return rate[i]; }, [flow = flow_](std::size_t i) { return flow[i]; });
  }

  void scale(std::size_t k, double inverse)
  {
    Terms& own      = terms_[k];
    own.host_demand = own.flop * own.flop * inverse;
    own.link_demand = own.byte * own.byte * inverse;
  }

  /// Add up the prices of each way, update the rates, and add up what is asked of resources.
  template <bool UPDATES, bool LOADS> void descend()
  {
    std::int32_t const* const link = trees_.sides[LINKS].place.data();
    std::int32_t const* const host = trees_.sides[HOSTS].place.data();
    Cell *const links = cells_[LINKS], *const hosts = cells_[HOSTS];
    bool const scaled = rule_.scaled, counted = rule_.counted;
    // An agent's flow makes room for the price of its way.
    double* const flow    = flow_;
    double* const eta     = flow_;
    auto const over_links = [&, scaled, counted](Run const& run) {
      Terms const own = terms_[run.application];
      if (run.level == 0) {
        if (UPDATES)
          std::fill(eta + run.first, eta + run.last, 0.0);
        return;
      }
      for (std::size_t i = run.first; i < run.last; i++) {
        Cell& cell = links[link[i]];
        if (LOADS) {
          cell.load += own.byte * flow[i];
          if (scaled)
            cell.demand += (counted ? count_[i] : 1.0) * own.link_demand;
        }
        if (UPDATES)
          eta[i] = eta[trees_.parent[i]] + cell.price;
      }
    };
    auto const over_hosts = [&, scaled](Run const& run) {
      Terms const own         = terms_[run.application];
      std::size_t const count = run.last - run.first;
      std::array<double, SHORT> prices;
      for (std::size_t i = run.first; i < run.last; i++) {
        Cell& cell = hosts[host[i]];
        if (LOADS) {
          cell.load += own.flop * rate_[i];
          if (scaled)
            cell.demand += run.computes || trees_.computes[i] ? own.host_demand : 0.0;
        }
        prices[i - run.first] = cell.price;
      }
      if (!UPDATES)
        return;
      double const kept = 1 - own.rate, forgotten = 1 - own.memory;
      double const* const __restrict rate = rate_ + run.first, * const __restrict memory = memory_ + run.first;
      double const* const __restrict way = eta + run.first;
      double* const __restrict next_rate = next_rate_ + run.first, * const __restrict next_memory =
                                                                       next_memory_ + run.first;
      for (std::size_t i = 0; i < count; i++) {
        double const pull  = own.worth - own.inverse * (own.byte * way[i] + own.flop * prices[i]);
        double const drawn = kept * rate[i] + own.rate * memory[i];
        next_rate[i]       = positive(drawn + own.utility * pull);
        next_memory[i]     = forgotten * memory[i] + own.memory * rate[i];
      }
      if (!run.computes)
        for (std::size_t i = 0; i < count; i++)
          if (!trees_.computes[run.first + i])
            next_rate[i] = 0;
    };
    trees_.descend(over_links, over_hosts);
  }

  void set_prices(std::size_t s, double const* old, double const* step, bool one, double* to) const
  {
    Side const& side = trees_.sides[s];
    for (std::size_t place = 0; place < side.size(); place++) {
      side.fetch(to, place);
      std::int32_t const resource = side.resource[place];
      Cell const cell     = place < side.used ? cells_[s][place] : Cell{old[resource], 0, rule_.scaled ? 0.0 : 1.0};
      double const change = (cell.load - side.capacity[place]) / cell.demand;
      to[resource]        = cell.demand > 0 ? positive(cell.price + step[one ? 0 : resource] * change) : 0.0;
    }
  }

  Trees const& trees_;
  Rule rule_;
  Scratch<Cell> host_cells_, link_cells_;
  std::array<Cell*, 2> cells_;
  std::vector<Terms> terms_;
  double const *rate_, *memory_, *count_;
  double *flow_ = nullptr, *next_rate_ = nullptr, *next_memory_ = nullptr;
};

} // namespace

void register_gradient(py::class_<Trees>& trees)
{
  trees.def(
      "gradient",
      [](Trees const& self, Floats const& rate, Floats const& memory, Floats const& count, Floats const& host_price,
         Floats const& link_price, Floats const& host_step, Floats const& link_step, Floats const& numbers,
         double alpha, bool scaled, bool late, bool fresh, bool seidel, bool counted, bool normalised) {
        Rule const rule{alpha, scaled, late, fresh, seidel, counted, normalised};
        return Round(self, rule, rate, memory, count).run({host_price, link_price}, {host_step, link_step}, numbers);
      },
      py::arg("rate"), py::arg("memory"), py::arg("count"), py::arg("host_price"), py::arg("link_price"),
      py::arg("host_step"), py::arg("link_step"), py::arg("numbers"), py::kw_only(), py::arg("alpha"),
      py::arg("scaled"), py::arg("late"), py::arg("fresh"), py::arg("seidel"), py::arg("counted"),
      py::arg("normalised"));
}

} // namespace pricing

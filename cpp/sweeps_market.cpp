// A round of the market method, as in simplugin/pricing/markets.py, whose steps are numbered here as there.

#include "elementary.hpp"
#include "sweeps.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

namespace sweeps {

namespace {

/// The least and the most.
using Limits = std::pair<double, double>;

/// What prices and rates of an application are compared with.
struct Scale {
  double value;
  double inverse;
  double reached;
};

std::vector<Scale> scales_of(Floats const& values, Floats const& reached)
{
  std::vector<Scale> scales;
  for (py::ssize_t k = 0; k < values.size(); k++)
    scales.push_back({values.data()[k], 1 / values.data()[k], reached.data()[k]});
  return scales;
}

/// 1 / value, and 0 where it is 0.
double inverted(double value)
{
  return value > 0 ? 1 / value : 0.0;
}

double squared(double value)
{
  return value * value;
}

Floats copied(Floats const& array)
{
  return Floats(array.size(), array.data());
}

/// The markets of all hosts, or of all links, and the slots of agents that bid there.
class Side {
public:
  Floats demand; // of each application
  Floats bound;  // of each agent, as the next five; 0 without a slot
  Floats wish;
  Floats metric;
  Floats offer;
  Floats paid;     // the metric times what the market took off the wish
  Floats before;   // the offer of the round before
  Floats capacity; // of each resource, as the next four
  Floats price;
  Floats balance;
  Floats planned;
  Floats moved;

  Side(Indices const& resource, Floats demand, Floats bound, Floats wish, Floats metric, Floats capacity)
      : demand(std::move(demand)), bound(std::move(bound)), wish(std::move(wish)), metric(std::move(metric)),
        offer(zeros(this->bound.size())), paid(zeros(this->bound.size())), before(zeros(this->bound.size())),
        capacity(std::move(capacity)), price(zeros(this->capacity.size())), balance(zeros(this->capacity.size(), 1.0)),
        planned(zeros(this->capacity.size())), moved(zeros(this->capacity.size())), first_(this->capacity.size() + 1)
  {
    auto const agents    = static_cast<Index>(resource.size());
    auto const resources = static_cast<Index>(this->capacity.size());
    for (Floats const* const array : {&this->bound, &this->wish, &this->metric})
      check_length(*array, agents, "each of bound, wish and metric");
    for (Index i = 0; i < agents; i++)
      if (this->bound.data()[i] > 0) {
        if (resource.data()[i] < 0 || resource.data()[i] >= resources)
          throw std::invalid_argument("a slot without a resource");
        first_[resource.data()[i] + 1]++;
      }
    most_ = first_.empty() ? 0 : *std::max_element(first_.begin(), first_.end());
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    std::vector<Index> next(first_.begin(), first_.end() - 1);
    bidder_.resize(first_.back());
    for (Index i = 0; i < agents; i++)
      if (this->bound.data()[i] > 0)
        bidder_[next[resource.data()[i]]++] = i;
  }

  Side copy() const
  {
    Side other = *this;
    for (Floats Side::* const array : {&Side::wish, &Side::metric, &Side::offer, &Side::paid, &Side::before,
                                       &Side::price, &Side::balance, &Side::planned, &Side::moved})
      other.*array = copied(this->*array);
    return other;
  }

  /// Step 1.
  void clear(Trees const& trees)
  {
    check_length(trees.application, bound.size(), "application");
    check_length(demand, trees.byte.size(), "demand");
    std::swap(offer, before);
    Index const* const application = trees.application.data();
    double const* const wished     = wish.data();
    double const* const pull       = metric.data();
    double const* const asked      = demand.data();
    double const* const limit      = capacity.data();
    double* const offered          = offer.mutable_data();
    double* const cost             = price.mutable_data();
    auto const resources           = static_cast<Index>(capacity.size());
    py::gil_scoped_release const release;
    std::vector<Bid> bids(most_);
    for (Index r = 0; r < resources; r++) {
      Index const start = first_[r];
      Index const count = first_[r + 1] - start;
      for (Index b = 0; b < count; b++) {
        Index const i     = bidder_[start + b];
        double const a    = asked[application[i]];
        double const give = a / pull[i];
        bids[b]           = {wished[i], give, a * wished[i], a * give};
      }
      cost[r] = settle(bids.data(), count, limit[r]);
      for (Index b = 0; b < count; b++)
        offered[bidder_[start + b]] = std::max(bids[b].wish - cost[r] * bids[b].give, 0.0);
    }
  }

  /// The factors of the metric that balance each resource's residuals.
  void rebalance(double strength, Limits limits)
  {
    double* const factor      = balance.mutable_data();
    double const* const plans = planned.data();
    double const* const moves = moved.data();
    auto const resources      = static_cast<Index>(capacity.size());
    py::gil_scoped_release const release;
    for (Index r = 0; r < resources; r++)
      if (plans[r] > 0 && moves[r] > 0)
        factor[r] *= std::clamp(elementary::power(plans[r] / moves[r], strength), limits.first, limits.second);
  }

private:
  struct Bid {
    double wish;
    double give;    // for a unit of price
    double wanted;  // of the resource, without a price
    double yielded; // of the resource, for a unit of price
  };

  std::vector<Index> first_; // of each resource's bidders
  std::vector<Index> bidder_;
  Index most_;

  static Floats zeros(py::ssize_t length, double value = 0.0)
  {
    Floats array(length);
    std::fill_n(array.mutable_data(), length, value);
    return array;
  }

  /// Returns the price of a resource. Bids that drop out are skipped, not removed: their place in the sums is then
  /// that of the others, and there is nothing to predict.
  static double settle(Bid const* bids, Index count, double capacity)
  {
    double price = 0.0;
    Index were   = count + 1;
    while (true) {
      double wanted  = 0.0;
      double yielded = 0.0;
      Index left     = 0;
      for (Index b = 0; b < count; b++) {
        bool const stays = bids[b].wish > price * bids[b].give;
        wanted += stays ? bids[b].wanted : 0.0;
        yielded += stays ? bids[b].yielded : 0.0;
        left += stays;
      }
      if (left == 0 || left >= were)
        return price;
      were  = left;
      price = std::max((wanted - capacity) / yielded, 0.0);
      if (price == 0)
        return price;
    }
  }
};

/// What the sweeps keep of each agent.
struct Sweep {
  Floats slack;
  Floats share;
  Floats middle; // m on the way up, nu on the way down

  explicit Sweep(Index agents) : slack(agents), share(agents), middle(agents) {}

  Sweep copy() const
  {
    Sweep other(static_cast<Index>(slack.size()));
    other.slack = copied(slack);
    other.share = copied(share);
    return other;
  }
};

/// Steps 2 and 3.
void up(Trees const& trees, Side const& hosts, Side const& links, Sweep& sweep)
{
  check_length(sweep.middle, trees.agents, "middle");
  Index const* const father     = trees.father.data();
  double const* const offer     = links.offer.data();
  double const* const wish      = links.wish.data();
  double const* const metric    = links.metric.data();
  double const* const own_offer = hosts.offer.data();
  double const* const own_wish  = hosts.wish.data();
  double const* const slack     = sweep.slack.data();
  double const* const share     = sweep.share.data();
  double* const middle          = sweep.middle.mutable_data();
  py::gil_scoped_release const release;
  for (Index i = 0; i < trees.agents; i++)
    middle[i] = 2 * own_offer[i] - own_wish[i];
  for (Index i = trees.agents - 1; i >= 0; i--)
    if (father[i] >= 0)
      middle[father[i]] += share[i] * (middle[i] + slack[i] * (metric[i] * (2 * offer[i] - wish[i])));
}

/// Step 6, but for what a metric that changes will add; adds the residuals to those of the resource.
class Slots {
public:
  Slots(Side& side, double relaxation, bool changing)
      : bound_(side.bound.data()), metric_(side.metric.data()), offer_(side.offer.data()), before_(side.before.data()),
        wish_(side.wish.mutable_data()), paid_(side.paid.mutable_data()),
        residuals_(side.planned.mutable_data(), side.moved.mutable_data()), beyond_(relaxation - 1), changing_(changing)
  {
  }

  bool has(Index i) const { return bound_[i] > 0; }
  double metric(Index i) const { return metric_[i]; }
  double answer(Index i) const { return 2 * offer_[i] - wish_[i]; }

  void land(Index i, Index resource, double plan, double worth, Scale const& scale)
  {
    double const pull   = metric_[i];
    double const missed = plan - offer_[i];
    double const paid   = pull * (wish_[i] - offer_[i]);
    double const planned =
        squared(missed / std::min(bound_[i], scale.reached)) + squared((paid - paid_[i]) * scale.inverse);
    double const moved =
        squared(pull * (offer_[i] - before_[i]) * scale.inverse) + squared(pull * missed * scale.inverse);
    residuals_.add(resource, planned, moved);
    paid_[i] = paid;
    wish_[i] = offer_[i] + (changing_ ? 0.0 : worth / pull) + beyond_ * missed;
  }

private:
  double const* bound_;
  double const* metric_;
  double const* offer_;
  double const* before_;
  double* wish_;
  double* paid_;
  Sums residuals_;
  double beyond_;
  bool changing_;
};

/// Forgets a part of the residuals.
void fade(Side& side, double memory)
{
  double* const planned = side.planned.mutable_data();
  double* const moved   = side.moved.mutable_data();
  for (py::ssize_t r = 0; r < side.capacity.size(); r++) {
    planned[r] *= memory;
    moved[r] *= memory;
  }
}

/// Steps 5 and 6. `worths`, `values` and `reached` are of each application: what step 4 gave, and the scales.
void down(Trees const& trees, Side& hosts, Side& links, Sweep& sweep, Floats const& worths, Floats const& values,
          Floats const& reached, double relaxation, double memory, bool changing)
{
  check_length(worths, trees.byte.size(), "worth");
  check_length(values, trees.byte.size(), "value");
  check_length(reached, trees.byte.size(), "reached");
  Index const* const father       = trees.father.data();
  Index const* const link         = trees.link.data();
  Index const* const host         = trees.host.data();
  Index const* const application  = trees.application.data();
  double const* const slack       = sweep.slack.data();
  double const* const share       = sweep.share.data();
  double const* const worth       = worths.data();
  std::vector<Scale> const scales = scales_of(values, reached);
  double* const middle            = sweep.middle.mutable_data();
  Slots computing(hosts, relaxation, changing);
  Slots receiving(links, relaxation, changing);
  py::gil_scoped_release const release;
  fade(hosts, memory);
  fade(links, memory);
  for (Index i = 0; i < trees.agents; i++) {
    Index const k  = application[i];
    double const m = middle[i];
    double nu      = worth[k];
    if (father[i] >= 0) {
      double const above = middle[father[i]];
      double const pull  = receiving.metric(i);
      nu                 = share[i] * (above + (pull * receiving.answer(i) - pull * m));
      if (receiving.has(i))
        receiving.land(i, link[i], m + slack[i] * nu, above - nu, scales[k]);
    }
    if (computing.has(i))
      computing.land(i, host[i], computing.answer(i) + nu / computing.metric(i), nu, scales[k]);
    middle[i] = nu;
  }
}

/// The metric of one side, and what it adds to the wishes left by down().
void adapt_side(Trees const& trees, Side& side, Indices const& resources, Sweep const& sweep, bool receiving,
                Floats const& values, Floats const& reached, double factor, Limits limits)
{
  Index const* const father       = trees.father.data();
  Index const* const resource     = resources.data();
  Index const* const application  = trees.application.data();
  double const* const demand      = side.demand.data();
  double const* const bound       = side.bound.data();
  double const* const offer       = side.offer.data();
  double const* const price       = side.price.data();
  double const* const balance     = side.balance.data();
  std::vector<Scale> const scales = scales_of(values, reached);
  double const* const nu          = sweep.middle.data();
  double* const metric            = side.metric.mutable_data();
  double* const wish              = side.wish.mutable_data();
  for (Index i = 0; i < trees.agents; i++) {
    if (!(bound[i] > 0))
      continue;
    Index const k        = application[i];
    Scale const& scale   = scales[k];
    double const inverse = 1 / std::min(bound[i], scale.reached);
    double const cost    = std::min(demand[k] * price[resource[i]] * scale.inverse, limits.second) + limits.first;
    double const part    = std::min(offer[i] * inverse, limits.second) + limits.first;
    metric[i]            = factor * scale.value * inverse * std::sqrt(cost / part) * balance[resource[i]];
    wish[i] += (receiving ? nu[father[i]] - nu[i] : nu[i]) / metric[i];
  }
}

/// u and v of the metric, swept upwards.
void measure(Trees const& trees, Side const& hosts, Side const& links, Sweep& sweep)
{
  Index const* const father     = trees.father.data();
  double const* const computing = hosts.metric.data();
  double const* const receiving = links.metric.data();
  double* const slack           = sweep.slack.mutable_data();
  double* const share           = sweep.share.mutable_data();
  py::gil_scoped_release const release;
  for (Index i = 0; i < trees.agents; i++)
    slack[i] = inverted(computing[i]);
  for (Index i = trees.agents - 1; i >= 0; i--) {
    share[i] = 1.0;
    if (father[i] >= 0) {
      share[i] = 1 / (1 + receiving[i] * slack[i]);
      slack[father[i]] += slack[i] * share[i];
    }
  }
}

/// Changes the metric after down() with `changing`.
void adapt(Trees const& trees, Side& hosts, Side& links, Sweep& sweep, Floats const& values, Floats const& reached,
           double factor, Limits limits, double strength, Limits rebalance)
{
  hosts.rebalance(strength, rebalance);
  links.rebalance(strength, rebalance);
  {
    py::gil_scoped_release const release;
    adapt_side(trees, hosts, trees.host, sweep, false, values, reached, factor, limits);
    adapt_side(trees, links, trees.link, sweep, true, values, reached, factor, limits);
  }
  measure(trees, hosts, links, sweep);
}

} // namespace

void register_market(py::module_& module)
{
  py::class_<Side>(module, "Side")
      .def(py::init<Indices const&, Floats, Floats, Floats, Floats, Floats>(), py::arg("resource").noconvert(),
           py::arg("demand").noconvert(), py::arg("bound").noconvert(), py::arg("wish").noconvert(),
           py::arg("metric").noconvert(), py::arg("capacity").noconvert())
      .def_readonly("offer", &Side::offer)
      .def_readonly("price", &Side::price)
      .def("copy", &Side::copy)
      .def("clear", &Side::clear, py::arg("trees"));
  py::class_<Sweep>(module, "Sweep")
      .def(py::init<Index>(), py::arg("n_agents"))
      .def_readonly("slack", &Sweep::slack)
      .def_readonly("middle", &Sweep::middle)
      .def("copy", &Sweep::copy);
  module.def("measure", &measure, py::arg("trees"), py::arg("hosts"), py::arg("links"), py::arg("sweep"));
  module.def("up", &up, py::arg("trees"), py::arg("hosts"), py::arg("links"), py::arg("sweep"));
  module.def("down", &down, py::arg("trees"), py::arg("hosts"), py::arg("links"), py::arg("sweep"),
             py::arg("worth").noconvert(), py::arg("value").noconvert(), py::arg("reached").noconvert(),
             py::arg("relaxation"), py::arg("memory"), py::arg("changing"));
  module.def("adapt", &adapt, py::arg("trees"), py::arg("hosts"), py::arg("links"), py::arg("sweep"),
             py::arg("value").noconvert(), py::arg("reached").noconvert(), py::arg("size"), py::arg("limits"),
             py::arg("strength"), py::arg("rebalance"));
}

} // namespace sweeps

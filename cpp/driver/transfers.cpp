// Transfers over routes that are known: SimGrid's model of the network (CM02, LV08, SMPI) looks for the route and for
// the one back whenever a transfer starts, which takes longer than all else about a message.

#include "transfers.hpp"

#include "activity.hpp"
#include "platform.hpp"
#include "routes.hpp"
#include "simulation.hpp"
#include "types.hpp"
#include "work.hpp"

#include <algorithm>
#include <cstring>
#include <typeinfo>

#include <simgrid/kernel/routing/NetPoint.hpp>
#include <simgrid/simcall.hpp>

namespace driver {

namespace {

using simgrid::kernel::resource::NetworkAction;
using simgrid::kernel::resource::NetworkModel;
using simgrid::kernel::routing::NetZoneImpl;

constexpr size_t MOST_LINKS  = size_t{1} << 24U; // that are kept of all routes: 128 MiB
constexpr double MOST_WEIGHT = 1e300;

/// Names a member that is not public: access is not checked in explicit instantiations.
template <class Key, auto member> struct Reveal {
  friend auto reveal(Key /*key*/) { return member; }
};
struct LatencyOf {
  friend auto reveal(LatencyOf /*key*/);
};
struct BandwidthOf {
  friend auto reveal(BandwidthOf /*key*/);
};
template struct Reveal<LatencyOf, &StandardLinkImpl::latency_>;
template struct Reveal<BandwidthOf, &StandardLinkImpl::bandwidth_>;

/// Follows the profiles of a link in its stead.
class Follower final : public simgrid::kernel::resource::Resource {
  StandardLinkImpl* link_;

public:
  explicit Follower(StandardLinkImpl* link) : Resource(link->get_name()), link_(link) {}
  void apply_event(simgrid::kernel::profile::Event* event, double value) override
  {
    change_link(link_->get_iface(), [this, event, value] { link_->apply_event(event, value); });
  }
  bool is_used() const override { return link_->is_used(); }
};

/// What NetworkCm02Action is, which SimGrid does not export.
class Flow final : public NetworkAction {
public:
  using NetworkAction::NetworkAction;

  void update_remains_lazy(double date) override
  {
    if (not is_running())
      return;
    if (get_remains_no_update() > 0)
      update_remains(get_last_value() * (date - get_last_update()));
    if (get_remains_no_update() <= 0 && get_variable()->get_penalty() > 0) {
      finish(State::FINISHED);
      get_model()->get_action_heap().remove(this);
    }
    set_last_update();
    set_last_value(get_rate());
  }
};

bool is_wired(StandardLinkImpl const* link)
{
  return link->get_sharing_policy() != s4u::Link::SharingPolicy::WIFI;
}

/// The latency of the links that lead there, NEVER if a link is off.
double latency_of(Pair const& pair)
{
  double latency = 0.0;
  for (size_t i = 0; i < pair.links.size(); i++) {
    if (not pair.links[i]->is_on())
      return NEVER;
    if (i < pair.there)
      latency += pair.links[i]->get_latency();
  }
  return latency;
}

/// Finds the route, again if latencies have changed; false where SimGrid has to start the transfer.
bool know_route(Pair& pair, NetworkModel const& model)
{
  static size_t kept   = 0;
  double const latency = latency_of(pair);
  if (pair.unusual || latency == NEVER || model.has_network_factor_cb())
    return false;
  if (not pair.links.empty() && latency == pair.latency_of_links)
    return true;
  pair.unusual = strstr(typeid(model).name(), "NetworkCm02Model") == nullptr; // it may ask for no route
  if (pair.unusual || kept > MOST_LINKS)
    return false;
  kept -= pair.links.size();
  pair.links.clear();
  pair.latency            = 0.0;
  auto const* source      = pair.source->host->get_netpoint();
  auto const* destination = pair.destination->host->get_netpoint();
  NetZoneImpl::get_global_route(source, destination, pair.links, &pair.latency);
  pair.there = pair.links.size();
  if (NetworkModel::cfg_crosstraffic) {
    std::vector<StandardLinkImpl*> back; // not the same vector: a Dijkstra zone inserts at its front
    NetZoneImpl::get_global_route(destination, source, back, nullptr);
    pair.links.insert(pair.links.end(), back.begin(), back.end());
  }
  pair.unusual = pair.there == 0 || not std::all_of(pair.links.begin(), pair.links.end(), is_wired);
  if (pair.unusual)
    pair.links.clear();
  kept += pair.links.size();
  pair.latency_of_links = latency_of(pair);
  return not pair.unusual && pair.latency_of_links != NEVER;
}

/// Transfers share links in inverse proportion to this. As in SimGrid it is 1 without any latency.
double weight_of(StandardLinkImpl* const* links, size_t count, double latency)
{
  double weight = latency;
  if (NetworkModel::cfg_weight_S_parameter > 0)
    for (size_t i = 0; i < count; i++)
      weight += NetworkModel::cfg_weight_S_parameter / links[i]->get_bandwidth();
  return weight > 0 ? std::min(weight, MOST_WEIGHT) : 1.0;
}

void set_bound(NetworkAction const* flow)
{
  double const window = flow->lat_current_ > 0 && NetworkModel::cfg_tcp_gamma > 0
                            ? NetworkModel::cfg_tcp_gamma / (2.0 * flow->lat_current_)
                            : -1.0;
  double const bound  = flow->get_user_bound();
  flow->get_model()->get_maxmin_system()->update_variable_bound(flow->get_variable(), bound < 0 ? window
                                                                                      : window < 0
                                                                                          ? bound
                                                                                          : std::min(bound, window));
}

/// Computes anew what depends on the latencies and bandwidths of its links.
void weigh(NetworkAction* flow)
{
  std::vector<StandardLinkImpl*> links;
  double latency = 0.0;
  NetZoneImpl::get_global_route(flow->get_src().get_netpoint(), flow->get_dst().get_netpoint(), links, &latency);
  flow->sharing_penalty_ = weight_of(links.data(), links.size(), latency);
  if (flow->lat_current_ != latency) {
    flow->lat_current_ = latency;
    set_bound(flow);
  }
  auto* const variable = flow->get_variable();
  if (variable->get_penalty() > 0 || variable->staged_sharing_penalty_ > 0) // it neither waits nor pays its latency
    flow->get_model()->get_maxmin_system()->update_variable_penalty(variable, flow->sharing_penalty_);
}

Action* start(Pair const& pair, NetworkModel* model, double size, double rate)
{
  s4u::Host& source      = *pair.source->host;
  s4u::Host& destination = *pair.destination->host;
  auto* const system     = model->get_maxmin_system();
  auto* const flow       = new Flow(model, source, destination, size, false);
  flow->set_last_update();

  double bandwidth = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < pair.there; i++)
    bandwidth = std::min(bandwidth, pair.links[i]->get_bandwidth());
  double const factor = model->get_bandwidth_factor(size, &source, &destination, {}, {});
  double const limit  = rate / factor;
  double const bound  = limit >= 0 ? std::min(limit, bandwidth) : bandwidth;
  flow->set_rate_factor(factor);
  flow->set_user_bound(bound);
  flow->sharing_penalty_ = weight_of(pair.links.data(), pair.there, pair.latency);
  flow->lat_current_     = pair.latency;
  flow->latency_         = pair.latency * model->get_latency_factor(size, &source, &destination, {}, {});

  bool const waits = flow->latency_ > 0;
  flow->set_variable(system->variable_new(flow, waits ? 0.0 : 1.0, -1.0, pair.links.size()));
  if (waits && model->is_update_lazy())
    model->get_action_heap().insert(flow, flow->latency_ + flow->get_last_update(),
                                    simgrid::kernel::resource::ActionHeap::Type::latency);
  set_bound(flow);
  for (size_t i = 0; i < pair.links.size(); i++)
    system->expand(pair.links[i]->get_constraint(), flow->get_variable(), i < pair.there ? 1.0 : 0.05);
  return flow;
}

} // namespace

void change_link(s4u::Link const* link, std::function<void()> const& setter)
{
  simgrid::kernel::actor::simcall_answered([link, &setter] {
    std::vector<NetworkAction*> flows;
    simgrid::kernel::lmm::Element const *element = nullptr, *next = nullptr;
    size_t count = 0;
    if (not takes_parallel_tasks())
      while (auto const* variable = link->get_impl()->get_constraint()->get_variable_safe(&element, &next, &count))
        flows.push_back(static_cast<NetworkAction*>(variable->get_id()));
    // So that what SimGrid adds, or would add, leaves no negative weight for the moment.
    double const weight_s = NetworkModel::cfg_weight_S_parameter;
    for (NetworkAction* flow : flows)
      flow->sharing_penalty_ = std::numeric_limits<double>::max();
    NetworkModel::cfg_weight_S_parameter = 0.0;
    setter();
    NetworkModel::cfg_weight_S_parameter = weight_s;
    for (NetworkAction* flow : flows)
      weigh(flow);
  });
}

void follow_profiles()
{
  for (s4u::Link const* each : platform_links()) {
    StandardLinkImpl* const link = each->get_impl();
    for (auto* event : {(link->*reveal(LatencyOf())).event, (link->*reveal(BandwidthOf())).event})
      if (event != nullptr)
        event->resource = new Follower(link); // lives as long as the platform
  }
}

Action* start_flow(Pair& pair, double size, double rate)
{
  auto const& model = pair.source->host->get_netpoint()->get_englobing_zone()->get_network_model();
  return know_route(pair, *model) ? start(pair, model.get(), size, rate)
                                  : model->communicate(pair.source->host, pair.destination->host, size, rate, false);
}

} // namespace driver

// Routes between hosts: found by SimGrid, which throws, aborts or crashes where there is none, so asked for with care.

#include "routes.hpp"

#include "platform.hpp"
#include "plugins.hpp"
#include "simulation.hpp"
#include "work.hpp"

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstring>
#include <set>
#include <stdexcept>
#include <typeinfo>
#include <unordered_map>
#include <unordered_set>

#include <sys/wait.h>
#include <unistd.h>

#include <simgrid/kernel/routing/DijkstraZone.hpp>
#include <simgrid/kernel/routing/NetPoint.hpp>
#include <simgrid/kernel/routing/NetZoneImpl.hpp>
#include <xbt/config.hpp>
#include <xbt/dynar.h>
#include <xbt/graph.h>

namespace driver {

namespace {

using namespace simgrid::kernel::routing;
using simgrid::kernel::resource::StandardLinkImpl;
using simgrid::kernel::resource::WifiLinkImpl;
using Links = std::vector<StandardLinkImpl*>;

/// Names a member that is not public: access is not checked in explicit instantiations.
template <class Key, auto member> struct Reveal {
  friend auto reveal(Key /*key*/) { return member; }
};
struct LocalRoute {
  friend auto reveal(LocalRoute /*key*/);
};
struct Bypass {
  friend auto reveal(Bypass /*key*/);
};
struct DijkstraNodes {
  friend auto reveal(DijkstraNodes /*key*/);
};
struct DijkstraGraph {
  friend auto reveal(DijkstraGraph /*key*/);
};
struct DijkstraWays {
  friend auto reveal(DijkstraWays /*key*/);
};
struct DijkstraKeeps {
  friend auto reveal(DijkstraKeeps /*key*/);
};
struct WifiLevels {
  friend auto reveal(WifiLevels /*key*/);
};
template struct Reveal<LocalRoute, &NetZoneImpl::get_local_route>;
template struct Reveal<Bypass, &NetZoneImpl::get_bypass_route>;
template struct Reveal<DijkstraNodes, &DijkstraZone::graph_node_map_>;
template struct Reveal<DijkstraGraph, &DijkstraZone::route_graph_>;
template struct Reveal<DijkstraWays, &DijkstraZone::route_cache_>;
template struct Reveal<DijkstraKeeps, &DijkstraZone::cached_>;
template struct Reveal<WifiLevels, &WifiLinkImpl::bandwidths_>;

std::deque<Pair> pairs;                           // in order of their first transfers: sums over them depend on it
std::unordered_map<uint64_t, Pair*> pair_numbers; // by the numbers of their hosts

struct NoRoute {};

/// Writes the ways of a Dijkstra zone into its cache, once for each source. SimGrid looks for them anew for each route
/// if the zone is not of kind DijkstraCache. Where not all nodes reach each other, it also adds to the infinite
/// distance of who is not reached: it then loses ways to others, or follows a circle for ever.
class Ways {
  using Edges = std::vector<std::vector<std::pair<unsigned long, unsigned long>>>; // of each node: another, and links
  DijkstraZone* zone_;
  std::unordered_map<s_xbt_node_t const*, unsigned long> numbers_;
  Edges out_;
  size_t most_sources_; // 64 MB of ways, but all of DijkstraCache

  static constexpr size_t MOST_WAYS = size_t{8} << 20;

  static constexpr unsigned long FAR = std::numeric_limits<unsigned long>::max();

  /// The node before each on the shortest way, as SimGrid chooses it; FAR if there is none.
  static std::vector<unsigned long> ways(Edges const& edges, unsigned long from)
  {
    std::vector<unsigned long> before(edges.size(), FAR), cost(edges.size(), FAR);
    std::set<std::pair<unsigned long, unsigned long>> queue{{0, from}};
    cost[from] = 0, before[from] = from;
    while (not queue.empty()) {
      auto const [sum, node] = *queue.begin();
      queue.erase(queue.begin());
      for (auto const& [next, links] : edges[node])
        if (sum + links < cost[next]) {
          queue.erase({cost[next], next});
          cost[next] = sum + links, before[next] = node;
          queue.insert({cost[next], next});
        }
    }
    return before;
  }

public:
  explicit Ways(DijkstraZone* zone) : zone_(zone)
  {
    unsigned int i, j;
    xbt_node_t node;
    xbt_edge_t edge;
    auto const* nodes                                = xbt_graph_get_nodes((zone->*reveal(DijkstraGraph())).get());
    xbt_dynar_foreach(nodes, i, node) numbers_[node] = i;
    out_.resize(numbers_.size());
    xbt_dynar_foreach(nodes, i, node) xbt_dynar_foreach(xbt_graph_node_get_outedges(node), j, edge)
    {
      auto const links = static_cast<Route*>(xbt_graph_edge_get_data(edge))->link_list_.size();
      out_[i].push_back({numbers_[xbt_graph_edge_get_target(edge)], links});
    }
    bool& keeps   = zone->*reveal(DijkstraKeeps());
    most_sources_ = keeps ? FAR : MOST_WAYS / std::max(out_.size(), size_t{1});
    keeps         = true;
  }

  void write_down(unsigned long from)
  {
    auto& known = zone_->*reveal(DijkstraWays());
    if (known.count(from) > 0)
      return;
    if (known.size() >= most_sources_)
      known.clear();
    auto const node = numbers_.at((zone_->*reveal(DijkstraNodes())).at(from));
    auto before     = ways(out_, node);
    std::replace(before.begin(), before.end(), FAR, node); // there is no edge: SimGrid finds no route
    known.emplace(from, std::move(before));
  }
};

/// Follows SimGrid's search for a route zone by zone, and throws where SimGrid would crash.
class Search {
  double latency_ = 0.0;
  size_t links_   = 0;

  /// Whether SimGrid crashes: it does where a zone is entered and left by two gateways. A process of its own finds out.
  static bool crashes(NetZoneImpl* zone, NetPoint const* from, NetPoint const* to)
  {
    pid_t const child = fork();
    if (child == 0) {
      std::signal(SIGSEGV, SIG_DFL);
      try {
        Route route;
        double latency = 0.0;
        (zone->*reveal(LocalRoute()))(from, to, &route, &latency);
      } catch (...) {
        _exit(0); // refused, not crashed
      }
      _exit(0);
    }
    int status = 0;
    return child > 0 && waitpid(child, &status, 0) == child && WIFSIGNALED(status);
  }

  /// The route within one zone, which must be that of both ends.
  Route ask(NetZoneImpl* zone, NetPoint const* from, NetPoint const* to)
  {
    if (std::max(from->id(), to->id()) >= zone->get_table_size())
      throw NoRoute();
    char const* kind = typeid(*zone).name(); // not exported as types
    if (strstr(kind, "EmptyZone") != nullptr)
      throw NoRoute();
    if (strstr(kind, "VivaldiZone") != nullptr && (from->is_netzone() || to->is_netzone()))
      throw NoRoute(); // zones have no coordinates
    if (strstr(kind, "DijkstraZone") != nullptr) {
      auto* const dijkstra = static_cast<DijkstraZone*>(zone);
      auto const& nodes    = dijkstra->*reveal(DijkstraNodes());
      if (nodes.count(from->id()) == 0 || nodes.count(to->id()) == 0)
        throw NoRoute();
      static std::unordered_map<DijkstraZone*, Ways> all_ways;
      all_ways.try_emplace(dijkstra, dijkstra).first->second.write_down(from->id());
      if (not zone->get_children().empty() && crashes(zone, from, to))
        throw NoRoute();
    }
    Route route;
    (zone->*reveal(LocalRoute()))(from, to, &route, &latency_);
    links_ += route.link_list_.size();
    return route;
  }

  /// Between a host and the gateway of a zone above; `zones` are those around the host, from `next` on below the first.
  void descend(NetPoint const* host, NetPoint const* gateway, std::vector<NetZoneImpl*> const& zones, size_t next,
               bool towards_host)
  {
    for (; gateway != nullptr && gateway->get_englobing_zone() != host->get_englobing_zone(); next++) {
      if (next >= zones.size())
        throw NoRoute();
      NetPoint const* zone = zones[next]->get_netpoint();
      Route const route    = towards_host ? ask(gateway->get_englobing_zone(), gateway, zone)
                                          : ask(gateway->get_englobing_zone(), zone, gateway);
      gateway              = towards_host ? route.gw_dst_ : route.gw_src_;
    }
    if (gateway == nullptr)
      throw NoRoute();
    if (gateway != host)
      towards_host ? ask(host->get_englobing_zone(), gateway, host) : ask(host->get_englobing_zone(), host, gateway);
  }

public:
  void between(NetPoint const* source, NetPoint const* destination)
  {
    auto const above_source      = source->get_all_englobing_zones();
    auto const above_destination = destination->get_all_englobing_zones();
    size_t depth                 = 0; // of the last zone that both are in
    while (depth + 1 < above_source.size() && depth + 1 < above_destination.size() &&
           above_source[depth + 1] == above_destination[depth + 1])
      depth++;
    NetZoneImpl* zone = above_source[depth];
    Links links;
    std::unordered_set<NetZoneImpl*> zones;
    if ((zone->*reveal(Bypass()))(source, destination, links, &latency_, zones)) {
      links_ += links.size();
      return;
    }
    bool const source_below      = depth + 1 < above_source.size();
    bool const destination_below = depth + 1 < above_destination.size();
    Route const route            = ask(zone, source_below ? above_source[depth + 1]->get_netpoint() : source,
                                       destination_below ? above_destination[depth + 1]->get_netpoint() : destination);
    if (source_below)
      descend(source, route.gw_src_, above_source, depth + 2, false);
    if (destination_below)
      descend(destination, route.gw_dst_, above_destination, depth + 2, true);
  }

  bool is_empty() const { return links_ == 0 && latency_ <= 0; }
};

/// Whether SimGrid can look for a route without harm, and finds one, or may find an empty one.
bool has_route(s4u::Host const* source, s4u::Host const* destination, bool may_be_empty)
{
  try {
    Search search;
    search.between(source->get_netpoint(), destination->get_netpoint());
    return may_be_empty || not search.is_empty();
  } catch (NoRoute const&) {
    return false;
  } catch (std::exception const&) { // SimGrid's own refusal, which may name a gateway
    return false;
  }
}

WifiLinkImpl* wifi_link(StandardLinkImpl* link)
{
  return link->get_sharing_policy() == s4u::Link::SharingPolicy::WIFI ? static_cast<WifiLinkImpl*>(link) : nullptr;
}

std::string rate_problem(s4u::Host const* host, StandardLinkImpl* link)
{
  if (wifi_link(link) == nullptr || wifi_link(link)->get_host_rate(host) != -1)
    return "";
  return "host '" + host->get_name() + "' has no rate on the Wi-Fi link '" + link->get_name() +
         "'; give the host the property wifi_rate, or call set_host_wifi_rate() of the link";
}

bool has_wifi()
{
  static bool const any = [] {
    auto const& links = platform_links();
    return std::any_of(links.begin(), links.end(), [](auto* link) { return wifi_link(link->get_impl()) != nullptr; });
  }();
  return any;
}

std::string wifi_problem(s4u::Host* source, s4u::Host* destination)
{
  Links links;
  source->route_to(destination, links, nullptr);
  for (size_t i = 0; i < links.size(); i++) {
    if (wifi_link(links[i]) != nullptr && i > 0 && i + 1 < links.size())
      return "the route from '" + source->get_name() + "' to '" + destination->get_name() +
             "' passes the Wi-Fi link '" + links[i]->get_name() +
             "' on its way, which SimGrid refuses; give the Wi-Fi zone the property access_point";
  }
  if (links.empty())
    return "";
  std::string const problem = rate_problem(source, links.front());
  return problem.empty() && links.size() > 1 ? rate_problem(destination, links.back()) : problem;
}

} // namespace

std::string route_problem(s4u::Host const* source, s4u::Host const* destination)
{
  if (has_route(source, destination, false))
    return "";
  return "there is no route from '" + source->get_name() + "' to '" + destination->get_name() + "'";
}

/// What SimGrid's network models would abort on, found once for each pair of hosts.
std::string transfer_problem(s4u::Host* source, s4u::Host* destination)
{
  namespace config           = simgrid::config;
  static bool const constant = config::get_value<std::string>("network/model") == "Constant";
  static bool const two_ways = not takes_parallel_tasks() && config::get_value<bool>("network/crosstraffic");
  if (constant) // it asks for no route
    return "";
  if (not has_route(source, destination, false))
    return route_problem(source, destination);
  if (two_ways && not has_route(destination, source, true))
    return route_problem(destination, source) + ", which cross-traffic needs; add it, or give " +
           "SimGridOptions(crosstraffic=False)";
  return has_wifi() ? wifi_problem(source, destination) : "";
}

std::deque<Pair>& all_pairs()
{
  return pairs;
}

Pair* pair_of(Host* source, Host* destination)
{
  if (source->last_pair != nullptr && source->last_pair->destination == destination)
    return source->last_pair;
  uint64_t const key = static_cast<uint64_t>(source->index) << 32 | static_cast<uint32_t>(destination->index);
  auto found         = pair_numbers.find(key);
  if (found == pair_numbers.end()) {
    if (not transfer_problem(source->host, destination->host).empty())
      return nullptr;
    found = pair_numbers.emplace(key, &pairs.emplace_back(Pair{source, destination, {}})).first;
  }
  return source->last_pair = found->second;
}

bool require_transfer(Host* source, Host* destination)
{
  if (pair_of(source, destination) != nullptr)
    return true;
  PyErr_SetString(error_class("NoRouteError"), transfer_problem(source->host, destination->host).c_str());
  return false;
}

// ---- Wi-Fi ----------------------------------------------------------------------------------------------------------

bool set_wifi_rate(s4u::Link const* link, s4u::Host const* host, long level)
{
  WifiLinkImpl* wifi = wifi_link(link->get_impl());
  auto const levels  = wifi == nullptr ? 0L : static_cast<long>((wifi->*reveal(WifiLevels())).size());
  if (level >= 0 && level < levels) {
    wifi->set_host_rate(host, static_cast<int>(level));
    return true;
  }
  if (wifi == nullptr)
    PyErr_Format(PyExc_ValueError, "link '%s' is no Wi-Fi link", link->get_cname());
  else
    PyErr_Format(PyExc_ValueError, "the Wi-Fi link '%s' has rates 0 to %ld, not %ld (host '%s')", link->get_cname(),
                 levels - 1, level, host->get_cname());
  return false;
}

bool set_wifi_rates()
{
  for (s4u::Host const* host : platform_hosts()) {
    char const* text = host->get_property("wifi_rate");
    if (text == nullptr)
      continue;
    char const* end = text + strlen(text);
    long level      = -1;
    if (std::from_chars(text, end, level).ptr != end)
      level = -1;
    for (s4u::Link const* link : host->get_englobing_zone()->get_impl()->get_all_links())
      if (wifi_link(link->get_impl()) != nullptr && not set_wifi_rate(link, host, level))
        return false;
  }
  return true;
}

} // namespace driver

// Routes between hosts.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "types.hpp"

namespace driver {

/// Two hosts between which a transfer is possible.
struct Pair {
  Host* source;
  Host* destination;
  std::vector<StandardLinkImpl*> links; // of the route, and back with cross-traffic, once they are known
  size_t there            = 0;          // how many of them lead there
  bool unusual            = false;      // only SimGrid itself starts transfers between them
  double latency          = 0.0;        // of the route, as SimGrid adds it up [s]
  double latency_of_links = 0.0;        // in another order [s]
  double bytes            = 0.0;        // that were transferred
  int resource            = -1;         // its code in the trace, -1: none yet
};

std::string route_problem(s4u::Host const* source, s4u::Host const* destination); // empty: none
std::string transfer_problem(s4u::Host* source, s4u::Host* destination);          // the same for a transfer
Pair* pair_of(Host* source, Host* destination);         // nullptr if no transfer is possible; quick
std::deque<Pair>& all_pairs();                          // in order of their first transfers
bool require_transfer(Host* source, Host* destination); // false with a NoRouteError set
bool set_wifi_rate(s4u::Link const* link, s4u::Host const* host, long level); // false with an exception set
bool set_wifi_rates(); // from the hosts' properties; false with an exception set

} // namespace driver

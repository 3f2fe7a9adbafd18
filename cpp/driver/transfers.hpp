// Transfers over routes that are known.
#pragma once

#include <functional>

#include "types.hpp"

namespace driver {

Action* start_flow(Pair& pair, double size, double rate);
/// Sets a bandwidth or latency. SimGrid's setter adds the difference to the weight of each transfer there, also where
/// it is on the way back, and aborts if the sum is negative, be it by rounding.
void change_link(s4u::Link const* link, std::function<void()> const& setter);
void follow_profiles(); // by change_link()

} // namespace driver

// When coroutines are resumed: ready actors and timers.
#pragma once

#include <cstdint>

#include "types.hpp"

namespace driver {

enum class Alarm : uint8_t { ACTIVITY, TIMEOUT, WAIT, START, KILL };
/// Arms a timer on `object` (kept alive until then); returns its number, to be compared when it rings.
uint64_t set_timer(double date, Alarm alarm, PyObject* object);
void forget_timer(uint64_t& timer);
bool timers_are_set();
void install_scheduler();
void stop_at_profiles(); // the engine, at each of their events
void make_ready(Actor* actor);
void go_first(); // whoever was made ready last
void drain();

/// Who used a mailbox, a lock or the like last, and when.
struct Contest {
  double date        = -1.0;
  Actor const* actor = nullptr;
};
/// An actor uses it: two at one date compete for it, and who comes first is open.
void compete(Contest& contest, Actor const* actor);

} // namespace driver

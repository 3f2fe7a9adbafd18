// SimGrid's plug-ins: their signals, their daemons and the figures that they give.
#pragma once

#include <array>

#include "activity.hpp"

namespace simgrid::plugin {
// As large as in SimGrid, which does not export them.
struct HostEnergy {
  static xbt::Extension<s4u::Host, HostEnergy> EXTENSION_ID;
  std::array<double, 10> state;
};
struct LinkEnergy {
  static xbt::Extension<s4u::Link, LinkEnergy> EXTENSION_ID;
  std::array<double, 6> state;
};
struct LinkLoad {
  static xbt::Extension<s4u::Link, LinkLoad> EXTENSION_ID;
  std::array<double, 7> state;
};
} // namespace simgrid::plugin

namespace driver {

/// Asks for what a plug-in has measured. It brings itself up to date then, and would end with another sum.
template <class Plugin, class Resource> double peek(Resource const* of, double (*ask)(Resource const*))
{
  if (not s4u::Actor::is_maestro()) // an actor of the reference back end, and others run before it is answered
    return ask(of);
  auto& state        = of->template extension<Plugin>()->state;
  auto const kept    = state;
  double const found = ask(of);
  state              = kept;
  return found;
}

void execution_started(Activity* activity);
void execution_migrated(Activity const* activity);
void execution_suspended(Work const* work, bool suspended);
void execution_over(Activity const* activity, State state);
void signal_ended_executions();
void transfer_started(s4u::Host* source, s4u::Host* destination, Action* action);
void transfer_over(Activity const* activity);
void keep_daemons(); // of plug-ins, until end_daemons_of_plugins()
/// Ends them when no actor of ours is left, or when nothing can happen to any; `nothing_is_set`: there is no timer.
bool end_daemons_of_plugins(bool nothing_is_set);
PyObject* prepare_plugins(PyObject* module, PyObject* args);
/// Before time passes: SimGrid's plug-in begins with pstate 0, whatever a host has.
void bill_pstates();
void note_switches();                    // simulation.cpp: from now on, when hosts go off and on
bool share_incrementally();              // false with an exception set where SimGrid would share wrongly
double remains_of(Action const* action); // without what has happened since the last step of the engine
PyObject* host_properties(PyObject* module, PyObject* name);
PyObject* plugin_figures(PyObject* module, PyObject* unused);
PyObject* host_figures(s4u::Host const* host); // so far; nullptr with an exception set if the plug-in is not loaded
PyObject* link_figures(s4u::Link const* link);
PyObject* reset_figures(s4u::Host const* host);
PyObject* reset_figures(s4u::Link const* link);

} // namespace driver

// The state of the one simulation of this process.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <vector>

#include "types.hpp"

namespace driver {

/// Thrown through SimGrid's engine to end the run; the reason is in the Simulation.
struct StopRun {};

struct Simulation {
  s4u::Engine* engine   = nullptr;
  Actor* current        = nullptr;
  long last_pid         = 0;
  long alive            = 0; // actors that were spawned and have not ended
  long daemons          = 0;
  bool tracing          = false;
  bool trace_full       = false; // ends the run
  int64_t trace_limit   = 0;     // memory that the trace may occupy [byte]
  bool host_energy      = false;
  bool link_energy      = false;
  bool executions_heard = false; // plug-ins listen to the signals of executions
  bool transfers_heard  = false;
  double limit          = NEVER;
  double stepped        = 0.0; // the engine's models are up to date to here
  double stepped_before = 0.0;
  // Objects that live until the process ends.
  PyObject* failed_actor = nullptr;
  PyObject* report       = nullptr; // called with what, actor, host and place of an operation that is never awaited
  long expected_awaits   = 0;       // operations that exist and were not awaited yet
  bool locating          = false;   // whether to note where operations are created, which takes time
  PyObject* error        = nullptr; // ends the run after the step of the actor that runs
  PyObject* progress     = nullptr;
  PyObject* logger       = nullptr;     // called with level and message of what an actor logs
  int log_level          = 0;           // of the least level that is written
  PyObject* chooser      = nullptr;     // called with actor, options, observation and label; gives an index
  std::optional<std::mt19937_64> order; // draws who goes first of those that are ready, else first in, first out
  long ties           = 0;              // dates at which actors competed for something
  double last_tie     = -1.0;
  PyObject* pausing   = nullptr; // called with the date of the next event, gives the date to go to
  double pause        = std::numeric_limits<double>::infinity(); // no event later than this happens without it
  PyObject* mailboxes = nullptr;
  PyObject* queues    = nullptr;
  PyObject* named     = nullptr; // synchronisation objects by (kind, name)
  PyObject* actors    = nullptr; // list in order of pid
  std::vector<Actor*> living;    // of those; who has ended leaves when they are asked for
  PyObject* seed = nullptr;
};
extern Simulation sim;

inline double now()
{
  return s4u::Engine::get_clock();
}

PyObject* error_class(const char* name); // borrowed, from simplugin.core.errors

} // namespace driver

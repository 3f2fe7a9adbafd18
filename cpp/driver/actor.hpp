// The life of an actor: started, resumed, blocked, killed, ended.
#pragma once

#include <cstdint>

#include "activity.hpp"

namespace driver {

struct Actor {
  enum class Phase : uint8_t { CREATED, READY, RUNNING, BLOCKED, ENDED };

  PyObject ob_base{}; // PyObject_HEAD
  Ref<> coroutine;
  Ref<> function;
  Ref<> arguments; // tuple
  Ref<> name;
  Ref<> properties; // dict or none
  Ref<> random;
  Ref<> value;
  Ref<> on_exit; // list or none
  Ref<> waiting; // the Activity or Wait that blocks it
  Host* host           = nullptr;
  long pid             = 0;
  Actor* host_next     = nullptr; // in host->actors
  Actor* host_prev     = nullptr;
  Activity* activities = nullptr; // the first of those that it owns, with a reference to each
  double since         = 0.0;
  Fifo joiners;
  uint64_t start_timer = 0;
  uint64_t kill_timer  = 0;
  double kill_time     = NEVER; // armed again when it restarts
  Phase phase          = Phase::CREATED;
  bool suspended       = false;
  bool wake_pending    = false; // what it waited for came while it was suspended
  bool dying           = false;
  bool host_failed     = false;
  bool daemon          = false;
  bool restart         = false;
  bool killed          = false;
  uint32_t exceptions  = 0; // how many were caught in it
};

extern PyTypeObject ActorType;

/// An actor that does not run yet; none with an exception set.
Ref<Actor> spawn(Ref<> function, Ref<> arguments, Host* host, Ref<> name, Ref<> properties, bool daemon, bool restart);
void start_actor(Actor* actor); // one whose host is off is killed, and starts again with it if restartable
bool require_on(Host const* host, PyObject* name); // false with an exception set
void resume(Actor* actor);
void wake(Actor* actor);
void block(Actor* actor, PyObject* on);
void kill(Actor* actor, bool host_failed);
void suspend(Actor* actor);
void migrate(Actor* actor, Host* host);
void start_again_at_boot(Actor* actor);
void arm_kill(Actor* actor, double date);
void host_switched(s4u::Host const& host);
void end_daemons();
void raise_kill();
[[noreturn]] void end_run();                 // with sim.error
Actor* running_actor(const char* operation); // sets an exception and returns nullptr outside of an actor

} // namespace driver

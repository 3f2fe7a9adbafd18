// The life of an actor: started, resumed, blocked, killed, ended.

#include "actor.hpp"

#include "activity.hpp"
#include "platform.hpp"
#include "scheduler.hpp"
#include "simulation.hpp"
#include "synchro.hpp"
#include "unawaited.hpp"
#include "wait.hpp"
#include "work.hpp"

#include <algorithm>

namespace driver {

namespace {

void enter_host(Actor* actor, Host* host)
{
  actor->host      = host;
  actor->host_prev = nullptr;
  actor->host_next = host->actors;
  if (host->actors != nullptr)
    host->actors->host_prev = actor;
  host->actors = actor;
}

void leave_host(Actor* actor)
{
  (actor->host_prev == nullptr ? actor->host->actors : actor->host_prev->host_next) = actor->host_next;
  if (actor->host_next != nullptr)
    actor->host_next->host_prev = actor->host_prev;
  actor->host_next = actor->host_prev = nullptr;
}

/// An exception left the actor: the run is over. The exception stays set in this thread.
[[noreturn]] void fail(Actor* actor)
{
  if (sim.error != nullptr) // it came first
    end_run();
  sim.failed_actor = Ref<Actor>::share(actor).give(); // the last one: the run ends
  sim.current      = nullptr;
  throw StopRun();
}

void run_on_exit(Actor* actor)
{
  Ref<> const callbacks = std::move(actor->on_exit);
  if (not callbacks)
    return;
  for (Py_ssize_t i = PyList_GET_SIZE(callbacks.get()) - 1; i >= 0; i--) {
    PyObject* const callback = PyList_GET_ITEM(callbacks.get(), i);
    auto const result        = Ref<>::steal(PyObject_CallOneArg(callback, actor->killed ? Py_True : Py_False));
    if (not result && not PyErr_ExceptionMatches(error_class("ForcefulKillException")))
      fail(actor);
    PyErr_Clear(); // one that ends its actor, which is ending
  }
}

void abort_activities(Actor* actor)
{
  while (actor->activities != nullptr)
    abort_activity(actor->activities, State::CANCELED, Failure::CANCEL);
}

/// As SimGrid does: what a killed actor waits for ends with it, also what is another's.
void cancel_awaited(Actor* actor, PyObject* waiting)
{
  std::vector<Ref<Activity>> awaited;
  if (Py_TYPE(waiting) == &WaitType) {
    auto* wait = reinterpret_cast<Wait*>(waiting);
    unregister(wait);
    awaited = wait->activities;
  } else {
    awaited.push_back(Ref<Activity>::share(reinterpret_cast<Activity*>(waiting)));
    remove_waiter(awaited.front().get(), actor);
  }
  for (Ref<Activity> const& activity : awaited)
    if (activity->kind <= Kind::MESS_GET)
      abort_activity(activity.get(), State::CANCELED, Failure::CANCEL);
}

/// `value` is what it returned, none if it was killed.
void end(Actor* actor, Ref<> value)
{
  auto const kept = Ref<Actor>::share(actor);
  actor->killed   = not value;
  sim.current     = actor;
  run_on_exit(actor);
  sim.current  = nullptr;
  actor->phase = Actor::Phase::ENDED;
  actor->dying = true;
  abort_activities(actor);
  forget_timer(actor->start_timer);
  forget_timer(actor->kill_timer);
  leave_host(actor);
  sim.alive--;
  if (actor->daemon)
    sim.daemons--;
  actor->value     = value ? std::move(value) : Ref<>::share(Py_None);
  actor->coroutine = {};
  actor->waiting   = {};
  actor->random    = {};
  if (not actor->restart) {
    actor->function  = {};
    actor->arguments = {};
  }
  while (actor->joiners.size > 0) {
    Ref<Activity> const join = actor->joiners.pop();
    join->payload            = actor->value;
    abort_activity(join.get(), State::FINISHED, Failure::NONE);
  }
}

/// Calls function(me, *arguments), which gives the coroutine.
void create_coroutine(Actor* actor)
{
  std::vector<PyObject*> all{reinterpret_cast<PyObject*>(actor)};
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(actor->arguments.get()); i++)
    all.push_back(PyTuple_GET_ITEM(actor->arguments.get(), i));
  actor->coroutine = Ref<>::steal(PyObject_Vectorcall(actor->function.get(), all.data(), all.size(), nullptr));
  if (not actor->coroutine)
    fail(actor);
  if (not PyCoro_CheckExact(actor->coroutine.get())) {
    PyErr_Format(PyExc_TypeError, "an actor is an 'async def' function, but %R returned %R", actor->function.get(),
                 actor->coroutine.get());
    fail(actor);
  }
}

/// Throws the kill into the coroutine; what it does then is up to its `finally` blocks.
PySendResult throw_kill(Actor* actor, PyObject** result)
{
  char const* const reason = actor->host_failed ? "host failed" : "exited";
  auto const error         = Ref<>::steal(PyObject_CallFunction(error_class("ForcefulKillException"), "s", reason));
  *result                  = error ? PyObject_CallMethod(actor->coroutine.get(), "throw", "O", error.get()) : nullptr;
  return *result == nullptr ? PYGEN_ERROR : PYGEN_NEXT;
}

/// Raise at the line where the actor awaits what is not simplugin's.
void refuse_await(Actor* actor)
{
  auto const error = Ref<>::steal(
      PyObject_CallFunction(PyExc_RuntimeError, "s", "an actor awaited something that is not simplugin's"));
  if (not error)
    return;
  sim.current     = actor;
  auto const sent = Ref<>::steal(PyObject_CallMethod(actor->coroutine.get(), "throw", "O", error.get()));
  sim.current     = nullptr;
  if (sent || PyErr_ExceptionMatches(PyExc_StopIteration)) // it was caught
    PyErr_SetObject(PyExc_RuntimeError, error.get());
}

} // namespace

void end_run()
{
  PyErr_Clear();
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(sim.error)), sim.error);
  sim.current = nullptr;
  throw StopRun();
}

void raise_kill()
{
  PyErr_SetString(error_class("ForcefulKillException"), "exited");
}

Actor* running_actor(const char* operation)
{
  if (sim.current == nullptr)
    PyErr_Format(PyExc_RuntimeError, "%s outside of a running actor", operation);
  return sim.current;
}

void block(Actor* actor, PyObject* on)
{
  actor->waiting = Ref<>::share(on);
  actor->phase   = Actor::Phase::BLOCKED;
  actor->since   = now();
}

void wake(Actor* actor)
{
  if (actor->phase != Actor::Phase::BLOCKED)
    return;
  if (actor->suspended && not actor->dying)
    actor->wake_pending = true;
  else
    make_ready(actor);
}

void resume(Actor* actor)
{
  if (actor->phase != Actor::Phase::READY)
    return;
  if (actor->suspended && not actor->dying) { // suspended between its waking and its turn
    actor->phase        = Actor::Phase::BLOCKED;
    actor->wake_pending = true;
    return;
  }
  if (not actor->coroutine) {
    if (actor->dying) {
      end(actor, {});
      return;
    }
    sim.current = actor;
    create_coroutine(actor);
  }
  sim.current    = actor;
  actor->phase   = Actor::Phase::RUNNING;
  PyObject* sent = nullptr;
  PySendResult const outcome =
      actor->dying ? throw_kill(actor, &sent) : PyIter_Send(actor->coroutine.get(), Py_None, &sent);
  auto result = Ref<>::steal(sent);
  // What goes away with the exception was not forgotten.
  if (outcome == PYGEN_ERROR && PyErr_ExceptionMatches(error_class("ForcefulKillException"))) {
    actor->dying = true;
    PyErr_Clear();
    sim.current = nullptr;
    end(actor, {});
    return;
  }
  sim.current = nullptr;
  if (outcome == PYGEN_RETURN) {
    end(actor, std::move(result));
  } else if (outcome == PYGEN_NEXT) {
    if (actor->phase != Actor::Phase::RUNNING)
      return;
    if (actor->dying)
      PyErr_SetString(PyExc_RuntimeError, "a killed actor awaited something");
    else
      refuse_await(actor);
    fail(actor);
  } else if (actor->dying && PyErr_ExceptionMatches(PyExc_StopIteration)) { // it returned from a `finally`
    PyErr_Clear();
    end(actor, {});
  } else {
    fail(actor);
  }
}

void start_actor(Actor* actor)
{
  if (actor->phase != Actor::Phase::CREATED)
    return;
  if (not actor->host->host->is_on()) // its start time came while the host was off
    kill(actor, true);
  else
    make_ready(actor);
}

bool require_on(Host const* host, PyObject* name)
{
  if (host->host->is_on())
    return true;
  PyErr_Format(error_class("HostFailureException"),
               "cannot start actor '%U': host '%s' is off; with restart=True it starts when the host comes back", name,
               host->host->get_cname());
  return false;
}

Ref<Actor> spawn(Ref<> function, Ref<> arguments, Host* host, Ref<> name, Ref<> properties, bool daemon, bool restart)
{
  Ref<Actor> actor = create<Actor>(&ActorType);
  if (not actor || PyList_Append(sim.actors, actor.object()) != 0)
    return {};
  actor->function   = std::move(function);
  actor->arguments  = std::move(arguments);
  actor->name       = std::move(name);
  actor->properties = std::move(properties);
  actor->pid        = ++sim.last_pid;
  actor->daemon     = daemon;
  actor->restart    = restart;
  enter_host(actor.get(), host);
  sim.alive++;
  if (daemon)
    sim.daemons++;
  sim.living.push_back(actor.get());
  return actor;
}

void kill(Actor* actor, bool host_failed)
{
  if (actor->dying || actor->phase == Actor::Phase::ENDED)
    return;
  actor->dying       = true;
  actor->host_failed = host_failed;
  actor->suspended   = false;
  forget_timer(actor->start_timer);
  forget_timer(actor->kill_timer);
  PyObject* waiting = actor->waiting.get();
  if (actor->phase != Actor::Phase::RUNNING && waiting != nullptr && Py_TYPE(waiting) == &ActivityType)
    give_back(reinterpret_cast<Activity*>(waiting), actor);
  if (actor->phase == Actor::Phase::BLOCKED && waiting != nullptr)
    cancel_awaited(actor, waiting);
  abort_activities(actor);
  if (actor->phase == Actor::Phase::BLOCKED || actor->phase == Actor::Phase::CREATED)
    make_ready(actor);
}

void suspend(Actor* actor)
{
  if (actor->suspended || actor->dying)
    return;
  actor->suspended = true;
  for (Activity* activity = actor->activities; activity != nullptr; activity = activity->owner_next)
    suspend_activity(activity);
}

void migrate(Actor* actor, Host* host)
{
  if (actor->phase == Actor::Phase::ENDED)
    return;
  for (Activity* activity = actor->activities; activity != nullptr; activity = activity->owner_next)
    if (activity->kind == Kind::EXEC && activity->work != nullptr)
      migrate_execution(activity, host);
  leave_host(actor);
  enter_host(actor, host);
}

void arm_kill(Actor* actor, double date)
{
  actor->kill_time = date;
  if (date > now())
    actor->kill_timer = set_timer(date, Alarm::KILL, reinterpret_cast<PyObject*>(actor));
}

void start_again_at_boot(Actor* actor)
{
  actor->host->boot.push_back(actor);
}

void end_daemons()
{
  Py_ssize_t const count = PyList_GET_SIZE(sim.actors);
  for (Py_ssize_t i = 0; i < count; i++) {
    auto* actor = reinterpret_cast<Actor*>(PyList_GET_ITEM(sim.actors, i));
    if (actor->phase != Actor::Phase::ENDED)
      kill(actor, false);
  }
}

/// SimGrid turned a host off or on, on our demand or its profile's.
void host_switched(s4u::Host const& which)
{
  Host* host = host_of(&which);
  if (not which.is_on()) {
    fail_transfers(&which);
    for (Actor* actor = host->actors; actor != nullptr;) {
      Actor* following = actor->host_next;
      if (actor->start_timer == 0) // one that is yet to start is not there
        kill(actor, true);
      actor = following;
    }
    fail_executions(&which);
  } else {
    std::vector<Actor*> const boot = host->boot;
    for (Actor const* model : boot) {
      Ref<Actor> const actor =
          spawn(model->function, model->arguments, host, model->name, model->properties, model->daemon, true);
      if (not actor)
        throw StopRun();
      start_actor(actor.get());
      arm_kill(actor.get(), model->kill_time);
    }
  }
}

} // namespace driver

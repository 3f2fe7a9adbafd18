// `me`: the actors that it can start, stop and wait for, and its attributes. What takes time is in operations.cpp.

#include "activity.hpp"
#include "actor.hpp"
#include "arguments.hpp"
#include "operations.hpp"
#include "platform.hpp"
#include "scheduler.hpp"
#include "simulation.hpp"
#include "synchro.hpp"
#include "types.hpp"
#include "wait.hpp"

#include <algorithm>

namespace driver {

namespace {

Actor* cast(PyObject* self)
{
  return reinterpret_cast<Actor*>(self);
}

// ---- actors ---------------------------------------------------------------------------------------------------------

PyObject* actor_spawn(PyObject* /*self*/, PyObject* arguments, PyObject* keywords)
{
  static char const* names[] = {"host", "name", "daemon", "restart", "properties", nullptr};
  PyObject *host_value = Py_None, *name = Py_None, *properties = Py_None;
  int daemon = 0, restart = 0;
  Actor* parent    = running_actor("spawn");
  auto const empty = Ref<>::steal(PyTuple_New(0));
  if (parent == nullptr || not empty ||
      not PyArg_ParseTupleAndKeywords(empty.get(), keywords, "|$OOppO:spawn", const_cast<char**>(names), &host_value,
                                      &name, &daemon, &restart, &properties))
    return nullptr;
  if (PyTuple_GET_SIZE(arguments) == 0) {
    PyErr_SetString(PyExc_TypeError, "spawn() needs the actor's function");
    return nullptr;
  }
  if (name != Py_None && not PyUnicode_Check(name)) {
    PyErr_Format(PyExc_TypeError, "name must be a str, not %R", name);
    return nullptr;
  }
  Host* host = host_argument(host_value, parent->host);
  if (host == nullptr)
    return nullptr;
  auto function = Ref<>::share(PyTuple_GET_ITEM(arguments, 0));
  Ref<> given = name == Py_None ? Ref<>::steal(PyObject_GetAttrString(function.get(), "__name__")) : Ref<>::share(name);
  if (not given || not PyUnicode_Check(given.get())) {
    PyErr_Clear();
    given = Ref<>::steal(PyUnicode_FromString("actor"));
  }
  auto rest = Ref<>::steal(PyTuple_GetSlice(arguments, 1, PyTuple_GET_SIZE(arguments)));
  Ref<> traits;
  if (properties != Py_None) {
    traits = Ref<>::steal(PyDict_New());
    if (not traits || PyDict_Update(traits.get(), properties) != 0)
      return nullptr;
  }
  if (not given || not rest || not require_on(host, given.get()))
    return nullptr;
  Ref<Actor> child =
      spawn(std::move(function), std::move(rest), host, std::move(given), std::move(traits), daemon != 0, restart != 0);
  if (not child)
    return nullptr;
  if (restart != 0)
    start_again_at_boot(child.get());
  start_actor(child.get());
  return child.give();
}

PyObject* join(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords)
{
  static Signature signature{"join", 1, 0, {"timeout"}};
  PyObject* values[1];
  double timeout;
  if (not parse(signature, args, count, keywords, values) || not number(values[0], "timeout", NEVER, timeout))
    return nullptr;
  return blocking_operation(Kind::JOIN, self, timeout);
}

PyObject* actor_exit(PyObject* /*self*/, PyObject* /*unused*/)
{
  if (running_actor("exit") != nullptr)
    raise_kill();
  return nullptr;
}

PyObject* actor_kill(PyObject* self, PyObject* /*unused*/)
{
  if (cast(self) == sim.current)
    return actor_exit(self, nullptr);
  kill(cast(self), false);
  Py_RETURN_NONE;
}

PyObject* actor_suspend(PyObject* self, PyObject* /*unused*/)
{
  return blocking_operation(Kind::SUSPEND, self, NEVER);
}

PyObject* actor_resume(PyObject* self, PyObject* /*unused*/)
{
  Actor* actor = cast(self);
  if (not actor->suspended || actor->dying)
    Py_RETURN_NONE;
  actor->suspended = false;
  for (Activity* activity = actor->activities; activity != nullptr; activity = activity->owner_next)
    resume_activity(activity);
  if (actor->wake_pending) {
    actor->wake_pending = false;
    make_ready(actor);
  }
  Py_RETURN_NONE;
}

PyObject* daemonize(PyObject* self, PyObject* /*unused*/)
{
  Actor* actor = cast(self);
  if (not actor->daemon && actor->phase != Actor::Phase::ENDED)
    sim.daemons++;
  actor->daemon = true;
  Py_RETURN_NONE;
}

PyObject* on_exit(PyObject* self, PyObject* callback)
{
  Actor* actor = cast(self);
  if (not PyCallable_Check(callback)) {
    PyErr_Format(PyExc_TypeError, "on_exit() needs a function, not %R", callback);
    return nullptr;
  }
  if (not actor->on_exit)
    actor->on_exit = Ref<>::steal(PyList_New(0));
  if (not actor->on_exit || PyList_Append(actor->on_exit.get(), callback) != 0)
    return nullptr;
  Py_RETURN_NONE;
}

PyObject* set_host(PyObject* self, PyObject* value)
{
  Host* host = host_argument(value, nullptr);
  if (host == nullptr)
    return nullptr;
  if (not host->host->is_on()) {
    PyErr_Format(error_class("HostFailureException"), "cannot move actor '%U': host '%s' is off; turn it on first",
                 cast(self)->name.get(), host->host->get_cname());
    return nullptr;
  }
  migrate(cast(self), host);
  Py_RETURN_NONE;
}

// ---- log --------------------------------------------------------------------------------------------------------

PyObject* log(PyObject* /*self*/, PyObject* const* args, Py_ssize_t count, PyObject* keywords)
{
  static Signature signature{"log", 2, 1, {"message", "level"}};
  static char const* const levels[] = {"debug", "info", "warning", "error"};
  PyObject* values[2];
  if (not parse(signature, args, count, keywords, values))
    return nullptr;
  int level = values[1] == nullptr ? 1 : PyUnicode_Check(values[1]) ? 0 : 4;
  while (values[1] != nullptr && level < 4 && PyUnicode_CompareWithASCIIString(values[1], levels[level]) != 0)
    level++;
  if (level == 4)
    return PyErr_Format(PyExc_ValueError, "level must be 'debug', 'info', 'warning' or 'error', not %R", values[1]);
  if (level < sim.log_level || sim.logger == nullptr)
    Py_RETURN_NONE;
  return PyObject_CallFunction(sim.logger, "sO", levels[level], values[0]);
}

// ---- platform and synchronisation -----------------------------------------------------------------------------------

PyObject* host_by_name(PyObject* /*self*/, PyObject* name)
{
  return Ref<Host>::share(host_argument(name, nullptr)).give();
}

PyObject* link_by_name(PyObject* /*self*/, PyObject* name)
{
  return link_named(name);
}

PyObject* route(PyObject* /*self*/, PyObject* const* args, Py_ssize_t count, PyObject* keywords)
{
  static Signature signature{"route", 2, 2, {"source", "destination"}};
  PyObject* values[2];
  if (not parse(signature, args, count, keywords, values))
    return nullptr;
  Host* source      = host_argument(values[0], nullptr);
  Host* destination = source == nullptr ? nullptr : host_argument(values[1], nullptr);
  return destination == nullptr ? nullptr : find_route(source, destination);
}

PyObject* synchronisation(PyTypeObject* type, const char* kind, PyObject* first, PyObject* name)
{
  PyObject* standard = name == nullptr ? Py_None : name;
  auto const key     = Ref<>::steal(Py_BuildValue("(sO)", kind, standard));
  if (not key)
    return nullptr;
  if (standard != Py_None) {
    PyObject* found = PyDict_GetItemWithError(sim.named, key.get());
    if (found != nullptr && Py_TYPE(found) == type)
      return Py_NewRef(found);
    if (PyErr_Occurred() != nullptr)
      return nullptr;
  }
  auto* const maker = reinterpret_cast<PyObject*>(type);
  auto made         = Ref<>::steal(first == nullptr ? PyObject_CallFunctionObjArgs(maker, standard, nullptr)
                                                    : PyObject_CallFunctionObjArgs(maker, first, standard, nullptr));
  if (not made || (standard != Py_None && PyDict_SetItem(sim.named, key.get(), made.get()) != 0))
    return nullptr;
  return made.give();
}

PyObject* mutex(PyObject* /*self*/, PyObject* const* args, Py_ssize_t count, PyObject* keywords)
{
  static Signature signature{"mutex", 1, 0, {"name"}};
  PyObject* values[1];
  return parse(signature, args, count, keywords, values) ? synchronisation(&MutexType, "mutex", nullptr, values[0])
                                                         : nullptr;
}

PyObject* semaphore(PyObject* /*self*/, PyObject* const* args, Py_ssize_t count, PyObject* keywords)
{
  static Signature signature{"semaphore", 2, 1, {"capacity", "name"}};
  PyObject* values[2];
  return parse(signature, args, count, keywords, values)
             ? synchronisation(&SemaphoreType, "semaphore", values[0], values[1])
             : nullptr;
}

PyObject* condition(PyObject* /*self*/, PyObject* const* args, Py_ssize_t count, PyObject* keywords)
{
  static Signature signature{"condition", 2, 1, {"mutex", "name"}};
  PyObject* values[2];
  return parse(signature, args, count, keywords, values)
             ? synchronisation(&ConditionType, "condition", values[0], values[1])
             : nullptr;
}

PyObject* barrier(PyObject* /*self*/, PyObject* const* args, Py_ssize_t count, PyObject* keywords)
{
  static Signature signature{"barrier", 2, 1, {"size", "name"}};
  PyObject* values[2];
  return parse(signature, args, count, keywords, values)
             ? synchronisation(&BarrierType, "barrier", values[0], values[1])
             : nullptr;
}

// ---- attributes -----------------------------------------------------------------------------------------------------

PyObject* get_name(PyObject* self, void* /*closure*/)
{
  return Py_NewRef(cast(self)->name.get());
}
PyObject* get_pid(PyObject* self, void* /*closure*/)
{
  return PyLong_FromLong(cast(self)->pid);
}
PyObject* get_host(PyObject* self, void* /*closure*/)
{
  return Py_NewRef(reinterpret_cast<PyObject*>(cast(self)->host));
}
PyObject* get_properties(PyObject* self, void* /*closure*/)
{
  Ref<>& properties = cast(self)->properties;
  if (not properties)
    properties = Ref<>::steal(PyDict_New());
  return Ref<>(properties).give();
}
PyObject* get_now(PyObject* /*self*/, void* /*closure*/)
{
  return PyFloat_FromDouble(now());
}
PyObject* get_is_daemon(PyObject* self, void* /*closure*/)
{
  return PyBool_FromLong(cast(self)->daemon);
}
PyObject* get_is_suspended(PyObject* self, void* /*closure*/)
{
  return PyBool_FromLong(cast(self)->suspended);
}
PyObject* get_is_alive(PyObject* self, void* /*closure*/)
{
  return PyBool_FromLong(cast(self)->phase != Actor::Phase::ENDED && not cast(self)->dying);
}
PyObject* get_hosts(PyObject* /*self*/, void* /*closure*/)
{
  return all_hosts();
}
PyObject* get_links(PyObject* /*self*/, void* /*closure*/)
{
  return all_links();
}
PyObject* get_actors(PyObject* /*self*/, void* /*closure*/)
{
  auto const over = [](Actor const* actor) { return actor->dying || actor->phase == Actor::Phase::ENDED; };
  sim.living.erase(std::remove_if(sim.living.begin(), sim.living.end(), over), sim.living.end());
  PyObject* list = PyList_New(static_cast<Py_ssize_t>(sim.living.size()));
  for (std::size_t i = 0; list != nullptr && i < sim.living.size(); i++)
    PyList_SET_ITEM(list, static_cast<Py_ssize_t>(i), Py_NewRef(reinterpret_cast<PyObject*>(sim.living[i])));
  return list;
}
PyObject* get_random(PyObject* self, void* /*closure*/)
{
  Actor* actor = cast(self);
  if (not actor->random) {
    auto const module = Ref<>::steal(PyImport_ImportModule("numpy.random"));
    if (not module)
      return nullptr;
    actor->random = Ref<>::steal(PyObject_CallMethod(module.get(), "default_rng", "((Ol))", sim.seed, actor->pid));
  }
  return Ref<>(actor->random).give();
}

PyObject* actor_repr(PyObject* self)
{
  return PyUnicode_FromFormat("<Actor %ld: %U@%s>", cast(self)->pid, cast(self)->name.get(),
                              cast(self)->host->host->get_cname());
}

PyMethodDef actor_methods[] = {fast("execute", execute, "Compute some flops."),
                               fast("exec_async", exec_async, "Start to compute; gives the Activity."),
                               fast("exec_init", exec_init, "What is to be computed later; gives the Activity."),
                               fast("parallel_execute", parallel_execute, "A parallel task on several hosts."),
                               fast("parallel_async", parallel_async, "Start a parallel task; gives the Activity."),
                               fast("parallel_init", parallel_init, "A parallel task that is to start later."),
                               {"sleep_for", sleep_for, METH_O, "Sleep for a duration [s]."},
                               {"sleep_until", sleep_until, METH_O, "Sleep until a date [s]."},
                               {"yield_", yield_, METH_NOARGS, "Let the other actors of this date go first."},
                               fast("choose", choose, "Leave a decision to the chooser; gives an index."),
                               {"mailbox", mailbox, METH_O, "The mailbox of that name."},
                               {"message_queue", message_queue, METH_O, "The message queue of that name."},
                               fast("sendto", sendto, "Transfer bytes between two hosts."),
                               fast("sendto_async", sendto_async, "Start a transfer between two hosts."),
                               fast("sendto_init", sendto_init, "A transfer that is to start later."),
                               fast("wait_any", wait_any, "Wait for the first of some activities."),
                               fast("wait_all", wait_all, "Wait for all of some activities."),
                               {"test_any", test_any, METH_O, "The first activity that is over, or None."},
                               {"spawn", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(actor_spawn)),
                                METH_VARARGS | METH_KEYWORDS, "Start another actor."},
                               fast("join", join, "Wait for its end; gives its returned value."),
                               {"kill", actor_kill, METH_NOARGS, "End it."},
                               {"exit", actor_exit, METH_NOARGS, "End the caller."},
                               {"suspend", actor_suspend, METH_NOARGS, "Stop it until it is resumed."},
                               {"resume", actor_resume, METH_NOARGS, "Let it go on."},
                               {"daemonize", daemonize, METH_NOARGS, "It ends when only daemons are left."},
                               {"on_exit", on_exit, METH_O, "Call a function at its end."},
                               {"set_host", set_host, METH_O, "Migrate it."},
                               fast("log", log, "Write a line with date, actor and host."),
                               {"host_by_name", host_by_name, METH_O, "The host of that name."},
                               {"link_by_name", link_by_name, METH_O, "The link of that name."},
                               fast("route", route, "Links and latency between two hosts."),
                               fast("mutex", mutex, "A mutex."),
                               fast("semaphore", semaphore, "A semaphore."),
                               fast("condition", condition, "A condition variable on a mutex."),
                               fast("barrier", barrier, "A barrier."),
                               {nullptr, nullptr, 0, nullptr}};

PyGetSetDef actor_properties[] = {{"name", get_name, nullptr, "Its name.", nullptr},
                                  {"pid", get_pid, nullptr, "1, 2, ... in order of creation.", nullptr},
                                  {"host", get_host, nullptr, "Where it runs.", nullptr},
                                  {"properties", get_properties, nullptr, "Its properties.", nullptr},
                                  {"now", get_now, nullptr, "The simulated date [s].", nullptr},
                                  {"random", get_random, nullptr, "Its own random generator.", nullptr},
                                  {"is_daemon", get_is_daemon, nullptr, "Whether it is a daemon.", nullptr},
                                  {"is_suspended", get_is_suspended, nullptr, "Whether it is suspended.", nullptr},
                                  {"is_alive", get_is_alive, nullptr, "Whether it has not ended.", nullptr},
                                  {"hosts", get_hosts, nullptr, "All hosts.", nullptr},
                                  {"links", get_links, nullptr, "All links.", nullptr},
                                  {"actors", get_actors, nullptr, "All actors alive.", nullptr},
                                  {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyTypeObject make_type()
{
  PyTypeObject type = blank_type();
  type.tp_name      = "simplugin.simulation._driver.Actor";
  type.tp_basicsize = sizeof(Actor);
  type.tp_dealloc   = destroy<Actor>;
  type.tp_repr      = actor_repr;
  type.tp_flags     = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION;
  type.tp_doc       = "An actor of the simulation.";
  type.tp_methods   = actor_methods;
  type.tp_getset    = actor_properties;
  return type;
}

} // namespace

PyTypeObject ActorType = make_type();

} // namespace driver

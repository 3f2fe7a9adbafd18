// Synchronisation in simulated time: mutex, semaphore, condition variable, barrier; and joins, suspensions, yields.

#include "synchro.hpp"

#include "activity.hpp"
#include "actor.hpp"
#include "arguments.hpp"
#include "planned.hpp"
#include "scheduler.hpp"
#include "types.hpp"
#include "work.hpp"

#include <algorithm>

namespace driver {

namespace {

struct Mutex {
  PyObject ob_base{}; // PyObject_HEAD
  Ref<> name;
  Fifo waiting;
  Actor* owner = nullptr; // borrowed
  Contest locking;
};
struct Semaphore {
  PyObject ob_base{}; // PyObject_HEAD
  Ref<> name;
  Fifo waiting;
  long count = 0; // free places
  Contest acquiring;
};
struct Condition {
  PyObject ob_base{}; // PyObject_HEAD
  Ref<> name;
  Fifo waiting;
  Ref<Mutex> mutex;
};
struct Barrier {
  PyObject ob_base{}; // PyObject_HEAD
  Ref<> name;
  Fifo waiting;
  long count = 0; // of those that it waits for
};

template <class T> T* as(PyObject* self)
{
  return reinterpret_cast<T*>(self);
}

template <class T> T* target(Activity const* activity)
{
  return as<T>(activity->target.get());
}

void finish(Activity* activity)
{
  complete(activity, State::FINISHED, Failure::NONE);
}

void answer(Activity* activity, bool value)
{
  activity->payload = Ref<>::steal(PyBool_FromLong(value));
}

// ---- mutex ----------------------------------------------------------------------------------------------------------

void lock(Mutex* mutex, Activity* activity)
{
  compete(mutex->locking, activity->owner);
  if (mutex->owner == nullptr) {
    mutex->owner = activity->owner;
    finish(activity);
  } else {
    mutex->waiting.push(activity);
  }
}

void release(Mutex* mutex)
{
  mutex->owner = nullptr;
  if (mutex->waiting.size == 0)
    return;
  Ref<Activity> const next = mutex->waiting.pop();
  mutex->owner             = next->owner;
  finish(next.get());
}

bool unlock_as(PyObject* self, Actor* actor, const char* operation)
{
  Mutex* mutex = as<Mutex>(self);
  if (mutex->owner == actor && actor != nullptr) {
    release(mutex);
    return true;
  }
  PyErr_Format(PyExc_RuntimeError, "%s: the mutex %R is %s", operation, mutex->name.get(),
               mutex->owner == nullptr ? "not locked" : "held by another actor");
  return false;
}

PyObject* mutex_lock(PyObject* self, PyObject* /*unused*/)
{
  return blocking_operation(Kind::LOCK, self, NEVER);
}

PyObject* mutex_try_lock(PyObject* self, PyObject* /*unused*/)
{
  Actor* actor = running_actor("try_lock");
  if (actor == nullptr)
    return nullptr;
  compete(as<Mutex>(self)->locking, actor);
  if (as<Mutex>(self)->owner != nullptr)
    Py_RETURN_FALSE;
  as<Mutex>(self)->owner = actor;
  Py_RETURN_TRUE;
}

PyObject* mutex_unlock(PyObject* self, PyObject* /*unused*/)
{
  Actor* actor = running_actor("unlock");
  if (actor == nullptr || not unlock_as(self, actor, "unlock"))
    return nullptr;
  Py_RETURN_NONE;
}

PyObject* mutex_exit(PyObject* self, PyObject* /*exception*/)
{
  Actor* actor = running_actor("unlock");
  if (actor != nullptr && actor->dying && as<Mutex>(self)->owner != actor) // killed in a wait on a condition
    return done_awaitable();
  return actor != nullptr && unlock_as(self, actor, "unlock") ? done_awaitable() : nullptr;
}

PyObject* mutex_owner(PyObject* self, void* /*closure*/)
{
  PyObject* owner = as<Mutex>(self)->owner == nullptr ? Py_None : reinterpret_cast<PyObject*>(as<Mutex>(self)->owner);
  return Py_NewRef(owner);
}

// ---- semaphore ------------------------------------------------------------------------------------------------------

PyObject* semaphore_acquire(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords)
{
  static Signature signature{"acquire", 1, 0, {"timeout"}};
  PyObject* values[1];
  double timeout;
  if (not parse(signature, args, count, keywords, values) || not number(values[0], "timeout", NEVER, timeout))
    return nullptr;
  return blocking_operation(Kind::ACQUIRE, self, timeout);
}

PyObject* semaphore_enter(PyObject* self, PyObject* /*unused*/)
{
  return blocking_operation(Kind::ACQUIRE, self, NEVER);
}

void release(Semaphore* semaphore)
{
  if (semaphore->waiting.size == 0)
    semaphore->count++;
  else
    finish(semaphore->waiting.pop().get());
}

PyObject* semaphore_release(PyObject* self, PyObject* /*unused*/)
{
  release(as<Semaphore>(self));
  Py_RETURN_NONE;
}

PyObject* semaphore_exit(PyObject* self, PyObject* /*exception*/)
{
  release(as<Semaphore>(self));
  return done_awaitable();
}

PyObject* semaphore_capacity(PyObject* self, void* /*closure*/)
{
  return PyLong_FromLong(as<Semaphore>(self)->count);
}

PyObject* semaphore_would_block(PyObject* self, void* /*closure*/)
{
  return PyBool_FromLong(as<Semaphore>(self)->count == 0);
}

// ---- condition ------------------------------------------------------------------------------------------------------

PyObject* condition_wait(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords)
{
  static Signature signature{"wait", 1, 0, {"timeout"}};
  PyObject* values[1];
  double timeout;
  if (not parse(signature, args, count, keywords, values) || not number(values[0], "timeout", NEVER, timeout))
    return nullptr;
  return blocking_operation(Kind::CONDITION, self, timeout);
}

void relock(Activity* activity, bool notified)
{
  answer(activity, notified);
  forget_timer(activity->timer);
  lock(target<Condition>(activity)->mutex.get(), activity);
}

void notify_first(Condition* condition)
{
  relock(condition->waiting.pop().get(), true);
}

PyObject* condition_notify_one(PyObject* self, PyObject* /*unused*/)
{
  if (as<Condition>(self)->waiting.size > 0)
    notify_first(as<Condition>(self));
  Py_RETURN_NONE;
}

PyObject* condition_notify_all(PyObject* self, PyObject* /*unused*/)
{
  while (as<Condition>(self)->waiting.size > 0)
    notify_first(as<Condition>(self));
  Py_RETURN_NONE;
}

// ---- barrier --------------------------------------------------------------------------------------------------------

PyObject* barrier_wait(PyObject* self, PyObject* /*unused*/)
{
  return blocking_operation(Kind::BARRIER, self, NEVER);
}

void arrive(Barrier* barrier, Activity* activity)
{
  if (barrier->waiting.size + 1 < barrier->count) {
    barrier->waiting.push(activity);
    return;
  }
  while (barrier->waiting.size > 0) {
    Ref<Activity> const other = barrier->waiting.pop();
    answer(other.get(), false);
    finish(other.get());
  }
  answer(activity, true);
  finish(activity);
}

PyObject* barrier_size(PyObject* self, void* /*closure*/)
{
  return PyLong_FromLong(as<Barrier>(self)->count);
}

// ---- types ----------------------------------------------------------------------------------------------------------

template <class T> PyObject* get_name(PyObject* self, void* /*closure*/)
{
  return Py_NewRef(as<T>(self)->name.get());
}

template <class T> Ref<T> named(PyTypeObject* type, PyObject* name)
{
  Ref<T> made = create<T>(type);
  if (made)
    made->name = Ref<>::share(name);
  return made;
}

PyObject* mutex_new(PyTypeObject* type, PyObject* args, PyObject* /*keywords*/)
{
  PyObject* name = Py_None;
  if (not PyArg_ParseTuple(args, "|O", &name))
    return nullptr;
  return named<Mutex>(type, name).give();
}

template <class T> PyObject* counted_new(PyTypeObject* type, PyObject* args, long least, const char* what)
{
  PyObject* name = Py_None;
  long count;
  if (not PyArg_ParseTuple(args, "l|O", &count, &name))
    return nullptr;
  if (count < least) {
    PyErr_Format(PyExc_ValueError, "%s must be at least %ld, not %ld", what, least, count);
    return nullptr;
  }
  Ref<T> made = named<T>(type, name);
  if (made)
    made->count = count;
  return made.give();
}

PyObject* semaphore_new(PyTypeObject* type, PyObject* args, PyObject* /*keywords*/)
{
  return counted_new<Semaphore>(type, args, 0, "the capacity of a semaphore");
}

PyObject* barrier_new(PyTypeObject* type, PyObject* args, PyObject* /*keywords*/)
{
  return counted_new<Barrier>(type, args, 1, "the size of a barrier");
}

PyObject* condition_new(PyTypeObject* type, PyObject* args, PyObject* /*keywords*/)
{
  PyObject* mutex;
  PyObject* name = Py_None;
  if (not PyArg_ParseTuple(args, "O!|O", &MutexType, &mutex, &name))
    return nullptr;
  Ref<Condition> made = named<Condition>(type, name);
  if (made)
    made->mutex = Ref<Mutex>::share(as<Mutex>(mutex));
  return made.give();
}

PyMethodDef mutex_methods[]     = {{"lock", mutex_lock, METH_NOARGS, "Awaitable: until it is this actor's."},
                                   {"try_lock", mutex_try_lock, METH_NOARGS, "Lock it if it is free."},
                                   {"unlock", mutex_unlock, METH_NOARGS, "Give it to the next actor that waits."},
                                   {"__aenter__", mutex_lock, METH_NOARGS, nullptr},
                                   {"__aexit__", mutex_exit, METH_VARARGS, nullptr},
                                   {nullptr, nullptr, 0, nullptr}};
PyMethodDef semaphore_methods[] = {fast("acquire", semaphore_acquire, "Awaitable: until a place is free."),
                                   {"release", semaphore_release, METH_NOARGS, "Free a place."},
                                   {"__aenter__", semaphore_enter, METH_NOARGS, nullptr},
                                   {"__aexit__", semaphore_exit, METH_VARARGS, nullptr},
                                   {nullptr, nullptr, 0, nullptr}};
PyMethodDef condition_methods[] = {
    fast("wait", condition_wait, "Awaitable: until notified (True) or the time limit (False)."),
    {"notify_one", condition_notify_one, METH_NOARGS, "Wake the first that waits."},
    {"notify_all", condition_notify_all, METH_NOARGS, "Wake all that wait."},
    {nullptr, nullptr, 0, nullptr}};
PyMethodDef barrier_methods[] = {{"wait", barrier_wait, METH_NOARGS, "Awaitable: until all have come."},
                                 {nullptr, nullptr, 0, nullptr}};

PyGetSetDef mutex_properties[]     = {{"name", get_name<Mutex>, nullptr, "Its name or None.", nullptr},
                                      {"owner", mutex_owner, nullptr, "The actor that holds it, or None.", nullptr},
                                      {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyGetSetDef semaphore_properties[] = {{"name", get_name<Semaphore>, nullptr, "Its name or None.", nullptr},
                                      {"capacity", semaphore_capacity, nullptr, "Free places.", nullptr},
                                      {"would_block", semaphore_would_block, nullptr, "Whether none is free.", nullptr},
                                      {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyGetSetDef condition_properties[] = {{"name", get_name<Condition>, nullptr, "Its name or None.", nullptr},
                                      {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyGetSetDef barrier_properties[]   = {{"name", get_name<Barrier>, nullptr, "Its name or None.", nullptr},
                                      {"size", barrier_size, nullptr, "How many it waits for.", nullptr},
                                      {nullptr, nullptr, nullptr, nullptr, nullptr}};

template <class T> PyTypeObject make_type(const char* name, newfunc make, PyMethodDef* methods, PyGetSetDef* properties)
{
  PyTypeObject type = blank_type();
  type.tp_name      = name;
  type.tp_basicsize = sizeof(T);
  type.tp_dealloc   = destroy<T>;
  type.tp_flags     = Py_TPFLAGS_DEFAULT;
  type.tp_methods   = methods;
  type.tp_getset    = properties;
  type.tp_new       = make;
  return type;
}

void start_join(Activity* activity)
{
  auto* actor = target<Actor>(activity);
  if (actor->phase == Actor::Phase::ENDED) {
    activity->payload = actor->value;
    finish(activity);
    return;
  }
  actor->joiners.push(activity);
}

} // namespace

PyTypeObject MutexType =
    make_type<Mutex>("simplugin.simulation._driver.Mutex", mutex_new, mutex_methods, mutex_properties);
PyTypeObject SemaphoreType = make_type<Semaphore>("simplugin.simulation._driver.Semaphore", semaphore_new,
                                                  semaphore_methods, semaphore_properties);
PyTypeObject ConditionType = make_type<Condition>("simplugin.simulation._driver.Condition", condition_new,
                                                  condition_methods, condition_properties);
PyTypeObject BarrierType =
    make_type<Barrier>("simplugin.simulation._driver.Barrier", barrier_new, barrier_methods, barrier_properties);

bool start_synchro(Activity* activity)
{
  switch (activity->kind) {
    case Kind::JOIN:
      start_join(activity);
      return true;
    case Kind::LOCK:
      lock(target<Mutex>(activity), activity);
      return true;
    case Kind::ACQUIRE: {
      auto* semaphore = target<Semaphore>(activity);
      compete(semaphore->acquiring, activity->owner);
      if (semaphore->count > 0) {
        semaphore->count--;
        finish(activity);
      } else {
        semaphore->waiting.push(activity);
      }
      return true;
    }
    case Kind::CONDITION: {
      auto* condition = target<Condition>(activity);
      if (not unlock_as(condition->mutex.object(), activity->owner, "wait")) {
        disown(activity);
        activity->state = State::FAILED;
        return false;
      }
      condition->waiting.push(activity);
      return true;
    }
    case Kind::BARRIER:
      arrive(target<Barrier>(activity), activity);
      return true;
    case Kind::SUSPEND:
      suspend(target<Actor>(activity));
      finish(activity);
      return true;
    default: // Kind::YIELD
      finish(activity);
      return true;
  }
}

/// Granted to an actor that is killed before it could go on: it goes to the next one.
void give_back(Activity* activity, Actor* actor)
{
  if (activity->state != State::FINISHED)
    return;
  if (activity->kind == Kind::LOCK && target<Mutex>(activity)->owner == actor)
    release(target<Mutex>(activity));
  else if (activity->kind == Kind::ACQUIRE)
    release(target<Semaphore>(activity));
}

void condition_timed_out(Activity* activity)
{
  auto const kept = Ref<Activity>::share(activity);
  if (activity->queue != nullptr)
    activity->queue->remove(activity);
  relock(activity, false);
}

} // namespace driver

// Synchronisation in simulated time: mutex, semaphore, condition variable, barrier; and joins, suspensions, yields.

#include "driver.hpp"

#include <algorithm>

namespace driver {

namespace {

struct Mutex {
  PyObject_HEAD PyObject* name;
  Fifo waiting;
  Actor* owner; // borrowed
};
struct Semaphore {
  PyObject_HEAD PyObject* name;
  Fifo waiting;
  long capacity;
};
struct Condition {
  PyObject_HEAD PyObject* name;
  Fifo waiting;
  Mutex* mutex;
};
struct Barrier {
  PyObject_HEAD PyObject* name;
  Fifo waiting;
  long size;
};

template <class T> T* as(PyObject* self)
{
  return reinterpret_cast<T*>(self);
}

void finish(Activity* activity)
{
  complete(activity, State::FINISHED, Failure::NONE);
}

void answer(Activity* activity, bool value)
{
  Py_XSETREF(activity->payload, PyBool_FromLong(value));
}

// ---- mutex ----------------------------------------------------------------------------------------------------------

void lock(Mutex* mutex, Activity* activity)
{
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
  Activity* next = mutex->waiting.pop();
  mutex->owner   = next->owner;
  finish(next);
  Py_DECREF(next);
}

bool unlock_as(PyObject* self, Actor* actor, const char* operation)
{
  Mutex* mutex = as<Mutex>(self);
  if (mutex->owner == actor && actor != nullptr) {
    release(mutex);
    return true;
  }
  PyErr_Format(PyExc_RuntimeError, "%s: the mutex %R is %s", operation, mutex->name,
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

PyObject* semaphore_release(PyObject* self, PyObject* /*unused*/)
{
  auto* semaphore = as<Semaphore>(self);
  if (semaphore->waiting.size == 0) {
    semaphore->capacity++;
  } else {
    Activity* next = semaphore->waiting.pop();
    finish(next);
    Py_DECREF(next);
  }
  Py_RETURN_NONE;
}

PyObject* semaphore_exit(PyObject* self, PyObject* /*exception*/)
{
  PyObject* none = semaphore_release(self, nullptr);
  Py_DECREF(none);
  return done_awaitable();
}

PyObject* semaphore_capacity(PyObject* self, void* /*closure*/)
{
  return PyLong_FromLong(as<Semaphore>(self)->capacity);
}

PyObject* semaphore_would_block(PyObject* self, void* /*closure*/)
{
  return PyBool_FromLong(as<Semaphore>(self)->capacity == 0);
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
  lock(as<Condition>(activity->target)->mutex, activity);
}

void notify_first(Condition* condition)
{
  Activity* first = condition->waiting.pop();
  relock(first, true);
  Py_DECREF(first);
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
  if (barrier->waiting.size + 1 < barrier->size) {
    barrier->waiting.push(activity);
    return;
  }
  while (barrier->waiting.size > 0) {
    Activity* other = barrier->waiting.pop();
    answer(other, false);
    finish(other);
    Py_DECREF(other);
  }
  answer(activity, true);
  finish(activity);
}

PyObject* barrier_size(PyObject* self, void* /*closure*/)
{
  return PyLong_FromLong(as<Barrier>(self)->size);
}

// ---- types ----------------------------------------------------------------------------------------------------------

PyObject* get_name(PyObject* self, void* /*closure*/)
{
  return Py_NewRef(as<Mutex>(self)->name); // all of them begin alike
}

PyObject* mutex_new(PyTypeObject* type, PyObject* args, PyObject* /*keywords*/)
{
  PyObject* name = Py_None;
  if (not PyArg_ParseTuple(args, "|O", &name))
    return nullptr;
  PyObject* self = type->tp_alloc(type, 0);
  if (self != nullptr)
    as<Mutex>(self)->name = Py_NewRef(name);
  return self;
}

PyObject* counted_new(PyTypeObject* type, PyObject* args, long least, const char* what)
{
  PyObject* name = Py_None;
  long count;
  if (not PyArg_ParseTuple(args, "l|O", &count, &name))
    return nullptr;
  if (count < least) {
    PyErr_Format(PyExc_ValueError, "%s must be at least %ld, not %ld", what, least, count);
    return nullptr;
  }
  PyObject* self = type->tp_alloc(type, 0);
  if (self != nullptr) {
    as<Semaphore>(self)->name     = Py_NewRef(name);
    as<Semaphore>(self)->capacity = count;
  }
  return self;
}

PyObject* semaphore_new(PyTypeObject* type, PyObject* args, PyObject* /*keywords*/)
{
  return counted_new(type, args, 0, "the capacity of a semaphore");
}

PyObject* barrier_new(PyTypeObject* type, PyObject* args, PyObject* /*keywords*/)
{
  static_assert(offsetof(Barrier, size) == offsetof(Semaphore, capacity), "counted_new() sets either");
  return counted_new(type, args, 1, "the size of a barrier");
}

PyObject* condition_new(PyTypeObject* type, PyObject* args, PyObject* /*keywords*/)
{
  PyObject* mutex;
  PyObject* name = Py_None;
  if (not PyArg_ParseTuple(args, "O!|O", &MutexType, &mutex, &name))
    return nullptr;
  PyObject* self = type->tp_alloc(type, 0);
  if (self != nullptr) {
    as<Condition>(self)->name  = Py_NewRef(name);
    as<Condition>(self)->mutex = as<Mutex>(Py_NewRef(mutex));
  }
  return self;
}

void synchro_dealloc(PyObject* self)
{
  if (Py_TYPE(self) == &ConditionType)
    Py_CLEAR(as<Condition>(self)->mutex);
  Py_CLEAR(as<Mutex>(self)->name);
  Py_TYPE(self)->tp_free(self);
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

PyGetSetDef mutex_properties[]     = {{"name", get_name, nullptr, "Its name or None.", nullptr},
                                      {"owner", mutex_owner, nullptr, "The actor that holds it, or None.", nullptr},
                                      {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyGetSetDef semaphore_properties[] = {{"name", get_name, nullptr, "Its name or None.", nullptr},
                                      {"capacity", semaphore_capacity, nullptr, "Free places.", nullptr},
                                      {"would_block", semaphore_would_block, nullptr, "Whether none is free.", nullptr},
                                      {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyGetSetDef condition_properties[] = {{"name", get_name, nullptr, "Its name or None.", nullptr},
                                      {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyGetSetDef barrier_properties[]   = {{"name", get_name, nullptr, "Its name or None.", nullptr},
                                      {"size", barrier_size, nullptr, "How many it waits for.", nullptr},
                                      {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyTypeObject make_type(const char* name, Py_ssize_t size, newfunc make, PyMethodDef* methods, PyGetSetDef* properties)
{
  PyTypeObject type = blank_type();
  type.tp_name      = name;
  type.tp_basicsize = size;
  type.tp_dealloc   = synchro_dealloc;
  type.tp_flags     = Py_TPFLAGS_DEFAULT;
  type.tp_methods   = methods;
  type.tp_getset    = properties;
  type.tp_new       = make;
  return type;
}

void start_join(Activity* activity)
{
  auto* actor = as<Actor>(activity->target);
  if (actor->phase == Actor::Phase::ENDED) {
    Py_XSETREF(activity->payload, Py_NewRef(actor->value));
    finish(activity);
    return;
  }
  actor->joiners.push(activity);
}

} // namespace

PyTypeObject MutexType =
    make_type("simplugin.simulation._driver.Mutex", sizeof(Mutex), mutex_new, mutex_methods, mutex_properties);
PyTypeObject SemaphoreType = make_type("simplugin.simulation._driver.Semaphore", sizeof(Semaphore), semaphore_new,
                                       semaphore_methods, semaphore_properties);
PyTypeObject ConditionType = make_type("simplugin.simulation._driver.Condition", sizeof(Condition), condition_new,
                                       condition_methods, condition_properties);
PyTypeObject BarrierType   = make_type("simplugin.simulation._driver.Barrier", sizeof(Barrier), barrier_new,
                                       barrier_methods, barrier_properties);

bool start_synchro(Activity* activity)
{
  switch (activity->kind) {
    case Kind::JOIN:
      start_join(activity);
      return true;
    case Kind::LOCK:
      lock(as<Mutex>(activity->target), activity);
      return true;
    case Kind::ACQUIRE: {
      auto* semaphore = as<Semaphore>(activity->target);
      if (semaphore->capacity > 0) {
        semaphore->capacity--;
        finish(activity);
      } else {
        semaphore->waiting.push(activity);
      }
      return true;
    }
    case Kind::CONDITION: {
      auto* condition = as<Condition>(activity->target);
      if (not unlock_as(reinterpret_cast<PyObject*>(condition->mutex), activity->owner, "wait")) {
        disown(activity);
        activity->state = State::FAILED;
        return false;
      }
      condition->waiting.push(activity);
      return true;
    }
    case Kind::BARRIER:
      arrive(as<Barrier>(activity->target), activity);
      return true;
    case Kind::SUSPEND:
      suspend(as<Actor>(activity->target));
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
  if (activity->kind == Kind::LOCK && as<Mutex>(activity->target)->owner == actor)
    release(as<Mutex>(activity->target));
  else if (activity->kind == Kind::ACQUIRE)
    Py_DECREF(semaphore_release(activity->target, nullptr));
}

void condition_timed_out(Activity* activity)
{
  Py_INCREF(activity);
  if (activity->queue != nullptr)
    activity->queue->remove(activity);
  relock(activity, false);
  Py_DECREF(activity);
}

PyObject* named_object(const char* kind, PyObject* name, PyTypeObject* type)
{
  PyObject* key = Py_BuildValue("(sO)", kind, name);
  if (key == nullptr)
    return nullptr;
  PyObject* found = PyDict_GetItemWithError(sim.named, key);
  Py_DECREF(key);
  if (found != nullptr && Py_TYPE(found) != type)
    found = nullptr;
  Py_XINCREF(found);
  return found;
}

} // namespace driver

// Waiting for several activities, or with a time limit.

#include "wait.hpp"

#include "activity.hpp"
#include "actor.hpp"
#include "planned.hpp"
#include "scheduler.hpp"
#include "simulation.hpp"
#include "types.hpp"
#include "unawaited.hpp"

#include <algorithm>

namespace driver {

namespace {

Wait* cast(PyObject* self)
{
  return reinterpret_cast<Wait*>(self);
}

bool satisfied(Wait* wait)
{
  wait->missing = 0;
  wait->winner  = nullptr;
  for (Ref<Activity> const& activity : wait->activities) {
    if (not is_over(activity.get())) {
      wait->missing++;
      continue;
    }
    if (wait->mode != Wait::Mode::ALL || activity->state != State::FINISHED) {
      wait->winner = activity.get();
      return true;
    }
  }
  return wait->missing == 0;
}

/// The result of a wait that is over; nullptr with an exception.
PyObject* outcome(Wait* wait)
{
  if (not wait->timed_out)
    satisfied(wait); // the first in list order among those that are over by now
  if (wait->timed_out) {
    raise_failure(wait->mode == Wait::Mode::ONE ? wait->activities.front().get() : nullptr, Failure::TIMEOUT);
    return nullptr;
  }
  if (wait->winner != nullptr && (wait->mode == Wait::Mode::ONE || wait->winner->state != State::FINISHED))
    return take_result(wait->winner);
  if (wait->mode == Wait::Mode::ANY)
    return Ref<Activity>::share(wait->winner).give();
  auto results = Ref<>::steal(PyList_New(static_cast<Py_ssize_t>(wait->activities.size())));
  for (size_t i = 0; results && i < wait->activities.size(); i++)
    PyList_SET_ITEM(results.get(), static_cast<Py_ssize_t>(i), take_result(wait->activities[i].get()));
  return results.give();
}

PySendResult wait_send(PyObject* self, PyObject* /*value*/, PyObject** result)
{
  Wait* wait   = cast(self);
  Actor* actor = running_actor("await");
  *result      = nullptr;
  if (actor == nullptr)
    return PYGEN_ERROR;
  bool const begins = not wait->begun;
  if (begins) {
    wait->begun = true;
    awaited(self);
  }
  if (actor->dying) {
    raise_kill();
    return PYGEN_ERROR;
  }
  if (begins) {
    for (Ref<Activity> const& activity : wait->activities)
      if (activity->state == State::INITED && not start_planned(activity.get()))
        return PYGEN_ERROR;
    if (not satisfied(wait)) {
      wait->actor      = actor;
      wait->registered = true;
      for (Ref<Activity> const& activity : wait->activities)
        if (not is_over(activity.get()))
          add_waiter(activity.get(), {actor, wait});
      if (wait->timeout >= 0)
        wait->timer = set_timer(now() + wait->timeout, Alarm::WAIT, self);
      block(actor, self);
      *result = Py_NewRef(Py_None);
      return PYGEN_NEXT;
    }
  } else if (not wait->timed_out && not satisfied(wait)) {
    PyErr_SetString(PyExc_RuntimeError, "this wait is being awaited already");
    return PYGEN_ERROR;
  }
  *result = outcome(wait);
  return *result == nullptr ? PYGEN_ERROR : PYGEN_RETURN;
}

PyObject* wait_next(PyObject* self)
{
  return next_by_hand(self, wait_send);
}

void wait_dealloc(PyObject* self)
{
  Wait* wait = cast(self);
  if (not wait->begun)
    never_awaited(self, wait->creator, wait->exceptions);
  destroy<Wait>(self);
}

PyAsyncMethods wait_async = {itself, nullptr, nullptr, wait_send};

PyTypeObject make_type()
{
  PyTypeObject type = blank_type();
  type.tp_name      = "simplugin.simulation._driver.Wait";
  type.tp_basicsize = sizeof(Wait);
  type.tp_dealloc   = wait_dealloc;
  type.tp_as_async  = &wait_async;
  type.tp_flags     = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION;
  type.tp_doc       = "An awaitable: one, any or all of some activities, within a time limit.";
  type.tp_iter      = itself;
  type.tp_iternext  = wait_next;
  return type;
}

} // namespace

PyTypeObject WaitType = make_type();

PyObject* new_wait(Wait::Mode mode, PyObject* activities, double timeout)
{
  auto const sequence = Ref<>::steal(PySequence_Fast(activities, "expected a sequence of activities"));
  if (not sequence)
    return nullptr;
  std::vector<Ref<Activity>> all;
  all.reserve(static_cast<size_t>(PySequence_Fast_GET_SIZE(sequence.get())));
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(sequence.get()); i++) {
    PyObject* item = PySequence_Fast_GET_ITEM(sequence.get(), i);
    if (Py_TYPE(item) != &ActivityType) {
      PyErr_Format(PyExc_TypeError, "expected activities, not %R", item);
      return nullptr;
    }
    all.push_back(Ref<Activity>::share(reinterpret_cast<Activity*>(item)));
    if (all.back()->state == State::INITED && not is_planned(all.back().get())) {
      PyErr_Format(PyExc_TypeError, "%R has not started; use the operation whose name ends in _async", item);
      return nullptr;
    }
  }
  if (all.empty() && mode == Wait::Mode::ANY) {
    PyErr_SetString(PyExc_ValueError, "wait_any needs at least one activity");
    return nullptr;
  }
  Ref<Wait> wait = create<Wait>(&WaitType);
  if (wait) {
    wait->mode       = mode;
    wait->timeout    = timeout;
    wait->creator    = sim.current;
    wait->exceptions = expect_await(wait.object(), sim.current);
    wait->activities = std::move(all);
  }
  return wait.give();
}

void unregister(Wait* wait)
{
  if (not wait->registered)
    return;
  wait->registered = false;
  forget_timer(wait->timer);
  for (Ref<Activity> const& activity : wait->activities)
    if (not is_over(activity.get()))
      remove_waiter(activity.get(), wait->actor);
}

void notify(Wait* wait, Activity* activity)
{
  if (not wait->registered)
    return;
  wait->missing--;
  bool const decisive = wait->mode != Wait::Mode::ALL || activity->state != State::FINISHED;
  if (decisive || wait->missing == 0) {
    unregister(wait);
    wake(wait->actor);
  }
}

void time_out(Wait* wait)
{
  if (not wait->registered)
    return;
  wait->timed_out = true;
  unregister(wait);
  wake(wait->actor);
}

} // namespace driver

// The awaitable that `await` sees: what it gives, what it raises, how it describes itself.

#include "activity.hpp"
#include "actor.hpp"
#include "arguments.hpp"
#include "disks.hpp"
#include "planned.hpp"
#include "platform.hpp"
#include "routes.hpp"
#include "scheduler.hpp"
#include "simulation.hpp"
#include "types.hpp"
#include "unawaited.hpp"
#include "wait.hpp"
#include "work.hpp"

namespace driver {

namespace {

char const* const kind_names[]  = {"execution", "parallel task", "read",        "write",   "transfer", "put",
                                   "get",       "message put",   "message get", "sleep",   "join",     "lock",
                                   "acquire",   "condition",     "barrier",     "suspend", "yield",    "choice"};
char const* const state_names[] = {"INITED", "STARTING", "STARTED", "FINISHED", "FAILED", "CANCELED"};

} // namespace

bool set_label(Activity* activity, PyObject* label)
{
  if (label == nullptr || label == Py_None)
    return true;
  if (not PyUnicode_Check(label)) { // the text of anything else may have its address
    PyErr_Format(PyExc_TypeError, "a label must be a str, not %R", label);
    return false;
  }
  activity->label = Ref<>::share(label);
  return true;
}

PyObject* itself(PyObject* self)
{
  return Py_NewRef(self);
}

PyObject* next_by_hand(PyObject* self, sendfunc send)
{
  PyObject* result        = nullptr;
  PySendResult const sent = send(self, Py_None, &result);
  if (sent != PYGEN_RETURN)
    return result;
  auto const returned = Ref<>::steal(result);
  auto const stop     = Ref<>::steal(PyObject_CallOneArg(PyExc_StopIteration, returned.get()));
  if (stop)
    PyErr_SetObject(PyExc_StopIteration, stop.get());
  return nullptr;
}

PyObject* to_be_awaited(Ref<Activity> activity)
{
  if (activity) {
    activity->unawaited  = true;
    activity->exceptions = expect_await(activity.object(), activity->owner);
  }
  return activity.give();
}

PyObject* blocking_operation(Kind kind, PyObject* target, double timeout)
{
  Actor* actor = running_actor("await");
  if (actor == nullptr)
    return nullptr;
  Ref<Activity> activity = new_activity(kind, actor);
  if (activity) {
    activity->target  = Ref<>::share(target);
    activity->timeout = timeout;
  }
  return to_be_awaited(std::move(activity));
}

PyObject* done_awaitable()
{
  Ref<Activity> activity = new_activity(Kind::YIELD, sim.current);
  if (activity)
    activity->state = State::FINISHED;
  return activity.give();
}

// ---- results --------------------------------------------------------------------------------------------------------

void raise_failure(Activity* activity, Failure failure)
{
  if (failure == Failure::ROUTE) {
    if (require_transfer(activity->source, activity->destination))
      PyErr_Format(error_class("NoRouteError"), "no transfer could start from '%s' to '%s'",
                   activity->source->host->get_cname(), activity->destination->host->get_cname());
    return;
  }
  char const* name    = "NetworkFailureException";
  std::string message = "a link of the route, or the partner, failed";
  if (failure == Failure::HOST) {
    name    = "HostFailureException";
    message = "the host failed";
  } else if (failure == Failure::STORAGE) {
    name    = "StorageFailureException";
    message = "the disk failed";
  } else if (failure == Failure::TIMEOUT) {
    name    = "TimeoutException";
    message = "the time limit was reached";
  } else if (failure == Failure::CANCEL) {
    name    = "CancelException";
    message = "it was cancelled";
  }
  PyObject* type = error_class(name);
  if (type == nullptr)
    return;
  std::string const words =
      activity == nullptr ? message : describe(reinterpret_cast<PyObject*>(activity)) + ": " + message;
  auto const error = Ref<>::steal(PyObject_CallFunction(type, "s", words.c_str()));
  if (not error)
    return;
  if (activity != nullptr)
    PyObject_SetAttrString(error.get(), "activity", reinterpret_cast<PyObject*>(activity));
  PyErr_SetObject(type, error.get());
}

PyObject* take_result(Activity* activity)
{
  if (activity->state != State::FINISHED) {
    raise_failure(activity, activity->failure);
    return nullptr;
  }
  bool const gives = activity->kind == Kind::GET || activity->kind == Kind::MESS_GET || activity->kind == Kind::JOIN ||
                     activity->kind == Kind::CONDITION || activity->kind == Kind::BARRIER ||
                     activity->kind == Kind::CHOICE;
  return Py_NewRef(gives && activity->payload ? activity->payload.get() : Py_None);
}

std::string describe(PyObject* waiting, bool with_plan)
{
  if (waiting == nullptr)
    return "nothing";
  if (Py_TYPE(waiting) == &WaitType) {
    auto const* wait = reinterpret_cast<Wait*>(waiting);
    std::string text = wait->mode == Wait::Mode::ALL ? "all of " : wait->mode == Wait::Mode::ANY ? "any of " : "";
    size_t shown     = 0;
    for (Ref<Activity> const& activity : wait->activities) {
      if (is_over(activity.get()))
        continue;
      if (++shown > 3) {
        text += ", ...";
        break;
      }
      text += (shown > 1 ? ", " : "") + describe(activity.object());
    }
    return text;
  }
  auto const* activity = reinterpret_cast<Activity*>(waiting);
  std::string text     = kind_names[static_cast<int>(activity->kind)];
  if (activity->target) {
    auto const name  = Ref<>::steal(PyObject_GetAttrString(activity->target.get(), "name"));
    char const* utf8 = name && PyUnicode_Check(name.get()) ? PyUnicode_AsUTF8(name.get()) : nullptr;
    if (utf8 != nullptr)
      text += std::string(" '") + utf8 + "'";
    PyErr_Clear();
  }
  if (uses_disk(activity->kind) && activity->target)
    text += " of " + disk_under(activity)->host->host->get_name();
  if (activity->kind == Kind::EXEC && activity->destination != nullptr)
    text += " on " + activity->destination->host->get_name();
  if (activity->kind == Kind::SENDTO || activity->peer != nullptr) {
    Activity const* carrier = activity->work != nullptr || activity->peer == nullptr ? activity : activity->peer;
    if (carrier->source != nullptr && carrier->destination != nullptr)
      text += " from " + carrier->source->host->get_name() + " to " + carrier->destination->host->get_name();
  }
  if (with_plan && activity->state == State::STARTING)
    describe_plan(activity, text);
  if (activity->suspended)
    text += " (suspended)";
  return text;
}

// ---- the Python type ------------------------------------------------------------------------------------------------

namespace {

Activity* cast(PyObject* self)
{
  return reinterpret_cast<Activity*>(self);
}

PySendResult activity_send(PyObject* self, PyObject* /*value*/, PyObject** result)
{
  Activity* activity = cast(self);
  Actor* actor       = running_actor("await");
  *result            = nullptr;
  if (actor == nullptr)
    return PYGEN_ERROR;
  if (activity->unawaited) {
    activity->unawaited = false;
    awaited(self);
  }
  if (actor->dying && not is_over(activity)) {
    raise_kill();
    return PYGEN_ERROR;
  }
  if (activity->state == State::INITED) {
    activity->owner = actor; // it is whose that awaits it
    if (not(activity->plan == nullptr ? start(activity) : start_planned(activity)))
      return PYGEN_ERROR;
    if (is_over(activity)) { // no time passes, but the others that are ready go first, as in SimGrid
      block(actor, self);
      wake(actor);
      *result = Py_NewRef(Py_None);
      return PYGEN_NEXT;
    }
    if (activity->timeout >= 0)
      activity->timer = set_timer(now() + activity->timeout, Alarm::TIMEOUT, self);
  }
  if (is_over(activity)) {
    *result = take_result(activity);
    return *result == nullptr ? PYGEN_ERROR : PYGEN_RETURN;
  }
  add_waiter(activity, {actor, nullptr});
  block(actor, self);
  *result = Py_NewRef(Py_None);
  return PYGEN_NEXT;
}

PyObject* activity_next(PyObject* self)
{
  return next_by_hand(self, activity_send);
}

void activity_dealloc(PyObject* self)
{
  Activity* activity = cast(self);
  if (activity->unawaited)
    never_awaited(self, activity->owner, activity->exceptions);
  // One after the other: a long chain of successors would overflow the stack.
  static std::vector<Ref<Activity>> following;
  static bool drops = false;
  if (activity->plan != nullptr)
    for (auto* const each : {&activity->plan->successors, &activity->plan->dependencies})
      std::move(each->begin(), each->end(), std::back_inserter(following));
  recycle(activity);
  if (std::exchange(drops, true))
    return;
  while (not following.empty()) {
    Ref<Activity> const dropped = std::move(following.back());
    following.pop_back();
  }
  drops = false;
}

PyObject* activity_wait(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords)
{
  static Signature signature{"wait", 1, 0, {"timeout"}};
  PyObject* values[1];
  double timeout;
  if (not parse(signature, args, count, keywords, values) || not number(values[0], "timeout", NEVER, timeout))
    return nullptr;
  if (timeout < 0 && cast(self)->state == State::INITED)
    return itself(self);
  auto const list = Ref<>::steal(PyTuple_Pack(1, self));
  return list ? new_wait(Wait::Mode::ONE, list.get(), timeout) : nullptr;
}

PyObject* activity_test(PyObject* self, PyObject* /*unused*/)
{
  if (cast(self)->state == State::INITED && is_planned(cast(self)) && not Ref<>::steal(activity_start(self, nullptr)))
    return nullptr;
  return PyBool_FromLong(is_over(cast(self)));
}

PyObject* activity_cancel(PyObject* self, PyObject* /*unused*/)
{
  if (cast(self)->state == State::INITED)
    cast(self)->state = State::STARTED;
  if (cast(self)->unawaited)
    awaited(self);
  cast(self)->unawaited = false;
  abort_activity(cast(self), State::CANCELED, Failure::CANCEL);
  Py_RETURN_NONE;
}

PyObject* activity_suspend(PyObject* self, PyObject* /*unused*/)
{
  if (is_planned(cast(self)))
    cast(self)->suspended = true; // as soon as it starts
  suspend_activity(cast(self));
  Py_RETURN_NONE;
}

PyObject* activity_resume(PyObject* self, PyObject* /*unused*/)
{
  if (cast(self)->suspended)
    resume_activity(cast(self));
  cast(self)->suspended = false;
  Py_RETURN_NONE;
}

PyObject* get_remaining(PyObject* self, void* /*closure*/)
{
  Activity const* activity = cast(self);
  Activity const* carrier  = activity->work != nullptr || activity->peer == nullptr ? activity : activity->peer;
  if (carrier->work != nullptr)
    return PyFloat_FromDouble(carrier->work->remaining());
  if (is_over(activity))
    return PyFloat_FromDouble(0.0);
  if (activity->kind == Kind::SLEEP && activity->state == State::STARTED)
    return PyFloat_FromDouble(activity->amount - (now() - activity->start));
  return PyFloat_FromDouble(activity->kind == Kind::PTASK ? 1.0 : activity->amount);
}

PyObject* get_state(PyObject* self, void* /*closure*/)
{
  return PyUnicode_FromString(state_names[static_cast<int>(cast(self)->state)]);
}

PyObject* get_kind(PyObject* self, void* /*closure*/)
{
  return PyUnicode_FromString(kind_names[static_cast<int>(cast(self)->kind)]);
}

PyObject* date_or_none(double date)
{
  if (date < 0)
    Py_RETURN_NONE;
  return PyFloat_FromDouble(date);
}

PyObject* get_start(PyObject* self, void* /*closure*/)
{
  return date_or_none(cast(self)->start);
}

PyObject* get_finish(PyObject* self, void* /*closure*/)
{
  return date_or_none(cast(self)->finish);
}

PyObject* get_result(PyObject* self, void* /*closure*/)
{
  if (cast(self)->state == State::FINISHED)
    return take_result(cast(self));
  Py_RETURN_NONE;
}

PyObject* get_label(PyObject* self, void* /*closure*/)
{
  return Py_NewRef(cast(self)->label ? cast(self)->label.get() : Py_None);
}

PyObject* get_host(PyObject* self, void* /*closure*/)
{
  Activity const* activity = cast(self);
  if (activity->kind != Kind::EXEC || activity->destination == nullptr)
    Py_RETURN_NONE;
  return Ref<Host>::share(activity->destination).give();
}

bool changeable(Activity const* activity, bool right_kind, PyObject const* value, const char* what)
{
  if (value != nullptr && right_kind && not is_over(activity))
    return true;
  PyErr_Format(PyExc_ValueError, "cannot change the %s of %s, which is over or has none", what,
               describe(reinterpret_cast<PyObject*>(const_cast<Activity*>(activity))).c_str());
  return false;
}

int set_host(PyObject* self, PyObject* value, void* /*closure*/)
{
  Activity* activity = cast(self);
  if (not changeable(activity, activity->kind == Kind::EXEC, value, "host"))
    return -1;
  if (is_planned(activity))
    return place(activity, activity->destination, value, "host") ? 0 : -1;
  Host* host = host_argument(value, nullptr);
  if (host == nullptr)
    return -1;
  if (activity->work != nullptr)
    migrate_execution(activity, host);
  else
    activity->destination = host;
  return 0;
}

PyObject* get_priority(PyObject* self, void* /*closure*/)
{
  return PyFloat_FromDouble(cast(self)->priority);
}

int set_priority(PyObject* self, PyObject* value, void* /*closure*/)
{
  double priority;
  bool const right_kind = cast(self)->kind == Kind::EXEC || uses_disk(cast(self)->kind);
  if (not changeable(cast(self), right_kind, value, "priority") || not quantity(value, "priority", priority) ||
      not positive(value, "priority", 1.0, priority))
    return -1;
  prioritise(cast(self), priority);
  return 0;
}

PyObject* activity_repr(PyObject* self)
{
  return PyUnicode_FromFormat("<Activity: %s, %s>", describe(self).c_str(),
                              state_names[static_cast<int>(cast(self)->state)]);
}

PyAsyncMethods activity_async = {itself, nullptr, nullptr, activity_send};

PyMethodDef activity_methods[] = {
    fast("wait", activity_wait, "Awaitable that ends with the activity, or after a time limit."),
    {"test", activity_test, METH_NOARGS, "Whether it is over, without waiting."},
    {"cancel", activity_cancel, METH_NOARGS, "End it now; who waits for it gets a CancelException."},
    {"suspend", activity_suspend, METH_NOARGS, "Stop its progress."},
    {"start", activity_start, METH_NOARGS, "Start it, now or when it can be."},
    {"detach", activity_detach, METH_NOARGS, "Start it, and let it outlive its actor."},
    {"add_successor", activity_add_successor, METH_O, "Let another one start after this one."},
    {"remove_successor", activity_remove_successor, METH_O, "Let another one no longer wait for this one."},
    {"resume", activity_resume, METH_NOARGS, "Let it progress again."},
    {nullptr, nullptr, 0, nullptr}};

PyGetSetDef activity_properties[] = {
    {"remaining", get_remaining, nullptr, "Work left [flop or byte].", nullptr},
    {"state", get_state, nullptr, "INITED, STARTED, FINISHED, ...", nullptr},
    {"kind", get_kind, nullptr, "Kind of activity.", nullptr},
    {"start_time", get_start, nullptr, "Date of its start [s].", nullptr},
    {"finish_time", get_finish, nullptr, "Date of its end [s].", nullptr},
    {"result", get_result, nullptr, "Result, once finished.", nullptr},
    {"host", get_host, set_host, "Host of an execution.", nullptr},
    {"source", get_source, set_source, "Source of a direct transfer.", nullptr},
    {"destination", get_destination, set_destination, "Destination of a direct transfer.", nullptr},
    {"disk", get_disk, set_disk, "Disk of a read or write.", nullptr},
    {"dependencies", activity_dependencies, nullptr, "Activities that it starts after.", nullptr},
    {"priority", get_priority, set_priority, "Share of its host or disk.", nullptr},
    {"label", get_label, nullptr, "Label in the trace.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyTypeObject make_type()
{
  PyTypeObject type = blank_type();
  type.tp_name      = "simplugin.simulation._driver.Activity";
  type.tp_basicsize = sizeof(Activity);
  type.tp_dealloc   = activity_dealloc;
  type.tp_repr      = activity_repr;
  type.tp_as_async  = &activity_async;
  type.tp_flags     = Py_TPFLAGS_DEFAULT;
  type.tp_doc       = "Something that takes simulated time, or a wait for another actor.";
  type.tp_iter      = itself;
  type.tp_iternext  = activity_next;
  type.tp_methods   = activity_methods;
  type.tp_getset    = activity_properties;
  return type;
}

} // namespace

PyTypeObject ActivityType = make_type();

} // namespace driver

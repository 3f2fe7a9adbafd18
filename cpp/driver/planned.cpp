// Activities before they start: assigned later, and started when others are over.

#include "planned.hpp"

#include "activity.hpp"
#include "actor.hpp"
#include "disks.hpp"
#include "platform.hpp"
#include "simulation.hpp"

#include <algorithm>

namespace driver {

namespace {

Activity* cast(PyObject* self)
{
  return reinterpret_cast<Activity*>(self);
}

using Activities = std::vector<Ref<Activity>>;

Activities::iterator find(Activities& among, Activity const* activity)
{
  return std::find_if(among.begin(), among.end(), [activity](auto const& each) { return each.get() == activity; });
}

void drop(Activities& among, Activity const* activity)
{
  auto const found = find(among, activity);
  if (found != among.end())
    among.erase(found);
}

bool is_assigned(Activity const* activity)
{
  if (activity->kind == Kind::EXEC)
    return activity->destination != nullptr;
  if (activity->kind == Kind::SENDTO)
    return activity->source != nullptr && activity->destination != nullptr;
  return activity->kind == Kind::PTASK || activity->target; // a disk or mailbox
}

bool start_if_ready(Activity* activity)
{
  if (activity->state != State::STARTING || not activity->plan->dependencies.empty() || not is_assigned(activity))
    return true;
  auto const kept = Ref<Activity>::share(activity);
  disown(activity); // starting owns it
  bool const suspended = std::exchange(activity->suspended, false);
  bool const good      = start(activity);
  if (suspended)
    suspend_activity(activity);
  return good;
}

bool require_planned(Activity const* activity, const char* operation)
{
  if (is_planned(activity))
    return true;
  PyErr_Format(PyExc_ValueError, "%s: %s must come from an operation whose name ends in _init, and not have started",
               operation, describe(reinterpret_cast<PyObject*>(const_cast<Activity*>(activity))).c_str());
  return false;
}

Activity* successor_argument(Activity* activity, PyObject* value)
{
  if (Py_TYPE(value) != &ActivityType) {
    PyErr_Format(PyExc_TypeError, "expected an activity, not %R", value);
    return nullptr;
  }
  Activity* successor = cast(value);
  if (successor == activity) {
    PyErr_SetString(PyExc_ValueError, "an activity cannot be its own successor");
    return nullptr;
  }
  return successor;
}

} // namespace

PyObject* launch(Ref<Activity> activity, Launch when)
{
  if (when == Launch::WHEN_AWAITED || not activity)
    return to_be_awaited(std::move(activity));
  if (when == Launch::LATER) {
    activity->plan = std::make_unique<Plan>();
    return activity.give();
  }
  return start(activity.get()) ? activity.give() : nullptr;
}

bool is_planned(Activity const* activity)
{
  return activity->plan != nullptr && activity->state <= State::STARTING;
}

bool start_planned(Activity* activity)
{
  activity->state = State::STARTING;
  activity->owner = sim.current; // it is whose that starts it
  if (activity->kind != Kind::SENDTO)
    own(activity);
  return start_if_ready(activity);
}

/// In SimGrid's order: the last added first.
void release_successors(Activity* activity)
{
  for (Activities left = std::move(activity->plan->successors); not left.empty(); left.pop_back()) {
    Activity* successor = left.back().get();
    drop(successor->plan->dependencies, activity);
    start_if_ready(successor);
  }
}

void describe_plan(Activity const* activity, std::string& text)
{
  if (not is_assigned(activity))
    text += " (not assigned)";
  else if (not activity->plan->dependencies.empty())
    text += " (after " + describe(activity->plan->dependencies.front().object(), false) + ")";
}

PyObject* activity_start(PyObject* self, PyObject* /*unused*/)
{
  if (running_actor("start") == nullptr)
    return nullptr;
  if (not require_planned(cast(self), "start") || (cast(self)->state == State::INITED && not start_planned(cast(self))))
    return nullptr;
  return itself(self);
}

PyObject* activity_detach(PyObject* self, PyObject* /*unused*/)
{
  Activity* activity = cast(self);
  if (running_actor("detach") == nullptr || not require_planned(activity, "detach"))
    return nullptr;
  if (activity->kind == Kind::GET) {
    PyErr_SetString(PyExc_ValueError, "SimGrid detaches no get");
    return nullptr;
  }
  activity->detached = true;
  disown(activity);
  if (activity->state == State::INITED && not start_planned(activity))
    return nullptr;
  Py_RETURN_NONE;
}

PyObject* activity_add_successor(PyObject* self, PyObject* value)
{
  Activity* activity  = cast(self);
  Activity* successor = successor_argument(activity, value);
  if (successor == nullptr || not require_planned(successor, "add_successor"))
    return nullptr;
  if (activity->unawaited || (is_over(activity) && activity->state != State::FINISHED)) {
    PyErr_Format(PyExc_ValueError, "nothing can start after %R", self);
    return nullptr;
  }
  if (activity->state == State::FINISHED)
    return itself(self);
  if (find(successor->plan->dependencies, activity) != successor->plan->dependencies.end()) {
    PyErr_Format(PyExc_ValueError, "%R is a successor already", value);
    return nullptr;
  }
  if (activity->plan == nullptr)
    activity->plan = std::make_unique<Plan>();
  activity->plan->successors.push_back(Ref<Activity>::share(successor));
  successor->plan->dependencies.push_back(Ref<Activity>::share(activity));
  return itself(self);
}

PyObject* activity_remove_successor(PyObject* self, PyObject* value)
{
  Activity* activity  = cast(self);
  Activity* successor = successor_argument(activity, value);
  if (successor == nullptr)
    return nullptr;
  if (activity->plan == nullptr || find(activity->plan->successors, successor) == activity->plan->successors.end()) {
    PyErr_Format(PyExc_ValueError, "%R is no successor", value);
    return nullptr;
  }
  drop(activity->plan->successors, successor);
  drop(successor->plan->dependencies, activity);
  return start_if_ready(successor) ? itself(self) : nullptr;
}

PyObject* activity_dependencies(PyObject* self, void* /*closure*/)
{
  auto list = Ref<>::steal(PyList_New(0));
  if (list && cast(self)->plan != nullptr)
    for (Ref<Activity> const& each : cast(self)->plan->dependencies)
      if (PyList_Append(list.get(), each.object()) != 0)
        return nullptr;
  return list.give();
}

// ---- where it is to run ---------------------------------------------------------------------------------------------

bool place(Activity* activity, Host*& where, PyObject* value, const char* what)
{
  if (value == nullptr || not require_planned(activity, what))
    return false;
  Host* host = value == Py_None ? nullptr : host_argument(value, nullptr);
  if (host == nullptr && value != Py_None)
    return false;
  where = host;
  return start_if_ready(activity);
}

namespace {

PyObject* host_or_none(Activity const* activity, Host* host)
{
  return is_communication(activity->kind) && host != nullptr ? Ref<Host>::share(host).give() : Py_NewRef(Py_None);
}

bool require_kind(Activity const* activity, bool right, PyObject const* value, const char* what)
{
  if (right && value != nullptr)
    return true;
  PyErr_Format(PyExc_ValueError, "%s has no %s to be set",
               describe(reinterpret_cast<PyObject*>(const_cast<Activity*>(activity))).c_str(), what);
  return false;
}

} // namespace

PyObject* get_source(PyObject* self, void* /*closure*/)
{
  return host_or_none(cast(self), cast(self)->source);
}

PyObject* get_destination(PyObject* self, void* /*closure*/)
{
  return host_or_none(cast(self), cast(self)->destination);
}

int set_source(PyObject* self, PyObject* value, void* /*closure*/)
{
  Activity* activity = cast(self);
  bool const good    = require_kind(activity, activity->kind == Kind::SENDTO, value, "source") &&
                       place(activity, activity->source, value, "source");
  return good ? 0 : -1;
}

int set_destination(PyObject* self, PyObject* value, void* /*closure*/)
{
  Activity* activity = cast(self);
  bool const good    = require_kind(activity, activity->kind == Kind::SENDTO, value, "destination") &&
                       place(activity, activity->destination, value, "destination");
  return good ? 0 : -1;
}

PyObject* get_disk(PyObject* self, void* /*closure*/)
{
  Activity const* activity = cast(self);
  return Py_NewRef(uses_disk(activity->kind) && activity->target ? activity->target.get() : Py_None);
}

int set_disk(PyObject* self, PyObject* value, void* /*closure*/)
{
  Activity* activity = cast(self);
  if (not require_kind(activity, uses_disk(activity->kind), value, "disk") || not require_planned(activity, "disk"))
    return -1;
  if (value != Py_None && Py_TYPE(value) != &DiskType) {
    PyErr_Format(PyExc_TypeError, "expected a disk, not %R", value);
    return -1;
  }
  activity->target = value == Py_None ? Ref<>() : Ref<>::share(value);
  return start_if_ready(activity) ? 0 : -1;
}

} // namespace driver

// Functions of the user's: shares and factors, which the models ask for, and monitors, which hear what happens.
//
// The Python side hands over functions that raise nothing: what goes wrong in a user's ends the simulation there.

#include "callbacks.hpp"

#include "activity.hpp"
#include "actor.hpp"
#include "disks.hpp"
#include "platform.hpp"
#include "plugins.hpp"
#include "record.hpp"
#include "simulation.hpp"
#include "zero_capacity.hpp"

#include <string_view>
#include <unordered_set>

namespace driver {

namespace {

PyObject* monitor = nullptr;         // of activities
std::vector<Ref<>> ended_activities; // rows that it has not heard of yet

void tell(PyObject* function, Ref<> const& arguments)
{
  if (not arguments || not Ref<>::steal(PyObject_CallObject(function, arguments.get())))
    PyErr_WriteUnraisable(function);
}

double ask(PyObject* function, Ref<> const& arguments, double otherwise)
{
  auto const answer  = Ref<>::steal(arguments ? PyObject_CallObject(function, arguments.get()) : nullptr);
  double const value = answer ? PyFloat_AsDouble(answer.get()) : -1.0;
  if (PyErr_Occurred() == nullptr)
    return value;
  PyErr_WriteUnraisable(function);
  return otherwise;
}

/// (size, source, destination, links, names of zones), as SimGrid gives them.
Ref<> transfer_arguments(double size, s4u::Host const* source, s4u::Host const* destination,
                         std::vector<s4u::Link*> const& route, std::unordered_set<s4u::NetZone*> const& zones)
{
  auto links = Ref<>::steal(PyList_New(0)), names = Ref<>::steal(PyList_New(0));
  bool good = links && names;
  for (s4u::Link* link : route) {
    auto const item = Ref<>::steal(link_object(link));
    good            = good && item && PyList_Append(links.get(), item.get()) == 0;
  }
  // NOLINTNEXTLINE(bugprone-nondeterministic-pointer-iteration-order): they are sorted below
  for (s4u::NetZone const* zone : zones) {
    Ref<> const name = text(zone->get_name());
    good             = good && name && PyList_Append(names.get(), name.get()) == 0;
  }
  if (not good || PyList_Sort(names.get()) != 0)
    return {};
  return Ref<>::steal(Py_BuildValue("(dOOOO)", size, host_of(source), host_of(destination), links.get(), names.get()));
}

auto factor(PyObject* function)
{
  return [function = Py_NewRef(function)](double size, s4u::Host const* source, s4u::Host const* destination,
                                          std::vector<s4u::Link*> const& links,
                                          std::unordered_set<s4u::NetZone*> const& zones) {
    Lock const lock;
    return ask(function, transfer_arguments(size, source, destination, links, zones), 1.0);
  };
}

PyObject* set_factors(PyObject* /*module*/, PyObject* args)
{
  PyObject *bandwidth, *latency;
  if (not PyArg_ParseTuple(args, "OO", &bandwidth, &latency))
    return nullptr;
  s4u::NetZone const* root = s4u::Engine::get_instance()->get_netzone_root();
  if (bandwidth != Py_None)
    root->set_bandwidth_factor_cb(factor(bandwidth));
  if (latency != Py_None)
    root->set_latency_factor_cb(factor(latency));
  Py_RETURN_NONE;
}

/// The disk of a host, by "host:disk".
s4u::Disk* disk_by_name(std::string_view name)
{
  for (s4u::Host const* host : platform_hosts())
    for (s4u::Disk* disk : host->get_disks())
      if (host->get_name() + ":" + disk->get_name() == name)
        return disk;
  return nullptr;
}

PyObject* share(PyObject* /*module*/, PyObject* args)
{
  char const *kind_given, *name;
  PyObject* function;
  if (not PyArg_ParseTuple(args, "ssO", &kind_given, &name, &function))
    return nullptr;
  std::string_view const kind = kind_given;
  if (kind == "link" && s4u::Link::by_name(name)->get_sharing_policy() == s4u::Link::SharingPolicy::WIFI) {
    PyErr_Format(error_class("SimulationError"), "SimGrid shares the Wi-Fi link '%s' by rules of its own", name);
    return nullptr;
  }
  auto const capacity = [function = Py_NewRef(function)](double whole, int count) {
    if (whole <= NOTHING) // it stands still
      return whole;
    Lock const lock;
    return ask(function, Ref<>::steal(Py_BuildValue("(di)", whole, count)), whole);
  };
  if (kind == "host")
    s4u::Host::by_name(name)->set_sharing_policy(s4u::Host::SharingPolicy::NONLINEAR, capacity);
  else if (kind == "link")
    s4u::Link::by_name(name)->set_sharing_policy(s4u::Link::SharingPolicy::NONLINEAR, capacity);
  else
    disk_by_name(name)->set_sharing_policy(kind == "disk_read" ? s4u::Disk::Operation::READ
                                                               : s4u::Disk::Operation::WRITE,
                                           s4u::Disk::SharingPolicy::NONLINEAR, capacity);
  Py_RETURN_NONE;
}

PyObject* monitor_links(PyObject* /*module*/, PyObject* function)
{
  s4u::Link::on_onoff_cb([function = Py_NewRef(function)](s4u::Link const& link) {
    Lock const lock;
    tell(function, Ref<>::steal(Py_BuildValue("(dsO)", now(), link.get_cname(), link.is_on() ? Py_True : Py_False)));
  });
  Py_RETURN_NONE;
}

PyObject* monitor_hosts(PyObject* /*module*/, PyObject* function)
{
  s4u::Host::on_onoff_cb([function = Py_NewRef(function)](s4u::Host const& host) {
    Lock const lock;
    tell(function, Ref<>::steal(Py_BuildValue("(dsO)", now(), host.get_cname(), host.is_on() ? Py_True : Py_False)));
  });
  Py_RETURN_NONE;
}

PyObject* monitor_activities(PyObject* /*module*/, PyObject* function)
{
  monitor     = Py_NewRef(function);
  sim.tracing = true;
  Py_RETURN_NONE;
}

} // namespace

void announce(Activity const* activity, int kind, int state, double amount)
{
  if (monitor != nullptr)
    ended_activities.push_back(Ref<>::steal(
        Py_BuildValue("(OsiOdddi)", activity->owner->name.get(), resource_name(activity).c_str(), kind,
                      activity->label ? activity->label.get() : Py_None, activity->start, now(), amount, state)));
}

/// Between the steps of actors, where nothing that a monitor does can come in between.
void tell_monitors()
{
  if (not ended_activities.empty())
    for (Ref<> const& row : std::exchange(ended_activities, {}))
      tell(monitor, row);
  if (sim.error != nullptr)
    end_run();
}

PyMethodDef callback_functions[] = {
    {"set_factors", set_factors, METH_VARARGS,
     "set_factors(bandwidth, latency): functions (size, source, destination, links, zones) -> factor, or None."},
    {"share", share, METH_VARARGS, "share(kind, name, function): function(capacity, count) gives the capacity."},
    {"monitor_links", monitor_links, METH_O, "Call a function (date, link, on) whenever a link goes off or on."},
    {"monitor_hosts", monitor_hosts, METH_O, "Call a function (date, host, on) whenever a host goes off or on."},
    {"monitor_activities", monitor_activities, METH_O,
     "Call a function (actor, resource, kind, label, start, end, amount, state) with each activity that has ended."},
    {nullptr, nullptr, 0, nullptr}};

} // namespace driver

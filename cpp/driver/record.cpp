// What is kept of a run: totals of hosts and links, and the trace.

#include "record.hpp"

#include "activity.hpp"
#include "actor.hpp"
#include "arguments.hpp"
#include "callbacks.hpp"
#include "disks.hpp"
#include "platform.hpp"
#include "plugins.hpp"
#include "routes.hpp"
#include "simulation.hpp"
#include "work.hpp"

#include <cmath>
#include <cstdlib>
#include <unordered_map>

#include <simgrid/plugins/energy.h>

namespace driver {

namespace {

/// Whether it computes: what is suspended and what stands still does not.
bool is_busy(Host const* host)
{
  return host->running > host->suspended && not host->stopped;
}

/// SimGrid's plug-in bills a link that is off as one that is idle.
struct OffLink {
  double watts;        // its wattage_off
  double since  = 0.0; // it went off [s]
  double billed = 0.0; // by the plug-in until then [J]
  double more   = 0.0; // to be added for when it was off before [J]
};
std::unordered_map<s4u::Link const*, OffLink> off_links;

double energy_when_off(OffLink const& off, double billed)
{
  return off.more + off.watts * (now() - off.since) - (billed - off.billed);
}

/// One column a field, as they are handed over.
struct Trace {
  std::vector<int32_t> actor, resource, label;
  std::vector<int8_t> kind, state;
  std::vector<double> start, end, amount;
  std::vector<std::string> resource_names;
  std::unordered_map<Host const*, int32_t> host_codes;
  PyObject* label_codes = nullptr; // str -> int
  int64_t bytes         = 0;       // that all this occupies, about
} trace;

constexpr int64_t ROW  = 3 * sizeof(int32_t) + 2 * sizeof(int8_t) + 3 * sizeof(double);
constexpr int64_t TEXT = 100; // and its characters

int32_t new_resource(std::string name)
{
  trace.bytes += TEXT + static_cast<int64_t>(name.size());
  trace.resource_names.push_back(std::move(name));
  return static_cast<int32_t>(trace.resource_names.size()) - 1;
}

int32_t host_code(Host const* host)
{
  auto const found = trace.host_codes.find(host);
  if (found != trace.host_codes.end())
    return found->second;
  return trace.host_codes[host] = new_resource(host->host->get_name());
}

int32_t resource_of(Activity const* activity)
{
  if (activity->kind == Kind::PTASK)
    return new_resource(resource_name(activity));
  if (uses_disk(activity->kind)) {
    Disk* const disk = disk_under(activity);
    if (disk->resource < 0)
      disk->resource = new_resource(resource_name(activity));
    return disk->resource;
  }
  if (not is_communication(activity->kind))
    return host_code(activity->destination);
  if (activity->pair->resource < 0)
    activity->pair->resource = new_resource(resource_name(activity));
  return activity->pair->resource;
}

int32_t label_of(PyObject* label)
{
  if (label == nullptr)
    return -1;
  if (trace.label_codes == nullptr)
    trace.label_codes = PyDict_New();
  if (PyObject* known = PyDict_GetItem(trace.label_codes, label); known != nullptr)
    return static_cast<int32_t>(PyLong_AsLong(known));
  Py_ssize_t const next = PyDict_Size(trace.label_codes);
  PyDict_SetItem(trace.label_codes, label, Ref<>::steal(PyLong_FromSsize_t(next)).get());
  trace.bytes += TEXT + static_cast<int64_t>(PyUnicode_GET_LENGTH(label));
  return static_cast<int32_t>(next);
}

template <class T> Ref<> bytes_of(std::vector<T> column)
{
  return Ref<>::steal(PyBytes_FromStringAndSize(reinterpret_cast<char const*>(column.data()),
                                                static_cast<Py_ssize_t>(column.size() * sizeof(T))));
}

Ref<> names_of(std::vector<std::string> const& names)
{
  auto list = Ref<>::steal(PyList_New(0));
  for (std::string const& name : names) {
    Ref<> const item = text(name);
    if (not list || not item || PyList_Append(list.get(), item.get()) != 0)
      return {};
  }
  return list;
}

bool collect_hosts(PyObject* into)
{
  std::vector<std::string> names;
  std::vector<double> flops, busy, energy;
  for (s4u::Host* host : platform_hosts()) {
    Host const* known = host_of(host);
    names.push_back(host->get_name());
    flops.push_back(known->flops);
    busy.push_back(known->busy + (is_busy(known) ? now() - known->busy_since : 0.0));
    energy.push_back(host_energy(host));
  }
  return put(into, "host_names", names_of(names)) && put(into, "host_flops", bytes_of(flops)) &&
         put(into, "host_busy", bytes_of(busy)) && put(into, "host_energy", bytes_of(energy));
}

bool collect_links(PyObject* into)
{
  std::unordered_map<s4u::Link const*, double> carried;
  bool const has_links = sim.engine->get_link_count() > 0; // the model Constant has none, and no routes
  for (Pair const& pair : all_pairs()) {
    if (pair.bytes == 0 || not has_links)
      continue;
    std::vector<s4u::Link*> route;
    double latency = 0.0;
    pair.source->host->route_to(pair.destination->host, route, &latency);
    for (s4u::Link const* link : route)
      carried[link] += pair.bytes;
  }
  std::vector<std::string> names;
  std::vector<double> bytes, energy;
  for (s4u::Link* link : platform_links()) {
    auto const found = carried.find(link);
    names.push_back(link->get_name());
    bytes.push_back(found == carried.end() ? 0.0 : found->second);
    energy.push_back(link_energy(link));
  }
  return put(into, "link_names", names_of(names)) && put(into, "link_bytes", bytes_of(bytes)) &&
         put(into, "link_energy", bytes_of(energy));
}

Ref<> collect_trace()
{
  auto made         = Ref<>::steal(PyDict_New());
  auto* into        = made.get();
  auto const labels = Ref<>::steal(trace.label_codes == nullptr ? PyList_New(0) : PyDict_Keys(trace.label_codes));
  bool const good =
      made && put(into, "actor_code", bytes_of(std::move(trace.actor))) &&
      put(into, "resource_code", bytes_of(std::move(trace.resource))) &&
      put(into, "resource_names", names_of(trace.resource_names)) &&
      put(into, "kind", bytes_of(std::move(trace.kind))) && put(into, "label_code", bytes_of(std::move(trace.label))) &&
      put(into, "label_names", labels) && put(into, "start", bytes_of(std::move(trace.start))) &&
      put(into, "end", bytes_of(std::move(trace.end))) && put(into, "amount", bytes_of(std::move(trace.amount))) &&
      put(into, "state", bytes_of(std::move(trace.state)));
  return good ? made : Ref<>();
}

Ref<> collect_returned()
{
  Py_ssize_t const count = PyList_GET_SIZE(sim.actors);
  auto list              = Ref<>::steal(PyList_New(count));
  for (Py_ssize_t i = 0; list && i < count; i++) {
    auto const* actor = reinterpret_cast<Actor*>(PyList_GET_ITEM(sim.actors, i));
    char const* state = actor->phase != Actor::Phase::ENDED ? "running" : actor->killed ? "killed" : "ended";
    PyObject* value   = actor->value ? actor->value.get() : Py_None;
    PyObject* row     = Py_BuildValue("(OsOs)", actor->name.get(), actor->host->host->get_cname(), value, state);
    if (row == nullptr)
      return {};
    PyList_SET_ITEM(list.get(), i, row);
  }
  return list;
}

bool has_energy(s4u::Host const* host)
{
  return sim.host_energy && host->get_property("wattage_per_state") != nullptr; // else SimGrid would abort
}

} // namespace

std::string resource_name(Activity const* activity)
{
  if (is_communication(activity->kind))
    return activity->source->host->get_name() + "->" + activity->destination->host->get_name();
  if (uses_disk(activity->kind)) {
    s4u::Disk const* disk = disk_under(activity)->disk;
    return disk->get_host()->get_name() + ":" + disk->get_name();
  }
  if (activity->kind != Kind::PTASK)
    return activity->destination->host->get_name();
  std::string names;
  for (Host const* host : activity->parallel->hosts)
    names += (names.empty() ? "" : ",") + host->host->get_name();
  return names;
}

double host_energy(s4u::Host const* host)
{
  return has_energy(host) ? peek<simgrid::plugin::HostEnergy>(host, sg_host_get_consumed_energy)
                          : std::numeric_limits<double>::quiet_NaN();
}

void note_energy(s4u::Host const* host)
{
  if (has_energy(host))
    sg_host_get_consumed_energy(host);
}

double link_energy(s4u::Link const* link)
{
  // The plug-in hears nothing of parallel tasks.
  bool const heard = sim.link_energy && not takes_parallel_tasks();
  if (not heard || link->get_sharing_policy() == s4u::Link::SharingPolicy::WIFI)
    return std::numeric_limits<double>::quiet_NaN();
  double const billed = peek<simgrid::plugin::LinkEnergy>(link, sg_link_get_consumed_energy);
  auto const off      = off_links.find(link);
  return off == off_links.end() ? billed
         : link->is_on()        ? billed + off->second.more
                                : billed + energy_when_off(off->second, billed);
}

bool note_link_watts()
{
  for (s4u::Link const* link : platform_links()) {
    char const* const given = link->get_property("wattage_off");
    if (given == nullptr || link->get_sharing_policy() == s4u::Link::SharingPolicy::WIFI)
      continue;
    char* end          = nullptr;
    double const watts = std::strtod(given, &end);
    if (*given == '\0' || *end != '\0' || not(watts >= 0 && std::isfinite(watts))) {
      PyErr_Format(error_class("PlatformError"), "link '%s' has the wattage_off '%s'; give a number of watts",
                   link->get_cname(), given);
      return false;
    }
    off_links.emplace(link, OffLink{watts});
  }
  if (not off_links.empty()) // after the plug-in has heard of it
    s4u::Link::on_onoff_cb([](s4u::Link const& link) {
      auto const found = off_links.find(&link);
      if (found == off_links.end())
        return;
      OffLink& off = found->second;
      if (link.is_on())
        off.more = energy_when_off(off, sg_link_get_consumed_energy(&link));
      off.since  = now();
      off.billed = sg_link_get_consumed_energy(&link);
    });
  return true;
}

void note_use(Host* host, int executions, int suspended, bool stopped)
{
  bool const was_busy = is_busy(host);
  host->running += executions;
  host->suspended += suspended;
  host->stopped = stopped;
  if (was_busy && not is_busy(host))
    host->busy += now() - host->busy_since;
  else if (is_busy(host) && not was_busy)
    host->busy_since = now();
}

namespace {

void add_row(Activity* activity, State outcome, double amount)
{
  int8_t const kind  = activity->kind == Kind::EXEC    ? 0
                       : activity->kind == Kind::PTASK ? 1
                       : activity->kind == Kind::READ  ? 4
                       : activity->kind == Kind::WRITE ? 5
                       : activity->kind == Kind::SLEEP ? 3
                                                       : 2;
  int8_t const state = outcome == State::FINISHED ? 0 : outcome == State::FAILED ? 1 : 2;
  announce(activity, kind, state, amount);
  if (sim.trace_limit == 0) // only a monitor asks
    return;
  trace.actor.push_back(static_cast<int32_t>(activity->owner->pid) - 1);
  trace.resource.push_back(resource_of(activity));
  trace.label.push_back(label_of(activity->label.get()));
  trace.kind.push_back(kind);
  trace.state.push_back(state);
  trace.start.push_back(activity->start);
  trace.end.push_back(now());
  trace.amount.push_back(amount);
}

} // namespace

void record(Activity* activity, State outcome, double amount)
{
  try {
    add_row(activity, outcome, amount);
    trace.bytes += ROW;
  } catch (std::bad_alloc const&) {
    trace.bytes = sim.trace_limit + 1;
  }
  if (sim.trace_limit > 0 && trace.bytes > sim.trace_limit) {
    sim.tracing    = false;
    sim.trace_full = true;
  }
}

PyObject* collect()
{
  auto made       = Ref<>::steal(PyDict_New());
  auto* into      = made.get();
  bool const good = made && put(into, "clock", Ref<>::steal(PyFloat_FromDouble(now()))) && collect_hosts(into) &&
                    collect_links(into) && put(into, "trace", collect_trace()) &&
                    put(into, "returned", collect_returned());
  return good ? made.give() : nullptr;
}

} // namespace driver

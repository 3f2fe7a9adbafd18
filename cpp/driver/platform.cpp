// Hosts, links and routes as actors see them.

#include "platform.hpp"

#include "actor.hpp"
#include "arguments.hpp"
#include "disks.hpp"
#include "plugins.hpp"
#include "record.hpp"
#include "routes.hpp"
#include "simulation.hpp"
#include "transfers.hpp"
#include "types.hpp"
#include "work.hpp"
#include "zero_capacity.hpp"

#include <unordered_map>

#include <simgrid/Exception.hpp>

namespace driver {

namespace {

struct Link {
  PyObject ob_base{}; // PyObject_HEAD
  s4u::Link* link = nullptr;
  Ref<> properties;
};

// With a reference to each: they live as long as the process.
std::unordered_map<s4u::Host const*, Host*> hosts;
std::unordered_map<s4u::Link const*, Link*> links;

// SimGrid changes the available speed by profiles only. Access control does not apply to the arguments of an explicit
// instantiation.
using simgrid::kernel::resource::CpuImpl;
double& available_speed_of(CpuImpl& cpu);
template <auto Member> struct Reveal {
  friend double& available_speed_of(CpuImpl& cpu) { return (cpu.*Member).scale; }
};
template struct Reveal<&CpuImpl::speed_>;

s4u::Host* host_in(PyObject* self)
{
  return reinterpret_cast<Host*>(self)->host;
}

s4u::Link* link_in(PyObject* self)
{
  return reinterpret_cast<Link*>(self)->link;
}

/// What is found by a name, a str; null characters are part of it. Null with an exception set.
template <class Find> auto* find_named(PyObject* name, const char* what, Find find)
{
  Py_ssize_t size        = 0;
  char const* const utf8 = PyUnicode_AsUTF8AndSize(name, &size);
  auto* const found      = utf8 == nullptr ? nullptr : find(std::string(utf8, static_cast<size_t>(size)));
  if (utf8 != nullptr && found == nullptr)
    PyErr_Format(error_class("SimpluginError"), "the platform has no %s %R", what, name);
  return found;
}

} // namespace

bool change(std::function<void()> const& body)
{
  if (s4u::Actor::is_maestro()) {
    body();
    return true;
  }
  bool killed                = false;
  PyThreadState* const state = PyEval_SaveThread();
  try {
    body();
  } catch (simgrid::ForcefulKillException const&) {
    killed = true;
  }
  PyEval_RestoreThread(state);
  if (killed) {
    static PyObject* const bindings = PyImport_ImportModule("simplugin.simulation.threads.simgrid");
    auto const kind                 = Ref<>::steal(PyObject_GetAttrString(bindings, "ActorKilled"));
    PyErr_SetString(kind.get(), "killed");
  }
  return not killed;
}

namespace {

/// After something that may have turned off the caller's own host.
PyObject* unless_dying()
{
  if (sim.current != nullptr && sim.current->dying) {
    raise_kill();
    return nullptr;
  }
  Py_RETURN_NONE;
}

PyObject* energy_error()
{
  PyErr_SetString(error_class("SimpluginError"), "energy is not measured; run simulate(..., energy=True)");
  return nullptr;
}

// ---- host -----------------------------------------------------------------------------------------------------------

PyObject* host_name(PyObject* self, void* /*closure*/)
{
  return text(host_in(self)->get_name()).give();
}
PyObject* host_speed(PyObject* self, void* /*closure*/)
{
  return PyFloat_FromDouble(host_in(self)->get_speed());
}
PyObject* host_available_speed(PyObject* self, void* /*closure*/)
{
  return PyFloat_FromDouble(host_in(self)->get_available_speed());
}
PyObject* host_cores(PyObject* self, void* /*closure*/)
{
  return PyLong_FromLong(host_in(self)->get_core_count());
}
PyObject* host_load(PyObject* self, void* /*closure*/)
{
  return require_load() ? PyFloat_FromDouble(load_of(host_in(self)->get_load())) : nullptr;
}
PyObject* get_host_figures(PyObject* self, void* /*closure*/)
{
  return host_figures(host_in(self));
}
PyObject* reset_host_figures(PyObject* self, PyObject* /*unused*/)
{
  return reset_figures(host_in(self));
}
PyObject* host_is_on(PyObject* self, void* /*closure*/)
{
  return PyBool_FromLong(host_in(self)->is_on());
}
PyObject* host_properties(PyObject* self, void* /*closure*/)
{
  return properties_dict(reinterpret_cast<Host*>(self)->properties, host_in(self)->get_properties());
}
PyObject* host_disks(PyObject* self, void* /*closure*/)
{
  return disks_of(reinterpret_cast<Host*>(self));
}
PyObject* host_pstate(PyObject* self, void* /*closure*/)
{
  return PyLong_FromUnsignedLong(host_in(self)->get_pstate());
}
PyObject* host_pstate_count(PyObject* self, void* /*closure*/)
{
  return PyLong_FromUnsignedLong(host_in(self)->get_pstate_count());
}

bool valid_pstate(PyObject* self, long pstate)
{
  if (PyErr_Occurred())
    return false;
  auto const count = static_cast<long>(host_in(self)->get_pstate_count());
  if (pstate >= 0 && pstate < count)
    return true;
  PyErr_Format(PyExc_ValueError, "host '%s' has pstates 0 to %ld, not %ld", host_in(self)->get_cname(), count - 1,
               pstate);
  return false;
}

int set_host_available_speed(PyObject* self, PyObject* value, void* /*closure*/)
{
  return set_available_speed(host_in(self), value == nullptr ? Py_None : value) ? 0 : -1;
}

PyObject* host_concurrency_limit(PyObject* self, void* /*closure*/)
{
  return concurrency_limit(host_in(self)->get_cpu()->get_constraint());
}
int limit_host(PyObject* self, PyObject* value, void* /*closure*/)
{
  return limit_concurrency(host_in(self)->get_cpu()->get_constraint(), value);
}

int set_host_pstate(PyObject* self, PyObject* value, void* /*closure*/)
{
  long const pstate = value == nullptr ? -1 : PyLong_AsLong(value);
  if (not valid_pstate(self, pstate) || not require_load())
    return -1;
  return change([&] { host_in(self)->set_pstate(static_cast<unsigned long>(pstate)); }) ? 0 : -1;
}

PyObject* host_pstate_speed(PyObject* self, PyObject* value)
{
  long const pstate = PyLong_AsLong(value);
  if (not valid_pstate(self, pstate))
    return nullptr;
  return PyFloat_FromDouble(host_in(self)->get_pstate_speed(static_cast<unsigned long>(pstate)));
}

PyObject* get_host_energy(PyObject* self, void* /*closure*/)
{
  return sim.host_energy ? PyFloat_FromDouble(host_energy(host_in(self))) : energy_error();
}

PyObject* host_turn_on(PyObject* self, PyObject* /*unused*/)
{
  return change([self] { host_in(self)->turn_on(); }) ? Py_NewRef(Py_None) : nullptr;
}

PyObject* host_turn_off(PyObject* self, PyObject* /*unused*/)
{
  return change([self] { host_in(self)->turn_off(); }) ? unless_dying() : nullptr;
}

PyObject* host_repr(PyObject* self)
{
  return PyUnicode_FromFormat("<Host %s>", host_in(self)->get_cname());
}

PyMethodDef host_methods[] = {{"turn_on", host_turn_on, METH_NOARGS, "Turn it on."},
                              {"turn_off", host_turn_off, METH_NOARGS, "Turn it off: its actors are killed."},
                              {"pstate_speed", host_pstate_speed, METH_O, "Speed of a pstate [flop/s]."},
                              {"reset_figures", reset_host_figures, METH_NOARGS, "Let host_load begin anew."},
                              {nullptr, nullptr, 0, nullptr}};

PyGetSetDef host_attributes[] = {
    {"name", host_name, nullptr, "Its name.", nullptr},
    {"speed", host_speed, nullptr, "Peak speed of a core in this pstate [flop/s].", nullptr},
    {"available_speed", host_available_speed, set_host_available_speed, "Fraction of the speed that it has.", nullptr},
    {"cores", host_cores, nullptr, "Number of cores.", nullptr},
    {"concurrency_limit", host_concurrency_limit, limit_host, "Largest number of executions at a time.", nullptr},
    {"load", host_load, nullptr, "Speed in use [flop/s].", nullptr},
    {"figures", get_host_figures, nullptr, "Values measured by host_load.", nullptr},
    {"is_on", host_is_on, nullptr, "Whether it is on.", nullptr},
    {"properties", host_properties, nullptr, "Its properties.", nullptr},
    {"disks", host_disks, nullptr, "Its disks, in the order of their names.", nullptr},
    {"pstate", host_pstate, set_host_pstate, "Its performance state.", nullptr},
    {"pstate_count", host_pstate_count, nullptr, "Number of performance states.", nullptr},
    {"energy", get_host_energy, nullptr, "Energy so far [J].", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyTypeObject make_host_type()
{
  PyTypeObject type = blank_type();
  type.tp_name      = "simplugin.simulation._driver.Host";
  type.tp_basicsize = sizeof(Host);
  type.tp_repr      = host_repr;
  type.tp_flags     = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION;
  type.tp_doc       = "A host of the platform.";
  type.tp_methods   = host_methods;
  type.tp_getset    = host_attributes;
  return type;
}

// ---- link -----------------------------------------------------------------------------------------------------------

PyObject* link_name(PyObject* self, void* /*closure*/)
{
  return text(link_in(self)->get_name()).give();
}
PyObject* link_bandwidth(PyObject* self, void* /*closure*/)
{
  return PyFloat_FromDouble(bandwidth_of(link_in(self)));
}
PyObject* link_latency(PyObject* self, void* /*closure*/)
{
  return PyFloat_FromDouble(link_in(self)->get_latency());
}
PyObject* link_load(PyObject* self, void* /*closure*/)
{
  return PyFloat_FromDouble(load_of(link_in(self)->get_load()));
}
PyObject* get_link_figures(PyObject* self, void* /*closure*/)
{
  return link_figures(link_in(self));
}
PyObject* reset_link_figures(PyObject* self, PyObject* /*unused*/)
{
  return reset_figures(link_in(self));
}
PyObject* link_is_on(PyObject* self, void* /*closure*/)
{
  return PyBool_FromLong(link_in(self)->is_on());
}
PyObject* link_properties(PyObject* self, void* /*closure*/)
{
  return properties_dict(reinterpret_cast<Link*>(self)->properties, link_in(self)->get_properties());
}

PyObject* link_policy(PyObject* self, void* /*closure*/)
{
  switch (link_in(self)->get_sharing_policy()) {
    case s4u::Link::SharingPolicy::FATPIPE:
      return PyUnicode_FromString("FATPIPE");
    case s4u::Link::SharingPolicy::SPLITDUPLEX:
      return PyUnicode_FromString("SPLITDUPLEX");
    case s4u::Link::SharingPolicy::WIFI:
      return PyUnicode_FromString("WIFI");
    case s4u::Link::SharingPolicy::NONLINEAR:
      return PyUnicode_FromString("NONLINEAR");
    default:
      return PyUnicode_FromString("SHARED");
  }
}

bool is_wireless(PyObject* self)
{
  return link_in(self)->get_sharing_policy() == s4u::Link::SharingPolicy::WIFI;
}

bool settable(PyObject* self, PyObject* value)
{
  if (value == nullptr || value == Py_None)
    PyErr_SetString(PyExc_TypeError, "expected a number");
  else if (is_wireless(self))
    PyErr_SetString(PyExc_ValueError, "SimGrid cannot change a Wi-Fi link");
  return PyErr_Occurred() == nullptr;
}

int set_link_bandwidth(PyObject* self, PyObject* value, void* /*closure*/)
{
  double bandwidth;
  if (not settable(self, value) || not quantity(value, "bandwidth", bandwidth))
    return -1;
  s4u::Link* link = link_in(self);
  return change([&] { change_link(link, [&] { set_bandwidth(link, bandwidth); }); }) ? 0 : -1;
}

int set_link_latency(PyObject* self, PyObject* value, void* /*closure*/)
{
  double latency;
  if (not settable(self, value) || not number(value, "latency", 0.0, latency))
    return -1;
  s4u::Link* link = link_in(self);
  return change([&] { change_link(link, [&] { link->set_latency(latency); }); }) ? 0 : -1;
}

PyObject* link_concurrency_limit(PyObject* self, void* /*closure*/)
{
  return concurrency_limit(link_in(self)->get_impl()->get_constraint());
}
int limit_link(PyObject* self, PyObject* value, void* /*closure*/)
{
  return settable(self, value == nullptr || value == Py_None ? Py_False : value)
             ? limit_concurrency(link_in(self)->get_impl()->get_constraint(), value)
             : -1;
}

PyObject* get_link_energy(PyObject* self, void* /*closure*/)
{
  return sim.link_energy ? PyFloat_FromDouble(link_energy(link_in(self))) : energy_error();
}

PyObject* link_turn_on(PyObject* self, PyObject* /*unused*/)
{
  return change([self] { link_in(self)->turn_on(); }) ? Py_NewRef(Py_None) : nullptr;
}

PyObject* link_turn_off(PyObject* self, PyObject* /*unused*/)
{
  return change([self] { link_in(self)->turn_off(); }) ? Py_NewRef(Py_None) : nullptr;
}

PyObject* link_set_host_wifi_rate(PyObject* self, PyObject* args)
{
  PyObject* value;
  long level;
  if (not PyArg_ParseTuple(args, "Ol:set_host_wifi_rate", &value, &level))
    return nullptr;
  Host const* host = host_argument(value, nullptr);
  if (host == nullptr || not set_wifi_rate(link_in(self), host->host, level))
    return nullptr;
  Py_RETURN_NONE;
}

PyObject* link_repr(PyObject* self)
{
  return PyUnicode_FromFormat("<Link %s>", link_in(self)->get_cname());
}

PyMethodDef link_methods[] = {{"turn_on", link_turn_on, METH_NOARGS, "Turn it on."},
                              {"turn_off", link_turn_off, METH_NOARGS, "Turn it off: its transfers fail."},
                              {"reset_figures", reset_link_figures, METH_NOARGS, "Let link_load begin anew."},
                              {"set_host_wifi_rate", link_set_host_wifi_rate, METH_VARARGS, "Rate of a host."},
                              {nullptr, nullptr, 0, nullptr}};

PyGetSetDef link_attributes[] = {
    {"name", link_name, nullptr, "Its name.", nullptr},
    {"bandwidth", link_bandwidth, set_link_bandwidth, "Bandwidth [byte/s].", nullptr},
    {"latency", link_latency, set_link_latency, "Latency [s].", nullptr},
    {"concurrency_limit", link_concurrency_limit, limit_link, "Largest number of transfers at a time.", nullptr},
    {"load", link_load, nullptr, "Bandwidth in use [byte/s].", nullptr},
    {"figures", get_link_figures, nullptr, "What link_load has measured.", nullptr},
    {"is_on", link_is_on, nullptr, "Whether it is on.", nullptr},
    {"properties", link_properties, nullptr, "Its properties.", nullptr},
    {"sharing_policy", link_policy, nullptr, "SHARED, FATPIPE, ...", nullptr},
    {"energy", get_link_energy, nullptr, "Energy so far [J].", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyTypeObject make_link_type()
{
  PyTypeObject type = blank_type();
  type.tp_name      = "simplugin.simulation._driver.Link";
  type.tp_basicsize = sizeof(Link);
  type.tp_repr      = link_repr;
  type.tp_flags     = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION;
  type.tp_doc       = "A link of the platform.";
  type.tp_methods   = link_methods;
  type.tp_getset    = link_attributes;
  return type;
}

PyStructSequence_Field route_fields[] = {
    {"links", "The links, in order."}, {"latency", "Sum of their latencies [s]."}, {nullptr, nullptr}};
PyStructSequence_Desc route_description = {"simplugin.simulation._driver.Route", "How two hosts are connected.",
                                           route_fields, 2};

} // namespace

PyTypeObject HostType = make_host_type();
PyTypeObject LinkType = make_link_type();

PyObject* properties_dict(Ref<>& cache, std::unordered_map<std::string, std::string> const* properties)
{
  if (not cache) {
    auto made = Ref<>::steal(PyDict_New());
    for (auto const& [key, value] : *properties)
      if (not made || not put(made.get(), key.c_str(), text(value)))
        return nullptr;
    cache = std::move(made);
  }
  return Ref<>(cache).give();
}

Host* host_of(s4u::Host const* host)
{
  auto const found = hosts.find(host);
  if (found != hosts.end())
    return found->second;
  Host* made = create<Host>(&HostType).release();
  if (made == nullptr)
    throw std::bad_alloc();
  made->host  = const_cast<s4u::Host*>(host);
  made->index = static_cast<int>(hosts.size());
  hosts.emplace(host, made);
  return made;
}

bool set_available_speed(s4u::Host const* host, PyObject* value)
{
  double fraction;
  if (not require_load() || not quantity(value, "available_speed", fraction))
    return false;
  CpuImpl* cpu             = host->get_cpu();
  available_speed_of(*cpu) = fraction;
  cpu->set_pstate(cpu->get_pstate()); // what runs hears of it
  return true;
}

PyObject* concurrency_limit(simgrid::kernel::lmm::Constraint const* of)
{
  int const limit = of->get_concurrency_limit();
  return limit < 0 ? Py_NewRef(Py_None) : PyLong_FromLong(limit);
}

int limit_concurrency(simgrid::kernel::lmm::Constraint* of, PyObject* value)
{
  if (not require_load())
    return -1;
  bool const is_number = value != nullptr && value != Py_None;
  long const limit     = is_number ? PyLong_AsLong(value) : -1;
  if (PyErr_Occurred())
    return -1;
  simgrid::kernel::lmm::Element const* element = nullptr;
  if (is_number && (limit < 1 || limit > std::numeric_limits<int>::max()))
    PyErr_Format(PyExc_ValueError, "concurrency_limit must be at least 1, or None, not %ld", limit);
  else if (of->get_variable(&element) != nullptr)
    // SimGrid wakes nobody who waits when a limit rises, and aborts if it falls below what runs.
    PyErr_SetString(error_class("SimpluginError"), "a concurrency limit cannot change while the resource is in use");
  if (PyErr_Occurred())
    return -1;
  of->reset_concurrency_maximum();
  of->set_concurrency_limit(static_cast<int>(limit));
  return 0;
}

Host* host_argument(PyObject* value, Host* standard)
{
  if ((value == nullptr || value == Py_None) && standard != nullptr)
    return standard;
  if (value != nullptr && Py_TYPE(value) == &HostType)
    return reinterpret_cast<Host*>(value);
  if (value == nullptr || not PyUnicode_Check(value)) {
    PyErr_Format(PyExc_TypeError, "expected a host or its name, not %R", value == nullptr ? Py_None : value);
    return nullptr;
  }
  s4u::Host const* host = find_named(value, "host", s4u::Host::by_name_or_null);
  return host == nullptr ? nullptr : host_of(host);
}

PyObject* link_object(s4u::Link* link)
{
  Link*& made = links[link];
  if (made == nullptr) {
    made = create<Link>(&LinkType).release();
    if (made == nullptr)
      return nullptr;
    made->link = link;
  }
  return Ref<Link>::share(made).give();
}

PyObject* link_named(PyObject* value)
{
  s4u::Link* link = find_named(value, "link", s4u::Link::by_name_or_null);
  return link == nullptr ? nullptr : link_object(link);
}

// Once the platform is loaded: none is added afterwards.
std::vector<s4u::Host*> const& platform_hosts()
{
  static std::vector<s4u::Host*> const hosts = s4u::Engine::get_instance()->get_all_hosts();
  return hosts;
}

std::vector<s4u::Link*> const& platform_links()
{
  static std::vector<s4u::Link*> const links = s4u::Engine::get_instance()->get_all_links();
  return links;
}

PyObject* all_hosts()
{
  auto const& all = platform_hosts();
  auto list       = Ref<>::steal(PyList_New(static_cast<Py_ssize_t>(all.size())));
  for (size_t i = 0; list && i < all.size(); i++)
    PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), Ref<Host>::share(host_of(all[i])).give());
  return list.give();
}

PyObject* all_links()
{
  auto const& all = platform_links();
  auto list       = Ref<>::steal(PyList_New(static_cast<Py_ssize_t>(all.size())));
  for (size_t i = 0; list && i < all.size(); i++)
    PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), link_object(all[i]));
  return list.give();
}

PyObject* find_route(Host* source, Host* destination)
{
  static PyTypeObject* type = PyStructSequence_NewType(&route_description);
  std::string const problem = route_problem(source->host, destination->host);
  if (not problem.empty()) {
    PyErr_SetString(error_class("NoRouteError"), problem.c_str());
    return nullptr;
  }
  std::vector<s4u::Link*> found;
  double latency = 0.0;
  source->host->route_to(destination->host, found, &latency);
  auto tuple = Ref<>::steal(PyTuple_New(static_cast<Py_ssize_t>(found.size())));
  auto route = Ref<>::steal(tuple ? PyStructSequence_New(type) : nullptr);
  if (not route)
    return nullptr;
  for (size_t i = 0; i < found.size(); i++)
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), link_object(found[i]));
  PyStructSequence_SET_ITEM(route.get(), 0, tuple.release());
  PyStructSequence_SET_ITEM(route.get(), 1, PyFloat_FromDouble(latency));
  return route.give();
}

} // namespace driver

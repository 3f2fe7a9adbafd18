// The one simulation of this process, and the functions that the Python side calls.

#include "simulation.hpp"

#include "../sharing/sharing.hpp"
#include "activity.hpp"
#include "actor.hpp"
#include "callbacks.hpp"
#include "disks.hpp"
#include "inspection.hpp"
#include "mailbox.hpp"
#include "platform.hpp"
#include "plugins.hpp"
#include "record.hpp"
#include "reference_back_end.hpp"
#include "routes.hpp"
#include "scheduler.hpp"
#include "synchro.hpp"
#include "unawaited.hpp"
#include "wait.hpp"
#include "work.hpp"
#include "zero_capacity.hpp"

#include <simgrid/Exception.hpp>
#include <simgrid/plugins/energy.h>
#include <simgrid/version.h>
#include <xbt/config.hpp>

namespace driver {

Simulation sim;

static PyObject* errors = nullptr; // the module simplugin.core.errors

static simgrid::config::Flag<bool> incremental{
    "network/incremental",
    "Whether rates of transfers and parallel tasks are computed anew only where a change affects them", true};

PyObject* error_class(const char* name)
{
  return PyDict_GetItemString(PyModule_GetDict(errors), name); // borrowed; also while an exception is set
}

namespace {

/// Runs `body`, and turns what SimGrid throws into a Python exception.
template <class Body> PyObject* guarded(Body body)
{
  try {
    return body();
  } catch (StopRun const&) {
    return nullptr;
  } catch (std::exception const& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
    return nullptr;
  }
}

bool check_engine()
{
  if (sim.engine == nullptr)
    PyErr_SetString(PyExc_RuntimeError, "no engine in this process: call setup() first");
  return sim.engine != nullptr;
}

PyObject* setup(PyObject* /*module*/, PyObject* args)
{
  PyObject *arguments, *seed;
  long long trace_limit;
  int energy;
  if (not PyArg_ParseTuple(args, "O!LpO", &PyList_Type, &arguments, &trace_limit, &energy, &seed))
    return nullptr;
  if (sim.engine != nullptr) {
    PyErr_SetString(PyExc_RuntimeError, "SimGrid's engine starts once in a process");
    return nullptr;
  }
  static std::vector<std::string> texts{"simplugin"}; // SimGrid keeps pointers into its arguments
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(arguments); i++) {
    char const* argument = PyUnicode_AsUTF8(PyList_GET_ITEM(arguments, i));
    if (argument == nullptr)
      return nullptr;
    texts.emplace_back(argument);
  }
  static std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& one : texts)
    pointers.push_back(one.data());
  pointers.push_back(nullptr);
  return guarded([&]() -> PyObject* {
    sim.mailboxes = PyDict_New();
    sim.queues    = PyDict_New();
    sim.named     = PyDict_New();
    sim.actors    = PyList_New(0);
    if (sim.mailboxes == nullptr || sim.queues == nullptr || sim.named == nullptr || sim.actors == nullptr)
      return nullptr;
    static int count = static_cast<int>(texts.size());
    sim.engine       = new s4u::Engine(&count, pointers.data());
    sim.tracing      = trace_limit > 0;
    sim.trace_limit  = trace_limit;
    sim.seed         = Py_NewRef(seed);
    install_scheduler();
#ifdef SIMGRID_TRACKS
    sim.engine->add_model(simgrid::kernel::lmm::model_of_tasks()); // platform files may choose their model
#endif
    if (energy != 0) {
      sg_host_energy_plugin_init();
      sg_link_energy_plugin_init();
    }
    Py_RETURN_NONE;
  });
}

PyObject* load_platform(PyObject* /*module*/, PyObject* path)
{
  char const* name = PyUnicode_AsUTF8(path);
  if (name == nullptr || not check_engine())
    return nullptr;
  return guarded([&]() -> PyObject* {
    sim.engine->load_platform(name);
    if (not set_wifi_rates())
      return nullptr;
    Py_RETURN_NONE;
  });
}

PyObject* spawn_at(PyObject* /*module*/, PyObject* args)
{
  PyObject *function, *arguments, *host_name, *name, *properties;
  double start_time, kill_time;
  int restart, daemon;
  if (not check_engine() ||
      not PyArg_ParseTuple(args, "OO!UUddppO!", &function, &PyTuple_Type, &arguments, &host_name, &name, &start_time,
                           &kill_time, &restart, &daemon, &PyDict_Type, &properties))
    return nullptr;
  Host* host = host_argument(host_name, nullptr);
  if (host == nullptr || (restart == 0 && start_time <= now() && not require_on(host, name)))
    return nullptr;
  Ref<Actor> const actor = spawn(Ref<>::share(function), Ref<>::share(arguments), host, Ref<>::share(name),
                                 Ref<>::share(properties), daemon != 0, restart != 0);
  if (not actor)
    return nullptr;
  if (restart != 0)
    start_again_at_boot(actor.get());
  if (start_time > now()) {
    actor->start_timer = set_timer(start_time, Alarm::START, actor.object());
  } else {
    start_actor(actor.get());
    if (sim.pausing != nullptr) // placed at a pause, before what is yet to happen
      go_first();
  }
  arm_kill(actor.get(), kill_time);
  Py_RETURN_NONE;
}

/// True: it came to its end; False: the simulated limit, or a full trace.
PyObject* run(PyObject* /*module*/, PyObject* args)
{
  PyObject* progress;
  if (not check_engine() || not PyArg_ParseTuple(args, "dO", &sim.limit, &progress))
    return nullptr;
  sim.progress    = progress == Py_None ? nullptr : Py_NewRef(progress);
  bool ended      = true;
  auto const done = Ref<>::steal(guarded([&]() -> PyObject* {
    try {
      keep_daemons();
      sim.engine->run();
    } catch (StopRun const&) {
      ended = false;
    }
    if (PyErr_Occurred())
      return nullptr;
    Py_RETURN_NONE;
  }));
  return done ? PyBool_FromLong(ended) : nullptr;
}

PyObject* trace_is_full(PyObject* /*module*/, PyObject* /*unused*/)
{
  return PyBool_FromLong(sim.trace_full);
}

/// Of each time at which a host went off or on: its name, the date, and which.
struct Switch {
  std::string host;
  double date;
  bool on;
};
std::vector<Switch> switches;

PyObject* switches_so_far(PyObject* /*module*/, PyObject* /*unused*/)
{
  auto list = Ref<>::steal(PyList_New(0));
  for (Switch const& each : switches) {
    auto const row = Ref<>::steal(Py_BuildValue("(sdO)", each.host.c_str(), each.date, each.on ? Py_True : Py_False));
    if (not list || not row || PyList_Append(list.get(), row.get()) != 0)
      return nullptr;
  }
  return list.give();
}

PyObject* clock_now(PyObject* /*module*/, PyObject* /*unused*/)
{
  return PyFloat_FromDouble(now());
}

PyObject* failed_actor(PyObject* /*module*/, PyObject* /*unused*/)
{
  if (sim.failed_actor == nullptr)
    Py_RETURN_NONE;
  auto const* actor = reinterpret_cast<Actor*>(sim.failed_actor);
  return Py_BuildValue("(Os)", actor->name.get(), actor->host->host->get_cname());
}

PyObject* blocked(PyObject* /*module*/, PyObject* /*unused*/)
{
  auto list = Ref<>::steal(PyList_New(0));
  for (Py_ssize_t i = 0; list && sim.actors != nullptr && i < PyList_GET_SIZE(sim.actors); i++) {
    auto const* actor = reinterpret_cast<Actor*>(PyList_GET_ITEM(sim.actors, i));
    if (actor->phase == Actor::Phase::ENDED)
      continue;
    std::string const waits = actor->suspended       ? "to be resumed"
                              : not actor->coroutine ? "its start"
                                                     : describe(actor->waiting.get());
    auto const row =
        Ref<>::steal(Py_BuildValue("(OsOsd)", actor->name.get(), actor->host->host->get_cname(),
                                   actor->coroutine ? actor->coroutine.get() : Py_None, waits.c_str(), actor->since));
    if (not row || PyList_Append(list.get(), row.get()) != 0)
      return nullptr;
  }
  return list.give();
}

PyObject* gather(PyObject* /*module*/, PyObject* /*unused*/)
{
  if (not check_engine())
    return nullptr;
  return guarded(collect);
}

/// The value in force of a SimGrid option, of type 's', 'd', 'i' or 'b'.
PyObject* option(PyObject* /*module*/, PyObject* args)
{
  char const *name, *type;
  if (not PyArg_ParseTuple(args, "ss", &name, &type))
    return nullptr;
  return guarded([&]() -> PyObject* {
    namespace config = simgrid::config;
    switch (type[0]) {
      case 'd': // the precision of dates follows them, see zero_capacity.cpp
        return PyFloat_FromDouble(std::string(name) == "precision/timing" && config::is_default(name)
                                      ? 1e-9
                                      : config::get_value<double>(name));
      case 'i':
        return PyLong_FromLong(config::get_value<int>(name));
      case 'b':
        return PyBool_FromLong(config::get_value<bool>(name));
      default:
        return text(config::get_value<std::string>(name)).give();
    }
  });
}

PyObject* is_default(PyObject* /*module*/, PyObject* name)
{
  char const* option = PyUnicode_AsUTF8(name);
  return option == nullptr ? nullptr : guarded([&] { return PyBool_FromLong(simgrid::config::is_default(option)); });
}

PyObject* simgrid_version(PyObject* /*module*/, PyObject* /*unused*/)
{
  int major, minor, patch;
  sg_version_get(&major, &minor, &patch);
  return PyUnicode_FromFormat("%d.%d.%d", major, minor, patch);
}

/// True if starting a flow marks each of its constraints as modified, one of them being marked already: SimGrid 4.1 as
/// released stops at the first one, so that flows on the others keep rates above the capacity (docs/simgrid).
PyObject* marks_all_constraints(PyObject* /*module*/, PyObject* /*unused*/)
{
  namespace lmm      = simgrid::kernel::lmm;
  auto* const system = lmm::System::build("maxmin", true);
  auto* const first  = system->constraint_new(nullptr, 1.0);
  auto* const second = system->constraint_new(nullptr, 1.0);
  first->set_concurrency_limit(-1); // whatever maxmin/concurrency-limit says
  auto* const one   = system->variable_new(nullptr, 1.0, -1.0, 1);
  auto* const other = system->variable_new(nullptr, 0.0, -1.0, 2);
  system->expand(first, other, 0.0);
  system->expand(second, other, 0.0);
  system->expand(first, one, 1.0);
  system->update_variable_penalty(other, 1.0);
  bool const marked = second->modified_constraint_set_hook_.is_linked();
  system->variable_free(one);
  system->variable_free(other);
  delete system;
  return PyBool_FromLong(marked);
}

/// Energy by name, for the reference back end, whose bindings lack it; sets up SimGrid's plug-ins when called first.
PyObject* init_energy(PyObject* /*module*/, PyObject* /*unused*/)
{
  sg_host_energy_plugin_init();
  sg_link_energy_plugin_init();
  Py_RETURN_NONE;
}

PyObject* energy_of_host(PyObject* /*module*/, PyObject* name)
{
  char const* host = PyUnicode_AsUTF8(name);
  return host == nullptr ? nullptr : PyFloat_FromDouble(host_energy(s4u::Host::by_name(host)));
}

PyObject* energy_of_link(PyObject* /*module*/, PyObject* name)
{
  char const* link = PyUnicode_AsUTF8(name);
  return link == nullptr ? nullptr : PyFloat_FromDouble(link_energy(s4u::Link::by_name(link)));
}

/// The rest is for the reference back end.
PyObject* set_rates(PyObject* /*module*/, PyObject* /*unused*/)
{
  if (not set_wifi_rates())
    return nullptr;
  Py_RETURN_NONE;
}

PyObject* hosts_of_platform(PyObject* /*module*/, PyObject* /*unused*/)
{
  return all_hosts();
}

PyObject* links_of_platform(PyObject* /*module*/, PyObject* /*unused*/)
{
  return all_links();
}

PyObject* route_of_platform(PyObject* /*module*/, PyObject* args)
{
  PyObject *from, *to;
  if (not PyArg_ParseTuple(args, "OO", &from, &to))
    return nullptr;
  Host* source      = host_argument(from, nullptr);
  Host* destination = source == nullptr ? nullptr : host_argument(to, nullptr);
  return destination == nullptr ? nullptr : find_route(source, destination);
}

/// Routing tables are complete only once the zones are sealed, which running would do.
PyObject* seal(PyObject* /*module*/, PyObject* /*unused*/)
{
  return guarded([&]() -> PyObject* {
    s4u::Engine::get_instance()->get_netzone_root()->seal();
    Py_RETURN_NONE;
  });
}

/// What forbids a route, or a transfer, between two hosts; empty if nothing does.
PyObject* problem_of_route(PyObject* /*module*/, PyObject* args)
{
  char const *source, *destination;
  int transfers;
  if (not PyArg_ParseTuple(args, "ssp", &source, &destination, &transfers))
    return nullptr;
  auto problem = transfers != 0 ? transfer_problem(s4u::Host::by_name(source), s4u::Host::by_name(destination))
                                : route_problem(s4u::Host::by_name(source), s4u::Host::by_name(destination));
  return text(problem).give();
}

PyMethodDef functions[] = {
    {"setup", setup, METH_VARARGS, "setup(arguments, trace_limit, energy, seed): start SimGrid's engine."},
    {"load_platform", load_platform, METH_O, "load_platform(path)"},
    {"spawn", spawn_at, METH_VARARGS, "spawn(function, args, host, name, start, kill, restart, daemon, properties)"},
    {"run", run, METH_VARARGS, "run(limit, progress): False if it reached the limit, or the trace is full."},
    {"trace_is_full", trace_is_full, METH_NOARGS, "Whether the trace has outgrown its limit."},
    {"clock", clock_now, METH_NOARGS, "The simulated date [s]."},
    {"failed_actor", failed_actor, METH_NOARGS, "(name, host) of the actor whose exception ended the run, or None."},
    {"blocked", blocked, METH_NOARGS, "[(name, host, coroutine, waits for, since)] of the actors that have not ended."},
    {"collect", gather, METH_NOARGS, "Totals, trace and returned values, columns as bytes."},
    {"prepare_plugins", prepare_plugins, METH_VARARGS,
     "prepare_plugins(arguments, energy): names of the plug-ins that are loaded; once the platform is."},
    {"switches", switches_so_far, METH_NOARGS, "[(host, date, on)] of each time at which a host went off or on."},
    {"plugin_figures", plugin_figures, METH_NOARGS,
     "{plug-in: {column: bytes}} of those that have figures of their own."},
    {"host_properties", host_properties, METH_O, "host_properties(name): {host: value} of the hosts that have it."},
    {"is_default", is_default, METH_O, "Whether a SimGrid option has not been set."},
    {"option", option, METH_VARARGS, "option(name, type): the value of a SimGrid option in force."},
    {"simgrid_version", simgrid_version, METH_NOARGS, "Version of the SimGrid library that is loaded."},
    {"marks_all_constraints", marks_all_constraints, METH_NOARGS, "Whether SimGrid's Lazy updates are right."},
    {"init_energy", init_energy, METH_NOARGS, "Start SimGrid's energy plug-ins; before the platform is loaded."},
    {"energy_of_host", energy_of_host, METH_O, "Energy of a host so far [J]."},
    {"energy_of_link", energy_of_link, METH_O, "Energy of a link so far [J]."},
    {"set_wifi_rates", set_rates, METH_NOARGS, "Give hosts the rates that their properties say."},
    {"hosts", hosts_of_platform, METH_NOARGS, "All hosts, once the platform is loaded."},
    {"links", links_of_platform, METH_NOARGS, "All links, once the platform is loaded."},
    {"route", route_of_platform, METH_VARARGS, "route(source, destination): links and latency between two hosts."},
    {"seal", seal, METH_NOARGS, "Complete the routing tables of the platform."},
    {"route_problem", problem_of_route, METH_VARARGS, "route_problem(source, destination, transfers): text, or empty."},
    {nullptr, nullptr, 0, nullptr}};

PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "_driver",
                          "Python actors as coroutines, resumed from SimGrid's maestro.",
                          -1,
                          functions,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr};

} // namespace

#ifdef SIMGRID_TRACKS
/// The least speed of a core and the least bandwidth of a link that are not 0 [flop/s, byte/s].
static double least_capacity()
{
  double least     = std::numeric_limits<double>::infinity();
  auto const count = [&least](double capacity) { least = capacity > NOTHING ? std::min(least, capacity) : least; };
  for (s4u::Host const* host : platform_hosts())
    for (unsigned long pstate = 0; pstate < host->get_pstate_count(); pstate++)
      count(host->get_pstate_speed(pstate));
  for (s4u::Link const* link : platform_links())
    count(link->get_bandwidth());
  return least;
}

/// SimGrid takes speeds and amounts for equal that differ by less than precision/work-amount, as if all were much above
/// 1. Our solvers compare them with each other.
static void suit_small_capacities(simgrid::kernel::routing::NetZoneImpl const* zone)
{
  using simgrid::config::get_value;
  double const least = least_capacity();
  auto const& cpus   = zone->get_cpu_pm_model();
  if (least >= 1 || not simgrid::config::is_default("precision/work-amount"))
    return;
  if (not takes_parallel_tasks()) {
    if (get_value<std::string>("cpu/solver") != "maxmin" || not cpus->is_update_lazy())
      return;
    cpus->set_maxmin_system(simgrid::kernel::lmm::incremental_system());
  }
  simgrid::config::set_value("precision/work-amount", least * get_value<double>("precision/work-amount"));
}
#endif

/// For both back ends, once the platform is loaded and plug-ins are: an item of SimGrid's options as others.
bool share_incrementally()
{
#ifdef SIMGRID_TRACKS
  using simgrid::config::get_value;
  auto const* zone  = simgrid::kernel::EngineImpl::get_instance()->get_netzone_root();
  auto const& model = zone->get_network_model();
  bool ours         = true;
  if (incremental.get() && takes_parallel_tasks() && get_value<std::string>("host/solver") == "fairbottleneck")
    simgrid::kernel::lmm::share_among_tasks(zone, sim.engine != nullptr && not sim.executions_heard);
  else if (incremental.get() && not takes_parallel_tasks() && get_value<std::string>("network/solver") == "maxmin" &&
           model->is_update_lazy() && model->get_maxmin_system() != nullptr)
    model->set_maxmin_system(simgrid::kernel::lmm::incremental_system());
  else
    ours = false;
  if (ours) {
    suit_small_capacities(zone);
    return true;
  }
#endif
  for (s4u::Link const* link : platform_links())
    if (link->get_sharing_policy() == s4u::Link::SharingPolicy::WIFI) {
      PyErr_Format(error_class("SimulationError"),
                   "SimGrid's own solver shares the Wi-Fi link '%s' wrongly with other links; leave out network/optim, "
                   "network/solver and network/incremental",
                   link->get_cname());
      return false;
    }
  return true;
}

double remains_of(Action const* action)
{
#ifdef SIMGRID_TRACKS
  return simgrid::kernel::lmm::remains_of(action);
#else
  return action->get_remains_no_update();
#endif
}

/// For both back ends, once the platform is loaded.
void note_switches()
{
  for (s4u::Host const* host : platform_hosts())
    if (not host->is_on()) // by a profile that begins so
      switches.push_back({host->get_name(), 0.0, false});
  s4u::Host::on_onoff_cb([](s4u::Host const& host) { switches.push_back({host.get_name(), now(), host.is_on()}); });
}

} // namespace driver

PyMODINIT_FUNC PyInit__driver() // NOLINT(bugprone-reserved-identifier): Python prescribes the name
{
  using namespace driver;
  auto module = Ref<>::steal(PyModule_Create(&definition));
  errors      = PyImport_ImportModule("simplugin.core.errors");
  if (errors == nullptr || not module || PyModule_AddFunctions(module.get(), unawaited_functions) != 0 ||
      PyModule_AddFunctions(module.get(), inspection_functions) != 0 ||
      PyModule_AddFunctions(module.get(), reference_functions) != 0 ||
      PyModule_AddFunctions(module.get(), callback_functions) != 0)
    return nullptr;
  for (PyTypeObject* type : {&ActivityType, &WaitType, &ActorType, &HostType, &DiskType, &LinkType, &MailboxType,
                             &MessageQueueType, &MutexType, &SemaphoreType, &ConditionType, &BarrierType})
    if (PyModule_AddType(module.get(), type) != 0)
      return nullptr;
  note_zero_capacity(); // for both back ends
  return module.give();
}

// SimGrid's plug-ins: signals of activities for those that listen, daemons for those that have some, and the figures
// that they give.
//
// Plug-ins listen to signals of S4U activities, which bare kernel actions do not fire. Where somebody listens, an
// execution gets an S4U activity of its own beside its action, and a transfer gets one for each signal.

#include "plugins.hpp"

#include "activity.hpp"
#include "actor.hpp"
#include "planned.hpp"
#include "platform.hpp"
#include "record.hpp"
#include "simulation.hpp"
#include "transfers.hpp"
#include "work.hpp"
#include "zero_capacity.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <set>

#include <simgrid/plugins/energy.h>
#include <simgrid/plugins/load.h>
#include <xbt/config.hpp>
#include <xbt/log.h>

namespace driver {

namespace {

namespace kernel = simgrid::kernel;
using ExecSignal = simgrid::xbt::signal<void(s4u::Exec const&)>;
using CommSignal = simgrid::xbt::signal<void(s4u::Comm const&)>;
using LinkSignal = simgrid::xbt::signal<void(s4u::Link const&)>;

// SimGrid offers no way to ask whether anybody listens to a signal, nor to fire one; but access control does not apply
// to the arguments of an explicit instantiation.
template <class Key, typename Key::Signal* Member> struct Reveal {
  friend typename Key::Signal& signal_of(Key) { return *Member; }
};
// NOLINTBEGIN(bugprone-macro-parentheses): a template's arguments have none
#define REVEAL(name, type, member)                                                                                     \
  struct name {                                                                                                        \
    using Signal = type;                                                                                               \
    friend Signal& signal_of(name);                                                                                    \
  };                                                                                                                   \
  template struct Reveal<name, &member>
// NOLINTEND(bugprone-macro-parentheses)
REVEAL(ExecStart, ExecSignal, s4u::Activity_T<s4u::Exec>::on_start);
REVEAL(ExecCompletion, ExecSignal, s4u::Activity_T<s4u::Exec>::on_completion);
REVEAL(ExecSuspend, ExecSignal, s4u::Activity_T<s4u::Exec>::on_suspend);
REVEAL(ExecResume, ExecSignal, s4u::Activity_T<s4u::Exec>::on_resume);
REVEAL(CommStart, CommSignal, s4u::Activity_T<s4u::Comm>::on_start);
REVEAL(CommCompletion, CommSignal, s4u::Activity_T<s4u::Comm>::on_completion);
REVEAL(LinkDestruction, LinkSignal, s4u::Link::on_destruction);
#undef REVEAL

std::set<std::string> loaded;

std::vector<s4u::ExecPtr> ended; // executions whose completion is to be signalled before the next actor runs
std::vector<s4u::ExecPtr> kept;  // host_load keeps pointers to executions that did not finish

kernel::activity::ExecImpl* impl_of(s4u::Exec const* shadow)
{
  return static_cast<kernel::activity::ExecImpl*>(shadow->get_impl());
}

kernel::actor::ActorImpl* maestro()
{
  return kernel::EngineImpl::get_instance()->get_maestro();
}

void signal_transfer(CommSignal const& signal, s4u::Host* source, s4u::Host* destination, Action* action)
{
  s4u::CommPtr comm = s4u::Comm::sendto_init(source, destination); // waits for its size, so it does not start
  auto* impl        = static_cast<kernel::activity::CommImpl*>(comm->get_impl());
  impl->set_state(kernel::activity::State::RUNNING);
  impl->model_action_ = action;
  signal(*comm);
  impl->model_action_ = nullptr;
  maestro()->activities_.erase(impl);
}

bool is_wired(s4u::Link const* link)
{
  return link->get_sharing_policy() != s4u::Link::SharingPolicy::WIFI;
}

/// Plug-ins crash on the end of a put or get that never met its partner (reference back end): it has no route.
void spare_plugins_what_never_started()
{
  CommSignal& completion   = signal_of(CommCompletion());
  CommSignal const plugins = completion;
  completion.disconnect_slots();
  completion.connect([plugins](s4u::Comm const& comm) {
    if (comm.get_source() != nullptr && comm.get_destination() != nullptr)
      plugins(comm);
  });
}

/// Plug-ins that are started by an option of their own are loaded, too.
void note_loaded(PyObject* arguments, bool energy)
{
  namespace config       = simgrid::config;
  std::string const flag = "--cfg=plugin:";
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(arguments); i++) {
    std::string const argument = PyUnicode_AsUTF8(PyList_GET_ITEM(arguments, i));
    if (argument.compare(0, flag.size(), flag) == 0)
      loaded.insert(argument.substr(flag.size()));
  }
  if (auto const last = config::get_value<std::string>("plugin"); not last.empty())
    loaded.insert(last);
  if (config::get_value<std::string>("plugin/dvfs/governor") != "performance" ||
      config::get_value<double>("plugin/dvfs/sampling-rate") != 0.1)
    loaded.insert("host_dvfs");
  if (energy)
    loaded.insert({"host_energy", "link_energy"});
  if (loaded.count("host_dvfs") > 0)
    loaded.insert("host_load");
}

Ref<> columns(std::vector<std::pair<const char*, std::vector<double>>> const& all)
{
  auto into = Ref<>::steal(PyDict_New());
  for (auto const& [name, column] : all)
    if (not into ||
        not put(into.get(), name,
                Ref<>::steal(PyBytes_FromStringAndSize(reinterpret_cast<char const*>(column.data()),
                                                       static_cast<Py_ssize_t>(column.size() * sizeof(double))))))
      return {};
  return into;
}

using Figures = std::vector<std::pair<const char*, double>>;

/// Not its idle time: SimGrid counts a host as idle that was busy to this date.
Figures figures_of(s4u::Host const* host)
{
  return {{"average_load", sg_host_get_avg_load(host)}, {"flops", sg_host_get_computed_flops(host)}};
}

std::set<s4u::Link const*> tracked; // by link_load

Figures figures_of(s4u::Link const* link)
{
  auto const ask = [link](double (*function)(s4u::Link const*)) {
    return tracked.count(link) > 0 ? peek<simgrid::plugin::LinkLoad>(link, function)
                                   : std::numeric_limits<double>::quiet_NaN();
  };
  return {{"bytes", ask(sg_link_get_cum_load)},
          {"average_load", ask(sg_link_get_avg_load)},
          {"least_load", ask(sg_link_get_min_instantaneous_load)},
          {"most_load", ask(sg_link_get_max_instantaneous_load)}};
}

template <class Resource> Ref<> loads(std::vector<Resource*> const& all)
{
  std::vector<std::pair<const char*, std::vector<double>>> table;
  for (Resource const* each : all) {
    Figures const figures = figures_of(each);
    if (table.empty())
      for (auto const& [name, value] : figures)
        table.push_back({name, {}});
    for (size_t i = 0; i < figures.size(); i++)
      table[i].second.push_back(figures[i].second);
  }
  return columns(table);
}

Ref<> host_loads()
{
  return loads(platform_hosts());
}

Ref<> link_loads()
{
  return loads(platform_links());
}

/// SimGrid gives the energy of a Wi-Fi link in the message that it logs at the link's end, and nowhere else.
Ref<> wifi_energies()
{
  std::vector<double> energy;
  std::FILE* file = std::tmpfile();
  if (file == nullptr)
    return Ref<>::steal(PyErr_SetFromErrno(PyExc_OSError));
  std::string const place = "/proc/self/fd/" + std::to_string(fileno(file));
  std::string const log   = "link_energy_wifi.";
  xbt_log_control_set(
      (log + "threshold:info " + log + "fmt:%m%n " + log + "add:no " + log + "app:file:" + place).c_str());
  std::streamoff read = 0;
  for (s4u::Link const* link : platform_links()) {
    energy.push_back(std::numeric_limits<double>::quiet_NaN());
    if (is_wired(link))
      continue;
    signal_of(LinkDestruction())(*link);
    std::fflush(nullptr);
    std::ifstream in(place);
    in.seekg(read);
    std::string line;
    std::getline(in, line);
    read += static_cast<std::streamoff>(line.size()) + 1;
    std::string const before = "consumed: ";
    if (auto const at = line.find(before); at != std::string::npos)
      energy.back() = std::strtod(line.c_str() + at + before.size(), nullptr);
  }
  std::fclose(file);
  return columns({{"energy", energy}});
}

} // namespace

// ---- signals --------------------------------------------------------------------------------------------------------

void execution_started(Activity* activity)
{
  if (not sim.executions_heard)
    return;
  std::vector<s4u::Host*> hosts;
  if (activity->kind == Kind::PTASK)
    for (Host const* host : activity->parallel->hosts)
      hosts.push_back(host->host);
  else
    hosts.push_back(activity->destination->host);
  s4u::ExecPtr shadow = s4u::Exec::init();
  auto* impl          = impl_of(shadow.get());
  maestro()->activities_.erase(impl);
  impl->set_actor(nullptr);
  impl->set_hosts(hosts).set_flops_amount(activity->amount);
  Action* action    = activity->work->model_action_;
  bool const failed = action->get_state() == Action::State::FAILED; // the host is off
  impl->set_state(failed ? kernel::activity::State::FAILED : kernel::activity::State::RUNNING);
  impl->model_action_ = failed ? nullptr : action;
  shadow->set_state(s4u::Activity::State::STARTED);
  activity->work->shadow = shadow;
  signal_of(ExecStart())(*shadow);
}

void execution_migrated(Activity const* activity)
{
  s4u::Exec* shadow = activity->work->shadow.get();
  if (shadow == nullptr)
    return;
  impl_of(shadow)->model_action_ = activity->work->model_action_; // its host stays the first one, as in SimGrid
}

void execution_suspended(Work const* work, bool suspended)
{
  if (work->shadow != nullptr)
    (suspended ? signal_of(ExecSuspend()) : signal_of(ExecResume()))(*work->shadow);
}

/// As SimGrid does: who cancels signals at once, the end of an actor does not signal what it ends, and the rest is
/// signalled by whoever waits for it, when what ended at this date is off the resources.
void execution_over(Activity const* activity, State state)
{
  if (not sim.executions_heard)
    return;
  s4u::ExecPtr shadow        = std::exchange(activity->work->shadow, nullptr);
  auto* impl                 = impl_of(shadow.get());
  bool const owner_is_ending = activity->owner->dying;
  shadow->set_state(state == State::FINISHED ? s4u::Activity::State::FINISHED
                    : state == State::FAILED ? s4u::Activity::State::FAILED
                                             : s4u::Activity::State::CANCELED);
  impl->set_state(state == State::FINISHED ? kernel::activity::State::DONE
                  : state == State::FAILED ? kernel::activity::State::FAILED
                                           : kernel::activity::State::CANCELED);
  impl->set_finish_time(now());
  if (state == State::CANCELED && not owner_is_ending)
    signal_of(ExecCompletion())(*shadow);
  impl->model_action_ = nullptr;
  if (state != State::FINISHED && loaded.count("host_load") > 0)
    kept.push_back(shadow);
  if (state != State::CANCELED && not owner_is_ending)
    ended.push_back(std::move(shadow));
}

void signal_ended_executions()
{
  if (ended.empty())
    return;
  for (s4u::ExecPtr const& shadow : std::exchange(ended, {}))
    signal_of(ExecCompletion())(*shadow);
}

void transfer_started(s4u::Host* source, s4u::Host* destination, Action* action)
{
  if (sim.transfers_heard)
    signal_transfer(signal_of(CommStart()), source, destination, action);
}

void transfer_over(Activity const* activity)
{
  if (sim.transfers_heard)
    signal_transfer(signal_of(CommCompletion()), activity->source->host, activity->destination->host,
                    activity->work->model_action_);
}

void bill_pstates()
{
  if (sim.host_energy)
    for (s4u::Host* host : platform_hosts())
      if (host->get_pstate() != 0)
        host->set_pstate(host->get_pstate());
}

// ---- daemons --------------------------------------------------------------------------------------------------------

namespace {

bool daemons_run = false;

/// Whether something of ours is still to happen. A governor that wakes up for ever does not count.
bool something_is_to_come()
{
  if (not kernel::timer::kernel_timers().empty())
    return true;
  for (auto* model : sim.engine->get_all_models())
    for (auto& action : *model->get_started_action_set())
      if (auto const* work = dynamic_cast<Work*>(action.get_activity());
          work != nullptr && work->owner && not action.is_suspended() && not stands_still(action))
        return true;
  return false;
}

} // namespace

void keep_daemons()
{
  auto* engine = kernel::EngineImpl::get_instance();
  daemons_run  = not engine->get_actor_list().empty();
  if (daemons_run) // SimGrid kills daemons when no other actor is left, and it knows none of ours
    engine->add_actor(0, engine->get_maestro());
}

bool end_daemons_of_plugins(bool nothing_is_set)
{
  if (not daemons_run || (sim.alive > 0 && (not nothing_is_set || something_is_to_come())))
    return false;
  daemons_run  = false;
  auto* engine = kernel::EngineImpl::get_instance();
  engine->remove_actor(0);
  engine->get_maestro()->kill_all();
  return true;
}

// ---- what the Python side calls -------------------------------------------------------------------------------------

PyObject* prepare_plugins(PyObject* /*module*/, PyObject* args)
{
  PyObject* arguments;
  int energy;
  if (not PyArg_ParseTuple(args, "O!p", &PyList_Type, &arguments, &energy))
    return nullptr;
  note_loaded(arguments, energy != 0);
  note_switches();
  read_zero_capacity();
  sim.host_energy = loaded.count("host_energy") > 0;
  sim.link_energy = loaded.count("link_energy") > 0;
  if (sim.link_energy && not note_link_watts())
    return nullptr;
  // SimGrid's model of virtual machines, which there are none of, listens to each of the four.
  sim.executions_heard = signal_of(ExecStart()).size() + signal_of(ExecCompletion()).size() +
                             signal_of(ExecSuspend()).size() + signal_of(ExecResume()).size() >
                         4;
  if (not share_incrementally())
    return nullptr;
  follow_profiles();
  sim.transfers_heard = signal_of(CommStart()).size() + signal_of(CommCompletion()).size() > 0;
  if (sim.transfers_heard)
    spare_plugins_what_never_started();
  if (loaded.count("link_load") > 0)
    for (s4u::Link const* link : platform_links())
      if (is_wired(link)) {
        sg_link_load_track(link);
        tracked.insert(link);
      }
  auto names = Ref<>::steal(PyList_New(0));
  for (std::string const& each : loaded) {
    Ref<> const name = text(each);
    if (not names || not name || PyList_Append(names.get(), name.get()) != 0)
      return nullptr;
  }
  return names.give();
}

PyObject* host_properties(PyObject* /*module*/, PyObject* name)
{
  auto into          = Ref<>::steal(PyDict_New());
  char const* wanted = PyUnicode_AsUTF8(name);
  if (not into || wanted == nullptr)
    return nullptr;
  for (s4u::Host const* host : platform_hosts())
    if (char const* value = host->get_property(wanted);
        value != nullptr && not put(into.get(), host->get_cname(), text(value)))
      return nullptr;
  return into.give();
}

PyObject* plugin_figures(PyObject* /*module*/, PyObject* /*unused*/)
{
  auto into = Ref<>::steal(PyDict_New());
  for (auto const& [name, figures] : {std::pair{"host_load", &host_loads}, std::pair{"link_load", &link_loads},
                                      std::pair{"link_energy_wifi", &wifi_energies}}) {
    if (loaded.count(name) > 0 && (not into || not put(into.get(), name, figures())))
      return nullptr;
  }
  return into.give();
}

namespace {

bool require_plugin(const char* name)
{
  if (loaded.count(name) == 0)
    PyErr_Format(
        error_class("SimpluginError"),
        "SimGrid's plug-in %s is not loaded; run simulate(..., options=SimGridOptions(extra={'plugin': '%s'}))", name,
        name);
  return loaded.count(name) > 0;
}

bool require_tracked(s4u::Link const* link)
{
  if (not require_plugin("link_load"))
    return false;
  if (tracked.count(link) == 0)
    PyErr_Format(error_class("SimpluginError"), "SimGrid's plug-in link_load does not measure link '%s'",
                 link->get_cname());
  return tracked.count(link) > 0;
}

PyObject* to_dict(Figures const& figures)
{
  auto into = Ref<>::steal(PyDict_New());
  for (auto const& [name, value] : figures)
    if (not into || not put(into.get(), name, Ref<>::steal(PyFloat_FromDouble(value))))
      return nullptr;
  return into.give();
}

} // namespace

PyObject* host_figures(s4u::Host const* host)
{
  return require_plugin("host_load") ? to_dict(figures_of(host)) : nullptr;
}

PyObject* link_figures(s4u::Link const* link)
{
  return require_tracked(link) ? to_dict(figures_of(link)) : nullptr;
}

PyObject* reset_figures(s4u::Host const* host)
{
  if (not require_plugin("host_load"))
    return nullptr;
  sg_host_load_reset(host);
  Py_RETURN_NONE;
}

PyObject* reset_figures(s4u::Link const* link)
{
  if (not require_tracked(link))
    return nullptr;
  sg_link_load_reset(link);
  Py_RETURN_NONE;
}

} // namespace driver

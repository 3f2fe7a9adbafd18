// The coroutine driver: Python actors as coroutines resumed from SimGrid's maestro.
//
// No SimGrid actor exists. A scheduler registered as SimGrid's first resource model resumes the coroutines that are
// ready each time the engine is about to look for the next event; what they start are bare kernel actions, whose end
// comes back through Work::finish().
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <simgrid/s4u.hpp>

#include "python.hpp"
#include "simgrid_internals.hpp"

namespace simgrid::kernel::lmm {
class System;
System* incremental_system(); // maxmin.cpp: what solves again only what a change affects
// bottleneck.cpp: the same for parallel tasks; with a model that comes before SimGrid's, it also ends them.
void share_among_tasks(routing::NetZoneImpl const* zone, bool ends_them);
std::shared_ptr<resource::Model> model_of_tasks();
double remains_of(resource::Action const* action); // of any model
} // namespace simgrid::kernel::lmm

namespace simgrid::plugin {
// As large as in SimGrid, which does not export them.
struct HostEnergy {
  static xbt::Extension<s4u::Host, HostEnergy> EXTENSION_ID;
  std::array<double, 10> state;
};
struct LinkEnergy {
  static xbt::Extension<s4u::Link, LinkEnergy> EXTENSION_ID;
  std::array<double, 6> state;
};
struct LinkLoad {
  static xbt::Extension<s4u::Link, LinkLoad> EXTENSION_ID;
  std::array<double, 7> state;
};
} // namespace simgrid::plugin

namespace driver {

namespace s4u = simgrid::s4u;
using simgrid::kernel::resource::Action;
using simgrid::kernel::resource::StandardLinkImpl;

constexpr double NEVER      = -1.0;             // a time limit that is none
constexpr double MOST_BYTES = 9007199254740992; // of a read or write: SimGrid counts them in integers

struct Activity;
struct Actor;
struct Host;
struct Pair;
struct Wait;

/// What an activity is. The order matters: see `uses_resources`.
enum class Kind : uint8_t {
  EXEC,
  PTASK,
  READ,
  WRITE,
  SENDTO,
  PUT,
  GET,
  MESS_PUT,
  MESS_GET,
  SLEEP,
  JOIN,
  LOCK,
  ACQUIRE,
  CONDITION,
  BARRIER,
  SUSPEND,
  YIELD
};
enum class State : uint8_t { INITED, STARTING, STARTED, FINISHED, FAILED, CANCELED };
enum class Failure : uint8_t { NONE, NETWORK, HOST, STORAGE, TIMEOUT, CANCEL, ROUTE };

inline bool is_communication(Kind kind)
{
  return kind == Kind::SENDTO || kind == Kind::PUT || kind == Kind::GET;
}

inline bool uses_disk(Kind kind)
{
  return kind == Kind::READ || kind == Kind::WRITE;
}

/// First in, first out, without allocation: the links are in the activities. Holds a reference to each.
struct Fifo {
  Activity* first = nullptr;
  Activity* last  = nullptr;
  Py_ssize_t size = 0;

  void push(Activity* activity);
  Ref<Activity> pop();
  Ref<Activity> remove(Activity* activity);
};

/// The running kernel action of an activity; SimGrid calls finish() when the action ends. Pooled.
class Work final : public simgrid::kernel::activity::ActivityImpl {
public:
  Ref<Activity> owner; // while it runs
  s4u::ExecPtr shadow; // what plug-ins see of an execution, if any listens
  Work* next_free = nullptr;
  void finish() override;
  double remaining() const;
  double remaining_at(double date) const; // without bringing SimGrid up to date; NaN if SimGrid does not tell
  void release();
};

/// Somebody who waits for an activity: directly (wait == nullptr) or with others, or with a time limit.
struct Waiter {
  Actor* actor;
  Wait* wait;
};

/// Hosts and amounts of a parallel task.
struct Parallel {
  std::vector<Host*> hosts;
  std::vector<double> amounts; // flops of each host, then bytes between each two if there are any
};

/// Of an activity that does not start when it is created, and of those that it waits for.
struct Plan {
  std::vector<Ref<Activity>> dependencies; // not over yet, or failed
  std::vector<Ref<Activity>> successors;
};

struct Activity {
  PyObject ob_base{}; // PyObject_HEAD
  Kind kind            = Kind::YIELD;
  State state          = State::INITED;
  Failure failure      = Failure::NONE;
  bool unawaited       = false; // to be awaited, which has not happened yet
  bool detached        = false;
  bool suspended       = false;
  bool peer_first      = false;   // the partner waited first, so it is woken first
  Actor* owner         = nullptr; // borrowed: actors live as long as the process
  Activity* owner_next = nullptr; // in owner->activities while started
  Activity* owner_prev = nullptr;
  Activity* queue_next = nullptr;
  Activity* queue_prev = nullptr;
  Fifo* queue          = nullptr; // where it waits for its partner
  Activity* peer       = nullptr; // borrowed, the other side of a running transfer
  Work* work           = nullptr;
  Waiter waiter{}; // the first waiter
  std::unique_ptr<std::vector<Waiter>> more_waiters;
  Ref<> target;  // mailbox, mutex, joined actor, ...
  Ref<> payload; // what a put carries, what a get received, what a join returns
  Ref<> label;
  Host* source      = nullptr;
  Host* destination = nullptr;
  Pair* pair        = nullptr; // these two, of a transfer that runs
  std::unique_ptr<Parallel> parallel;
  std::unique_ptr<Plan> plan;
  double amount       = 0.0;  // flop, byte, s
  double rate         = -1.0; // byte/s, or the bound of an execution [flop/s]
  double priority     = 1.0;
  double timeout      = NEVER;
  double start        = -1.0;
  double finish       = -1.0;
  uint32_t exceptions = 0; // those of its owner when it was created
  int threads         = 1; // of an execution
  uint64_t number     = 0; // in order of creation
  uint64_t timer      = 0; // the timer that is valid for it, 0: none
};

struct Actor {
  enum class Phase : uint8_t { CREATED, READY, RUNNING, BLOCKED, ENDED };

  PyObject ob_base{}; // PyObject_HEAD
  Ref<> coroutine;
  Ref<> function;
  Ref<> arguments; // tuple
  Ref<> name;
  Ref<> properties; // dict or none
  Ref<> random;
  Ref<> value;
  Ref<> on_exit; // list or none
  Ref<> waiting; // the Activity or Wait that blocks it
  Host* host           = nullptr;
  long pid             = 0;
  Actor* host_next     = nullptr; // in host->actors
  Actor* host_prev     = nullptr;
  Activity* activities = nullptr; // the first of those that it owns, with a reference to each
  double since         = 0.0;
  Fifo joiners;
  uint64_t start_timer = 0;
  uint64_t kill_timer  = 0;
  double kill_time     = NEVER; // armed again when it restarts
  Phase phase          = Phase::CREATED;
  bool suspended       = false;
  bool wake_pending    = false; // what it waited for came while it was suspended
  bool dying           = false;
  bool host_failed     = false;
  bool daemon          = false;
  bool restart         = false;
  bool killed          = false;
  uint32_t exceptions  = 0; // how many were caught in it
};

struct Wait {
  enum class Mode : uint8_t { ONE, ANY, ALL };

  PyObject ob_base{}; // PyObject_HEAD
  Mode mode           = Mode::ONE;
  bool begun          = false;
  bool registered     = false;
  bool timed_out      = false;
  uint32_t exceptions = 0; // those of its creator when it was created
  Actor* creator      = nullptr;
  std::vector<Ref<Activity>> activities;
  Py_ssize_t missing = 0;
  Actor* actor       = nullptr;
  Activity* winner   = nullptr; // borrowed from activities
  double timeout     = NEVER;
  uint64_t timer     = 0;
};

struct Host {
  PyObject ob_base{}; // PyObject_HEAD
  s4u::Host* host = nullptr;
  Ref<> properties;
  Actor* actors = nullptr;
  std::vector<Actor*> boot;    // borrowed: started again each time the host comes back
  Pair* last_pair   = nullptr; // of a transfer from here; the first thing to look at
  int index         = 0;
  int running       = 0;     // executions in progress
  int suspended     = 0;     // of those
  bool stopped      = false; // its speed is 0
  double busy_since = 0.0;
  double busy       = 0.0; // s
  double flops      = 0.0;
};

/// Two hosts between which a transfer is possible.
struct Pair {
  Host* source;
  Host* destination;
  std::vector<StandardLinkImpl*> links; // of the route, and back with cross-traffic, once they are known
  size_t there            = 0;          // how many of them lead there
  bool unusual            = false;      // only SimGrid itself starts transfers between them
  double latency          = 0.0;        // of the route, as SimGrid adds it up [s]
  double latency_of_links = 0.0;        // in another order [s]
  double bytes            = 0.0;        // that were transferred
  int resource            = -1;         // its code in the trace, -1: none yet
};

struct Disk {
  PyObject ob_base{}; // PyObject_HEAD
  s4u::Disk* disk = nullptr;
  Host* host      = nullptr;
  Ref<> name;
  Ref<> properties;
  int resource = -1; // its code in the trace, -1: none yet
};

inline PyTypeObject blank_type()
{
  PyTypeObject type{};
  Py_SET_REFCNT(reinterpret_cast<PyObject*>(&type), 1);
  return type;
}

// ---- types (one per file) -------------------------------------------------------------------------------------------
extern PyTypeObject ActivityType;
extern PyTypeObject ActorType;
extern PyTypeObject WaitType;
extern PyTypeObject HostType;
extern PyTypeObject DiskType;
extern PyTypeObject LinkType;
extern PyTypeObject MailboxType;
extern PyTypeObject MessageQueueType;
extern PyTypeObject MutexType;
extern PyTypeObject SemaphoreType;
extern PyTypeObject ConditionType;
extern PyTypeObject BarrierType;

// ---- engine.cpp: the state of the one simulation of this process ----------------------------------------------------
/// Thrown through SimGrid's engine to end the run; the reason is in the Simulation.
struct StopRun {};

struct Simulation {
  s4u::Engine* engine   = nullptr;
  Actor* current        = nullptr;
  long last_pid         = 0;
  long alive            = 0; // actors that were spawned and have not ended
  long daemons          = 0;
  bool tracing          = false;
  bool trace_full       = false; // ends the run
  int64_t trace_limit   = 0;     // memory that the trace may occupy [byte]
  bool host_energy      = false;
  bool link_energy      = false;
  bool executions_heard = false; // plug-ins listen to the signals of executions
  bool transfers_heard  = false;
  double limit          = NEVER;
  double stepped        = 0.0; // the engine's models are up to date to here
  double stepped_before = 0.0;
  // Objects that live until the process ends.
  PyObject* failed_actor = nullptr;
  PyObject* report       = nullptr; // called with what, actor, host and place of an operation that is never awaited
  long expected_awaits   = 0;       // operations that exist and were not awaited yet
  bool locating          = false;   // whether to note where operations are created, which takes time
  PyObject* error        = nullptr; // ends the run after the step of the actor that runs
  PyObject* progress     = nullptr;
  PyObject* logger       = nullptr; // called with level and message of what an actor logs
  int log_level          = 0;       // of the least level that is written
  PyObject* pausing      = nullptr; // called with the date of the next event, gives the date to go to
  double pause           = std::numeric_limits<double>::infinity(); // no event later than this happens without it
  PyObject* mailboxes    = nullptr;
  PyObject* queues       = nullptr;
  PyObject* named        = nullptr; // synchronisation objects by (kind, name)
  PyObject* actors       = nullptr; // list in order of pid
  std::vector<Actor*> living;       // of those; who has ended leaves when they are asked for
  PyObject* seed = nullptr;
};
extern Simulation sim;

inline double now()
{
  return s4u::Engine::get_clock();
}

PyObject* error_class(const char* name); // borrowed, from simplugin.core.errors

// ---- scheduler.cpp --------------------------------------------------------------------------------------------------
enum class Alarm : uint8_t { ACTIVITY, TIMEOUT, WAIT, START, KILL };
/// Arms a timer on `object` (kept alive until then); returns its number, to be compared when it rings.
uint64_t set_timer(double date, Alarm alarm, PyObject* object);
void forget_timer(uint64_t& timer);
bool timers_are_set();
void install_scheduler();
void stop_at_profiles(); // the engine, at each of their events
void make_ready(Actor* actor);
void drain();

// ---- actor.cpp ------------------------------------------------------------------------------------------------------
/// An actor that does not run yet; none with an exception set.
Ref<Actor> spawn(Ref<> function, Ref<> arguments, Host* host, Ref<> name, Ref<> properties, bool daemon, bool restart);
void start_actor(Actor* actor); // one whose host is off is killed, and starts again with it if restartable
bool require_on(Host const* host, PyObject* name); // false with an exception set
void resume(Actor* actor);
void wake(Actor* actor);
void block(Actor* actor, PyObject* on);
void kill(Actor* actor, bool host_failed);
void suspend(Actor* actor);
void migrate(Actor* actor, Host* host);
void start_again_at_boot(Actor* actor);
void arm_kill(Actor* actor, double date);
void host_switched(s4u::Host const& host);
void end_daemons();
void raise_kill();
[[noreturn]] void end_run();                 // with sim.error
Actor* running_actor(const char* operation); // sets an exception and returns nullptr outside of an actor

// ---- activity.cpp ---------------------------------------------------------------------------------------------------
Ref<Activity> new_activity(Kind kind, Actor* owner);
void recycle(Activity* activity); // destroys a dead one and keeps its memory
/// Starts it; false with a Python exception set when it cannot be.
bool start(Activity* activity);
void own(Activity* activity); // into the owner's list
void disown(Activity* activity);
/// Ends it and wakes who waits for it.
void complete(Activity* activity, State state, Failure failure);
/// Ends it early, whatever it is doing; the partner of a transfer gets a network failure.
void abort_activity(Activity* activity, State state, Failure failure);
void suspend_activity(Activity* activity);
void resume_activity(Activity* activity);
void add_waiter(Activity* activity, Waiter waiter);
void remove_waiter(Activity* activity, Actor* actor);
PyObject* take_result(Activity* activity); // new reference, or an exception
PyObject* done_awaitable();                // returns None at once
void raise_failure(Activity* activity, Failure failure);
std::string describe(PyObject* waiting, bool with_plan = true); // with what a planned activity waits for
/// An awaitable of `kind` that starts when awaited.
PyObject* blocking_operation(Kind kind, PyObject* target, double timeout);
bool set_label(Activity* activity, PyObject* label); // nullptr and None: none; false with an exception set
/// Texts of SimGrid for Python; none with a PlatformError set if it is not UTF-8.
Ref<> text(std::string const& value);
bool put(PyObject* dict, const char* key, Ref<> const& value); // false with an exception set
PyObject* itself(PyObject* self);
/// For callers that drive an awaitable by hand instead of by PyIter_Send.
PyObject* next_by_hand(PyObject* self, sendfunc send);
PyObject* to_be_awaited(Ref<Activity> activity); // to Python; nullptr if there is none
inline bool is_over(Activity const* activity)
{
  return activity->state > State::STARTED;
}

// ---- plans.cpp: activities before they start ------------------------------------------------------------------------
enum class Launch : uint8_t { WHEN_AWAITED, NOW, LATER };
PyObject* launch(Ref<Activity> activity, Launch when); // to Python; nullptr if there is none
bool is_planned(Activity const* activity);             // it has not started
bool start_planned(Activity* activity);                // now, or when it is assigned and what comes before is over
void release_successors(Activity* activity);
void describe_plan(Activity const* activity, std::string& text);
/// Sets where a planned activity is to run, and starts it if that was missing; false with an exception set.
bool place(Activity* activity, Host*& where, PyObject* value, const char* what);
PyObject* activity_start(PyObject* self, PyObject* unused);
PyObject* activity_detach(PyObject* self, PyObject* unused);
PyObject* activity_add_successor(PyObject* self, PyObject* value);
PyObject* activity_remove_successor(PyObject* self, PyObject* value);
PyObject* activity_dependencies(PyObject* self, void* closure);
PyObject* get_source(PyObject* self, void* closure);
PyObject* get_destination(PyObject* self, void* closure);
PyObject* get_disk(PyObject* self, void* closure);
int set_source(PyObject* self, PyObject* value, void* closure);
int set_destination(PyObject* self, PyObject* value, void* closure);
int set_disk(PyObject* self, PyObject* value, void* closure);

// ---- awaits.cpp: operations that are never awaited ------------------------------------------------------------------
void note_place(PyObject const* operation);
void forget_place(PyObject const* operation);
/// A new operation; returns how many exceptions its creator has caught so far.
inline uint32_t expect_await(PyObject const* operation, Actor const* creator)
{
  sim.expected_awaits++;
  if (sim.locating)
    note_place(operation);
  return creator == nullptr ? 0 : creator->exceptions;
}
inline void awaited(PyObject const* operation)
{
  sim.expected_awaits--;
  if (sim.locating)
    forget_place(operation);
}
/// It goes away; an error unless an exception or a kill is the reason.
void never_awaited(PyObject* operation, Actor const* creator, uint32_t exceptions);
extern PyMethodDef await_functions[];

// ---- looking.cpp: the state of a simulation that pauses -----------------------------------------------------------
extern PyMethodDef looking_functions[];

// ---- callbacks.cpp: functions of the user's
// ---------------------------------------------------------------------------
/// An activity that has ended, for the monitor if there is one; kind and state as in the trace.
void announce(Activity const* activity, int kind, int state, double amount);
void tell_monitors(); // and ends the run if a callback has failed
extern PyMethodDef callback_functions[];

// ---- work.cpp: kernel actions ---------------------------------------------------------------------------------------
void start_execution(Activity* activity);
void start_disk_operation(Activity* activity);
void migrate_execution(Activity* activity, Host* host);
void prioritise(Activity* activity, double priority);                      // an execution, read or write
void note_use_by(Activity const* activity, int executions, int suspended); // of hosts, by an execution
bool start_parallel(Activity* activity);
bool takes_parallel_tasks();
bool require_load();                         // of hosts; false with an exception set where SimGrid does not know it
bool takes_threads_and_bounds();             // of executions
std::vector<Activity*> in_progress();        // what occupies hosts and links, in order of creation
void fail_transfers(s4u::Host const* host);  // the direct ones from or to a host that went off
void fail_executions(s4u::Host const* host); // all that is left there
/// A transfer from activity->source to activity->destination; `partner` is the other side, or nullptr.
void start_transfer(Activity* activity, Activity* partner);

// ---- stops.cpp: what has no capacity --------------------------------------------------------------------------------
constexpr double NOTHING = 1e-250; // what SimGrid has for a capacity of 0 [flop/s or byte/s]
void note_stops();                 // from now on, also of what the platform's file says
void look_at_stops();              // once the platform is loaded
std::shared_ptr<simgrid::kernel::resource::Model> model_of_stops();
bool is_stopped(simgrid::kernel::lmm::Constraint const* constraint);
bool stands_still(Action const& action); // and no profile changes that
double load_of(double used);             // without what passes where nothing passes
double bandwidth_of(s4u::Link const* link);
void set_bandwidth(s4u::Link* link, double bandwidth);
void set_bandwidth(s4u::Disk* disk, double bandwidth, bool of_reading);

// ---- flows.cpp ------------------------------------------------------------------------------------------------------
Action* start_flow(Pair& pair, double size, double rate);
/// Sets a bandwidth or latency. SimGrid's setter adds the difference to the weight of each transfer there, also where
/// it is on the way back, and aborts if the sum is negative, be it by rounding.
void change_link(s4u::Link const* link, std::function<void()> const& setter);
void follow_profiles(); // by change_link()

// ---- waiting.cpp ----------------------------------------------------------------------------------------------------
void notify(Wait* wait, Activity* activity);
void time_out(Wait* wait);
void unregister(Wait* wait);
PyObject* new_wait(Wait::Mode mode, PyObject* activities, double timeout);

// ---- synchro.cpp ----------------------------------------------------------------------------------------------------
bool start_synchro(Activity* activity);
void condition_timed_out(Activity* activity);
void give_back(Activity* activity, Actor* actor);

// ---- mailbox.cpp ----------------------------------------------------------------------------------------------------
bool start_rendezvous(Activity* activity);

// ---- platform.cpp ---------------------------------------------------------------------------------------------------
Host* host_of(s4u::Host const* host);                             // borrowed: lives as long as the simulation
Host* host_argument(PyObject* value, Host* standard);             // Host, name or None; nullptr with an exception set
bool set_available_speed(s4u::Host const* host, PyObject* value); // false with an exception set
PyObject* concurrency_limit(simgrid::kernel::lmm::Constraint const* of);
int limit_concurrency(simgrid::kernel::lmm::Constraint* of, PyObject* value); // -1 with an exception set
/// Changes the platform; from an actor of the reference back end that is a request to maestro, and others run
/// meanwhile. False with an exception set if it has killed the actor.
bool change(std::function<void()> const& body);
PyObject* link_object(s4u::Link* link);
PyObject* link_named(PyObject* name);
PyObject* all_hosts();
PyObject* all_links();
PyObject* find_route(Host* source, Host* destination);

/// A dictionary that is made once.
PyObject* properties_dict(Ref<>& cache, std::unordered_map<std::string, std::string> const* properties);

// ---- disks.cpp ------------------------------------------------------------------------------------------------------
PyObject* disks_of(Host const* host);
Disk* disk_under(Activity const* activity); // of a read or write
Action* start_reading_or_writing(Activity const* activity);

// ---- plugins.cpp: SimGrid's plug-ins --------------------------------------------------------------------------------
void execution_started(Activity* activity);
void execution_migrated(Activity const* activity);
void execution_suspended(Work const* work, bool suspended);
void execution_over(Activity const* activity, State state);
void signal_ended_executions();
void transfer_started(s4u::Host* source, s4u::Host* destination, Action* action);
void transfer_over(Activity const* activity);
void keep_daemons(); // of plug-ins, until end_daemons_of_plugins()
/// Ends them when no actor of ours is left, or when nothing can happen to any; `nothing_is_set`: there is no timer.
bool end_daemons_of_plugins(bool nothing_is_set);
PyObject* prepare_plugins(PyObject* module, PyObject* args);
/// Before time passes: SimGrid's plug-in begins with pstate 0, whatever a host has.
void bill_pstates();
void note_switches();                    // engine.cpp: from now on, when hosts go off and on
bool share_incrementally();              // false with an exception set where SimGrid would share wrongly
double remains_of(Action const* action); // without what has happened since the last step of the engine
PyObject* host_properties(PyObject* module, PyObject* name);
PyObject* plugin_figures(PyObject* module, PyObject* unused);
PyObject* host_figures(s4u::Host const* host); // so far; nullptr with an exception set if the plug-in is not loaded
PyObject* link_figures(s4u::Link const* link);
PyObject* reset_figures(s4u::Host const* host);
PyObject* reset_figures(s4u::Link const* link);

// ---- routes.cpp: what SimGrid would abort on ------------------------------------------------------------------------
std::string route_problem(s4u::Host const* source, s4u::Host const* destination); // empty: none
std::string transfer_problem(s4u::Host* source, s4u::Host* destination);          // the same for a transfer
Pair* pair_of(Host* source, Host* destination);         // nullptr if no transfer is possible; quick
std::deque<Pair>& all_pairs();                          // in order of their first transfers
bool require_transfer(Host* source, Host* destination); // false with a NoRouteError set
bool set_wifi_rate(s4u::Link const* link, s4u::Host const* host, long level); // false with an exception set
bool set_wifi_rates(); // from the hosts' properties; false with an exception set

// ---- reference.cpp: for the back end threads ------------------------------------------------------------------------
extern PyMethodDef reference_functions[];

// ---- record.cpp: totals and trace -----------------------------------------------------------------------------------
/// Asks for what a plug-in has measured. It brings itself up to date then, and would end with another sum.
template <class Plugin, class Resource> double peek(Resource const* of, double (*ask)(Resource const*))
{
  if (not s4u::Actor::is_maestro()) // an actor of the reference back end, and others run before it is answered
    return ask(of);
  auto& state        = of->template extension<Plugin>()->state;
  auto const kept    = state;
  double const found = ask(of);
  state              = kept;
  return found;
}
double host_energy(s4u::Host const* host); // J, NaN without wattages
void note_energy(s4u::Host const* host);   // before its load changes, where the plug-in does not notice
double link_energy(s4u::Link const* link); // J, NaN where SimGrid does not measure it
bool note_link_watts();                    // of links that are off; false with an exception set
/// Notes how many executions more a host has, how many of them are suspended, and whether its speed is 0.
void note_use(Host* host, int executions, int suspended, bool stopped);
void record(Activity* activity, State outcome, double amount);
std::string resource_name(Activity const* activity); // in the trace
PyObject* collect();

// ---- arguments.cpp --------------------------------------------------------------------------------------------------
/// A Python signature: `positional` names may be given by position, the first `required` must be given.
struct Signature {
  const char* function;
  int positional;
  int required;
  std::vector<const char*> names;
  std::vector<PyObject*> interned = {}; // NOLINT(readability-redundant-member-init): else gcc misses it in initialisers
};
using Fast = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*);
inline PyMethodDef fast(const char* name, Fast function, const char* documentation)
{
  return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function)), METH_FASTCALL | METH_KEYWORDS,
          documentation};
}
bool parse(Signature& signature, PyObject* const* args, Py_ssize_t count, PyObject* keywords, PyObject** values);
/// A finite number >= 0, `fallback` for NULL and None; on error sets an exception and returns false.
bool number(PyObject* value, const char* what, double fallback, double& result);
/// The same for what must be given.
bool quantity(PyObject* value, const char* what, double& result);
/// A finite number > 0.
bool positive(PyObject* value, const char* what, double fallback, double& result);

} // namespace driver

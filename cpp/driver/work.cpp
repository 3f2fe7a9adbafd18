// Kernel actions: what occupies hosts and links.

#include "work.hpp"

#include "activity.hpp"
#include "actor.hpp"
#include "arguments.hpp"
#include "disks.hpp"
#include "platform.hpp"
#include "plugins.hpp"
#include "record.hpp"
#include "routes.hpp"
#include "simulation.hpp"
#include "transfers.hpp"

#include <algorithm>

#include <unordered_set>

#include <simgrid/kernel/routing/NetPoint.hpp>
#include <simgrid/kernel/routing/NetZoneImpl.hpp>
#include <xbt/config.hpp>

namespace driver {

namespace {

Work* free_works = nullptr;
bool finishing   = false;                // a work of which SimGrid says that it is over
std::vector<Work*> works;                // all there are
std::unordered_set<Activity*> transfers; // in progress whose source no actor answers for: direct ones, detached puts

Work* new_work(Activity* owner)
{
  Work* work;
  if (free_works != nullptr) {
    work       = free_works;
    free_works = work->next_free;
  } else {
    work = new Work();
    intrusive_ptr_add_ref(work); // lives until the process ends
    works.push_back(work);
  }
  work->owner = Ref<Activity>::share(owner);
  owner->work = work;
  return work;
}

void run(Activity* activity, Action* action)
{
  Work* work          = new_work(activity);
  work->model_action_ = action;
  action->set_activity(work);
}

/// Whether SimGrid counts in fractions what we count in flop or byte: under ptask_L07 all but disks.
bool counts_fractions(Kind kind)
{
  return kind != Kind::PTASK && not uses_disk(kind) && takes_parallel_tasks();
}

bool is_running(Action const* action)
{
  auto const state = action->get_state();
  return state == Action::State::STARTED || state == Action::State::INITED; // as bottleneck.cpp has it
}

bool any_host_off(Activity const* activity)
{
  if (activity->kind != Kind::PTASK)
    return not activity->destination->host->is_on();
  for (Host const* host : activity->parallel->hosts)
    if (not host->host->is_on())
      return true;
  return false;
}

} // namespace

/// Work left [flop or byte], a fraction of a parallel task.
double Work::remaining() const
{
  Action* action = model_action_;
  if (action == nullptr || action->get_state() == Action::State::FINISHED)
    return 0.0;
  bool const failed = action->get_state() == Action::State::FAILED;
  double left;
  if (owner->kind == Kind::EXEC && action->get_variable() == nullptr) // cpu/optim:TI
    left = failed ? action->get_remains_no_update() : action->get_remains();
  else if (not action->get_model()->is_update_lazy()) // up to date at each step of the engine
    left = remains_of(action) - action->get_rate() * (now() - (failed && finishing ? sim.stepped_before : sim.stepped));
  else // what get_remains() would give, which brings the action up to date: other last bits later
    left = action->get_remains_no_update() - action->get_last_value() * (now() - action->get_last_update());
  if (counts_fractions(owner->kind))
    left *= owner->amount;
  return std::max(0.0, left);
}

double Work::remaining_at(double date) const
{
  Action const* action = model_action_;
  if (action->get_variable() == nullptr)
    return std::numeric_limits<double>::quiet_NaN();
  double const known = action->get_model()->is_update_lazy() ? action->get_last_update() : sim.stepped;
  double left        = remains_of(action) - action->get_rate() * (date - known);
  if (counts_fractions(owner->kind))
    left *= owner->amount;
  return std::max(0.0, left);
}

std::vector<Activity*> in_progress()
{
  std::vector<Activity*> found;
  for (Work const* work : works)
    if (work->owner)
      found.push_back(work->owner.get());
  std::sort(found.begin(), found.end(), [](Activity* a, Activity* b) { return a->number < b->number; });
  return found;
}

/// Back into the pool; the action, if it has not ended, is destroyed and frees its share of the resource at once.
void Work::release()
{
  Ref<Activity> const activity = std::move(owner);
  if (activity->kind == Kind::SENDTO || activity->detached)
    transfers.erase(activity.get());
  if (model_action_ != nullptr) {
    if (is_running(model_action_))
      model_action_->cancel();
    model_action_->set_activity(nullptr);
    clean_action();
  }
  activity->work = nullptr;
  next_free      = free_works;
  free_works     = this;
}

void Work::finish()
{
  Ref<Activity> const kept = owner;
  Activity* const activity = kept.get();
  if (activity == nullptr)
    return;
  finishing         = true; // it failed before the last step, which did not bring it up to date
  bool const failed = model_action_->get_state() == Action::State::FAILED;
  if (is_communication(activity->kind)) {
    bool const ends_on = activity->source->host->is_on() && activity->destination->host->is_on();
    if (failed || not ends_on)
      abort_activity(activity, State::FAILED, Failure::NETWORK);
    else
      complete(activity, State::FINISHED, Failure::NONE);
  } else if (uses_disk(activity->kind)) {
    bool const off = not disk_under(activity)->disk->is_on();
    if (failed)
      abort_activity(activity, off ? State::FAILED : State::CANCELED, off ? Failure::STORAGE : Failure::CANCEL);
    else
      complete(activity, State::FINISHED, Failure::NONE);
  } else if (bool const off = any_host_off(activity); failed || off) { // under cpu/optim:TI it ends well on a dead host
    abort_activity(activity, off ? State::FAILED : State::CANCELED, off ? Failure::HOST : Failure::CANCEL);
  } else {
    complete(activity, State::FINISHED, Failure::NONE);
  }
  finishing = false;
}

void fail_transfers(s4u::Host const* host)
{
  std::vector<Activity*> failed;
  // NOLINTNEXTLINE(bugprone-nondeterministic-pointer-iteration-order): they are sorted below
  for (Activity* activity : transfers)
    if (activity->source->host == host || (activity->kind == Kind::SENDTO && activity->destination->host == host))
      failed.push_back(activity);
  std::sort(failed.begin(), failed.end(), [](Activity* a, Activity* b) { return a->number < b->number; });
  for (Activity* activity : failed)
    abort_activity(activity, State::FAILED, Failure::NETWORK);
}

namespace {

/// Several threads have the weight of as many executions.
double penalty_of(Activity const* activity)
{
  return 1.0 / (activity->priority * activity->threads);
}

Action* execution_on(s4u::Host const* host, Activity const* activity, double flops)
{
  auto* cpu = host->get_cpu();
  return activity->threads == 1 ? cpu->execution_start(flops, activity->rate)
                                : cpu->execution_start(flops, activity->threads, activity->rate);
}

/// The model of parallel tasks knows no latency where no bytes are transferred.
void pay_latency(Activity const* activity, Action* action)
{
  std::vector<s4u::Link*> route;
  double latency = 0.0;
  activity->source->host->route_to(activity->destination->host, route, &latency);
  if (latency <= 0)
    return;
  static_cast<simgrid::kernel::resource::L07Action*>(action)->set_latency(latency);
  action->get_model()->get_maxmin_system()->update_variable_penalty(action->get_variable(), 0.0);
}

} // namespace

void start_execution(Activity* activity)
{
  Action* action = execution_on(activity->destination->host, activity, activity->amount);
  if (activity->priority != 1.0 || activity->threads > 1) // SimGrid would forget the threads when it resumes
    action->set_sharing_penalty(penalty_of(activity));
  run(activity, action);
  execution_started(activity);
  note_use_by(activity, 1, 0);
  if (action->get_state() == Action::State::FAILED || any_host_off(activity)) // ptask_L07 finds out later
    abort_activity(activity, State::FAILED, Failure::HOST);
}

void start_disk_operation(Activity* activity)
{
  run(activity, start_reading_or_writing(activity));
  if (activity->work->model_action_->get_state() == Action::State::FAILED)
    abort_activity(activity, State::FAILED, Failure::STORAGE);
}

void migrate_execution(Activity* activity, Host* host)
{
  Action* old = activity->work->model_action_;
  if (not is_running(old))
    return; // it failed at this very date: who waits for it is about to hear
  double const left = activity->work->remaining();
  Action* action    = execution_on(host->host, activity, left);
  action->set_sharing_penalty(penalty_of(activity));
  if (activity->suspended)
    action->suspend();
  activity->destination->flops += activity->amount - left;
  note_use_by(activity, -1, activity->suspended ? -1 : 0);
  old->set_activity(nullptr);
  old->cancel();
  old->unref();
  activity->work->model_action_ = action;
  action->set_activity(activity->work);
  execution_migrated(activity);
  activity->amount      = left;
  activity->destination = host;
  note_use_by(activity, 1, activity->suspended ? 1 : 0);
}

void note_use_by(Activity const* activity, int executions, int suspended)
{
  if (activity->kind == Kind::EXEC)
    note_use(activity->destination, executions, suspended, activity->destination->stopped);
  else if (activity->kind == Kind::PTASK)
    for (Host* host : activity->parallel->hosts)
      note_use(host, executions, suspended, host->stopped);
}

void prioritise(Activity* activity, double priority)
{
  activity->priority = priority;
  if (activity->state != State::STARTED || activity->work == nullptr)
    return;
  Action* action = activity->work->model_action_;
  if (activity->suspended)
    action->set_sharing_penalty_no_update(penalty_of(activity));
  else if (is_running(action))
    action->set_sharing_penalty(penalty_of(activity));
}

bool takes_parallel_tasks()
{
  static bool const parallel = simgrid::config::get_value<std::string>("host/model") == "ptask_L07";
  return parallel;
}

namespace {

bool integrates_profiles()
{
  static bool const integrates = simgrid::config::get_value<std::string>("cpu/optim") == "TI";
  return integrates;
}

} // namespace

/// SimGrid does so itself, but under cpu/optim:TI only at the date at which they would have ended.
void fail_executions(s4u::Host const* host)
{
  if (not integrates_profiles())
    return;
  for (Activity* activity : in_progress())
    if (activity->kind == Kind::EXEC && activity->destination->host == host)
      abort_activity(activity, State::FAILED, Failure::HOST);
}

bool require_load()
{
  if (integrates_profiles())
    PyErr_SetString(
        error_class("SimpluginError"),
        "with cpu/optim:TI, SimGrid neither knows the load of hosts nor changes their speed; choose Lazy or Full");
  return not integrates_profiles();
}

bool takes_threads_and_bounds()
{
  return not integrates_profiles() && not takes_parallel_tasks();
}

bool start_parallel(Activity* activity)
{
  std::vector<s4u::Host*> hosts;
  for (Host const* host : activity->parallel->hosts)
    hosts.push_back(host->host);
  auto const& model    = hosts.front()->get_netpoint()->get_englobing_zone()->get_host_model();
  double const* flops  = activity->parallel->amounts.data();
  double const* bytes  = activity->parallel->amounts.size() > hosts.size() ? flops + hosts.size() : nullptr;
  Action* const action = model->execute_parallel(hosts, flops, bytes, -1.0);
  run(activity, action);
  execution_started(activity);
  for (Host* host : activity->parallel->hosts)
    note_energy(host->host);
  note_use_by(activity, 1, 0);
  if (any_host_off(activity))
    abort_activity(activity, State::FAILED, Failure::HOST);
  return true;
}

void start_transfer(Activity* activity, Activity* partner)
{
  s4u::Host* source      = activity->source->host;
  s4u::Host* destination = activity->destination->host;
  if (partner != nullptr) {
    activity->peer = partner;
    partner->peer  = activity;
    // Named by the error if there is no route.
    partner->source      = activity->source;
    partner->destination = activity->destination;
  }
  if (not source->is_on() || not destination->is_on()) { // a detached put can outlive its host
    abort_activity(activity, State::FAILED, Failure::NETWORK);
    return;
  }
  activity->pair = pair_of(activity->source, activity->destination);
  if (activity->pair == nullptr) {
    abort_activity(activity, State::FAILED, Failure::ROUTE);
    return;
  }
  Action* action  = start_flow(*activity->pair, activity->amount, activity->rate);
  activity->start = now();
  if (activity->amount == 0 && takes_parallel_tasks())
    pay_latency(activity, action);
  run(activity, action);
  if (activity->kind == Kind::SENDTO || activity->detached)
    transfers.insert(activity);
  if (partner != nullptr)
    partner->start = activity->start;
  transfer_started(source, destination, action);
  if (action->get_state() == Action::State::FAILED)
    abort_activity(activity, State::FAILED, Failure::NETWORK);
  else if (partner != nullptr && ((activity->owner->suspended && not activity->detached) || partner->owner->suspended))
    action->suspend(); // what suspended a put or get that waited for its partner does not count, as in SimGrid
}

} // namespace driver

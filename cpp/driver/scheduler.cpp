// When coroutines are resumed: a model of SimGrid's engine whose "actions" are ready actors and timers.
//
// Order at equal dates: timers in the order in which they were set, then the ends of activities in SimGrid's order
// (hosts, network, parallel tasks; within one of them, SimGrid's own), and whoever is woken runs in the order of
// waking.

#include "scheduler.hpp"

#include "activity.hpp"
#include "actor.hpp"
#include "arguments.hpp"
#include "callbacks.hpp"
#include "platform.hpp"
#include "plugins.hpp"
#include "simulation.hpp"
#include "synchro.hpp"
#include "wait.hpp"
#include "zero_capacity.hpp"

#include <algorithm>
#include <chrono>
#include <memory>

#include <simgrid/kernel/resource/Model.hpp>

namespace driver {

namespace {

struct Timer {
  double date;
  uint64_t number;
  Alarm alarm;
  Ref<> object;
};
struct Later {
  bool operator()(Timer const& a, Timer const& b) const
  {
    return a.date > b.date || (a.date == b.date && a.number > b.number);
  }
};

std::vector<Timer> timers; // a heap; entries whose object no longer names them are dropped when met
uint64_t last_timer = 0;
size_t stale_timers = 0;
std::vector<Timer> expired;    // time limits of this date: what ends at the very limit is in time
std::vector<Ref<Actor>> ready; // drained from ready_head on
size_t ready_head = 0;

uint64_t& timer_of(Timer const& timer)
{
  switch (timer.alarm) {
    case Alarm::WAIT:
      return reinterpret_cast<Wait*>(timer.object.get())->timer;
    case Alarm::START:
      return reinterpret_cast<Actor*>(timer.object.get())->start_timer;
    case Alarm::KILL:
      return reinterpret_cast<Actor*>(timer.object.get())->kill_timer;
    default:
      return reinterpret_cast<Activity*>(timer.object.get())->timer;
  }
}

bool is_stale(Timer const& timer)
{
  return timer_of(timer) != timer.number;
}

Timer take_top()
{
  std::pop_heap(timers.begin(), timers.end(), Later());
  Timer timer = std::move(timers.back());
  timers.pop_back();
  return timer;
}

void drop_stale_top()
{
  while (not timers.empty() && is_stale(timers.front())) {
    stale_timers--;
    take_top();
  }
}

/// Time limits that were met in time stay in the heap until their date: clear them out when they are the most of it.
void compact()
{
  if (stale_timers < 1024 || stale_timers * 2 < timers.size())
    return;
  auto const stale =
      std::partition(timers.begin(), timers.end(), [](Timer const& timer) { return not is_stale(timer); });
  std::vector<Timer> const dropped(std::make_move_iterator(stale), std::make_move_iterator(timers.end()));
  timers.erase(stale, timers.end());
  std::make_heap(timers.begin(), timers.end(), Later());
  stale_timers = 0;
}

void ring(Timer const& timer)
{
  timer_of(timer) = 0;
  switch (timer.alarm) {
    case Alarm::ACTIVITY:
      complete(reinterpret_cast<Activity*>(timer.object.get()), State::FINISHED, Failure::NONE);
      break;
    case Alarm::START:
      start_actor(reinterpret_cast<Actor*>(timer.object.get()));
      break;
    case Alarm::KILL:
      kill(reinterpret_cast<Actor*>(timer.object.get()), false);
      break;
    default:
      expired.push_back(timer);
      break;
  }
}

void expire(Timer const& timer)
{
  if (timer.alarm == Alarm::WAIT) {
    time_out(reinterpret_cast<Wait*>(timer.object.get()));
    return;
  }
  auto* activity = reinterpret_cast<Activity*>(timer.object.get());
  if (is_over(activity))
    return;
  if (activity->kind == Kind::CONDITION)
    condition_timed_out(activity);
  else
    abort_activity(activity, State::CANCELED, Failure::TIMEOUT);
}

void ring_until(double date)
{
  for (drop_stale_top(); not timers.empty() && timers.front().date <= date; drop_stale_top())
    ring(take_top());
}

/// Lets Python see signals now and then, and calls progress(clock, actors alive) up to twenty times a second.
void look_around()
{
  using std::chrono::steady_clock;
  static unsigned steps = 0;
  static steady_clock::time_point next;
  if ((++steps & 0x3FF) == 0 && PyErr_CheckSignals() != 0)
    throw StopRun();
  if (sim.trace_full)
    throw StopRun();
  if (sim.progress == nullptr || steady_clock::now() < next)
    return;
  next = steady_clock::now() + std::chrono::milliseconds(50);
  if (not Ref<>::steal(PyObject_CallFunction(sim.progress, "dl", now(), sim.alive)))
    throw StopRun();
}

bool something_failed()
{
  for (auto* model : sim.engine->get_all_models())
    if (not model->get_failed_action_set()->empty())
      return true;
  return false;
}

/// Lets whoever goes step by step look around, until they want to go as far as the next event; returns its date, which
/// is an earlier one if they placed an actor.
double pause_before(double event)
{
  while (event > sim.pause) {
    auto const further = Ref<>::steal(PyObject_CallFunction(sim.pausing, "d", event));
    if (not further)
      throw StopRun();
    sim.pause = PyFloat_AsDouble(further.get());
    if (ready_head < ready.size())
      return now();
    drop_stale_top();
    if (not timers.empty())
      event = std::min(event, timers.front().date);
  }
  return event;
}

class Scheduler final : public simgrid::kernel::resource::Model {
public:
  Scheduler() : Model("simplugin_scheduler") {}

  /// Called first in each step of the engine: all that runs at this date runs now, before the other models look ahead.
  double next_occurring_event(double date) override
  {
    drain();
    look_around();
    if (something_failed())
      return 0.0; // an actor turned off what others use: they hear of it now, not at the next event
    drop_stale_top();
    if (end_daemons_of_plugins(timers.empty()))
      return 0.0;
    return timers.empty() ? -1.0 : std::max(0.0, timers.front().date - date);
  }

  void update_actions_state(double date, double /*delta*/) override
  {
    if (not timers.empty())
      ring_until(date);
  }
};

/// A model that is not idempotent makes the engine stop at every event of a profile, even where nobody computes:
/// actors that sleep or wait on a host have to be killed, or started again, at the very date.
class ProfileDates final : public simgrid::kernel::resource::Model {
public:
  ProfileDates() : Model("simplugin_profile_dates") {}
  /// `delta` is the time to the next event. The simulated limit is here too, where it is known that one is to come, and
  /// so are pauses: they add no event, which would change the last bits of what goes on.
  double next_occurring_event(double delta) override
  {
    if (delta <= 0)
      return -1.0;
    double event = now() + delta;
    if (sim.limit >= 0 && sim.alive > 0 && event > sim.limit) {
      if (now() >= sim.limit)
        throw StopRun();
      event = sim.limit;
    }
    double const first = pause_before(event);
    return first < now() + delta ? first - now() : -1.0;
  }

  void update_actions_state(double /*date*/, double /*delta*/) override {}
  bool next_occurring_event_is_idempotent() override { return false; }
};

} // namespace

uint64_t set_timer(double date, Alarm alarm, PyObject* object)
{
  timers.push_back({date, ++last_timer, alarm, Ref<>::share(object)});
  std::push_heap(timers.begin(), timers.end(), Later());
  return last_timer;
}

bool timers_are_set()
{
  return not timers.empty();
}

void forget_timer(uint64_t& timer)
{
  if (timer == 0)
    return;
  timer = 0;
  stale_timers++;
  compact();
}

void install_scheduler()
{
  sim.engine->add_model(std::make_shared<Scheduler>());
  stop_at_profiles();
  s4u::Host::on_onoff_cb(host_switched);
}

void stop_at_profiles()
{
  s4u::Engine::get_instance()->add_model(model_of_zero_capacity());
  s4u::Engine::get_instance()->add_model(std::make_shared<ProfileDates>());
  s4u::Engine::on_time_advance_cb([](double /*delta*/) {
    sim.stepped_before = sim.stepped;
    sim.stepped        = now();
  });
}

void make_ready(Actor* actor)
{
  actor->phase = Actor::Phase::READY;
  ready.push_back(Ref<Actor>::share(actor));
}

void go_first()
{
  std::rotate(ready.begin() + static_cast<ptrdiff_t>(ready_head), ready.end() - 1, ready.end());
}

void compete(Contest& contest, Actor const* actor)
{
  if (contest.date == now() && contest.actor != actor && sim.last_tie != now()) {
    sim.last_tie = now();
    sim.ties++;
  }
  contest = {now(), actor};
}

void drain()
{
  sim.stepped_before = sim.stepped; // from here on, also what fails has been brought up to date to this date
  signal_ended_executions();
  tell_monitors();
  for (Timer const& timer : std::exchange(expired, {}))
    expire(timer);
  while (true) {
    while (ready_head < ready.size()) {
      if (sim.order)
        std::swap(ready[ready_head], ready[ready_head + (*sim.order)() % (ready.size() - ready_head)]);
      Ref<Actor> const actor = std::move(ready[ready_head++]);
      if (ready_head > 4096 && ready_head * 2 > ready.size()) {
        ready.erase(ready.begin(), ready.begin() + static_cast<ptrdiff_t>(ready_head));
        ready_head = 0;
      }
      resume(actor.get());
      if (sim.error != nullptr)
        end_run();
    }
    ready.clear();
    ready_head = 0;
    tell_monitors();
    if (sim.daemons == 0 || sim.alive > sim.daemons)
      return;
    end_daemons(); // only daemons are left: they end with the others
  }
}

} // namespace driver

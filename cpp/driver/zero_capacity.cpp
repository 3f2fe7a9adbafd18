// Hosts of speed 0, and links and disks of bandwidth 0: what they do stands still until that changes.
//
// SimGrid takes a capacity of 0 for no limit at all: its solvers leave out such a constraint, and a bound of 0 is none.
// Hence what stands still keeps a capacity, of which nothing is noticed in any time, under all models and solvers; and
// what would end later than anything can happen never ends (docs/simgrid/no-capacity.md).

#include "zero_capacity.hpp"

#include "actor.hpp"
#include "arguments.hpp"
#include "disks.hpp"
#include "platform.hpp"
#include "plugins.hpp"
#include "record.hpp"
#include "scheduler.hpp"
#include "simulation.hpp"
#include "work.hpp"

#include <algorithm>
#include <unordered_set>

#include <simgrid/kernel/Timer.hpp>
#include <xbt/config.hpp>

namespace driver {

namespace {

namespace kernel = simgrid::kernel;
using kernel::lmm::Constraint;
using kernel::resource::CpuImpl;
using kernel::resource::Resource;

constexpr double FOREVER   = 1e100;  // [s]
constexpr double NO_LOAD   = 1e-200; // [flop/s or byte/s]
constexpr double BANDWIDTH = 1e12;   // of a link that has had none yet [byte/s]

std::unordered_set<Constraint const*> stopped;

// SimGrid corrects the weights of transfers by a term of the old bandwidth and one of the new one, which must not be 0:
// while a link stands still it keeps the bandwidth that it had before.
std::unordered_map<StandardLinkImpl const*, double> bandwidths;

// Access control does not apply to the arguments of an explicit instantiation.
template <class Key, auto member> struct Reveal {
  friend auto metric_of(Key /*key*/) { return member; }
};
struct Speed {
  friend auto metric_of(Speed /*key*/);
};
struct Bandwidth {
  friend auto metric_of(Bandwidth /*key*/);
};
template struct Reveal<Speed, &CpuImpl::speed_>;
template struct Reveal<Bandwidth, &StandardLinkImpl::bandwidth_>;

/// Notes whether a capacity is 0; SimGrid has set it.
void note_capacity(kernel::resource::Model const* model, Constraint* constraint, bool is_none)
{
  if (is_none) {
    stopped.insert(constraint);
    model->get_maxmin_system()->update_constraint_bound(constraint, NOTHING);
  } else
    stopped.erase(constraint);
}

void speed_changed(s4u::Host const& host)
{
  CpuImpl* const cpu = host.get_cpu();
  if (cpu->get_constraint() == nullptr) // cpu/optim:TI, which takes no speed of 0
    return;
  bool const is_none = not(cpu->get_speed(1.0) * cpu->get_speed_ratio() > 0);
  note_capacity(cpu->get_model(), cpu->get_constraint(), is_none);
  if (sim.engine != nullptr)
    note_use(host_of(&host), 0, 0, is_none);
}

void bandwidth_changed(s4u::Link const& which)
{
  StandardLinkImpl* const link = which.get_impl();
  if (which.get_sharing_policy() == s4u::Link::SharingPolicy::WIFI || link->get_constraint() == nullptr)
    return;
  double const bandwidth = link->get_bandwidth();
  auto& metric           = link->*metric_of(Bandwidth());
  if (bandwidth > 0 && bandwidths.count(link) > 0)
    bandwidths[link] = bandwidth;
  if (not(bandwidth > 0)) // the models of parallel tasks have yet to set the capacity, others have done so
    metric.peak = takes_parallel_tasks() ? NOTHING : bandwidths.try_emplace(link, BANDWIDTH).first->second;
  note_capacity(link->get_model(), link->get_constraint(), not(bandwidth > 0));
}

/// What links have at first, of those whose bandwidth changes by itself.
void note_bandwidths()
{
  for (s4u::Link const* link : platform_links())
    if (link->get_bandwidth() <= 0)
      bandwidth_changed(*link);
    else if ((link->get_impl()->*metric_of(Bandwidth())).event != nullptr)
      bandwidths.try_emplace(link->get_impl(), link->get_bandwidth());
}

/// Whether a profile gives it a capacity again.
bool returns(Resource* resource)
{
  kernel::profile::Event const* event = nullptr;
  if (auto* const cpu = dynamic_cast<CpuImpl*>(resource))
    event = cpu->get_speed(1.0) > 0 ? (cpu->*metric_of(Speed())).event : nullptr;
  else if (auto* const link = dynamic_cast<StandardLinkImpl*>(resource))
    event = (link->*metric_of(Bandwidth())).event;
  if (event == nullptr)
    return false;
  auto const& values = event->profile->get_event_list();
  return std::any_of(values.begin(), values.end(), [](auto const& each) { return each.value_ > 0; });
}

template <class Visit> void for_each_action(Visit visit)
{
  for (auto* model : s4u::Engine::get_instance()->get_all_models())
    for (auto* const actions : {model->get_started_action_set(), model->get_inited_action_set()})
      for (Action& action : *actions)
        if (not visit(action))
          return;
}

/// SimGrid takes dates for equal that differ by less than precision/timing, as if all were much above that, and can
/// miss the end of an activity where dates are further apart than that (docs/simgrid/late-dates.md).
void set_precision(double date)
{
  static bool const follows = simgrid::config::is_default("precision/timing");
  if (follows)
    sg_precision_timing = std::max({1e-300, 1e-9 * std::min(date, 1.0), 1e-15 * date});
}

/// Called once what is next is known: what stands still for ever is suspended, or SimGrid would wait for it.
class Stops final : public kernel::resource::Model {
public:
  Stops() : Model("simplugin_stops") {}

  /// `delta` is the time to the next event.
  double next_occurring_event(double delta) override
  {
    if (not std::exchange(billed_, true))
      bill_pstates();
    if (delta >= 0)
      set_precision(now() + delta);
    // Profiles change what stands still within a step, at the date of its end.
    if (not std::exchange(begins_, false) || (stopped.empty() && delta < FOREVER))
      return -1.0;
    // The reference back end sets its timers elsewhere, and changes no capacity.
    bool goes_on =
        delta < FOREVER && (sim.engine == nullptr || timers_are_set() || not kernel::timer::kernel_timers().empty());
    if (not goes_on && delta < FOREVER)
      for_each_action([&goes_on](Action const& action) {
        goes_on = not action.is_suspended() && not stands_still(action);
        return not goes_on;
      });
    bool any = false;
    if (not goes_on)
      for_each_action([&any](Action& action) {
        if (not action.is_suspended() && action.get_variable() != nullptr) {
          action.suspend();
          any = true;
        }
        return true;
      });
    return any ? 0.0 : -1.0;
  }

  void update_actions_state(double /*date*/, double /*delta*/) override { begins_ = true; }
  bool next_occurring_event_is_idempotent() override { return false; }

private:
  bool begins_ = true;
  bool billed_ = false;
};

} // namespace

bool stands_still(Action const& action)
{
  auto const* variable = action.get_variable();
  if (stopped.empty() || variable == nullptr || action.get_max_duration() != NO_MAX_DURATION ||
      action.get_remains_no_update() <= 0)
    return false;
  for (unsigned i = 0; Constraint const* constraint = variable->get_constraint(i); i++)
    if (variable->get_constraint_weight(i) > 0 && is_stopped(constraint) && not returns(constraint->get_id()))
      return true;
  return false;
}

bool is_stopped(Constraint const* constraint)
{
  return stopped.count(constraint) > 0;
}

double load_of(double used)
{
  return used < NO_LOAD ? 0.0 : used;
}

double bandwidth_of(s4u::Link const* link)
{
  return is_stopped(link->get_impl()->get_constraint()) ? 0.0 : link->get_bandwidth();
}

void set_bandwidth(s4u::Link* link, double bandwidth)
{
  bandwidths.try_emplace(link->get_impl(), link->get_bandwidth());
  link->set_bandwidth(bandwidth);
}

void set_bandwidth(s4u::Disk* disk, double bandwidth, bool of_reading)
{
  auto* const impl      = disk->get_impl();
  double const positive = std::max(bandwidth, NOTHING);
  if (of_reading)
    disk->set_read_bandwidth(positive);
  else
    disk->set_write_bandwidth(positive);
  note_capacity(impl->get_model(), of_reading ? impl->get_read_constraint() : impl->get_write_constraint(),
                bandwidth <= NOTHING);
}

void read_zero_capacity()
{
  for (s4u::Host const* host : platform_hosts()) {
    speed_changed(*host);
    for (s4u::Disk* disk : host->get_disks()) {
      if (disk->get_read_bandwidth() <= NOTHING)
        set_bandwidth(disk, 0.0, true);
      if (disk->get_write_bandwidth() <= NOTHING)
        set_bandwidth(disk, 0.0, false);
    }
  }
  note_bandwidths();
}

void note_zero_capacity()
{
  s4u::Engine::on_platform_creation_cb([] { set_precision(0.0); }); // SimGrid warns of latencies that are shorter
  s4u::Engine::on_platform_created_cb(note_bandwidths);
  s4u::Host::on_speed_change_cb(speed_changed);
  s4u::Link::on_bandwidth_change_cb(bandwidth_changed);
}

std::shared_ptr<kernel::resource::Model> model_of_zero_capacity()
{
  return std::make_shared<Stops>();
}

} // namespace driver

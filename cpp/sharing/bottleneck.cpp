// Parallel tasks: SimGrid's model ptask_L07 looks at all of them, and at all that they use, at each event. This does
// the same sums in the same order, with the same results to the last bit, for what a change affects. Needs SimGrid's
// headers and track() of lmm::System (tools/simgrid_patches/track-changes.patch), nothing else;
// docs/decisions/parallel-tasks.md.

#include "sharing.hpp"

#include <algorithm>
#include <cfloat>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

namespace simgrid::kernel::lmm {

namespace {

using resource::Action;

/// SimGrid's FairBottleneck. In each round a constraint offers the same share of what is left of it to each of its
/// variables that still grow, and a variable grows by as much as the least of its offers allows. It stops at its own
/// bound, and where a constraint is full.
class Bottleneck final : public System {
public:
  Bottleneck() : System(true) {}

  /// From now on, what this model runs ends in next_end() and advance(), which are for a model that comes before it.
  void look_after(resource::Model* model) { model_ = model; }

  /// Time to the next end of a task [s]; negative if there is none.
  double next_end()
  {
    solve();
    keep(candidates_, [this](Candidate const& each) { return is_candidate(each) && not take_over(each); });
    double soonest = -1.0;
    for (Task const& task : tasks_)
      if (task.rate > 0) {
        double const time = task.remains > 0 ? task.remains / task.rate : 0.0;
        if (soonest < 0 || time < soonest)
          soonest = time;
      }
    return soonest;
  }

  void advance(double delta)
  {
    if (model_ == nullptr)
      return;
    for (Action const& action : *model_->get_failed_action_set()) // before this step
      if (Flow& flow = flows_[place_of(action.get_variable())]; flow.task != NONE)
        give_back(flow);
    for (Task& task : tasks_) {
      reduce(task.remains, task.rate * delta, sg_precision_workamount * sg_precision_timing);
      if (task.remains <= 0)
        ended_.push_back(flows_[task.place].variable);
    }
    std::sort(ended_.begin(), ended_.end(), [](Variable const* a, Variable const* b) { return a->rank_ < b->rank_; });
    for (Variable const* variable : ended_) {
      give_back(flows_[place_of(variable)]);
      variable->id_->finish(Action::State::FINISHED);
    }
    ended_.clear();
    for (Candidate& candidate : candidates_)
      candidate.checked = true;
  }

  double remains(Action const* action) const
  {
    Variable const* variable = action->get_variable();
    Index const task         = variable == nullptr ? NONE : flows_[place_of(variable)].task;
    return task == NONE ? action->get_remains_no_update() : tasks_[task].remains;
  }

private:
  using Index                 = std::uint32_t;
  static constexpr Index NONE = std::numeric_limits<Index>::max();

  /// Of a variable: what it takes of a constraint for each unit of its rate.
  struct Crossing {
    Index link;
    double weight;
  };

  struct Use {
    Index flow;
    double weight;
  };

  struct Flow {
    Variable* variable = nullptr; // none: the place is free
    Index task         = NONE;    // in tasks_
    bool pending       = false;   // in pending_
    bool reached       = false;   // in flows_to_solve_
    bool grows         = false;
    std::vector<Crossing> crossings;
  };

  struct Link {
    Constraint* constraint = nullptr;
    double left            = 0.0;   // of its capacity
    size_t growing         = 0;     // number of its uses
    bool fat               = false; // FATPIPE
    bool to_solve          = false; // in links_to_solve_
    std::vector<Use> uses;          // what SimGrid comes to first is last; the last bits depend on it
  };

  /// A flow that has changed.
  struct Pending {
    Index place;
    bool enabled; // perhaps
  };

  /// What we look after instead of SimGrid's model. That looks at all started actions, hence these are "inited".
  struct Task {
    Index place; // of its flow
    double rate;
    double remains;
  };

  /// SimGrid's model pays its latency, and finds out whether it starts where something is off.
  struct Candidate {
    Index place;
    int rank; // of the variable
    bool checked = false;
  };

  // Places are kept in mu_ of variables and lambda_ of constraints, which are 0 at first; that is none.

  static Index place_of(Variable const* variable) { return static_cast<Index>(variable->mu_); }
  static Index place_of(Constraint const* constraint) { return static_cast<Index>(constraint->lambda_); }

  bool track(Variable* variable) override
  {
    Index place = place_of(variable);
    if (not variable->variable_set_hook_.is_linked()) { // it is being freed, and its memory may be used again
      if (place != 0)
        remove(place);
      return true;
    }
    if (place == 0) {
      if (variable->sharing_penalty_ <= 0 || variable->cnsts_.empty())
        return true;
      place = add(variable);
    }
    // SimGrid puts first what it enables, here and in the lists of all constraints.
    bool const enabled = &variable_set.front() == variable;
    bool const is_last = not pending_.empty() && pending_.back().place == place && pending_.back().enabled;
    if (enabled ? not is_last : not flows_[place].pending) {
      flows_[place].pending = true;
      pending_.push_back({place, enabled});
    }
    return true;
  }

  bool track(Constraint* constraint) override
  {
    if (Index const place = place_of(constraint); place != 0)
      touch(place);
    return true;
  }

  Index add(Variable* variable)
  {
    Index place;
    if (free_.empty()) {
      place = static_cast<Index>(flows_.size());
      flows_.emplace_back();
      growth_.push_back(0.0);
    } else {
      place = free_.back();
      free_.pop_back();
    }
    flows_[place].variable = variable;
    variable->mu_          = place;
    return place;
  }

  void remove(Index place)
  {
    Flow& flow = flows_[place];
    detach(place);
    drop_task(flow);
    flow.variable->mu_ = 0.0;
    flow.variable      = nullptr;
    free_.push_back(place);
  }

  void detach(Index place)
  {
    for (Crossing const& crossing : flows_[place].crossings) {
      keep(links_[crossing.link].uses, [place](Use const& use) { return use.flow != place; });
      touch(crossing.link);
    }
    flows_[place].crossings.clear();
  }

  void attach(Index place)
  {
    Flow& flow         = flows_[place];
    Variable& variable = *flow.variable;
    variable.value_    = 1.0; // unless it takes something
    for (Element const& element : variable.cnsts_)
      if (element.consumption_weight > 0) {
        Index const link = link_of(element.constraint);
        flow.crossings.push_back({link, element.consumption_weight});
        links_[link].uses.push_back({place, element.consumption_weight});
        touch(link);
      }
    if (model_ != nullptr && flow.task == NONE)
      candidates_.push_back({place, variable.rank_});
  }

  Index link_of(Constraint* constraint)
  {
    if (place_of(constraint) == 0) {
      constraint->lambda_              = static_cast<double>(links_.size());
      links_.emplace_back().constraint = constraint;
      offers_.push_back(0.0);
    }
    return place_of(constraint);
  }

  /// Its capacity or its variables have changed, or it is connected to such a one.
  void touch(Index place)
  {
    if (not links_[place].to_solve) {
      links_[place].to_solve = true;
      links_to_solve_.push_back(place);
    }
  }

  // ---- rates --------------------------------------------------------------------------------------------------------

  void do_solve() override
  {
    for (auto const& [place, enabled] : pending_) {
      Flow& flow   = flows_[place];
      flow.pending = false;
      if (flow.variable == nullptr)
        continue;
      if (flow.variable->sharing_penalty_ <= 0) {
        give_back(flow);
        remove(place);
      } else if (enabled) {
        detach(place);
        attach(place);
      } else // its bound has changed
        for (Crossing const& crossing : flow.crossings)
          touch(crossing.link);
    }
    pending_.clear();
    find_connected();
    while (not growing_.empty())
      grow();
    for (Index const place : links_to_solve_)
      links_[place].to_solve = false;
    links_to_solve_.clear();
    for (Index const place : flows_to_solve_) {
      Flow& flow   = flows_[place];
      flow.reached = false;
      if (flow.task != NONE)
        tasks_[flow.task].rate = flow.variable->value_;
    }
    flows_to_solve_.clear();
  }

  /// All that is connected to what has changed, before the first round.
  void find_connected()
  {
    for (size_t i = 0; i < links_to_solve_.size(); i++) {
      Link& link   = links_[links_to_solve_[i]];
      link.left    = link.constraint->bound_;
      link.growing = link.uses.size();
      link.fat     = link.constraint->get_sharing_policy() == Constraint::SharingPolicy::FATPIPE;
      for (Use const& use : link.uses) {
        Flow& flow = flows_[use.flow];
        if (flow.reached)
          continue;
        flow.reached          = true;
        flow.grows            = true;
        flow.variable->value_ = 0.0;
        flows_to_solve_.push_back(use.flow);
        for (Crossing const& crossing : flow.crossings)
          touch(crossing.link);
      }
    }
    open_    = links_to_solve_;
    growing_ = flows_to_solve_;
  }

  /// One round.
  void grow()
  {
    keep(open_, [this](Index place) {
      Link const& link = links_[place];
      if (link.growing > 0)
        offers_[place] = link.left / static_cast<double>(link.fat ? 1 : link.growing);
      return link.growing > 0;
    });
    for (Index const place : growing_) {
      Flow& flow         = flows_[place];
      Variable& variable = *flow.variable;
      double least       = DBL_MAX;
      for (Crossing const& crossing : flow.crossings)
        least = std::min(least, offers_[crossing.link] / crossing.weight);
      if (variable.bound_ > 0)
        least = std::min(least, variable.bound_ - variable.value_);
      growth_[place] = least;
      variable.value_ += least;
      if (variable.value_ == variable.bound_)
        stop(flow);
    }
    keep(open_, [this](Index place) {
      Link& link = links_[place];
      take(link, offers_[place]);
      if (link.left <= 0.0)
        for (Use const& use : link.uses)
          if (flows_[use.flow].grows)
            stop(flows_[use.flow]);
      return link.left > 0.0;
    });
    keep(growing_, [this](Index place) { return flows_[place].grows; });
  }

  template <class Element, class Predicate> static void keep(std::vector<Element>& all, Predicate predicate)
  {
    all.erase(std::remove_if(all.begin(), all.end(), [&](Element const& each) { return not predicate(each); }),
              all.end());
  }

  void stop(Flow& flow)
  {
    flow.grows = false;
    for (Crossing const& crossing : flow.crossings)
      links_[crossing.link].growing--;
  }

  /// As in SimGrid, who has stopped takes what it took in its last round once more.
  void take(Link& link, double offer)
  {
    if (link.fat) {
      for (Use const& use : link.uses)
        offer = std::min(offer, use.weight * growth_[use.flow]);
      reduce(link.left, offer, sg_precision_workamount);
    } else
      for (auto use = link.uses.rbegin(); use != link.uses.rend(); ++use)
        reduce(link.left, use->weight * growth_[use->flow], sg_precision_workamount);
  }

  static void reduce(double& value, double amount, double precision)
  {
    value -= amount;
    if (value < precision)
      value = 0.0;
  }

  // ---- tasks --------------------------------------------------------------------------------------------------------

  bool is_candidate(Candidate const& candidate) const
  {
    Flow const& flow = flows_[candidate.place];
    return flow.variable != nullptr && flow.variable->rank_ == candidate.rank && flow.task == NONE;
  }

  bool take_over(Candidate const& candidate)
  {
    Flow& flow   = flows_[candidate.place];
    auto* action = static_cast<resource::L07Action*>(flow.variable->id_);
    if (not candidate.checked || action->get_latency() > 0 || action->get_max_duration() != NO_MAX_DURATION ||
        action->get_state() != Action::State::STARTED)
      return false;
    flow.task = static_cast<Index>(tasks_.size());
    tasks_.push_back({candidate.place, action->get_rate(), action->get_remains_no_update()});
    action->Action::set_state(Action::State::INITED); // unheard by plug-ins
    return true;
  }

  void give_back(Flow& flow)
  {
    if (flow.task == NONE)
      return;
    Action* action = flow.variable->id_;
    action->set_remains(tasks_[flow.task].remains);
    if (action->get_state() == Action::State::INITED)
      action->Action::set_state(Action::State::STARTED);
    drop_task(flow);
  }

  void drop_task(Flow& flow)
  {
    if (flow.task == NONE)
      return;
    tasks_[flow.task]                    = tasks_.back();
    flows_[tasks_[flow.task].place].task = flow.task;
    tasks_.pop_back();
    flow.task = NONE;
  }

  resource::Model* model_     = nullptr;
  std::vector<Flow> flows_    = std::vector<Flow>(1);
  std::vector<double> growth_ = {0.0}; // of flows, in their last round
  std::vector<Link> links_    = std::vector<Link>(1);
  std::vector<double> offers_ = {0.0}; // of links, in this round
  std::vector<Task> tasks_;
  std::vector<Candidate> candidates_;
  std::vector<Index> free_; // places of flows
  std::vector<Pending> pending_;
  std::vector<Index> links_to_solve_; // of which something has changed, later all that are connected to them
  std::vector<Index> flows_to_solve_;
  std::vector<Index> open_;    // of these links, those that are not full
  std::vector<Index> growing_; // of these flows
  std::vector<Variable*> ended_;
};

Bottleneck* bottleneck = nullptr;

class Tasks final : public resource::Model {
public:
  Tasks() : Model("simplugin_parallel_tasks") {}
  double next_occurring_event(double /*date*/) override
  {
    return bottleneck == nullptr ? -1.0 : bottleneck->next_end();
  }
  void update_actions_state(double /*date*/, double delta) override
  {
    if (bottleneck != nullptr)
      bottleneck->advance(delta);
  }
};

} // namespace

void share_among_tasks(routing::NetZoneImpl const* zone, bool ends_them)
{
  bottleneck = new Bottleneck();
  zone->get_host_model()->set_maxmin_system(bottleneck);
  zone->get_network_model()->set_maxmin_system(bottleneck);
  zone->get_cpu_pm_model()->set_maxmin_system(bottleneck);
  if (ends_them)
    bottleneck->look_after(zone->get_host_model().get());
}

std::shared_ptr<resource::Model> model_of_tasks()
{
  return std::make_shared<Tasks>();
}

double remains_of(resource::Action const* action)
{
  return bottleneck == nullptr ? action->get_remains_no_update() : bottleneck->remains(action);
}

} // namespace simgrid::kernel::lmm

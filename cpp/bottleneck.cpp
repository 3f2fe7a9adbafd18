// SimGrid's FairBottleneck, the sharing of parallel tasks, for only those that a change affects. Needs SimGrid's headers
// and track() of lmm::System (tools/simgrid_patches/track-changes.patch), nothing else;
// docs/decisions/incremental-sharing.md.
//
// In each round a constraint gives all its variables that still grow the same share of what is left of it, and a
// variable grows by what the least of its shares allows. Who meets a full constraint or its own bound stops growing. The
// rates are those of SimGrid to the last bit, since all sums are taken in its order.

#include "simgrid_internals.hpp"

#include <algorithm>
#include <cfloat>
#include <cstdint>
#include <vector>

namespace simgrid::kernel::lmm {

namespace {

class Bottleneck final : public System {
public:
  Bottleneck() : System(true) {}

private:
  using Index = std::uint32_t;

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
    bool pending       = false;   // in pending_
    bool reached       = false;   // in flows_to_solve_
    bool grows         = false;
    std::vector<Crossing> crossings;
  };

  struct Link {
    Constraint* constraint = nullptr;
    double left            = 0.0; // of its capacity
    size_t growing         = 0;   // of its uses
    bool fat               = false;
    bool dirty             = false; // in dirty_
    bool reached           = false; // in links_to_solve_
    std::vector<Use> uses;          // in SimGrid's order
  };

  // Places are kept in mu_ of variables and lambda_ of constraints, which are 0 at first.

  bool track(Variable* variable) override
  {
    auto place = static_cast<Index>(variable->mu_);
    if (not variable->variable_set_hook_.is_linked()) { // it is being freed, and its memory may be used again
      if (place != 0)
        remove(place);
      return true;
    }
    if (place == 0) {
      if (variable->sharing_penalty_ <= 0)
        return true;
      place = add(variable);
    }
    if (not flows_[place].pending) {
      flows_[place].pending = true;
      pending_.push_back(place);
    }
    return true;
  }

  bool track(Constraint* constraint) override
  {
    if (constraint->lambda_ > 0)
      touch(static_cast<Index>(constraint->lambda_));
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
    growth_[place]         = 0.0;
    variable->mu_          = place;
    return place;
  }

  void remove(Index place)
  {
    Flow& flow = flows_[place];
    detach(flow);
    flow.variable->mu_ = 0.0;
    flow.variable      = nullptr;
    free_.push_back(place);
  }

  void detach(Flow& flow)
  {
    for (Crossing const& crossing : flow.crossings)
      touch(crossing.link);
    flow.crossings.clear();
  }

  void attach(Flow& flow)
  {
    flow.variable->value_ = 1.0; // if it takes nothing of anything
    for (Element const& element : flow.variable->cnsts_)
      if (element.consumption_weight > 0) {
        Index const link = link_of(element.constraint);
        flow.crossings.push_back({link, element.consumption_weight});
        touch(link);
      }
  }

  static bool is_fat(Constraint const* constraint)
  {
    return constraint->get_sharing_policy() == Constraint::SharingPolicy::FATPIPE;
  }

  Index link_of(Constraint* constraint)
  {
    if (constraint->lambda_ == 0) {
      constraint->lambda_              = static_cast<double>(links_.size());
      links_.emplace_back().constraint = constraint;
      shares_.push_back(0.0);
    }
    return static_cast<Index>(constraint->lambda_);
  }

  /// Its capacity or its variables have changed.
  void touch(Index index)
  {
    if (not links_[index].dirty) {
      links_[index].dirty = true;
      dirty_.push_back(index);
    }
  }

  void do_solve() override
  {
    for (Index const place : pending_) {
      Flow& flow   = flows_[place];
      flow.pending = false;
      if (flow.variable == nullptr)
        continue;
      if (flow.variable->sharing_penalty_ > 0) {
        detach(flow);
        attach(flow);
      } else
        remove(place);
    }
    pending_.clear();
    for (Index const index : dirty_)
      refresh(links_[index]);
    for (Index const index : dirty_)
      reach(index);
    dirty_.clear();
    find_connected();
    while (not growing_.empty())
      grow();
    for (Index const place : flows_to_solve_)
      flows_[place].reached = false;
    for (Index const index : links_to_solve_)
      links_[index].reached = false;
    flows_to_solve_.clear();
    links_to_solve_.clear();
  }

  void refresh(Link& link)
  {
    link.dirty = false;
    link.fat   = is_fat(link.constraint);
    link.uses.clear();
    for (Element const& element : link.constraint->enabled_element_set_)
      if (element.consumption_weight > 0)
        link.uses.push_back({static_cast<Index>(element.variable->mu_), element.consumption_weight});
  }

  void reach(Index index)
  {
    if (not links_[index].reached) {
      links_[index].reached = true;
      links_to_solve_.push_back(index);
    }
  }

  /// All that what has changed is connected to, before the first round.
  void find_connected()
  {
    for (size_t i = 0; i < links_to_solve_.size(); i++) {
      Link& link   = links_[links_to_solve_[i]];
      link.left    = link.constraint->bound_;
      link.growing = link.uses.size();
      for (Use const& use : link.uses) {
        Flow& flow = flows_[use.flow];
        if (flow.reached)
          continue;
        flow.reached = true;
        flows_to_solve_.push_back(use.flow);
        for (Crossing const& crossing : flow.crossings)
          reach(crossing.link);
      }
    }
    open_ = links_to_solve_;
    for (Index const place : flows_to_solve_) {
      flows_[place].grows            = true;
      flows_[place].variable->value_ = 0.0;
    }
    growing_ = flows_to_solve_;
  }

  /// One round.
  void grow()
  {
    stat_rounds++;
    auto const still = [this](Index place) { return not flows_[place].grows; };
    auto last        = open_.begin();
    for (Index const index : open_) {
      Link const& link = links_[index];
      if (link.growing == 0) {
        shares_[index] = 0.0;
        continue;
      }
      shares_[index] = link.left / (link.fat ? 1 : link.growing);
      *last++        = index;
    }
    open_.erase(last, open_.end());
    for (Index const place : growing_) {
      Flow& flow         = flows_[place];
      Variable& variable = *flow.variable;
      double least       = DBL_MAX;
      for (Crossing const& crossing : flow.crossings)
        least = std::min(least, shares_[crossing.link] / crossing.weight);
      stat_cross += flow.crossings.size();
      if (variable.bound_ > 0)
        least = std::min(least, variable.bound_ - variable.value_);
      growth_[place] = least;
      variable.value_ += least;
      if (variable.value_ == variable.bound_)
        stop(flow);
    }
    last = open_.begin();
    for (Index const index : open_) {
      Link& link = links_[index];
      stat_uses += link.uses.size();
      take(link, shares_[index]);
      if (link.left > 0.0)
        *last++ = index;
      else
        for (Use const& use : link.uses)
          if (flows_[use.flow].grows)
            stop(flows_[use.flow]);
    }
    open_.erase(last, open_.end());
    growing_.erase(std::remove_if(growing_.begin(), growing_.end(), still), growing_.end());
  }

  void stop(Flow& flow)
  {
    flow.grows = false;
    for (Crossing const& crossing : flow.crossings)
      links_[crossing.link].growing--;
  }

  /// As in SimGrid, who has stopped takes as much again as in its last round.
  void take(Link& link, double share)
  {
    if (link.fat) {
      for (Use const& use : link.uses)
        share = std::min(share, use.weight * growth_[use.flow]);
      reduce(link.left, share);
    } else
      for (Use const& use : link.uses)
        reduce(link.left, use.weight * growth_[use.flow]);
  }

  static void reduce(double& left, double amount)
  {
    left -= amount;
    if (left < sg_precision_workamount)
      left = 0.0;
  }
public:
  long stat_rounds = 0, stat_cross = 0, stat_uses = 0;
  std::vector<Flow> flows_    = std::vector<Flow>(1); // 0 is none
  std::vector<double> growth_ = {0.0};                // of flows, in their last round
  std::vector<Link> links_    = std::vector<Link>(1); // 0 is none
  std::vector<double> shares_ = {0.0};                // of what is left, for each that grows
  std::vector<Index> free_;
  std::vector<Index> pending_;
  std::vector<Index> dirty_;
  std::vector<Index> links_to_solve_;
  std::vector<Index> flows_to_solve_;
  std::vector<Index> open_;    // links that are not full
  std::vector<Index> growing_; // flows
};

} // namespace

System* bottleneck_system()
{
  return new Bottleneck();
}

} // namespace simgrid::kernel::lmm

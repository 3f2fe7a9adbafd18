// Max-min sharing that solves again only what a change affects. Needs SimGrid's headers and track() of lmm::System
// (tools/simgrid_patches/track-changes.patch), nothing else; docs/decisions/incremental-sharing.md.
//
// The level of a flow is its rate times its penalty; all flows rise together until a link is full. The level of a link
// is that at which it is full, given the levels of its flows elsewhere; infinite if it is never. A flow has the lowest
// level of its links, or that of its own bound. So the levels of links are the one solution of
//
//     level(link) = saturation(level of each flow of the link without this link)
//
// in which a level depends on lower ones only. After a change, the links that it touches are computed anew, lowest
// level first, as Dijkstra's algorithm takes nodes: what is below is final. A link whose level has changed changes
// flows, and they touch their other links from there upwards.

#include "sharing.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <queue>
#include <vector>

namespace simgrid::kernel::lmm {

namespace {

constexpr double INFINITE = std::numeric_limits<double>::infinity();

// Levels that differ by less are taken for equal, else rounding errors would travel from link to link.
constexpr double SAME = 1e-13;

bool same(double one, double other)
{
  return one == other || std::abs(one - other) <= SAME * std::min(one, other);
}

class Incremental final : public System {
public:
  Incremental() : System(true) {}

private:
  using Index = std::uint32_t;

  /// A flow on a link: where it stands in the link's list, and what it takes of the capacity for each unit of level.
  struct Crossing {
    Index link;
    Index place;
    double ratio;
  };

  struct Use {
    Index flow;
    Index crossing; // of the flow
    double ratio;
  };

  struct Flow {
    Variable* variable = nullptr; // none: the place is free
    double bound       = INFINITE;
    bool pending       = false; // in pending_
    bool changed       = false; // in changed_
    bool again         = false; // SimGrid has to compute its end anew, whether its rate has changed or not
    std::vector<Crossing> crossings;
  };

  struct Link {
    Constraint* constraint = nullptr;
    double capacity        = 0.0;
    double level           = INFINITE;
    double key             = INFINITE; // of its entry in the queue; infinite: none
    bool fat               = false;    // FATPIPE
    bool dirty             = false;    // in dirty_
    std::vector<Use> uses;
  };

  struct Entry {
    double key;
    Index link;
    bool operator<(Entry const& other) const { return key > other.key; } // lowest first
  };

  struct Demand {
    double level;
    double ratio;
  };

  // Places are kept in mu_ of variables and lambda_ of constraints, which max-min sharing does not use and which are
  // 0 at first.

  bool track(Variable* variable) override
  {
    auto place = static_cast<Index>(variable->mu_);
    if (not variable->variable_set_hook_.is_linked()) { // it is being freed, and its memory may be used again
      if (place != 0)
        remove(place);
      return true;
    }
    if (place == 0) {
      if (variable->sharing_penalty_ <= 0) {
        if (not variable->cnsts_.empty() && variable->cnsts_.back().constraint->dyn_constraint_cb_)
          touch(link_of(variable->cnsts_.back().constraint)); // as SimGrid, which asks the function then
        return true;
      }
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
      levels_.push_back(INFINITE);
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
    detach(flow);
    flow.variable->mu_ = 0.0;
    flow.variable      = nullptr;
    free_.push_back(place);
  }

  void detach(Flow& flow)
  {
    for (Crossing const& crossing : flow.crossings) {
      std::vector<Use>& uses                           = links_[crossing.link].uses;
      Use const last                                   = uses.back();
      uses[crossing.place]                             = last;
      flows_[last.flow].crossings[last.crossing].place = crossing.place;
      uses.pop_back();
      touch(crossing.link);
    }
    flow.crossings.clear();
  }

  void attach(Index place)
  {
    Flow& flow               = flows_[place];
    Variable const* variable = flow.variable;
    double const penalty     = variable->sharing_penalty_;
    flow.bound               = variable->bound_ > 0 ? variable->bound_ * penalty : INFINITE;
    double level             = flow.bound;
    for (Element const& element : variable->cnsts_) {
      if (element.consumption_weight <= 0)
        continue;
      Index const index  = link_of(element.constraint);
      Link& link         = links_[index];
      double const ratio = element.consumption_weight / penalty;
      link.uses.push_back({place, static_cast<Index>(flow.crossings.size()), ratio});
      flow.crossings.push_back({index, static_cast<Index>(link.uses.size() - 1), ratio});
      level = std::min(level, link.level);
      touch(index);
    }
    levels_[place] = level;
    if (not flow.crossings.empty()) {
      flow.again = true;
      note(place);
    }
  }

  Index link_of(Constraint* constraint)
  {
    if (constraint->lambda_ == 0) {
      constraint->lambda_              = static_cast<double>(links_.size());
      links_.emplace_back().constraint = constraint;
    }
    return static_cast<Index>(constraint->lambda_);
  }

  void note(Index place)
  {
    if (not flows_[place].changed) {
      flows_[place].changed = true;
      changed_.push_back(place);
    }
  }

  /// Its capacity or its flows have changed.
  void touch(Index index)
  {
    if (not links_[index].dirty) {
      links_[index].dirty = true;
      dirty_.push_back(index);
    }
  }

  /// A flow of it has changed from this level upwards.
  void touch(Index index, double key)
  {
    Link& link = links_[index];
    if (key < link.key) {
      link.key = key;
      queue_.push({key, index});
    }
  }

  void do_solve() override
  {
    modified_constraint_set.clear();
    for (Index const place : pending_) {
      Flow& flow   = flows_[place];
      flow.pending = false;
      if (flow.variable == nullptr)
        continue;
      if (flow.variable->sharing_penalty_ > 0) {
        detach(flow);
        attach(place);
      } else
        remove(place);
    }
    pending_.clear();
    for (Index const index : dirty_) {
      Link& link = links_[index];
      link.dirty = false;
      refresh(link);
      double const found = saturation(link, index);
      if (not same(found, link.level))
        touch(index, std::min(found, link.level));
    }
    dirty_.clear();
    settle();
    hand_back();
  }

  static void refresh(Link& link)
  {
    Constraint& constraint    = *link.constraint;
    link.fat                  = constraint.get_sharing_policy() == Constraint::SharingPolicy::FATPIPE;
    constraint.dynamic_bound_ = constraint.bound_;
    if (constraint.dyn_constraint_cb_ &&
        not(constraint.enabled_element_set_.empty() && constraint.disabled_element_set_.empty()))
      constraint.dynamic_bound_ = constraint.dyn_constraint_cb_(constraint.bound_, constraint.concurrency_current_);
    link.capacity = constraint.dynamic_bound_;
  }

  void settle()
  {
    while (not queue_.empty()) {
      auto const [key, index] = queue_.top();
      queue_.pop();
      Link& link = links_[index];
      if (key != link.key)
        continue;
      link.key           = INFINITE;
      double const found = saturation(link, index);
      if (same(found, link.level))
        continue;
      double const from = std::min(found, link.level);
      if (not queue_.empty() && queue_.top().key < from)
        touch(index, from); // what is below may still change it
      else
        set(index, found);
    }
  }

  void set(Index index, double level)
  {
    Link& link       = links_[index];
    double const old = link.level;
    link.level       = level;
    for (Use const& use : link.uses) {
      double const before = levels_[use.flow];
      double after        = level;
      if (before < level) {
        if (before != old)
          continue;
        after = limit(use.flow);
        if (after == before)
          continue;
      } else if (before == level)
        continue;
      levels_[use.flow] = after;
      note(use.flow);
      double const from = std::min(before, after);
      for (Crossing const& crossing : flows_[use.flow].crossings) {
        Link const& other = links_[crossing.link];
        // A level depends on lower ones only, and what gets slower does not fill a link.
        if (crossing.link != index && from < other.level && (after > before || other.level < INFINITE))
          touch(crossing.link, from);
      }
    }
  }

  /// The level of a flow, as its links and its bound have it.
  double limit(Index place) const
  {
    double level = flows_[place].bound;
    for (Crossing const& crossing : flows_[place].crossings)
      level = std::min(level, links_[crossing.link].level);
    return level;
  }

  /// The same without one link.
  double limit_without(Index place, Index without) const
  {
    double level = flows_[place].bound;
    for (Crossing const& crossing : flows_[place].crossings)
      if (crossing.link != without)
        level = std::min(level, links_[crossing.link].level);
    return level;
  }

  /// The level at which a link is full.
  double saturation(Link const& link, Index index)
  {
    if (link.uses.empty() || not(link.capacity > 0)) // SimGrid does not look at a capacity of 0
      return INFINITE;
    if (link.fat)
      return fat_saturation(link, index);
    double load    = 0.0; // of flows that have lower levels
    double highest = 0.0; // of those
    double ratio   = 0.0; // of the others
    for (Use const& use : link.uses) {
      double const level = levels_[use.flow];
      if (level < link.level) {
        load += level * use.ratio;
        highest = std::max(highest, level);
      } else
        ratio += use.ratio;
    }
    double const left = link.capacity - load;
    if (ratio == 0.0 && left >= -SAME * link.capacity)
      return INFINITE;
    demands_.clear();
    if (ratio == 0.0 || left < highest * ratio) { // it is full at one of the lower levels
      for (Use const& use : link.uses) {
        double const level = levels_[use.flow];
        demands_.push_back({level < link.level ? level : INFINITE, use.ratio});
      }
      return fill(link.capacity);
    }
    if (left <= link.level * ratio)
      return left / ratio;
    for (Use const& use : link.uses) // it rises: now it counts where else the others are limited
      if (levels_[use.flow] >= link.level)
        demands_.push_back({limit_without(use.flow, index), use.ratio});
    return fill(left);
  }

  /// The level at which these demands fill what is left of a capacity.
  double fill(double left)
  {
    std::size_t count = demands_.size();
    for (;;) {
      double ratio = 0.0;
      for (std::size_t i = 0; i < count; i++)
        ratio += demands_[i].ratio;
      double const level = left / ratio;
      std::size_t kept   = 0;
      double fixed       = 0.0;
      for (std::size_t i = 0; i < count; i++) {
        if (demands_[i].level < level)
          fixed += demands_[i].level * demands_[i].ratio;
        else
          demands_[kept++] = demands_[i];
      }
      if (kept == count)
        return level;
      left -= fixed;
      if (kept == 0)
        return INFINITE;
      count = kept;
    }
  }

  /// All flows of a fat pipe that are not limited below stop as soon as one takes the capacity, as in SimGrid's solver.
  double fat_saturation(Link const& link, Index index)
  {
    double lowest = INFINITE;
    for (Use const& use : link.uses) {
      double const full = link.capacity / use.ratio;
      if (full < lowest && limit_without(use.flow, index) >= full)
        lowest = full;
    }
    return lowest;
  }

  void hand_back()
  {
    resource::Action::ModifiedSet* modified = get_modified_action_set();
    for (Index const place : changed_) {
      Flow& flow   = flows_[place];
      flow.changed = false;
      bool again   = flow.again;
      flow.again   = false;
      if (flow.variable == nullptr)
        continue;
      double const level = levels_[place];
      if (level < INFINITE) {
        Variable& variable = *flow.variable;
        double const rate  = level == flow.bound ? variable.bound_ : level / variable.sharing_penalty_;
        again              = again || rate != variable.value_;
        variable.value_    = rate;
      }
      resource::Action* action = flow.variable->id_;
      if (again && flow.variable->value_ > 0 && not action->is_within_modified_set())
        modified->push_back(*action);
    }
    changed_.clear();
  }

  std::vector<Flow> flows_    = std::vector<Flow>(1); // 0 is none
  std::vector<double> levels_ = {INFINITE};           // of flows
  std::vector<Link> links_    = std::vector<Link>(1); // 0 is none
  std::vector<Index> free_;
  std::vector<Index> pending_;
  std::vector<Index> dirty_;
  std::vector<Index> changed_;
  std::vector<Demand> demands_;
  std::priority_queue<Entry> queue_;
};

} // namespace

System* incremental_system()
{
  return new Incremental();
}

} // namespace simgrid::kernel::lmm

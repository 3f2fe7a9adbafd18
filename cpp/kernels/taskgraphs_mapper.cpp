// What the mapper of parallel task graphs does.

#include "taskgraphs_mapper.hpp"

#include <cmath>
#include <functional>
#include <queue>
#include <unordered_map>

namespace taskgraphs {

namespace {

// Dates that differ by less than this part are one instant.
constexpr double INSTANT = 1e-9;
// A timer may ring so much before its date.
constexpr double LAST_DIGITS = 1e-12;

} // namespace

/// Takes over how many processors each task of a graph gets, and its bottom levels.
void Mapper::set_allocation(Index first, Integers const& processors, Floats const& time)
{
  Index const count = time.size();
  if (first < 0 || count > tasks_.size() || first > tasks_.size() - count ||
      processors.size() != clusters_.size() * count)
    throw py::index_error("an allocation of tasks that are not there");
  for (Index cluster = 0; cluster < clusters_.size(); cluster++)
    for (Index task = 0; task < count; task++) {
      Index const each = processors.data()[cluster * count + task];
      if (each < 1 || each > clusters_.processors[cluster])
        throw py::value_error("an allocation of processors that are not there");
    }
  if (std::any_of(time.data(), time.data() + count, [](double each) { return std::isnan(each); }))
    throw py::value_error("an allocation whose time is not a number");
  for (Index task = first; task < first + count; task++)
    for (Index at = tasks_.before.start[task]; at < tasks_.before.start[task + 1]; at++)
      if (tasks_.before.task[at] < first || tasks_.before.task[at] >= first + count)
        throw py::value_error("an allocation of a part of a graph");
  for (Index cluster = 0; cluster < clusters_.size(); cluster++)
    for (Index task = 0; task < count; task++)
      allocation_[cluster * tasks_.size() + first + task] = processors.data()[cluster * count + task];
  if (!rules_.by_bottom_level)
    return;
  std::vector<Index> waits(count);
  std::vector<Index> ends;
  for (Index task = 0; task < count; task++) {
    waits[task] = tasks_.after.start[first + task + 1] - tasks_.after.start[first + task];
    if (waits[task] == 0)
      ends.push_back(first + task);
  }
  while (!ends.empty()) {
    Index const task = ends.back();
    ends.pop_back();
    double below = 0.0;
    for (Index at = tasks_.after.start[task]; at < tasks_.after.start[task + 1]; at++)
      below = std::max(below, priority_[tasks_.after.task[at]]);
    priority_[task] = time.data()[task - first] + below;
    for (Index at = tasks_.before.start[task]; at < tasks_.before.start[task + 1]; at++)
      if (--waits[tasks_.before.task[at] - first] == 0)
        ends.push_back(tasks_.before.task[at]);
  }
}

Moved moved(std::vector<Index> const& sources, std::vector<Index> const& targets)
{
  // Blocks are cut in units of which each source holds n and each target m.
  auto const m = static_cast<Index>(sources.size());
  auto const n = static_cast<Index>(targets.size());
  if (m == 1 && n == 1 && sources.front() == targets.front())
    return {0.0, 0.0, 0.0};
  if (m == 1 && n == 1)
    return {};
  std::unordered_map<Index, Index> place;
  for (Index at = 0; at < m; at++)
    place.emplace(sources[at], at);
  Index common = 0;
  Index kept   = 0;
  Index least  = m * n;
  for (Index at = 0; at < n; at++) {
    auto const found = place.find(targets[at]);
    if (found == place.end())
      continue;
    Index const source = found->second;
    Index const stays  = std::max<Index>(0, std::min((source + 1) * n, (at + 1) * m) - std::max(source * n, at * m));
    common++;
    kept += stays;
    least = std::min(least, stays);
  }
  auto const part = [](Index moves, Index all) { return static_cast<double>(moves) / static_cast<double>(all); };
  return {part(common < m ? n : n - least, n), part(common < n ? m : m - least, m), part(m * n - kept, m * n)};
}

/// Collects the data of a task on their way to the first processors of a cluster.
void Mapper::collect_inputs(Index task, Index cluster, Index count)
{
  inputs_.clear();
  std::fill(passing_.begin(), passing_.end(), 0.0);
  if (!rules_.transfers)
    return;
  Index const first = tasks_.before.start[task];
  Index const last  = tasks_.before.start[task + 1];
  double arriving   = received_[task];
  double passing    = received_[task];
  if (rules_.kept) {
    std::vector<Index> targets;
    for (Index at = 0; at < count; at++)
      targets.push_back(slots_[cluster][at].second);
    std::sort(targets.begin(), targets.end());
    moved_.clear();
    arriving = passing = 0.0;
    for (Index at = first; at < last; at++) {
      moved_.push_back(moved(processors_[tasks_.before.task[at]], targets));
      arriving += tasks_.byte[at] * moved_.back().received;
      passing += tasks_.byte[at] * moved_.back().all;
    }
  }
  for (Index at = first; at < last; at++) {
    Index const source    = tasks_.before.task[at];
    Candidate const& from = placed_[source];
    Moved const part      = rules_.kept ? moved_[at - first] : Moved();
    double const byte     = tasks_.byte[at];
    double const through  = byte * part.all;
    if (through <= 0)
      continue;
    if (rules_.together) {
      pass(from.cluster, cluster, through);
      inputs_.add(clusters_, from.cluster, from.count, cluster, sent_[source] - byte * (1 - part.sent), arriving,
                  passing);
    } else {
      inputs_.add(clusters_, from.cluster, from.count, cluster, byte * part.sent, byte * part.received, through);
    }
  }
}

/// Counts data at the switches that they pass, once where that is the same one.
void Mapper::pass(Index source, Index target, double byte)
{
  passing_[clusters_.hub[source]] += byte / clusters_.shared[source * clusters_.size() + source];
  if (clusters_.hub[source] != clusters_.hub[target])
    passing_[clusters_.hub[target]] += byte / clusters_.shared[target * clusters_.size() + target];
}

/// Returns when switches will have passed on what is queued there and a task's data.
double Mapper::queue(double now) const
{
  double latest = now;
  for (std::size_t at = 0; at < busy_.size(); at++)
    if (passing_[at] > 0)
      latest = std::max(latest, std::max(busy_[at], now) + passing_[at]);
  return latest;
}

Candidate Mapper::candidate(Index task, Index cluster, Index count, double now) const
{
  double const free    = slots_[cluster][count - 1].first;
  double const alone   = now + inputs_.time(clusters_.bandwidth[cluster], count);
  double const arrival = rules_.together ? std::max(alone, queue(now)) : alone;
  double const start   = std::max(free, arrival);
  return {cluster, count, free, arrival, start, start + time(task, count, cluster)};
}

/// Returns what starts earlier and finishes no later on fewer processors, or else what was given.
Candidate Mapper::packed(Index task, Candidate const& whole, double now)
{
  Candidate found = whole;
  // Fewer processors get their data no earlier, unless they hold them.
  double const first = std::max(slots_[whole.cluster].front().first, rules_.kept ? now : whole.arrival);
  for (Index count = whole.count - 1; count > 0; count--) {
    if (first + time(task, count, whole.cluster) > whole.finish)
      break; // nor on still fewer
    if (rules_.kept)
      collect_inputs(task, whole.cluster, count);
    Candidate const fewer = candidate(task, whole.cluster, count, now);
    if (fewer.start >= whole.start || fewer.finish > whole.finish)
      continue;
    if (rules_.packing == Packing::LARGEST)
      return fewer;
    if (found.count == whole.count ||
        std::make_pair(fewer.finish, fewer.start) < std::make_pair(found.finish, found.start))
      found = fewer;
  }
  return found;
}

Candidate Mapper::best(Index task, double now)
{
  Candidate found;
  for (Index cluster = 0; cluster < clusters_.size(); cluster++) {
    Index const count = allocation_[cluster * tasks_.size() + task];
    collect_inputs(task, cluster, count);
    Candidate here = candidate(task, cluster, count, now);
    if (rules_.packing != Packing::OFF && here.start > here.arrival)
      here = packed(task, here, now);
    if (found.cluster < 0 || here.finish < found.finish)
      found = here;
  }
  return found;
}

void Mapper::place(Index task, Candidate const& candidate, double now)
{
  if (rules_.together) {
    busy_before_.insert(busy_before_.end(), busy_.begin(), busy_.end());
    collect_inputs(task, candidate.cluster, candidate.count);
    for (std::size_t at = 0; at < busy_.size(); at++)
      if (passing_[at] > 0)
        busy_[at] = std::max(busy_[at], now) + passing_[at];
  }
  auto& slots      = slots_[candidate.cluster];
  auto const taken = slots.begin() + candidate.count;
  for (auto slot = slots.begin(); slot != taken; ++slot) {
    slot->first = candidate.finish;
    processors_[task].push_back(slot->second);
  }
  std::sort(processors_[task].begin(), processors_[task].end());
  std::sort(slots.begin(), taken);
  std::inplace_merge(slots.begin(), taken, slots.end());
  placed_[task] = candidate;
  order_.push_back(task);
  pending_.push_back(task);
}

/// Maps what became ready and what waited, the longest way to the end of its graph first.
std::vector<Index> Mapper::map_sorted(double now, std::vector<Index> const& ready)
{
  waiting_.insert(waiting_.end(), ready.begin(), ready.end());
  std::sort(waiting_.begin(), waiting_.end(), [this](Index one, Index other) {
    return priority_[one] != priority_[other] ? priority_[one] > priority_[other] : one < other;
  });
  std::vector<Index> mapped;
  std::vector<Index> still;
  for (Index const task : waiting_) {
    // Where all is taken, nothing can start, whatever is best: most of what waits is passed over here.
    bool const hopeless   = !rules_.reserve && all_taken(now);
    Candidate const found = hopeless ? Candidate() : best(task, now);
    if (hopeless || (!rules_.reserve && found.free > now)) {
      still.push_back(task);
      continue;
    }
    place(task, found, now);
    mapped.push_back(task);
  }
  waiting_ = std::move(still);
  return mapped;
}

void Mapper::plan()
{
  Events events;
  std::vector<Index> waits(tasks_.size());
  for (Index task = 0; task < tasks_.size(); task++) {
    waits[task] = tasks_.before.start[task + 1] - tasks_.before.start[task];
    if (waits[task] == 0)
      events.emplace(tasks_.release[task], -1 - task);
  }
  follow(std::move(events), std::move(waits));
}

/// Returns when tasks will have finished, as far as they belong to graphs that are submitted: what happened until now
/// counts, and from here on everything takes the time that it is estimated to take.
std::vector<double> Mapper::forecast(double now) const
{
  Mapper ahead(*this);
  ahead.update(now);
  std::vector<bool> known(tasks_.size());
  for (auto const* tasks : {&ahead.order_, &ahead.waiting_})
    for (Index const task : *tasks)
      known[task] = true;
  Events events;
  for (Index const task : ahead.pending_)
    events.emplace(ahead.placed_[task].finish, task);
  std::vector<Index> waits(tasks_.size());
  std::vector<Index> ready;
  double const until = now + LAST_DIGITS * std::max(now, 1.0);
  for (Index task = 0; task < tasks_.size(); task++) {
    for (Index at = tasks_.before.start[task]; at < tasks_.before.start[task + 1]; at++)
      waits[task] += std::isnan(finish_[tasks_.before.task[at]]);
    if (!known[task] && waits[task] == 0 && tasks_.release[task] <= until)
      ready.push_back(task);
  }
  for (Index const task : ahead.map_sorted(now, ready))
    events.emplace(ahead.placed_[task].finish, task);
  ahead.follow(std::move(events), std::move(waits));
  std::vector<double> finish(tasks_.size(), NONE);
  for (Index const task : ahead.order_)
    finish[task] = ahead.placed_[task].finish;
  return finish;
}

/// Follows the mapped tasks as if they took the time that they are estimated to take.
void Mapper::follow(Events events, std::vector<Index> waits)
{
  std::vector<Index> ready;
  while (!events.empty()) {
    double now         = events.top().first;
    double const until = now + INSTANT * now;
    ready.clear();
    while (!events.empty() && events.top().first <= until) {
      auto const [date, task] = events.top();
      events.pop();
      now = date;
      if (task < 0) {
        ready.push_back(-1 - task);
        continue;
      }
      for (Index at = tasks_.after.start[task]; at < tasks_.after.start[task + 1]; at++)
        if (--waits[tasks_.after.task[at]] == 0)
          ready.push_back(tasks_.after.task[at]);
    }
    for (Index const task : map_sorted(now, ready))
      events.emplace(placed_[task].finish, task);
  }
}

/// Estimates the dates of a mapped task anew, and when its processors are free.
void Mapper::reestimate(Index task, double now, std::vector<double>& free)
{
  Candidate& place = placed_[task];
  if (std::isnan(start_[task])) {
    double start = std::max(place.arrival, now);
    for (Index const processor : processors_[task])
      start = std::max(start, free[processor]);
    place.start = start;
  } else {
    place.start = start_[task];
  }
  place.finish = place.start + time(task, place.count, place.cluster);
  if (place.finish < now)
    place.finish = std::nextafter(now, std::numeric_limits<double>::infinity()); // it still runs
  for (Index const processor : processors_[task])
    free[processor] = place.finish;
}

/// Estimates anew when processors are free, from what happened until now.
void Mapper::update(double now)
{
  std::vector<Index> still;
  for (Index const task : pending_) {
    if (std::isnan(finish_[task])) {
      still.push_back(task);
      continue;
    }
    placed_[task].finish = finish_[task];
    if (!std::isnan(start_[task]))
      placed_[task].start = start_[task];
    for (Index const processor : processors_[task])
      free_[processor] = std::max(free_[processor], finish_[task]);
  }
  pending_  = std::move(still);
  auto free = free_;
  for (Index const task : pending_)
    reestimate(task, now, free);
  for (auto& slots : slots_) {
    for (auto& slot : slots)
      slot.first = free[slot.second];
    std::sort(slots.begin(), slots.end());
  }
}

void Mapper::check(Index task) const
{
  if (task < 0 || task >= tasks_.size())
    throw py::index_error("a task that is not there");
}

std::vector<Index> Mapper::map_ready(double now, std::vector<Index> const& ready)
{
  for (Index const task : ready) {
    check(task);
    for (Index at = tasks_.before.start[task]; at < tasks_.before.start[task + 1]; at++)
      if (placed_[tasks_.before.task[at]].cluster < 0)
        throw py::value_error("a task before those that it follows");
  }
  update(now);
  return map_sorted(now, ready);
}

/// Puts a task that was mapped at this instant on other processors, and maps those that came after it anew.
std::vector<Index> Mapper::deviate(double now, Index task, Integers const& processors)
{
  auto const from = std::find(order_.begin(), order_.end(), task);
  if (from == order_.end() || !std::isnan(start_[task]))
    throw py::value_error("a task that cannot move");
  std::vector<Index> const chosen = values(processors);
  Index cluster                   = 0;
  Index end                       = clusters_.processors[0];
  while (!chosen.empty() && cluster + 1 < clusters_.size() && chosen.front() >= end)
    end += clusters_.processors[++cluster];
  if (chosen.empty() || *std::max_element(chosen.begin(), chosen.end()) >= end ||
      *std::min_element(chosen.begin(), chosen.end()) < end - clusters_.processors[cluster])
    throw py::value_error("processors that are not of one cluster");
  std::vector<Index> const later(from + 1, order_.end());
  for (auto each = from; each != order_.end(); ++each) {
    placed_[*each] = Candidate();
    processors_[*each].clear();
  }
  order_.erase(from, order_.end());
  pending_.resize(pending_.size() - later.size() - 1);
  if (rules_.together) {
    auto const before = order_.size() * busy_.size();
    std::copy_n(busy_before_.begin() + static_cast<std::ptrdiff_t>(before), busy_.size(), busy_.begin());
    busy_before_.resize(before);
  }
  update(now);
  auto const count = static_cast<Index>(chosen.size());
  std::stable_partition(slots_[cluster].begin(), slots_[cluster].end(), [&chosen](Slot const& slot) {
    return std::find(chosen.begin(), chosen.end(), slot.second) != chosen.end();
  });
  collect_inputs(task, cluster, count);
  place(task, candidate(task, cluster, count, now), now);
  return map_sorted(now, later);
}

/// Returns clusters, dates, processors by task and the order of mapping.
py::tuple Mapper::schedule() const
{
  std::vector<Index> cluster;
  std::vector<double> start;
  std::vector<double> finish;
  std::vector<Index> first{0};
  std::vector<Index> processor;
  for (Index task = 0; task < tasks_.size(); task++) {
    cluster.push_back(placed_[task].cluster);
    start.push_back(placed_[task].start);
    finish.push_back(placed_[task].finish);
    processor.insert(processor.end(), processors_[task].begin(), processors_[task].end());
    first.push_back(static_cast<Index>(processor.size()));
  }
  return py::make_tuple(array_of(cluster), array_of(start), array_of(finish), array_of(first), array_of(processor),
                        array_of(order_));
}

} // namespace taskgraphs

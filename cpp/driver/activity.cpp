// Activities: everything that an actor can wait for, and the awaitable that `await` sees.

#include "activity.hpp"

#include "actor.hpp"
#include "arguments.hpp"
#include "mailbox.hpp"
#include "planned.hpp"
#include "platform.hpp"
#include "plugins.hpp"
#include "record.hpp"
#include "routes.hpp"
#include "scheduler.hpp"
#include "simulation.hpp"
#include "synchro.hpp"
#include "wait.hpp"
#include "work.hpp"

#include <algorithm>

namespace driver {

void Fifo::push(Activity* activity)
{
  Ref<Activity>::share(activity).release(); // given up by pop() and remove()
  activity->queue                              = this;
  activity->queue_next                         = nullptr;
  activity->queue_prev                         = last;
  (last == nullptr ? first : last->queue_next) = activity;
  last                                         = activity;
  size++;
}

Ref<Activity> Fifo::pop()
{
  return remove(first);
}

Ref<Activity> Fifo::remove(Activity* activity)
{
  (activity->queue_prev == nullptr ? first : activity->queue_prev->queue_next) = activity->queue_next;
  (activity->queue_next == nullptr ? last : activity->queue_next->queue_prev)  = activity->queue_prev;
  activity->queue                                                              = nullptr;
  activity->queue_next = activity->queue_prev = nullptr;
  size--;
  return Ref<Activity>::steal(activity);
}

// ---- life -----------------------------------------------------------------------------------------------------------

namespace {

// Memory of dead activities, which are created and destroyed for every message.
constexpr size_t MOST_FREE = 4096;
std::vector<void*> free_memory;

} // namespace

Ref<Activity> new_activity(Kind kind, Actor* owner)
{
  void* memory = nullptr;
  if (not free_memory.empty()) {
    memory = free_memory.back();
    free_memory.pop_back();
  }
  Ref<Activity> activity = create<Activity>(&ActivityType, memory);
  if (not activity)
    return activity;
  static uint64_t created = 0;
  activity->number        = ++created;
  activity->kind          = kind;
  activity->owner         = owner;
  return activity;
}

void recycle(Activity* activity)
{
  activity->~Activity();
  if (free_memory.size() < MOST_FREE)
    free_memory.push_back(activity);
  else
    PyObject_Free(activity);
}

void own(Activity* activity)
{
  Actor* owner = activity->owner;
  if (owner == nullptr || activity->detached)
    return;
  Ref<Activity>::share(activity).release(); // given up by disown()
  activity->owner_prev = nullptr;
  activity->owner_next = owner->activities;
  if (owner->activities != nullptr)
    owner->activities->owner_prev = activity;
  owner->activities = activity;
}

void disown(Activity* activity)
{
  Actor* owner = activity->owner;
  if (owner == nullptr || (activity->owner_prev == nullptr && owner->activities != activity))
    return;
  (activity->owner_prev == nullptr ? owner->activities : activity->owner_prev->owner_next) = activity->owner_next;
  if (activity->owner_next != nullptr)
    activity->owner_next->owner_prev = activity->owner_prev;
  activity->owner_next = activity->owner_prev = nullptr;
  Ref<Activity>::steal(activity);
}

void add_waiter(Activity* activity, Waiter waiter)
{
  if (activity->waiter.actor == nullptr) {
    activity->waiter = waiter;
    return;
  }
  if (activity->more_waiters == nullptr)
    activity->more_waiters = std::make_unique<std::vector<Waiter>>();
  activity->more_waiters->push_back(waiter);
}

void remove_waiter(Activity* activity, Actor* actor)
{
  auto* more = activity->more_waiters.get();
  if (more != nullptr)
    more->erase(std::remove_if(more->begin(), more->end(), [actor](Waiter const& w) { return w.actor == actor; }),
                more->end());
  if (activity->waiter.actor == actor) {
    activity->waiter = {};
    if (more != nullptr && not more->empty()) {
      activity->waiter = more->front();
      more->erase(more->begin());
    }
  }
}

bool start(Activity* activity)
{
  activity->state = State::STARTED;
  activity->start = now();
  switch (activity->kind) {
    case Kind::EXEC:
      own(activity);
      start_execution(activity);
      return true;
    case Kind::PTASK:
      own(activity);
      return start_parallel(activity);
    case Kind::READ:
    case Kind::WRITE:
      own(activity);
      start_disk_operation(activity);
      return true;
    case Kind::SENDTO: // nobody's: it outlives the actor that started it, as in SimGrid
      start_transfer(activity, nullptr);
      return true;
    case Kind::PUT:
    case Kind::GET:
    case Kind::MESS_PUT:
    case Kind::MESS_GET:
      if (not activity->detached)
        own(activity);
      return start_rendezvous(activity);
    case Kind::SLEEP:
      own(activity);
      activity->timer =
          set_timer(activity->start + activity->amount, Alarm::ACTIVITY, reinterpret_cast<PyObject*>(activity));
      return true;
    default:
      own(activity);
      return start_synchro(activity);
  }
}

// ---- end ------------------------------------------------------------------------------------------------------------

namespace {

void end_one(Activity* activity, State state, Failure failure)
{
  activity->state   = state;
  activity->failure = failure;
  activity->finish  = now();
  forget_timer(activity->timer);
  if (activity->queue != nullptr)
    activity->queue->remove(activity);
  activity->peer = nullptr;
  disown(activity);
  if (activity->waiter.actor != nullptr) {
    Waiter const first = activity->waiter;
    activity->waiter   = {};
    std::vector<Waiter> others;
    if (activity->more_waiters != nullptr)
      others.swap(*activity->more_waiters);
    if (first.wait == nullptr)
      wake(first.actor);
    else
      notify(first.wait, activity);
    for (Waiter const& waiter : others)
      if (waiter.wait == nullptr)
        wake(waiter.actor);
      else
        notify(waiter.wait, activity);
  }
  if (activity->plan != nullptr && state == State::FINISHED)
    release_successors(activity);
}

/// Done so far: flop, byte, or the fraction of a parallel task.
double work_done(Activity const* activity, State state)
{
  if (state == State::FINISHED)
    return activity->kind == Kind::PTASK ? 1.0 : activity->amount;
  double const left = activity->work->remaining();
  return activity->kind == Kind::PTASK ? 1.0 - left : activity->amount - left;
}

void account(Activity* activity, State state)
{
  double const done = work_done(activity, state);
  note_use_by(activity, -1, activity->suspended ? -1 : 0);
  if (activity->kind == Kind::EXEC) {
    activity->destination->flops += done;
  } else if (activity->kind == Kind::PTASK) {
    auto const& [hosts, amounts] = *activity->parallel;
    size_t const count           = hosts.size();
    for (size_t i = 0; i < count; i++)
      hosts[i]->flops += done * amounts[i];
    bool const communicates = amounts.size() > count;
    for (size_t i = 0; communicates && i < count; i++)
      for (size_t j = 0; j < count; j++) {
        double const bytes = amounts[count + i * count + j];
        if (i != j && bytes > 0)
          pair_of(hosts[i], hosts[j])->bytes += done * bytes;
      }
  } else if (is_communication(activity->kind)) {
    activity->pair->bytes += done;
  }
  if (sim.tracing)
    record(activity, state, activity->kind == Kind::PTASK ? done * activity->amount : done);
}

} // namespace

void complete(Activity* activity, State state, Failure failure)
{
  auto const kept      = Ref<Activity>::share(activity);
  auto const kept_peer = Ref<Activity>::share(activity->peer);
  Activity* peer       = activity->peer;
  Activity* carrier = activity->work != nullptr ? activity : peer != nullptr && peer->work != nullptr ? peer : nullptr;
  if (carrier != nullptr) {
    account(carrier, state);
    if (is_communication(carrier->kind))
      transfer_over(carrier);
    else if (not uses_disk(carrier->kind))
      execution_over(carrier, state);
    carrier->work->release();
  } else if (sim.tracing && activity->kind == Kind::SLEEP && activity->start >= 0) {
    record(activity, state, now() - activity->start);
  }
  if (state == State::FINISHED && activity->kind == Kind::GET && peer != nullptr)
    std::swap(activity->payload, peer->payload);
  else if (state == State::FINISHED && activity->kind == Kind::PUT && peer != nullptr)
    std::swap(peer->payload, activity->payload);
  bool const peer_first = activity->peer_first && peer != nullptr;
  if (not peer_first)
    end_one(activity, state, failure);
  if (peer != nullptr && not is_over(peer))
    end_one(peer, state == State::FINISHED ? state : State::FAILED,
            state == State::FINISHED    ? Failure::NONE
            : failure == Failure::ROUTE ? failure
                                        : Failure::NETWORK);
  if (peer_first)
    end_one(activity, state, failure);
}

void abort_activity(Activity* activity, State state, Failure failure)
{
  if (not is_over(activity))
    complete(activity, state, failure);
}

void suspend_activity(Activity* activity)
{
  if (activity->suspended || activity->state != State::STARTED)
    return;
  activity->suspended     = true;
  Activity const* carrier = activity->work != nullptr || activity->peer == nullptr ? activity : activity->peer;
  if (carrier->work == nullptr)
    return;
  execution_suspended(carrier->work, true);
  carrier->work->model_action_->suspend();
  note_use_by(carrier, 0, 1);
}

void resume_activity(Activity* activity)
{
  if (activity->state != State::STARTED)
    return;
  bool const was_suspended = std::exchange(activity->suspended, false);
  Activity const* carrier  = activity->work != nullptr || activity->peer == nullptr ? activity : activity->peer;
  if (carrier->work == nullptr)
    return;
  note_use_by(carrier, 0, was_suspended ? -1 : 0);
  execution_suspended(carrier->work, false);
  carrier->work->model_action_->resume();
}

} // namespace driver

// Activities: everything that an actor can wait for, and the awaitable that `await` sees.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "types.hpp"

namespace driver {

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
  YIELD,
  CHOICE
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

class Work;

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

extern PyTypeObject ActivityType;

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
PyObject* itself(PyObject* self);
/// For callers that drive an awaitable by hand instead of by PyIter_Send.
PyObject* next_by_hand(PyObject* self, sendfunc send);
PyObject* to_be_awaited(Ref<Activity> activity); // to Python; nullptr if there is none
inline bool is_over(Activity const* activity)
{
  return activity->state > State::STARTED;
}

} // namespace driver

// What an actor does that takes simulated time: each function is a thin door to an activity.

#include "operations.hpp"

#include "activity.hpp"
#include "actor.hpp"
#include "arguments.hpp"
#include "mailbox.hpp"
#include "planned.hpp"
#include "platform.hpp"
#include "routes.hpp"
#include "scheduler.hpp"
#include "simulation.hpp"
#include "types.hpp"
#include "wait.hpp"
#include "work.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

namespace driver {

// ---- execution ------------------------------------------------------------------------------------------------------

static bool read_threads(PyObject* value, int& threads)
{
  if (value == nullptr)
    return true;
  long const count = PyLong_AsLong(value);
  if (PyErr_Occurred() != nullptr)
    return false;
  if (count < 1 || count > std::numeric_limits<int>::max()) {
    PyErr_Format(PyExc_ValueError, "threads must be >= 1, not %ld", count);
    return false;
  }
  threads = static_cast<int>(count);
  return true;
}

static PyObject* execution(PyObject* const* args, Py_ssize_t count, PyObject* keywords, Launch when)
{
  static Signature signature{"execute", 1, 1, {"flops", "host", "priority", "bound", "threads", "label"}};
  PyObject* values[6];
  double flops, priority, bound;
  int threads  = 1;
  Actor* actor = running_actor("execute");
  if (actor == nullptr || not parse(signature, args, count, keywords, values) ||
      not quantity(values[0], "flops", flops) || not positive(values[2], "priority", 1.0, priority) ||
      not positive(values[3], "bound", -1.0, bound) || not read_threads(values[4], threads))
    return nullptr;
  if ((bound > 0 || threads > 1) && not takes_threads_and_bounds()) {
    PyErr_SetString(error_class("SimpluginError"),
                    "ptask_L07 and cpu/optim:TI know neither threads nor bounds of an execution; leave them out, or "
                    "choose another model in SimGridOptions");
    return nullptr;
  }
  if (bound > 0 && threads > 1) {
    PyErr_SetString(PyExc_ValueError, "SimGrid bounds no execution of several threads; leave out bound or threads");
    return nullptr;
  }
  Host* host = host_argument(values[1], actor->host);
  if (host == nullptr)
    return nullptr;
  Ref<Activity> activity = new_activity(Kind::EXEC, actor);
  if (not activity || not set_label(activity.get(), values[5]))
    return nullptr;
  activity->amount      = flops * threads;
  activity->threads     = threads;
  activity->priority    = priority;
  activity->rate        = bound;
  activity->destination = host;
  return launch(std::move(activity), when);
}

PyObject* execute(PyObject* /*self*/, PyObject* const* args, Py_ssize_t count, PyObject* keywords)
{
  return execution(args, count, keywords, Launch::WHEN_AWAITED);
}

PyObject* exec_async(PyObject* /*self*/, PyObject* const* args, Py_ssize_t count, PyObject* keywords)
{
  return execution(args, count, keywords, Launch::NOW);
}

PyObject* exec_init(PyObject* /*self*/, PyObject* const* args, Py_ssize_t count, PyObject* keywords)
{
  return execution(args, count, keywords, Launch::LATER);
}

static bool right_length(const char* what, size_t expected, Py_ssize_t given)
{
  if (given == static_cast<Py_ssize_t>(expected))
    return true;
  PyErr_Format(PyExc_ValueError, "%s must have one entry a host: %zu, not %zd", what, expected, given);
  return false;
}

static bool right_rows(size_t expected, Py_ssize_t given)
{
  if (given == static_cast<Py_ssize_t>(expected))
    return true;
  PyErr_Format(PyExc_ValueError, "sizes must have a row for each of the %zu hosts", expected);
  return false;
}

/// Opens a C-contiguous array of doubles; false, without an exception, if it is something else.
static bool open_doubles(PyObject* values, int dimensions, Py_buffer& view)
{
  if (not PyObject_CheckBuffer(values))
    return false;
  if (PyObject_GetBuffer(values, &view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) != 0) {
    PyErr_Clear();
    return false;
  }
  if (view.ndim == dimensions && view.format != nullptr && strcmp(view.format, "d") == 0)
    return true;
  PyBuffer_Release(&view);
  return false;
}

/// Copies all doubles of an array; false with an exception if one is not a finite number >= 0.
static bool copy_doubles(Py_buffer const& view, const char* what, std::vector<double>& into)
{
  auto const* const first = static_cast<double const*>(view.buf);
  auto const* const last  = first + view.len / static_cast<Py_ssize_t>(sizeof(double));
  auto const* const wrong = std::find_if_not(first, last, [](double x) { return x >= 0 && std::isfinite(x); });
  if (wrong == last) {
    into.insert(into.end(), first, last);
    return true;
  }
  auto const value = Ref<>::steal(PyFloat_FromDouble(*wrong));
  double amount    = 0.0;
  if (value)
    number(value.get(), what, 0.0, amount);
  return false;
}

static bool read_amounts(PyObject* values, const char* what, size_t expected, std::vector<double>& into)
{
  Py_buffer view;
  if (open_doubles(values, 1, view)) {
    bool const good = right_length(what, expected, view.shape[0]) && copy_doubles(view, what, into);
    PyBuffer_Release(&view);
    return good;
  }
  auto const sequence = Ref<>::steal(PySequence_Fast(values, "expected a sequence of numbers"));
  bool good           = sequence && right_length(what, expected, PySequence_Fast_GET_SIZE(sequence.get()));
  for (size_t i = 0; good && i < expected; i++) {
    double amount = 0.0;
    good          = number(PySequence_Fast_GET_ITEM(sequence.get(), static_cast<Py_ssize_t>(i)), what, 0.0, amount);
    into.push_back(amount);
  }
  return good;
}

static bool read_matrix(PyObject* sizes, size_t count, std::vector<double>& into)
{
  Py_buffer view;
  if (open_doubles(sizes, 2, view)) {
    bool const good = right_rows(count, view.shape[0]) && right_length("each row of sizes", count, view.shape[1]) &&
                      copy_doubles(view, "each row of sizes", into);
    PyBuffer_Release(&view);
    return good;
  }
  auto const rows = Ref<>::steal(PySequence_Fast(sizes, "sizes must be a matrix of bytes, a row for each sender"));
  bool good       = rows && right_rows(count, PySequence_Fast_GET_SIZE(rows.get()));
  for (size_t i = 0; good && i < count; i++)
    good = read_amounts(PySequence_Fast_GET_ITEM(rows.get(), static_cast<Py_ssize_t>(i)), "each row of sizes", count,
                        into);
  return good;
}

static bool require_transfers(Parallel const& task)
{
  size_t const count = task.hosts.size();
  for (size_t pair = 0; pair < count * count; pair++)
    if (task.amounts[count + pair] > 0 && not require_transfer(task.hosts[pair / count], task.hosts[pair % count]))
      return false;
  return true;
}

static bool read_parallel(Activity* activity, PyObject* hosts, PyObject* flops, PyObject* sizes)
{
  activity->parallel  = std::make_unique<Parallel>();
  Parallel& task      = *activity->parallel;
  auto const sequence = Ref<>::steal(PySequence_Fast(hosts, "hosts must be a sequence of hosts or their names"));
  if (not sequence)
    return false;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(sequence.get()); i++) {
    Host* host = host_argument(PySequence_Fast_GET_ITEM(sequence.get(), i), nullptr);
    if (host == nullptr)
      return false;
    task.hosts.push_back(host);
  }
  size_t const count = task.hosts.size();
  if (count == 0) {
    PyErr_SetString(PyExc_ValueError, "a parallel task needs at least one host");
    return false;
  }
  if (flops == Py_None)
    task.amounts.resize(count);
  else if (not read_amounts(flops, "flops", count, task.amounts))
    return false;
  activity->amount = std::accumulate(task.amounts.begin(), task.amounts.end(), 0.0);
  return sizes == Py_None || (read_matrix(sizes, count, task.amounts) && require_transfers(task));
}

static PyObject* parallel(PyObject* const* args, Py_ssize_t count, PyObject* keywords, Launch when)
{
  static Signature signature{"parallel_execute", 3, 3, {"hosts", "flops", "sizes", "label"}};
  PyObject* values[4];
  Actor* actor = running_actor("parallel_execute");
  if (actor == nullptr || not parse(signature, args, count, keywords, values))
    return nullptr;
  if (not takes_parallel_tasks()) {
    PyErr_SetString(error_class("SimpluginError"),
                    "parallel tasks need the host model ptask_L07: SimGridOptions(host_model='ptask_L07')");
    return nullptr;
  }
  Ref<Activity> activity = new_activity(Kind::PTASK, actor);
  if (not activity || not set_label(activity.get(), values[3]) ||
      not read_parallel(activity.get(), values[0], values[1], values[2]))
    return nullptr;
  return launch(std::move(activity), when);
}

PyObject* parallel_execute(PyObject* /*self*/, PyObject* const* args, Py_ssize_t count, PyObject* keywords)
{
  return parallel(args, count, keywords, Launch::WHEN_AWAITED);
}

PyObject* parallel_async(PyObject* /*self*/, PyObject* const* args, Py_ssize_t count, PyObject* keywords)
{
  return parallel(args, count, keywords, Launch::NOW);
}

PyObject* parallel_init(PyObject* /*self*/, PyObject* const* args, Py_ssize_t count, PyObject* keywords)
{
  return parallel(args, count, keywords, Launch::LATER);
}

// ---- time -----------------------------------------------------------------------------------------------------------

static PyObject* sleep_of(double duration)
{
  Actor* actor = running_actor("sleep");
  if (actor == nullptr)
    return nullptr;
  Ref<Activity> activity = new_activity(Kind::SLEEP, actor);
  if (not activity)
    return nullptr;
  activity->amount      = std::max(duration, sg_precision_timing);
  activity->destination = actor->host;
  if (duration <= 0) // it is over at once
    activity->state = State::FINISHED;
  return to_be_awaited(std::move(activity));
}

PyObject* sleep_for(PyObject* /*self*/, PyObject* duration)
{
  double seconds;
  return quantity(duration, "duration", seconds) ? sleep_of(seconds) : nullptr;
}

PyObject* sleep_until(PyObject* /*self*/, PyObject* date)
{
  double seconds;
  return quantity(date, "date", seconds) ? sleep_of(seconds - now()) : nullptr;
}

PyObject* yield_(PyObject* /*self*/, PyObject* /*unused*/)
{
  return blocking_operation(Kind::YIELD, nullptr, NEVER);
}

// ---- choices --------------------------------------------------------------------------------------------------------

/// The decision is taken at once, before anything else happens.
PyObject* choose(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords)
{
  static Signature signature{"choose", 2, 1, {"options", "observation", "label"}};
  PyObject* values[3];
  if (running_actor("choose") == nullptr || not parse(signature, args, count, keywords, values))
    return nullptr;
  static Contest choosing;
  compete(choosing, sim.current);
  PyObject* const observation = values[1] == nullptr ? Py_None : values[1];
  PyObject* const label       = values[2] == nullptr ? Py_None : values[2];
  auto index = Ref<>::steal(PyObject_CallFunctionObjArgs(sim.chooser, self, values[0], observation, label, nullptr));
  Ref<Activity> activity = index ? new_activity(Kind::CHOICE, sim.current) : Ref<Activity>();
  if (not activity)
    return nullptr;
  activity->payload = std::move(index);
  activity->state   = State::FINISHED;
  return to_be_awaited(std::move(activity));
}

// ---- communication --------------------------------------------------------------------------------------------------

static PyObject* named(PyObject* registry, PyTypeObject* type, PyObject* name)
{
  if (not PyUnicode_Check(name)) {
    PyErr_Format(PyExc_TypeError, "a name is a str, not %R", name);
    return nullptr;
  }
  auto found = Ref<>::share(PyDict_GetItemWithError(registry, name));
  if (not found && PyErr_Occurred() == nullptr) {
    found = Ref<>::steal(PyObject_CallOneArg(reinterpret_cast<PyObject*>(type), name));
    if (found && PyDict_SetItem(registry, name, found.get()) != 0)
      return nullptr;
  }
  return found.give();
}

PyObject* mailbox(PyObject* /*self*/, PyObject* name)
{
  return named(sim.mailboxes, &MailboxType, name);
}

PyObject* message_queue(PyObject* /*self*/, PyObject* name)
{
  return named(sim.queues, &MessageQueueType, name);
}

/// One that starts later may be without.
static bool transfer_end(PyObject* value, Launch when, Host*& host)
{
  if (when == Launch::LATER && value == Py_None)
    return true;
  host = host_argument(value, nullptr);
  return host != nullptr;
}

static PyObject* transfer(PyObject* const* args, Py_ssize_t count, PyObject* keywords, Launch when)
{
  static Signature signature{"sendto", 3, 3, {"source", "destination", "size", "rate", "label"}};
  PyObject* values[5];
  double size, rate;
  Actor* actor = running_actor("sendto");
  if (actor == nullptr || not parse(signature, args, count, keywords, values) ||
      not quantity(values[2], "size", size) || not positive(values[3], "rate", -1.0, rate))
    return nullptr;
  Host* source      = nullptr;
  Host* destination = nullptr;
  if (not transfer_end(values[0], when, source) || not transfer_end(values[1], when, destination))
    return nullptr;
  if (source != nullptr && destination != nullptr && not require_transfer(source, destination))
    return nullptr;
  Ref<Activity> activity = new_activity(Kind::SENDTO, actor);
  if (not activity || not set_label(activity.get(), values[4]))
    return nullptr;
  activity->amount      = size;
  activity->rate        = rate;
  activity->source      = source;
  activity->destination = destination;
  return launch(std::move(activity), when);
}

PyObject* sendto(PyObject* /*self*/, PyObject* const* args, Py_ssize_t count, PyObject* keywords)
{
  return transfer(args, count, keywords, Launch::WHEN_AWAITED);
}

PyObject* sendto_async(PyObject* /*self*/, PyObject* const* args, Py_ssize_t count, PyObject* keywords)
{
  return transfer(args, count, keywords, Launch::NOW);
}

PyObject* sendto_init(PyObject* /*self*/, PyObject* const* args, Py_ssize_t count, PyObject* keywords)
{
  return transfer(args, count, keywords, Launch::LATER);
}

// ---- waiting --------------------------------------------------------------------------------------------------------

static PyObject* wait_many(Wait::Mode mode, const char* function, PyObject* const* args, Py_ssize_t count,
                           PyObject* keywords)
{
  static Signature signature{"wait", 2, 1, {"activities", "timeout"}};
  signature.function = function;
  PyObject* values[2];
  double timeout;
  if (not parse(signature, args, count, keywords, values) || not number(values[1], "timeout", NEVER, timeout))
    return nullptr;
  return new_wait(mode, values[0], timeout);
}

PyObject* wait_any(PyObject* /*self*/, PyObject* const* args, Py_ssize_t count, PyObject* keywords)
{
  return wait_many(Wait::Mode::ANY, "wait_any", args, count, keywords);
}

PyObject* wait_all(PyObject* /*self*/, PyObject* const* args, Py_ssize_t count, PyObject* keywords)
{
  return wait_many(Wait::Mode::ALL, "wait_all", args, count, keywords);
}

PyObject* test_any(PyObject* /*self*/, PyObject* activities)
{
  auto const sequence = Ref<>::steal(PySequence_Fast(activities, "expected a sequence of activities"));
  for (Py_ssize_t i = 0; sequence && i < PySequence_Fast_GET_SIZE(sequence.get()); i++) {
    PyObject* item = PySequence_Fast_GET_ITEM(sequence.get(), i);
    if (Py_TYPE(item) != &ActivityType) {
      PyErr_Format(PyExc_TypeError, "expected activities, not %R", item);
      return nullptr;
    }
    if (is_over(reinterpret_cast<Activity*>(item)))
      return Py_NewRef(item);
  }
  return sequence ? Py_NewRef(Py_None) : nullptr;
}

} // namespace driver

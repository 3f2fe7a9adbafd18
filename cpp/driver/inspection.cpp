// Looking inside a simulation: who speaks, and the state while it pauses. Nothing here changes what comes out.

#include "inspection.hpp"

#include "activity.hpp"
#include "actor.hpp"
#include "platform.hpp"
#include "record.hpp"
#include "simulation.hpp"
#include "work.hpp"
#include "zero_capacity.hpp"

#include <cerrno>
#include <cstring>
#include <unordered_map>

#include <sys/wait.h>
#include <unistd.h>

namespace driver {

namespace {

bool add(PyObject* list, PyObject* row)
{
  auto const kept = Ref<>::steal(row);
  return kept && PyList_Append(list, kept.get()) == 0;
}

/// (host, actor, pid) of the actor that runs, or None.
PyObject* speaker(PyObject* /*module*/, PyObject* /*unused*/)
{
  if (sim.current == nullptr)
    Py_RETURN_NONE;
  return Py_BuildValue("(sOl)", sim.current->host->host->get_cname(), sim.current->name.get(), sim.current->pid);
}

PyObject* log_with(PyObject* /*module*/, PyObject* args)
{
  PyObject* write;
  if (not PyArg_ParseTuple(args, "iO", &sim.log_level, &write))
    return nullptr;
  sim.logger = Py_NewRef(write);
  Py_RETURN_NONE;
}

PyObject* pause_with(PyObject* /*module*/, PyObject* args)
{
  PyObject* pausing;
  if (not PyArg_ParseTuple(args, "Od", &pausing, &sim.pause))
    return nullptr;
  Py_XSETREF(sim.pausing, Py_NewRef(pausing));
  Py_RETURN_NONE;
}

PyObject* choose_with(PyObject* /*module*/, PyObject* chooser)
{
  sim.chooser = Py_NewRef(chooser);
  Py_RETURN_NONE;
}

PyObject* order_by(PyObject* /*module*/, PyObject* seed)
{
  unsigned long long const number = PyLong_AsUnsignedLongLongMask(seed);
  if (PyErr_Occurred() != nullptr)
    return nullptr;
  sim.order.emplace(number);
  Py_RETURN_NONE;
}

PyObject* ties(PyObject* /*module*/, PyObject* /*unused*/)
{
  return PyLong_FromLong(sim.ties);
}

/// Forks a process that is no child of this one: a process between, which shares the memory of this one as long as this
/// one waits (so that page tables are copied once), forks it, reports it and ends when it may.
PyObject* fork_sibling(PyObject* /*module*/, PyObject* args)
{
  int reports, released;
  if (not PyArg_ParseTuple(args, "ii", &reports, &released))
    return nullptr;
  volatile int problem = 0;
  PyOS_BeforeFork();
  pid_t const between = vfork(); // NOLINT(clang-analyzer-security.insecureAPI.vfork,clang-analyzer-unix.Vfork)
  if (between == 0) {
    pid_t const sibling = fork();
    if (sibling == 0) {
      PyOS_AfterFork_Child();
      Py_RETURN_TRUE;
    }
    char byte = 's'; // as in wire_format.py
    char message[1 + sizeof sibling];
    message[0] = byte;
    std::memcpy(message + 1, &sibling, sizeof sibling);
    if (sibling < 0)
      problem = errno;
    else if (write(reports, message, sizeof message) == static_cast<ssize_t>(sizeof message))
      while (read(released, &byte, 1) < 0 && errno == EINTR) {
      }
    _exit(0);
  }
  if (between < 0)
    problem = errno;
  else
    waitpid(between, nullptr, 0);
  PyOS_AfterFork_Parent();
  if (problem != 0) {
    errno = problem;
    return PyErr_SetFromErrno(PyExc_OSError);
  }
  Py_RETURN_FALSE;
}

/// (hosts, links, activities in progress) as rows, at a date between the last event and the next.
PyObject* look(PyObject* /*module*/, PyObject* value)
{
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  double const date        = PyFloat_AsDouble(value);
  auto const hosts = Ref<>::steal(PyList_New(0)), links = Ref<>::steal(PyList_New(0)),
             activities = Ref<>::steal(PyList_New(0));
  std::unordered_map<Host const*, double> done; // by what goes on [flop]
  bool good = not PyErr_Occurred() && hosts && links && activities;
  for (Activity const* activity : good ? in_progress() : std::vector<Activity*>()) {
    double const left = activity->work->remaining_at(date);
    if (activity->kind == Kind::EXEC)
      done[activity->destination] += activity->amount - left;
    else if (activity->kind == Kind::PTASK)
      for (size_t i = 0; i < activity->parallel->hosts.size(); i++)
        done[activity->parallel->hosts[i]] += (1.0 - left) * activity->parallel->amounts[i];
    double const unit      = activity->kind == Kind::PTASK ? activity->amount : 1.0;
    char const* const kind = activity->kind == Kind::EXEC    ? "exec"
                             : activity->kind == Kind::PTASK ? "ptask"
                             : activity->kind == Kind::READ  ? "read"
                             : activity->kind == Kind::WRITE ? "write"
                                                             : "comm";
    good =
        good && add(activities.get(),
                    Py_BuildValue("(sOsOddd)", kind, activity->owner == nullptr ? Py_None : activity->owner->name.get(),
                                  resource_name(activity).c_str(), activity->label ? activity->label.get() : Py_None,
                                  activity->start, activity->amount, left * unit));
  }
  for (s4u::Host* host : platform_hosts()) {
    Host const* known = host_of(host);
    bool const tells  = host->get_cpu()->get_constraint() != nullptr; // not under cpu/optim:TI
    good = good && add(hosts.get(), Py_BuildValue("(sOdddi)", host->get_cname(), host->is_on() ? Py_True : Py_False,
                                                  tells ? host->get_speed() * host->get_available_speed() : unknown,
                                                  tells ? load_of(host->get_load()) : unknown,
                                                  known->flops + done[known], known->running));
  }
  for (s4u::Link* link : platform_links())
    good = good && add(links.get(), Py_BuildValue("(sOdd)", link->get_cname(), link->is_on() ? Py_True : Py_False,
                                                  bandwidth_of(link), load_of(link->get_load())));
  return good ? Py_BuildValue("(OOO)", hosts.get(), links.get(), activities.get()) : nullptr;
}

} // namespace

PyMethodDef inspection_functions[] = {
    {"speaker", speaker, METH_NOARGS, "(host, name, pid) of the actor that runs, or None."},
    {"log_with", log_with, METH_VARARGS, "log_with(level, write): call write(level, message) from this level on."},
    {"pause_with", pause_with, METH_VARARGS,
     "pause_with(pausing, date): before the first event after a date, pausing(date of the event) gives another one."},
    {"choose_with", choose_with, METH_O,
     "choose_with(chooser): chooser(actor, options, observation, label) gives the index of an option."},
    {"fork_sibling", fork_sibling, METH_VARARGS,
     "fork_sibling(reports, released): True in a copy of this process, whose id goes to a socket; its parent is the "
     "subreaper above once a pipe is closed."},
    {"order_by", order_by, METH_O, "order_by(seed): draw the order of the actors that are ready at one date."},
    {"ties", ties, METH_NOARGS, "Number of dates at which actors competed for a mailbox, a queue, a lock or a choice."},
    {"look", look, METH_O, "look(date): hosts, links, and activities in progress."},
    {nullptr, nullptr, 0, nullptr}};

} // namespace driver

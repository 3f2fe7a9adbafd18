// Operations that are never awaited: found when they go away, and reported unless an exception is the reason.

#include "unawaited.hpp"

#include "activity.hpp"
#include "actor.hpp"
#include "planned.hpp"
#include "platform.hpp"
#include "simulation.hpp"

#include <unordered_map>

namespace driver {

namespace {

thread_local uint32_t exceptions_of_thread = 0; // where no actor of this driver runs
std::unordered_map<PyObject const*, std::string> places;
destructor free_traceback = nullptr;

/// An exception goes away, and with it what the frames hold that it passed. Python has no other hook for this that
/// costs nothing where there are no exceptions.
void traceback_dealloc(PyObject* traceback)
{
  (sim.current == nullptr ? exceptions_of_thread : sim.current->exceptions)++;
  // Python's own looks whether it is the type's, to free long chains without recursion.
  PyTraceBack_Type.tp_dealloc = free_traceback;
  free_traceback(traceback);
  PyTraceBack_Type.tp_dealloc = traceback_dealloc;
}

std::string current_place()
{
  PyFrameObject* const frame = PyEval_GetFrame();
  if (frame == nullptr)
    return "";
  auto const code         = Ref<PyCodeObject>::steal(PyFrame_GetCode(frame));
  char const* const file  = PyUnicode_AsUTF8(code->co_filename);
  std::string const place = (file == nullptr ? "?" : file) + (":" + std::to_string(PyFrame_GetLineNumber(frame)));
  PyErr_Clear();
  return place;
}

/// Whether what goes away with an actor is no mistake of its.
bool excused(Actor const* actor)
{
  return sim.error != nullptr || actor->killed || (actor->dying && actor->phase != Actor::Phase::ENDED);
}

PyObject* watch_awaits(PyObject* /*module*/, PyObject* args)
{
  int locates;
  PyObject* report;
  if (not PyArg_ParseTuple(args, "Op", &report, &locates))
    return nullptr;
  sim.report   = Py_NewRef(report);
  sim.locating = locates != 0;
  if (free_traceback == nullptr) {
    free_traceback              = PyTraceBack_Type.tp_dealloc;
    PyTraceBack_Type.tp_dealloc = traceback_dealloc;
  }
  Py_RETURN_NONE;
}

PyObject* exceptions(PyObject* /*module*/, PyObject* /*unused*/)
{
  return PyLong_FromUnsignedLong(sim.current == nullptr ? exceptions_of_thread : sim.current->exceptions);
}

PyObject* running(PyObject* /*module*/, PyObject* /*unused*/)
{
  if (sim.current == nullptr || excused(sim.current))
    Py_RETURN_NONE;
  return Py_BuildValue("(Os)", sim.current->name.get(), sim.current->host->host->get_cname());
}

PyObject* stop(PyObject* /*module*/, PyObject* error)
{
  if (sim.error == nullptr)
    sim.error = Py_NewRef(error);
  Py_RETURN_NONE;
}

PyObject* check(PyObject* /*module*/, PyObject* /*unused*/)
{
  if (sim.error == nullptr)
    Py_RETURN_NONE;
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(sim.error)), sim.error);
  return nullptr;
}

PyObject* expected_awaits(PyObject* /*module*/, PyObject* /*unused*/)
{
  return PyLong_FromLong(sim.expected_awaits);
}

} // namespace

PyMethodDef unawaited_functions[] = {
    {"watch_awaits", watch_awaits, METH_VARARGS,
     "watch_awaits(report, locates): call report(what, actor, host, place) for what is never awaited."},
    {"exceptions", exceptions, METH_NOARGS, "Number of exceptions caught in the running actor, or in this thread."},
    {"running", running, METH_NOARGS,
     "(name, host) of the running actor; None if there is none or it is being killed."},
    {"stop", stop, METH_O, "stop(error): end the run with an error after the step of the running actor."},
    {"check", check, METH_NOARGS, "Raise the error that ends the run, if there is one."},
    {"expected_awaits", expected_awaits, METH_NOARGS, "Number of operations that exist and were not awaited yet."},
    {nullptr, nullptr, 0, nullptr}};

void note_place(PyObject const* operation)
{
  places[operation] = current_place();
}

void forget_place(PyObject const* operation)
{
  places.erase(operation);
}

void never_awaited(PyObject* operation, Actor const* creator, uint32_t exceptions)
{
  std::string const place = sim.locating ? places[operation] : "";
  awaited(operation);
  if (PyErr_Occurred() != nullptr || sim.report == nullptr || creator == nullptr || excused(creator) ||
      creator->exceptions != exceptions)
    return;
  auto const done =
      Ref<>::steal(PyObject_CallFunction(sim.report, "sOss", describe(operation).c_str(), creator->name.get(),
                                         creator->host->host->get_cname(), place.c_str()));
  if (not done)
    PyErr_WriteUnraisable(operation);
}

} // namespace driver

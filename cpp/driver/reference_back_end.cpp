// For the reference back end: what it hears of SimGrid, whose Python bindings tell neither when an activity ends nor
// what was left of it, and give executions neither priority nor bound.

#include "reference_back_end.hpp"

#include "activity.hpp"
#include "platform.hpp"
#include "plugins.hpp"
#include "scheduler.hpp"
#include "simulation.hpp"

#include <simgrid/kernel/resource/Model.hpp>

namespace driver {

namespace {

/// An action that has ended; its name is the category that the back end gave its activity.
struct End {
  std::string name;
  double left; // flop or byte, or a fraction under ptask_L07
  bool failed;
};
std::vector<End> ends;
PyObject* step = nullptr; // gives the time to its next date [s], below 0 if there is none

void note_end(Action const& action)
{
  auto const state  = action.get_state();
  bool const failed = state == Action::State::FAILED;
  if (action.get_category().empty() || not(failed || state == Action::State::FINISHED))
    return;
  double left = 0.0;
  if (failed && action.get_model()->is_update_lazy())
    left = action.get_remains_no_update() - action.get_last_value() * (now() - action.get_last_update());
  else if (failed)
    left = remains_of(&action) - action.get_rate() * (now() - sim.stepped);
  ends.push_back({action.get_category(), std::max(0.0, left), failed});
}

/// SimGrid does so for executions on one host only.
void hand_over_name(s4u::Activity const& activity, std::string const& name)
{
  if (Action* action = activity.get_impl()->model_action_; action != nullptr)
    action->set_category(name);
}

/// The first model of the engine: the back end does what is due before SimGrid looks for the next event.
class Steps final : public simgrid::kernel::resource::Model {
public:
  Steps() : Model("simplugin_steps") {}

  double next_occurring_event(double /*date*/) override
  {
    Lock const lock;
    auto const answer  = Ref<>::steal(PyObject_CallNoArgs(step));
    double const delta = answer ? PyFloat_AsDouble(answer.get()) : -1.0;
    if (PyErr_Occurred() != nullptr)
      PyErr_WriteUnraisable(step);
    return delta;
  }

  void update_actions_state(double /*date*/, double /*delta*/) override {}
};

PyObject* step_with(PyObject* /*module*/, PyObject* function)
{
  step = Py_NewRef(function);
  s4u::Engine::get_instance()->add_model(std::make_shared<Steps>());
  stop_at_profiles();
  s4u::Host::on_exec_state_change_cb([](auto const& action, Action::State) { note_end(action); });
  s4u::Link::on_communication_state_change_cb([](auto const& action, Action::State) { note_end(action); });
  s4u::Comm::on_start_cb([](auto const& started) { hand_over_name(started, started.get_tracing_category()); });
  s4u::Exec::on_start_cb([](auto const& started) { hand_over_name(started, started.get_tracing_category()); });
  Py_RETURN_NONE;
}

PyObject* ended(PyObject* /*module*/, PyObject* /*unused*/)
{
  auto const all = std::exchange(ends, {});
  auto list      = Ref<>::steal(PyList_New(static_cast<Py_ssize_t>(all.size())));
  for (size_t i = 0; list && i < all.size(); i++) {
    PyObject* row = Py_BuildValue("(sdO)", all[i].name.c_str(), all[i].left, all[i].failed ? Py_True : Py_False);
    if (row == nullptr)
      return nullptr;
    PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), row);
  }
  return list.give();
}

PyObject* shape(PyObject* /*module*/, PyObject* args)
{
  char const *host, *name;
  double priority, bound;
  if (not PyArg_ParseTuple(args, "ssdd", &host, &name, &priority, &bound))
    return nullptr;
  auto* const model = s4u::Host::by_name(host)->get_cpu()->get_model();
  if (model->get_started_action_set()->empty() || model->get_started_action_set()->back().get_category() != name)
    Py_RETURN_NONE; // it is over
  Action& action = model->get_started_action_set()->back();
  action.set_sharing_penalty(1.0 / priority);
  if (bound > 0)
    action.set_user_bound(bound); // for when the speed of the host changes
  if (bound > 0 && bound < action.get_bound())
    model->get_maxmin_system()->update_variable_bound(action.get_variable(), bound);
  Py_RETURN_NONE;
}

} // namespace

PyMethodDef reference_functions[] = {
    {"step_with", step_with, METH_O, "step_with(step): call a function before SimGrid looks for the next event."},
    {"ended", ended, METH_NOARGS, "[(name, left, failed)] of what has ended since the last call."},
    {"shape", shape, METH_VARARGS, "shape(host, name, priority, bound): of the execution that started last."},
    {nullptr, nullptr, 0, nullptr}};

} // namespace driver

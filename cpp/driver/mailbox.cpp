// Where actors meet: mailboxes (the payload crosses the network) and message queues (it costs no simulated time).

#include "mailbox.hpp"

#include "activity.hpp"
#include "actor.hpp"
#include "arguments.hpp"
#include "planned.hpp"
#include "platform.hpp"
#include "scheduler.hpp"
#include "types.hpp"
#include "work.hpp"

#include <algorithm>

namespace driver {

namespace {

/// Mailbox and message queue alike.
struct Meeting {
  PyObject ob_base{}; // PyObject_HEAD
  Ref<> name;
  Fifo puts;
  Fifo gets;
  Contest putting;
  Contest getting;
};

Meeting* cast(PyObject* self)
{
  return reinterpret_cast<Meeting*>(self);
}

bool is_queue(PyObject* self)
{
  return Py_TYPE(self) == &MessageQueueType;
}

Ref<Activity> new_put(PyObject* self, Actor* actor, PyObject* payload)
{
  Ref<Activity> put = new_activity(is_queue(self) ? Kind::MESS_PUT : Kind::PUT, actor);
  if (put) {
    put->target  = Ref<>::share(self);
    put->payload = Ref<>::share(payload);
  }
  return put;
}

/// put, put_async and put_detached of a mailbox.
Ref<Activity> mailbox_put(PyObject* self, Signature& signature, PyObject* const* args, Py_ssize_t count,
                          PyObject* keywords)
{
  PyObject* values[5] = {};
  double size, rate, timeout;
  Actor* actor = running_actor(signature.function);
  if (actor == nullptr || not parse(signature, args, count, keywords, values) ||
      not quantity(values[1], "size, the argument after the payload,", size) ||
      not positive(values[2], "rate", -1.0, rate) || not number(values[4], "timeout", NEVER, timeout))
    return {};
  Ref<Activity> put = new_put(self, actor, values[0]);
  if (not put || not set_label(put.get(), values[3]))
    return {};
  put->amount  = size;
  put->rate    = rate;
  put->timeout = timeout;
  return put;
}

PyObject* put(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords)
{
  static Signature signature{"put", 2, 2, {"payload", "size", "rate", "label", "timeout"}};
  return to_be_awaited(mailbox_put(self, signature, args, count, keywords));
}

PyObject* put_async(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords)
{
  static Signature signature{"put_async", 2, 2, {"payload", "size", "rate", "label"}};
  return launch(mailbox_put(self, signature, args, count, keywords), Launch::NOW);
}

PyObject* put_init(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords)
{
  static Signature signature{"put_init", 2, 2, {"payload", "size", "rate", "label"}};
  return launch(mailbox_put(self, signature, args, count, keywords), Launch::LATER);
}

PyObject* forget(Ref<Activity> const& activity)
{
  if (activity)
    activity->detached = true;
  if (not activity || not start(activity.get()))
    return nullptr;
  Py_RETURN_NONE;
}

PyObject* put_detached(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords)
{
  static Signature signature{"put_detached", 2, 2, {"payload", "size", "rate", "label"}};
  return forget(mailbox_put(self, signature, args, count, keywords));
}

Ref<Activity> new_get(PyObject* self, const char* function)
{
  Actor* actor = running_actor(function);
  if (actor == nullptr)
    return {};
  Ref<Activity> get = new_activity(is_queue(self) ? Kind::MESS_GET : Kind::GET, actor);
  if (get)
    get->target = Ref<>::share(self);
  return get;
}

PyObject* get(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords)
{
  static Signature signature{"get", 0, 0, {"timeout"}};
  PyObject* values[1];
  double timeout;
  if (not parse(signature, args, count, keywords, values) || not number(values[0], "timeout", NEVER, timeout))
    return nullptr;
  Ref<Activity> activity = new_get(self, "get");
  if (activity)
    activity->timeout = timeout;
  return to_be_awaited(std::move(activity));
}

PyObject* get_async(PyObject* self, PyObject* /*unused*/)
{
  return launch(new_get(self, "get_async"), Launch::NOW);
}

PyObject* get_init(PyObject* self, PyObject* /*unused*/)
{
  return launch(new_get(self, "get_init"), Launch::LATER);
}

Ref<Activity> queue_put(PyObject* self, Signature& signature, PyObject* const* args, Py_ssize_t count,
                        PyObject* keywords)
{
  PyObject* values[2] = {};
  double timeout;
  Actor* actor = running_actor(signature.function);
  if (actor == nullptr || not parse(signature, args, count, keywords, values) ||
      not number(values[1], "timeout", NEVER, timeout))
    return {};
  Ref<Activity> activity = new_put(self, actor, values[0]);
  if (activity)
    activity->timeout = timeout;
  return activity;
}

PyObject* message_put(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords)
{
  static Signature signature{"put", 1, 1, {"payload", "timeout"}};
  return to_be_awaited(queue_put(self, signature, args, count, keywords));
}

PyObject* message_put_async(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords)
{
  static Signature signature{"put_async", 1, 1, {"payload"}};
  return launch(queue_put(self, signature, args, count, keywords), Launch::NOW);
}

PyObject* message_put_detached(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords)
{
  static Signature signature{"put_detached", 1, 1, {"payload"}};
  return forget(queue_put(self, signature, args, count, keywords));
}

PyObject* listen(PyObject* self, PyObject* /*unused*/)
{
  return PyBool_FromLong(cast(self)->puts.size > 0);
}

PyObject* get_name(PyObject* self, void* /*closure*/)
{
  return Py_NewRef(cast(self)->name.get());
}

PyObject* get_empty(PyObject* self, void* /*closure*/)
{
  return PyBool_FromLong(cast(self)->puts.size == 0 && cast(self)->gets.size == 0);
}

PyObject* get_size(PyObject* self, void* /*closure*/)
{
  return PyLong_FromSsize_t(cast(self)->puts.size);
}

PyObject* meeting_repr(PyObject* self)
{
  return PyUnicode_FromFormat("<%s %R: %zd put, %zd get>", is_queue(self) ? "MessageQueue" : "Mailbox",
                              cast(self)->name.get(), cast(self)->puts.size, cast(self)->gets.size);
}

PyObject* meeting_new(PyTypeObject* type, PyObject* args, PyObject* /*keywords*/)
{
  PyObject* name;
  if (not PyArg_ParseTuple(args, "U", &name))
    return nullptr;
  Ref<Meeting> meeting = create<Meeting>(type);
  if (meeting)
    meeting->name = Ref<>::share(name);
  return meeting.give();
}

PyMethodDef mailbox_methods[] = {fast("put", put, "Send a payload of some bytes; ends when it is received."),
                                 fast("put_async", put_async, "Start to send; gives the Activity."),
                                 fast("put_init", put_init, "A put that is to start later."),
                                 {"get_init", get_init, METH_NOARGS, "A get that is to start later."},
                                 fast("put_detached", put_detached, "Send and forget."),
                                 fast("get", get, "Receive; gives the payload."),
                                 {"get_async", get_async, METH_NOARGS, "Start to receive; gives the Activity."},
                                 {"listen", listen, METH_NOARGS, "Whether a put is pending."},
                                 {nullptr, nullptr, 0, nullptr}};

PyMethodDef queue_methods[] = {fast("put", message_put, "Give a payload; ends when it is taken."),
                               fast("put_async", message_put_async, "Start to give; gives the Activity."),
                               fast("put_detached", message_put_detached, "Give and forget."),
                               fast("get", get, "Take; gives the payload."),
                               {"get_async", get_async, METH_NOARGS, "Start to take; gives the Activity."},
                               {nullptr, nullptr, 0, nullptr}};

PyGetSetDef meeting_properties[] = {{"name", get_name, nullptr, "Its name.", nullptr},
                                    {"empty", get_empty, nullptr, "Whether nothing is pending.", nullptr},
                                    {"size", get_size, nullptr, "Puts that wait to be received.", nullptr},
                                    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyTypeObject make_type(const char* name, PyMethodDef* methods, const char* documentation)
{
  PyTypeObject type = blank_type();
  type.tp_name      = name;
  type.tp_basicsize = sizeof(Meeting);
  type.tp_dealloc   = destroy<Meeting>;
  type.tp_repr      = meeting_repr;
  type.tp_flags     = Py_TPFLAGS_DEFAULT;
  type.tp_doc       = documentation;
  type.tp_methods   = methods;
  type.tp_getset    = meeting_properties;
  type.tp_new       = meeting_new;
  return type;
}

void meet(Activity* put, Activity* get, bool get_was_first)
{
  if (put->kind == Kind::MESS_PUT) {
    std::swap(put->payload, get->payload);
    complete(get_was_first ? get : put, State::FINISHED, Failure::NONE);
    complete(get_was_first ? put : get, State::FINISHED, Failure::NONE);
    return;
  }
  put->source      = put->owner->host;
  put->destination = get->owner->host;
  put->peer_first  = get_was_first;
  start_transfer(put, get);
}

} // namespace

PyTypeObject MailboxType =
    make_type("simplugin.simulation._driver.Mailbox", mailbox_methods, "A rendezvous point of the network.");
PyTypeObject MessageQueueType =
    make_type("simplugin.simulation._driver.MessageQueue", queue_methods, "A rendezvous point outside of time.");

bool start_rendezvous(Activity* activity)
{
  Meeting* meeting  = cast(activity->target.get());
  bool const is_put = activity->kind == Kind::PUT || activity->kind == Kind::MESS_PUT;
  Fifo& others      = is_put ? meeting->gets : meeting->puts;
  compete(is_put ? meeting->putting : meeting->getting, activity->owner);
  if (others.size == 0) {
    (is_put ? meeting->puts : meeting->gets).push(activity);
    return true;
  }
  Ref<Activity> const other = others.pop();
  if (is_put)
    meet(activity, other.get(), true);
  else
    meet(other.get(), activity, false);
  return true;
}

} // namespace driver

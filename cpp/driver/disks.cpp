// Disks of hosts: what actors see of them, reading and writing.

#include "disks.hpp"

#include "activity.hpp"
#include "actor.hpp"
#include "arguments.hpp"
#include "planned.hpp"
#include "platform.hpp"
#include "types.hpp"
#include "work.hpp"
#include "zero_capacity.hpp"

#include <cmath>
#include <unordered_map>

namespace driver {

namespace {

// With a reference to each: they live as long as the process.
std::unordered_map<s4u::Disk const*, Disk*> disks;

Disk* cast(PyObject* self)
{
  return reinterpret_cast<Disk*>(self);
}

Disk* disk_of(s4u::Disk* disk)
{
  Disk*& made = disks[disk];
  if (made == nullptr) {
    made = create<Disk>(&DiskType).release();
    if (made == nullptr)
      throw std::bad_alloc();
    made->disk = disk;
    made->name = text(disk->get_name());
    made->host = host_of(disk->get_host());
  }
  return made;
}

PyObject* get_name(PyObject* self, void* /*closure*/)
{
  return Ref<>(cast(self)->name).give();
}
PyObject* get_host(PyObject* self, void* /*closure*/)
{
  return Ref<Host>::share(cast(self)->host).give();
}
PyObject* get_is_on(PyObject* self, void* /*closure*/)
{
  return PyBool_FromLong(cast(self)->disk->is_on());
}
PyObject* get_properties(PyObject* self, void* /*closure*/)
{
  return properties_dict(cast(self)->properties, cast(self)->disk->get_properties());
}
PyObject* get_read_bandwidth(PyObject* self, void* /*closure*/)
{
  return PyFloat_FromDouble(load_of(cast(self)->disk->get_read_bandwidth()));
}
PyObject* get_write_bandwidth(PyObject* self, void* /*closure*/)
{
  return PyFloat_FromDouble(load_of(cast(self)->disk->get_write_bandwidth()));
}

int set_bandwidth(PyObject* self, PyObject* value, bool of_reading)
{
  double bandwidth;
  if (not quantity(value == nullptr ? Py_None : value, "bandwidth", bandwidth))
    return -1;
  return change([&] { driver::set_bandwidth(cast(self)->disk, bandwidth, of_reading); }) ? 0 : -1;
}

int set_read_bandwidth(PyObject* self, PyObject* value, void* /*closure*/)
{
  return set_bandwidth(self, value, true);
}

PyObject* get_concurrency_limit(PyObject* self, void* /*closure*/)
{
  return concurrency_limit(cast(self)->disk->get_impl()->get_constraint());
}
int set_concurrency_limit(PyObject* self, PyObject* value, void* /*closure*/)
{
  return limit_concurrency(cast(self)->disk->get_impl()->get_constraint(), value);
}

int set_write_bandwidth(PyObject* self, PyObject* value, void* /*closure*/)
{
  return set_bandwidth(self, value, false);
}

PyObject* turn_on(PyObject* self, PyObject* /*unused*/)
{
  return change([self] { cast(self)->disk->turn_on(); }) ? Py_NewRef(Py_None) : nullptr;
}

PyObject* turn_off(PyObject* self, PyObject* /*unused*/)
{
  return change([self] { cast(self)->disk->turn_off(); }) ? Py_NewRef(Py_None) : nullptr;
}

/// A read or write that has not started; none with an exception set.
Ref<Activity> operation(PyObject* self, Kind kind, PyObject* const* args, Py_ssize_t count, PyObject* keywords)
{
  static Signature reading{"read", 1, 1, {"size", "priority", "label"}};
  static Signature writing{"write", 1, 1, {"size", "priority", "label"}};
  PyObject* values[3];
  double size, priority;
  Actor* actor = running_actor(kind == Kind::READ ? "read" : "write");
  if (actor == nullptr || not parse(kind == Kind::READ ? reading : writing, args, count, keywords, values) ||
      not quantity(values[0], "size", size) || not positive(values[1], "priority", 1.0, priority))
    return {};
  if (size > MOST_BYTES) {
    PyErr_Format(PyExc_ValueError, "size must be <= 2**53, not %R", values[0]);
    return {};
  }
  if (size > 0 && size < 1) {
    PyErr_Format(PyExc_ValueError, "size is %R, but disks move whole bytes; give sizes in byte", values[0]);
    return {};
  }
  Ref<Activity> activity = new_activity(kind, actor);
  if (not activity || not set_label(activity.get(), values[2]))
    return {};
  activity->amount   = std::floor(size); // SimGrid counts whole bytes
  activity->priority = priority;
  activity->target   = Ref<>::share(self);
  return activity;
}

PyObject* read(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords)
{
  return launch(operation(self, Kind::READ, args, count, keywords), Launch::WHEN_AWAITED);
}
PyObject* read_async(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords)
{
  return launch(operation(self, Kind::READ, args, count, keywords), Launch::NOW);
}
PyObject* read_init(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords)
{
  return launch(operation(self, Kind::READ, args, count, keywords), Launch::LATER);
}
PyObject* write(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords)
{
  return launch(operation(self, Kind::WRITE, args, count, keywords), Launch::WHEN_AWAITED);
}
PyObject* write_async(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords)
{
  return launch(operation(self, Kind::WRITE, args, count, keywords), Launch::NOW);
}
PyObject* write_init(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords)
{
  return launch(operation(self, Kind::WRITE, args, count, keywords), Launch::LATER);
}

PyObject* disk_repr(PyObject* self)
{
  return PyUnicode_FromFormat("<Disk %U of %s>", cast(self)->name.get(), cast(self)->host->host->get_cname());
}

PyMethodDef disk_methods[] = {fast("read", read, "Read some bytes."),
                              fast("write", write, "Write some bytes."),
                              fast("read_async", read_async, "Start to read; gives the Activity."),
                              fast("write_async", write_async, "Start to write; gives the Activity."),
                              fast("read_init", read_init, "A read that is to start later."),
                              fast("write_init", write_init, "A write that is to start later."),
                              {"turn_on", turn_on, METH_NOARGS, "Turn it on."},
                              {"turn_off", turn_off, METH_NOARGS, "Turn it off: what it reads and writes fails."},
                              {nullptr, nullptr, 0, nullptr}};

PyGetSetDef disk_attributes[] = {
    {"name", get_name, nullptr, "Its name.", nullptr},
    {"host", get_host, nullptr, "The host that it belongs to.", nullptr},
    {"is_on", get_is_on, nullptr, "Whether it is on.", nullptr},
    {"properties", get_properties, nullptr, "Its properties.", nullptr},
    {"read_bandwidth", get_read_bandwidth, set_read_bandwidth, "Bandwidth of reading [byte/s].", nullptr},
    {"write_bandwidth", get_write_bandwidth, set_write_bandwidth, "Bandwidth of writing [byte/s].", nullptr},
    {"concurrency_limit", get_concurrency_limit, set_concurrency_limit, "Largest number of operations at a time.",
     nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyTypeObject make_type()
{
  PyTypeObject type = blank_type();
  type.tp_name      = "simplugin.simulation._driver.Disk";
  type.tp_basicsize = sizeof(Disk);
  type.tp_repr      = disk_repr;
  type.tp_flags     = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION;
  type.tp_doc       = "A disk of a host.";
  type.tp_methods   = disk_methods;
  type.tp_getset    = disk_attributes;
  return type;
}

} // namespace

PyTypeObject DiskType = make_type();

PyObject* disks_of(Host const* host)
{
  auto list = Ref<>::steal(PyList_New(0));
  for (s4u::Disk* disk : host->host->get_disks())
    if (not list || PyList_Append(list.get(), reinterpret_cast<PyObject*>(disk_of(disk))) != 0)
      return nullptr;
  return list.give();
}

Disk* disk_under(Activity const* activity)
{
  return cast(activity->target.get());
}

Action* start_reading_or_writing(Activity const* activity)
{
  auto const type = activity->kind == Kind::READ ? s4u::Io::OpType::READ : s4u::Io::OpType::WRITE;
  Action* action  = disk_under(activity)->disk->get_impl()->io_start(static_cast<sg_size_t>(activity->amount), type);
  if (activity->priority != 1.0)
    action->set_sharing_penalty(1.0 / activity->priority);
  return action;
}

} // namespace driver

// The classes of the driver by name, and what all of it needs.
#pragma once

#include <simgrid/s4u.hpp>

#include "../simgrid_internals.hpp"
#include "python.hpp"

namespace driver {

namespace s4u = simgrid::s4u;
using simgrid::kernel::resource::Action;
using simgrid::kernel::resource::StandardLinkImpl;

constexpr double NEVER = -1.0; // a time limit that is none

struct Activity;
struct Actor;
struct Disk;
struct Host;
struct Pair;
struct Wait;

inline PyTypeObject blank_type()
{
  PyTypeObject type{};
  Py_SET_REFCNT(reinterpret_cast<PyObject*>(&type), 1);
  return type;
}

} // namespace driver

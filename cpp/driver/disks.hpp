// Disks of hosts: reading and writing.
#pragma once

#include "types.hpp"

namespace driver {

constexpr double MOST_BYTES = 9007199254740992; // of a read or write: SimGrid counts them in integers

struct Disk {
  PyObject ob_base{}; // PyObject_HEAD
  s4u::Disk* disk = nullptr;
  Host* host      = nullptr;
  Ref<> name;
  Ref<> properties;
  int resource = -1; // its code in the trace, -1: none yet
};

extern PyTypeObject DiskType;

PyObject* disks_of(Host const* host);
Disk* disk_under(Activity const* activity); // of a read or write
Action* start_reading_or_writing(Activity const* activity);

} // namespace driver

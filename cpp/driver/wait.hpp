// Waiting for several activities, or with a time limit.
#pragma once

#include <cstdint>
#include <vector>

#include "activity.hpp"

namespace driver {

struct Wait {
  enum class Mode : uint8_t { ONE, ANY, ALL };

  PyObject ob_base{}; // PyObject_HEAD
  Mode mode           = Mode::ONE;
  bool begun          = false;
  bool registered     = false;
  bool timed_out      = false;
  uint32_t exceptions = 0; // those of its creator when it was created
  Actor* creator      = nullptr;
  std::vector<Ref<Activity>> activities;
  Py_ssize_t missing = 0;
  Actor* actor       = nullptr;
  Activity* winner   = nullptr; // borrowed from activities
  double timeout     = NEVER;
  uint64_t timer     = 0;
};

extern PyTypeObject WaitType;

void notify(Wait* wait, Activity* activity);
void time_out(Wait* wait);
void unregister(Wait* wait);
PyObject* new_wait(Wait::Mode mode, PyObject* activities, double timeout);

} // namespace driver

// Activities before they start: assigned later, and started when others are over.
#pragma once

#include <cstdint>
#include <string>

#include "activity.hpp"

namespace driver {

enum class Launch : uint8_t { WHEN_AWAITED, NOW, LATER };
PyObject* launch(Ref<Activity> activity, Launch when); // to Python; nullptr if there is none
bool is_planned(Activity const* activity);             // it has not started
bool start_planned(Activity* activity);                // now, or when it is assigned and what comes before is over
void release_successors(Activity* activity);
void describe_plan(Activity const* activity, std::string& text);
/// Sets where a planned activity is to run, and starts it if that was missing; false with an exception set.
bool place(Activity* activity, Host*& where, PyObject* value, const char* what);
PyObject* activity_start(PyObject* self, PyObject* unused);
PyObject* activity_detach(PyObject* self, PyObject* unused);
PyObject* activity_add_successor(PyObject* self, PyObject* value);
PyObject* activity_remove_successor(PyObject* self, PyObject* value);
PyObject* activity_dependencies(PyObject* self, void* closure);
PyObject* get_source(PyObject* self, void* closure);
PyObject* get_destination(PyObject* self, void* closure);
PyObject* get_disk(PyObject* self, void* closure);
int set_source(PyObject* self, PyObject* value, void* closure);
int set_destination(PyObject* self, PyObject* value, void* closure);
int set_disk(PyObject* self, PyObject* value, void* closure);

} // namespace driver

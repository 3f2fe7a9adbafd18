// The methods of an actor that take simulated time.
#pragma once

#include "types.hpp"

namespace driver {

PyObject* execute(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords);
PyObject* exec_async(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords);
PyObject* exec_init(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords);
PyObject* parallel_execute(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords);
PyObject* parallel_async(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords);
PyObject* parallel_init(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords);
PyObject* sendto(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords);
PyObject* sendto_async(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords);
PyObject* sendto_init(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords);
PyObject* wait_any(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords);
PyObject* wait_all(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords);
PyObject* sleep_for(PyObject* self, PyObject* argument);
PyObject* sleep_until(PyObject* self, PyObject* argument);
PyObject* mailbox(PyObject* self, PyObject* argument);
PyObject* message_queue(PyObject* self, PyObject* argument);
PyObject* test_any(PyObject* self, PyObject* argument);
PyObject* yield_(PyObject* self, PyObject* argument);
PyObject* choose(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords);

} // namespace driver

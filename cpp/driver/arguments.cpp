// Arguments of the methods that are called for every message: no tuples, no dictionaries.

#include "arguments.hpp"

#include "platform.hpp"
#include "simulation.hpp"

#include <cmath>

namespace driver {

namespace {

int find_name(Signature& signature, PyObject* name)
{
  for (size_t i = 0; i < signature.interned.size(); i++)
    if (signature.interned[i] == name)
      return static_cast<int>(i);
  for (size_t i = 0; i < signature.interned.size(); i++)
    if (PyUnicode_Compare(signature.interned[i], name) == 0)
      return static_cast<int>(i);
  return -1;
}

} // namespace

bool parse(Signature& signature, PyObject* const* args, Py_ssize_t count, PyObject* keywords, PyObject** values)
{
  size_t const total = signature.names.size();
  if (signature.interned.empty())
    for (char const* name : signature.names)
      signature.interned.push_back(PyUnicode_InternFromString(name));
  if (count > signature.positional) {
    PyErr_Format(PyExc_TypeError, "%s() takes at most %d positional arguments (%zd given)", signature.function,
                 signature.positional, count);
    return false;
  }
  for (size_t i = 0; i < total; i++)
    values[i] = static_cast<Py_ssize_t>(i) < count ? args[i] : nullptr;
  Py_ssize_t const named = keywords == nullptr ? 0 : PyTuple_GET_SIZE(keywords);
  for (Py_ssize_t k = 0; k < named; k++) {
    PyObject* name  = PyTuple_GET_ITEM(keywords, k);
    int const index = find_name(signature, name);
    if (index < 0) {
      PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument '%U'", signature.function, name);
      return false;
    }
    if (values[index] != nullptr) {
      PyErr_Format(PyExc_TypeError, "%s() got multiple values for argument '%U'", signature.function, name);
      return false;
    }
    values[index] = args[count + k];
  }
  for (int i = 0; i < signature.required; i++)
    if (values[i] == nullptr) {
      PyErr_Format(PyExc_TypeError, "%s() is missing its argument '%s'", signature.function, signature.names[i]);
      return false;
    }
  return true;
}

Ref<> text(std::string const& value)
{
  auto made = Ref<>::steal(PyUnicode_FromStringAndSize(value.data(), static_cast<Py_ssize_t>(value.size())));
  if (not made && PyErr_ExceptionMatches(PyExc_UnicodeDecodeError)) {
    auto const bytes = Ref<>::steal(PyBytes_FromStringAndSize(value.data(), static_cast<Py_ssize_t>(value.size())));
    PyErr_Format(error_class("PlatformError"),
                 "the platform has the name or property %R, which is not UTF-8; convert the file, for example by"
                 " iconv -f LATIN1 -t UTF-8",
                 bytes.get());
  }
  return made;
}

bool put(PyObject* dict, const char* key, Ref<> const& value)
{
  return value && PyDict_SetItemString(dict, key, value.get()) == 0;
}

bool number(PyObject* value, const char* what, double fallback, double& result)
{
  if (value == nullptr || value == Py_None) {
    result = fallback;
    return true;
  }
  result = PyFloat_AsDouble(value);
  if (result == -1.0 && PyErr_Occurred()) {
    if (PyErr_ExceptionMatches(PyExc_TypeError))
      PyErr_Format(PyExc_TypeError, "%s must be a number, not %R", what, value);
    return false;
  }
  if (std::isfinite(result) && result >= 0)
    return true;
  PyErr_Format(PyExc_ValueError, "%s must be a finite number >= 0, not %R", what, value);
  return false;
}

bool quantity(PyObject* value, const char* what, double& result)
{
  if (value != Py_None)
    return number(value, what, 0.0, result);
  PyErr_Format(PyExc_TypeError, "%s must be a number, not None", what);
  return false;
}

bool positive(PyObject* value, const char* what, double fallback, double& result)
{
  if (not number(value, what, fallback, result))
    return false;
  if (value == nullptr || value == Py_None || result > 0)
    return true;
  PyErr_Format(PyExc_ValueError, "%s must be > 0, not %R", what, value);
  return false;
}

} // namespace driver

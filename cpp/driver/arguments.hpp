// Arguments of the methods that are called for every message: no tuples, no dictionaries.
#pragma once

#include <vector>

#include "types.hpp"

namespace driver {

/// A Python signature: `positional` names may be given by position, the first `required` must be given.
struct Signature {
  const char* function;
  int positional;
  int required;
  std::vector<const char*> names;
  std::vector<PyObject*> interned = {}; // NOLINT(readability-redundant-member-init): else gcc misses it in initialisers
};
using Fast = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*);
inline PyMethodDef fast(const char* name, Fast function, const char* documentation)
{
  return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function)), METH_FASTCALL | METH_KEYWORDS,
          documentation};
}
bool parse(Signature& signature, PyObject* const* args, Py_ssize_t count, PyObject* keywords, PyObject** values);
/// A finite number >= 0, `fallback` for NULL and None; on error sets an exception and returns false.
bool number(PyObject* value, const char* what, double fallback, double& result);
/// The same for what must be given.
bool quantity(PyObject* value, const char* what, double& result);
/// A finite number > 0.
bool positive(PyObject* value, const char* what, double fallback, double& result);

} // namespace driver

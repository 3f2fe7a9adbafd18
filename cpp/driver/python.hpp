// References to Python objects, and objects whose C++ members are constructed and destroyed.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <new>
#include <utility>

namespace driver {

/// A reference to a Python object of type T, or none. It is given up at the end of its scope.
template <class T = PyObject> class Ref {
  T* pointer = nullptr;

  explicit Ref(T* object) noexcept : pointer(object) {}

public:
  Ref() noexcept = default;
  Ref(Ref const& other) noexcept : pointer(other.pointer) { Py_XINCREF(object()); }
  Ref(Ref&& other) noexcept : pointer(std::exchange(other.pointer, nullptr)) {}
  Ref& operator=(Ref other) noexcept
  {
    std::swap(pointer, other.pointer); // the old object goes last: its destructor may run any code
    return *this;
  }
  ~Ref() { Py_XDECREF(object()); }

  /// Takes over a reference, such as the result of a call of Python's interface; nullptr gives none.
  static Ref steal(T* object) noexcept { return Ref(object); }
  /// Adds a reference to a borrowed object; nullptr gives none.
  static Ref share(T* object) noexcept
  {
    Py_XINCREF(reinterpret_cast<PyObject*>(object));
    return Ref(object);
  }

  T* get() const noexcept { return pointer; }
  T* operator->() const noexcept { return pointer; }
  explicit operator bool() const noexcept { return pointer != nullptr; }
  PyObject* object() const noexcept { return reinterpret_cast<PyObject*>(pointer); }
  /// Hands the reference over to the caller.
  T* release() noexcept { return std::exchange(pointer, nullptr); }
  /// The same, for functions that return a new reference to Python.
  PyObject* give() noexcept { return reinterpret_cast<PyObject*>(release()); }
};

/// Constructs an object of a C++ class that begins with PyObject_HEAD; none with a MemoryError set if it cannot.
template <class T> Ref<T> create(PyTypeObject* type, void* memory = nullptr)
{
  if (memory == nullptr)
    memory = PyObject_Malloc(sizeof(T));
  if (memory == nullptr) {
    PyErr_NoMemory();
    return {};
  }
  T* const object = new (memory) T();
  PyObject_Init(reinterpret_cast<PyObject*>(object), type);
  return Ref<T>::steal(object);
}

/// What tp_dealloc does for an object of create().
template <class T> void destroy(PyObject* self)
{
  reinterpret_cast<T*>(self)->~T();
  PyObject_Free(self);
}

/// A model may ask in a thread that does not hold Python's lock (reference back end).
class Lock {
  PyGILState_STATE state = PyGILState_Ensure();

public:
  Lock()                       = default;
  Lock(Lock const&)            = delete;
  Lock& operator=(Lock const&) = delete;
  ~Lock() { PyGILState_Release(state); }
};

} // namespace driver

// Python as threads see it that are not Python's.
#pragma once

#include "bindings/python/src/python.h"

namespace spindle::python {

/// The caller may use Python as long as this exists. Not within a lock that somebody may wait for who can use Python.
class Gil {
 public:
  Gil() : state_(PyGILState_Ensure()) {}
  Gil(const Gil&) = delete;
  Gil& operator=(const Gil&) = delete;
  ~Gil() { PyGILState_Release(state_); }

 private:
  PyGILState_STATE state_;
};

/// Others may use Python as long as this exists, and the caller may not.
class WithoutGil {
 public:
  WithoutGil() : state_(PyEval_SaveThread()) {}
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;
  ~WithoutGil() { PyEval_RestoreThread(state_); }

 private:
  PyThreadState* state_;
};

/// What the exception that Python knows says; it is known no more.
std::string take_exception();

/// An object that threads hold which cannot use Python, and may let go of at any time.
class HeldObject {
 public:
  explicit HeldObject(PyObject* borrowed) : object_(borrowed) { Py_INCREF(object_); }
  HeldObject(const HeldObject&) = delete;
  HeldObject& operator=(const HeldObject&) = delete;
  ~HeldObject();

  PyObject* get() const { return object_; }
  /// Drops the references of objects that are gone. The caller can use Python.
  static void drop_released();

 private:
  PyObject* const object_;
};

}  // namespace spindle::python

// What all of the module uses of CPython: references, strings, and exceptions of C++ on their way out.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <new>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace spindle::python {

/// Owns a reference; null: none, and Python knows an exception.
class Ref {
 public:
  Ref() = default;
  /// Takes over a reference that the caller owns.
  explicit Ref(PyObject* owned) : object_(owned) {}
  static Ref to(PyObject* borrowed) {
    Py_XINCREF(borrowed);
    return Ref(borrowed);
  }
  Ref(const Ref&) = delete;
  Ref& operator=(const Ref&) = delete;
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() { Py_XDECREF(object_); }

  PyObject* get() const { return object_; }
  [[nodiscard]] PyObject* release() { return std::exchange(object_, nullptr); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  PyObject* object_ = nullptr;
};

inline PyObject* none() { Py_RETURN_NONE; }
/// A code; 0: it has succeeded.
inline PyObject* result(const std::error_code& error) { return PyLong_FromLong(error.value()); }

/// Names are bytes; as text they are UTF-8, and what is none comes back as it was.
inline PyObject* to_text(std::string_view text) {
  return PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape");
}

inline PyObject* to_bytes(std::string_view bytes) {
  return PyBytes_FromStringAndSize(bytes.data(), static_cast<Py_ssize_t>(bytes.size()));
}

template <typename Range, typename Convert>
PyObject* to_tuple(const Range& range, std::size_t count, Convert&& convert) {
  Ref tuple(PyTuple_New(static_cast<Py_ssize_t>(count)));
  Py_ssize_t at = 0;
  for (const auto& each : range) {
    if (!tuple) return nullptr;
    PyObject* const item = convert(each);
    if (item == nullptr) return nullptr;
    PyTuple_SET_ITEM(tuple.get(), at++, item);
  }
  return tuple.release();
}

/// Text as a tuple of str.
template <typename Range>
PyObject* to_texts(const Range& range) {
  return to_tuple(range, range.size(), [](std::string_view each) { return to_text(each); });
}

/// Calls `run`, which gives an object or null; what it throws becomes an exception of Python.
template <typename Run>
PyObject* guarded(Run&& run) {
  try {
    return run();
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
    return nullptr;
  }
}

/// The object is the caller's alone as long as this exists, unless the caller lets go of the interpreter. Where that
/// has a lock, the lock sees to it.
class Alone {
 public:
#ifdef Py_GIL_DISABLED
  explicit Alone(PyObject* object) { PyCriticalSection_Begin(&section_, object); }
  ~Alone() { PyCriticalSection_End(&section_); }
#else
  explicit Alone(PyObject* /*object*/) {}
  ~Alone() = default;
#endif
  Alone(const Alone&) = delete;
  Alone& operator=(const Alone&) = delete;

#ifdef Py_GIL_DISABLED
 private:
  PyCriticalSection section_;
#endif
};

/// A method, or what gives an attribute, for tables of these: its object is alone meanwhile.
template <PyObject* (*kCall)(PyObject*, PyObject*)>
PyObject* alone(PyObject* self, PyObject* argument) {
  const Alone one(self);
  return kCall(self, argument);
}
template <PyObject* (*kCall)(PyObject*, PyObject* const*, Py_ssize_t)>
PyObject* alone(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  const Alone one(self);
  return kCall(self, arguments, count);
}
template <PyObject* (*kGet)(PyObject*, void*)>
PyObject* alone(PyObject* self, void* closure) {
  const Alone one(self);
  return kGet(self, closure);
}

/// As tables of methods and slots want functions.
template <typename Function>
PyCFunction as_method(Function* function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}
template <PyObject* (*kCall)(PyObject*, PyObject* const*, Py_ssize_t)>
PyCFunction as_fastcall() {
  PyObject* (*const call)(PyObject*, PyObject* const*, Py_ssize_t) = alone<kCall>;
  return as_method(call);
}
template <typename Function>
void* as_slot(Function* function) {
  return reinterpret_cast<void*>(function);
}

}  // namespace spindle::python

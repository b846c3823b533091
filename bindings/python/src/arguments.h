// What programs give to calls: names, bytes, headers.
#pragma once

#include <chrono>

#include "bindings/python/src/python.h"
#include "libclient/src/socket.h"
#include "spindle/send.h"
#include "spindle/types.h"

namespace spindle::python {

/// Whether a call has got as many arguments as it takes.
bool wants(const char* call, Py_ssize_t count, Py_ssize_t wanted);

/// A name, of str or bytes. Refers to the object.
bool read_name(PyObject* object, std::string& kept, std::string_view& name);

/// One name, or several in a sequence. `get()` refers to this and to the object.
class GroupsArgument {
 public:
  bool read(PyObject* object);
  Groups get() const { return sequence_ ? Groups(names_) : Groups(name_); }

 private:
  std::string kept_name_;
  std::string_view name_;  // where it is no sequence, as in most messages
  Ref sequence_;
  std::vector<std::string> kept_;
  std::vector<std::string_view> names_;
};

/// Bytes, of whatever has a buffer.
class BytesArgument {
 public:
  BytesArgument() = default;
  BytesArgument(const BytesArgument&) = delete;
  BytesArgument& operator=(const BytesArgument&) = delete;
  ~BytesArgument() {
    if (buffer_.obj != nullptr) PyBuffer_Release(&buffer_);
  }
  bool read(PyObject* object) { return PyObject_GetBuffer(object, &buffer_, PyBUF_SIMPLE) == 0; }
  std::string_view text() const {
    return {static_cast<const char*>(buffer_.buf), static_cast<std::size_t>(buffer_.len)};
  }

 private:
  Py_buffer buffer_{};
};

/// Headers, of a mapping or of pairs, with keys as names are and values as bytes are; None: no headers.
class HeadersArgument {
 public:
  bool read(PyObject* object);
  Headers get() const { return headers_; }

 private:
  std::vector<std::string> text_;
  std::vector<Header> headers_;
};

/// Whether an object is true, as Python has it.
bool read_flag(PyObject* object, bool& flag);

/// A service, of a member of spindle.Service or of its number.
bool read_service(PyObject* object, Service& service);

/// Seconds from now, of a number, which is taken for 0 where it is negative; None: never.
bool read_deadline(PyObject* object, Deadline& deadline);
/// Seconds, of a number; 0 where it is negative.
bool read_seconds(PyObject* object, std::chrono::nanoseconds& span);
template <typename Number>
bool read_number(PyObject* object, Number& number) {
  const unsigned long long value = PyLong_AsUnsignedLongLong(object);
  if (value == static_cast<unsigned long long>(-1) && PyErr_Occurred() != nullptr) return false;
  number = static_cast<Number>(value);
  if (number == value) return true;
  PyErr_SetString(PyExc_OverflowError, "the number is too large");
  return false;
}

}  // namespace spindle::python

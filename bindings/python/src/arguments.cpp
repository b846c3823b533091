#include "bindings/python/src/arguments.h"

#include <algorithm>
#include <cmath>

#include "bindings/python/src/registry.h"
#include "spindle/error.h"

namespace spindle::python {

namespace {

// Where there is no room a call is tried again with the same arguments: an iterator would have nothing left by then.
bool is_lasting(PyObject* object, const char* wanted) {
  if (PyIter_Check(object) == 0) return true;
  PyErr_Format(PyExc_TypeError, "%s, not the iterator %.100s", wanted, Py_TYPE(object)->tp_name);
  return false;
}

// A list of what should be pairs, of a mapping or of whatever has them.
PyObject* items_of(PyObject* object) {
  if (PyDict_Check(object)) return PyDict_Items(object);
  if (PyObject_HasAttrString(object, "keys") != 0) return PyMapping_Items(object);
  return is_lasting(object, "headers are a mapping or a sequence of pairs") ? PySequence_List(object) : nullptr;
}

}  // namespace

bool wants(const char* call, Py_ssize_t count, Py_ssize_t wanted) {
  if (count == wanted) return true;
  PyErr_Format(PyExc_TypeError, "%s() takes %zd arguments, not %zd", call, wanted, count);
  return false;
}

bool read_name(PyObject* object, std::string& kept, std::string_view& name) {
  if (PyBytes_Check(object)) {
    name = {PyBytes_AS_STRING(object), static_cast<std::size_t>(PyBytes_GET_SIZE(object))};
    return true;
  }
  if (!PyUnicode_Check(object)) {
    PyErr_Format(PyExc_TypeError, "a name is str or bytes, not %.100s", Py_TYPE(object)->tp_name);
    return false;
  }
  Py_ssize_t size = 0;
  if (PyUnicode_IS_COMPACT_ASCII(object)) {
    const char* const text = PyUnicode_AsUTF8AndSize(object, &size);
    name = {text, static_cast<std::size_t>(size)};
    return true;
  }
  const Ref bytes(PyUnicode_AsEncodedString(object, "utf-8", "surrogateescape"));
  if (!bytes) return false;
  kept.assign(PyBytes_AS_STRING(bytes.get()), static_cast<std::size_t>(PyBytes_GET_SIZE(bytes.get())));
  name = kept;
  return true;
}

bool GroupsArgument::read(PyObject* object) {
  if (PyUnicode_Check(object) || PyBytes_Check(object)) return read_name(object, kept_name_, name_);
  constexpr const char* kWanted = "destinations are a name or a sequence of names";
  if (!is_lasting(object, kWanted)) return false;
  sequence_ = Ref(PySequence_Fast(object, kWanted));
  if (!sequence_) return false;
  const auto count = static_cast<std::size_t>(PySequence_Fast_GET_SIZE(sequence_.get()));
  kept_.resize(count);
  names_.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (!read_name(PySequence_Fast_GET_ITEM(sequence_.get(), static_cast<Py_ssize_t>(i)), kept_[i], names_[i])) {
      return false;
    }
  }
  return true;
}

bool HeadersArgument::read(PyObject* object) {
  if (object == Py_None) return true;
  const Ref items(items_of(object));
  if (!items) return false;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(items.get()); ++i) {
    const Ref pair(PySequence_Fast(PyList_GET_ITEM(items.get(), i), "a header is a pair of a key and a value"));
    if (!pair) return false;
    if (PySequence_Fast_GET_SIZE(pair.get()) != 2) {
      PyErr_SetString(PyExc_ValueError, "a header is a pair of a key and a value");
      return false;
    }
    std::string kept;
    std::string_view key;
    BytesArgument value;
    PyObject* const second = PySequence_Fast_GET_ITEM(pair.get(), 1);
    if (!read_name(PySequence_Fast_GET_ITEM(pair.get(), 0), kept, key)) return false;
    text_.emplace_back(key);
    if (PyUnicode_Check(second)) {
      std::string_view text;
      if (!read_name(second, kept, text)) return false;
      text_.emplace_back(text);
    } else {
      if (!value.read(second)) return false;
      text_.emplace_back(value.text());
    }
  }
  for (std::size_t i = 0; i < text_.size(); i += 2) headers_.push_back({text_[i], text_[i + 1]});
  return true;
}

bool read_flag(PyObject* object, bool& flag) {
  const int truth = PyObject_IsTrue(object);
  flag = truth > 0;
  return truth >= 0;
}

bool read_service(PyObject* object, Service& service) {
  int overflows = 0;
  const long number = PyLong_AsLongAndOverflow(object, &overflows);
  if (number == -1 && PyErr_Occurred() != nullptr) return false;
  if (overflows == 0 && number >= 0 && number <= static_cast<long>(Service::safe)) {
    service = static_cast<Service>(number);
    return true;
  }
  const Ref text(PyUnicode_FromFormat("there is no service %S; spindle.Service has all", object));
  if (text) registry().raise(make_error_code(Errc::bad_argument), text.get());
  return false;
}

bool read_seconds(PyObject* object, std::chrono::nanoseconds& span) {
  const double seconds = PyFloat_AsDouble(object);
  if (seconds == -1.0 && PyErr_Occurred() != nullptr) return false;
  if (std::isnan(seconds)) {
    PyErr_SetString(PyExc_ValueError, "a time is no number");
    return false;
  }
  constexpr double kMost = 9e9;  // seconds: as many nanoseconds fit 64 bits
  span = std::chrono::nanoseconds(seconds >= kMost ? std::chrono::nanoseconds::max().count()
                                                   : static_cast<std::int64_t>(std::max(seconds, 0.0) * 1e9));
  return true;
}

bool read_deadline(PyObject* object, Deadline& deadline) {
  deadline = Deadline::max();
  if (object == Py_None) return true;
  std::chrono::nanoseconds span{};
  if (!read_seconds(object, span)) return false;
  const Deadline now = std::chrono::steady_clock::now();
  if (span < Deadline::max() - now) deadline = now + span;
  return true;
}

}  // namespace spindle::python

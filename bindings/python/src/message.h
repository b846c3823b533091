// A received message as an object of Python.
#pragma once

#include "bindings/python/src/python.h"
#include "spindle/message.h"

namespace spindle::python {

/// Its type; null with an exception.
PyObject* make_message_type();
/// A new one. `type` is what make_message_type() has made.
PyObject* make_message(PyTypeObject* type, Message&& message);
/// Null, with an exception, where the object is none.
const Message* message_of(PyTypeObject* type, PyObject* object);

}  // namespace spindle::python

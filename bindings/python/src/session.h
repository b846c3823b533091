// A client (client.h) as an object of Python: spindle._engine.Session.
#pragma once

#include <optional>

#include "bindings/python/src/client.h"
#include "bindings/python/src/python.h"

namespace spindle::python {

struct SessionObject {
  PyObject base;
  PyTypeObject* message_type;
  Client* client;
};

/// Its type; null with an exception. `message_type` outlives the module.
PyObject* make_session_type(PyTypeObject* message_type);
/// Null, with an exception, where the object is none.
SessionObject* session_of(PyObject* object);

}  // namespace spindle::python

// spindle::Bulk as an object of Python: spindle._engine.Bulk.
#pragma once

#include "bindings/python/src/python.h"

namespace spindle::python {

/// Adds its type to the module. False with an exception.
bool add_bulk_type(PyObject* module);

}  // namespace spindle::python

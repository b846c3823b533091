// Events as an asynchronous iterator: spindle._engine.EventStream.
#pragma once

#include "bindings/python/src/python.h"

namespace spindle::python {

/// Gives the types for `_engine`; false with an exception.
bool add_stream_types(PyObject* module);

}  // namespace spindle::python

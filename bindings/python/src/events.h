// Events, and what calls give, as objects of Python.
#pragma once

#include "bindings/python/src/client.h"
#include "bindings/python/src/python.h"

namespace spindle::python {

/// `message_type`: what make_message_type() has made. Null with an exception.
PyObject* to_python(PyTypeObject* message_type, Event&& event);
/// Takes up to so many, as a list.
PyObject* take_events(PyTypeObject* message_type, Client& client, std::size_t most);
PyObject* to_python(const GroupView& view);
PyObject* to_python(const NotTaken& not_taken);
PyObject* to_python(const ChannelId& channel);
PyObject* to_python(const FeedFlow& flow);
/// (number of the call, code or None, value): a GroupView, a NotTaken, or a pair of messages and names that are
/// missing.
PyObject* to_python(PyTypeObject* message_type, Outcome&& outcome);

}  // namespace spindle::python

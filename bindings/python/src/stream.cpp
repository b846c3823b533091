#include "bindings/python/src/stream.h"

#include "bindings/python/src/events.h"
#include "bindings/python/src/session.h"

namespace spindle::python {

namespace {

/// `EventStream(session, wait, attend, most)`: `wait()` gives a future that is done when there may be another event,
/// `attend()` does what taking one has given the owner to do. It gives events one by one where `most` is 0, and
/// otherwise lists of them, of no more than that.
struct StreamObject {
  PyObject base;
  PyObject* session;
  PyObject* wait;
  PyObject* attend;
  std::size_t most;
  PyObject* next;  // a NextEvent that may be used again
};

/// What one `__anext__` gives: awaited, it takes an event, or a list of them, in one step, behind a wait where there is
/// none. Who is cancelled while it waits has taken none.
struct NextObject {
  PyObject base;
  StreamObject* stream;
  PyObject* waiting;  // the iterator of the future; null: it does not wait
};

PyTypeObject* next_type = nullptr;

StreamObject* stream_of(PyObject* object) { return reinterpret_cast<StreamObject*>(object); }
NextObject* next_of(PyObject* object) { return reinterpret_cast<NextObject*>(object); }

// --- NextEvent ---

int traverse_next(PyObject* object, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(next_of(object)->stream);
  Py_VISIT(next_of(object)->waiting);
  return 0;
}

int clear_next(PyObject* object) {
  Py_CLEAR(next_of(object)->stream);
  Py_CLEAR(next_of(object)->waiting);
  return 0;
}

void dealloc_next(PyObject* object) {
  PyTypeObject* const type = Py_TYPE(object);
  PyObject_GC_UnTrack(object);
  clear_next(object);
  type->tp_free(object);
  Py_DECREF(type);
}

PyObject* give_self(PyObject* object) {
  Py_INCREF(object);
  return object;
}

enum class Step { waits, has_event, failed };

/// Of what the future's iterator gives: whether it goes on. Its result is of no interest.
Step go_on_waiting(NextObject* self, PyObject*& result) {
  PyObject* const waiting = self->waiting;
  result = Py_TYPE(waiting)->tp_iternext(waiting);
  if (result != nullptr) return Step::waits;
  Py_CLEAR(self->waiting);
  if (PyErr_Occurred() == nullptr) return Step::has_event;
  if (!PyErr_ExceptionMatches(PyExc_StopIteration)) return Step::failed;
  PyErr_Clear();
  return Step::has_event;
}

Step begin_waiting(NextObject* self) {
  const Ref future(PyObject_CallNoArgs(self->stream->wait));
  if (!future) return Step::failed;
  const PyAsyncMethods* const methods = Py_TYPE(future.get())->tp_as_async;
  if (methods == nullptr || methods->am_await == nullptr) {
    // A future of Python: what `await` would call.
    self->waiting = PyObject_CallMethod(future.get(), "__await__", nullptr);
  } else {
    self->waiting = methods->am_await(future.get());
  }
  if (self->waiting == nullptr) return Step::failed;
  if (Py_TYPE(self->waiting)->tp_iternext != nullptr) return Step::waits;
  Py_CLEAR(self->waiting);
  PyErr_SetString(PyExc_TypeError, "what is waited for is no future");
  return Step::failed;
}

/// An event, or a list of those that wait, where some do. The session is the caller's alone.
PyObject* take(const SessionObject& session, std::size_t most) {
  if (most != 0) return take_events(session.message_type, *session.client, most);
  Event event;
  session.client->take(event);
  return to_python(session.message_type, std::move(event));
}

/// What is taken in `result`, or what the loop is to be given.
Step step(NextObject* self, PyObject*& result) {
  for (;;) {
    if (self->waiting != nullptr) {
      const Step next = go_on_waiting(self, result);
      if (next != Step::has_event) return next;
    }
    const SessionObject* const session = session_of(self->stream->session);
    if (session == nullptr) return Step::failed;
    bool is_taken = false, is_finished = false, wants_owner = false;
    {
      const Alone one(self->stream->session);
      Client& client = *session->client;
      is_taken = client.has_events();
      if (is_taken) result = take(*session, self->stream->most);
      is_finished = client.is_finished();
      wants_owner = client.wants_owner();
    }
    if (is_taken) {
      if (result != nullptr && wants_owner) {
        const Ref done(PyObject_CallNoArgs(self->stream->attend));
        if (!done) Py_CLEAR(result);
      }
      return result != nullptr ? Step::has_event : Step::failed;
    }
    if (is_finished) {
      PyErr_SetNone(PyExc_StopAsyncIteration);
      return Step::failed;
    }
    if (begin_waiting(self) == Step::failed) return Step::failed;
  }
}

Step guarded_step(PyObject* object, PyObject*& result) {
  try {
    return step(next_of(object), result);
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
    return Step::failed;
  }
}

#if PY_VERSION_HEX >= 0x030a0000
PySendResult send_next(PyObject* object, PyObject*, PyObject** result) {
  *result = nullptr;
  switch (guarded_step(object, *result)) {
    case Step::waits:
      return PYGEN_NEXT;
    case Step::has_event:
      return PYGEN_RETURN;
    default:
      return PYGEN_ERROR;
  }
}
#endif

PyObject* iterate_next(PyObject* object) {
  PyObject* result = nullptr;
  switch (guarded_step(object, result)) {
    case Step::waits:
      return result;
    case Step::has_event: {
      const Ref event(result);
      PyErr_SetObject(PyExc_StopIteration, event.get());
      return nullptr;
    }
    default:
      return nullptr;
  }
}

PyObject* send_method(PyObject* object, PyObject*) { return iterate_next(object); }

/// Whatever is thrown ends the wait.
PyObject* throw_method(PyObject* object, PyObject* arguments) {
  NextObject* const self = next_of(object);
  if (self->waiting == nullptr) {
    PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
    if (PyArg_UnpackTuple(arguments, "throw", 1, 3, &type, &value, &trace) == 0) return nullptr;
    if (PyExceptionInstance_Check(type)) {
      PyErr_SetObject(PyExceptionInstance_Class(type), type);
    } else {
      PyErr_SetObject(type, value);
    }
    return nullptr;
  }
  const Ref method(PyObject_GetAttrString(self->waiting, "throw"));
  if (!method) return nullptr;
  PyObject* const result = PyObject_Call(method.get(), arguments, nullptr);
  if (result == nullptr) Py_CLEAR(self->waiting);
  return result;
}

PyObject* close_method(PyObject* object, PyObject*) {
  NextObject* const self = next_of(object);
  if (self->waiting != nullptr) {
    const Ref done(PyObject_CallMethod(self->waiting, "close", nullptr));
    Py_CLEAR(self->waiting);
    if (!done) return nullptr;
  }
  Py_RETURN_NONE;
}

PyMethodDef next_methods[] = {{"send", send_method, METH_O, nullptr},
                              {"throw", throw_method, METH_VARARGS, nullptr},
                              {"close", close_method, METH_NOARGS, nullptr},
                              {nullptr, nullptr, 0, nullptr}};

PyType_Slot next_slots[] = {{Py_tp_dealloc, as_slot(dealloc_next)},  {Py_tp_traverse, as_slot(traverse_next)},
                            {Py_tp_clear, as_slot(clear_next)},      {Py_tp_iter, as_slot(give_self)},
                            {Py_tp_iternext, as_slot(iterate_next)}, {Py_am_await, as_slot(give_self)},
#if PY_VERSION_HEX >= 0x030a0000
                            {Py_am_send, as_slot(send_next)},
#endif
                            {Py_tp_methods, next_methods},           {0, nullptr}};

PyType_Spec next_spec = {"spindle._engine.NextEvent", sizeof(NextObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
                         next_slots};

// --- EventStream ---

PyObject* make_stream(PyTypeObject* type, PyObject* arguments, PyObject*) {
  PyObject *session = nullptr, *wait = nullptr, *attend = nullptr;
  Py_ssize_t most = 0;
  if (PyArg_ParseTuple(arguments, "OOOn", &session, &wait, &attend, &most) == 0) return nullptr;
  if (session_of(session) == nullptr) return nullptr;
  if (most < 0) {
    PyErr_SetString(PyExc_ValueError, "a list holds one event at least");
    return nullptr;
  }
  PyObject* const object = type->tp_alloc(type, 0);
  if (object == nullptr) return nullptr;
  stream_of(object)->session = Ref::to(session).release();
  stream_of(object)->wait = Ref::to(wait).release();
  stream_of(object)->attend = Ref::to(attend).release();
  stream_of(object)->most = static_cast<std::size_t>(most);
  return object;
}

int traverse_stream(PyObject* object, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(stream_of(object)->session);
  Py_VISIT(stream_of(object)->wait);
  Py_VISIT(stream_of(object)->attend);
  Py_VISIT(stream_of(object)->next);
  return 0;
}

int clear_stream(PyObject* object) {
  Py_CLEAR(stream_of(object)->session);
  Py_CLEAR(stream_of(object)->wait);
  Py_CLEAR(stream_of(object)->attend);
  Py_CLEAR(stream_of(object)->next);
  return 0;
}

void dealloc_stream(PyObject* object) {
  PyTypeObject* const type = Py_TYPE(object);
  PyObject_GC_UnTrack(object);
  clear_stream(object);
  type->tp_free(object);
  Py_DECREF(type);
}

/// The object of the last time, where nobody else has it: `async for` has given it back by then.
PyObject* next_event(PyObject* object) {
  StreamObject* const self = stream_of(object);
#ifndef Py_GIL_DISABLED
  if (self->next != nullptr && Py_REFCNT(self->next) == 1 && next_of(self->next)->waiting == nullptr) {
    return give_self(self->next);
  }
#endif
  PyObject* const made = next_type->tp_alloc(next_type, 0);
  if (made == nullptr) return nullptr;
  Py_INCREF(object);
  next_of(made)->stream = self;
#ifndef Py_GIL_DISABLED
  Py_XDECREF(std::exchange(self->next, Ref::to(made).release()));
#endif
  return made;
}

PyType_Slot stream_slots[] = {{Py_tp_new, as_slot(make_stream)},
                              {Py_tp_dealloc, as_slot(dealloc_stream)},
                              {Py_tp_traverse, as_slot(traverse_stream)},
                              {Py_tp_clear, as_slot(clear_stream)},
                              {Py_am_aiter, as_slot(give_self)},
                              {Py_am_anext, as_slot(next_event)},
                              {Py_tp_doc, const_cast<char*>("The events of a session.")},
                              {0, nullptr}};

PyType_Spec stream_spec = {"spindle._engine.EventStream", sizeof(StreamObject), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, stream_slots};

}  // namespace

bool add_stream_types(PyObject* module) {
  PyObject* const next = PyType_FromSpec(&next_spec);
  if (next == nullptr) return false;
  next_type = reinterpret_cast<PyTypeObject*>(next);  // kept
  next_type->tp_new = nullptr;
  const Ref stream(PyType_FromSpec(&stream_spec));
  return stream && PyObject_SetAttrString(module, "EventStream", stream.get()) == 0;
}

}  // namespace spindle::python

#include "bindings/python/src/message.h"

#include "bindings/python/src/registry.h"

namespace spindle::python {

namespace {

struct MessageObject {
  PyObject base;
  PyObject* payload;  // as it was asked for the first time; null: not yet
  Message message;
};

MessageObject* self_of(PyObject* object) { return reinterpret_cast<MessageObject*>(object); }

const Message& content_of(PyObject* object) { return self_of(object)->message; }

void dealloc(PyObject* object) {
  PyTypeObject* const type = Py_TYPE(object);
  Py_XDECREF(self_of(object)->payload);
  self_of(object)->message.~Message();
  PyObject_Free(object);
  Py_DECREF(type);
}

PyObject* get_payload(PyObject* object, void*) {
  const Alone one(object);
  MessageObject* const self = self_of(object);
  if (self->payload == nullptr) self->payload = to_bytes(self->message.text());
  Py_XINCREF(self->payload);
  return self->payload;
}

PyObject* get_sender(PyObject* object, void*) { return to_text(content_of(object).sender()); }
PyObject* get_service(PyObject* object, void*) {
  return registry().member(Enumeration::service, static_cast<std::size_t>(content_of(object).service()));
}
PyObject* get_type(PyObject* object, void*) { return PyLong_FromLong(content_of(object).type()); }
PyObject* get_groups(PyObject* object, void*) { return to_texts(content_of(object).groups()); }

PyObject* get_group(PyObject* object, void*) {
  const GroupNames groups = content_of(object).groups();
  return to_text(groups.empty() ? std::string_view() : groups.front());
}

PyObject* get_headers(PyObject* object, void*) {
  Ref list(PyList_New(0));
  for (const Header& header : content_of(object).headers()) {
    const Ref key(to_text(header.key)), value(to_bytes(header.value));
    if (!list || !key || !value) return nullptr;
    const Ref pair(PyTuple_Pack(2, key.get(), value.get()));
    if (!pair || PyList_Append(list.get(), pair.get()) != 0) return nullptr;
  }
  return list ? PyList_AsTuple(list.get()) : nullptr;
}

PyObject* get_is_request(PyObject* object, void*) { return PyBool_FromLong(content_of(object).is_request() ? 1 : 0); }

// Who compares positions has those of one view of the daemons: `change` says which that is.
PyObject* get_position(PyObject* object, void*) {
  return guarded([&]() -> PyObject* {
    const std::optional<MessagePosition> position = content_of(object).position();
    if (!position) Py_RETURN_NONE;
    const Ref coordinator(to_text(position->change.coordinator));
    if (!coordinator) return nullptr;
    return Py_BuildValue("((KOKK)KI)", static_cast<unsigned long long>(position->change.view_number), coordinator.get(),
                         static_cast<unsigned long long>(position->change.incarnation),
                         static_cast<unsigned long long>(position->change.position),
                         static_cast<unsigned long long>(position->order), position->index);
  });
}

PyObject* header(PyObject* object, PyObject* key_object) {
  return guarded([&]() -> PyObject* {
    std::string kept;
    std::string_view key;
    if (!PyUnicode_Check(key_object) && !PyBytes_Check(key_object)) {
      PyErr_SetString(PyExc_TypeError, "a key is str or bytes");
      return nullptr;
    }
    if (PyBytes_Check(key_object)) {
      key = {PyBytes_AS_STRING(key_object), static_cast<std::size_t>(PyBytes_GET_SIZE(key_object))};
    } else {
      const Ref bytes(PyUnicode_AsEncodedString(key_object, "utf-8", "surrogateescape"));
      if (!bytes) return nullptr;
      kept.assign(PyBytes_AS_STRING(bytes.get()), static_cast<std::size_t>(PyBytes_GET_SIZE(bytes.get())));
      key = kept;
    }
    const std::optional<std::string_view> value = content_of(object).header(key);
    if (!value) Py_RETURN_NONE;
    return to_bytes(*value);
  });
}

Py_ssize_t length(PyObject* object) { return static_cast<Py_ssize_t>(content_of(object).payload().size()); }

// A message without bytes is not false.
int truth(PyObject*) { return 1; }

int get_buffer(PyObject* object, Py_buffer* view, int flags) {
  const auto payload = content_of(object).payload();
  static const char kNothing[1] = {};
  const void* const data = payload.empty() ? static_cast<const void*>(kNothing) : payload.data();
  return PyBuffer_FillInfo(view, object, const_cast<void*>(data), static_cast<Py_ssize_t>(payload.size()), 1, flags);
}

PyObject* describe(PyObject* object) {
  const Message& message = content_of(object);
  const Ref sender(to_text(message.sender())), groups(to_texts(message.groups()));
  if (!sender || !groups) return nullptr;
  return PyUnicode_FromFormat("<spindle.Message of %zu bytes from %R to %R>", message.payload().size(), sender.get(),
                              groups.get());
}

PyGetSetDef members[] = {
    {"payload", get_payload, nullptr, "The payload, as bytes. memoryview(message) takes no copy.", nullptr},
    {"sender", get_sender, nullptr, "The private name of the sender, \"#client#daemon\".", nullptr},
    {"service", get_service, nullptr, "The Service that it was sent with.", nullptr},
    {"type", get_type, nullptr, "The sender's tag.", nullptr},
    {"groups", get_groups, nullptr, "The destinations, in the sender's order.", nullptr},
    {"group", get_group, nullptr, "The first destination.", nullptr},
    {"headers", get_headers, nullptr, "Pairs of keys, as str, and values, as bytes.", nullptr},
    {"is_request", get_is_request, nullptr, "Whether the sender waits for answers: Connection.reply().", nullptr},
    {"position", get_position, nullptr,
     "Where the message stands in the order: (change, order, index), the same at all receivers; None: nowhere.",
     nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyMethodDef methods[] = {{"header", header, METH_O, "The first value of that key, or None."},
                         {nullptr, nullptr, 0, nullptr}};

PyType_Slot slots[] = {{Py_tp_dealloc, as_slot(dealloc)},
                       {Py_tp_repr, as_slot(describe)},
                       {Py_tp_getset, members},
                       {Py_tp_methods, methods},
                       {Py_sq_length, as_slot(length)},
                       {Py_nb_bool, as_slot(truth)},
                       {Py_bf_getbuffer, as_slot(get_buffer)},
                       {Py_tp_doc, const_cast<char*>("A received message.")},
                       {0, nullptr}};

PyType_Spec spec = {"spindle.Message", sizeof(MessageObject), 0,
                    Py_TPFLAGS_DEFAULT
#if PY_VERSION_HEX >= 0x030a0000
                        | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE
#endif
                    ,
                    slots};

}  // namespace

PyObject* make_message_type() {
  PyObject* const type = PyType_FromSpec(&spec);
  if (type != nullptr) reinterpret_cast<PyTypeObject*>(type)->tp_new = nullptr;
  return type;
}

PyObject* make_message(PyTypeObject* type, Message&& message) {
  MessageObject* const self = PyObject_New(MessageObject, type);
  if (self == nullptr) return nullptr;
  self->payload = nullptr;
  new (&self->message) Message(std::move(message));
  return reinterpret_cast<PyObject*>(self);
}

const Message* message_of(PyTypeObject* type, PyObject* object) {
  if (Py_TYPE(object) == type) return &content_of(object);
  PyErr_Format(PyExc_TypeError, "a spindle.Message is wanted, not %.100s", Py_TYPE(object)->tp_name);
  return nullptr;
}

}  // namespace spindle::python

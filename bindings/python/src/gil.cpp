#include "bindings/python/src/gil.h"

#include <mutex>

namespace spindle::python {

namespace {

struct Released {
  std::mutex mutex;  // guards what follows
  std::vector<PyObject*> objects;
};

// Never destroyed: threads may outlive the module's variables.
Released& released() {
  static Released& all = *new Released;
  return all;
}

}  // namespace

std::string take_exception() {
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  const Ref held_type(type), held_value(value), held_trace(trace);
  if (!held_type) return "no reason was given";
  std::string text = reinterpret_cast<PyTypeObject*>(type)->tp_name;
  const Ref said(held_value ? PyObject_Str(value) : nullptr);
  const char* const words = said ? PyUnicode_AsUTF8(said.get()) : nullptr;
  PyErr_Clear();
  return words == nullptr || *words == '\0' ? text : text + ": " + words;
}

HeldObject::~HeldObject() {
  Released& all = released();
  const std::lock_guard lock(all.mutex);
  all.objects.push_back(object_);
}

void HeldObject::drop_released() {
  std::vector<PyObject*> objects;
  {
    Released& all = released();
    const std::lock_guard lock(all.mutex);
    objects.swap(all.objects);
  }
  for (PyObject* const each : objects) Py_DECREF(each);
}

}  // namespace spindle::python

#include "bindings/python/src/registry.h"

namespace spindle::python {

namespace {

PyObject* find(PyObject* names, const char* name) {
  PyObject* const found = PyDict_GetItemString(names, name);
  if (found == nullptr) PyErr_Format(PyExc_KeyError, "register() is not given %s", name);
  Py_XINCREF(found);
  return found;
}

}  // namespace

bool Registry::fill(PyObject* names) {
  if (!PyDict_Check(names)) {
    PyErr_SetString(PyExc_TypeError, "register() wants a dict");
    return false;
  }
#define SPINDLE_CLASS(name) \
  if ((classes_[static_cast<std::size_t>(Class::name)] = find(names, #name)) == nullptr) return false;
  SPINDLE_PYTHON_CLASSES(SPINDLE_CLASS)
#undef SPINDLE_CLASS
#define SPINDLE_ENUMERATION(member, name)                                           \
  {                                                                                 \
    const Ref members(find(names, #name));                                          \
    if (!members) return false;                                                     \
    PyObject*& kept = enumerations_[static_cast<std::size_t>(Enumeration::member)]; \
    if ((kept = PySequence_Tuple(members.get())) == nullptr) return false;          \
  }
  SPINDLE_PYTHON_ENUMERATIONS(SPINDLE_ENUMERATION)
#undef SPINDLE_ENUMERATION
  return (error_ = find(names, "error")) != nullptr && (code_ = find(names, "code")) != nullptr;
}

PyObject* Registry::member(Enumeration of, std::size_t number) const {
  PyObject* const members = enumerations_[static_cast<std::size_t>(of)];
  if (members == nullptr || number >= static_cast<std::size_t>(PyTuple_GET_SIZE(members))) Py_RETURN_NONE;
  PyObject* const found = PyTuple_GET_ITEM(members, static_cast<Py_ssize_t>(number));
  Py_INCREF(found);
  return found;
}

PyObject* Registry::code(const std::error_code& error) const {
  if (!error) Py_RETURN_NONE;
  const Ref number(PyLong_FromLong(error.value()));
  return number ? PyObject_CallFunctionObjArgs(code_, number.get(), nullptr) : nullptr;
}

void Registry::raise(const std::error_code& error, PyObject* text) const {
  const Ref number(code(error));
  if (!number) return;
  const Ref raised(PyObject_CallFunctionObjArgs(error_, number.get(), text, nullptr));
  if (raised) PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(raised.get())), raised.get());
}

Registry& registry() {
  static Registry one;
  return one;
}

}  // namespace spindle::python

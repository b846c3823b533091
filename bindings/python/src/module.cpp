// spindle._engine: the client library's protocol for Python. The package in ../spindle moves its bytes.
#include "bindings/python/src/bulk.h"
#include "bindings/python/src/message.h"
#include "bindings/python/src/registry.h"
#include "bindings/python/src/session.h"
#include "bindings/python/src/stream.h"
#include "libclient/common/names.h"
#include "libclient/common/token.h"
#include "spindle/error.h"
#include "spindle/version.h"

namespace spindle::python {

namespace {

PyObject* register_classes(PyObject*, PyObject* names) {
  if (!registry().fill(names)) return nullptr;
  Py_RETURN_NONE;
}

/// (name, number, sentence) of every code.
PyObject* errors(PyObject*, PyObject*) {
  Ref list(PyList_New(0));
  const auto add = [&](const char* name, int number, const char* text) {
    if (!list) return;
    const Ref one(Py_BuildValue("(sis)", name, number, text));
    if (!one || PyList_Append(list.get(), one.get()) != 0) list = Ref();
  };
#define SPINDLE_ERRC(name, number, text) add(#name, number, text);
  SPINDLE_ERRORS(SPINDLE_ERRC)
#undef SPINDLE_ERRC
  return list.release();
}

template <bool (*kIs)(std::string_view)>
PyObject* holds(PyObject*, PyObject* object) {
  if (!PyBytes_Check(object)) {
    PyErr_SetString(PyExc_TypeError, "bytes are wanted");
    return nullptr;
  }
  const std::string_view text(PyBytes_AS_STRING(object), static_cast<std::size_t>(PyBytes_GET_SIZE(object)));
  return PyBool_FromLong(kIs(text) ? 1 : 0);
}

PyMethodDef functions[] = {{"register", register_classes, METH_O, nullptr},
                           {"errors", errors, METH_NOARGS, nullptr},
                           {"is_client_name", holds<is_client_name>, METH_O, nullptr},
                           {"is_token", holds<is_token>, METH_O, nullptr},
                           {nullptr, nullptr, 0, nullptr}};

PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "spindle._engine",
                          "The protocol of Spindle's clients, without input and output.",
                          -1,
                          functions,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr};

PyObject* make_module() {
  Ref module(PyModule_Create(&definition));
  const Ref message(make_message_type());
  if (!module || !message) return nullptr;
  const Ref session(make_session_type(reinterpret_cast<PyTypeObject*>(message.get())));
  if (!session || PyModule_AddStringConstant(module.get(), "version", std::string(version()).c_str()) != 0 ||
      PyObject_SetAttrString(module.get(), "Message", message.get()) != 0 ||
      PyObject_SetAttrString(module.get(), "Session", session.get()) != 0 || !add_stream_types(module.get()) ||
      !add_bulk_type(module.get())) {
    return nullptr;
  }
#ifdef Py_GIL_DISABLED
  if (PyUnstable_Module_SetGIL(module.get(), Py_MOD_GIL_NOT_USED) != 0) return nullptr;
#endif
  // Both are also used without the module's names.
  Py_INCREF(message.get());
  Py_INCREF(session.get());
  return module.release();
}

}  // namespace

}  // namespace spindle::python

PyMODINIT_FUNC PyInit__engine() { return spindle::python::make_module(); }

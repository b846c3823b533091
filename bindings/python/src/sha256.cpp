// SHA-256 by hashlib, which computes without the lock of the interpreter: the module needs no OpenSSL of its own.
#include "libclient/src/sha256.h"

#include <algorithm>
#include <atomic>
#include <stdexcept>

#include "bindings/python/src/gil.h"

namespace spindle {

namespace {

using python::Ref;

/// hashlib.sha256, kept for as long as the process.
PyObject* function() {
  static std::atomic<PyObject*> found = nullptr;
  if (PyObject* const known = found.load()) return known;
  const Ref module(PyImport_ImportModule("hashlib"));
  PyObject* const sha256 = module ? PyObject_GetAttrString(module.get(), "sha256") : nullptr;
  PyObject* other = nullptr;
  if (sha256 == nullptr || found.compare_exchange_strong(other, sha256)) return sha256;
  Py_DECREF(sha256);  // another thread was earlier
  return other;
}

}  // namespace

bulk::BlockHash Sha256::hash(ByteView bytes) const {
  const python::Gil gil;
  static char nothing = 0;
  auto* const start = bytes.empty() ? &nothing : const_cast<char*>(reinterpret_cast<const char*>(bytes.data()));
  const Ref view(PyMemoryView_FromMemory(start, static_cast<Py_ssize_t>(bytes.size()), PyBUF_READ));
  PyObject* const sha256 = view ? function() : nullptr;
  const Ref state(sha256 != nullptr ? PyObject_CallFunctionObjArgs(sha256, view.get(), nullptr) : nullptr);
  const Ref digest(state ? PyObject_CallMethod(state.get(), "digest", nullptr) : nullptr);
  bulk::BlockHash hash{};
  if (!digest || !PyBytes_Check(digest.get()) ||
      static_cast<std::size_t>(PyBytes_GET_SIZE(digest.get())) != hash.size()) {
    throw std::runtime_error("hashlib: " + python::take_exception());
  }
  std::copy_n(reinterpret_cast<const std::uint8_t*>(PyBytes_AS_STRING(digest.get())), hash.size(), hash.begin());
  return hash;
}

}  // namespace spindle

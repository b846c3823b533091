#include "bindings/python/src/protected_stream.h"

#include <sys/socket.h>

#include <algorithm>

namespace spindle::python {

// The object itself goes when somebody drops what was released; the peer need not wait for that.
ProtectedStream::~ProtectedStream() { shut_down(); }

void ProtectedStream::shut_down() { ::shutdown(socket_, SHUT_RDWR); }

// The method gives how many bytes, and whether the stream is over.
IoResult ProtectedStream::call(const char* method, PyObject* view) {
  const Ref kept(view);
  const Ref answer(kept ? PyObject_CallMethod(stream_->get(), method, "O", kept.get()) : nullptr);
  Py_ssize_t bytes = 0;
  int is_over = 0;
  if (!answer || PyArg_ParseTuple(answer.get(), "np", &bytes, &is_over) == 0) {
    failure_ = take_exception();
    return {0, IoResult::kProtectionFailed};
  }
  return {static_cast<std::size_t>(bytes), is_over != 0 ? IoResult::kEndOfStream : 0};
}

IoResult ProtectedStream::read(std::span<std::uint8_t> space) {
  const Gil gil;
  return call("read", PyMemoryView_FromMemory(reinterpret_cast<char*>(space.data()),
                                              static_cast<Py_ssize_t>(space.size()), PyBUF_WRITE));
}

IoResult ProtectedStream::write(std::span<const std::span<const std::uint8_t>> buffers, std::size_t bytes_max) {
  const Gil gil;
  IoResult total;
  for (const std::span<const std::uint8_t> each : buffers) {
    const std::size_t size = std::min(each.size(), bytes_max - total.bytes);
    if (size == 0) continue;
    auto* const start = const_cast<char*>(reinterpret_cast<const char*>(each.data()));
    const IoResult one = call("write", PyMemoryView_FromMemory(start, static_cast<Py_ssize_t>(size), PyBUF_READ));
    total.bytes += one.bytes;
    total.error = one.error;
    if (one.bytes < size) break;
  }
  return total;
}

}  // namespace spindle::python

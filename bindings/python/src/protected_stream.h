// A stream that is protected by the TLS of Python.
#pragma once

#include <memory>

#include "bindings/python/src/gil.h"
#include "libclient/io/byte_stream.h"

namespace spindle::python {

/// On an object of spindle/_second.py, Protected, whose handshake is done. Each call uses Python.
class ProtectedStream final : public ByteStream {
 public:
  /// `socket` is another descriptor of the same socket, and stays open as long as this is used.
  ProtectedStream(int socket, std::shared_ptr<HeldObject> stream) : socket_(socket), stream_(std::move(stream)) {}
  ~ProtectedStream() override;

  bool is_established() const override { return true; }
  IoResult read(std::span<std::uint8_t> space) override;
  IoResult write(std::span<const std::span<const std::uint8_t>> buffers, std::size_t bytes_max) override;
  std::size_t unsent() const override { return 0; }
  IoResult flush() override { return {}; }
  void finish_writing() override {}
  void shut_down() override;
  std::vector<std::string> identities() const override { return {}; }
  std::string protection_failure() const override { return failure_; }

 private:
  IoResult call(const char* method, PyObject* view);

  int socket_;
  std::shared_ptr<HeldObject> stream_;
  std::string failure_;
};

}  // namespace spindle::python

// Stands between a client and its daemon, and cuts connections.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "libclient/src/socket.h"

namespace spindle::test {

/// Takes connections on a port of its own, one at a time, and passes bytes on to `address` and back.
class CuttingProxy {
 public:
  explicit CuttingProxy(const std::string& address);
  ~CuttingProxy();
  CuttingProxy(const CuttingProxy&) = delete;
  CuttingProxy& operator=(const CuttingProxy&) = delete;

  const std::string& address() const { return address_; }
  /// The connection of now is reset when so many bytes more have gone through, in either direction; what the proxy has
  /// of further ones is lost.
  void cut_after(std::uint64_t bytes) { cut_at_ = passed_ + bytes; }
  std::uint64_t cuts() const { return cuts_; }

 private:
  void run();
  void serve(int client);
  /// False where the connection is over.
  bool pass_on(int from, int to, std::vector<char>& buffer);

  std::string upstream_;
  std::string address_;
  Descriptor listener_;
  std::atomic<bool> stops_ = false;
  std::atomic<std::uint64_t> passed_ = 0;
  std::atomic<std::uint64_t> cut_at_ = UINT64_MAX;
  std::atomic<std::uint64_t> cuts_ = 0;
  std::thread thread_;
};

}  // namespace spindle::test

// A network device whose frames a program reads and writes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace spindle::bench {

/// A TAP device, which exists as long as the object. What the kernel sends on the device is read here, and what is
/// written here the kernel receives on it.
class Tap {
 public:
  /// Makes the device `name` in the network namespace `network`, one of those that `ip netns` lists. Throws
  /// std::system_error, whose text says what could not be done. The caller's own namespace stays as it was.
  Tap(const std::string& network, const std::string& name);
  Tap(const Tap&) = delete;
  Tap& operator=(const Tap&) = delete;
  ~Tap();

  /// For poll; readable when there is a frame.
  int descriptor() const { return descriptor_; }

  /// The next frame, in `space`, which is cut where it is longer; nothing where none waits.
  std::optional<std::span<const std::uint8_t>> read(std::span<std::uint8_t> space);
  /// False where the kernel does not take the frame: the device is down, or there is no memory.
  bool write(std::span<const std::uint8_t> frame);

 private:
  int descriptor_;
};

}  // namespace spindle::bench

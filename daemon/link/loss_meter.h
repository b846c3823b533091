// Which part of the datagrams in one direction is lost.
#pragma once

#include <algorithm>
#include <cstdint>

namespace spindled {

/// Compares how many were sent with how many came, from one look to the next. What was seen long ago counts less, half
/// as much after some 22 looks.
class LossMeter {
 public:
  /// Both grow from look to look. Of looks that come out of order only the newest counts.
  void look(std::uint64_t sent, std::uint64_t came) {
    if (sent <= sent_) return;
    came = std::min(came, sent);
    const auto lost = static_cast<double>(sent - sent_) - static_cast<double>(came) + static_cast<double>(came_);
    weight_ = kKept * weight_ + static_cast<double>(sent - sent_);
    lost_ = kKept * lost_ + lost;  // less than nothing where some come late
    sent_ = sent;
    came_ = came;
  }
  /// The same, of which the lowest 32 bits are known.
  void look_at_bits(std::uint32_t sent, std::uint32_t came) {
    const auto more_sent = static_cast<std::int32_t>(sent - static_cast<std::uint32_t>(sent_));
    if (more_sent <= 0) return;
    const std::uint32_t more_came = came - static_cast<std::uint32_t>(came_);
    look(sent_ + static_cast<std::uint64_t>(more_sent), came_ + more_came);
  }

  /// What was seen so far says nothing of what comes.
  void forget() { weight_ = lost_ = 0; }

  /// 0 to 1.
  double share() const { return weight_ < kWeightMin ? 0 : std::clamp(lost_ / weight_, 0.0, 1.0); }

 private:
  static constexpr double kKept = 31.0 / 32;
  static constexpr double kWeightMin = 8;  // datagrams, of fewer nothing is said

  std::uint64_t sent_ = 0;
  std::uint64_t came_ = 0;
  double weight_ = 0;
  double lost_ = 0;
};

}  // namespace spindled

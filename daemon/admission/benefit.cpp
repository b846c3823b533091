#include "daemon/admission/benefit.h"

#include <algorithm>
#include <cmath>

namespace spindled {

namespace {

class SendingBenefit final : public Benefit {
 public:
  double of(const PacketFacts&) const override { return 1; }
};

class ReceivingBenefit final : public Benefit {
 public:
  double of(const PacketFacts& packet) const override { return std::max(1.0, packet.receivers); }
};

class FairBenefit final : public Benefit {
 public:
  /// The marginal worth of the square root of a rate, bounded so that no flow gets in for nothing or not at all.
  double of(const PacketFacts& packet) const override {
    constexpr double kUsualRate = 100, kWorthMax = 20;
    return std::clamp(std::sqrt(kUsualRate / std::max(packet.rate, 1e-3)), 1 / kWorthMax, kWorthMax);
  }
};

}  // namespace

std::unique_ptr<const Benefit> make_benefit(BenefitKind kind) {
  switch (kind) {
    case BenefitKind::receiving:
      return std::make_unique<ReceivingBenefit>();
    case BenefitKind::fair:
      return std::make_unique<FairBenefit>();
    case BenefitKind::sending:
      break;
  }
  return std::make_unique<SendingBenefit>();
}

}  // namespace spindled

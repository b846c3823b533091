#include "tests/checkers/channel_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "tests/checkers/message_index.h"

namespace spindled::checkers {

namespace protocol = spindle::protocol;

namespace {

constexpr std::array kOutcomes{"nothing", "accepted", "done", "failed", "refused", "kept"};
static_assert(kOutcomes.size() == static_cast<std::size_t>(protocol::kBulkOutcomeLast) + 1);

struct SaidText {
  std::string operator()(const protocol::BulkOffer& offer) const { return "offers a content to " + offer.group; }
  std::string operator()(const protocol::BulkSeal& seal) const { return "seals " + to_string(seal.channel); }
  std::string operator()(const protocol::BulkOutcomeSaid& said) const {
    return fmt::format("says {} of {}", kOutcomes[static_cast<std::size_t>(said.outcome)], to_string(said.channel));
  }
  std::string operator()(const protocol::BulkCancel& cancel) const { return "cancels " + to_string(cancel.channel); }
  std::string operator()(const protocol::BulkSetRate& rate) const {
    return "sets the rate of " + to_string(rate.channel);
  }
  std::string operator()(const protocol::BulkTokenRequest&) const { return "asks for a token"; }
};

std::string gone_text(const protocol::BulkGone& gone) {
  return fmt::format("{} done, {} failed, {} refused, {} missing", gone.done, gone.failed, gone.refused, gone.missing);
}

struct ToldText {
  std::string operator()(const protocol::BulkOffered& offered) const {
    return fmt::format("is told that {} is offered to {} by {}{}{}", to_string(offered.channel), offered.group,
                       offered.source, offered.is_late ? ", late" : "", offered.request != 0 ? ", its own" : "");
  }
  std::string operator()(const protocol::BulkSealed& sealed) const {
    return fmt::format("is told that {} is sealed", to_string(sealed.channel));
  }
  std::string operator()(const protocol::BulkComplete& complete) const {
    std::vector<std::string> failed;
    for (const auto& each : complete.failed) failed.push_back(each.name);
    return fmt::format("is told that {} is complete at {}: done {}; failed {}; refused {}; gone {}",
                       to_string(complete.channel), checkers::to_text(complete.place), fmt::join(complete.done, " "),
                       fmt::join(failed, " "), fmt::join(complete.refused, " "), gone_text(complete.gone));
  }
  std::string operator()(const protocol::BulkReturned& returned) const {
    return fmt::format("is told who was missing of {}: {}, {} present", to_string(returned.channel),
                       gone_text(returned.gone), returned.present);
  }
  std::string operator()(const protocol::BulkEnded& ended) const {
    return fmt::format("is told that {} has ended, {}", to_string(ended.channel), static_cast<int>(ended.why));
  }
  std::string operator()(const protocol::BulkToken&) const { return "gets a token"; }
};

}  // namespace

std::string to_text(const ChannelSaid& said) { return std::visit(SaidText(), said.request); }
std::string to_text(const ChannelTold& told) { return std::visit(ToldText(), told.news); }

}  // namespace spindled::checkers

// What admission seeks the most of.
#pragma once

#include <span>
#include <string>

#include "daemon/admission/price_book.h"

namespace spindled {

/// How much a packet that costs something is worth, compared with one that is worth what it costs: a flow pays what
/// links and clients cost divided by this, at least 1. The fee is the same for all. Section IV-A of the paper leaves
/// the choice to the user.
///
/// - sending: every packet is worth the same. A flow over several congested links pays the sum of their prices, and
///   gives way to those that take but one of them: the most packets are sent.
/// - receiving: a packet is worth as much as the daemons that receive it, so that large groups get more.
/// - fair: the inverse of what a flow sends is the sum of what it would be with each congested part alone, so that one
///   over five of them gets a fifth of those over one. No flow could gain a share of its rate without that others
///   lose more of theirs (proportional fairness; Kelly, Maulloo, Tan, 1998).
///
/// All of them but `receiving` are one where a single part costs something.
double worth_of(BenefitKind benefit, const Quote& quote);

/// What is sought for messages to `names`: that of a group among them that the configuration lists, `fair` before
/// `receiving` before `sending`; otherwise what is sought elsewhere.
BenefitKind benefit_of(const AdmissionConfig& config, std::span<const std::string> names);

}  // namespace spindled

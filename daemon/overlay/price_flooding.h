// Prices of links and clients, on their way to all daemons of the view.
#pragma once

#include "daemon/base/context.h"
#include "daemon/link/links.h"
#include "daemon/overlay/forwarder.h"
#include "daemon/overlay/price_frames.h"

namespace spindled {

/// A price goes over the links of the view, to each member once or twice, and leaves before all data.
class PriceFlooding {
 public:
  PriceFlooding(Context& context, Links& links, Forwarder& forwarder)
      : context_(context), links_(links), forwarder_(forwarder) {}
  /// Before anything else: whom prices go up to.
  void attach(PriceFrames& prices);

  /// Tells what a link of this daemon costs, or what its clients do; `from` and `view` are filled in. Not over the link
  /// that it is of. While frozen nothing happens: false.
  bool flood(Price price);

 private:
  void flood(const Price& price, const Slice& encoded, std::optional<LinkId> except);
  std::uint16_t view_tag() const { return static_cast<std::uint16_t>(forwarder_.routes().view().number); }

  Context& context_;
  Links& links_;
  Forwarder& forwarder_;
};

}  // namespace spindled

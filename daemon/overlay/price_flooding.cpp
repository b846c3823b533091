#include "daemon/overlay/price_flooding.h"

namespace spindled {

void PriceFlooding::attach(PriceFrames& prices) {
  forwarder_.handle(LinkFrame::price, [this, &prices](Time now, LinkId link, const Slice& content) {
    const std::optional<Price> price = read_price(content.view());
    if (!price) return false;
    // One of another view names links by other indices; one that is known already has been passed on.
    const bool is_of_view = price->view == view_tag() && forwarder_.routes().members().contains(price->from);
    if (forwarder_.is_frozen() || !is_of_view) return true;
    if (prices.price_received(now, *price)) flood(*price, content, link);
    return true;
  });
}

bool PriceFlooding::flood(Price price) {
  if (forwarder_.is_frozen()) return false;
  price.view = view_tag();
  price.from = forwarder_.routes().self();
  flood(price, context_.arena.copy(write_price(price)), std::nullopt);
  return true;
}

void PriceFlooding::flood(const Price& price, const Slice& encoded, std::optional<LinkId> except) {
  const ForwardingTable& routes = forwarder_.routes();
  for (const ForwardingTable::Hop& hop : routes.hops()) {
    // Who it came from has it, and the link's other end never sends over the link in this direction.
    if (hop.link == except || hop.neighbour == price.from) continue;
    if (price.from == routes.self() && price.name.empty() && hop.neighbour == price.neighbour) continue;
    links_.send(hop.link, LinkFrame::price, encoded);
  }
}

}  // namespace spindled

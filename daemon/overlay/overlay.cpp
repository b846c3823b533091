#include "daemon/overlay/overlay.h"

#include "daemon/base/check.h"

namespace spindled {

Overlay::Overlay(Context& context, Links& links)
    : links_(links),
      channel_(context, links),
      link_state_(context, links, channel_, *this),
      forwarder_(context, links),
      prices_(context, links, forwarder_),
      partitions_(context, links, channel_, link_state_) {
  handle_control();
}

void Overlay::attach(ViewFrames& view, PriceFrames& prices) {
  view_ = &view;
  forwarder_.attach(view);
  prices_.attach(prices);
}

void Overlay::start(Time now) {
  SPINDLE_CHECK(view_ != nullptr);
  forwarder_.check_handlers();
  link_state_.start(now);
}

void Overlay::link_up(Time now, LinkId link) {
  forwarder_.link_up(link, links_.peer(link));
  channel_.link_up(link);
  link_state_.link_up(link);
  // The order may have come between the handshake and here.
  partitions_.link_up(now, link);
  view_->link_changed(now, link, true);
}

void Overlay::link_down(Time now, LinkId link, const Error&) {
  if (!forwarder_.is_up(link)) return;
  forwarder_.link_down(link);
  channel_.link_down(link);
  link_state_.link_down(now, link);
  view_->link_changed(now, link, false);
  link_state_.topology_changed(now);
}

void Overlay::install(Time now, const View& view) {
  forwarder_.install(view);
  link_state_.review_own_links(now);  // links that the view before had given up count again
}

void Overlay::handle_control() {
  forwarder_.handle(LinkFrame::control, [this](Time now, LinkId link, const Slice& content) {
    control_received(now, link, content);
    return true;
  });
  forwarder_.handle(LinkFrame::control_part, [this](Time now, LinkId link, const Slice& content) {
    const Result<std::optional<Slice>> message = channel_.add_part(link, content);
    if (!message) {
      links_.close(now, link, message.error());
    } else if (*message) {
      control_received(now, link, **message);
    }
    return true;
  });
}

void Overlay::control_received(Time now, LinkId link, const Slice& body) {
  Result<ControlMessage> message = decode_control(body.view());
  if (!message) {
    links_.close(now, link, message.error());
  } else if (auto* state = std::get_if<LinkState>(&*message)) {
    link_state_.received(now, link, std::move(*state), body);
  } else if (const auto* summary = std::get_if<LinkStateSummary>(&*message)) {
    if (!link_state_.received(now, link, *summary)) {
      links_.close(now, link, {Errc::unexpected_frame, "a second question for what this daemon knows"});
    }
  } else if (const auto* order = std::get_if<PartitionOrder>(&*message)) {
    partitions_.received(now, *order, link);
  } else if (std::holds_alternative<LinkHello>(*message)) {
    links_.close(now, link, {Errc::unexpected_frame, "a second link hello"});
  } else {
    view_->control_received(now, link, std::move(*message));
  }
}

}  // namespace spindled

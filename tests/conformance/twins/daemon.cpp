#include "tests/conformance/twins/daemon.h"

#include <algorithm>

namespace spindle::conformance {

using protocol::ClientFrame;

void PlayedDaemon::take(ByteView bytes) {
  in_.insert(in_.end(), bytes.begin(), bytes.end());
  std::size_t at = 0;
  while (const auto head = read_frame_head(ByteView(in_).subspan(at))) {
    const std::size_t size = kFrameHeadBytes + head->length;
    if (in_.size() - at < size) break;
    const auto type = static_cast<ClientFrame>(head->type);
    if (type != ClientFrame::hello) ++frames_;
    react(type, ByteView(in_).subspan(at + kFrameHeadBytes, head->length));
    at += size;
  }
  in_.erase(in_.begin(), in_.begin() + static_cast<std::ptrdiff_t>(at));
}

void PlayedDaemon::welcome(ByteView body) {
  const std::optional<protocol::Hello> hello = protocol::read_hello(body);
  if (!hello || draw_.chance(4)) {
    return protocol::write_close(
        out_, {static_cast<std::uint16_t>(draw_.chance(50) ? Errc::name_in_use : Errc::daemon_stopping), "no", 0});
  }
  protocol::Welcome welcome;
  welcome.version = 1;
  const bool resumes = hello->resume && has_session_ && draw_.chance(70);
  if (!resumes) {
    if (draw_.chance(30)) own_ = "#" + name() + "#a";
    frames_ = messages_ = flushes_ = 0;
    has_order_ = false;
    feeds_.clear();
  }
  welcome.private_name = own_;
  if (hello->is_resumable && draw_.chance(80)) {
    welcome.resumable = protocol::Resumable{{draw_.below(100), {}}, static_cast<std::uint32_t>(draw_.below(9000))};
  }
  has_session_ = welcome.resumable.has_value();
  if (resumes) welcome.resumed = frames_ + (draw_.chance(3) ? 1 : 0);
  protocol::write_welcome(out_, welcome);
  is_welcomed_ = true;
}

void PlayedDaemon::react(ClientFrame type, ByteView body) {
  switch (type) {
    case ClientFrame::hello:
      return welcome(body);
    case ClientFrame::join:
    case ClientFrame::leave:
    case ClientFrame::view_request: {
      const auto request = protocol::read_group_request(type, body);
      if (!request) return;
      const std::uint16_t code = draw_.chance(15) ? static_cast<std::uint16_t>(Errc::access_denied) : std::uint16_t{0};
      if (type == ClientFrame::view_request && code == 0) {
        protocol::GroupViewFrame view{request->group, view_id(), ViewCause::join, ViewForm::answer, 0, 0};
        view.members = {own_};
        view.digest = protocol::MemberList({own_}).digest();
        protocol::write_view(out_, view);
      }
      protocol::write_reply(out_, {request->request, code});
      if (code == 0 && type == ClientFrame::join && draw_.chance(80)) say_view(request->group);
      if (code == 0 && type == ClientFrame::leave) {
        protocol::GroupViewFrame view{request->group, view_id(), ViewCause::leave, ViewForm::farewell, 0, 0};
        view.left = {own_};
        protocol::write_view(out_, view);
      }
      return;
    }
    case ClientFrame::send: {
      ++messages_;
      if (draw_.chance(30)) protocol::write_taken(out_, messages_ - draw_.below(2));
      return;
    }
    case ClientFrame::flow_request: {
      const auto request = protocol::read_flow_request(body);
      if (!request) return;
      protocol::FlowReport report;
      report.request = request->request;
      report.price = draw_.below(5000);
      report.budget = static_cast<std::int64_t>(draw_.below(4000)) - 2000;
      report.period = draw_.below(90000);
      report.rate = draw_.below(90000);
      report.blocked = static_cast<std::uint16_t>(draw_.below(1001));
      report.limit = "link a-b";
      return protocol::write_flow_report(out_, report);
    }
    case ClientFrame::confirm: {
      const auto request = protocol::read_confirm(body);
      if (request) protocol::write_confirmed(out_, {*request, messages_});
      return;
    }
    case ClientFrame::feed_open: {
      const auto open = protocol::read_feed_open(body);
      if (!open) return;
      if (draw_.chance(20)) return protocol::write_reply(out_, {open->request, 65});
      feeds_.push_back(static_cast<protocol::FeedNumber>(1 + draw_.below(100)));
      return protocol::write_feed_news(out_, protocol::FeedReady{open->request, feeds_.back(), draw_.below(3000)});
    }
    case ClientFrame::listen:
    case ClientFrame::stop_listening: {
      const auto request = protocol::read_listen(body);
      if (request) protocol::write_reply(out_, {request->request, std::uint16_t(draw_.chance(20) ? 39 : 0)});
      return;
    }
    case ClientFrame::bye:
      return protocol::write_close(out_, {static_cast<std::uint16_t>(Errc::closed_by_client), "bye", messages_});
    default:
      if (!protocol::is_bulk_request(type)) return;
      if (const auto request = protocol::read_bulk_request(type, body)) answer(*request);
  }
}

void PlayedDaemon::say_view(std::string_view group) {
  protocol::GroupViewFrame view{group, view_id(), ViewCause::join, ViewForm::full, 0, 0};
  std::vector<std::string> members;
  for (const std::string& each : {std::string("#c0#a"), std::string("#c1#a"), own_, std::string("#x#b")}) {
    if (draw_.chance(70) && std::find(members.begin(), members.end(), each) == members.end()) members.push_back(each);
  }
  view.cause = static_cast<ViewCause>(1 + draw_.below(4));
  view.form = draw_.chance(75) ? ViewForm::full : ViewForm::change;
  view.synchronous = draw_.chance(20);
  if (draw_.chance(50)) view.joined = {own_};
  if (draw_.chance(20)) view.left = {"#gone#b"};
  if (view.cause == ViewCause::network && draw_.chance(50)) view.apart = {"#x#b"};
  view.members = {members.begin(), members.end()};
  view.member_count = static_cast<std::uint32_t>(members.size());
  view.digest = protocol::MemberList(members).digest();
  protocol::write_view(out_, view);
}

void PlayedDaemon::say_message() {
  if (!has_order_ || draw_.chance(5)) {
    protocol::write_order_view(out_, view_id());
    has_order_ = true;
  }
  protocol::MessageHead message;
  const std::string sender = "#" + name() + "#a", first = group(), second = own_;
  message.service = static_cast<std::uint8_t>(draw_.below(6));
  message.type = static_cast<std::uint16_t>(draw_.below(9));
  message.sender = sender;
  message.groups = {first};
  if (draw_.chance(20)) message.groups.push_back(second);
  if (message.service >= 3) message.place = {1 + draw_.below(100000), static_cast<std::uint32_t>(draw_.below(200))};
  Bytes payload(draw_.chance(90) ? draw_.below(200) : draw_.below(70000));
  for (std::uint8_t& byte : payload) byte = static_cast<std::uint8_t>(draw_.below(256));
  if (draw_.chance(20)) {
    Bytes headers{0, 0, 1, 'k', 1, 0, 'v'};
    if (draw_.chance(50)) headers.insert(headers.end(), {3, '$', 'i', 'd', 8, 0, 1, 2, 3, 4, 5, 6, 7, 8});
    headers[0] = static_cast<std::uint8_t>(headers.size() - 2);
    payload.insert(payload.begin(), headers.begin(), headers.end());
    message.has_headers = true;
  }
  message.total = static_cast<std::uint32_t>(payload.size());
  std::size_t at = std::min<std::size_t>(payload.size(), 32768);
  message.chunk = ByteView(payload).first(at);
  const std::size_t head = protocol::message_head_size(message);
  const std::size_t start = out_.size();
  out_.resize(start + head);
  Writer writer(out_.data() + start);
  protocol::write_message_head(writer, message);
  out_.insert(out_.end(), message.chunk.begin(), message.chunk.end());
  for (; at < payload.size(); at += std::min<std::size_t>(payload.size() - at, 32768)) {
    const ByteView more = ByteView(payload).subspan(at, std::min<std::size_t>(payload.size() - at, 32768));
    Bytes frame_head(kFrameHeadBytes);
    Writer head_writer(frame_head.data());
    write_frame_head(head_writer, static_cast<std::uint8_t>(ClientFrame::message_more), more.size());
    out_.insert(out_.end(), frame_head.begin(), frame_head.end());
    out_.insert(out_.end(), more.begin(), more.end());
  }
}

void PlayedDaemon::say_feed() {
  const auto number = static_cast<protocol::FeedNumber>(1 + draw_.below(3));
  switch (draw_.below(7)) {
    case 0: {
      const std::string of = group();
      return protocol::write_feed_news(
          out_, protocol::FeedOpened{number, draw_.below(60'000'000), of, "#c0#a", draw_.chance(50)});
    }
    case 1:
      return protocol::write_feed_news(out_, protocol::FeedGap{number, sequence_ + draw_.below(3), 1 + draw_.below(3),
                                                               static_cast<protocol::FeedGapCause>(draw_.below(2))});
    case 2:
      if (draw_.chance(70)) return;
      return protocol::write_feed_news(out_,
                                       protocol::FeedEnded{number, static_cast<protocol::FeedEnd>(draw_.below(4))});
    case 3:
      if (!feeds_.empty()) protocol::write_feed_news(out_, protocol::FeedRoom{draw_.of(feeds_), 1 + draw_.below(3000)});
      return;
    case 4:
      if (!feeds_.empty()) {
        protocol::write_feed_news(out_, protocol::FeedFlow{draw_.of(feeds_), draw_.below(1u << 30), draw_.below(90000),
                                                           static_cast<std::uint16_t>(draw_.below(65536)),
                                                           static_cast<protocol::FeedLimit>(draw_.below(5))});
      }
      return;
    default: {
      sequence_ += draw_.below(2);
      const Bytes payload(1 + draw_.below(20), 7);
      protocol::FeedPacket packet{number, sequence_ + draw_.below(4), static_cast<std::uint8_t>(draw_.below(4)),
                                  payload};
      const Bytes bundle{1, 'a', 2, 'b', 'c'};
      if (draw_.chance(15)) packet.flags = 7, packet.payload = bundle;
      return protocol::write_feed_news(out_, packet);
    }
  }
}

protocol::BulkOffered PlayedDaemon::offered(std::uint32_t request) {
  protocol::BulkOffered offered{channel(), request, draw_.chance(20), false, group(), "#c0#a", {}, {}};
  offered.terms.name = draw_.chance(50) ? "disk.img" : "";
  offered.terms.layout =
      bulk::ContentLayout::of(draw_.chance(20) ? bulk::kSizeUnknown : draw_.below(std::uint64_t{1} << 40)).value();
  offered.terms.kind = static_cast<protocol::ContentKind>(draw_.below(3));
  offered.terms.bytes_per_second = draw_.below(1'000'000);
  offered.terms.weight = static_cast<std::uint8_t>(1 + draw_.below(100));
  offered.terms.linger_s = static_cast<std::uint32_t>(draw_.below(1'000));
  if (offered.terms.layout.has_size() && draw_.chance(50)) offered.root.emplace().fill(7);
  return offered;
}

void PlayedDaemon::answer(const protocol::BulkRequest& request) {
  const std::uint32_t number = protocol::number_of(request);
  const bool is_refused = draw_.chance(20);
  if (!is_refused && std::holds_alternative<protocol::BulkOffer>(request)) {
    return protocol::write_bulk_news(out_, offered(number));
  }
  if (!is_refused && std::holds_alternative<protocol::BulkTokenRequest>(request)) {
    return protocol::write_bulk_news(out_, protocol::BulkToken{number, draw_.below(9), {1, 2, 3}});
  }
  protocol::write_reply(out_, {number, static_cast<std::uint16_t>(is_refused ? Errc::unknown_channel : Errc{})});
}

void PlayedDaemon::say_channel() {
  const protocol::BulkGone gone{draw_.below(3), draw_.below(3), draw_.below(3), draw_.below(300)};
  switch (draw_.below(5)) {
    case 0:
      return protocol::write_bulk_news(out_, offered(0));
    case 1:
      return protocol::write_bulk_news(out_, protocol::BulkSealed{channel(), draw_.below(1'000'000), {9, 8}});
    case 2: {
      protocol::BulkComplete complete{channel(), view_id(), {}, {}, {}, gone};
      // Those that are long go in several frames.
      const std::uint64_t count = draw_.chance(4) ? 9'000 : draw_.below(4);
      for (std::uint64_t i = 0; i < count; ++i) complete.done.push_back("#d" + std::to_string(i) + "#a");
      if (draw_.chance(50)) complete.failed.push_back({"#f#b", static_cast<std::uint16_t>(50 + draw_.below(30))});
      if (draw_.chance(50)) complete.refused = {"#r#a", "#r#b"};
      return protocol::write_bulk_news(out_, complete);
    }
    case 3:
      return protocol::write_bulk_news(
          out_, protocol::BulkEnded{channel(), static_cast<protocol::BulkEnd>(1 + draw_.below(4))});
    default:
      return protocol::write_bulk_news(out_, protocol::BulkReturned{channel(), gone, draw_.below(gone.missing + 1)});
  }
}

void PlayedDaemon::speak() {
  if (!is_welcomed_) return;
  switch (draw_.below(18)) {
    case 0:
      return say_view(group());
    case 1:
      return protocol::write_transitional(out_, group());
    case 2: {
      const std::string of = group();
      protocol::Gap gap{1 + draw_.below(9), draw_.below(1000), {}, 0};
      gap.names.push_back({of, 1});
      return protocol::write_gap(out_, gap);
    }
    case 3:
      return protocol::write_warning(out_,
                                     {static_cast<std::uint8_t>(draw_.chance(50) ? 50 : 80), draw_.below(9999), 99999});
    case 4:
      return protocol::write_received(out_, ClientFrame::received_by_daemon, frames_);
    case 5:
      if (draw_.chance(30)) protocol::write_flush(out_, ClientFrame::flush_request, {++flushes_, group()});
      return;
    case 6: {
      const std::string of = group();
      const auto what = static_cast<protocol::Refused::What>(draw_.below(3));
      const std::uint64_t messages = what == protocol::Refused::What::messages ? 2 : 0;
      return protocol::write_refused(out_, {what, 39, messages, of});
    }
    case 7:
      if (draw_.chance(10)) protocol::write_going(out_, 2000);
      return;
    case 8:
      if (draw_.chance(6)) {
        protocol::write_close(
            out_, {static_cast<std::uint16_t>(draw_.chance(50) ? Errc::daemon_stopping : Errc::slow_receiver), "over",
                   messages_});
      }
      return;
    case 9:
    case 10:
    case 11:
      return say_feed();
    case 12:
      return protocol::write_ping(out_, ClientFrame::pong, draw_.below(9));
    case 13:
    case 14:
      return say_channel();
    default:
      return say_message();
  }
}

}  // namespace spindle::conformance

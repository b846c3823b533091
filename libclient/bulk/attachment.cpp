#include "libclient/bulk/attachment.h"

#include <algorithm>
#include <set>

namespace spindle::bulk {

namespace {

Attachment::End malformed() { return {Errc::malformed_frame, "the daemon sent a malformed bulk frame"}; }

}  // namespace

Attachment::Attachment(std::uint64_t session, const BulkToken& token) {
  write_attach(output_, {kBulkVersion, kBulkVersion, session, token});
}

void Attachment::add(const BulkChannelId& id, const ContentLayout& layout, const Engines& engines) {
  if (const auto known = channels_.find(id); known != channels_.end()) {
    known->second.engines = engines;
    return;
  }
  std::set<std::uint32_t> taken;
  for (const auto& [other, channel] : channels_) taken.insert(channel.number);
  std::uint32_t number = 0;
  while (taken.contains(number)) ++number;
  if (number >= kOpenChannelsMax) return;
  channels_.emplace(id, Channel{number, layout, engines, 0, {}});
  if (engines.receiver != nullptr) engines.receiver->handle_attached();
  if (engines.holder != nullptr) engines.holder->handle_attached();
  write_open(output_, {number, id, layout});
}

void Attachment::remove(const BulkChannelId& id) {
  const auto channel = channels_.find(id);
  if (channel == channels_.end()) return;
  write_shut(output_, channel->second.number);
  channels_.erase(channel);
}

void Attachment::set_rate(const BulkChannelId& id, std::uint64_t bytes_per_second) {
  if (const auto channel = channels_.find(id); channel != channels_.end()) channel->second.rate.set(bytes_per_second);
}

std::optional<Attachment::End> Attachment::handle_read(Nanoseconds now, ByteView bytes) {
  std::optional<End> end;
  // A frame that was cut in two is put together, its head first; all others are handled where they were read.
  while (!input_.empty() && !bytes.empty() && !end) {
    const std::optional<FrameHead> head = read_frame_head(input_);
    const std::size_t size = kFrameHeadBytes + (head ? head->length : 0);
    const ByteView more = bytes.first(std::min(size - input_.size(), bytes.size()));
    input_.insert(input_.end(), more.begin(), more.end());
    bytes = bytes.subspan(more.size());
    if (handle_frames(now, input_, end) != 0) input_.clear();
  }
  if (end || bytes.empty()) return end;
  const std::size_t handled = handle_frames(now, bytes, end);
  input_.assign(bytes.begin() + static_cast<std::ptrdiff_t>(handled), bytes.end());
  return end;
}

std::size_t Attachment::handle_frames(Nanoseconds now, ByteView bytes, std::optional<End>& end) {
  std::size_t at = 0;
  while (!end) {
    const ByteView rest = bytes.subspan(at);
    const std::optional<FrameHead> head = read_frame_head(rest);
    if (!head) break;
    if (head->length > kBulkFrameBytesMax) {
      end = End{Errc::frame_too_large, "the daemon sent a bulk frame that is too large"};
    } else if (rest.size() < kFrameHeadBytes + head->length) {
      break;
    } else {
      end = handle_frame(now, head->type, rest.subspan(kFrameHeadBytes, head->length));
      at += kFrameHeadBytes + head->length;
    }
  }
  return at;
}

template <typename Frame, typename Handle>
std::optional<Attachment::End> Attachment::with_channel(const std::optional<Frame>& frame, Handle&& handle) {
  if (!frame) return malformed();
  const auto id = theirs_.find(frame->number);
  if (id == theirs_.end()) return End{Errc::unexpected_frame, "a bulk channel was not opened under its number"};
  // It may have been removed here while this was on its way.
  if (const auto channel = channels_.find(id->second); channel != channels_.end()) handle(channel->second, *frame);
  return std::nullopt;
}

std::optional<Attachment::End> Attachment::handle_frame(Nanoseconds now, std::uint8_t type, ByteView body) {
  switch (static_cast<BulkFrame>(type)) {
    case BulkFrame::welcome: {
      const std::optional<std::uint16_t> version = read_welcome(body);
      if (!version) return malformed();
      if (*version != kBulkVersion) return End{Errc::version_mismatch, {}};
      is_welcome_ = true;
      return std::nullopt;
    }
    case BulkFrame::close: {
      const std::optional<BulkClose> close = read_close(body);
      if (!close) return malformed();
      return End{static_cast<Errc>(close->code), std::string(close->text)};
    }
    case BulkFrame::open: {
      const std::optional<Open> open = read_open(body);
      if (!open) return malformed();
      theirs_[open->number] = open->channel;
      return std::nullopt;
    }
    case BulkFrame::shut: {
      const std::optional<std::uint32_t> number = read_shut(body);
      if (!number) return malformed();
      theirs_.erase(*number);
      return std::nullopt;
    }
    case BulkFrame::symbol:
      return with_channel(read_symbol(body),
                          [&](Channel& channel, const Symbol& symbol) { take_symbol(now, channel, symbol); });
    case BulkFrame::index:
      return with_channel(read_index(body), [&](Channel& channel, const IndexPart& index) {
        if (channel.engines.receiver != nullptr) channel.engines.receiver->handle_index(now, index);
      });
    case BulkFrame::mark:
      return with_channel(read_mark(body), [&](Channel& channel, const Mark& mark) {
        if (channel.engines.receiver != nullptr) channel.engines.receiver->handle_mark(mark.mark);
      });
    case BulkFrame::need:
      return with_channel(read_need(body), [&](Channel& channel, const NeedFrame& need) {
        if (channel.engines.holder != nullptr) channel.engines.holder->handle_need(need.stream, need.need);
      });
    case BulkFrame::grant:
      return with_channel(read_grant(body), [&](Channel& channel, const Grant& grant) {
        if (channel.engines.holder != nullptr) channel.engines.holder->handle_grant(grant.stream, grant.symbols);
      });
    case BulkFrame::release:
      return with_channel(read_release(body), [&](Channel& channel, const Release& release) {
        if (channel.engines.holder != nullptr) channel.engines.holder->handle_release(release.stream);
      });
    case BulkFrame::ask_index:
      return with_channel(read_ask_index(body), [&](Channel& channel, const AskIndex&) {
        if (channel.engines.holder != nullptr) channel.engines.holder->handle_index_asked();
        if (channel.engines.receiver != nullptr) channel.engines.receiver->handle_index_asked();
      });
    default:
      return End{Errc::unexpected_frame, "the daemon sent a bulk frame of a type that it does not send"};
  }
}

void Attachment::take_symbol(Nanoseconds now, Channel& channel, const Symbol& symbol) {
  if (channel.granted > 0) --channel.granted;
  if (channel.engines.receiver != nullptr) channel.engines.receiver->handle_symbol(now, symbol, 0);
}

void Attachment::fill(Nanoseconds now) {
  for (auto& [id, channel] : channels_) fill(now, channel);
  // In turns, so that no channel has to wait for all of another.
  bool is_more = true;
  while (is_more && output_.size() - written_ < kOutputBytesMax) {
    is_more = false;
    for (auto& [id, channel] : channels_) is_more = write_symbol(now, channel) || is_more;
  }
}

void Attachment::fill(Nanoseconds now, Channel& channel) {
  if (BulkReceiver* receiver = channel.engines.receiver) {
    if (const std::optional<Need> need = receiver->take_need(now)) {
      write_need(output_, {channel.number, kLiveStream, *need});
    }
    if (receiver->take_index_wish(now)) write_ask_index(output_, {channel.number});
    while (output_.size() - written_ < kOutputBytesMax) {
      std::optional<IndexPart> part = receiver->take_index();
      if (!part) break;
      part->number = channel.number;
      write_index(output_, *part);
    }
    const std::uint64_t window = std::min(channel.window(), receiver->room());
    if (!receiver->is_done() && channel.granted <= window / 2 && channel.granted < window) {
      const std::uint64_t more = window - channel.granted;
      channel.granted += more;
      write_grant(output_, {channel.number, kLiveStream, more});
    }
  }
}

bool Attachment::write_symbol(Nanoseconds now, Channel& channel) {
  BulkHolder* holder = channel.engines.holder;
  if (holder == nullptr) return false;
  while (std::optional<IndexPart> part = holder->take_index()) {
    part->number = channel.number;
    write_index(output_, *part);
  }
  std::optional<Symbol> symbol;
  if (channel.rate.may_send(now)) symbol = holder->next_symbol();
  if (symbol) {
    channel.rate.note_sent(now, symbol->bytes.size());
    symbol->number = channel.number;
    const std::size_t size = output_.size();
    output_.resize(size + symbol_frame_size(*symbol));
    Writer writer(output_.data() + size);
    write_symbol_head(writer, *symbol);
    writer.bytes(symbol->bytes);
  }
  while (const std::optional<std::uint8_t> over = holder->take_finished()) {
    write_release(output_, {channel.number, *over});
  }
  return symbol.has_value();
}

void Attachment::consume(std::size_t bytes) {
  written_ += bytes;
  if (written_ == output_.size()) {
    output_.clear();
    written_ = 0;
  } else if (written_ >= kOutputBytesMax) {
    // A socket that never takes all would otherwise let it grow for ever.
    output_.erase(output_.begin(), output_.begin() + static_cast<std::ptrdiff_t>(written_));
    written_ = 0;
  }
}

std::optional<Nanoseconds> Attachment::due() const {
  std::optional<Nanoseconds> due;
  const auto consider = [&](std::optional<Nanoseconds> at) {
    if (at) due = due ? std::min(*due, *at) : *at;
  };
  for (const auto& [id, channel] : channels_) {
    if (channel.engines.receiver != nullptr) consider(channel.engines.receiver->need_due());
    if (channel.engines.holder != nullptr) consider(channel.rate.due());
  }
  return due;
}

}  // namespace spindle::bulk

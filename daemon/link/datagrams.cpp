#include "daemon/link/datagrams.h"

#include <fmt/format.h>

#include <algorithm>

#include "daemon/base/check.h"
#include "daemon/wire/frame_traits.h"

namespace spindled {

Datagrams::Datagrams(Context& context, Driver& driver, const Log& log)
    : context_(context), driver_(driver), log_(log) {}

// Channels.

DatagramOffer Datagrams::make_offer(ConnectionId connection) {
  const FeedConfig& config = context_.config.feed;
  DatagramOffer offer{.bytes = static_cast<std::uint32_t>(config.datagram_bytes)};
  if (!config.datagrams) return offer;
  const std::uint16_t port = driver_.datagram_port(connection);
  if (port == 0) return offer;
  const std::optional<Driver::Secret> secret = driver_.draw_secret();
  if (!secret) return offer;
  offer.port = port;
  offer.token = spindle::Reader(*secret).u64();
  return offer;
}

void Datagrams::link_up(Time now, const Link& link) {
  const auto index = static_cast<std::size_t>(*link.marks.id);
  if (index >= entries_.size()) entries_.resize(index + 1);
  SPINDLE_CHECK(entries_[index] == nullptr);
  entries_[index] = std::make_unique<Entry>();
  Entry& entry = *entries_[index];
  entry.link = *link.marks.id;
  entry.peer = link.peer().name;
  entry.is_known_to_peer = link.offers.peer.bytes != 0;
  entry.why_not = open_channel(now, link, entry);
  if (entry.channel) return mark_dirty(entry);
  log_.debug("frames of feeds to {} go over the connection: {}", entry.peer, entry.why_not);
}

/// Why there is none.
std::string Datagrams::open_channel(Time now, const Link& link, Entry& entry) {
  const DatagramOffer& own = link.offers.own;
  const DatagramOffer& peer = link.offers.peer;
  if (peer.bytes == 0) return "the other daemon is too old for datagrams";
  if (!context_.config.feed.datagrams) return "switched off here (feed.datagrams)";
  if (own.port == 0) return "there is no socket for datagrams here";
  if (peer.port == 0) return "switched off there (feed.datagrams), or no socket";
  if (own.bytes != peer.bytes) {
    return fmt::format("feed.datagram_bytes is {} here and {} there", own.bytes, peer.bytes);
  }
  const std::optional<DatagramAddress> address = driver_.datagram_address(link.connection(), peer.port);
  if (!address) return "no socket here sends to the other daemon's address";
  DatagramTerms terms{own.token, peer.token, own.bytes, *address, driver_.datagram_cipher(link.connection())};
  // Two links with one token would be a fault of the source of secrets.
  if (!links_by_token_.emplace(own.token, entry.link).second) return "a token was drawn twice";
  entry.channel.emplace(std::move(terms), now);
  return {};
}

void Datagrams::link_down(Time now, const Link& link) {
  const LinkId id = *link.marks.id;
  Entry* entry = find(id);
  if (entry == nullptr) return;
  set_deadline(*entry, kNever);
  if (entry->channel) links_by_token_.erase(entry->channel->own_token());
  entries_[static_cast<std::size_t>(id)].reset();
  std::erase(dirty_, id);  // the next link of that id stands there for itself
  if (feeds_ != nullptr) feeds_->feed_link_down(now, id);
}

Datagrams::Entry* Datagrams::find(LinkId link) const {
  const auto index = static_cast<std::size_t>(link);
  return index < entries_.size() ? entries_[index].get() : nullptr;
}

// Input.

std::optional<LinkId> Datagrams::handle(Time now, const IncomingDatagram& datagram) {
  const std::optional<DatagramHead> head = read_datagram_head(datagram.bytes);
  const auto found = head ? links_by_token_.find(head->token) : links_by_token_.end();
  if (found == links_by_token_.end()) {
    context_.counters.add(Counter::datagrams_unknown);
    return std::nullopt;
  }
  const LinkId link = found->second;
  Entry& entry = *find(link);
  const DatagramChannel::Opened opened = entry.channel->open(datagram, *head);
  switch (opened.verdict) {
    case DatagramChannel::Verdict::repeated:
      ++entry.counts.repeated;
      context_.counters.add(Counter::datagrams_repeated);
      return std::nullopt;
    case DatagramChannel::Verdict::forged:
      ++entry.counts.forged;
      context_.counters.add(Counter::datagrams_forged);
      return std::nullopt;
    case DatagramChannel::Verdict::good:
      break;
  }
  entry.last_heard = now;
  ++entry.counts.in;
  context_.counters.add(Counter::datagrams_in);
  if (entry.channel->next_deadline() <= now) mark_dirty(entry);  // it came from another address
  ByteView rest = opened.frames;
  if (rest.empty()) return link;
  while (!rest.empty()) {
    const bool is_first = rest.size() == opened.frames.size();
    const std::optional<DatagramFrameView> frame = next_datagram_frame(rest);
    if (!frame) return link;
    if (frame->type == kProbeFrame) {
      const std::optional<Probe> probe = read_probe(frame->body);
      const DatagramChannel::State before = entry.channel->state();
      if (!is_first || !rest.empty()) return link;  // many questions would be short, and their answers not
      if (!probe || !entry.channel->probe_received(now, datagram.from, *probe)) return link;
      mark_dirty(entry);
      tell(entry, before);
    } else if (feeds_ != nullptr) {
      if (!feeds_->feed_frame_received(now, link, frame->type, frame->body)) return link;
      if (find(link) != &entry) return std::nullopt;  // whoever took it has closed the link
    }
  }
  return std::nullopt;
}

bool Datagrams::frames_received(Time now, LinkId link, ByteView frames) {
  ByteView rest = frames;
  do {
    const std::optional<DatagramFrameView> frame = next_datagram_frame(rest);
    if (!frame || frame->type == kProbeFrame) return false;
    if (feeds_ == nullptr) continue;
    if (!feeds_->feed_frame_received(now, link, frame->type, frame->body)) return false;
  } while (!rest.empty());
  return true;
}

void Datagrams::handle_time(Time now) {
  while (next_deadline() <= now) {
    Entry& entry = *find(deadlines_.begin()->second);
    set_deadline(entry, kNever);
    mark_dirty(entry);
  }
}

// Output.

std::size_t Datagrams::frame_bytes_max() const {
  return datagram_room(context_.config.feed.datagram_bytes) - kDatagramFrameHeadBytes;
}

Datagrams::Way Datagrams::next_way(Time now, LinkId link, std::size_t bytes) {
  Entry* entry = find(link);
  if (entry == nullptr || !entry->is_known_to_peer) return Way::none;
  if (kDatagramFrameHeadBytes + bytes > kDatagramFrameOnLinkBytesMax) {  // of no daemon that sends what it should
    note_no_room(*entry);
    return Way::none;
  }
  if (!entry->channel) return Way::connection;
  const bool is_open = entry->channel->use(now);
  mark_dirty(*entry);
  return is_open && bytes <= entry->channel->frame_bytes_max() ? Way::datagram : Way::connection;
}

bool Datagrams::send(LinkId link, std::uint8_t type, ByteView head, ByteView tail) {
  Entry& entry = *find(link);
  if (entry.channel->append(type, head, tail)) return true;
  note_no_room(entry);
  return false;
}

void Datagrams::note_no_room(Entry& entry) {
  ++entry.counts.no_room;
  context_.counters.add(Counter::datagrams_dropped);
}

void Datagrams::note_behind(LinkId link) {
  ++find(link)->counts.behind;
  context_.counters.add(Counter::datagrams_dropped);
}

bool Datagrams::ask_now(Time now, LinkId link) {
  if (!is_open(link)) return false;
  Entry& entry = *find(link);
  entry.channel->ask_beside(now, draw_mark());
  mark_dirty(entry);
  return true;
}

void Datagrams::mark_dirty(Entry& entry) {
  if (!std::exchange(entry.is_dirty, true)) dirty_.push_back(entry.link);
}

void Datagrams::set_deadline(Entry& entry, Time deadline) {
  if (entry.deadline == deadline) return;
  if (entry.deadline != kNever) deadlines_.erase({entry.deadline, entry.link});
  entry.deadline = deadline;
  if (deadline != kNever) deadlines_.insert({deadline, entry.link});
}

void Datagrams::ask_due(Time now, Entry& entry) {
  const DatagramChannel::State before = entry.channel->state();
  while (const std::optional<DatagramAddress> to = entry.channel->take_question(now)) {
    entry.channel->ask(now, *to, draw_mark());
  }
  tell(entry, before);
}

std::uint64_t Datagrams::draw_mark() {
  const std::optional<Driver::Secret> secret = driver_.draw_secret();
  return secret ? spindle::Reader(*secret).u64() : context_.random.next();
}

/// The log hears of a way that stays closed, and not of each time that answers are missed.
void Datagrams::tell(Entry& entry, DatagramChannel::State before) {
  const DatagramChannel::State state = entry.channel->state();
  if (state == before) return;
  if (state == DatagramChannel::State::open) {
    context_.counters.add(Counter::datagram_ways_opened);
    if (std::exchange(entry.has_told, false)) log_.info("datagrams to {} get through", entry.peer);
  } else if (state == DatagramChannel::State::closed) {
    context_.counters.add(Counter::datagram_ways_closed);
    if (std::exchange(entry.has_told, true)) return;
    log_.info("frames of feeds to {} go over the connection: {}", entry.peer, info(entry.link).why_not);
  }
}

void Datagrams::flush(Time now) {
  if (dirty_.empty()) return;
  std::vector<LinkId> links;
  links.swap(dirty_);
  const auto has_channel = [&](LinkId link) {
    const Entry* entry = find(link);
    return entry != nullptr && entry->is_dirty && entry->channel;
  };
  links.erase(std::partition(links.begin(), links.end(), has_channel), links.end());
  std::vector<std::size_t> ends;  // of each link's in `outgoing_`
  for (const LinkId link : links) {
    Entry& entry = *find(link);
    ask_due(now, entry);
    entry.channel->gather(outgoing_);
    ends.push_back(outgoing_.size());
  }
  const std::size_t taken = outgoing_.empty() ? 0 : driver_.send_datagrams(outgoing_);
  SPINDLE_CHECK(taken <= outgoing_.size());
  context_.counters.add(Counter::datagrams_out, taken);
  context_.counters.add(Counter::datagrams_dropped, outgoing_.size() - taken);
  std::size_t begin = 0;
  for (std::size_t i = 0; i < links.size(); ++i) {
    Entry& entry = *find(links[i]);
    const std::size_t sent = std::clamp(taken, begin, ends[i]) - begin;
    entry.counts.out += sent;
    entry.counts.no_room += ends[i] - begin - sent;
    begin = ends[i];
    entry.channel->clear();
    entry.is_dirty = false;
    set_deadline(entry, entry.channel->next_deadline());
  }
  outgoing_.clear();
}

DatagramInfo Datagrams::info(LinkId link) const {
  const Entry* entry = find(link);
  if (entry == nullptr) return {};
  DatagramInfo info = entry->counts;
  info.why_not = entry->why_not;
  if (!entry->channel) return info;
  const DatagramChannel& channel = *entry->channel;
  info.is_open = channel.is_open();
  info.is_sealed = channel.is_sealed();
  info.round_trip = channel.round_trip();
  info.loss_in = channel.loss_in();
  info.loss_out = channel.loss_out();
  if (channel.state() == DatagramChannel::State::trying) info.why_not = "datagrams are being tried";
  if (channel.state() == DatagramChannel::State::closed) {
    info.why_not = fmt::format("questions of {} bytes are not answered", channel.datagram_bytes());
  }
  return info;
}

}  // namespace spindled

#include "tests/sim/bulk_client.h"

#include <fmt/format.h>

#include <algorithm>

#include "libclient/bulk/crc32c.h"
#include "tests/checkers/digest.h"

namespace spindled::sim {

namespace bulk = spindle::bulk;

namespace {

/// What a cap allows at a time.
constexpr double kBurstSeconds = 0.02;
/// How long a receiver whose disk is full asks for nothing.
constexpr Duration kFullPause = 5s;

std::uint64_t digest_of(ByteView bytes) {
  checkers::Digest digest;
  digest.add(bytes);
  return digest.value();
}

std::uint64_t digest_of(const bulk::ContentLayout& layout, std::uint32_t block, ByteView content) {
  const std::uint64_t start = layout.start_of(block), bytes = layout.bytes_of(block);
  return start + bytes > content.size() ? 0 : digest_of(content.subspan(start, bytes));
}

std::uint64_t symbols_of(const bulk::ContentLayout& layout, const bulk::BlockSet& but) {
  std::uint64_t symbols = 0;
  for (std::uint32_t block = 0; block < layout.blocks(); ++block) {
    symbols += but.contains(block) ? 0 : layout.symbols_of(block);
  }
  return symbols;
}

}  // namespace

struct BulkClient::Content {
  BulkChannelId id;
  Offered offered;  // of its own
  bool is_own = false;
  bool is_sealed = false;  // told to all, or told to it
  bool is_ended = false;
  std::size_t offers = 0;  // told, of the channel
  std::size_t events = 0;  // of the session, that were looked at
  std::string offered_to;  // the group
  bool is_left = false;    // by the client, since: nothing more is told of the channel, its end included
  BulkOutcome said = BulkOutcome::none;
  std::unique_ptr<bulk::BulkHolder> holder;
  std::unique_ptr<bulk::BulkReceiver> receiver;
  spindle::test::BulkStore* store = nullptr;
  std::uint64_t failed_writes = 0;
  std::uint64_t taken_back = 0;                // blocks that no state on the disk names any more
  std::optional<Time> full_until;              // it asks for nothing
  bulk::BlockSet noted;                        // blocks that are at their places, and in the history
  std::uint64_t wanted = 0;                    // symbols
  std::size_t resumed = 0;                     // blocks
  std::uint64_t bad_given = 0;                 // blocks that it loaded for others, went bad and counted as good
  std::uint64_t bad_kept = 0;                  // that had gone bad, and were not written again when it was done
  std::map<std::uint32_t, std::uint64_t> bad;  // blocks that went bad, and how often they had been written
  std::uint64_t sent = 0;                      // bytes that are accounted for,
  std::uint64_t cap = 0;                       // by this cap,
  double ahead = 0;                            // of which so many are more than it allows but for a burst,
  Time sent_at{};                              // then
  std::uint64_t beyond_cap = 0;                // the most that were beyond it
  std::optional<std::uint64_t> digest;         // once it is done
  std::vector<checkers::ContentHistory::Block> written;

  const Bytes& content() const { return is_own ? offered.bytes : store->content; }

  /// At what the client was told of the channel and its group since.
  void look_at(const checkers::ClientHistory& history) {
    for (; events < history.events.size(); ++events) {
      const auto& what = history.events[events].what;
      if (const auto* told = std::get_if<checkers::ChannelTold>(&what)) {
        const auto* offer = std::get_if<protocol::BulkOffered>(&told->news);
        if (offer == nullptr || offer->channel != id) continue;
        offered_to = offer->group;
        is_left = false;
      } else if (const auto* view = std::get_if<checkers::GroupView>(&what);
                 view != nullptr && view->group == offered_to) {
        is_left = is_left || (view->members.empty() && !is_own);  // a farewell
      }
    }
  }
};

BulkClient::BulkClient(World world, SimClient& session, Options options)
    : world_(world), session_(session), options_(std::move(options)) {
  if (!options_.disk) options_.disk = std::make_shared<ContentDisk>();
  tick();
}

BulkClient::~BulkClient() { *is_alive_ = false; }

void BulkClient::offer(const std::string& group, Bytes content) {
  SPINDLE_CHECK(!options_.disk->is_hollow());
  protocol::ContentTerms terms;
  terms.layout = *bulk::ContentLayout::of(content.size());
  offer(group, std::move(terms), std::move(content));
}

void BulkClient::offer(const std::string& group, std::uint64_t size, std::uint8_t weight) {
  SPINDLE_CHECK(options_.disk->is_hollow());
  protocol::ContentTerms terms;
  terms.layout = *bulk::ContentLayout::of(size);
  terms.weight = weight;
  offer(group, std::move(terms), {});
}

void BulkClient::offer(const std::string& group, Bytes content, std::uint32_t block_symbols, std::uint32_t linger_s) {
  protocol::ContentTerms terms;
  terms.layout = {block_symbols * bulk::kSymbolBytesMin, bulk::kSymbolBytesMin, content.size()};
  terms.linger_s = linger_s;
  offer(group, std::move(terms), std::move(content));
}

void BulkClient::offer(const std::string& group, protocol::ContentTerms terms, Bytes content) {
  terms.name = fmt::format("content {}", ++offers_);
  session_.offer(group, terms);
  offered_.emplace(terms.name, Offered{std::move(content), terms.layout.size});
}

const BulkClient::Bytes* BulkClient::received(const BulkChannelId& channel) const {
  return is_done(channel) ? &contents_.at(channel)->store->content : nullptr;
}

bool BulkClient::is_done(const BulkChannelId& channel) const {
  const auto content = contents_.find(channel);
  return content != contents_.end() && content->second->receiver && content->second->receiver->is_done();
}

std::optional<spindle::test::DecodingCounters> BulkClient::decoding(const BulkChannelId& channel) const {
  const auto content = contents_.find(channel);
  if (content == contents_.end() || !content->second->receiver) return std::nullopt;
  return content->second->store->decoding;
}

std::optional<bulk::ReceiverCounters> BulkClient::counters(const BulkChannelId& channel) const {
  const auto content = contents_.find(channel);
  if (content == contents_.end() || !content->second->receiver) return std::nullopt;
  return content->second->receiver->counters();
}

std::optional<bulk::HolderCounters> BulkClient::sent(const BulkChannelId& channel) const {
  const auto content = contents_.find(channel);
  if (content == contents_.end() || !content->second->holder) return std::nullopt;
  return content->second->holder->counters();
}

void BulkClient::break_attachment() {
  if (end_ != StreamRef()) world_.network.close(std::exchange(end_, StreamRef()));
  is_connected_ = false;
  attachment_.reset();
  asked_at_.reset();
}

void BulkClient::end() {
  break_attachment();
  *is_alive_ = false;
}

void BulkClient::set_reading(bool on) {
  is_reading_ = on;
  if (on && end_ != StreamRef()) read();
}

void BulkClient::tick() {
  if (session_.is_closed()) return break_attachment();
  world_.events.after(options_.tick, [this, is_alive = is_alive_] {
    if (*is_alive) tick();
  });
  if (!session_.is_welcome()) return;
  if (session_.former_histories().size() != sessions_) begin_anew();
  if (session_.reconnections().size() != returns_) {
    // What it had asked for may be lost.
    returns_ = session_.reconnections().size();
    if (!attachment_) asked_at_.reset();
  }
  if (!attachment_) attach();
  for (const BulkChannelId& id : session_.channels().ids()) look_at(id);
  flush();
}

void BulkClient::begin_anew() {
  sessions_ = session_.former_histories().size();
  break_attachment();
  for (const auto& [id, content] : contents_) former_.push_back(history_of(*content));
  contents_.clear();
}

void BulkClient::attach() {
  if (!asked_at_) {
    asked_at_ = session_.channels().tokens();
    return session_.request_token();
  }
  if (session_.channels().tokens() <= *asked_at_) return;
  const protocol::BulkToken& token = *session_.channels().token();
  attachment_.emplace(token.session, token.token);
  for (auto& [id, content] : contents_) {
    content->cap = 0;  // what it may send begins anew, and is counted anew
    if (content->is_ended || content->full_until) continue;
    add_to_attachment(*content);
  }
  end_ = world_.network.dial_local(session_.host().index(), Port::client, "bulk", *this);
}

void BulkClient::begin(Content& content, const ClientChannel& channel) {
  const bulk::ContentLayout& layout = channel.offered.terms.layout;
  content.is_own = channel.offered.request != 0;
  const auto place = static_cast<std::uint32_t>(std::hash<std::string>()(session_.private_name()) % 2048);
  const bulk::RepairIds repair_ids(place, place);
  const auto offered = content.is_own ? offered_.find(channel.offered.terms.name) : offered_.end();
  if (offered != offered_.end()) {
    content.offered = std::move(offered->second);
    offered_.erase(offered);
    content.holder = std::make_unique<bulk::BulkHolder>(bulk::BulkHolder::Kind::source, layout, repair_ids);
    content.holder->handle_available(bulk::BlockSet::of_first(layout.blocks()));
  } else if (!content.is_own && options_.accepts && layout.has_size() && layout.size > options_.disk->capacity) {
    session_.say(content.id, content.said = BulkOutcome::failed);
  } else if (!content.is_own && options_.accepts) {
    const auto resumed = options_.disk->read_state(content.id);
    content.store = &options_.disk->store_of(content.id);
    content.receiver = std::make_unique<bulk::BulkReceiver>(layout, options_.disk->hasher(), options_.limits,
                                                            resumed ? &*resumed : nullptr);
    content.noted = content.receiver->written();
    content.resumed = content.noted.count();
    content.wanted = symbols_of(layout, content.noted);
    if (options_.serves) {
      content.receiver->set_serves(true);
      content.holder = std::make_unique<bulk::BulkHolder>(bulk::BulkHolder::Kind::receiver, layout, repair_ids);
      content.holder->set_hashes(content.receiver->hashes());
    }
  }
  add_to_attachment(content);
}

void BulkClient::add_to_attachment(const Content& content) {
  if (!attachment_) return;
  const bulk::ContentLayout& layout =
      content.receiver ? content.receiver->layout() : session_.channels().find(content.id)->offered.terms.layout;
  attachment_->add(content.id, layout, {content.holder.get(), content.receiver.get()});
  if (content.is_own) attachment_->set_rate(content.id, cap_);
}

/// What its daemon does not know of it yet, or has forgotten as it left the group.
void BulkClient::say(Content& content) {
  if (content.said == BulkOutcome::none) session_.say(content.id, content.said = BulkOutcome::accepted);
  if (content.said == BulkOutcome::accepted && content.receiver->is_done()) {
    content.digest = digest_of(content.store->content);
    note_done(content);
    session_.say(content.id, content.said = content.holder ? BulkOutcome::done : BulkOutcome::kept);
  }
}

void BulkClient::look_at(const BulkChannelId& id) {
  const ClientChannel& channel = *session_.channels().find(id);
  auto& content = contents_[id];
  if (!content) {
    content = std::make_unique<Content>();
    content->id = id;
    begin(*content, channel);
  }
  content->look_at(session_.history());
  if (channel.ended) {
    if (!std::exchange(content->is_ended, true) && attachment_) attachment_->remove(id);
    return;
  }
  if (std::exchange(content->offers, channel.offers) != channel.offers) {
    if (content->said != BulkOutcome::failed) content->said = BulkOutcome::none;
    content->is_ended = false;                // for one side; another one goes on with it
    if (attachment_ && channel.offers > 1) {  // it had left the group
      content->cap = 0;
      attachment_->remove(id);
      add_to_attachment(*content);
    }
  }
  work(*content);
  if (!content->receiver) return;
  look_at_disk(*content);
  if (channel.is_sealed() && !std::exchange(content->is_sealed, true)) {
    const auto& root = channel.sealed ? channel.sealed->root : *channel.offered.root;
    const std::uint64_t size = channel.sealed ? channel.sealed->size : channel.offered.terms.layout.size;
    SPINDLE_CHECK(content->receiver->handle_seal(now(), size, root));
  }
  say(*content);
}

/// Where it is full the receiver asks for nothing, and tries again a while later.
void BulkClient::look_at_disk(Content& content) {
  content.store->capacity = options_.disk->fills_at;
  if (content.full_until && *content.full_until <= world_.events.now()) {
    content.full_until.reset();
    add_to_attachment(content);
  } else if (std::exchange(content.failed_writes, content.store->failed_writes) != content.store->failed_writes &&
             content.store->capacity < content.receiver->layout().size && !content.full_until) {
    content.full_until = world_.events.now() + kFullPause;
    if (attachment_) attachment_->remove(content.id);
  }
}

void BulkClient::work(Content& content) {
  if (content.is_ended) return;
  bool is_spoiled = false;
  const auto read = [&](std::uint64_t start, std::span<std::uint8_t> to) {
    if (options_.disk->is_hollow()) {
      std::fill(to.begin(), to.end(), std::uint8_t{0});
      return true;
    }
    const Bytes& bytes = content.content();
    if (start + to.size() > bytes.size()) return false;
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(start), to.size(), to.begin());
    if (!content.is_own && options_.disk->reads_to_spoil > 0) {
      --options_.disk->reads_to_spoil;
      is_spoiled = true;
      to[to.size() / 2] ^= 1;
    }
    return true;
  };
  if (content.receiver) {
    take_back(content);
    while (auto job = content.receiver->take_job()) {
      content.store->run(now(), *content.receiver, std::move(*job));
      note_written(content);
      take_back(content);
    }
    if (content.holder) give_up_bad_blocks(content);
    if (content.holder) content.holder->handle_available(content.receiver->written());
  }
  if (!content.holder) return;
  const auto next_job = [&] {
    auto job = content.holder->take_job();
    return job ? std::move(job) : content.holder->take_hash_job(options_.hashes_ahead);
  };
  while (auto job = next_job()) {
    is_spoiled = false;
    bulk::LoadedBlock block = bulk::run(std::move(*job), read, options_.disk->code(), options_.disk->hasher());
    content.bad_given += is_spoiled && block.good ? 1 : 0;
    if (!content.is_own) forge(block);
    content.holder->handle_loaded(std::move(block));
  }
  if (!content.is_own || content.is_sealed) return;
  const bulk::ContentLayout& layout = content.holder->layout();
  if (const auto root = content.holder->index().root(layout.blocks(), options_.disk->hasher())) {
    content.is_sealed = true;
    session_.seal(content.id, content.offered.size, *root);
  }
}

/// What the states on the disk name is not written over, as the library does it.
void BulkClient::take_back(Content& content) {
  const std::uint64_t taken_back = content.receiver->counters().taken_back;
  if (std::exchange(content.taken_back, taken_back) == taken_back || options_.disk->is_hollow()) return;
  content.noted = intersection(content.noted, content.receiver->written());
  options_.disk->take_back(content.id, content.receiver->resume_state());
}

/// What the client has said to have whole it serves no more, as the library does.
void BulkClient::give_up_bad_blocks(Content& content) {
  while (const std::optional<std::uint32_t> block = content.holder->take_bad()) {
    if (content.said != BulkOutcome::done) {
      note_bad(content, *block);
      content.receiver->handle_bad(*block);
      continue;
    }
    session_.say(content.id, content.said = BulkOutcome::kept);
    content.receiver->set_serves(false);
    content.holder.reset();
    return add_to_attachment(content);
  }
}

void BulkClient::note_bad(Content& content, std::uint32_t block) {
  content.noted.remove(block);
  content.bad[block] = content.store->stored(block);
}

/// What had gone bad was fetched again.
void BulkClient::note_done(Content& content) {
  for (const auto& [block, before] : content.bad) content.bad_kept += content.store->stored(block) == before ? 1 : 0;
  content.bad.clear();
}

void BulkClient::forge(bulk::LoadedBlock& block) {
  if (!block.good || options_.disk->blocks_to_forge == 0) return;
  --options_.disk->blocks_to_forge;
  const std::size_t bytes = block.job.place.shape.bytes();
  std::shared_ptr<std::uint8_t[]> forged(new std::uint8_t[bytes]);
  std::copy_n(block.job.content.get(), bytes, forged.get());
  forged[block.job.place.bytes / 2] ^= 1;
  block.crcs.clear();
  const std::size_t symbol = block.job.place.shape.symbol_bytes;
  for (std::size_t at = 0; at < bytes; at += symbol)
    block.crcs.push_back(spindle::bulk::crc32c({forged.get() + at, symbol}));
  block.job.content = std::move(forged);
  if (block.encoder) block.encoder->load(block.job.content.get());
}

void BulkClient::note_written(Content& content) {
  const bulk::BlockSet& written = content.receiver->written();
  if (written == content.noted || options_.disk->is_hollow()) return;
  const bulk::ContentLayout& layout = content.receiver->layout();
  for (const bulk::BlockSet::Run& run : written.runs()) {
    for (std::uint32_t block = content.noted.first_missing(run.first); block < run.end;
         block = content.noted.first_missing(block + 1)) {
      content.written.push_back({block, digest_of(layout, block, content.store->content)});
    }
  }
  content.noted = written;
  options_.disk->write_state(content.id, content.receiver->resume_state());
}

void BulkClient::stream_connected(StreamRef end) {
  if (end != end_) return;
  is_connected_ = true;
  flush();
}

void BulkClient::stream_readable(StreamRef end) {
  if (end == end_ && is_reading_) read();
}

void BulkClient::read() {
  if (!attachment_) return;
  std::array<std::uint8_t, 64 << 10> bytes;
  for (;;) {
    const std::size_t read = world_.network.read(end_, bytes);
    if (read == 0) break;
    if (attachment_->handle_read(now(), ByteView(bytes).first(read))) return break_attachment();
  }
  flush();
}

void BulkClient::stream_closed(StreamRef end, std::string_view) {
  if (end != end_) return;
  end_ = StreamRef();
  break_attachment();
}

void BulkClient::flush() {
  for (auto& [id, content] : contents_) work(*content);
  if (!attachment_ || !is_connected_) return;
  for (;;) {
    attachment_->fill(now());
    for (auto& [id, content] : contents_) note_sent(*content);
    const ByteView output = attachment_->output();
    if (output.empty()) return;
    const std::size_t taken = world_.network.write(end_, {&output, 1});
    attachment_->consume(taken);
    if (taken < output.size()) return;
    for (auto& [id, content] : contents_) work(*content);
  }
}

void BulkClient::set_cap(std::uint64_t bytes_per_second) {
  for (auto& [id, content] : contents_) note_sent(*content);
  cap_ = bytes_per_second;
  for (auto& [id, content] : contents_) {
    if (!content->is_own || content->is_ended) continue;
    session_.set_rate(id, cap_);
    if (attachment_) attachment_->set_rate(id, cap_);
  }
}

void BulkClient::note_sent(Content& content) {
  if (!content.is_own || !content.holder) return;
  const bulk::HolderCounters& counters = content.holder->counters();
  const std::uint64_t symbol = content.holder->layout().symbol_bytes;
  const std::uint64_t sent = (counters.source + counters.repair) * symbol;
  const auto more = static_cast<double>(sent - std::exchange(content.sent, sent));
  const Time now = world_.events.now();
  const double seconds = to_seconds(now - std::exchange(content.sent_at, now));
  if (cap_ == 0 || std::exchange(content.cap, cap_) != cap_) {
    content.ahead = 0;
    return;
  }
  const auto cap = static_cast<double>(cap_);
  content.ahead = std::max(content.ahead - cap * seconds, 0.0) + more;
  const double most = cap * kBurstSeconds + 2 * static_cast<double>(symbol);
  if (content.ahead > most) {
    content.beyond_cap = std::max(content.beyond_cap, static_cast<std::uint64_t>(content.ahead - most) + 1);
  }
}

bool BulkClient::offers(const BulkChannelId& channel) const {
  const auto content = contents_.find(channel);
  return content != contents_.end() && content->second->is_own && content->second->holder && is_there(*content->second);
}

std::uint32_t BulkClient::missing_blocks(const BulkChannelId& channel) const {
  const auto found = contents_.find(channel);
  if (found == contents_.end() || !found->second->receiver || !is_there(*found->second)) return 0;
  const bulk::BulkReceiver& receiver = *found->second->receiver;
  return receiver.layout().blocks() - receiver.written().count();
}

std::vector<checkers::ContentHistory> BulkClient::histories() const {
  std::vector<checkers::ContentHistory> histories = former_;
  for (const auto& [id, content] : contents_) {
    histories.push_back(history_of(*content));
    histories.back().is_there = is_there(*content);
    histories.back().gives = standing_of(*content) == Standing::gives;
  }
  return histories;
}

/// Whether the client is there, and a member, and the channel goes on.
bool BulkClient::is_there(const Content& content) const {
  const ClientChannel* channel = session_.channels().find(content.id);
  return !session_.is_closed() && session_.former_histories().size() == sessions_ && channel != nullptr &&
         !channel->ended && !content.is_left && session_.view(channel->offered.group) != nullptr;
}

BulkClient::Standing BulkClient::standing_of(const Content& content) const {
  if (!is_there(content)) return Standing::none;
  const bool has_all = content.is_own ? content.is_sealed : content.said == BulkOutcome::done;
  if (has_all) return content.holder ? Standing::gives : Standing::none;
  if (content.said == BulkOutcome::kept) return Standing::none;
  return content.receiver ? Standing::lacks : Standing::none;
}

checkers::ContentHistory BulkClient::history_of(const Content& content) const {
  checkers::ContentHistory history;
  history.channel = content.id;
  history.client = session_.private_name();
  history.is_source = content.is_own && content.holder;
  history.is_receiver = content.receiver != nullptr;
  history.blocks = content.written;
  history.symbols_wanted = content.wanted;
  history.resumed_blocks = content.resumed;
  history.digest = content.digest;
  history.bad_given = content.bad_given;
  history.bad_kept = content.bad_kept;
  history.beyond_cap = content.beyond_cap;
  if (history.is_source) {
    const bulk::ContentLayout& layout = content.holder->layout();
    for (std::uint32_t block = 0; block < layout.blocks(); ++block) {
      history.blocks.push_back({block, digest_of(layout, block, content.offered.bytes)});
    }
    history.digest = digest_of(content.offered.bytes);
  }
  if (content.receiver) {
    const bulk::ReceiverCounters counters = content.receiver->counters();
    history.symbols = counters.useful + counters.duplicate + counters.no_room + counters.corrupt + counters.foreign;
  }
  return history;
}

}  // namespace spindled::sim

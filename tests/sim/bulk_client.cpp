#include "tests/sim/bulk_client.h"

#include <algorithm>

#include "libclient/bulk/bulk_holder.h"
#include "libclient/codes/counting_code.h"
#include "libclient/codes/raptorq_code.h"
#include "tests/support/sha256.h"

namespace spindled::sim {

namespace bulk = spindle::bulk;

namespace {

constexpr std::uint64_t kCountingSeed = 1;

/// Of contents that are zeros: what is hashed is known by its length.
class LengthHasher final : public bulk::Hasher {
 public:
  bulk::BlockHash hash(ByteView bytes) const override {
    bulk::BlockHash hash{};
    spindle::Writer(hash.data()).u64(bytes.size());
    return hash;
  }
};

}  // namespace

struct BulkClient::Content {
  BulkChannelId id;
  Offered offered;  // of its own
  bool is_own = false;
  bool is_sealed = false;  // told to all, or told to it
  bool is_told_done = false;
  std::unique_ptr<bulk::BulkHolder> holder;
  std::unique_ptr<bulk::BulkReceiver> receiver;
  std::unique_ptr<spindle::test::BulkStore> store;

  const Bytes& content() const { return is_own ? offered.bytes : store->content; }
};

BulkClient::BulkClient(World world, SimClient& session, Options options)
    : world_(world), session_(session), options_(options) {
  if (options_.is_hollow) {
    code_ = std::make_unique<spindle::codes::CountingCode>(kCountingSeed);
    hasher_ = std::make_unique<LengthHasher>();
  } else {
    code_ = std::make_unique<spindle::codes::RaptorQCode>();
    hasher_ = std::make_unique<spindle::test::Sha256>();
  }
  tick();
}

BulkClient::~BulkClient() { *is_alive_ = false; }

void BulkClient::offer(const std::string& group, Bytes content) {
  SPINDLE_CHECK(!options_.is_hollow);
  session_.offer(group, content.size(), std::nullopt);
  const std::uint64_t size = content.size();
  offered_.push_back({std::move(content), size});
}

void BulkClient::offer(const std::string& group, std::uint64_t size, std::uint8_t weight) {
  SPINDLE_CHECK(options_.is_hollow);
  session_.offer(group, size, std::nullopt, protocol::kLingerSecondsDefault, weight);
  offered_.push_back({{}, size});
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

void BulkClient::break_attachment() {
  if (end_ != StreamRef()) world_.network.close(std::exchange(end_, StreamRef()));
  is_connected_ = false;
  attachment_.reset();
  has_asked_ = false;
}

void BulkClient::tick() {
  if (session_.is_closed()) return;
  world_.events.after(kTick, [this, is_alive = is_alive_] {
    if (*is_alive) tick();
  });
  if (!session_.is_welcome()) return;
  if (!attachment_) attach();
  for (const BulkChannelId& id : session_.channels().ids()) look_at(id);
  flush();
}

void BulkClient::attach() {
  if (!std::exchange(has_asked_, true)) return session_.request_token();
  const std::optional<protocol::BulkToken>& token = session_.channels().token();
  if (!token) return;
  attachment_.emplace(token->session, token->token);
  for (auto& [id, content] : contents_) {
    attachment_->add(id, session_.channels().find(id)->offered.terms.layout,
                     {content->holder.get(), content->receiver.get()});
  }
  end_ = world_.network.dial_local(session_.host().index(), Port::client, "bulk", *this);
}

void BulkClient::look_at(const BulkChannelId& id) {
  const ClientChannel& channel = *session_.channels().find(id);
  auto& content = contents_[id];
  if (!content) {
    content = std::make_unique<Content>();
    content->id = id;
    content->is_own = channel.offered.request != 0;
    const bulk::ContentLayout& layout = channel.offered.terms.layout;
    const auto place = static_cast<std::uint32_t>(std::hash<std::string>()(session_.private_name()) % 2048);
    const bulk::RepairIds repair_ids(place, place);
    if (content->is_own && !offered_.empty()) {
      content->offered = std::move(offered_.front());
      offered_.erase(offered_.begin());
      content->holder = std::make_unique<bulk::BulkHolder>(bulk::BulkHolder::Kind::source, layout, repair_ids);
      content->holder->handle_available(bulk::BlockSet::of_first(layout.blocks()));
    } else if (options_.accepts) {
      session_.say(id, BulkOutcome::accepted);
      content->store = std::make_unique<spindle::test::BulkStore>(*code_, *hasher_);
      content->store->is_hollow = options_.is_hollow;
      content->receiver = std::make_unique<bulk::BulkReceiver>(layout, *hasher_);
      if (options_.serves) {
        content->receiver->set_serves(true);
        content->holder = std::make_unique<bulk::BulkHolder>(bulk::BulkHolder::Kind::receiver, layout, repair_ids);
      }
    }
    if (attachment_) attachment_->add(id, layout, {content->holder.get(), content->receiver.get()});
  }
  if (channel.ended) {
    if (attachment_) attachment_->remove(id);
    return;
  }
  work(*content);
  const bool is_sealed = channel.is_sealed();
  if (content->receiver && is_sealed && !std::exchange(content->is_sealed, true)) {
    const auto& root = channel.sealed ? channel.sealed->root : *channel.offered.root;
    const std::uint64_t size = channel.sealed ? channel.sealed->size : channel.offered.terms.layout.size;
    SPINDLE_CHECK(content->receiver->handle_seal(now(), size, root));
  }
  if (content->receiver && content->receiver->is_done() && !std::exchange(content->is_told_done, true)) {
    session_.say(id, BulkOutcome::done);
  }
}

void BulkClient::work(Content& content) {
  const auto read = [&](std::uint64_t start, std::span<std::uint8_t> to) {
    if (options_.is_hollow) {
      std::fill(to.begin(), to.end(), std::uint8_t{0});
      return true;
    }
    const Bytes& bytes = content.content();
    if (start + to.size() > bytes.size()) return false;
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(start), to.size(), to.begin());
    return true;
  };
  if (content.receiver) {
    content.store->run_all(now(), *content.receiver);
    if (content.holder) content.holder->handle_available(content.receiver->written());
  }
  if (!content.holder) return;
  while (auto job = content.holder->take_job())
    content.holder->handle_loaded(bulk::run(std::move(*job), read, *code_, *hasher_));
  if (!content.is_own || content.is_sealed) return;
  const bulk::ContentLayout& layout = content.holder->layout();
  if (const auto root = content.holder->index().root(layout.blocks(), *hasher_)) {
    content.is_sealed = true;
    session_.seal(content.id, content.offered.size, *root);
  }
}

void BulkClient::stream_connected(StreamRef end) {
  if (end != end_) return;
  is_connected_ = true;
  flush();
}

void BulkClient::stream_readable(StreamRef end) {
  if (end != end_ || !attachment_) return;
  std::array<std::uint8_t, 64 << 10> bytes;
  for (;;) {
    const std::size_t read = world_.network.read(end_, bytes);
    if (read == 0) break;
    if (attachment_->handle_read(now(), ByteView(bytes).first(read))) return break_attachment();
  }
  for (auto& [id, content] : contents_) work(*content);
  flush();
}

void BulkClient::stream_closed(StreamRef end, std::string_view) {
  if (end != end_) return;
  end_ = StreamRef();
  break_attachment();
}

void BulkClient::flush() {
  if (!attachment_ || !is_connected_) return;
  for (;;) {
    for (auto& [id, content] : contents_) work(*content);
    attachment_->fill(now());
    const ByteView output = attachment_->output();
    if (output.empty()) return;
    const std::size_t taken = world_.network.write(end_, {&output, 1});
    attachment_->consume(taken);
    if (taken < output.size()) return;
  }
}

}  // namespace spindled::sim

#include "libclient/src/bulk_impl.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "libclient/common/names.h"
#include "libclient/common/utf8.h"
#include "libclient/src/deadline.h"

namespace spindle {

namespace {

constexpr unsigned kWorkersMax = 64;

std::error_code error_of(std::uint16_t code) { return {code, error_category()}; }

BulkGone to_public(const protocol::BulkGone& gone) { return {gone.done, gone.failed, gone.refused, gone.missing}; }

/// The directory and the last part.
std::pair<std::string, std::string> split(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {".", path};
  return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
}

/// Also of ".", and without what is behind the last part.
std::string name_of_directory(const std::string& path) {
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::canonical(path, error);
  return error ? std::string() : whole.filename().string();
}

}  // namespace

std::error_code Bulk::Impl::open(const BulkOptions& options) {
  if (options.workers == 0 || options.workers > kWorkersMax) return Errc::bad_argument;
  if (!host_->is_open()) return Errc::not_connected;
  if (options.keep_hashes) {
    hash_directory_ = options.hash_directory.empty() ? users_hash_directory() : options.hash_directory;
  }
  if (!io_.start(options.workers)) return Errc::connect_failed;
  if (host_->set_channel_listener(this)) return {};
  io_.stop();
  return Errc::bad_argument;
}

void Bulk::Impl::close() {
  host_->set_channel_listener(nullptr);
  fail_pending(Errc::not_connected);
  io_.stop();
}

// --- Calls ---

std::shared_ptr<BulkStore> Bulk::Impl::open_source(const BulkSource& source, protocol::ContentTerms& terms,
                                                   std::shared_ptr<StreamSource>& stream, StoreFailure& failure) {
  terms.name = source.name_;
  std::uint64_t size = 0;
  std::shared_ptr<BulkStore> store;
  if (source.read_) {
    size = bulk::kSizeUnknown;
    store = stream = std::make_shared<StreamSource>(source.read_);
    if (!source.path_.empty()) failure = stream->spool_to(source.path_);
    if (failure.error) return nullptr;
    terms.kind = protocol::ContentKind::file;
  } else if (source.content_ != nullptr) {
    size = source.content_->size();
    store = open_source_bytes(source.content_);
  } else if (source.is_directory_) {
    store = open_source_directory(source.path_, source.left_out_, size, failure);
    if (store == nullptr) return nullptr;
    terms.kind = protocol::ContentKind::directory;
    if (terms.name.empty()) terms.name = name_of_directory(source.path_);
  } else {
    store = open_source_file(source.path_, size, failure);
    if (store == nullptr) return nullptr;
    terms.kind = protocol::ContentKind::file;
    if (terms.name.empty()) terms.name = split(source.path_).second;
  }
  if (terms.name.size() > protocol::kContentNameBytesMax || !is_utf8(terms.name)) {
    failure = {Errc::bad_argument, "the name of a content is UTF-8 of up to 255 bytes"};
    return nullptr;
  }
  const std::optional<bulk::ContentLayout> layout = bulk::ContentLayout::of(size);
  if (!layout) {
    failure = {Errc::limit_exceeded, "the content is too large"};
    return nullptr;
  }
  terms.layout = *layout;
  return store;
}

Result<ChannelId> Bulk::Impl::offer(std::string_view group, const BulkSource& source, const OfferOptions& options) {
  if (host_->is_own_thread()) return Failure{Errc::would_block, "a handler cannot wait for the daemon's answer"};
  if (!is_group_name(group)) return Errc::bad_group_name;
  const bool is_weight = options.weight >= 1 && options.weight <= protocol::kChannelWeightMax;
  if (!is_weight) return Failure{Errc::bad_argument, "a weight is 1 to 100"};
  protocol::BulkOffer offer;
  offer.group = group;
  StoreFailure failure;
  const auto answer = std::make_shared<Offered>();
  const auto pending = std::make_shared<Pending>(Pending{nullptr, nullptr, answer});
  timespec began{};
  ::clock_gettime(CLOCK_REALTIME, &began);
  pending->store = open_source(source, offer.terms, pending->stream, failure);
  if (pending->store == nullptr) return Failure{failure.error, failure.text};
  pending->hashes = KeptHashes::of(*pending->store, offer.terms.layout, hash_directory_, began);
  if (pending->hashes != nullptr) pending->known = pending->hashes->load();
  offer.terms.bytes_per_second = options.bytes_per_second;
  offer.terms.weight = static_cast<std::uint8_t>(options.weight);
  offer.terms.linger_s = static_cast<std::uint32_t>(std::clamp<std::int64_t>(options.linger.count(), 0, UINT32_MAX));
  const std::error_code error =
      host_->ask_channel(std::move(offer), [this, pending](std::error_code why, std::uint32_t number) {
        const Lock lock(mutex_);
        if (!why) {
          pending_.emplace(number, std::move(*pending));
        } else if (pending->answer != nullptr) {
          pending->answer->give(why);
        }
      });
  if (error) return error;
  if (auto result = answer->wait(deadline_after(options.timeout))) return *std::move(result);
  // It may be taken later all the same, and goes on then: nobody would know of it.
  const Lock lock(mutex_);
  pending->answer = nullptr;
  for (auto& [number, each] : pending_) {
    if (each.answer == answer) each.answer = nullptr;
  }
  if (auto late = answer->wait({})) return *std::move(late);
  return Errc::timed_out;
}

std::shared_ptr<BulkStore> Bulk::Impl::make_sink(const Known& known, const BulkSink& sink, const AcceptOptions& options,
                                                 std::error_code& error) {
  const bool is_directory = known.kind == protocol::ContentKind::directory;
  if (is_directory &&
      (sink.kind_ == BulkSink::Kind::memory || sink.kind_ == BulkSink::Kind::stream || !known.layout.has_size())) {
    error = Errc::bad_argument;
    return nullptr;
  }
  if (sink.kind_ == BulkSink::Kind::stream) return make_received_stream(sink.write_, sink.path_);
  if (sink.kind_ == BulkSink::Kind::memory) {
    const bool fits = known.layout.has_size() && known.layout.size <= sink.bytes_max_;
    if (!fits) error = Errc::limit_exceeded;
    return fits ? make_received_bytes() : nullptr;
  }
  auto [directory, name] = sink.kind_ == BulkSink::Kind::file ? split(sink.path_) : std::pair(sink.path_, known.name);
  if (!is_file_name(name)) {
    error = Errc::bad_content_name;
    return nullptr;
  }
  if (is_directory) return make_received_directory(std::move(directory), std::move(name), options.replace);
  return make_received_file(std::move(directory), std::move(name), options.replace);
}

std::error_code Bulk::Impl::accept(const ChannelId& channel, const BulkSink& sink, const AcceptOptions& options) {
  if (!host_->is_open()) return Errc::not_connected;
  const Lock lock(mutex_);
  const auto found = known_.find(to_internal(channel));
  if (found == known_.end()) return Errc::unknown_channel;
  Known& known = found->second;
  if (known.is_own || known.is_taken) return Errc::bad_argument;
  std::error_code error;
  BulkTransfer::Acceptance acceptance{
      found->first, known.layout, known.root, make_sink(known, sink, options, error),
      options.serve && sink.kind_ != BulkSink::Kind::memory && sink.kind_ != BulkSink::Kind::stream};
  if (error) return error;
  known.is_taken = true;
  io_.run_soon([acceptance](BulkIo& io) { io.accept(acceptance); });
  return {};
}

std::error_code Bulk::Impl::refuse(const ChannelId& channel) {
  const bulk::BulkChannelId id = to_internal(channel);
  {
    const Lock lock(mutex_);
    const auto found = known_.find(id);
    if (found == known_.end()) return Errc::unknown_channel;
    if (found->second.is_own || found->second.is_taken) return Errc::bad_argument;
    found->second.is_taken = true;
  }
  return ask(protocol::BulkOutcomeSaid{0, id, protocol::BulkOutcome::refused, 0});
}

std::error_code Bulk::Impl::check_own(const bulk::BulkChannelId& id) {
  const Lock lock(mutex_);
  const auto found = known_.find(id);
  if (found == known_.end()) return Errc::unknown_channel;
  return found->second.is_own ? std::error_code() : Errc::bad_argument;
}

std::error_code Bulk::Impl::cancel(const ChannelId& channel) {
  const bulk::BulkChannelId id = to_internal(channel);
  if (const std::error_code error = check_own(id)) return error;
  return ask(protocol::BulkCancel{0, id});
}

std::error_code Bulk::Impl::set_rate(const ChannelId& channel, std::uint64_t bytes_per_second) {
  const bulk::BulkChannelId id = to_internal(channel);
  if (const std::error_code error = check_own(id)) return error;
  io_.run_soon([id, bytes_per_second](BulkIo& io) { io.set_rate(id, bytes_per_second); });
  return ask(protocol::BulkSetRate{0, id, bytes_per_second});
}

// --- What the session tells ---

std::optional<Event> Bulk::Impl::channel_news(protocol::BulkNews news) {
  const Lock lock(mutex_);
  return std::visit([this](auto& each) { return take(each); }, news);
}

std::optional<Event> Bulk::Impl::take(protocol::BulkOffered& offered) {
  const protocol::ContentTerms& terms = offered.terms;
  const auto [known, is_new] = known_.try_emplace(offered.channel);
  if (!is_new) {
    // A new session: what was accepted in the former one goes on.
    known->second.is_untold = false;
    io_.run_soon([id = offered.channel](BulkIo& io) { io.offered_again(id); });
    if (offered.root && !known->second.root) {
      protocol::BulkSealed sealed{offered.channel, terms.layout.size, *offered.root};
      take(sealed);
    }
    return std::nullopt;
  }
  known->second = {offered.request != 0, false, offered.group, terms.name, terms.kind, terms.layout,
                   offered.root,         {},    false};
  if (offered.request != 0) {
    const auto pending = pending_.find(offered.request);
    if (pending == pending_.end()) return std::nullopt;
    io_.run_soon([offer = BulkTransfer::Offer{offered.channel, terms.layout, pending->second.store,
                                              terms.bytes_per_second, pending->second.stream, pending->second.hashes,
                                              std::move(pending->second.known)}](BulkIo& io) { io.offer(offer); });
    if (pending->second.answer != nullptr) {
      pending->second.answer->give(to_public(offered.channel));
    } else {
      // Nobody has waited for so long.
      io_.run_soon([this, id = offered.channel](BulkIo&) { static_cast<void>(ask(protocol::BulkCancel{0, id})); });
    }
    pending_.erase(pending);
    return std::nullopt;
  }
  BulkOffered event{to_public(offered.channel),           offered.group, offered.source, terms.name,
                    static_cast<ContentKind>(terms.kind), std::nullopt,  offered.is_late};
  if (terms.layout.has_size()) event.size = terms.layout.size;
  return event;
}

std::optional<Event> Bulk::Impl::take(protocol::BulkSealed& sealed) {
  const auto found = known_.find(sealed.channel);
  if (found == known_.end()) return std::nullopt;
  found->second.root = sealed.root;
  if (const auto layout = found->second.layout.sealed(sealed.size)) found->second.layout = *layout;
  io_.run_soon([sealed](BulkIo& io) { io.seal(sealed.channel, sealed.size, sealed.root); });
  return std::nullopt;
}

std::optional<Event> Bulk::Impl::take(protocol::BulkComplete& complete) {
  BulkComplete event{
      to_public(complete.channel), std::move(complete.done), {}, std::move(complete.refused), to_public(complete.gone)};
  for (protocol::BulkComplete::Failed& each : complete.failed) {
    event.failed.push_back({std::move(each.name), error_of(each.code)});
  }
  return event;
}

std::optional<Event> Bulk::Impl::take(protocol::BulkEnded& ended) {
  const auto found = known_.find(ended.channel);
  if (found == known_.end()) return std::nullopt;
  BulkEnded event{to_public(ended.channel), static_cast<BulkEnded::Cause>(ended.why), found->second.failure.error,
                  found->second.failure.text};
  known_.erase(found);
  // A content that its source has taken back is of no use to anybody.
  const bool discards = ended.why == protocol::BulkEnd::cancelled;
  io_.run_soon([id = ended.channel, discards](BulkIo& io) { io.end(id, discards); });
  return event;
}

// Those that the client has offered itself go on.
std::vector<Event> Bulk::Impl::channels_left(std::string_view group) {
  const Lock lock(mutex_);
  std::vector<Event> events;
  std::erase_if(known_, [&](const auto& each) {
    const auto& [id, known] = each;
    if (known.is_own || known.group != group) return false;
    events.push_back(BulkEnded{to_public(id), BulkEnded::Cause::left, {}, {}});
    io_.run_soon([id = id](BulkIo& io) { io.end(id, false); });
    return true;
  });
  return events;
}

std::optional<Event> Bulk::Impl::take(protocol::BulkReturned& returned) {
  return BulkReturned{to_public(returned.channel), to_public(returned.gone), returned.present};
}

std::optional<Event> Bulk::Impl::take(protocol::BulkToken& token) {
  token_request_ = 0;
  io_.run_soon([token](BulkIo& io) { io.take_token(token); });
  return std::nullopt;
}

void Bulk::Impl::channel_answered(std::uint32_t request, std::error_code error) {
  if (!error) return;
  const Lock lock(mutex_);
  if (request == token_request_) {
    token_request_ = 0;
    io_.run_soon([](BulkIo& io) { io.token_refused(); });
  }
  const auto pending = pending_.find(request);
  if (pending == pending_.end()) return;
  if (pending->second.answer != nullptr) pending->second.answer->give(error);
  pending_.erase(pending);
}

void Bulk::Impl::session_began_anew() {
  fail_pending(Errc::connection_lost);
  const Lock lock(mutex_);
  token_request_ = 0;
  std::erase_if(known_, [](const auto& each) { return each.second.is_own; });
  for (auto& [id, known] : known_) known.is_untold = true;
  io_.run_soon([](BulkIo& io) { io.session_began_anew(); });
}

void Bulk::Impl::session_ended(std::error_code) {
  fail_pending(Errc::not_connected);
  io_.run_soon([](BulkIo& io) { io.session_ended(); });
}

void Bulk::Impl::fail_pending(std::error_code error) {
  const Lock lock(mutex_);
  for (auto& [number, pending] : pending_) {
    if (pending.answer != nullptr) pending.answer->give(error);
  }
  pending_.clear();
}

// --- For the bulk thread ---

std::error_code Bulk::Impl::ask(protocol::BulkRequest request) {
  if (!std::holds_alternative<protocol::BulkTokenRequest>(request)) {
    return host_->ask_channel(std::move(request), nullptr);
  }
  return host_->ask_channel(std::move(request), [this](std::error_code error, std::uint32_t number) {
    const Lock lock(mutex_);
    if (!error) {
      token_request_ = number;
    } else {
      io_.run_soon([](BulkIo& io) { io.token_refused(); });
    }
  });
}

void Bulk::Impl::give(Event event) {
  // Who does not take events gets the latest progress later.
  if (event.is<BulkProgress>() && !host_->has_room_for_events()) return;
  host_->add_event(std::move(event));
}

// What is told of a channel, and that it is over, are not to cross each other.
void Bulk::Impl::end_untold() {
  host_->add_events([this] {
    const Lock lock(mutex_);
    std::vector<Event> events;
    std::erase_if(known_, [&](const auto& each) {
      const auto& [id, known] = each;
      if (!known.is_untold) return false;
      events.push_back(BulkEnded{to_public(id), BulkEnded::Cause::abandoned, {}, {}});
      io_.run_soon([id = id](BulkIo& io) { io.end(id, false); });
      return true;
    });
    return events;
  });
}

void Bulk::Impl::note_failure(const bulk::BulkChannelId& channel, const StoreFailure& failure) {
  const Lock lock(mutex_);
  if (const auto found = known_.find(channel); found != known_.end()) found->second.failure = failure;
}

}  // namespace spindle

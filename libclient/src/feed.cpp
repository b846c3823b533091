#include "spindle/feed.h"

#include "libclient/src/connection_impl.h"

namespace spindle {

/// A feed of a connection, which it outlives where the program lets it.
class Feed::Impl {
 public:
  Impl(std::shared_ptr<Connection::Impl> connection, FeedId id) : connection_(std::move(connection)), id_(id) {}

  FeedId id() const { return id_; }
  /// Null in a child of fork().
  Connection::Impl* connection() const { return connection_->is_inherited() ? nullptr : connection_.get(); }
  /// What it stands on must not be touched in a child of fork().
  void let_go() {
    if (connection_->is_inherited()) ForkGuard::keep_inherited(std::move(connection_));
  }

 private:
  std::shared_ptr<Connection::Impl> connection_;
  const FeedId id_;
};

Feed::Feed() noexcept = default;
Feed::Feed(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
Feed::Feed(Feed&&) noexcept = default;

Feed& Feed::operator=(Feed&& other) noexcept {
  if (this != &other) {
    close();
    impl_ = std::move(other.impl_);
  }
  return *this;
}

Feed::~Feed() { close(); }

void Feed::close() noexcept {
  if (!impl_) return;
  if (Connection::Impl* connection = impl_->connection()) connection->close_feed(impl_->id());
  impl_->let_go();
  impl_.reset();
}

FeedId Feed::id() const noexcept { return impl_ ? impl_->id() : 0; }

bool Feed::is_open() const noexcept {
  const Connection::Impl* connection = impl_ ? impl_->connection() : nullptr;
  return connection != nullptr && connection->is_feed_open(impl_->id());
}

std::error_code Feed::try_send(const Payload& message) {
  if (!impl_) return Errc::unknown_feed;
  Connection::Impl* connection = impl_->connection();
  return connection == nullptr ? Errc::not_connected : connection->send_feed(impl_->id(), message);
}

std::optional<FeedFlow> Feed::flow() const {
  const Connection::Impl* connection = impl_ ? impl_->connection() : nullptr;
  return connection == nullptr ? std::nullopt : connection->feed_flow(impl_->id());
}

std::uint64_t Feed::dropped() const {
  const Connection::Impl* connection = impl_ ? impl_->connection() : nullptr;
  return connection == nullptr ? 0 : connection->feed_dropped(impl_->id());
}

Result<Feed> Connection::open_feed(std::string_view group, const FeedOptions& options) {
  Impl* impl = usable();
  if (impl == nullptr) return Errc::not_connected;
  const Result<FeedId> id = impl->open_feed(group, options);
  if (!id) return Failure{id.error(), id.text()};
  return Feed(std::make_unique<Feed::Impl>(impl_, *id));
}

std::error_code Connection::listen(std::string_view group, const ListenOptions& options) {
  Impl* impl = usable();
  return impl == nullptr ? Errc::not_connected : impl->listen(group, options);
}

std::error_code Connection::stop_listening(std::string_view group) {
  Impl* impl = usable();
  return impl == nullptr ? Errc::not_connected : impl->stop_listening(group);
}

}  // namespace spindle

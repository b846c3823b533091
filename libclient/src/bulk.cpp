#include "spindle/bulk.h"

#include "libclient/src/bulk_impl.h"

namespace spindle {

Bulk::Bulk() noexcept = default;
Bulk::Bulk(std::shared_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
Bulk::Bulk(Bulk&&) noexcept = default;

Bulk& Bulk::operator=(Bulk&& other) noexcept {
  if (this != &other) {
    let_go();
    impl_ = std::move(other.impl_);
  }
  return *this;
}

Bulk::~Bulk() { let_go(); }

void Bulk::let_go() {
  if (!impl_) return;
  if (impl_->is_inherited()) return ForkGuard::keep_inherited(std::move(impl_));
  impl_->close();
  impl_.reset();
}

Bulk::Impl* Bulk::usable() const noexcept { return impl_ && !impl_->is_inherited() ? impl_.get() : nullptr; }

Result<Bulk> BulkOpener::open(std::shared_ptr<BulkHost> host, const BulkOptions& options,
                              std::chrono::nanoseconds retold_within) {
  auto impl = std::make_shared<Bulk::Impl>(std::move(host), retold_within);
  if (const std::error_code error = impl->open(options)) return error;
  return Bulk(std::move(impl));
}

Result<ChannelId> Bulk::offer(std::string_view group, const BulkSource& source, const OfferOptions& options) {
  Impl* impl = usable();
  if (impl == nullptr) return Errc::not_connected;
  return impl->offer(group, source, options);
}

std::error_code Bulk::accept(const ChannelId& channel, const BulkSink& sink, const AcceptOptions& options) {
  Impl* impl = usable();
  return impl == nullptr ? Errc::not_connected : impl->accept(channel, sink, options);
}

std::error_code Bulk::refuse(const ChannelId& channel) {
  Impl* impl = usable();
  return impl == nullptr ? Errc::not_connected : impl->refuse(channel);
}

std::error_code Bulk::cancel(const ChannelId& channel) {
  Impl* impl = usable();
  return impl == nullptr ? Errc::not_connected : impl->cancel(channel);
}

std::error_code Bulk::set_rate(const ChannelId& channel, std::uint64_t bytes_per_second) {
  Impl* impl = usable();
  return impl == nullptr ? Errc::not_connected : impl->set_rate(channel, bytes_per_second);
}

}  // namespace spindle

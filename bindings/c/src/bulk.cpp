// Offering and receiving by bulk channels.
#include <memory>

#include "bindings/c/src/handles.h"

namespace spindle::c {
namespace {

/// Of a bulk and a channel that there are.
template <typename Call>
spindle_code on_channel(spindle_bulk* bulk, const spindle_channel* channel, Call&& call) noexcept {
  if (bulk == nullptr || channel == nullptr) return SPINDLE_ERROR_BAD_ARGUMENT;
  return guarded([&] { return call(bulk->value, *id_of(channel)); });
}

spindle_channel* copy_of(const ChannelId& id) {
  return reinterpret_cast<spindle_channel*>(std::make_unique<ChannelId>(id).release());
}

}  // namespace
}  // namespace spindle::c

using namespace spindle::c;
using spindle::Bulk;
using spindle::ChannelId;

spindle_bulk_options* spindle_bulk_options_new(void) { return new (std::nothrow) spindle_bulk_options(); }

void spindle_bulk_options_free(spindle_bulk_options* options) { delete options; }

spindle_code spindle_bulk_options_set_workers(spindle_bulk_options* options, unsigned workers) {
  constexpr unsigned kWorkersMax = 64;
  if (options == nullptr || workers == 0 || workers > kWorkersMax) return SPINDLE_ERROR_BAD_ARGUMENT;
  options->value.workers = workers;
  return 0;
}

spindle_code spindle_bulk_options_set_keep_hashes(spindle_bulk_options* options, int keep) {
  if (options == nullptr) return SPINDLE_ERROR_BAD_ARGUMENT;
  options->value.keep_hashes = keep != 0;
  return 0;
}

spindle_code spindle_bulk_options_set_hash_directory(spindle_bulk_options* options, const char* path) {
  if (options == nullptr || path == nullptr) return SPINDLE_ERROR_BAD_ARGUMENT;
  return guarded([&] { options->value.hash_directory = path; });
}

spindle_code spindle_bulk_open(spindle_connection* connection, const spindle_bulk_options* options,
                               spindle_bulk** bulk) {
  if (bulk == nullptr) return SPINDLE_ERROR_BAD_ARGUMENT;
  *bulk = nullptr;
  if (connection == nullptr) return SPINDLE_ERROR_BAD_ARGUMENT;
  return guarded([&] {
    auto made = std::make_unique<spindle_bulk>();
    auto result = Bulk::open(connection->value, options == nullptr ? spindle::BulkOptions() : options->value);
    if (!result) return result.error();
    made->value = *std::move(result);
    *bulk = made.release();
    return std::error_code();
  });
}

void spindle_bulk_close(spindle_bulk* bulk) { delete bulk; }

spindle_channel* spindle_channel_copy(const spindle_channel* channel) {
  spindle_channel* copy = nullptr;
  if (channel != nullptr) (void)guarded([&] { copy = copy_of(*id_of(channel)); });
  return copy;
}

void spindle_channel_free(spindle_channel* channel) { delete id_of(channel); }

int spindle_channel_equal(const spindle_channel* one, const spindle_channel* other) {
  return one != nullptr && other != nullptr && *id_of(one) == *id_of(other) ? 1 : 0;
}

spindle_bytes spindle_channel_daemon(const spindle_channel* channel) {
  return channel == nullptr ? spindle_bytes{nullptr, 0} : bytes_of(id_of(channel)->daemon);
}

uint64_t spindle_channel_incarnation(const spindle_channel* channel) {
  return channel == nullptr ? 0 : id_of(channel)->incarnation;
}

uint64_t spindle_channel_number(const spindle_channel* channel) {
  return channel == nullptr ? 0 : id_of(channel)->number;
}

spindle_offer_options* spindle_offer_options_new(void) { return new (std::nothrow) spindle_offer_options(); }

void spindle_offer_options_free(spindle_offer_options* options) { delete options; }

spindle_code spindle_offer_options_set_rate(spindle_offer_options* options, uint64_t bytes_per_second) {
  if (options == nullptr) return SPINDLE_ERROR_BAD_ARGUMENT;
  options->value.bytes_per_second = bytes_per_second;
  return 0;
}

spindle_code spindle_offer_options_set_weight(spindle_offer_options* options, unsigned weight) {
  constexpr unsigned kWeightMax = 100;
  if (options == nullptr || weight == 0 || weight > kWeightMax) return SPINDLE_ERROR_BAD_ARGUMENT;
  options->value.weight = weight;
  return 0;
}

spindle_code spindle_offer_options_set_linger(spindle_offer_options* options, int64_t linger_ns) {
  if (options == nullptr) return SPINDLE_ERROR_BAD_ARGUMENT;
  // Not less than what was asked for, and no sum that leaves the numbers there are.
  const std::chrono::nanoseconds linger = duration_of(linger_ns);
  options->value.linger = std::chrono::ceil<std::chrono::seconds>(linger);
  return 0;
}

spindle_code spindle_bulk_offer(spindle_bulk* bulk, spindle_bytes group, spindle_bulk_source* source,
                                const spindle_offer_options* options, int64_t timeout_ns, spindle_channel** channel,
                                char* text, size_t room) {
  write_text({}, text, room);
  if (channel != nullptr) *channel = nullptr;
  if (bulk == nullptr || source == nullptr || !are_bytes(group)) return SPINDLE_ERROR_BAD_ARGUMENT;
  return guarded([&] {
    spindle::OfferOptions how = options == nullptr ? spindle::OfferOptions() : options->value;
    how.timeout = duration_of(timeout_ns);
    source->left_out.clear();
    auto id = channel == nullptr ? nullptr : std::make_unique<ChannelId>();
    auto result = bulk->value.offer(text_of(group), source->value, how);
    if (!result) {
      write_text(result.text(), text, room);
      return result.error();
    }
    if (id != nullptr) {
      *id = *std::move(result);
      *channel = reinterpret_cast<spindle_channel*>(id.release());
    }
    return std::error_code();
  });
}

spindle_code spindle_bulk_accept(spindle_bulk* bulk, const spindle_channel* channel, const spindle_bulk_sink* sink,
                                 unsigned flags) {
  constexpr unsigned kKnown = SPINDLE_ACCEPT_REPLACE | SPINDLE_ACCEPT_NOT_SERVING;
  if (sink == nullptr || (flags & ~kKnown) != 0) return SPINDLE_ERROR_BAD_ARGUMENT;
  const spindle::AcceptOptions options{(flags & SPINDLE_ACCEPT_REPLACE) != 0,
                                       (flags & SPINDLE_ACCEPT_NOT_SERVING) == 0};
  return on_channel(bulk, channel,
                    [&](Bulk& value, const ChannelId& id) { return value.accept(id, sink->value, options); });
}

spindle_code spindle_bulk_refuse(spindle_bulk* bulk, const spindle_channel* channel) {
  return on_channel(bulk, channel, [](Bulk& value, const ChannelId& id) { return value.refuse(id); });
}

spindle_code spindle_bulk_cancel(spindle_bulk* bulk, const spindle_channel* channel) {
  return on_channel(bulk, channel, [](Bulk& value, const ChannelId& id) { return value.cancel(id); });
}

spindle_code spindle_bulk_set_rate(spindle_bulk* bulk, const spindle_channel* channel, uint64_t bytes_per_second) {
  return on_channel(bulk, channel,
                    [&](Bulk& value, const ChannelId& id) { return value.set_rate(id, bytes_per_second); });
}

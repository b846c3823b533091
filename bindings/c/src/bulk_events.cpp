// The fields of events of bulk channels.
#include "bindings/c/src/events.h"

namespace spindle::c {
namespace {

std::int64_t size_of(const std::optional<std::uint64_t>& size) { return size ? static_cast<std::int64_t>(*size) : -1; }

/// Null where the event is something else.
template <typename T>
const ChannelId* channel_in(const spindle_event* event) {
  const T* value = content<T>(event);
  return value == nullptr ? nullptr : &value->channel;
}

/// The first channel that there is; null where the event is none of these.
template <typename... Types>
const ChannelId* channel_of(const spindle_event* event) {
  const ChannelId* found = nullptr;
  (void)((found = channel_in<Types>(event)) || ...);
  return found;
}

}  // namespace
}  // namespace spindle::c

using namespace spindle::c;
using spindle::BulkComplete;
using spindle::BulkEnded;
using spindle::BulkGone;
using spindle::BulkOffered;
using spindle::BulkProgress;
using spindle::BulkReceived;
using spindle::BulkReturned;
using spindle::BulkStalled;

const spindle_channel* spindle_bulk_channel(const spindle_event* event) {
  const auto* id =
      channel_of<BulkOffered, BulkProgress, BulkReceived, BulkComplete, BulkEnded, BulkStalled, BulkReturned>(event);
  return id == nullptr ? nullptr : handle_of(*id);
}

int64_t spindle_bulk_size(const spindle_event* event) {
  if (const auto* offered = content<BulkOffered>(event)) return size_of(offered->size);
  if (const auto* progress = content<BulkProgress>(event)) return size_of(progress->size);
  return -1;
}

spindle_bytes spindle_bulk_text(const spindle_event* event) {
  return content<BulkEnded>(event) != nullptr ? text_in(event, &BulkEnded::text) : text_in(event, &BulkReceived::text);
}

spindle_bytes spindle_bulk_offered_source(const spindle_event* event) { return text_in(event, &BulkOffered::source); }

spindle_bytes spindle_bulk_offered_name(const spindle_event* event) { return text_in(event, &BulkOffered::name); }

unsigned spindle_bulk_offered_content(const spindle_event* event) { return enumerator_in(event, &BulkOffered::kind); }

int spindle_bulk_offered_is_late(const spindle_event* event) { return number_in(event, &BulkOffered::late) ? 1 : 0; }

uint64_t spindle_bulk_progress_bytes(const spindle_event* event) { return number_in(event, &BulkProgress::bytes); }

uint64_t spindle_bulk_progress_rate(const spindle_event* event) {
  return number_in(event, &BulkProgress::bytes_per_second);
}

spindle_bytes spindle_bulk_received_path(const spindle_event* event) { return text_in(event, &BulkReceived::path); }

spindle_bytes spindle_bulk_received_bytes(const spindle_event* event) {
  const auto* received = content<BulkReceived>(event);
  return received == nullptr ? spindle_bytes{nullptr, 0}
                             : spindle_bytes{received->bytes.data(), received->bytes.size()};
}

size_t spindle_bulk_complete_name_count(const spindle_event* event, unsigned list) {
  const auto* complete = content<BulkComplete>(event);
  if (complete == nullptr) return 0;
  if (list == SPINDLE_BULK_DONE) return complete->done.size();
  if (list == SPINDLE_BULK_FAILED) return complete->failed.size();
  return list == SPINDLE_BULK_REFUSED ? complete->refused.size() : 0;
}

spindle_bytes spindle_bulk_complete_name_at(const spindle_event* event, unsigned list, size_t index) {
  if (index >= spindle_bulk_complete_name_count(event, list)) return spindle_bytes{nullptr, 0};
  const auto* complete = content<BulkComplete>(event);
  if (list == SPINDLE_BULK_FAILED) return bytes_of(complete->failed[index].name);
  return name_at(list == SPINDLE_BULK_DONE ? complete->done : complete->refused, index);
}

spindle_code spindle_bulk_complete_code_at(const spindle_event* event, size_t index) {
  if (index >= spindle_bulk_complete_name_count(event, SPINDLE_BULK_FAILED)) return 0;
  return code_of(content<BulkComplete>(event)->failed[index].error);
}

uint64_t spindle_bulk_gone(const spindle_event* event, unsigned list) {
  const auto* complete = content<BulkComplete>(event);
  const auto* returned = content<BulkReturned>(event);
  if (complete == nullptr && returned == nullptr) return 0;
  const BulkGone& gone = complete != nullptr ? complete->gone : returned->gone;
  if (list == SPINDLE_BULK_DONE) return gone.done;
  if (list == SPINDLE_BULK_FAILED) return gone.failed;
  if (list == SPINDLE_BULK_REFUSED) return gone.refused;
  return list == SPINDLE_BULK_MISSING ? gone.missing : 0;
}

uint64_t spindle_bulk_returned_present(const spindle_event* event) { return number_in(event, &BulkReturned::present); }

unsigned spindle_bulk_ended_cause(const spindle_event* event) { return enumerator_in(event, &BulkEnded::cause); }

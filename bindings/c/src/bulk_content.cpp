// What is offered by bulk channels, and where it goes.
#include <stdexcept>

#include "bindings/c/src/callbacks.h"

namespace spindle::c {
namespace {

/// A handle that is made with new; null without memory.
template <typename Handle, typename Make>
Handle* made(Make&& make) noexcept {
  Handle* handle = nullptr;
  (void)guarded([&] { handle = new Handle(make()); });
  return handle;
}

std::optional<std::size_t> bytes_read(std::int64_t answer, std::size_t room) {
  if (answer == SPINDLE_READ_AGAIN) return std::nullopt;
  if (answer < 0) throw std::runtime_error("the program cannot read its stream");
  if (static_cast<std::uint64_t>(answer) > room)
    throw std::runtime_error("the program has read more than there is room");
  return static_cast<std::size_t>(answer);
}

}  // namespace
}  // namespace spindle::c

using namespace spindle::c;
using spindle::BulkSink;
using spindle::BulkSource;

spindle_bulk_source* spindle_bulk_source_file(const char* path) {
  if (path == nullptr) return nullptr;
  return made<spindle_bulk_source>([&] { return spindle_bulk_source{BulkSource::file(path), {}, {}, {}, {}}; });
}

spindle_bulk_source* spindle_bulk_source_directory(const char* path) {
  if (path == nullptr) return nullptr;
  return made<spindle_bulk_source>([&] { return spindle_bulk_source{BulkSource::directory(path), {}, path, {}, {}}; });
}

spindle_bulk_source* spindle_bulk_source_bytes(spindle_bytes content) {
  if (!are_bytes(content)) return nullptr;
  return made<spindle_bulk_source>([&] {
    const std::string_view bytes = text_of(content);
    return spindle_bulk_source{BulkSource::bytes({bytes.begin(), bytes.end()}), {}, {}, {}, {}};
  });
}

spindle_bulk_source* spindle_bulk_source_stream(spindle_bulk_read read, void* user, spindle_bulk_release release) {
  if (read == nullptr) return nullptr;
  return with_user<spindle_bulk_source>(user, release,
                                        [read](const std::shared_ptr<User>& held) {
                                          const BulkSource::Read call = [read, held](std::span<std::uint8_t> to) {
                                            return bytes_read(read(held->value(), to.data(), to.size()), to.size());
                                          };
                                          return std::make_unique<spindle_bulk_source>(
                                              spindle_bulk_source{BulkSource::stream(call, {}), {}, {}, call, {}});
                                        })
      .release();
}

void spindle_bulk_source_free(spindle_bulk_source* source) { delete source; }

spindle_code spindle_bulk_source_set_name(spindle_bulk_source* source, const char* name) {
  if (source == nullptr) return SPINDLE_ERROR_BAD_ARGUMENT;
  return guarded([&] {
    source->name = text_or_empty(name);
    source->value.named(source->name);
  });
}

spindle_code spindle_bulk_source_set_spool(spindle_bulk_source* source, const char* path) {
  if (source == nullptr || !source->read) return SPINDLE_ERROR_BAD_ARGUMENT;
  return guarded([&] { source->value = BulkSource::stream(source->read, source->name, text_or_empty(path)); });
}

spindle_code spindle_bulk_source_set_leave_out(spindle_bulk_source* source, int leave_out) {
  if (source == nullptr || source->directory.empty()) return SPINDLE_ERROR_BAD_ARGUMENT;
  return guarded([&] {
    source->value = BulkSource::directory(source->directory, leave_out != 0 ? &source->left_out : nullptr);
    source->value.named(source->name);
  });
}

size_t spindle_bulk_source_left_out_count(const spindle_bulk_source* source) {
  return source == nullptr ? 0 : source->left_out.size();
}

spindle_bytes spindle_bulk_source_left_out_at(const spindle_bulk_source* source, size_t index) {
  return source == nullptr ? spindle_bytes{nullptr, 0} : name_at(source->left_out, index);
}

spindle_bulk_sink* spindle_bulk_sink_file(const char* path) {
  if (path == nullptr) return nullptr;
  return made<spindle_bulk_sink>([&] { return spindle_bulk_sink{BulkSink::file(path), {}}; });
}

spindle_bulk_sink* spindle_bulk_sink_directory(const char* path) {
  if (path == nullptr) return nullptr;
  return made<spindle_bulk_sink>([&] { return spindle_bulk_sink{BulkSink::directory(path), {}}; });
}

spindle_bulk_sink* spindle_bulk_sink_memory(size_t bytes_max) {
  return made<spindle_bulk_sink>([&] { return spindle_bulk_sink{BulkSink::memory(bytes_max), {}}; });
}

spindle_bulk_sink* spindle_bulk_sink_stream(spindle_bulk_write write, void* user, spindle_bulk_release release) {
  if (write == nullptr) return nullptr;
  return with_user<spindle_bulk_sink>(
             user, release,
             [write](const std::shared_ptr<User>& held) {
               const BulkSink::Write call = [write, held](std::span<const std::uint8_t> block) {
                 return write(held->value(), {block.data(), block.size()}) == 0;
               };
               return std::make_unique<spindle_bulk_sink>(spindle_bulk_sink{BulkSink::stream(call), call});
             })
      .release();
}

void spindle_bulk_sink_free(spindle_bulk_sink* sink) { delete sink; }

spindle_code spindle_bulk_sink_set_temporary_directory(spindle_bulk_sink* sink, const char* path) {
  if (sink == nullptr || !sink->write) return SPINDLE_ERROR_BAD_ARGUMENT;
  return guarded([&] { sink->value = BulkSink::stream(sink->write, text_or_empty(path)); });
}

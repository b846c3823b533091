// What a driver offers and receives by bulk channels.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>

#include "spindle/bulk.h"
#include "tests/conformance/drivers/cpp/words.h"

namespace spindle::conformance {

/// Channels by the names that the runner knows them by, and what streams have brought of them.
class Contents {
 public:
  void note(const ChannelId& channel) {
    const std::lock_guard lock(mutex_);
    channels_.emplace(to_string(channel), channel);
  }
  ChannelId channel_of(const Call& call) const {
    const std::lock_guard lock(mutex_);
    const auto found = channels_.find(call.text("channel"));
    if (found == channels_.end()) throw std::invalid_argument("unknown channel: " + call.text("channel"));
    return found->second;
  }

  static BulkSource source_of(const Call& call) {
    BulkSource source = unnamed_source_of(call);
    if (call.has("name")) source.named(call.text("name"));
    return source;
  }

  BulkSink sink_of(const Call& call) {
    const std::string kind = call.text("sink");
    if (kind == "file") return BulkSink::file(call.text("path"));
    if (kind == "directory") return BulkSink::directory(call.text("path"));
    if (kind == "memory") return BulkSink::memory(call.integer("bytes_max"));
    auto collected = std::make_shared<std::string>();
    const std::lock_guard lock(mutex_);
    streams_[call.text("channel")] = collected;
    return BulkSink::stream([collected](std::span<const std::uint8_t> block) {
      collected->append(block.begin(), block.end());
      return true;
    });
  }

  /// What a stream has brought, where the channel's content went into one: as if it had been received in memory.
  void add_stream(BulkReceived& received) const {
    const std::lock_guard lock(mutex_);
    const auto found = streams_.find(to_string(received.channel));
    if (found != streams_.end()) received.bytes.assign(found->second->begin(), found->second->end());
  }

 private:
  static BulkSource unnamed_source_of(const Call& call) {
    const std::string kind = call.text("kind");
    if (kind == "file") return BulkSource::file(call.text("path"));
    if (kind == "directory") return BulkSource::directory(call.text("path"));
    const std::string content = payload(call.integer("seed"), call.integer("size"));
    if (kind == "bytes") return BulkSource::bytes({content.begin(), content.end()});
    return BulkSource::stream(
        [content, at = std::size_t{0}](std::span<std::uint8_t> to) mutable {
          const std::size_t size = std::min(to.size(), content.size() - at);
          std::copy_n(content.begin() + static_cast<std::ptrdiff_t>(at), size, to.begin());
          at += size;
          return std::optional(size);
        },
        {}, call.text("spool"));
  }

  mutable std::mutex mutex_;
  std::map<std::string, ChannelId> channels_;
  std::map<std::string, std::shared_ptr<std::string>> streams_;
};

}  // namespace spindle::conformance

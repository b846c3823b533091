// What a simulated program has on its disk of the contents that it receives, and finds there when it runs again.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "libclient/bulk/resume_state.h"
#include "libclient/codes/counting_code.h"
#include "libclient/codes/raptorq_code.h"
#include "tests/sim/client_channels.h"
#include "tests/support/bulk_store.h"
#include "tests/support/sha256.h"

namespace spindled::sim {

/// Of each channel the content, as far as it is there, and two states, written in turn: where one was not written to
/// its end, the other one is whole.
class ContentDisk {
 public:
  using Bytes = std::vector<std::uint8_t>;

  enum class Kind : std::uint8_t {
    bytes,   // coded by RaptorQ
    hollow,  // contents are sizes: their bytes are zeros that nobody keeps or hashes, and the code counts symbols
  };
  explicit ContentDisk(Kind kind = Kind::bytes) : kind_(kind) {
    if (is_hollow()) {
      code_ = std::make_unique<spindle::codes::CountingCode>(kCountingSeed);
      hasher_ = std::make_unique<LengthHasher>();
    } else {
      code_ = std::make_unique<spindle::codes::RaptorQCode>();
      hasher_ = std::make_unique<spindle::test::Sha256>();
    }
  }
  bool is_hollow() const { return kind_ == Kind::hollow; }

  /// Bytes of a content for which there is room when it is offered,
  std::size_t capacity = SIZE_MAX;
  /// and behind which writes fail all the same.
  std::size_t fills_at = SIZE_MAX;
  /// So many of the next writes of a content fail.
  std::uint32_t writes_to_fail = 0;
  /// So many of the next reads of symbols that were stored fail.
  std::uint32_t reads_to_fail = 0;
  /// So many of the next blocks that are read for others are not what was written.
  std::uint32_t reads_to_spoil = 0;
  /// So many of the next blocks that are read for others are changed behind the check of their hashes: a client that
  /// gives what is wrong.
  std::uint32_t blocks_to_forge = 0;

  /// What is offered next has the same content as that channel had: it goes on with what is there of it.
  std::optional<BulkChannelId> goes_on_with;

  spindle::test::BulkStore& store_of(const BulkChannelId& channel) {
    File& file = file_of(channel);
    if (!file.store) file.store = std::make_unique<spindle::test::BulkStore>(*code_, *hasher_);
    file.store->is_hollow = is_hollow();
    file.store->capacity = fills_at;
    file.store->writes_to_fail = std::exchange(writes_to_fail, 0);
    file.store->reads_to_fail = std::exchange(reads_to_fail, 0);
    return *file.store;
  }
  void write_state(const BulkChannelId& channel, const spindle::bulk::ResumeState& state) {
    File& file = file_of(channel);
    file.newest = 1 - file.newest;
    file.states[file.newest] = state.encode();
  }
  /// The same where a block of the former state is missing again: that is gone before anything else is written.
  void take_back(const BulkChannelId& channel, const spindle::bulk::ResumeState& state) {
    File& file = file_of(channel);
    file.states[0] = file.states[1] = state.encode();
  }
  /// The latest that is whole.
  std::optional<spindle::bulk::ResumeState> read_state(const BulkChannelId& channel) {
    const File& file = file_of(channel);
    auto state = spindle::bulk::ResumeState::decode(file.states[file.newest]);
    return state ? std::move(state) : spindle::bulk::ResumeState::decode(file.states[1 - file.newest]);
  }
  /// The power was lost while the last state of each content was written: its end is not there, nor are the blocks that
  /// it has more than the one before.
  void tear_states() {
    for (auto& [channel, file] : files_) {
      Bytes& bytes = file.states[file.newest];
      const auto newest = spindle::bulk::ResumeState::decode(bytes);
      const auto before = spindle::bulk::ResumeState::decode(file.states[1 - file.newest]);
      if (!newest) continue;
      std::fill(bytes.end() - 4, bytes.end(), 0);
      for (std::uint32_t block = 0; block < newest->layout.blocks(); ++block) {
        if (!newest->written.contains(block) || (before && before->written.contains(block))) continue;
        std::fill_n(file.store->content.begin() + static_cast<std::ptrdiff_t>(newest->layout.start_of(block)),
                    newest->layout.bytes_of(block), std::uint8_t{0});
      }
    }
  }

  const spindle::codes::ErasureCode& code() const { return *code_; }
  const spindle::bulk::Hasher& hasher() const { return *hasher_; }

 private:
  struct File {
    std::unique_ptr<spindle::test::BulkStore> store;
    std::array<Bytes, 2> states;
    std::size_t newest = 0;
  };

  File& file_of(const BulkChannelId& channel) {
    const auto [file, is_new] = files_.try_emplace(channel);
    if (is_new && goes_on_with) file->second = std::move(files_.at(*std::exchange(goes_on_with, std::nullopt)));
    return file->second;
  }

  static constexpr std::uint64_t kCountingSeed = 1;

  /// Of contents that are not there: a block is known by its length, whatever stands in its memory. An index of such
  /// hashes is hashed as any, since daemons do so, too.
  class LengthHasher final : public spindle::bulk::Hasher {
   public:
    spindle::bulk::BlockHash hash(ByteView bytes) const override {
      if (is_index(bytes)) return spindle::test::Sha256().hash(bytes);
      return of_length(bytes.size());
    }

   private:
    static spindle::bulk::BlockHash of_length(std::uint64_t length) {
      spindle::bulk::BlockHash hash{1};
      spindle::Writer(hash.data() + 1).u64(length);
      return hash;
    }
    /// Whether it consists of hashes of lengths.
    static bool is_index(ByteView bytes) {
      if (bytes.size() % spindle::bulk::kBlockHashBytes != 0) return false;
      for (; !bytes.empty(); bytes = bytes.subspan(spindle::bulk::kBlockHashBytes)) {
        const std::uint64_t length = spindle::Reader(bytes.subspan(1)).u64();
        const spindle::bulk::BlockHash hash = of_length(length);
        if (!std::equal(hash.begin(), hash.end(), bytes.begin())) return false;
      }
      return true;
    }
  };

  Kind kind_;
  std::unique_ptr<const spindle::codes::ErasureCode> code_;
  std::unique_ptr<const spindle::bulk::Hasher> hasher_;
  std::map<BulkChannelId, File> files_;
};

}  // namespace spindled::sim

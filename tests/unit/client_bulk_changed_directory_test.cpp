// A directory that is offered again, and has become another one of the same size.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "libclient/bulk/crc32c.h"
#include "libclient/src/bulk_transfer.h"
#include "tests/support/files.h"
#include "tests/unit/client_bulk_host.h"

namespace spindle {
namespace {

using namespace std::chrono_literals;
using protocol::BulkOutcome;
namespace fs = std::filesystem;

constexpr std::uint32_t kSymbols = 16, kSymbolBytes = 1'024;

class ChangedDirectories : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directory(from());
    fs::create_directory(to());
  }
  std::string from() const { return directory_.path("from"); }
  std::string to() const { return directory_.path("to"); }

  void make(std::size_t one, std::size_t other) {
    std::ofstream(from() + "/one") << std::string(one, '1');
    std::ofstream(from() + "/other") << std::string(other, '2');
    StoreFailure failure;
    std::uint64_t size = 0;
    const auto source = open_source_directory(from(), nullptr, size, failure);
    ASSERT_NE(source, nullptr) << failure.text;
    content_.resize(size);
    ASSERT_TRUE(source->read(0, content_));
    layout_ = {kSymbols * kSymbolBytes, kSymbolBytes, size};
    for (std::uint32_t block = 0; block < layout_.blocks(); ++block) {
      index_.set(block, host_.hasher().hash(block_of(block)));
    }
  }
  ByteView block_of(std::uint32_t block) const {
    return ByteView(content_).subspan(layout_.start_of(block), layout_.bytes_of(block));
  }
  void hear(bulk::BulkReceiver& receiver, std::uint32_t block) const {
    for (std::uint32_t esi = 0; esi < layout_.symbols_of(block); ++esi) {
      std::vector<std::uint8_t> bytes(kSymbolBytes);
      const ByteView from = block_of(block).subspan(esi * kSymbolBytes);
      std::copy_n(from.begin(), std::min<std::size_t>(from.size(), kSymbolBytes), bytes.begin());
      receiver.handle_symbol(now_, {1, 0, 0, block, esi, bulk::crc32c(bytes), bytes}, 1);
    }
  }
  static std::string text(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  const test::TemporaryDirectory directory_;
  test::BulkHost host_;
  std::vector<std::uint8_t> content_;
  bulk::ContentLayout layout_;
  bulk::BlockIndex index_;
  bulk::Nanoseconds now_ = std::chrono::steady_clock::now().time_since_epoch() + 1s;
};

TEST_F(ChangedDirectories, AreReceivedAsTheyAreNow) {
  make(30'000, 50'000);
  {
    const auto store = make_received_directory(to(), "got", false);
    StoreFailure failure;
    store->open(layout_, std::nullopt, failure);
    bulk::ResumeState state{layout_, std::nullopt, {}, index_};
    for (std::uint32_t block = 0; block + 1 < layout_.blocks(); ++block) {
      ASSERT_FALSE(store->write_block(layout_.start_of(block), block_of(block)).error);
      state.written.add(block);
    }
    ASSERT_FALSE(store->save(state).error);
  }
  const std::uint64_t size = layout_.size;
  make(50'000, 30'000);
  ASSERT_EQ(layout_.size, size);
  const auto transfer =
      std::make_shared<BulkTransfer>(host_, BulkTransfer::Acceptance{{"alpha", 7, 8},
                                                                     layout_,
                                                                     index_.root(layout_.blocks(), host_.hasher()),
                                                                     make_received_directory(to(), "got", false),
                                                                     true});
  transfer->start();
  ASSERT_NE(transfer->engines().receiver, nullptr);
  bulk::BulkReceiver& receiver = *transfer->engines().receiver;
  receiver.handle_index(now_, {1, 0, index_.hashes_from(0, layout_.blocks())});
  for (int round = 0; round < 2 && host_.outcomes.back() == BulkOutcome::accepted; ++round) {
    for (std::uint32_t block = 0; block < layout_.blocks() && transfer->engines().receiver != nullptr; ++block) {
      hear(receiver, block);
      for (int i = 0; i < 4; ++i) transfer->pump(now_ += 1s);
    }
  }
  EXPECT_EQ(host_.outcomes.back(), BulkOutcome::done);
  EXPECT_TRUE(text(to() + "/got/one") == std::string(50'000, '1'));
  EXPECT_TRUE(text(to() + "/got/other") == std::string(30'000, '2'));
  EXPECT_EQ(std::distance(fs::directory_iterator(to()), {}), 1) << "nothing is left beside it";
}

// A thread that saves may wait for the one that finds that the directory is another one.
TEST_F(ChangedDirectories, HaveNoStateOfTheTimeBefore) {
  make(30'000, 50'000);
  const auto store = make_received_directory(to(), "got", false);
  StoreFailure failure;
  store->open(layout_, std::nullopt, failure);
  const std::uint32_t last = layout_.blocks() - 1;
  bulk::ResumeState former{layout_, std::nullopt, {}, index_};
  for (std::uint32_t block = 0; block <= last; ++block) {
    ASSERT_FALSE(store->write_block(layout_.start_of(block), block_of(block)).error);
    former.written.add(block);
  }
  const std::string state = to() + "/got.spindle-state";
  ASSERT_FALSE(store->save(former).error);
  ASSERT_TRUE(fs::exists(state));
  make(50'000, 30'000);
  ASSERT_TRUE(store->write_block(0, block_of(0)).begins_anew);
  EXPECT_FALSE(store->save(former).error);
  EXPECT_FALSE(fs::exists(state));
  EXPECT_FALSE(store->take_back(former).error);
  EXPECT_FALSE(fs::exists(state));
  bulk::ResumeState now{layout_, std::nullopt, {}, index_};
  for (std::uint32_t block = 0; block < last; ++block) {
    ASSERT_FALSE(store->write_block(layout_.start_of(block), block_of(block)).error);
    now.written.add(block);
    EXPECT_FALSE(store->save(former).error);
    EXPECT_FALSE(fs::exists(state)) << block;
  }
  EXPECT_FALSE(store->take_back(now).error);
  EXPECT_TRUE(fs::exists(state));
}

}  // namespace
}  // namespace spindle

// Bulk channels, against a daemon that the test plays: what is asked of it, and what is said of what it tells.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "bindings/c/tests/connection.h"
#include "libclient/protocol/bulk_requests.h"
#include "libclient/src/sha256.h"

namespace spindle::c {
namespace {

using protocol::BulkOutcome;
using test::Bytes;
using test::Frame;

const spindle_bytes kImages = spindle_text("images");
const bulk::BulkChannelId kTheirs{"far", 77, 5};

/// What a program's functions have been called with.
struct Calls {
  std::atomic<int> reads{0};
  std::atomic<int> releases{0};
};

void note_release(void* user) { ++static_cast<Calls*>(user)->releases; }

std::int64_t read_never(void*, void*, std::size_t) { return SPINDLE_READ_AGAIN; }

/// Has nothing at first, then five bytes, then the end.
std::int64_t read_hello(void* user, void* to, std::size_t room) {
  constexpr std::string_view kText = "hello";
  switch (static_cast<Calls*>(user)->reads++) {
    case 0:
      return SPINDLE_READ_AGAIN;
    case 1:
      EXPECT_GE(room, kText.size());
      return static_cast<std::int64_t>(kText.copy(static_cast<char*>(to), room));
    default:
      return 0;
  }
}

std::int64_t read_in_vain(void*, void*, std::size_t) { return SPINDLE_READ_FAILED; }

std::int64_t read_too_much(void*, void*, std::size_t room) { return static_cast<std::int64_t>(room) + 1; }

int write_nothing(void*, spindle_bytes) { return 0; }

class CBulk : public ConnectionTest {
 protected:
  void SetUp() override {
    ConnectionTest::SetUp();
    spindle_options_set_bulk(options_, 1);
    ASSERT_EQ(connect(), 0);
    ASSERT_EQ(spindle_bulk_open(connection_, nullptr, &bulk_), 0);
  }
  void TearDown() override {
    spindle_bulk_close(bulk_);
    spindle_channel_free(channel_);
    ConnectionTest::TearDown();
  }

  /// The next frame of the client that is of this kind; others are passed over.
  template <typename Request>
  Request read() {
    for (;;) {
      const Frame frame = daemon_.read();
      if (daemon_.has_hung_up) break;
      if (!protocol::is_bulk_request(frame.type)) continue;
      const auto request = protocol::read_bulk_request(frame.type, frame.body);
      if (request && std::holds_alternative<Request>(*request)) return std::get<Request>(*request);
    }
    ADD_FAILURE() << "the client has gone";
    return {};
  }

  void write(const protocol::BulkNews& news) {
    Bytes frame;
    protocol::write_bulk_news(frame, news);
    daemon_.write(frame);
  }

  void answer(std::uint32_t request, Errc code) {
    Bytes frame;
    protocol::write_reply(frame, {request, static_cast<std::uint16_t>(code)});
    daemon_.write(frame);
  }

  /// Offers the source while `serve` plays the daemon. The channel goes to `channel_`, the reason to `text_`.
  template <typename Serve>
  spindle_code offer(spindle_bulk_source* source, const spindle_offer_options* options, Serve serve) {
    std::thread daemon(serve);
    const spindle_code code =
        spindle_bulk_offer(bulk_, kImages, source, options, SPINDLE_NO_TIMEOUT, &channel_, text_, sizeof text_);
    daemon.join();
    return code;
  }

  /// The same for an offer that is taken, as a further channel of this client.
  protocol::BulkOffer offer(spindle_bulk_source* source, const spindle_offer_options* options = nullptr) {
    protocol::BulkOffer asked;
    EXPECT_EQ(offer(source, options, [&] { asked = take_offer(); }), 0) << text_;
    return asked;
  }
  protocol::BulkOffer take_offer() {
    const auto asked = read<protocol::BulkOffer>();
    ++mine_.number;
    write(protocol::BulkOffered{mine_, asked.request, false, false, asked.group, "#me#fake", asked.terms, {}});
    return asked;
  }

  /// Somebody else offers; the event is the caller's.
  spindle_event* be_offered(std::uint64_t size, const std::string& name,
                            protocol::ContentKind kind = protocol::ContentKind::file) {
    protocol::ContentTerms terms;
    terms.name = name;
    terms.kind = kind;
    terms.layout = *bulk::ContentLayout::of(size);
    write(protocol::BulkOffered{kTheirs, 0, true, false, "images", "#you#far", terms, {}});
    return next();
  }

  spindle_code accept_and_free(const spindle_event* offered, spindle_bulk_sink* sink, unsigned flags = 0) {
    const spindle_code code = spindle_bulk_accept(bulk_, spindle_bulk_channel(offered), sink, flags);
    spindle_bulk_sink_free(sink);
    return code;
  }

  spindle_bulk* bulk_ = nullptr;
  spindle_channel* channel_ = nullptr;
  bulk::BulkChannelId mine_{"fake", 7, 8};  // offered last
};

using CBulkConnections = ConnectionTest;

TEST_F(CBulkConnections, AreMadeForIt) {
  spindle_bulk* bulk = nullptr;
  ASSERT_EQ(connect(), 0);
  EXPECT_EQ(spindle_bulk_open(connection_, nullptr, &bulk), SPINDLE_ERROR_BAD_ARGUMENT);
  EXPECT_EQ(bulk, nullptr);
}

TEST_F(CBulkConnections, MayGoBeforeTheirBulk) {
  spindle_bulk* bulk = nullptr;
  spindle_options_set_bulk(options_, 1);
  ASSERT_EQ(connect(), 0);
  spindle_bulk_options* options = spindle_bulk_options_new();
  EXPECT_EQ(spindle_bulk_options_set_workers(options, 0), SPINDLE_ERROR_BAD_ARGUMENT);
  EXPECT_EQ(spindle_bulk_options_set_workers(options, 65), SPINDLE_ERROR_BAD_ARGUMENT);
  EXPECT_EQ(spindle_bulk_options_set_workers(options, 1), 0);
  EXPECT_EQ(spindle_bulk_options_set_keep_hashes(options, 0), 0);
  EXPECT_EQ(spindle_bulk_options_set_hash_directory(options, nullptr), SPINDLE_ERROR_BAD_ARGUMENT);
  EXPECT_EQ(spindle_bulk_options_set_hash_directory(options, "/nowhere"), 0);
  ASSERT_EQ(spindle_bulk_open(connection_, options, &bulk), 0);
  spindle_bulk_options_free(options);
  spindle_close(connection_);
  connection_ = nullptr;
  spindle_bulk_source* source = spindle_bulk_source_bytes(spindle_text("x"));
  EXPECT_EQ(spindle_bulk_offer(bulk, kImages, source, nullptr, kSecond, nullptr, nullptr, 0),
            SPINDLE_ERROR_NOT_CONNECTED);
  spindle_bulk_source_free(source);
  spindle_bulk_close(bulk);
}

TEST_F(CBulk, IsTheOnlyOneOfItsConnection) {
  spindle_bulk* second = bulk_;
  EXPECT_EQ(spindle_bulk_open(connection_, nullptr, &second), SPINDLE_ERROR_BAD_ARGUMENT);
  EXPECT_EQ(second, nullptr);
}

TEST_F(CBulk, OffersAsItsOptionsSay) {
  spindle_offer_options* options = spindle_offer_options_new();
  EXPECT_EQ(spindle_offer_options_set_rate(options, 1'000'000), 0);
  EXPECT_EQ(spindle_offer_options_set_weight(options, 0), SPINDLE_ERROR_BAD_ARGUMENT);
  EXPECT_EQ(spindle_offer_options_set_weight(options, 101), SPINDLE_ERROR_BAD_ARGUMENT);
  EXPECT_EQ(spindle_offer_options_set_weight(options, 100), 0);
  EXPECT_EQ(spindle_offer_options_set_linger(options, 2 * kSecond + 1), 0);
  spindle_bulk_source* source = spindle_bulk_source_bytes(spindle_text("hello"));
  EXPECT_EQ(spindle_bulk_source_set_name(source, "greeting"), 0);
  const protocol::BulkOffer asked = offer(source, options);
  spindle_bulk_source_free(source);
  spindle_offer_options_free(options);
  EXPECT_EQ(asked.group, "images");
  EXPECT_EQ(asked.terms.name, "greeting");
  EXPECT_EQ(asked.terms.layout.size, 5u);
  EXPECT_EQ(asked.terms.kind, protocol::ContentKind::bytes);
  EXPECT_EQ(asked.terms.bytes_per_second, 1'000'000u);
  EXPECT_EQ(asked.terms.weight, 100u);
  EXPECT_EQ(asked.terms.linger_s, 3u);
  EXPECT_EQ(text(spindle_channel_daemon(channel_)), "fake");
  EXPECT_EQ(spindle_channel_incarnation(channel_), 7u);
  EXPECT_EQ(spindle_channel_number(channel_), 9u);
  EXPECT_STREQ(text_, "");
}

TEST_F(CBulk, LingersForEverWithoutABound) {
  spindle_offer_options* options = spindle_offer_options_new();
  EXPECT_EQ(spindle_offer_options_set_linger(options, SPINDLE_NO_TIMEOUT), 0);
  spindle_bulk_source* source = spindle_bulk_source_bytes({});
  const protocol::BulkOffer asked = offer(source, options);
  EXPECT_EQ(asked.terms.linger_s, UINT32_MAX);
  EXPECT_EQ(asked.terms.name, "");
  spindle_bulk_source_free(source);
  spindle_offer_options_free(options);
}

TEST_F(CBulk, OffersFilesAndDirectoriesByTheirNames) {
  const std::string place = daemon_.path() + "-content";
  std::filesystem::create_directory(place);
  std::ofstream(place + "/file") << "some text";
  std::filesystem::create_symlink("file", place + "/link");

  spindle_bulk_source* file = spindle_bulk_source_file((place + "/file").c_str());
  EXPECT_EQ(spindle_bulk_source_set_leave_out(file, 1), SPINDLE_ERROR_BAD_ARGUMENT);
  const protocol::BulkOffer asked = offer(file);
  EXPECT_EQ(asked.terms.name, "file");
  EXPECT_EQ(asked.terms.layout.size, 9u);
  EXPECT_EQ(asked.terms.kind, protocol::ContentKind::file);
  spindle_bulk_source_free(file);
  spindle_channel_free(channel_);

  spindle_bulk_source* directory = spindle_bulk_source_directory(place.c_str());
  EXPECT_EQ(spindle_bulk_source_set_name(directory, "all"), 0);
  EXPECT_EQ(offer(directory, nullptr, [] {}), SPINDLE_ERROR_FILE_FAILED);
  EXPECT_THAT(text_, testing::HasSubstr("link"));
  EXPECT_EQ(channel_, nullptr);
  EXPECT_EQ(spindle_bulk_source_left_out_count(directory), 0u);
  EXPECT_EQ(spindle_bulk_source_set_leave_out(directory, 1), 0);
  const protocol::BulkOffer all = offer(directory);
  EXPECT_EQ(all.terms.name, "all");
  EXPECT_EQ(all.terms.kind, protocol::ContentKind::directory);
  ASSERT_EQ(spindle_bulk_source_left_out_count(directory), 1u);
  EXPECT_EQ(text(spindle_bulk_source_left_out_at(directory, 0)), "link");
  EXPECT_EQ(spindle_bulk_source_left_out_at(directory, 1).data, nullptr);
  spindle_bulk_source_free(directory);
  std::filesystem::remove_all(place);
}

TEST_F(CBulk, SaysWhyNothingWasOffered) {
  const auto code_of_source = [this](spindle_bulk_source* source) {
    const spindle_code code = offer(source, nullptr, [] {});
    EXPECT_EQ(channel_, nullptr);
    spindle_bulk_source_free(source);
    return code;
  };
  EXPECT_EQ(code_of_source(spindle_bulk_source_file("/nowhere/at/all")), SPINDLE_ERROR_FILE_FAILED);
  EXPECT_THAT(text_, testing::HasSubstr("/nowhere/at/all"));
  spindle_bulk_source* strange = spindle_bulk_source_bytes({});
  EXPECT_EQ(spindle_bulk_source_set_name(strange, "\xff"), 0);
  EXPECT_EQ(code_of_source(strange), SPINDLE_ERROR_BAD_ARGUMENT);

  spindle_bulk_source* source = spindle_bulk_source_bytes(spindle_text("x"));
  EXPECT_EQ(offer(source, nullptr, [this] { answer(read<protocol::BulkOffer>().request, Errc::too_many_channels); }),
            SPINDLE_ERROR_TOO_MANY_CHANNELS);
  EXPECT_EQ(spindle_bulk_offer(bulk_, spindle_text("#no"), source, nullptr, kSecond, &channel_, nullptr, 0),
            SPINDLE_ERROR_BAD_GROUP_NAME);
  spindle_bulk_source_free(source);
}

TEST_F(CBulk, TakesBackAnOfferThatNobodyWaitsFor) {
  spindle_bulk_source* source = spindle_bulk_source_bytes(spindle_text("x"));
  EXPECT_EQ(spindle_bulk_offer(bulk_, kImages, source, nullptr, kMillisecond, &channel_, nullptr, 0),
            SPINDLE_ERROR_TIMED_OUT);
  EXPECT_EQ(channel_, nullptr);
  spindle_bulk_source_free(source);
  take_offer();
  EXPECT_EQ(read<protocol::BulkCancel>().channel, mine_);
}

TEST_F(CBulk, TellsWhatIsOfferedAndAcceptsItOnce) {
  spindle_event* offered = be_offered(1'000, "name");
  EXPECT_EQ(spindle_event_kind(offered), unsigned{SPINDLE_EVENT_BULK_OFFERED});
  EXPECT_EQ(accept_and_free(offered, spindle_bulk_sink_memory(1'000), 4), SPINDLE_ERROR_BAD_ARGUMENT);
  EXPECT_EQ(accept_and_free(offered, spindle_bulk_sink_memory(999)), SPINDLE_ERROR_LIMIT_EXCEEDED);
  EXPECT_EQ(accept_and_free(offered, spindle_bulk_sink_file("/tmp/..")), SPINDLE_ERROR_BAD_CONTENT_NAME);
  EXPECT_EQ(accept_and_free(offered, spindle_bulk_sink_memory(1'000), SPINDLE_ACCEPT_NOT_SERVING), 0);
  const auto said = read<protocol::BulkOutcomeSaid>();
  EXPECT_EQ(said.channel, kTheirs);
  EXPECT_EQ(said.outcome, BulkOutcome::accepted);
  EXPECT_EQ(accept_and_free(offered, spindle_bulk_sink_memory(1'000)), SPINDLE_ERROR_BAD_ARGUMENT);
  EXPECT_EQ(spindle_bulk_refuse(bulk_, spindle_bulk_channel(offered)), SPINDLE_ERROR_BAD_ARGUMENT);
  EXPECT_EQ(spindle_bulk_cancel(bulk_, spindle_bulk_channel(offered)), SPINDLE_ERROR_BAD_ARGUMENT);
  EXPECT_EQ(spindle_bulk_set_rate(bulk_, spindle_bulk_channel(offered), 1), SPINDLE_ERROR_BAD_ARGUMENT);
  spindle_event_free(offered);
}

TEST_F(CBulk, ReceivesByTheNameThatIsOfferedInADirectory) {
  const std::string place = daemon_.path() + "-place";
  std::filesystem::create_directory(place);
  std::ofstream(place + "/name") << "before";
  for (const unsigned flags : {0u, unsigned{SPINDLE_ACCEPT_REPLACE}}) {
    // An empty content is whole once its source has said so.
    spindle_event* offered = be_offered(0, "name");
    EXPECT_EQ(accept_and_free(offered, spindle_bulk_sink_directory(place.c_str()), flags), 0);
    spindle_event_free(offered);
    write(protocol::BulkSealed{kTheirs, 0, Sha256().hash({})});
    spindle_event* received = next();
    EXPECT_EQ(spindle_event_kind(received), unsigned{SPINDLE_EVENT_BULK_RECEIVED});
    EXPECT_EQ(spindle_event_code(received), flags == 0 ? SPINDLE_ERROR_FILE_EXISTS : 0);
    EXPECT_EQ(text(spindle_bulk_received_path(received)), flags == 0 ? "" : place + "/name");
    spindle_event_free(received);
    EXPECT_EQ(std::filesystem::file_size(place + "/name"), flags == 0 ? 6u : 0u);
    write(protocol::BulkEnded{kTheirs, protocol::BulkEnd::over});
    EXPECT_EQ(next_kind(), unsigned{SPINDLE_EVENT_BULK_ENDED});
  }
  std::filesystem::remove_all(place);
}

TEST_F(CBulk, RefusesOnce) {
  spindle_event* offered = be_offered(1'000, "name");
  EXPECT_EQ(spindle_bulk_refuse(bulk_, spindle_bulk_channel(offered)), 0);
  EXPECT_EQ(read<protocol::BulkOutcomeSaid>().outcome, BulkOutcome::refused);
  EXPECT_EQ(spindle_bulk_refuse(bulk_, spindle_bulk_channel(offered)), SPINDLE_ERROR_BAD_ARGUMENT);
  spindle_event_free(offered);
}

TEST_F(CBulk, DirectoriesGoIntoOneOnly) {
  spindle_event* offered = be_offered(1'000, "name", protocol::ContentKind::directory);
  EXPECT_EQ(spindle_bulk_offered_content(offered), unsigned{SPINDLE_CONTENT_DIRECTORY});
  EXPECT_EQ(accept_and_free(offered, spindle_bulk_sink_memory(1'000)), SPINDLE_ERROR_BAD_ARGUMENT);
  Calls calls;
  EXPECT_EQ(accept_and_free(offered, spindle_bulk_sink_stream(write_nothing, &calls, note_release)),
            SPINDLE_ERROR_BAD_ARGUMENT);
  EXPECT_EQ(calls.releases, 1);
  spindle_event_free(offered);
}

TEST_F(CBulk, CancelsAndChangesTheRateOfWhatItOffers) {
  spindle_bulk_source* source = spindle_bulk_source_bytes(spindle_text("x"));
  offer(source);
  spindle_bulk_source_free(source);
  EXPECT_EQ(spindle_bulk_refuse(bulk_, channel_), SPINDLE_ERROR_BAD_ARGUMENT);
  EXPECT_EQ(spindle_bulk_set_rate(bulk_, channel_, 500), 0);
  EXPECT_EQ(read<protocol::BulkSetRate>().bytes_per_second, 500u);
  EXPECT_EQ(spindle_bulk_cancel(bulk_, channel_), 0);
  EXPECT_EQ(read<protocol::BulkCancel>().channel, mine_);
  write(protocol::BulkEnded{mine_, protocol::BulkEnd::cancelled});
  spindle_event* ended = next();
  EXPECT_EQ(spindle_bulk_ended_cause(ended), unsigned{SPINDLE_BULK_CANCELLED});
  EXPECT_EQ(spindle_event_code(ended), 0);
  EXPECT_EQ(spindle_channel_equal(spindle_bulk_channel(ended), channel_), 1);
  spindle_event_free(ended);
  EXPECT_EQ(spindle_bulk_cancel(bulk_, channel_), SPINDLE_ERROR_UNKNOWN_CHANNEL);
  EXPECT_EQ(spindle_bulk_set_rate(bulk_, channel_, 1), SPINDLE_ERROR_UNKNOWN_CHANNEL);
  EXPECT_EQ(spindle_bulk_refuse(bulk_, channel_), SPINDLE_ERROR_UNKNOWN_CHANNEL);
}

TEST_F(CBulk, ReadsAStreamToItsEnd) {
  Calls calls;
  const std::string spool = daemon_.path() + "-spool";
  spindle_bulk_source* source = spindle_bulk_source_stream(read_hello, &calls, note_release);
  EXPECT_EQ(spindle_bulk_source_set_name(source, "flow"), 0);
  EXPECT_EQ(spindle_bulk_source_set_spool(source, spool.c_str()), 0);
  const protocol::BulkOffer asked = offer(source);
  spindle_bulk_source_free(source);
  EXPECT_EQ(asked.terms.name, "flow");
  EXPECT_FALSE(asked.terms.layout.has_size());
  EXPECT_FALSE(std::filesystem::exists(spool));
  const auto sealed = read<protocol::BulkSeal>();
  EXPECT_EQ(sealed.size, 5u);
  const auto block = Sha256().hash(as_bytes("hello"));
  EXPECT_EQ(sealed.root, Sha256().hash(block));
  EXPECT_EQ(calls.releases, 0);
  spindle_bulk_close(bulk_);
  bulk_ = nullptr;
  EXPECT_EQ(calls.releases, 1);
}

TEST_F(CBulk, AStreamThatCannotBeReadEndsItsChannel) {
  for (const spindle_bulk_read read_wrongly : {read_in_vain, read_too_much}) {
    Calls calls;
    spindle_bulk_source* source = spindle_bulk_source_stream(read_wrongly, &calls, nullptr);
    offer(source);
    spindle_bulk_source_free(source);
    EXPECT_EQ(read<protocol::BulkCancel>().channel, mine_);
    write(protocol::BulkEnded{mine_, protocol::BulkEnd::cancelled});
    spindle_event* ended = next();
    EXPECT_EQ(spindle_event_code(ended), SPINDLE_ERROR_FILE_FAILED);
    EXPECT_THAT(text(spindle_bulk_text(ended)), testing::HasSubstr("the program"));
    spindle_event_free(ended);
    spindle_channel_free(channel_);
    channel_ = nullptr;
  }
}

TEST_F(CBulk, StreamsAreReleasedOnceWhenNobodyCallsThemAnyMore) {
  Calls calls;
  spindle_bulk_source_free(spindle_bulk_source_stream(read_never, &calls, note_release));
  EXPECT_EQ(calls.releases, 1);
  spindle_event* offered = be_offered(bulk::kSizeUnknown, "flow");
  EXPECT_EQ(spindle_bulk_size(offered), -1);
  EXPECT_EQ(accept_and_free(offered, spindle_bulk_sink_memory(1'000)), SPINDLE_ERROR_LIMIT_EXCEEDED);
  spindle_bulk_sink* sink = spindle_bulk_sink_stream(write_nothing, &calls, note_release);
  EXPECT_EQ(spindle_bulk_sink_set_temporary_directory(sink, "/tmp"), 0);
  EXPECT_EQ(accept_and_free(offered, sink), 0);
  spindle_event_free(offered);
  read<protocol::BulkOutcomeSaid>();
  EXPECT_EQ(calls.releases, 1);
  spindle_bulk_close(bulk_);
  bulk_ = nullptr;
  EXPECT_EQ(calls.releases, 2);
}

TEST_F(CBulk, OnlyStreamsHaveWhatStreamsNeed) {
  spindle_bulk_source* bytes = spindle_bulk_source_bytes(spindle_text("x"));
  EXPECT_EQ(spindle_bulk_source_set_spool(bytes, "/tmp/spool"), SPINDLE_ERROR_BAD_ARGUMENT);
  spindle_bulk_source_free(bytes);
  spindle_bulk_sink* memory = spindle_bulk_sink_memory(1);
  EXPECT_EQ(spindle_bulk_sink_set_temporary_directory(memory, "/tmp"), SPINDLE_ERROR_BAD_ARGUMENT);
  spindle_bulk_sink_free(memory);
}

}  // namespace
}  // namespace spindle::c

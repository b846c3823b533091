#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "libclient/protocol/client_engine.h"

namespace spindle {
namespace {

using protocol::ClientFrame;
using namespace std::string_literals;
using namespace std::string_view_literals;

std::string text_of(const Payload& payload) {
  std::string text;
  for (const Bytes& piece : payload.pieces()) text.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  EXPECT_EQ(payload.size(), text.size());
  return text;
}

TEST(ClientPayload, IsMadeOfAnyContiguousRangeOfBytes) {
  EXPECT_EQ(text_of({}), "");
  EXPECT_EQ(text_of("text"s), "text");
  EXPECT_EQ(text_of("text"sv), "text");
  EXPECT_EQ(text_of(std::vector<char>{'a', 'b'}), "ab");
  EXPECT_EQ(text_of(std::vector<std::byte>{std::byte{'a'}, std::byte{'b'}}), "ab");
  EXPECT_EQ(text_of(std::vector<std::uint8_t>{'a', 'b'}), "ab");
  EXPECT_EQ(text_of(std::array<std::uint8_t, 2>{'a', 'b'}), "ab");
  EXPECT_EQ(text_of(std::u8string(u8"ab")), "ab");
  const std::uint8_t bytes[] = {'a', 'b', 'c'};
  EXPECT_EQ(text_of(bytes), "abc");
  EXPECT_EQ(text_of(std::span(bytes).first(2)), "ab");
  char buffer[] = {'a', 0, 'b', 0};
  EXPECT_EQ(text_of(std::span(buffer)), "a\0b\0"sv);
}

TEST(ClientPayload, IsNotCutAtAZeroByte) {
  EXPECT_EQ(text_of(""), "");
  EXPECT_EQ(text_of("text"), "text");
  EXPECT_EQ(text_of("a\0b"), "a\0b"sv);
  EXPECT_EQ(text_of("a\0"), "a\0"sv) << "less the zero that ends the literal";
  static constexpr char kUnended[] = {'a', 'b'};
  EXPECT_EQ(text_of(kUnended), "ab");
  EXPECT_EQ(text_of("a\0b"s), "a\0b"sv);
}

TEST(ClientPayload, IsNotMadeOfWhatDoesNotSayHowLongItIs) {
  static_assert(!std::is_convertible_v<const char*, Payload>);
  static_assert(!std::is_convertible_v<char*, Payload>);
  static_assert(!std::is_convertible_v<char(&)[8], Payload>);
  static_assert(!std::is_convertible_v<std::vector<int>, Payload>);
  static_assert(!std::is_convertible_v<std::vector<bool>, Payload>);
  static_assert(!std::is_convertible_v<std::array<bool, 2>, Payload>);
  static_assert(!std::is_convertible_v<std::nullptr_t, Payload>);
}

TEST(ClientPayload, IsPutTogetherOfSeveralPieces) {
  const std::string head = "head ";
  const std::vector<std::uint8_t> body{'b', 'o', 'd', 'y'};
  EXPECT_EQ(text_of({head, body}), "head body");
  EXPECT_EQ(text_of({head, "", "and"sv, body}), "head andbody");
  const std::vector<Bytes> pieces{head, body, head};
  EXPECT_EQ(text_of(pieces), "head bodyhead ");
  EXPECT_EQ(text_of(std::span(pieces).subspan(1)), "bodyhead ");
  EXPECT_EQ(text_of(std::vector<Bytes>()), "");
}

// What a writer makes of messages, put together again by the reader of the same bytes.
std::vector<std::string> as_sent(const std::vector<Payload>& payloads) {
  protocol::RequestWriter writer;
  writer.open();
  for (const Payload& payload : payloads) EXPECT_FALSE(writer.multicast(Service::agreed, "g", payload, {}));
  std::vector<std::string> texts;
  ByteView rest = writer.output();
  while (const auto head = read_frame_head(rest)) {
    const ByteView body = rest.subspan(kFrameHeadBytes, head->length);
    rest = rest.subspan(kFrameHeadBytes + head->length);
    if (head->type == static_cast<std::uint8_t>(ClientFrame::send_more)) {
      EXPECT_LE(body.size(), kChunkBytesMax);
      texts.back().append(as_text(body));
    } else if (head->type == static_cast<std::uint8_t>(ClientFrame::send)) {
      const auto send = protocol::read_send(body);
      if (!send) ADD_FAILURE() << "no send";
      texts.emplace_back(as_text(send ? send->chunk : ByteView()));
    }
  }
  EXPECT_TRUE(rest.empty());
  return texts;
}

TEST(ClientPayload, GoesOutInFramesThatDoNotDependOnItsPieces) {
  const std::string small = "small";
  const std::string chunk(kChunkBytesMax, 'c');
  const std::string large(3 * kChunkBytesMax + 7, 'l');
  EXPECT_EQ(as_sent({Payload(small), Payload()}), (std::vector<std::string>{small, ""}));
  const std::vector<Bytes> around{small, chunk, "", small};
  EXPECT_EQ(as_sent({around, Payload(small)}), (std::vector<std::string>{small + chunk + small, small}));
  const std::vector<Bytes> exact{chunk, chunk};
  EXPECT_EQ(as_sent({exact}), (std::vector<std::string>{chunk + chunk}));
  const std::vector<Bytes> many{large, small, large};
  EXPECT_EQ(as_sent({many}), (std::vector<std::string>{large + small + large}));
  const std::vector<Bytes> bytes(kChunkBytesMax + 2, Bytes("."));
  EXPECT_EQ(as_sent({bytes}), (std::vector<std::string>{std::string(kChunkBytesMax + 2, '.')}));
}

TEST(ClientPayload, IsTooLargeByTheSumOfItsPieces) {
  protocol::RequestWriter writer;
  writer.open();
  const std::string half(kMessageBytesMax / 2, 'h');
  EXPECT_EQ(writer.multicast(Service::agreed, "g", {half, half, "."}, {}), Errc::message_too_large);
  EXPECT_FALSE(writer.multicast(Service::agreed, "g", {half, half}, {}));
}

}  // namespace
}  // namespace spindle

#include "libclient/protocol/client_handshake.h"

#include <algorithm>

#include "libclient/common/names.h"
#include "libclient/protocol/append_frame.h"

namespace spindle::protocol {

namespace {

// Numbers of options. They stand in rising order, none twice.
enum class HelloOption : std::uint8_t { token = 1, resumable = 2, resume = 3, keepalive = 4, moves = 5, channels = 6 };
enum class WelcomeOption : std::uint8_t { resumable = 1, resumed = 2 };

constexpr std::size_t kKeyBytes = 8 + SessionKey::kSecretBytes;

/// An option is a u8 number, a u16 length, and so many bytes.
class OptionWriter {
 public:
  explicit OptionWriter(std::vector<std::uint8_t>& out) : out_(out) {}

  template <typename Number>
  Writer add(Number number, std::size_t length) {
    const std::size_t start = out_.size();
    out_.resize(start + 3 + length);
    Writer writer(out_.data() + start);
    writer.u8(static_cast<std::uint8_t>(number));
    writer.u16(static_cast<std::uint16_t>(length));
    return writer;
  }

 private:
  std::vector<std::uint8_t>& out_;
};

/// Calls `take(number, Reader&)` for each option. False where one is cut short, out of order, or has more or less than
/// `take` has read; of those that it does not know it reads the rest.
template <typename Take>
bool read_options(Reader& reader, Take&& take) {
  unsigned last = 0;
  while (reader.ok() && reader.remaining() != 0) {
    const unsigned number = reader.u8();
    Reader option(reader.bytes(reader.u16()));
    if (!reader.ok() || number <= last) return false;
    take(number, option);
    if (!option.done()) return false;
    last = number;
  }
  return reader.done();
}

void write_key(Writer& writer, const SessionKey& key) {
  writer.u64(key.session);
  writer.bytes(key.secret);
}

SessionKey read_key(Reader& reader) {
  SessionKey key;
  key.session = reader.u64();
  const ByteView secret = reader.bytes(SessionKey::kSecretBytes);
  std::copy(secret.begin(), secret.end(), key.secret.begin());
  return key;
}

std::vector<std::uint8_t> options_of(const Hello& hello) {
  std::vector<std::uint8_t> bytes;
  OptionWriter options(bytes);
  if (!hello.token.empty()) options.add(HelloOption::token, hello.token.size()).bytes(as_bytes(hello.token));
  if (hello.is_resumable) options.add(HelloOption::resumable, 0);
  if (hello.resume) {
    Writer writer = options.add(HelloOption::resume, kKeyBytes + 8);
    write_key(writer, hello.resume->key);
    writer.u64(hello.resume->received);
  }
  if (hello.keepalive_ms != 0) options.add(HelloOption::keepalive, 4).u32(hello.keepalive_ms);
  if (hello.moves) options.add(HelloOption::moves, 0);
  if (hello.wants_channels) options.add(HelloOption::channels, 0);
  return bytes;
}

std::vector<std::uint8_t> options_of(const Welcome& welcome) {
  std::vector<std::uint8_t> bytes;
  OptionWriter options(bytes);
  if (welcome.resumable) {
    Writer writer = options.add(WelcomeOption::resumable, kKeyBytes + 4);
    write_key(writer, welcome.resumable->key);
    writer.u32(welcome.resumable->timeout_ms);
  }
  if (welcome.resumed) options.add(WelcomeOption::resumed, 8).u64(*welcome.resumed);
  return bytes;
}

void take_option(Hello& hello, unsigned number, Reader& option) {
  switch (static_cast<HelloOption>(number)) {
    case HelloOption::token:
      hello.token = as_text(option.rest());
      if (hello.token.empty() || hello.token.size() > UINT8_MAX) option.fail();
      break;
    case HelloOption::resumable:
      hello.is_resumable = true;
      break;
    case HelloOption::resume:
      hello.resume.emplace();
      hello.resume->key = read_key(option);
      hello.resume->received = option.u64();
      break;
    case HelloOption::keepalive:
      hello.keepalive_ms = option.u32();
      if (hello.keepalive_ms == 0) option.fail();
      break;
    case HelloOption::moves:
      hello.moves = true;
      break;
    case HelloOption::channels:
      hello.wants_channels = true;
      break;
    default:
      option.rest();
  }
}

void take_option(Welcome& welcome, unsigned number, Reader& option) {
  switch (static_cast<WelcomeOption>(number)) {
    case WelcomeOption::resumable:
      welcome.resumable.emplace();
      welcome.resumable->key = read_key(option);
      welcome.resumable->timeout_ms = option.u32();
      break;
    case WelcomeOption::resumed:
      welcome.resumed = option.u64();
      break;
    default:
      option.rest();
  }
}

}  // namespace

void write_hello(std::vector<std::uint8_t>& out, const Hello& hello) {
  const std::vector<std::uint8_t> options = options_of(hello);
  Writer writer = append_frame(out, ClientFrame::hello, 4 + 2 + 2 + 1 + 1 + hello.name.size() + options.size());
  writer.u32(kHelloMagic);
  writer.u16(hello.version_min);
  writer.u16(hello.version_max);
  writer.u8(hello.flags);
  writer.short_string(hello.name);
  writer.bytes(options);
}

void write_welcome(std::vector<std::uint8_t>& out, const Welcome& welcome) {
  const std::vector<std::uint8_t> options = options_of(welcome);
  Writer writer = append_frame(out, ClientFrame::welcome, 2 + 1 + welcome.private_name.size() + options.size());
  writer.u16(welcome.version);
  writer.short_string(welcome.private_name);
  writer.bytes(options);
}

std::optional<Hello> read_hello(ByteView body) {
  Reader reader(body);
  if (reader.u32() != kHelloMagic) return std::nullopt;
  Hello hello;
  hello.version_min = reader.u16();
  hello.version_max = reader.u16();
  hello.flags = reader.u8();
  hello.name = reader.short_string();
  const bool known_flags = (hello.flags & ~(kIndependentFlowsBit | kSlowPolicyMask | kTellTakenBit)) == 0;
  if (!reader.ok() || !known_flags || hello.version_min > hello.version_max) return std::nullopt;
  const auto take = [&](unsigned number, Reader& option) { take_option(hello, number, option); };
  return read_options(reader, take) ? std::optional(hello) : std::nullopt;
}

std::optional<Welcome> read_welcome(ByteView body) {
  Reader reader(body);
  Welcome welcome;
  welcome.version = reader.u16();
  welcome.private_name = reader.short_string();
  if (!reader.ok() || !parse_private_name(welcome.private_name)) return std::nullopt;
  const auto take = [&](unsigned number, Reader& option) { take_option(welcome, number, option); };
  return read_options(reader, take) ? std::optional(welcome) : std::nullopt;
}

}  // namespace spindle::protocol

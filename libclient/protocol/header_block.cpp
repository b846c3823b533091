#include "libclient/protocol/header_block.h"

#include <algorithm>

namespace spindle::protocol {

namespace {
std::size_t size_of(const Header& header) { return 1 + header.key.size() + 2 + header.value.size(); }

void write(Writer& writer, const Header& header) {
  writer.short_string(header.key);
  writer.u16(static_cast<std::uint16_t>(header.value.size()));
  writer.bytes(as_bytes(header.value));
}

Header read(Reader& reader) {
  const std::string_view key = reader.short_string();
  return {key, as_text(reader.bytes(reader.u16()))};
}
}  // namespace

bool are_valid(const Headers& headers) {
  std::size_t bytes = 0;
  for (const Header& header : headers) {
    if (header.key.empty() || header.key.size() > UINT8_MAX || is_own_key(header.key)) return false;
    bytes += std::min(size_of(header), kHeaderBytesMax + 1);
    if (bytes > kHeaderBytesMax) return false;
  }
  return true;
}

void write_header_block(std::vector<std::uint8_t>& out, const Header& own, const Headers& headers) {
  std::size_t bytes = own.key.empty() ? 0 : size_of(own);
  for (const Header& header : headers) bytes += size_of(header);
  out.resize(2 + bytes);
  Writer writer(out.data());
  writer.u16(static_cast<std::uint16_t>(bytes));
  if (!own.key.empty()) write(writer, own);
  for (const Header& header : headers) write(writer, header);
}

std::size_t header_block_size(ByteView content) {
  Reader reader(content);
  const std::size_t bytes = reader.u16();
  Reader headers(reader.bytes(bytes));
  if (!reader.ok() || bytes == 0 || 2 + bytes > kHeaderBlockBytesMax) return 0;
  while (headers.ok() && !headers.done()) {
    if (read(headers).key.empty()) headers.fail();
  }
  return headers.ok() ? 2 + bytes : 0;
}

std::optional<std::string_view> find_header(ByteView block, std::string_view key) {
  Reader reader(block.subspan(2));
  while (reader.ok() && !reader.done()) {
    const Header header = read(reader);
    if (header.key == key) return header.value;
  }
  return std::nullopt;
}

}  // namespace spindle::protocol

namespace spindle {

HeaderList::iterator& HeaderList::iterator::operator++() {
  do {
    at_ = next_;
    if (at_ == end_) break;
    Reader reader(ByteView(at_, end_));
    header_ = protocol::read(reader);
    next_ = end_ - reader.remaining();
  } while (protocol::is_own_key(header_.key));
  return *this;
}

}  // namespace spindle

// Seeds for the datagrams between daemons.
#include <functional>

#include "daemon/wire/datagrams.h"
#include "tests/fuzz/seeds.h"

namespace spindle_fuzz {

using namespace spindled;

namespace {

std::string body_of(std::size_t size_max, const std::function<void(Writer&)>& write) {
  std::vector<std::uint8_t> bytes(size_max);
  Writer writer(bytes.data());
  write(writer);
  bytes.resize(writer.size());
  return as_string(bytes);
}

std::string framed(DatagramFrame type, const std::string& body) {
  return body_of(kDatagramFrameHeadBytes, [&](Writer& w) { write_datagram_frame_head(w, type, body.size()); }) + body;
}

}  // namespace

void add_datagram_seeds(Seeds& seeds) {
  const FeedRef ref{7, 3, 300};
  MemberSet many = MemberSet::of(1) | MemberSet::of(70);
  const std::vector<std::uint8_t> to{1, 6}, payload{'h', 'i'};
  const std::string packet = body_of(100, [&](Writer& w) {
    write_packet(w, {ref, 0xfffffffe, FeedPacket::kFirst | FeedPacket::kRepair, 2, to, payload});
  });
  FeedNak nak{ref, FeedNak::kDown, 2, 31, 5, 1'500, many, 0xfffffff0, {}, 20'000};
  nak.bits.insert(0);
  nak.bits.insert(40);
  const std::string nak_body = body_of(kNakBytesMax, [&](Writer& w) { write_nak(w, nak); });
  nak.affected = {};
  nak.flags = 0;
  nak.bits.insert(511);
  const std::string long_nak = body_of(kNakBytesMax, [&](Writer& w) { write_nak(w, nak); });
  const std::string gone = body_of(kShortDatagramFrameBytesMax, [&](Writer& w) { write_gone(w, {ref, many, 5, 9}); });
  const std::string beat = body_of(kShortDatagramFrameBytesMax, [&](Writer& w) {
    write_beat(w, {ref, 1, MemberSet::first(200), 9, 10});
  });
  const auto add = [&](std::string name, unsigned type, std::string bytes) {
    seeds.push_back({"datagrams", std::move(name), one_byte(type) + std::move(bytes)});
  };
  add("packet", 1, packet);
  add("nak", 2, nak_body);
  add("nak_of_512", 2, long_nak);
  add("gone", 3, gone);
  add("beat", 4, beat);
  add("datagram", 0,
      body_of(kDatagramHeadBytes,
              [](Writer& w) {
                write_datagram_head(w, {1ull << 60, 4});
              }) +
          framed(DatagramFrame::packet, packet) + framed(DatagramFrame::nak, nak_body) +
          framed(DatagramFrame::gone, gone) + framed(DatagramFrame::beat, beat));
}

}  // namespace spindle_fuzz

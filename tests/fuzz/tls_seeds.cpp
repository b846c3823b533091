// Seeds for TLS: connections that go well, and what somebody in between can do to each of their phases.
#include "tests/fuzz/seeds.h"
#include "tests/fuzz/tls_steps.h"

namespace spindle_fuzz {

namespace {

enum class End { dialling, accepting };

std::string step(TlsStep kind, End end = End::dialling) {
  return one_byte(static_cast<unsigned>(kind) + (end == End::accepting ? kTlsStepOfAccepting : 0u));
}
std::string step(TlsStep kind, unsigned number, End end = End::dialling) {
  return step(kind, end) + one_byte(number & 0xff) + one_byte(number >> 8);
}

}  // namespace

void add_tls_seeds(Seeds& seeds) {
  const auto add = [&](std::string name, std::string bytes) {
    seeds.push_back({"tls", std::move(name), std::move(bytes)});
  };
  using enum TlsStep;
  const std::string opened = step(open);
  const std::string written = opened + step(write, 3000) + step(write, 500, End::accepting);
  const std::string all = step(open) + step(read, 60000) + step(read, 60000, End::accepting);
  std::string bit_by_bit;
  for (int i = 0; i < 40; ++i) bit_by_bit += step(move, 100) + step(move, 100, End::accepting);
  add("handshake_in_pieces", bit_by_bit + step(write, 10) + all);
  add("both_directions", written + all);
  add("new_keys", written + written + written + written + all);
  add("full", opened + step(write, 65535) + step(write, 65535) + all);
  add("finish", written + step(finish) + all + step(write, 100, End::accepting) + step(finish, End::accepting) + all);
  add("finish_early", step(finish) + step(finish, End::accepting) + all);
  add("truncated", written + step(move, 1000) + step(end, End::accepting) + all);
  add("truncated_handshake", step(move, 100) + step(end, End::accepting) + all);
  add("altered", written + step(alter, 1000) + one_byte(1) + all);
  add("altered_hello", step(alter, 60) + one_byte(1) + all);
  add("altered_certificate", step(move, 2000) + step(alter, 600, End::accepting) + one_byte(1) + all);
  add("dropped", written + step(drop, 3022) + all);
  add("dropped_in_part", written + step(drop, 10) + all);
  add("http", step(inject, End::accepting) + one_byte(18) + "GET / HTTP/1.1\r\n\r\n" + all);
  add("injected_alert", opened + step(inject) + one_byte(7) + std::string("\x15\x03\x03\0\2\2\x28", 7) + all);
  add("injected_early", step(inject) + one_byte(7) + std::string("\x15\x03\x03\0\2\2\x28", 7) + all);
}

}  // namespace spindle_fuzz

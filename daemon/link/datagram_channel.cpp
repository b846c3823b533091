#include "daemon/link/datagram_channel.h"

#include <algorithm>
#include <utility>

#include "daemon/base/check.h"

namespace spindled {

namespace {

/// Until the second question; then twice as long each time, up to kProbeInterval. The first one may come to a peer that
/// does not know yet that the link is up.
constexpr Duration kFirstInterval = 25ms;

}  // namespace

DatagramChannel::DatagramChannel(DatagramTerms terms, Time now) : terms_(std::move(terms)) { begin_trying(now); }

// Input.

DatagramChannel::Opened DatagramChannel::open(IncomingDatagram datagram, const DatagramHead& head) {
  const std::uint64_t number = window_.number_of(head.sequence);
  if (!window_.is_new(number)) return {Verdict::repeated, {}};
  std::span<std::uint8_t> body = datagram.bytes.subspan(kDatagramHeadBytes);
  if (terms_.cipher != nullptr) {
    if (body.size() < DatagramCipher::kTagBytes) return {Verdict::forged, {}};
    if (!terms_.cipher->open(number, datagram.bytes.first(kDatagramHeadBytes), body)) return {Verdict::forged, {}};
    body = body.first(body.size() - DatagramCipher::kTagBytes);
  }
  const bool is_newest = number > window_.highest();
  window_.take(number);
  // Only the newest says where the peer is now: an older one may have been on its way for long.
  if (is_newest) {
    last_from_ = datagram.from;
    candidate_bytes_ = datagram.from == terms_.address ? 0 : datagram.bytes.size();
  }
  return {Verdict::good, body};
}

bool DatagramChannel::probe_received(Time now, const DatagramAddress& from, const Probe& probe) {
  // What the peer cannot know of is no report.
  const auto ahead = static_cast<std::int32_t>(probe.highest - static_cast<std::uint32_t>(sent_));
  if (ahead > 0) return false;
  out_.look_at_bits(probe.highest, probe.received);
  in_.look(window_.highest(), window_.received());
  if (probe.kind == Probe::Kind::question) {
    put_probe(from, {.kind = Probe::Kind::answer, .mark = probe.mark});
    // Together with a question to the same place that is no more than came from there.
    candidate_bytes_ -= std::min(candidate_bytes_, question_bytes());
    return true;
  }
  const auto same = [&](const Question& question) { return question.is_open && question.mark == probe.mark; };
  const auto found = std::find_if(questions_.begin(), questions_.end(), same);
  if (found != questions_.end()) answer_received(now, *found);
  return true;
}

void DatagramChannel::answer_received(Time now, Question& question) {
  question.is_open = false;
  if (question.to == last_from_) terms_.address = question.to;
  if (question.to != terms_.address) return;  // an address that is not used any more
  // RFC 6298, the smoothed estimate.
  const Duration sample = std::max<Duration>(now - question.asked, 1ns);
  round_trip_ = round_trip_ == Duration::zero() ? sample : std::max<Duration>((7 * round_trip_ + sample) / 8, 1ns);
  if (last_answer_ == Time{}) {  // none of what was sent while the way was closed
    in_.forget();
    out_.forget();
  }
  last_answer_ = now;
  state_ = State::open;
}

// Output.

bool DatagramChannel::use(Time now) {
  const bool was_active = now < active_until_;
  active_until_ = now + kProbeActiveTime;
  if (state_ == State::open && !was_active) {
    next_question_ = now;
    if (now - last_answer_ > kAnswerValid) begin_trying(now);
  }
  return is_open();
}

void DatagramChannel::begin_trying(Time now) {
  state_ = State::trying;
  tries_ = 0;
  next_question_ = now;
}

std::optional<DatagramAddress> DatagramChannel::take_question(Time now) {
  if (state_ == State::closed && now >= next_question_) begin_trying(now);
  if (state_ == State::open && lost_in_a_row(now) >= kProbesLostMax) begin_trying(now);
  if (state_ == State::trying && tries_ >= kProbeTries && now >= next_question_) {
    state_ = State::closed;
    last_answer_ = {};
    round_trip_ = {};
    next_question_ = now + kProbeRetry;
  }
  // Questions of a way that is open end with the time in which it is used; `use` begins them anew.
  if (state_ == State::open && now >= active_until_) next_question_ = kNever;
  if (state_ != State::closed && now >= next_question_) {
    next_question_ = now + interval_to_next();
    return terms_.address;
  }
  if (candidate_bytes_ >= question_bytes() && now >= next_candidate_question_) {
    next_candidate_question_ = now + kProbeInterval;
    return last_from_;
  }
  return std::nullopt;
}

Duration DatagramChannel::interval_to_next() {
  if (state_ == State::open) return kProbeInterval;
  if (++tries_ == kProbeTries) return patience();
  return std::min<Duration>(kProbeInterval, kFirstInterval * (1 << (tries_ - 1)));
}

Time DatagramChannel::next_deadline() const {
  const bool is_over = state_ == State::open && next_question_ >= active_until_;
  const bool has_candidate = candidate_bytes_ >= question_bytes();
  return std::min(is_over ? kNever : next_question_, has_candidate ? next_candidate_question_ : kNever);
}

std::size_t DatagramChannel::question_bytes() const {
  return kDatagramHeadBytes + kDatagramFrameHeadBytes + kProbeBytesMin + (is_sealed() ? DatagramCipher::kTagBytes : 0);
}

void DatagramChannel::ask(Time now, const DatagramAddress& to, std::uint64_t mark) {
  questions_[asked_++ % questions_.size()] = {mark, now, to, true};
  in_.look(window_.highest(), window_.received());
  Probe probe{.kind = Probe::Kind::question, .mark = mark};
  probe.padding = datagram_room(terms_.datagram_bytes) - kDatagramFrameHeadBytes - kProbeBytesMin;
  if (to != terms_.address) {
    probe.padding = std::min(probe.padding, std::exchange(candidate_bytes_, 0) - question_bytes());
  }
  put_probe(to, probe);
}

void DatagramChannel::ask_beside(Time now, std::uint64_t mark) {
  ask(now, terms_.address, mark);
  questions_[(asked_ - 1) % questions_.size()].is_due = false;
}

Duration DatagramChannel::patience() const {
  return round_trip_ == Duration::zero() ? kProbePatience : std::max<Duration>(kProbeInterval, 2 * round_trip_);
}

int DatagramChannel::lost_in_a_row(Time now) const {
  int lost = 0;
  for (std::size_t i = 0; i < std::min(asked_, questions_.size()); ++i) {
    const Question& question = questions_[(asked_ - 1 - i) % questions_.size()];
    if (question.to != terms_.address || (question.is_open && !question.is_due)) continue;
    if (!question.is_open || question.asked < last_answer_) break;
    if (now - question.asked >= patience()) ++lost;
  }
  return lost;
}

bool DatagramChannel::append(std::uint8_t type, ByteView head, ByteView tail) {
  const std::size_t length = head.size() + tail.size();
  const std::size_t room = datagram_room(terms_.datagram_bytes);
  SPINDLE_CHECK(length <= frame_bytes_max());
  if (bytes_.size() + terms_.datagram_bytes > kDatagramTurnBytesMax) return false;
  const auto fits = [&](const Length& last) {
    return !last.is_full && last.to == terms_.address &&
           last.bytes + kDatagramFrameHeadBytes + length <= kDatagramHeadBytes + room;
  };
  if (lengths_.empty() || !fits(lengths_.back())) begin_datagram(terms_.address, false);
  Writer writer(grow(kDatagramFrameHeadBytes + length));
  write_datagram_frame_head(writer, type, length);
  writer.bytes(head);
  writer.bytes(tail);
  return true;
}

/// Answers, too, are bounded by what a turn may hold.
void DatagramChannel::put_probe(const DatagramAddress& to, Probe probe) {
  if (bytes_.size() + terms_.datagram_bytes > 2 * kDatagramTurnBytesMax) return;
  probe.received = static_cast<std::uint32_t>(window_.received());
  probe.highest = static_cast<std::uint32_t>(window_.highest());
  const std::size_t length = kProbeBytesMin + probe.padding;
  begin_datagram(to, true);
  Writer writer(grow(kDatagramFrameHeadBytes + length));
  write_datagram_frame_head(writer, kProbeFrame, length);
  write_probe(writer, probe);
}

void DatagramChannel::begin_datagram(const DatagramAddress& to, bool is_full) {
  end_datagram();
  lengths_.push_back({0, to, is_full});
  Writer writer(grow(kDatagramHeadBytes));
  write_datagram_head(writer, {terms_.peer_token, static_cast<std::uint32_t>(++sent_)});
}

void DatagramChannel::end_datagram() {
  if (!lengths_.empty() && terms_.cipher != nullptr) grow(DatagramCipher::kTagBytes);
}

std::uint8_t* DatagramChannel::grow(std::size_t bytes) {
  lengths_.back().bytes += bytes;
  bytes_.resize(bytes_.size() + bytes);
  return bytes_.data() + bytes_.size() - bytes;
}

void DatagramChannel::gather(std::vector<OutgoingDatagram>& out) {
  end_datagram();
  std::uint64_t number = sent_ - lengths_.size();
  std::span<std::uint8_t> rest(bytes_);
  for (const Length& length : lengths_) {
    const std::span<std::uint8_t> datagram = rest.first(length.bytes);
    rest = rest.subspan(length.bytes);
    ++number;
    if (terms_.cipher != nullptr) {
      const std::span<std::uint8_t> body = datagram.subspan(kDatagramHeadBytes);
      terms_.cipher->seal(number, datagram.first(kDatagramHeadBytes), body);
    }
    out.push_back({length.to, datagram});
  }
}

void DatagramChannel::clear() {
  constexpr std::size_t kKeptBytes = 256u << 10;
  if (bytes_.capacity() > kKeptBytes) std::vector<std::uint8_t>().swap(bytes_);
  bytes_.clear();
  lengths_.clear();
}

}  // namespace spindled

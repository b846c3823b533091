// The way of datagrams between the two ends of one link.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "daemon/base/datagram.h"
#include "daemon/base/time.h"
#include "daemon/link/datagram_limits.h"
#include "daemon/link/datagram_window.h"
#include "daemon/link/loss_meter.h"
#include "daemon/wire/datagram_envelope.h"

namespace spindled {

/// What the ends have told each other on the connection of the link.
struct DatagramTerms {
  std::uint64_t own_token = 0;
  std::uint64_t peer_token = 0;
  std::size_t datagram_bytes = 0;
  DatagramAddress address;                 // where the peer should be
  std::unique_ptr<DatagramCipher> cipher;  // null: the token is all that there is
};

/// Numbers, protects and opens datagrams, and knows whether they get through: the way is open once a question that is
/// as long as a datagram may be was answered, and as long as answers keep coming. Whether an address is the peer's is
/// found out in the same way before anything else is sent there.
///
/// Order of calls for output: `append`, `ask` and `probe_received`, which may answer, in any order; then `gather`,
/// send, `clear`.
class DatagramChannel {
 public:
  enum class State : std::uint8_t {
    trying,  // questions are asked, and none has been answered yet
    open,
    closed,  // until it is tried again
  };
  DatagramChannel(DatagramTerms terms, Time now);

  State state() const { return state_; }
  bool is_open() const { return state_ == State::open; }
  std::uint64_t own_token() const { return terms_.own_token; }
  std::size_t datagram_bytes() const { return terms_.datagram_bytes; }
  /// The longest body of a frame that fits into one.
  std::size_t frame_bytes_max() const { return datagram_room(terms_.datagram_bytes) - kDatagramFrameHeadBytes; }
  const DatagramAddress& address() const { return terms_.address; }
  bool is_sealed() const { return terms_.cipher != nullptr; }
  /// Smoothed; zero until measured.
  Duration round_trip() const { return round_trip_; }
  double loss_in() const { return in_.share(); }
  double loss_out() const { return out_.share(); }

  // Input.

  enum class Verdict : std::uint8_t {
    good,
    repeated,  // it has come before, or is so old that this is not known
    forged,    // the peer has not sealed it
  };
  struct Opened {
    Verdict verdict{};
    ByteView frames;
  };
  /// `datagram` has the token of this channel; it is changed in place.
  Opened open(IncomingDatagram datagram, const DatagramHead& head);
  /// What stood in a datagram from `from` that was good. False: the peer cannot have sent that.
  bool probe_received(Time now, const DatagramAddress& from, const Probe& probe);

  // Output.

  /// There is something to send to the peer: whether it may go by datagram now. Keeps the questions going.
  bool use(Time now);
  /// A frame whose body is in two parts, frame_bytes_max together at most; false: there is no room for it in this turn.
  bool append(std::uint8_t type, ByteView head, ByteView tail);
  /// Where a question is to be asked now; `ask` follows, and then this again. Gives up on answers, too.
  std::optional<DatagramAddress> take_question(Time now);
  /// `mark` is another one each time, which nobody can guess. As long as `to` is not known to be the peer's, who made
  /// us ask there gets no more bytes sent than he has sent himself.
  void ask(Time now, const DatagramAddress& to, std::uint64_t mark);
  /// A question to the peer that is not due: where no answer comes that says nothing of the way.
  void ask_beside(Time now, std::uint64_t mark);
  /// When there is a question to ask, or its answer to be missed.
  Time next_deadline() const;

  bool has_output() const { return !lengths_.empty(); }
  /// Seals all, and adds it to `out`, which refers to this until `clear`.
  void gather(std::vector<OutgoingDatagram>& out);
  void clear();

 private:
  struct Question {
    std::uint64_t mark = 0;
    Time asked{};
    DatagramAddress to;
    bool is_open = false;  // it is not answered
    bool is_due = true;    // it was asked in its turn, and is missed where it is not answered
  };
  struct Length {
    std::size_t bytes = 0;
    DatagramAddress to;
    bool is_full = false;  // takes no more frames
  };

  void begin_trying(Time now);
  void put_probe(const DatagramAddress& to, Probe probe);
  void answer_received(Time now, Question& question);
  void begin_datagram(const DatagramAddress& to, bool is_full);
  void end_datagram();
  std::uint8_t* grow(std::size_t bytes);
  /// One is asked now.
  Duration interval_to_next();
  Duration patience() const;
  /// Of one without padding.
  std::size_t question_bytes() const;
  /// Questions to the address in use that have not been answered in time, since the last one that was.
  int lost_in_a_row(Time now) const;

  DatagramTerms terms_;
  State state_ = State::trying;
  Time next_question_;
  int tries_ = 0;
  Time last_answer_{};
  Time active_until_{};
  Duration round_trip_{};

  DatagramAddress last_from_;        // where the newest datagram came from: the peer may be there now,
  std::size_t candidate_bytes_ = 0;  // and is asked by no more bytes than that had; 0: it is not to be asked
  Time next_candidate_question_{};
  std::array<Question, 16> questions_;
  std::size_t asked_ = 0;  // ever; the last ones are in `questions_`

  DatagramWindow window_;
  std::uint64_t sent_ = 0;  // the last number
  LossMeter in_;
  LossMeter out_;

  // Datagrams of this turn, one behind the other, each with room for the head and the tag.
  std::vector<std::uint8_t> bytes_;
  std::vector<Length> lengths_;
};

}  // namespace spindled

// What clients ask of bulk channels, and what their daemon tells them. `docs/wire-format.md` shows each frame with a
// worked example.
//
// A channel is one content that a client, the source, offers to a group. It stands in the order of messages and group
// views where it is offered, sealed, completed and ended. The content itself travels on other connections.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "libclient/bulk/channel_id.h"
#include "libclient/bulk/content_layout.h"
#include "libclient/common/growing_writer.h"
#include "libclient/include/spindle/types.h"
#include "libclient/protocol/client_frames.h"

namespace spindle::protocol {

using bulk::BulkChannelId;
using bulk::ContentLayout;

inline constexpr std::size_t kContentNameBytesMax = 255;
/// A share of what a connection carries, beside those of other channels.
inline constexpr std::uint8_t kChannelWeightMax = 100;
inline constexpr std::uint8_t kChannelWeightDefault = 10;
inline constexpr std::uint32_t kLingerSecondsDefault = 60;
/// A `bulk_complete` that has more names than fit into so many bytes goes in several frames.
inline constexpr std::size_t kBulkCompleteBytesMax = 48u << 10;

enum class ContentKind : std::uint8_t { bytes = 0, file = 1, directory = 2 };
inline constexpr ContentKind kContentKindLast = ContentKind::directory;

/// SHA-256 of the index of a content, which is the SHA-256 of each of its blocks, one behind the other.
using ContentRoot = std::array<std::uint8_t, 32>;

/// What is offered, and how it is to be sent.
struct ContentTerms {
  std::string name;  // UTF-8, kContentNameBytesMax bytes at most; may be empty
  ContentLayout layout;
  ContentKind kind = ContentKind::bytes;
  std::uint64_t bytes_per_second = 0;  // the most that the source is to send; 0: as much as goes
  std::uint8_t weight = kChannelWeightDefault;
  std::uint32_t linger_s = kLingerSecondsDefault;  // how long the channel stays once it is complete
  bool operator==(const ContentTerms&) const = default;
};

/// How a receiver stands. What is said first of the last three is so for good.
enum class BulkOutcome : std::uint8_t {
  none = 0,
  accepted = 1,
  done = 2,
  failed = 3,
  refused = 4,
  kept = 5,  // done, and it gives the content to nobody
};
inline constexpr BulkOutcome kBulkOutcomeLast = BulkOutcome::kept;
constexpr bool is_final(BulkOutcome outcome) { return outcome >= BulkOutcome::done; }

/// Why a channel has ended.
enum class BulkEnd : std::uint8_t {
  cancelled = 1,  // by the source
  over = 2,       // complete, and its time to linger is over
  abandoned = 3,  // the source is gone, nobody has the content, and nothing has happened for long
  elsewhere = 4,  // the daemons of another side, which have met with this one's, know that it has ended
};
inline constexpr BulkEnd kBulkEndLast = BulkEnd::elsewhere;

// From the client. Each has a number that the answer echoes, `request`. What is refused is answered by a `reply` with
// the reason; what is not by one with 0, but for an offer, which is answered by a `bulk_offered` with that number.

struct BulkOffer {
  std::uint32_t request = 0;
  std::string group;
  ContentTerms terms;
  bool operator==(const BulkOffer&) const = default;
};
/// The content is whole: no block comes any more.
struct BulkSeal {
  std::uint32_t request = 0;
  BulkChannelId channel;
  std::uint64_t size = 0;  // bytes
  ContentRoot root{};
  bool operator==(const BulkSeal&) const = default;
};
/// By a receiver, about itself.
struct BulkOutcomeSaid {
  std::uint32_t request = 0;
  BulkChannelId channel;
  BulkOutcome outcome = BulkOutcome::accepted;  // not none
  std::uint16_t code = 0;                       // an Errc; of `failed` only
  bool operator==(const BulkOutcomeSaid&) const = default;
};
struct BulkCancel {
  std::uint32_t request = 0;
  BulkChannelId channel;
  bool operator==(const BulkCancel&) const = default;
};
struct BulkSetRate {
  std::uint32_t request = 0;
  BulkChannelId channel;
  std::uint64_t bytes_per_second = 0;  // as in ContentTerms
  bool operator==(const BulkSetRate&) const = default;
};
/// Asks for a token, by which another connection proves to be of the same session.
struct BulkTokenRequest {
  std::uint32_t request = 0;
  bool operator==(const BulkTokenRequest&) const = default;
};

// From the daemon, to clients whose `hello` asks for them.

struct BulkOffered {
  BulkChannelId channel;
  std::uint32_t request = 0;  // of the client's own offer; 0: somebody else's
  bool is_late = false;       // the client has become a member later, and is not of the audience
  bool is_complete = false;
  std::string group;
  std::string source;               // private name
  ContentTerms terms;               // with the size where it is known
  std::optional<ContentRoot> root;  // nothing: not sealed yet
  bool operator==(const BulkOffered&) const = default;
};
struct BulkSealed {
  BulkChannelId channel;
  std::uint64_t size = 0;
  ContentRoot root{};
  bool operator==(const BulkSealed&) const = default;
};
/// Of the audience those that are not of it any more, as they have left, were lost or went apart: how many had which
/// outcome, and how many went before they had one.
struct BulkGone {
  std::uint64_t done = 0;
  std::uint64_t failed = 0;
  std::uint64_t refused = 0;
  std::uint64_t missing = 0;
  bool operator==(const BulkGone&) const = default;
};
/// The last of the audience is done, has failed or has refused.
struct BulkComplete {
  struct Failed {
    std::string name;
    std::uint16_t code = 0;  // an Errc
    bool operator==(const Failed&) const = default;
  };
  BulkChannelId channel;
  /// In which view of the daemons, and where in its order; 0: at its beginning.
  GroupViewId place;
  // Private names, in the order of the members of the group.
  std::vector<std::string> done;
  std::vector<Failed> failed;
  std::vector<std::string> refused;
  BulkGone gone{};
  /// Adds the names of a further frame.
  void append(BulkComplete&& more);
  bool operator==(const BulkComplete&) const = default;
};
struct BulkEnded {
  BulkChannelId channel;
  BulkEnd why = BulkEnd::cancelled;
  bool operator==(const BulkEnded&) const = default;
};
/// To the source, behind the completion: some of those that were missing then are back, are away again, or have said
/// what comes of them.
struct BulkReturned {
  BulkChannelId channel;
  /// What has come of them since the completion, and how many are missing still.
  BulkGone gone{};
  std::uint64_t present = 0;  // of the latter: they are members again, and have accepted the content
  bool operator==(const BulkReturned&) const = default;
};
struct BulkToken {
  static constexpr std::size_t kBytes = 16;
  std::uint32_t request = 0;
  std::uint64_t session = 0;
  std::array<std::uint8_t, kBytes> token{};
  bool operator==(const BulkToken&) const = default;
};

using BulkRequest = std::variant<BulkOffer, BulkSeal, BulkOutcomeSaid, BulkCancel, BulkSetRate, BulkTokenRequest>;
using BulkNews = std::variant<BulkOffered, BulkSealed, BulkComplete, BulkEnded, BulkToken, BulkReturned>;

/// Whether frames of this type are of a BulkRequest.
constexpr bool is_bulk_request(ClientFrame type) {
  return type >= ClientFrame::bulk_offer && type <= ClientFrame::bulk_token_request;
}
/// Whether they are of a BulkNews.
constexpr bool is_bulk_news(ClientFrame type) {
  return type >= ClientFrame::bulk_offered && type <= ClientFrame::bulk_returned;
}
ClientFrame type_of(const BulkRequest& request);
std::uint32_t number_of(const BulkRequest& request);
void set_number(BulkRequest& request, std::uint32_t number);

// What operations between daemons have, too. Reading fails where it cannot be.
void write_terms(GrowingWriter& writer, const ContentTerms& terms);
ContentTerms read_terms(Reader& reader);
ContentRoot read_root(Reader& reader);
/// The outcome, and of `failed` its code.
void write_outcome(GrowingWriter& writer, BulkOutcome outcome, std::uint16_t code);
BulkOutcome read_outcome(Reader& reader, std::uint16_t& code);
void write_channel(GrowingWriter& writer, const BulkChannelId& channel);

/// Appends one frame, head included.
void write_bulk_request(std::vector<std::uint8_t>& out, const BulkRequest& request);
/// The same; of a `bulk_complete` that is long several.
void write_bulk_news(std::vector<std::uint8_t>& out, const BulkNews& news);

// Of the bytes behind the frame head; nothing where they are not exactly one well-formed frame of that type. Names are
// those of groups and clients, but for the session of a token that may be any.
std::optional<BulkRequest> read_bulk_request(ClientFrame type, ByteView body);
/// `more`: the next frame goes on with the names of this `bulk_complete`.
std::optional<BulkNews> read_bulk_news(ClientFrame type, ByteView body, bool& more);

}  // namespace spindle::protocol

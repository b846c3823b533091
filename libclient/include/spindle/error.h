// Error and close codes: one table for the client library, the wire, the logs and the counters.
#pragma once

#include <cstdint>
#include <string_view>
#include <system_error>

#include "spindle/export.h"

// X(name, number, text). Numbers go over the wire and never change; new codes are appended.
#define SPINDLE_ERRORS(X)                                                                                 \
  X(would_block, 1, "the message cannot enter the network now")                                           \
  X(timed_out, 2, "the operation timed out")                                                              \
  X(not_connected, 3, "the connection is not open")                                                       \
  X(connect_failed, 4, "the daemon cannot be reached")                                                    \
  X(connection_lost, 5, "the connection was lost")                                                        \
  X(closed_by_client, 6, "the client closed the connection")                                              \
  X(daemon_stopping, 7, "the daemon is stopping")                                                         \
  X(message_too_large, 8, "the message is larger than 16 MiB")                                            \
  X(too_many_groups, 9, "a message goes to 1 to 1,000 groups")                                            \
  X(bad_group_name, 10, "a group name has 1 to 255 bytes and does not start with '#'")                    \
  X(bad_client_name, 11, "a client name has 1 to 64 printable characters other than '#' and space")       \
  X(name_in_use, 12, "another client of this daemon has that name")                                       \
  X(version_mismatch, 13, "no protocol version in common")                                                \
  X(malformed_frame, 14, "a frame could not be parsed")                                                   \
  X(frame_too_large, 15, "a frame exceeds the size limit")                                                \
  X(unexpected_frame, 16, "a frame came at the wrong time")                                               \
  X(handshake_timeout, 17, "the handshake was not completed in time")                                     \
  X(slow_receiver, 18, "the client did not read its messages in time")                                    \
  X(too_many_sessions, 19, "the daemon has reached its limit of clients")                                 \
  X(too_many_memberships, 20, "the client has joined as many groups as the daemon allows")                \
  X(not_a_member, 21, "the client is not a member of the group")                                          \
  X(already_a_member, 22, "the client is already a member of the group")                                  \
  X(cluster_mismatch, 23, "the daemons belong to different clusters")                                     \
  X(settings_mismatch, 24, "settings that must agree differ between the daemons")                         \
  X(name_conflict, 25, "two daemons use the same name")                                                   \
  X(duplicate_link, 26, "another connection to the same neighbour is kept")                               \
  X(silent_peer, 27, "nothing was heard from the peer within its liveness time")                          \
  X(bad_address, 28, "an address is not valid")                                                           \
  X(bad_configuration, 29, "the configuration is not valid")                                              \
  X(limit_exceeded, 30, "a limit of the daemon was exceeded")                                             \
  X(link_failed, 31, "the connection to the neighbour failed")                                            \
  X(internal_error, 32, "an internal error occurred")                                                     \
  X(unknown_request, 33, "the request is not known")                                                      \
  X(bad_argument, 34, "an argument is not valid")                                                         \
  X(partitioned, 35, "a partition imposed for a field test holds the daemons apart")                      \
  X(group_table_full, 36, "the daemons have as many groups as they may, and this would be another")       \
  X(identity_mismatch, 37, "the peer's certificate is that of somebody else")                             \
  X(tls_failed, 38, "the connection could not be protected by TLS")                                       \
  X(access_denied, 39, "the daemon's access rules do not allow it")                                       \
  X(token_unknown, 40, "the token is not known to the daemon")                                            \
  X(token_expired, 41, "the token has expired")                                                           \
  X(token_missing, 42, "a client without a certificate has to send a token")                              \
  X(token_exposed, 43, "a token goes only over TLS or a unix socket")                                     \
  X(mode_mismatch, 44, "the group is synchronous and this is not, or the other way round")                \
  X(flushing, 45, "the client has answered a flush request of the group, and its view is to come")        \
  X(flush_timeout, 46, "the client did not answer a flush request of the group in time")                  \
  X(bad_headers, 48, "a header has a key of 1 to 255 bytes without '$' in front; all take 4 KiB at most") \
  X(out_of_memory, 56, "there is not enough memory")                                                      \
  X(cancelled, 57, "the program has cancelled the call")                                                  \
  X(too_many_channels, 58, "there are as many bulk channels as there may be, or as the client may offer") \
  X(unknown_channel, 59, "there is no such bulk channel, or it has ended")                                \
  X(no_space, 60, "there is no room for the content where it is to be stored")                            \
  X(file_failed, 61, "a file of the content cannot be read or written")                                   \
  X(file_exists, 62, "there is a file of that name already, or it is being received")                     \
  X(bad_content_name, 63, "the name of the content is not one that a file can have here")                 \
  X(unknown_feed, 64, "there is no such feed, or it has ended")                                           \
  X(too_many_feeds, 65, "the client has as many feeds open as it may")                                    \
  X(flow_exceeded, 66, "the client sent more than it had room for")

// X(name, condition): the codes that mean what a condition of std::errc means, so that `error == std::errc::timed_out`
// holds for them. Where several conditions would do, it is the one that a socket would report.
#define SPINDLE_CONDITIONS(X)                  \
  X(would_block, operation_would_block)        \
  X(timed_out, timed_out)                      \
  X(not_connected, not_connected)              \
  X(connect_failed, connection_refused)        \
  X(connection_lost, connection_reset)         \
  X(closed_by_client, operation_canceled)      \
  X(daemon_stopping, connection_aborted)       \
  X(message_too_large, message_size)           \
  X(too_many_groups, argument_list_too_long)   \
  X(bad_group_name, invalid_argument)          \
  X(bad_client_name, invalid_argument)         \
  X(name_in_use, address_in_use)               \
  X(version_mismatch, protocol_not_supported)  \
  X(malformed_frame, protocol_error)           \
  X(frame_too_large, protocol_error)           \
  X(unexpected_frame, protocol_error)          \
  X(handshake_timeout, timed_out)              \
  X(slow_receiver, no_buffer_space)            \
  X(too_many_sessions, too_many_files_open)    \
  X(too_many_memberships, too_many_files_open) \
  X(already_a_member, already_connected)       \
  X(silent_peer, timed_out)                    \
  X(bad_address, invalid_argument)             \
  X(bad_configuration, invalid_argument)       \
  X(limit_exceeded, no_buffer_space)           \
  X(link_failed, connection_reset)             \
  X(unknown_request, function_not_supported)   \
  X(bad_argument, invalid_argument)            \
  X(partitioned, network_unreachable)          \
  X(group_table_full, no_space_on_device)      \
  X(identity_mismatch, permission_denied)      \
  X(access_denied, permission_denied)          \
  X(token_unknown, permission_denied)          \
  X(token_expired, permission_denied)          \
  X(token_missing, permission_denied)          \
  X(token_exposed, permission_denied)          \
  X(mode_mismatch, invalid_argument)           \
  X(flushing, operation_in_progress)           \
  X(flush_timeout, timed_out)                  \
  X(bad_headers, invalid_argument)             \
  X(out_of_memory, not_enough_memory)          \
  X(cancelled, operation_canceled)             \
  X(too_many_channels, no_buffer_space)        \
  X(no_space, no_space_on_device)              \
  X(file_failed, io_error)                     \
  X(file_exists, file_exists)                  \
  X(bad_content_name, invalid_argument)        \
  X(too_many_feeds, no_buffer_space)           \
  X(flow_exceeded, no_buffer_space)

namespace spindle {

/// Everything that can go wrong, for requests that fail and connections that close.
enum class Errc : std::uint16_t {
#define SPINDLE_ERRC(name, number, text) name = number,
  SPINDLE_ERRORS(SPINDLE_ERRC)
#undef SPINDLE_ERRC
};

/// The identifier of a code, such as "slow_receiver"; "unknown_error" for a number not in the table.
[[nodiscard]] SPINDLE_EXPORT std::string_view to_string(Errc code) noexcept;

/// The sentence that explains a code.
[[nodiscard]] SPINDLE_EXPORT std::string_view describe(Errc code) noexcept;

/// The category of `std::error_code`s made from Errc; its name is "spindle". Codes of SPINDLE_CONDITIONS are equal to
/// their conditions.
[[nodiscard]] SPINDLE_EXPORT const std::error_category& error_category() noexcept;

[[nodiscard]] SPINDLE_EXPORT std::error_code make_error_code(Errc code) noexcept;

}  // namespace spindle

template <>
struct std::is_error_code_enum<spindle::Errc> : std::true_type {};

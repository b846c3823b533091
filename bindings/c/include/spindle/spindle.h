/* The C interface of Spindle's client library: groups of programs, and messages to them. docs/c.md is its guide.

   Handles. What is not spindle_bytes is a handle, which functions make and free. A null handle is no mistake that ends
   a program: functions say SPINDLE_ERROR_BAD_ARGUMENT, or that there is nothing. To free null does nothing.

   Text. A `const char*` is text in UTF-8 that ends with a zero byte. Names of groups and clients, and payloads, are
   spindle_bytes, in which zero bytes are bytes like others.

   Times are nanoseconds. Zero: the call does not wait, but for room for a request, as spindle_join() says.
   SPINDLE_NO_TIMEOUT, or any negative number: without a bound.

   Threads. All functions of a connection may be called by several threads at once, but spindle_close(), which must
   coincide with no other call. The same holds of a spindle_bulk and spindle_bulk_close(), and of a spindle_feed and
   spindle_feed_close(). An event may be read by several threads at once. Options, send options, memberships, and
   sources and sinks of bulk content belong to one thread at a time; while nobody changes them, several may read them.
   Several threads may use a token, and one of them cancel it, at once.

   fork(). In the child the connection is a closed one: requests, sending and spindle_next() say
   SPINDLE_ERROR_NOT_CONNECTED, and spindle_close() frees it and leaves the parent's alone. So is a spindle_bulk, and a
   spindle_feed. The child may make connections of its own.

   Numbers never change, and functions stay as they are; new ones are added with new versions. A program has to bear
   with kinds of events, codes and causes that it does not know. */
#ifndef SPINDLE_SPINDLE_H
#define SPINDLE_SPINDLE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__)
#define SPINDLE_C_API __attribute__((visibility("default")))
#else
#define SPINDLE_C_API
#endif

/* The version of this header. One number that grows with it, for comparisons: 0.1.0 is 100, 1.2.3 is 10203. */
#define SPINDLE_VERSION_MAJOR 0
#define SPINDLE_VERSION_MINOR 1
#define SPINDLE_VERSION_PATCH 0
#define SPINDLE_VERSION_NUMBER (SPINDLE_VERSION_MAJOR * 10000 + SPINDLE_VERSION_MINOR * 100 + SPINDLE_VERSION_PATCH)

#ifdef __cplusplus
extern "C" {
#endif

/* `size` bytes at `data`, which may be null where there are none. As an argument it is read during the call only; what
   a function returns belongs to the handle that it was asked of. */
typedef struct spindle_bytes {
  const void* data;
  size_t size;
} spindle_bytes;

/* 0 where all is well, or one of the errors below. */
typedef int32_t spindle_code;

typedef struct spindle_options spindle_options;
typedef struct spindle_connection spindle_connection;
typedef struct spindle_send_options spindle_send_options;
typedef struct spindle_event spindle_event;
typedef struct spindle_membership spindle_membership;
typedef struct spindle_answers spindle_answers;
typedef struct spindle_cancel_token spindle_cancel_token;
typedef struct spindle_bulk_options spindle_bulk_options;
typedef struct spindle_bulk spindle_bulk;
typedef struct spindle_channel spindle_channel;
typedef struct spindle_bulk_source spindle_bulk_source;
typedef struct spindle_bulk_sink spindle_bulk_sink;
typedef struct spindle_offer_options spindle_offer_options;
typedef struct spindle_feed_options spindle_feed_options;
typedef struct spindle_feed spindle_feed;

#define SPINDLE_NO_TIMEOUT ((int64_t)-1)

/* A text, without the zero byte that ends it, as bytes. Null is no bytes. */
static inline spindle_bytes spindle_text(const char* text) {
  spindle_bytes bytes;
  bytes.data = text;
  bytes.size = text == NULL ? 0 : strlen(text);
  return bytes;
}

/* ---- Errors ---- */

enum {
  SPINDLE_ERROR_WOULD_BLOCK = 1,
  SPINDLE_ERROR_TIMED_OUT = 2,
  SPINDLE_ERROR_NOT_CONNECTED = 3,
  SPINDLE_ERROR_CONNECT_FAILED = 4,
  SPINDLE_ERROR_CONNECTION_LOST = 5,
  SPINDLE_ERROR_CLOSED_BY_CLIENT = 6,
  SPINDLE_ERROR_DAEMON_STOPPING = 7,
  SPINDLE_ERROR_MESSAGE_TOO_LARGE = 8,
  SPINDLE_ERROR_TOO_MANY_GROUPS = 9,
  SPINDLE_ERROR_BAD_GROUP_NAME = 10,
  SPINDLE_ERROR_BAD_CLIENT_NAME = 11,
  SPINDLE_ERROR_NAME_IN_USE = 12,
  SPINDLE_ERROR_VERSION_MISMATCH = 13,
  SPINDLE_ERROR_MALFORMED_FRAME = 14,
  SPINDLE_ERROR_FRAME_TOO_LARGE = 15,
  SPINDLE_ERROR_UNEXPECTED_FRAME = 16,
  SPINDLE_ERROR_HANDSHAKE_TIMEOUT = 17,
  SPINDLE_ERROR_SLOW_RECEIVER = 18,
  SPINDLE_ERROR_TOO_MANY_SESSIONS = 19,
  SPINDLE_ERROR_TOO_MANY_MEMBERSHIPS = 20,
  SPINDLE_ERROR_NOT_A_MEMBER = 21,
  SPINDLE_ERROR_ALREADY_A_MEMBER = 22,
  SPINDLE_ERROR_CLUSTER_MISMATCH = 23,
  SPINDLE_ERROR_SETTINGS_MISMATCH = 24,
  SPINDLE_ERROR_NAME_CONFLICT = 25,
  SPINDLE_ERROR_DUPLICATE_LINK = 26,
  SPINDLE_ERROR_SILENT_PEER = 27,
  SPINDLE_ERROR_BAD_ADDRESS = 28,
  SPINDLE_ERROR_BAD_CONFIGURATION = 29,
  SPINDLE_ERROR_LIMIT_EXCEEDED = 30,
  SPINDLE_ERROR_LINK_FAILED = 31,
  SPINDLE_ERROR_INTERNAL_ERROR = 32,
  SPINDLE_ERROR_UNKNOWN_REQUEST = 33,
  SPINDLE_ERROR_BAD_ARGUMENT = 34,
  SPINDLE_ERROR_PARTITIONED = 35,
  SPINDLE_ERROR_GROUP_TABLE_FULL = 36,
  SPINDLE_ERROR_IDENTITY_MISMATCH = 37,
  SPINDLE_ERROR_TLS_FAILED = 38,
  SPINDLE_ERROR_ACCESS_DENIED = 39,
  SPINDLE_ERROR_TOKEN_UNKNOWN = 40,
  SPINDLE_ERROR_TOKEN_EXPIRED = 41,
  SPINDLE_ERROR_TOKEN_MISSING = 42,
  SPINDLE_ERROR_TOKEN_EXPOSED = 43,
  SPINDLE_ERROR_MODE_MISMATCH = 44,
  SPINDLE_ERROR_FLUSHING = 45,
  SPINDLE_ERROR_FLUSH_TIMEOUT = 46,
  SPINDLE_ERROR_BAD_HEADERS = 48,
  SPINDLE_ERROR_OUT_OF_MEMORY = 56,
  SPINDLE_ERROR_CANCELLED = 57,
  SPINDLE_ERROR_TOO_MANY_CHANNELS = 58,
  SPINDLE_ERROR_UNKNOWN_CHANNEL = 59,
  SPINDLE_ERROR_NO_SPACE = 60,
  SPINDLE_ERROR_FILE_FAILED = 61,
  SPINDLE_ERROR_FILE_EXISTS = 62,
  SPINDLE_ERROR_BAD_CONTENT_NAME = 63,
  SPINDLE_ERROR_UNKNOWN_FEED = 64,
  SPINDLE_ERROR_TOO_MANY_FEEDS = 65,
  SPINDLE_ERROR_FLOW_EXCEEDED = 66
};

/* The identifier of a code, such as "slow_receiver", and the sentence that explains it; both "success" for 0. A code
   that the library does not know is "unknown_error". The texts are there for ever. */
SPINDLE_C_API const char* spindle_error_name(spindle_code code);
SPINDLE_C_API const char* spindle_error_text(spindle_code code);

/* The version of the library that the program runs with, such as "0.1.0": it may be newer than this header. */
SPINDLE_C_API const char* spindle_version(void);

/* ---- Calls that are cancelled ---- */

/* With a token a program ends calls that wait, in whatever threads these are: spindle_..._cancellable(), and sending
   with options that have it. They say SPINDLE_ERROR_CANCELLED then, unless what they wait for has come before. So do
   calls that begin when the token has been cancelled, at once, and they do nothing else. A token serves any number of
   calls; once cancelled it stays so. A null token is one that nobody cancels. Null without memory. */
SPINDLE_C_API spindle_cancel_token* spindle_cancel_token_new(void);
/* Calls that wait with it go on, and can be cancelled no longer. Who has been told CANCELLED may free it at once. */
SPINDLE_C_API void spindle_cancel_token_free(spindle_cancel_token* token);
/* In any thread, any number of times, but not by a signal's handler. Only null is a BAD_ARGUMENT. */
SPINDLE_C_API spindle_code spindle_cancel(spindle_cancel_token* token);
/* 1 where the token has been cancelled, otherwise 0. */
SPINDLE_C_API int spindle_is_cancelled(const spindle_cancel_token* token);

/* ---- How to connect ---- */

/* What a daemon does about a client that does not read fast enough. */
enum {
  SPINDLE_SLOW_DAEMON_DEFAULT = 0, /* what its configuration says */
  SPINDLE_SLOW_PRICE = 1,          /* senders slow down; the client is cut off only where it stops reading */
  SPINDLE_SLOW_DROP = 2,           /* the oldest messages are lost, and the client is told which */
  SPINDLE_SLOW_DISCONNECT = 3      /* the client is cut off */
};

/* Options that are all at their defaults; null without memory. spindle_connect() copies what it needs of them: they can
   serve for several connections, and be freed at any time. */
SPINDLE_C_API spindle_options* spindle_options_new(void);
SPINDLE_C_API void spindle_options_free(spindle_options* options);

/* Each of these says SPINDLE_ERROR_BAD_ARGUMENT, and changes nothing, where the options are null or the value is none
   that there is. A null text stands for the default.

   The daemon: "unix:/path" or "/path"; "tls:host:port" or "tls:host"; "tcp:host:port", "host:port" or "host" (port
   4803); IPv6 addresses in brackets. Default: what the environment variable SPINDLE_ADDRESS says, otherwise the socket
   of a daemon of this host. */
SPINDLE_C_API spindle_code spindle_options_set_address(spindle_options* options, const char* address);
/* A further daemon, in the same form; null takes all of them away. They are tried in this order where the one before
   cannot be reached or is lost, and then from the first one again. */
SPINDLE_C_API spindle_code spindle_options_add_address(spindle_options* options, const char* address);
/* For how long the library tries to connect again where a connection is lost; SPINDLE_EVENT_DISCONNECTED then. 0: the
   loss is the end. Default: one minute. spindle_connect itself does not wait for a daemon that is not there. */
SPINDLE_C_API spindle_code spindle_options_set_reconnect_timeout(spindle_options* options, int64_t timeout_ns);
/* Not zero: the daemon is asked to keep the session for a while where its connection is lost. Default: 1. */
SPINDLE_C_API spindle_code spindle_options_set_resume(spindle_options* options, int resume);
/* How often the library makes sure that the daemon is there; 0: never. Default: 10 s. */
SPINDLE_C_API spindle_code spindle_options_set_keepalive(spindle_options* options, int64_t period_ns);
/* The client is known to groups as "#name#daemon". 1 to 64 printable characters other than '#' and space. Default: the
   daemon chooses. */
SPINDLE_C_API spindle_code spindle_options_set_name(spindle_options* options, const char* name);
/* For "tls:", a file of PEM with the CA certificates of the cluster, and the key and certificate of this client unless
   it has a token. Default: what the environment variable SPINDLE_TLS_BUNDLE says. */
SPINDLE_C_API spindle_code spindle_options_set_tls_bundle(spindle_options* options, const char* path);
/* For "tls:", a file of PEM with lists of revoked certificates. Default: what SPINDLE_REVOCATION_LISTS says, or none.
 */
SPINDLE_C_API spindle_code spindle_options_set_tls_revocation_lists(spindle_options* options, const char* path);
/* A secret by which the client proves who it is; sent by "tls:" and to unix sockets only. Default: what the environment
   variable SPINDLE_TOKEN holds, or else none. */
SPINDLE_C_API spindle_code spindle_options_set_token(spindle_options* options, const char* token);
/* Bounds connecting: the resolver's work on a host name, the connection, and the daemon's welcome. Default: 5 s. */
SPINDLE_C_API spindle_code spindle_options_set_connect_timeout(spindle_options* options, int64_t timeout_ns);
/* Bounds how long requests, and messages that are sent without a timeout of their own, wait for room in the send buffer
   or in a flow. Default: no bound. */
SPINDLE_C_API spindle_code spindle_options_set_send_timeout(spindle_options* options, int64_t timeout_ns);
/* Bounds how long spindle_disconnect() and spindle_close() wait until the daemon has taken what was sent. Default: 1 s.
 */
SPINDLE_C_API spindle_code spindle_options_set_disconnect_timeout(spindle_options* options, int64_t timeout_ns);
/* Beyond this many bytes not yet taken by the daemon, sending waits or says SPINDLE_ERROR_WOULD_BLOCK. Default: 1 MiB.
 */
SPINDLE_C_API spindle_code spindle_options_set_send_buffer(spindle_options* options, size_t bytes);
/* Beyond this much memory in events not yet received, the connection stops reading from the daemon. Default: 8 MiB. */
SPINDLE_C_API spindle_code spindle_options_set_receive_buffer(spindle_options* options, size_t bytes);
/* Not zero: each set of destinations is a flow of its own, and one that may not enter the network holds up nothing but
   itself. The order in which messages to different sets of destinations enter is then not promised. Default: 0. */
SPINDLE_C_API spindle_code spindle_options_set_independent_flows(spindle_options* options, int independent);
/* SPINDLE_SLOW_... */
SPINDLE_C_API spindle_code spindle_options_set_slow_policy(spindle_options* options, unsigned policy);
/* Not zero: the daemon is asked to tell of bulk channels, for a program that calls spindle_bulk_open(). Default: 0. */
SPINDLE_C_API spindle_code spindle_options_set_bulk(spindle_options* options, int bulk);

/* ---- The connection ---- */

/* Connects and waits for the daemon's welcome. Null options are those at their defaults. `*connection` is null unless 0
   is returned. Where `text` is not null, `room` bytes there take the reason in words: as much of it as fits, always
   with a zero byte at its end; empty where nothing is wrong. Errors: BAD_ADDRESS, BAD_CLIENT_NAME, BAD_ARGUMENT for
   what is no token, TOKEN_EXPOSED, CONNECT_FAILED, TLS_FAILED, TIMED_OUT, or the reason that the daemon gave. */
SPINDLE_C_API spindle_code spindle_connect(const spindle_options* options, spindle_connection** connection, char* text,
                                           size_t room);
/* Disconnects, and frees the connection. Events that were received before stay. */
SPINDLE_C_API void spindle_close(spindle_connection* connection);

/* "#name#daemon": others can multicast to it. There until spindle_close(). */
SPINDLE_C_API spindle_bytes spindle_private_name(const spindle_connection* connection);
/* 1 while neither side has ended the connection, otherwise 0. */
SPINDLE_C_API int spindle_is_open(const spindle_connection* connection);

enum {
  SPINDLE_JOIN_SYNCHRONOUS = 1, /* members get each message in the view that its sender, a member, had; docs/c.md */
  SPINDLE_JOIN_AUTO_FLUSH = 2   /* requests to flush are answered as soon as the program is given them */
};

/* Asks the daemon to make this client a member of `group` (1 to 255 bytes, not starting with '#').

   With a timeout of zero the request is queued: the view of the group that follows shows it done,
   SPINDLE_EVENT_REQUEST_FAILED that the daemon refused it. Otherwise the call ends with the first view of the group,
   which is an event, too, or with what the daemon refused the request with, which is none then. After TIMED_OUT the
   request stands, and what comes of it is an event. Somebody has to receive events meanwhile where more of them may
   come than the receive buffer takes.

   `flags` are zero, or SPINDLE_JOIN_...; others are a BAD_ARGUMENT. Errors: BAD_GROUP_NAME, NOT_CONNECTED, TIMED_OUT
   (of the queued form, too, where it waits for room in the send buffer), and of the daemon's those of joining. */
SPINDLE_C_API spindle_code spindle_join(spindle_connection* connection, spindle_bytes group, unsigned flags,
                                        int64_t timeout_ns);
/* The same, until the token is cancelled. The request stands then as after TIMED_OUT, once it is queued; while it waits
   for room in the send buffer, with a timeout of zero, too, it is not. */
SPINDLE_C_API spindle_code spindle_join_cancellable(spindle_connection* connection, spindle_bytes group, unsigned flags,
                                                    int64_t timeout_ns, const spindle_cancel_token* token);
/* Answers SPINDLE_EVENT_FLUSH_REQUEST: from here to the next view of the group this client sends nothing to it, and
   what it sends then is of the next view. Where the request is over, since it has been answered or the view of the
   group that follows it is here already, nothing happens. Errors: BAD_ARGUMENT for what is no such event of this
   connection, NOT_CONNECTED. */
SPINDLE_C_API spindle_code spindle_flush_ok(spindle_connection* connection, const spindle_event* request);
/* Asks to be a member no longer; queues the request as spindle_join() does. The last view of the group, of form
   SPINDLE_FORM_FAREWELL, shows it done. */
SPINDLE_C_API spindle_code spindle_leave(spindle_connection* connection, spindle_bytes group);
/* Asks for all members of a group that this client is a member of. The answer is a view of form SPINDLE_FORM_ANSWER. */
SPINDLE_C_API spindle_code spindle_request_view(spindle_connection* connection, spindle_bytes group);
/* Asks how the flow to these destinations fares. The answer is SPINDLE_EVENT_FLOW_STATE. */
SPINDLE_C_API spindle_code spindle_request_flow(spindle_connection* connection, const spindle_bytes* groups,
                                                size_t count);

/* Waits until the network has taken all messages that were sent before: 0. Otherwise SPINDLE_ERROR_TIMED_OUT,
   SPINDLE_ERROR_NOT_CONNECTED where the connection had ended before the call, or SPINDLE_ERROR_CONNECTION_LOST where a
   connection was lost with some of them before the time was over. Where they are not null, `*not_taken` is how many
   messages it has not taken, and `*is_exact` whether the daemon has said so; if it has not, there are no more than
   these. Of messages that are unknown (SPINDLE_EVENT_RECONNECTED) those are among them that the program had not been
   told of by that event when it called, or that have become so since. */
SPINDLE_C_API spindle_code spindle_confirm(spindle_connection* connection, int64_t timeout_ns, uint64_t* not_taken,
                                           int* is_exact);
/* The same, until the token is cancelled: then CANCELLED where something has not been taken, and as much is said of it
   as with TIMED_OUT. */
SPINDLE_C_API spindle_code spindle_confirm_cancellable(spindle_connection* connection, int64_t timeout_ns,
                                                       uint64_t* not_taken, int* is_exact,
                                                       const spindle_cancel_token* token);
/* Leaves all groups, waits for their last views, so that all messages up to there can be received, and disconnects once
   the network has taken all that was sent. Returns what spindle_confirm() does. */
SPINDLE_C_API spindle_code spindle_drain(spindle_connection* connection, int64_t timeout_ns, uint64_t* not_taken,
                                         int* is_exact);
/* The same, but disconnects at once when the token is cancelled. Returns what spindle_confirm_cancellable() does. */
SPINDLE_C_API spindle_code spindle_drain_cancellable(spindle_connection* connection, int64_t timeout_ns,
                                                     uint64_t* not_taken, int* is_exact,
                                                     const spindle_cancel_token* token);
/* Ends the connection: what was sent before is written, and the daemon's last word awaited, for the disconnect timeout
   at most. What has arrived can still be received, up to SPINDLE_EVENT_DISCONNECTED. Returns what spindle_confirm()
   does. */
SPINDLE_C_API spindle_code spindle_disconnect(spindle_connection* connection, uint64_t* not_taken, int* is_exact);

/* ---- Sending ---- */

/* What is promised for a message; each service includes what those before it promise. */
enum {
  SPINDLE_UNRELIABLE = 0, /* may be lost */
  SPINDLE_RELIABLE = 1,   /* delivered to all members that stay connected, in no particular order */
  SPINDLE_FIFO = 2,       /* a sender's messages in the order sent */
  SPINDLE_CAUSAL = 3,     /* after every message that its sender had seen */
  SPINDLE_AGREED = 4,     /* in one order everywhere */
  SPINDLE_SAFE = 5        /* delivered only when every daemon concerned has it */
};

/* How messages are sent, beside what the calls say; null without memory. One handle serves for any number of calls. */
SPINDLE_C_API spindle_send_options* spindle_send_options_new(void);
SPINDLE_C_API void spindle_send_options_free(spindle_send_options* options);
/* A tag for the application's own use, delivered with the message. Default: 0. */
SPINDLE_C_API spindle_code spindle_send_options_set_type(spindle_send_options* options, uint16_t type);
/* Not zero: messages are not delivered to the sender itself. Default: 0. */
SPINDLE_C_API spindle_code spindle_send_options_set_self_discard(spindle_send_options* options, int discard);
/* A number of the caller's choice, by which SPINDLE_EVENT_RECONNECTED names the message where it is not known what came
   of it. Default: 0. */
SPINDLE_C_API spindle_code spindle_send_options_set_ticket(spindle_send_options* options, uint64_t ticket);
/* A header that goes with the message, behind those that were added before: a key of 1 to 255 bytes, of which the first
   is no '$', and a value of any bytes. Both are copied. A key may come several times. All keys and values take 4 KiB at
   most, each header counting three bytes more; SPINDLE_ERROR_BAD_HEADERS, and nothing changes, where one is none or
   there is no room for it. */
SPINDLE_C_API spindle_code spindle_send_options_add_header(spindle_send_options* options, spindle_bytes key,
                                                           spindle_bytes value);
/* Takes all headers away. */
SPINDLE_C_API spindle_code spindle_send_options_clear_headers(spindle_send_options* options);
/* Sending with these options ends with CANCELLED when the token is cancelled, and has sent nothing then. A request
   (spindle_request()) may have been sent. Null takes it away. The token may be freed. Default: none. */
SPINDLE_C_API spindle_code spindle_send_options_set_cancel_token(spindle_send_options* options,
                                                                 const spindle_cancel_token* token);

/* Sends a message of up to 16 MiB, headers included, to 1 to 1,000 groups or private names; the client need not be a
   member. The message is copied before this returns. Null options are those at their defaults.

   Where there is no room the call waits: with SPINDLE_NO_TIMEOUT for as long as the connection's send timeout says.
   With a timeout of zero it says SPINDLE_ERROR_WOULD_BLOCK instead, and has sent nothing. With independent flows that
   is said for one flow while another may go on, and SPINDLE_EVENT_FLOW_READY follows when it is worth trying again.
   Errors, with which nothing was sent: MESSAGE_TOO_LARGE, TOO_MANY_GROUPS, BAD_GROUP_NAME, BAD_ARGUMENT (no such
   service), NOT_CONNECTED, TIMED_OUT, WOULD_BLOCK, CANCELLED, and FLUSHING where spindle_flush_ok() says so. */
SPINDLE_C_API spindle_code spindle_multicast(spindle_connection* connection, unsigned service,
                                             const spindle_bytes* groups, size_t count, spindle_bytes payload,
                                             const spindle_send_options* options, int64_t timeout_ns);
/* The same with a payload in several pieces, which are sent one behind the other. */
SPINDLE_C_API spindle_code spindle_multicast_pieces(spindle_connection* connection, unsigned service,
                                                    const spindle_bytes* groups, size_t count,
                                                    const spindle_bytes* pieces, size_t piece_count,
                                                    const spindle_send_options* options, int64_t timeout_ns);
/* So many answers as a request to all members of a group waits for. */
#define SPINDLE_ALL_MEMBERS ((size_t)0)

/* Sends a request as spindle_multicast() sends a message, and waits until so many clients have answered, for the
   timeout at most. Whoever gets the request as a message, for which spindle_message_is_request() holds, may answer it.
   With SPINDLE_ALL_MEMBERS the answers of all members of the group are waited for: who leaves the group, or is out of
   reach, counts as having answered. The client has to be a member itself then, and there is one group; with
   self-discard it neither gets the request nor is waited for.

   0, or an error: TIMED_OUT, CONNECTION_LOST where the connection was lost behind the request and the session could not
   be resumed, NOT_A_MEMBER, the errors of spindle_multicast(). `*answers`, where `answers` is not null, are those that
   have come, with an error, too, for the caller to free; null without any and without memory. */
SPINDLE_C_API spindle_code spindle_request(spindle_connection* connection, unsigned service,
                                           const spindle_bytes* groups, size_t count, spindle_bytes payload,
                                           const spindle_send_options* options, size_t wanted, int64_t timeout_ns,
                                           spindle_answers** answers);
SPINDLE_C_API void spindle_answers_free(spindle_answers* answers);
/* Messages, in the order in which they came, one of each client. They belong to the answers; spindle_event_copy() gives
   one that does not. Null for an index that there is not. */
SPINDLE_C_API size_t spindle_answers_count(const spindle_answers* answers);
SPINDLE_C_API const spindle_event* spindle_answers_at(const spindle_answers* answers, size_t index);
/* With SPINDLE_ALL_MEMBERS and an error: the private names of those who have not answered, as far as they are known. */
SPINDLE_C_API size_t spindle_answers_missing_count(const spindle_answers* answers);
SPINDLE_C_API spindle_bytes spindle_answers_missing_at(const spindle_answers* answers, size_t index);
/* Answers a request, to its sender alone, in the service fifo. Waits, and errors, as spindle_multicast(), and
   BAD_ARGUMENT for what is no request. */
SPINDLE_C_API spindle_code spindle_reply(spindle_connection* connection, const spindle_event* request,
                                         spindle_bytes payload, const spindle_send_options* options,
                                         int64_t timeout_ns);
/* Waits until a message to these destinations can be sent: where spindle_multicast() has said WOULD_BLOCK, or FLUSHING,
   it is worth trying again. Errors: TIMED_OUT, NOT_CONNECTED. */
SPINDLE_C_API spindle_code spindle_wait_writable(spindle_connection* connection, const spindle_bytes* groups,
                                                 size_t count, int64_t timeout_ns);
/* The same, until the token is cancelled. */
SPINDLE_C_API spindle_code spindle_wait_writable_cancellable(spindle_connection* connection,
                                                             const spindle_bytes* groups, size_t count,
                                                             int64_t timeout_ns, const spindle_cancel_token* token);

/* ---- Receiving ---- */

enum {
  SPINDLE_EVENT_MESSAGE = 1,
  SPINDLE_EVENT_GROUP_VIEW = 2,     /* the members of a group have changed, or are told again */
  SPINDLE_EVENT_TRANSITIONAL = 3,   /* until the group's next view of cause network, promises hold among those of the
                                       former view that are still together */
  SPINDLE_EVENT_REQUEST_FAILED = 4, /* the daemon refused something */
  SPINDLE_EVENT_FLOW_READY = 5,     /* a flow for which WOULD_BLOCK was said has room again */
  SPINDLE_EVENT_FLOW_STATE = 6,     /* what spindle_request_flow() asked for */
  SPINDLE_EVENT_GAP = 7,            /* messages that stood here were dropped, as the client does not keep up */
  SPINDLE_EVENT_QUEUE_WARNING = 8,  /* the daemon holds more and more for this client */
  SPINDLE_EVENT_DISCONNECTED = 9,   /* the connection has ended: the last event, exactly one */
  SPINDLE_EVENT_RECONNECTED = 10,   /* the connection was lost, and there is another one */
  SPINDLE_EVENT_FLUSH_REQUEST = 11, /* the next view of a synchronous group waits for spindle_flush_ok() */
  SPINDLE_EVENT_BULK_OFFERED = 12,  /* somebody offers a content: spindle_bulk_accept() or spindle_bulk_refuse() */
  SPINDLE_EVENT_BULK_PROGRESS = 13, /* how far a content is; twice a second at most */
  SPINDLE_EVENT_BULK_RECEIVED = 14, /* a content that was accepted is here, or cannot be received */
  SPINDLE_EVENT_BULK_COMPLETE = 15, /* all members have it, could not receive it, or have refused it */
  SPINDLE_EVENT_BULK_ENDED = 16,    /* nothing more comes of the channel */
  SPINDLE_EVENT_BULK_STALLED = 17,  /* nothing has come for 10 s of a content that this client receives, although
                                       something is missing; over with the next BULK_PROGRESS */
  SPINDLE_EVENT_FEED_OPENED = 18,   /* a feed of a group that this client listens to */
  SPINDLE_EVENT_FEED_PACKET = 19,   /* a message of a feed */
  SPINDLE_EVENT_FEED_GAP = 20,      /* packets of a feed that this client does not get */
  SPINDLE_EVENT_FEED_CLOSED = 21,   /* nothing more comes of a feed, or it can be sent to no longer */
  SPINDLE_EVENT_FEED_FLOW = 22,     /* how the network treats a feed of this client's own */
  SPINDLE_EVENT_FEED_WRITABLE = 23, /* a feed for which WOULD_BLOCK was said has room again */
  SPINDLE_EVENT_BULK_RETURNED = 24  /* of a content that this client offers: members that were missing in BULK_COMPLETE
                                       are back, or have it by now */
};

/* Waits for events, and gives those that there are, `room` at most, which the caller frees. 0: `*count` is one or more.
   Otherwise it is zero: TIMED_OUT, NOT_CONNECTED once SPINDLE_EVENT_DISCONNECTED was given, OUT_OF_MEMORY, with which
   nothing is lost, BAD_ARGUMENT without room. */
SPINDLE_C_API spindle_code spindle_next(spindle_connection* connection, spindle_event** events, size_t room,
                                        size_t* count, int64_t timeout_ns);
/* The same, until the token is cancelled: then CANCELLED, even where events wait, and nothing is lost. */
SPINDLE_C_API spindle_code spindle_next_cancellable(spindle_connection* connection, spindle_event** events, size_t room,
                                                    size_t* count, int64_t timeout_ns,
                                                    const spindle_cancel_token* token);
/* A descriptor that polls as readable for as long as events wait, and not once SPINDLE_EVENT_DISCONNECTED was given. It
   belongs to the connection: do not read, write or close it. -1 if there is none. */
SPINDLE_C_API int spindle_descriptor(spindle_connection* connection);

/* What is kept for long is better copied out of a message, which shares 256 KiB or more with its neighbours. */
SPINDLE_C_API void spindle_event_free(spindle_event* event);
/* Another event with the same content, which is not copied where it is a message's; null without memory. */
SPINDLE_C_API spindle_event* spindle_event_copy(const spindle_event* event);

/* Events, as what follows, may outlive their connection. What is returned is there until the event is freed. A function
   that is asked of an event of another kind returns zero, or no bytes.

   SPINDLE_EVENT_...; 0 for null, and for a kind that came with a later version of the library than all functions here.
 */
SPINDLE_C_API unsigned spindle_event_kind(const spindle_event* event);
/* The groups that the event is of. A view, a transitional signal, a request to flush, a refused request,
   BULK_OFFERED and FEED_OPENED have one. A message has its destinations, in the sender's order; FLOW_READY and
   FLOW_STATE those of the flow. Other kinds have none. */
SPINDLE_C_API size_t spindle_event_group_count(const spindle_event* event);
SPINDLE_C_API spindle_bytes spindle_event_group_at(const spindle_event* event, size_t index);
/* The first of these. */
SPINDLE_C_API spindle_bytes spindle_event_group(const spindle_event* event);
/* Of REQUEST_FAILED and DISCONNECTED: why. Of BULK_RECEIVED: why the content is not here, or 0. Of BULK_ENDED: why this
   client has cancelled the channel by itself, or 0. Of FEED_CLOSED: why a feed of this client's own could not be opened
   in a new session, or 0. */
SPINDLE_C_API spindle_code spindle_event_code(const spindle_event* event);

/* The private name of the sender. */
SPINDLE_C_API spindle_bytes spindle_message_sender(const spindle_event* event);
SPINDLE_C_API unsigned spindle_message_service(const spindle_event* event);
/* The sender's tag. */
SPINDLE_C_API uint16_t spindle_message_type(const spindle_event* event);
SPINDLE_C_API spindle_bytes spindle_message_payload(const spindle_event* event);
/* The headers that it was sent with, in their order. */
SPINDLE_C_API size_t spindle_message_header_count(const spindle_event* event);
SPINDLE_C_API spindle_bytes spindle_message_header_key_at(const spindle_event* event, size_t index);
SPINDLE_C_API spindle_bytes spindle_message_header_value_at(const spindle_event* event, size_t index);
/* The first value of that key; a null pointer where there is none. */
SPINDLE_C_API spindle_bytes spindle_message_header(const spindle_event* event, spindle_bytes key);
/* Not 0: the sender waits for spindle_reply(). */
SPINDLE_C_API int spindle_message_is_request(const spindle_event* event);

/* Where the message stands in the order, the same at all receivers: not 0 where it stands anywhere. Then the view of
   the daemons, by its number, coordinator and the coordinator's incarnation; how many changes of groups came before,
   which is no less than the position of the view of its group in which it was delivered; the place in that order; and
   the index among messages that travelled as one. */
SPINDLE_C_API int spindle_message_has_position(const spindle_event* event);
SPINDLE_C_API uint64_t spindle_message_view_number(const spindle_event* event);
SPINDLE_C_API spindle_bytes spindle_message_view_coordinator(const spindle_event* event);
SPINDLE_C_API uint64_t spindle_message_view_incarnation(const spindle_event* event);
SPINDLE_C_API uint64_t spindle_message_changes(const spindle_event* event);
SPINDLE_C_API uint64_t spindle_message_order(const spindle_event* event);
SPINDLE_C_API uint32_t spindle_message_index(const spindle_event* event);

/* Why a group has a new view. */
enum { SPINDLE_CAUSE_JOIN = 1, SPINDLE_CAUSE_LEAVE = 2, SPINDLE_CAUSE_DISCONNECT = 3, SPINDLE_CAUSE_NETWORK = 4 };

/* What a view says of the members. */
enum {
  SPINDLE_FORM_FULL = 0,    /* all: the first view that a client gets of a group, and every view of a small group */
  SPINDLE_FORM_CHANGE = 1,  /* who joined and who left, and a digest of the rest */
  SPINDLE_FORM_ANSWER = 2,  /* all, once more: what spindle_request_view() asked for. Nothing has changed */
  SPINDLE_FORM_FAREWELL = 3 /* nothing: this client has left the group */
};

/* The lists of a view. All are of private names. */
enum {
  SPINDLE_VIEW_MEMBERS = 0, /* all, in an order that all members agree on; with forms FULL and ANSWER */
  SPINDLE_VIEW_JOINED = 1,  /* who is new since the former view */
  SPINDLE_VIEW_LEFT = 2,    /* who left, disconnected, or, with cause NETWORK, is out of reach */
  SPINDLE_VIEW_APART = 3,   /* cause NETWORK: members that are not new and did not come from the former view with this
                               client */
  SPINDLE_VIEW_VS_SET = 4 /* cause NETWORK, form FULL: this client, and the members that neither joined nor are apart */
};

SPINDLE_C_API unsigned spindle_view_cause(const spindle_event* event);
SPINDLE_C_API unsigned spindle_view_form(const spindle_event* event);
/* With this view, whether it lists them or not. */
SPINDLE_C_API size_t spindle_view_member_count(const spindle_event* event);
/* Not 0: the group is synchronous, from this view on. */
SPINDLE_C_API int spindle_view_is_synchronous(const spindle_event* event);
/* Of the members in their order. */
SPINDLE_C_API uint64_t spindle_view_digest(const spindle_event* event);
/* The names on one of the lists; none on a list that there is not. */
SPINDLE_C_API size_t spindle_view_name_count(const spindle_event* event, unsigned list);
SPINDLE_C_API spindle_bytes spindle_view_name_at(const spindle_event* event, unsigned list, size_t index);
/* This client's place among the members; -1 where the view does not list them. */
SPINDLE_C_API int64_t spindle_view_my_index(const spindle_event* event);
/* The id of the view, which is equal at all members that see it, and never used for another one: the number, the
   coordinator and the coordinator's incarnation of the view of the daemons, and the position in the order of that. */
SPINDLE_C_API uint64_t spindle_view_id_number(const spindle_event* event);
SPINDLE_C_API spindle_bytes spindle_view_id_coordinator(const spindle_event* event);
SPINDLE_C_API uint64_t spindle_view_id_incarnation(const spindle_event* event);
SPINDLE_C_API uint64_t spindle_view_id_position(const spindle_event* event);

/* What was refused. */
enum {
  SPINDLE_REQUEST_JOIN = 0,
  SPINDLE_REQUEST_LEAVE = 1,
  SPINDLE_REQUEST_VIEW = 2,       /* to tell who the members are */
  SPINDLE_REQUEST_SEND = 3,       /* messages that the daemon had been sent: nobody gets those */
  SPINDLE_REQUEST_MEMBERSHIP = 4, /* to have the client stay a member of the group: it has left */
  SPINDLE_REQUEST_LISTEN = 5      /* to feeds of the group */
};

SPINDLE_C_API unsigned spindle_request_failed_request(const spindle_event* event);
/* SPINDLE_REQUEST_SEND: so many messages to one set of destinations, since it was last told. */
SPINDLE_C_API uint64_t spindle_request_failed_messages(const spindle_event* event);

/* A flow earns a salary and pays a price for every packet, in dollars, which have no meaning beyond that. */
SPINDLE_C_API double spindle_flow_price(const spindle_event* event);
/* Negative after a message of several packets. */
SPINDLE_C_API double spindle_flow_budget(const spindle_event* event);
/* Packets a second that entered the network of late. */
SPINDLE_C_API double spindle_flow_rate(const spindle_event* event);
/* In which a salary is earned: the shorter, the more is earned. */
SPINDLE_C_API int64_t spindle_flow_salary_period_ns(const spindle_event* event);
/* 0 to 1: of its life, while a message waited to enter. */
SPINDLE_C_API double spindle_flow_blocked_share(const spindle_event* event);
/* The link or the receivers that cost most, or what else the flow waits for; empty where nothing holds it up. */
SPINDLE_C_API spindle_bytes spindle_flow_limited_by(const spindle_event* event);

/* The messages that were dropped, and the bytes of their payloads. */
SPINDLE_C_API uint64_t spindle_gap_messages(const spindle_event* event);
SPINDLE_C_API uint64_t spindle_gap_bytes(const spindle_event* event);
/* How many of the messages were sent to a name that is not listed for want of room. */
SPINDLE_C_API uint64_t spindle_gap_unlisted(const spindle_event* event);
/* Where they were sent to, 64 names at most, and how many to each; one sent to several counts at each. */
SPINDLE_C_API size_t spindle_gap_name_count(const spindle_event* event);
SPINDLE_C_API spindle_bytes spindle_gap_name_at(const spindle_event* event, size_t index);
SPINDLE_C_API uint64_t spindle_gap_messages_at(const spindle_event* event, size_t index);

/* 50 or 80, of the limit at which the client loses messages or its connection. */
SPINDLE_C_API unsigned spindle_warning_percent(const spindle_event* event);
SPINDLE_C_API uint64_t spindle_warning_bytes(const spindle_event* event);
SPINDLE_C_API uint64_t spindle_warning_limit_bytes(const spindle_event* event);

/* Not 0: the session goes on, and nothing was lost or doubled. Otherwise it is a new one: its groups are joined again.
 */
SPINDLE_C_API int spindle_reconnected_is_resumed(const spindle_event* event);
/* The private name of before, and now. */
SPINDLE_C_API spindle_bytes spindle_reconnected_former_name(const spindle_event* event);
SPINDLE_C_API spindle_bytes spindle_reconnected_private_name(const spindle_event* event);
/* Not 0: what is sent now waits for the end of the former session. */
SPINDLE_C_API int spindle_reconnected_is_fenced(const spindle_event* event);
/* The tickets of messages that may have been sent or not; they are not sent again. */
SPINDLE_C_API size_t spindle_reconnected_unknown_count(const spindle_event* event);
SPINDLE_C_API uint64_t spindle_reconnected_unknown_at(const spindle_event* event, size_t index);

/* Where the daemon closed the connection, its reason in its words. */
SPINDLE_C_API spindle_bytes spindle_disconnected_text(const spindle_event* event);
/* How many messages did not enter the network, and 1 where the daemon has said so. */
SPINDLE_C_API uint64_t spindle_disconnected_not_taken(const spindle_event* event);
SPINDLE_C_API int spindle_disconnected_is_exact(const spindle_event* event);

/* ---- The members of a large group ---- */

/* What has come of a view that was applied. */
enum {
  SPINDLE_MEMBERS_CURRENT = 0, /* the members are those of the view */
  SPINDLE_MEMBERS_ASK = 1,     /* they are not known: call spindle_request_view() */
  SPINDLE_MEMBERS_UNKNOWN = 2, /* they are not known yet: the answer is on its way, or was wrong */
  SPINDLE_MEMBERS_LEFT = 3     /* this client is no member any more */
};

/* The list of a group's members, kept up to date from the group's views: most views of a large group name only who
   joined and who left. One for each group; null without memory. */
SPINDLE_C_API spindle_membership* spindle_membership_new(void);
SPINDLE_C_API void spindle_membership_free(spindle_membership* membership);
/* Every view of the group has to be applied in order. `*outcome`, where it is not null, is SPINDLE_MEMBERS_...; errors:
   BAD_ARGUMENT for what is no view, and OUT_OF_MEMORY, with which the members are unknown. */
SPINDLE_C_API spindle_code spindle_membership_apply(spindle_membership* membership, const spindle_event* view,
                                                    unsigned* outcome);
/* Forgets everything: the next change says SPINDLE_MEMBERS_ASK. For a request that failed. */
SPINDLE_C_API void spindle_membership_reset(spindle_membership* membership);
/* 1 where the members are known. */
SPINDLE_C_API int spindle_membership_is_current(const spindle_membership* membership);
/* Private names in the order that all members agree on; none while they are not known. They are there until the next
   view is applied. */
SPINDLE_C_API size_t spindle_membership_count(const spindle_membership* membership);
SPINDLE_C_API spindle_bytes spindle_membership_at(const spindle_membership* membership, size_t index);
/* The place of a member, found by going through them; -1 for who is none. */
SPINDLE_C_API int64_t spindle_membership_index_of(const spindle_membership* membership, spindle_bytes name);
/* After a view with cause network: this client, and the members that came from the former view with it. Otherwise
   none. */
SPINDLE_C_API size_t spindle_membership_vs_count(const spindle_membership* membership);
SPINDLE_C_API spindle_bytes spindle_membership_vs_at(const spindle_membership* membership, size_t index);

/* ---- Bulk channels: large content from one client to the members of a group; docs/bulk.md ---- */

/* Options that are all at their defaults; null without memory. */
SPINDLE_C_API spindle_bulk_options* spindle_bulk_options_new(void);
SPINDLE_C_API void spindle_bulk_options_free(spindle_bulk_options* options);
/* Threads that read, write, hash, encode and decode: 1 to 64, or BAD_ARGUMENT. Default: 2. */
SPINDLE_C_API spindle_code spindle_bulk_options_set_workers(spindle_bulk_options* options, unsigned workers);
/* Whether the hashes of files and directories that are offered are kept, so that one that is offered again, and is what
   it was, need not be read and hashed again before it is complete. 0: they are not. Default: 1. */
SPINDLE_C_API spindle_code spindle_bulk_options_set_keep_hashes(spindle_bulk_options* options, int keep);
/* The directory for these, which is made. Default, or an empty one: spindle/hashes in XDG_CACHE_HOME, or else in
   ~/.cache. */
SPINDLE_C_API spindle_code spindle_bulk_options_set_hash_directory(spindle_bulk_options* options, const char* path);

/* Offers and receives contents beside a connection that was made with spindle_options_set_bulk(). What becomes of them
   are events of that connection. Made before the first join, it misses no offer. Null options are those at their
   defaults. `*bulk` is null unless 0 is returned. Errors: NOT_CONNECTED; BAD_ARGUMENT where the connection was made
   otherwise, or has one already. */
SPINDLE_C_API spindle_code spindle_bulk_open(spindle_connection* connection, const spindle_bulk_options* options,
                                             spindle_bulk** bulk);
/* Ends what is under way: contents that it offers are no longer sent by this client, those that it receives can be gone
   on with later. Waits until jobs that have begun are over. Before or after spindle_close(). */
SPINDLE_C_API void spindle_bulk_close(spindle_bulk* bulk);

/* Names a channel, one content that a client offers to a group, for good. One that a function returns as const belongs
   to the event that it was asked of; a copy, and what spindle_bulk_offer() gives, to the caller. Null without memory.
 */
SPINDLE_C_API spindle_channel* spindle_channel_copy(const spindle_channel* channel);
SPINDLE_C_API void spindle_channel_free(spindle_channel* channel);
/* 1 where both are the same channel, otherwise 0. Null is none. */
SPINDLE_C_API int spindle_channel_equal(const spindle_channel* one, const spindle_channel* other);
/* The daemon of the client that offers, which of that daemon's lives it is, and the number of the offer in it, from 1.
 */
SPINDLE_C_API spindle_bytes spindle_channel_daemon(const spindle_channel* channel);
SPINDLE_C_API uint64_t spindle_channel_incarnation(const spindle_channel* channel);
SPINDLE_C_API uint64_t spindle_channel_number(const spindle_channel* channel);

/* What is offered. A source serves for one or several offers, and may be freed behind them. Null without memory, and
   without a path or function.

   A regular file, offered by the last part of its path as its name. It is read while it is sent, and must not change
   before the channel has ended: one that has changed ends it. */
SPINDLE_C_API spindle_bulk_source* spindle_bulk_source_file(const char* path);
/* A directory with all that is in it, offered by its name: files, whether their owner may execute them, and
   directories. Names have to be UTF-8 without control characters. What is neither file nor directory, symbolic links
   above all, is not sent: FILE_FAILED, unless spindle_bulk_source_set_leave_out() says otherwise. */
SPINDLE_C_API spindle_bulk_source* spindle_bulk_source_directory(const char* path);
/* These bytes, which are copied, offered without a name. */
SPINDLE_C_API spindle_bulk_source* spindle_bulk_source_bytes(spindle_bytes content);

/* What a function that reads says beside how many bytes there are. */
#define SPINDLE_READ_AGAIN ((int64_t)-1)  /* none at present: it is called again soon */
#define SPINDLE_READ_FAILED ((int64_t)-2) /* the channel ends, with FILE_FAILED; so with any other negative number */
/* Puts the next bytes to the front of the `room` bytes at `to`, and says how many; 0: that was all. */
typedef int64_t (*spindle_bulk_read)(void* user, void* to, size_t room);
/* Nobody calls the function any more to which `user` was given. */
typedef void (*spindle_bulk_release)(void* user);
/* A content whose size is not known, offered without a name: `read` is called by a thread of its own, with `user`,
   until it has come to the end. Blocks of 8 MiB are sent as soon as they are whole. Without a spool only the last 8 are
   kept: for who is further behind the source waits 10 s, then drops the block; and `read` is called no more than 96 MiB
   before what has been sent, and so not before somebody accepts. It must come back soon: the end of the channel waits
   for it. Such a source serves for one offer.

   `release`, unless it is null, is called once, by any thread, when the source is freed and its channel is over. It
   must not call functions of the bulk. */
SPINDLE_C_API spindle_bulk_source* spindle_bulk_source_stream(spindle_bulk_read read, void* user,
                                                              spindle_bulk_release release);
SPINDLE_C_API void spindle_bulk_source_free(spindle_bulk_source* source);
/* Offers it by another name: UTF-8, of up to 255 bytes. */
SPINDLE_C_API spindle_code spindle_bulk_source_set_name(spindle_bulk_source* source, const char* name);
/* Of a stream: all of it is kept in a file of this path, which must not be there, without a name, until the channel has
   ended. Null: none. BAD_ARGUMENT for other sources. */
SPINDLE_C_API spindle_code spindle_bulk_source_set_spool(spindle_bulk_source* source, const char* path);
/* Of a directory: not zero: what cannot be sent is left out. Default: 0. BAD_ARGUMENT for other sources. */
SPINDLE_C_API spindle_code spindle_bulk_source_set_leave_out(spindle_bulk_source* source, int leave_out);
/* What the last offer has left out: paths, from the directory on. */
SPINDLE_C_API size_t spindle_bulk_source_left_out_count(const spindle_bulk_source* source);
SPINDLE_C_API spindle_bytes spindle_bulk_source_left_out_at(const spindle_bulk_source* source, size_t index);

/* How a content is offered; null without memory. One handle serves for any number of offers. */
SPINDLE_C_API spindle_offer_options* spindle_offer_options_new(void);
SPINDLE_C_API void spindle_offer_options_free(spindle_offer_options* options);
/* The most that this client sends of it, in bytes per second; 0: as much as goes. Default: 0. */
SPINDLE_C_API spindle_code spindle_offer_options_set_rate(spindle_offer_options* options, uint64_t bytes_per_second);
/* 1 to 100, or BAD_ARGUMENT: its share of what connections carry, beside the weights of other channels. Default: 10. */
SPINDLE_C_API spindle_code spindle_offer_options_set_weight(spindle_offer_options* options, unsigned weight);
/* How long the channel stays once it is complete, in whole seconds, for members that come later. Who has accepted by
   then is served to the end. Default: 60 s. */
SPINDLE_C_API spindle_code spindle_offer_options_set_linger(spindle_offer_options* options, int64_t linger_ns);

/* Offers a content to the members of a group, and waits until the daemon has taken the offer; after TIMED_OUT it is
   taken back. The client itself need not be a member, and gets no BULK_OFFERED of its own. What follows are
   BULK_PROGRESS, BULK_COMPLETE and BULK_ENDED. Null options are those at their defaults.

   `*channel`, unless `channel` is null, names the channel, for the caller to free; null unless 0 is returned. Where
   `text` is not null, `room` bytes there take the reason in words, as of spindle_connect(). Errors: FILE_FAILED,
   BAD_GROUP_NAME, BAD_ARGUMENT for a name that cannot be, LIMIT_EXCEEDED, TOO_MANY_CHANNELS, NOT_CONNECTED,
   TIMED_OUT. */
SPINDLE_C_API spindle_code spindle_bulk_offer(spindle_bulk* bulk, spindle_bytes group, spindle_bulk_source* source,
                                              const spindle_offer_options* options, int64_t timeout_ns,
                                              spindle_channel** channel, char* text, size_t room);

/* Where a content goes that is received. A sink serves for one or several contents, and may be freed behind
   spindle_bulk_accept(). Null without memory, and without a path or function.

   The file of that path, or where the content is a directory, that directory. */
SPINDLE_C_API spindle_bulk_sink* spindle_bulk_sink_file(const char* path);
/* A file, or directory, in that directory, by the name that the source has offered. BAD_CONTENT_NAME where that is no
   name for a file. */
SPINDLE_C_API spindle_bulk_sink* spindle_bulk_sink_directory(const char* path);
/* spindle_bulk_received_bytes(). LIMIT_EXCEEDED where the content is larger than `bytes_max`, or of unknown size, and
   BAD_ARGUMENT where it is a directory. */
SPINDLE_C_API spindle_bulk_sink* spindle_bulk_sink_memory(size_t bytes_max);
/* Takes the next bytes. Not 0: the content cannot be received. */
typedef int (*spindle_bulk_write)(void* user, spindle_bytes block);
/* `write` is called with each block, in order, by a worker: content that takes its time holds up a worker, and others
   where there is but one. Each block is right by its hash as daemons tell it; whether all is what the source has
   offered says BULK_RECEIVED. BAD_ARGUMENT where the content is a directory. `release` as of
   spindle_bulk_source_stream(). Such a sink serves for one content. */
SPINDLE_C_API spindle_bulk_sink* spindle_bulk_sink_stream(spindle_bulk_write write, void* user,
                                                          spindle_bulk_release release);
SPINDLE_C_API void spindle_bulk_sink_free(spindle_bulk_sink* sink);
/* Of a stream: what comes before its turn waits in a file without a name in this directory. Null: in that of the system
   for temporary files. BAD_ARGUMENT for other sinks. */
SPINDLE_C_API spindle_code spindle_bulk_sink_set_temporary_directory(spindle_bulk_sink* sink, const char* path);

enum {
  SPINDLE_ACCEPT_REPLACE = 1,    /* what is there by that name may be replaced; otherwise FILE_EXISTS */
  SPINDLE_ACCEPT_NOT_SERVING = 2 /* this client does not send what it has to other receivers */
};

/* Receives what was offered; BULK_RECEIVED tells of its end. `flags` are zero, or SPINDLE_ACCEPT_...; others are a
   BAD_ARGUMENT. Errors: UNKNOWN_CHANNEL; BAD_ARGUMENT for what this client offers itself, or has accepted or refused
   already; BAD_CONTENT_NAME and LIMIT_EXCEEDED, with which the channel may be accepted otherwise, or refused;
   NOT_CONNECTED. */
SPINDLE_C_API spindle_code spindle_bulk_accept(spindle_bulk* bulk, const spindle_channel* channel,
                                               const spindle_bulk_sink* sink, unsigned flags);
/* Tells all that this client will not receive it. Who neither accepts nor refuses is waited for. Errors:
   UNKNOWN_CHANNEL, BAD_ARGUMENT as of spindle_bulk_accept(), NOT_CONNECTED. */
SPINDLE_C_API spindle_code spindle_bulk_refuse(spindle_bulk* bulk, const spindle_channel* channel);
/* Ends a channel that this client has offered, at all. Errors: UNKNOWN_CHANNEL, BAD_ARGUMENT for somebody else's,
   NOT_CONNECTED. */
SPINDLE_C_API spindle_code spindle_bulk_cancel(spindle_bulk* bulk, const spindle_channel* channel);
/* Changes what spindle_offer_options_set_rate() has said. Errors as of spindle_bulk_cancel(). */
SPINDLE_C_API spindle_code spindle_bulk_set_rate(spindle_bulk* bulk, const spindle_channel* channel,
                                                 uint64_t bytes_per_second);

/* Of all BULK_... events: the channel, which belongs to the event. Null of others. */
SPINDLE_C_API const spindle_channel* spindle_bulk_channel(const spindle_event* event);
/* Of BULK_OFFERED and BULK_PROGRESS: the bytes of the content; -1 where that is not known yet. */
SPINDLE_C_API int64_t spindle_bulk_size(const spindle_event* event);
/* Of BULK_RECEIVED and BULK_ENDED: says more of spindle_event_code(), for people. */
SPINDLE_C_API spindle_bytes spindle_bulk_text(const spindle_event* event);

/* What a content is at its source. */
enum { SPINDLE_CONTENT_BYTES = 0, SPINDLE_CONTENT_FILE = 1, SPINDLE_CONTENT_DIRECTORY = 2 };

/* The private name of the client that offers. */
SPINDLE_C_API spindle_bytes spindle_bulk_offered_source(const spindle_event* event);
/* As the source says it: UTF-8, of up to 255 bytes; may be empty. */
SPINDLE_C_API spindle_bytes spindle_bulk_offered_name(const spindle_event* event);
SPINDLE_C_API unsigned spindle_bulk_offered_content(const spindle_event* event);
/* Not 0: it was offered before this client joined, and nobody waits for it. */
SPINDLE_C_API int spindle_bulk_offered_is_late(const spindle_event* event);

/* Of a content that is received: what is there, and is right. Of one that is offered: what was sent to those who keep
   up. */
SPINDLE_C_API uint64_t spindle_bulk_progress_bytes(const spindle_event* event);
/* In bytes per second, of late. */
SPINDLE_C_API uint64_t spindle_bulk_progress_rate(const spindle_event* event);

/* Of the file, where it went into one. */
SPINDLE_C_API spindle_bytes spindle_bulk_received_path(const spindle_event* event);
/* The content, where it was received in memory. */
SPINDLE_C_API spindle_bytes spindle_bulk_received_bytes(const spindle_event* event);

/* The lists of BULK_COMPLETE. All are of private names. */
enum {
  SPINDLE_BULK_DONE = 0,    /* they have it */
  SPINDLE_BULK_FAILED = 1,  /* they could not receive it */
  SPINDLE_BULK_REFUSED = 2, /* they did not want it */
  SPINDLE_BULK_MISSING = 3  /* of spindle_bulk_gone() only: they went before they had all of it */
};

/* The names on one of the lists; none on a list that there is not. */
SPINDLE_C_API size_t spindle_bulk_complete_name_count(const spindle_event* event, unsigned list);
SPINDLE_C_API spindle_bytes spindle_bulk_complete_name_at(const spindle_event* event, unsigned list, size_t index);
/* Why one of SPINDLE_BULK_FAILED could not. */
SPINDLE_C_API spindle_code spindle_bulk_complete_code_at(const spindle_event* event, size_t index);

/* Of BULK_COMPLETE: how many were members where the content was offered, are no longer, and are of that kind; they are
   on no list. Of BULK_RETURNED: what has come since of those that were missing in BULK_COMPLETE; all have the content,
   or have said why not, where SPINDLE_BULK_MISSING is 0. */
SPINDLE_C_API uint64_t spindle_bulk_gone(const spindle_event* event, unsigned list);
/* How many of those that are missing still are back, and receive it. */
SPINDLE_C_API uint64_t spindle_bulk_returned_present(const spindle_event* event);

/* Why a channel has ended. */
enum {
  SPINDLE_BULK_CANCELLED = 1,    /* by the source, or, with an error, as its content cannot be read */
  SPINDLE_BULK_OVER = 2,         /* it was complete, and its time to linger is over */
  SPINDLE_BULK_ABANDONED = 3,    /* for a minute nobody had all and nothing happened, or a new session was not told */
  SPINDLE_BULK_ELSEWHERE = 4,    /* daemons that were apart and are back know that it has ended */
  SPINDLE_BULK_DISCONNECTED = 5, /* the session of this client that offered it is gone; others may go on */
  SPINDLE_BULK_LEFT = 6          /* this client is a member of the group no more; others may go on */
};

SPINDLE_C_API unsigned spindle_bulk_ended_cause(const spindle_event* event);

/* ---- Feeds: what one client sends to those members of a group who listen, without waiting; docs/feeds.md ---- */

/* Null without memory. */
SPINDLE_C_API spindle_feed_options* spindle_feed_options_new(void);
SPINDLE_C_API void spindle_feed_options_free(spindle_feed_options* options);
/* How long what is lost on its way is worth repairing, up to 60 s; 0: nothing is repaired. Default: 200 ms. */
SPINDLE_C_API spindle_code spindle_feed_options_set_repair_for(spindle_feed_options* options, int64_t repair_for_ns);
/* The most that the feed sends, of payload; 0: as much as the network carries. Default: 0. */
SPINDLE_C_API spindle_code spindle_feed_options_set_rate(spindle_feed_options* options, uint64_t bytes_per_second);
/* Not zero: a message for which there is no room is kept until there is, and the oldest that are kept are dropped for
   it. Default: 0, spindle_feed_send() says WOULD_BLOCK. */
SPINDLE_C_API spindle_code spindle_feed_options_set_drop_oldest(spindle_feed_options* options, int drop_oldest);

/* Opens a feed to a group that this client may send to, and waits until the daemon has. The client itself need not be a
   member. Null options are those at their defaults. `*feed` is null unless 0 is returned. Errors: BAD_GROUP_NAME,
   BAD_ARGUMENT, ACCESS_DENIED, TOO_MANY_FEEDS beyond 64, NOT_CONNECTED, TIMED_OUT. */
SPINDLE_C_API spindle_code spindle_feed_open(spindle_connection* connection, spindle_bytes group,
                                             const spindle_feed_options* options, int64_t timeout_ns,
                                             spindle_feed** feed);
/* Ends it for all who listen, and frees it: before or after the connection. */
SPINDLE_C_API void spindle_feed_close(spindle_feed* feed);
/* By which events are of it, spindle_event_feed(); never 0 of one that there is. */
SPINDLE_C_API uint64_t spindle_feed_id(const spindle_feed* feed);
/* Not 0: it has not ended. */
SPINDLE_C_API int spindle_feed_is_open(const spindle_feed* feed);
/* Sends a message of 1 to 65,536 bytes, which is copied, and waits for nothing. Each packet of it, of some 1,200 bytes,
   may be lost, and the message with it. Errors: WOULD_BLOCK, and FEED_WRITABLE follows; MESSAGE_TOO_LARGE; BAD_ARGUMENT
   for an empty one; UNKNOWN_FEED where the feed has ended; NOT_CONNECTED. */
SPINDLE_C_API spindle_code spindle_feed_send(spindle_feed* feed, spindle_bytes message);
/* Messages that were kept and dropped. */
SPINDLE_C_API uint64_t spindle_feed_dropped(const spindle_feed* feed);

/* How packets are given to who listens. */
enum {
  SPINDLE_FEED_ORDERED = 0, /* as they were sent: what comes behind a gap waits for what is missing, up to a deadline */
  SPINDLE_FEED_IMMEDIATE = 1 /* as they come */
};

/* Has this client hear the feeds of a group, those that are open and those that will be, as long as it is a member:
   joining is another matter. Waits for nothing; where the daemon refuses REQUEST_FAILED says so. `deadline_ns` is that
   of each packet that waits; what is missing then is a FEED_GAP. Once more for the same group: other ways hold for
   feeds that are opened from then on. Somebody has to receive events, or the oldest packets are dropped. Errors:
   BAD_GROUP_NAME, BAD_ARGUMENT, NOT_CONNECTED. */
SPINDLE_C_API spindle_code spindle_listen(spindle_connection* connection, spindle_bytes group, unsigned delivery,
                                          int64_t deadline_ns);
/* Nothing more is told of the feeds of that group. */
SPINDLE_C_API spindle_code spindle_stop_listening(spindle_connection* connection, spindle_bytes group);

/* Of all FEED_... events: the feed, by a number that is never 0 and never that of another feed of the connection. */
SPINDLE_C_API uint64_t spindle_event_feed(const spindle_event* event);

/* FEED_OPENED: the private name of who sends it, and how long what is lost is asked for; 0: not at all. */
SPINDLE_C_API spindle_bytes spindle_feed_opened_source(const spindle_event* event);
SPINDLE_C_API int64_t spindle_feed_opened_repair_for_ns(const spindle_event* event);

/* FEED_PACKET. */
SPINDLE_C_API spindle_bytes spindle_feed_packet_payload(const spindle_event* event);
/* Of FEED_PACKET and FEED_GAP: the first packet, counted from 0 in each feed, and how many packets it is about. Each
   packet is in one FEED_PACKET or in one FEED_GAP. */
SPINDLE_C_API uint64_t spindle_feed_sequence(const spindle_event* event);
SPINDLE_C_API uint64_t spindle_feed_packet_count(const spindle_event* event);

/* FEED_GAP: why. Where both reasons touch each other the last one is said. */
enum {
  SPINDLE_FEED_LOST = 0, /* in the network, and not repaired in time */
  SPINDLE_FEED_SLOW = 1  /* this client has not read them in time */
};

SPINDLE_C_API unsigned spindle_feed_gap_cause(const spindle_event* event);

/* FEED_CLOSED: why. */
enum {
  SPINDLE_FEED_CLOSED_BY_SOURCE = 0,
  SPINDLE_FEED_CLOSED_LOST = 1,   /* its daemon is out of reach, or the session in which it was heard is gone */
  SPINDLE_FEED_CLOSED_DENIED = 2, /* the rules of access do not allow it any more */
  SPINDLE_FEED_CLOSED_LEFT = 3    /* this client has left its group, or had stopped listening there */
};

SPINDLE_C_API unsigned spindle_feed_closed_why(const spindle_event* event);

/* FEED_FLOW: bytes of payload a second that may leave; the round trip to listeners behind what is congested, 0 where it
   is not known; the part of the packets that is lost on the worst path, 0 to 1; and what keeps the rate from growing.
 */
SPINDLE_C_API uint64_t spindle_feed_flow_rate(const spindle_event* event);
SPINDLE_C_API int64_t spindle_feed_flow_round_trip_ns(const spindle_event* event);
SPINDLE_C_API double spindle_feed_flow_loss(const spindle_event* event);

enum {
  SPINDLE_FEED_LIMIT_START = 0,   /* nothing: it grows fast */
  SPINDLE_FEED_LIMIT_LINK = 1,    /* a path that loses packets */
  SPINDLE_FEED_LIMIT_SOURCE = 2,  /* less is sent than may be */
  SPINDLE_FEED_LIMIT_MAXIMUM = 3, /* spindle_feed_options_set_rate() */
  SPINDLE_FEED_LIMIT_SHARE = 4    /* ordered traffic has the rest of a link */
};

SPINDLE_C_API unsigned spindle_feed_flow_limited_by(const spindle_event* event);

#ifdef __cplusplus
}
#endif

#endif

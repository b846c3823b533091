/* The C interface of Spindle's client library, for C99 and newer, and for whatever binds C.
 *
 * Objects are opaque: functions make them, read them and free them. Functions are added with new versions and never
 * change; what they return may have new values. Unless it says otherwise, a function
 *
 * - gives a spindle_code, 0 where all is well, and otherwise leaves what it was to fill in as it was;
 * - copies what it is given before it returns;
 * - may be called by any thread at any time. Freeing or closing an object must not coincide with any other use of it.
 *
 * Timeouts are in nanoseconds. SPINDLE_FOREVER, or any negative number, is no bound; 0 does not wait.
 */
#ifndef SPINDLE_SPINDLE_H
#define SPINDLE_SPINDLE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SPINDLE_API __attribute__((visibility("default")))
#define SPINDLE_FOREVER (-1)

/* Some bytes of somebody's memory; no zero byte ends them. The only struct that is not opaque. */
typedef struct {
  const void* data;
  size_t size;
} spindle_bytes;

/* Of a string that a zero byte ends. */
SPINDLE_API spindle_bytes spindle_text(const char* text);

/* ---- Errors ---- */

typedef int32_t spindle_code;

enum {
  SPINDLE_OK = 0,
  SPINDLE_WOULD_BLOCK = 1,
  SPINDLE_TIMED_OUT = 2,
  SPINDLE_NOT_CONNECTED = 3,
  SPINDLE_CONNECT_FAILED = 4,
  SPINDLE_CONNECTION_LOST = 5,
  SPINDLE_CLOSED_BY_CLIENT = 6,
  SPINDLE_DAEMON_STOPPING = 7,
  SPINDLE_MESSAGE_TOO_LARGE = 8,
  SPINDLE_TOO_MANY_GROUPS = 9,
  SPINDLE_BAD_GROUP_NAME = 10,
  SPINDLE_BAD_CLIENT_NAME = 11,
  SPINDLE_NAME_IN_USE = 12,
  SPINDLE_VERSION_MISMATCH = 13,
  SPINDLE_MALFORMED_FRAME = 14,
  SPINDLE_FRAME_TOO_LARGE = 15,
  SPINDLE_UNEXPECTED_FRAME = 16,
  SPINDLE_HANDSHAKE_TIMEOUT = 17,
  SPINDLE_SLOW_RECEIVER = 18,
  SPINDLE_TOO_MANY_SESSIONS = 19,
  SPINDLE_TOO_MANY_MEMBERSHIPS = 20,
  SPINDLE_NOT_A_MEMBER = 21,
  SPINDLE_ALREADY_A_MEMBER = 22,
  SPINDLE_SILENT_PEER = 27,
  SPINDLE_BAD_ADDRESS = 28,
  SPINDLE_LIMIT_EXCEEDED = 30,
  SPINDLE_INTERNAL_ERROR = 32,
  SPINDLE_BAD_ARGUMENT = 34,
  SPINDLE_GROUP_TABLE_FULL = 36,
  SPINDLE_IDENTITY_MISMATCH = 37,
  SPINDLE_TLS_FAILED = 38,
  SPINDLE_ACCESS_DENIED = 39,
  SPINDLE_TOKEN_UNKNOWN = 40,
  SPINDLE_TOKEN_EXPIRED = 41,
  SPINDLE_TOKEN_MISSING = 42,
  SPINDLE_TOKEN_EXPOSED = 43,
  SPINDLE_OUT_OF_MEMORY = 47
};

/* The identifier of a code, such as "slow_receiver", and the sentence that explains it. Static; never NULL. */
SPINDLE_API const char* spindle_error_name(spindle_code code);
SPINDLE_API const char* spindle_error_text(spindle_code code);

/* That of the library, such as "0.1.0". */
SPINDLE_API const char* spindle_version(void);

/* ---- Connecting ---- */

typedef struct spindle_options spindle_options;
typedef struct spindle_connection spindle_connection;

/* What the daemon does about this client where it does not keep up. */
enum {
  SPINDLE_SLOW_DAEMON_DEFAULT = 0,
  SPINDLE_SLOW_PRICE = 1,     /* senders slow down; the client is cut off only beyond a hard limit */
  SPINDLE_SLOW_DROP = 2,      /* the oldest messages are lost, and the client is told which */
  SPINDLE_SLOW_DISCONNECT = 3 /* the client is cut off */
};

/* NULL where memory is exhausted. An object is for one thread at a time. */
SPINDLE_API spindle_options* spindle_options_new(void);
SPINDLE_API void spindle_options_free(spindle_options* options);
/* "unix:/path", "/path", "tls:host:port", "tcp:host:port", "host:port" or "host"; IPv6 addresses in brackets. Not set:
   as the environment variable SPINDLE_ADDRESS says, or else the socket of a daemon of this host. */
SPINDLE_API spindle_code spindle_options_set_address(spindle_options* options, const char* address);
/* The client is "#name#daemon" to others. Not set: the daemon chooses. */
SPINDLE_API spindle_code spindle_options_set_name(spindle_options* options, const char* name);
/* For "tls:": a file of PEM with the certificates of the CA, and the key and certificate of the client. */
SPINDLE_API spindle_code spindle_options_set_tls_bundle(spindle_options* options, const char* path);
SPINDLE_API spindle_code spindle_options_set_tls_revocation_lists(spindle_options* options, const char* path);
/* By which the client proves who it is; sent by "tls:" and to unix sockets only. */
SPINDLE_API spindle_code spindle_options_set_token(spindle_options* options, const char* token);
/* How long spindle_close() and spindle_disconnect() wait for the daemon to take what was sent; 1 s where not set. */
SPINDLE_API spindle_code spindle_options_set_disconnect_timeout(spindle_options* options, int64_t timeout_ns);
/* How long requests wait for room in the send buffer; for ever where not set. */
SPINDLE_API spindle_code spindle_options_set_send_timeout(spindle_options* options, int64_t timeout_ns);
/* Beyond so many bytes that the daemon has not taken, sending waits; 1 MiB where not set. */
SPINDLE_API spindle_code spindle_options_set_send_buffer(spindle_options* options, size_t bytes);
/* Beyond so many bytes of events that nobody has taken, nothing is read; 8 MiB where not set. */
SPINDLE_API spindle_code spindle_options_set_receive_buffer(spindle_options* options, size_t bytes);
/* Not 0: each set of destinations has a line of its own; see docs/client.md, Back-pressure. */
SPINDLE_API spindle_code spindle_options_set_independent_flows(spindle_options* options, int independent);
SPINDLE_API spindle_code spindle_options_set_slow_policy(spindle_options* options, unsigned policy);

/* Connects and waits for the daemon's welcome. `options` may be NULL. On failure `text`, of `room` bytes or NULL, gets
   a sentence that says why, cut where it does not fit, with a zero byte behind it. */
SPINDLE_API spindle_code spindle_connect(const spindle_options* options, int64_t timeout_ns,
                                         spindle_connection** connection, char* text, size_t room);
/* Disconnects, see spindle_disconnect(), and frees the connection; NULL is nothing. Not from a handler. */
SPINDLE_API void spindle_close(spindle_connection* connection);
/* Ends the connection: what was sent before is written, the daemon is told, and its last word awaited. Then, of
   the messages that were sent, `not_taken` did not enter the network; exact is 0 where that is a bound. Both may be
   NULL. */
SPINDLE_API spindle_code spindle_disconnect(spindle_connection* connection, uint64_t* not_taken, int* exact);
/* Leaves all groups, waits for their last views, and disconnects once the network has taken all that was sent. */
SPINDLE_API spindle_code spindle_drain(spindle_connection* connection, int64_t timeout_ns, uint64_t* not_taken,
                                       int* exact);

/* "#name#daemon": others can send to it. Valid until spindle_close(). */
SPINDLE_API spindle_bytes spindle_private_name(const spindle_connection* connection);
/* Not 0 while requests can be made. */
SPINDLE_API int spindle_is_open(const spindle_connection* connection);

/* ---- Groups ---- */

/* Joins a group, of 1 to 255 bytes that do not begin with '#'. With a timeout of 0 only asks for it; the first view, or
   SPINDLE_EVENT_REQUEST_FAILED, tells what has come of it. Otherwise waits for the first view, which is an event, too,
   or gives the reason of the refusal, which is none. After SPINDLE_TIMED_OUT the request stands. `flags` is 0. */
SPINDLE_API spindle_code spindle_join(spindle_connection* connection, spindle_bytes group, unsigned flags,
                                      int64_t timeout_ns);
/* Ask the daemon, and wait for room in the send buffer only. The answers are events: the last view of the group; a view
   of the form SPINDLE_FORM_ANSWER; SPINDLE_EVENT_FLOW_STATE. */
SPINDLE_API spindle_code spindle_leave(spindle_connection* connection, spindle_bytes group);
SPINDLE_API spindle_code spindle_request_view(spindle_connection* connection, spindle_bytes group);
SPINDLE_API spindle_code spindle_request_flow(spindle_connection* connection, const spindle_bytes* groups,
                                              size_t count);

/* ---- Sending ---- */

/* What is promised for a message; each includes what those before it promise. */
enum {
  SPINDLE_UNRELIABLE = 0,
  SPINDLE_RELIABLE = 1,
  SPINDLE_FIFO = 2,
  SPINDLE_CAUSAL = 3,
  SPINDLE_AGREED = 4,
  SPINDLE_SAFE = 5
};

typedef struct spindle_send_options spindle_send_options;

/* NULL where memory is exhausted. An object may be used for any number of messages, by any thread while nobody sets it.
 */
SPINDLE_API spindle_send_options* spindle_send_options_new(void);
SPINDLE_API void spindle_send_options_free(spindle_send_options* options);
/* A tag for the application's own use, delivered with the message; 0 where not set. */
SPINDLE_API spindle_code spindle_send_options_set_type(spindle_send_options* options, uint16_t type);
/* Not 0: the message is not delivered to its sender. */
SPINDLE_API spindle_code spindle_send_options_set_self_discard(spindle_send_options* options, int discard);

/* Sends a message of up to 16 MiB to 1 to 1,000 groups or private names. Waits for room in the send buffer, and with
   independent flows in the flow, for `timeout_ns` at most; with 0 says SPINDLE_WOULD_BLOCK where it would wait, as it
   always does in a handler. `options` may be NULL. */
SPINDLE_API spindle_code spindle_multicast(spindle_connection* connection, unsigned service,
                                           const spindle_bytes* groups, size_t count, spindle_bytes payload,
                                           const spindle_send_options* options, int64_t timeout_ns);
/* The same of several pieces, which are sent one behind the other. */
SPINDLE_API spindle_code spindle_multicast_pieces(spindle_connection* connection, unsigned service,
                                                  const spindle_bytes* groups, size_t count,
                                                  const spindle_bytes* pieces, size_t piece_count,
                                                  const spindle_send_options* options, int64_t timeout_ns);

/* Waits until the network has taken all messages that were sent before. SPINDLE_OK: it has. Otherwise, with
   SPINDLE_TIMED_OUT, as always in a handler, which does not wait, or SPINDLE_NOT_CONNECTED, `not_taken` of them are
   under way or lost; exact is 0 where that is a bound. Both may be NULL, and are filled in in any case. */
SPINDLE_API spindle_code spindle_confirm(spindle_connection* connection, int64_t timeout_ns, uint64_t* not_taken,
                                         int* exact);

/* The same without waiting: `done` is called once, by the connection's thread, or by this call where the outcome is
   known at once. It should be brief. */
SPINDLE_API spindle_code spindle_confirm_then(spindle_connection* connection, int64_t timeout_ns,
                                              void (*done)(uint64_t not_taken, int exact, void* context),
                                              void* context);
SPINDLE_API spindle_code spindle_join_then(spindle_connection* connection, spindle_bytes group, unsigned flags,
                                           int64_t timeout_ns, void (*done)(spindle_code code, void* context),
                                           void* context);
/* Calls `done` likewise when there is room for a message to these destinations. */
SPINDLE_API spindle_code spindle_when_writable(spindle_connection* connection, const spindle_bytes* groups,
                                               size_t count, int64_t timeout_ns,
                                               void (*done)(spindle_code code, void* context), void* context);

/* ---- Receiving ---- */

typedef struct spindle_event spindle_event;

/* Waits for the next event, and takes as many as wait, `room` at most. Gives their number: 0 where none came in time,
   or where SPINDLE_EVENT_DISCONNECTED, the last one, was taken. Each is to be freed. */
SPINDLE_API size_t spindle_next(spindle_connection* connection, spindle_event** events, size_t room,
                                int64_t timeout_ns);
/* Readable while events wait, for poll() and its like; then take events with a timeout of 0 until none comes. It
   belongs to the connection. -1 where there is none. */
SPINDLE_API int spindle_descriptor(spindle_connection* connection);
/* Has every event handed to `handler` by the connection's own thread, one at a time; the handler frees it. NULL brings
   spindle_next() back. The handler may call any function but spindle_next() and spindle_close(). When this returns, no
   call of the former handler is running or will come, unless that is who calls. */
SPINDLE_API spindle_code spindle_set_handler(spindle_connection* connection,
                                             void (*handler)(spindle_event* event, void* context), void* context);

/* A program has to bear with kinds that it does not know: they are added. */
enum {
  SPINDLE_EVENT_MESSAGE = 0,        /* a message to a group of this client, or to itself */
  SPINDLE_EVENT_VIEW = 1,           /* the members of a group have changed */
  SPINDLE_EVENT_TRANSITIONAL = 2,   /* until the next view of cause network, promises hold among those still together */
  SPINDLE_EVENT_REQUEST_FAILED = 3, /* the daemon refused something */
  SPINDLE_EVENT_FLOW_READY = 4,     /* a flow that said SPINDLE_WOULD_BLOCK has room again */
  SPINDLE_EVENT_FLOW_STATE = 5,     /* the answer to spindle_request_flow() */
  SPINDLE_EVENT_GAP = 6,            /* messages that stood here were dropped, as this client does not keep up */
  SPINDLE_EVENT_QUEUE_WARNING = 7,  /* the daemon holds more and more for this client */
  SPINDLE_EVENT_DISCONNECTED = 8    /* the connection has ended; the last event */
};

SPINDLE_API unsigned spindle_event_kind(const spindle_event* event);
/* NULL is nothing. */
SPINDLE_API void spindle_event_free(spindle_event* event);

/* What the accessors below return is valid until the event is freed. Of an event of another kind they give nothing: 0,
   or no bytes. Those with `room` fill in as many as fit and give how many there are; `names` may be NULL where room is
   0. */

/* A message. */
SPINDLE_API unsigned spindle_message_service(const spindle_event* event);
SPINDLE_API uint16_t spindle_message_type(const spindle_event* event);
SPINDLE_API spindle_bytes spindle_message_sender(const spindle_event* event);
SPINDLE_API size_t spindle_message_groups(const spindle_event* event, spindle_bytes* names, size_t room);
SPINDLE_API spindle_bytes spindle_message_payload(const spindle_event* event);

/* Where the message stands in the order, the same at all receivers: not 0 where it stands anywhere. Then the view of
   the daemons, by its number, coordinator and the coordinator's life; how many changes of groups came before, which is
   no less than the position of the view of its group in which the message was delivered; the position in that order;
   and the index among messages that travelled as one. */
SPINDLE_API int spindle_message_has_position(const spindle_event* event);
SPINDLE_API uint64_t spindle_message_view_number(const spindle_event* event);
SPINDLE_API spindle_bytes spindle_message_coordinator(const spindle_event* event);
SPINDLE_API uint64_t spindle_message_incarnation(const spindle_event* event);
SPINDLE_API uint64_t spindle_message_changes(const spindle_event* event);
SPINDLE_API uint64_t spindle_message_order(const spindle_event* event);
SPINDLE_API uint32_t spindle_message_index(const spindle_event* event);

/* A view. */
enum { SPINDLE_CAUSE_JOIN = 1, SPINDLE_CAUSE_LEAVE = 2, SPINDLE_CAUSE_DISCONNECT = 3, SPINDLE_CAUSE_NETWORK = 4 };
enum {
  SPINDLE_FORM_FULL = 0,    /* lists all members */
  SPINDLE_FORM_CHANGE = 1,  /* who joined and who left, of a large group */
  SPINDLE_FORM_ANSWER = 2,  /* lists all members once more: nothing has changed */
  SPINDLE_FORM_FAREWELL = 3 /* this client has left */
};
enum {
  SPINDLE_NAMES_MEMBERS = 0, /* all, in an order that all agree on; forms full and answer only */
  SPINDLE_NAMES_JOINED = 1,
  SPINDLE_NAMES_LEFT = 2,
  SPINDLE_NAMES_APART = 3, /* cause network: members that are not new and did not come along */
  SPINDLE_NAMES_VS_SET = 4 /* cause network, form full: this client and those who came along */
};
SPINDLE_API spindle_bytes spindle_view_group(const spindle_event* event);
SPINDLE_API unsigned spindle_view_cause(const spindle_event* event);
SPINDLE_API unsigned spindle_view_form(const spindle_event* event);
SPINDLE_API size_t spindle_view_member_count(const spindle_event* event);
SPINDLE_API uint64_t spindle_view_digest(const spindle_event* event);
SPINDLE_API size_t spindle_view_names(const spindle_event* event, unsigned which, spindle_bytes* names, size_t room);
/* This client's place among the members; SIZE_MAX where they are not listed. */
SPINDLE_API size_t spindle_view_my_index(const spindle_event* event);
/* What identifies the view: the view of the daemons, by its number, coordinator and the coordinator's life, and the
   position in its order. */
SPINDLE_API uint64_t spindle_view_number(const spindle_event* event);
SPINDLE_API spindle_bytes spindle_view_coordinator(const spindle_event* event);
SPINDLE_API uint64_t spindle_view_incarnation(const spindle_event* event);
SPINDLE_API uint64_t spindle_view_position(const spindle_event* event);

SPINDLE_API spindle_bytes spindle_transitional_group(const spindle_event* event);

/* A request that failed. */
enum {
  SPINDLE_REQUEST_JOIN = 0,
  SPINDLE_REQUEST_LEAVE = 1,
  SPINDLE_REQUEST_VIEW = 2,
  SPINDLE_REQUEST_SEND = 3,      /* messages that had been sent: nobody gets those */
  SPINDLE_REQUEST_MEMBERSHIP = 4 /* to stay a member: the client has left the group */
};
SPINDLE_API unsigned spindle_failed_request(const spindle_event* event);
SPINDLE_API spindle_bytes spindle_failed_group(const spindle_event* event);
SPINDLE_API spindle_code spindle_failed_code(const spindle_event* event);
SPINDLE_API uint64_t spindle_failed_messages(const spindle_event* event);

/* A flow that is ready, or how one fares. */
SPINDLE_API size_t spindle_flow_groups(const spindle_event* event, spindle_bytes* names, size_t room);
SPINDLE_API double spindle_flow_price(const spindle_event* event);
SPINDLE_API double spindle_flow_budget(const spindle_event* event);
SPINDLE_API double spindle_flow_rate(const spindle_event* event);
SPINDLE_API int64_t spindle_flow_salary_period_us(const spindle_event* event);
SPINDLE_API double spindle_flow_blocked_share(const spindle_event* event);
SPINDLE_API spindle_bytes spindle_flow_limited_by(const spindle_event* event);

/* A gap: how many messages, of how many bytes, and how many of these were sent to which name. */
SPINDLE_API uint64_t spindle_gap_messages(const spindle_event* event);
SPINDLE_API uint64_t spindle_gap_bytes(const spindle_event* event);
SPINDLE_API size_t spindle_gap_names(const spindle_event* event, spindle_bytes* names, uint64_t* messages, size_t room);
SPINDLE_API uint64_t spindle_gap_unlisted(const spindle_event* event);

/* A warning: percent of the limit, bytes that wait in the daemon, and the limit. */
SPINDLE_API unsigned spindle_warning_percent(const spindle_event* event);
SPINDLE_API uint64_t spindle_warning_bytes(const spindle_event* event);
SPINDLE_API uint64_t spindle_warning_limit(const spindle_event* event);

/* The end: why, in a code and in words, and how many messages did not enter the network. */
SPINDLE_API spindle_code spindle_disconnected_code(const spindle_event* event);
SPINDLE_API spindle_bytes spindle_disconnected_text(const spindle_event* event);
SPINDLE_API uint64_t spindle_disconnected_not_taken(const spindle_event* event);
SPINDLE_API int spindle_disconnected_is_exact(const spindle_event* event);

/* ---- The members of a large group ---- */

/* Keeps the list of a group's members from its views, of which large groups' name only who joined and who left. An
   object is for one group, and for one thread at a time. */
typedef struct spindle_membership spindle_membership;

enum {
  SPINDLE_MEMBERSHIP_CURRENT = 0, /* the members are those of the view */
  SPINDLE_MEMBERSHIP_ASK = 1,     /* they are not known: call spindle_request_view() */
  SPINDLE_MEMBERSHIP_UNKNOWN = 2, /* they are not known yet: the answer is on its way, or memory is exhausted */
  SPINDLE_MEMBERSHIP_LEFT = 3     /* this client is no member any more */
};

/* NULL where memory is exhausted. */
SPINDLE_API spindle_membership* spindle_membership_new(void);
SPINDLE_API void spindle_membership_free(spindle_membership* membership);
/* Applies an event, which is a view of the group. */
SPINDLE_API unsigned spindle_membership_apply(spindle_membership* membership, const spindle_event* view);
/* Forgets everything, for a request that failed. */
SPINDLE_API void spindle_membership_reset(spindle_membership* membership);
/* Not 0 where the members are known. */
SPINDLE_API int spindle_membership_is_current(const spindle_membership* membership);
/* Valid until the next apply, reset or free. */
SPINDLE_API size_t spindle_membership_members(const spindle_membership* membership, spindle_bytes* names, size_t room);
/* Likewise, after a view with cause network: this client and those who came from the former view with it. */
SPINDLE_API size_t spindle_membership_vs_set(spindle_membership* membership, spindle_bytes* names, size_t room);
/* The place of a member among them; SIZE_MAX where it is none. */
SPINDLE_API size_t spindle_membership_index_of(const spindle_membership* membership, spindle_bytes name);

#ifdef __cplusplus
}
#endif

#endif

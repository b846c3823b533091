"""The codes of what goes wrong: those of spindle/error.h, which a test holds this to."""
import enum


class Code(enum.IntEnum):
    """Everything that can go wrong, for calls that fail and connections that end. Numbers never change."""

    WOULD_BLOCK = 1
    TIMED_OUT = 2
    NOT_CONNECTED = 3
    CONNECT_FAILED = 4
    CONNECTION_LOST = 5
    CLOSED_BY_CLIENT = 6
    DAEMON_STOPPING = 7
    MESSAGE_TOO_LARGE = 8
    TOO_MANY_GROUPS = 9
    BAD_GROUP_NAME = 10
    BAD_CLIENT_NAME = 11
    NAME_IN_USE = 12
    VERSION_MISMATCH = 13
    MALFORMED_FRAME = 14
    FRAME_TOO_LARGE = 15
    UNEXPECTED_FRAME = 16
    HANDSHAKE_TIMEOUT = 17
    SLOW_RECEIVER = 18
    TOO_MANY_SESSIONS = 19
    TOO_MANY_MEMBERSHIPS = 20
    NOT_A_MEMBER = 21
    ALREADY_A_MEMBER = 22
    CLUSTER_MISMATCH = 23
    SETTINGS_MISMATCH = 24
    NAME_CONFLICT = 25
    DUPLICATE_LINK = 26
    SILENT_PEER = 27
    BAD_ADDRESS = 28
    BAD_CONFIGURATION = 29
    LIMIT_EXCEEDED = 30
    LINK_FAILED = 31
    INTERNAL_ERROR = 32
    UNKNOWN_REQUEST = 33
    BAD_ARGUMENT = 34
    PARTITIONED = 35
    GROUP_TABLE_FULL = 36
    IDENTITY_MISMATCH = 37
    TLS_FAILED = 38
    ACCESS_DENIED = 39
    TOKEN_UNKNOWN = 40
    TOKEN_EXPIRED = 41
    TOKEN_MISSING = 42
    TOKEN_EXPOSED = 43
    MODE_MISMATCH = 44
    FLUSHING = 45
    FLUSH_TIMEOUT = 46
    BAD_HEADERS = 48
    OUT_OF_MEMORY = 56
    CANCELLED = 57
    TOO_MANY_CHANNELS = 58
    UNKNOWN_CHANNEL = 59
    NO_SPACE = 60
    FILE_FAILED = 61
    FILE_EXISTS = 62
    BAD_CONTENT_NAME = 63
    UNKNOWN_FEED = 64
    TOO_MANY_FEEDS = 65
    FLOW_EXCEEDED = 66
    #: Of a later version of the daemon, whatever its number.
    UNKNOWN_ERROR = 65535

    @property
    def text(self) -> str:
        """The sentence that explains it."""
        return _TEXTS.get(self, "an unknown error")


_TEXTS = {
    Code.WOULD_BLOCK: "the message cannot enter the network now",
    Code.TIMED_OUT: "the operation timed out",
    Code.NOT_CONNECTED: "the connection is not open",
    Code.CONNECT_FAILED: "the daemon cannot be reached",
    Code.CONNECTION_LOST: "the connection was lost",
    Code.CLOSED_BY_CLIENT: "the client closed the connection",
    Code.DAEMON_STOPPING: "the daemon is stopping",
    Code.MESSAGE_TOO_LARGE: "the message is larger than 16 MiB",
    Code.TOO_MANY_GROUPS: "a message goes to 1 to 1,000 groups",
    Code.BAD_GROUP_NAME: "a group name has 1 to 255 bytes and does not start with '#'",
    Code.BAD_CLIENT_NAME: "a client name has 1 to 64 printable characters other than '#' and space",
    Code.NAME_IN_USE: "another client of this daemon has that name",
    Code.VERSION_MISMATCH: "no protocol version in common",
    Code.MALFORMED_FRAME: "a frame could not be parsed",
    Code.FRAME_TOO_LARGE: "a frame exceeds the size limit",
    Code.UNEXPECTED_FRAME: "a frame came at the wrong time",
    Code.HANDSHAKE_TIMEOUT: "the handshake was not completed in time",
    Code.SLOW_RECEIVER: "the client did not read its messages in time",
    Code.TOO_MANY_SESSIONS: "the daemon has reached its limit of clients",
    Code.TOO_MANY_MEMBERSHIPS: "the client has joined as many groups as the daemon allows",
    Code.NOT_A_MEMBER: "the client is not a member of the group",
    Code.ALREADY_A_MEMBER: "the client is already a member of the group",
    Code.CLUSTER_MISMATCH: "the daemons belong to different clusters",
    Code.SETTINGS_MISMATCH: "settings that must agree differ between the daemons",
    Code.NAME_CONFLICT: "two daemons use the same name",
    Code.DUPLICATE_LINK: "another connection to the same neighbour is kept",
    Code.SILENT_PEER: "nothing was heard from the peer within its liveness time",
    Code.BAD_ADDRESS: "an address is not valid",
    Code.BAD_CONFIGURATION: "the configuration is not valid",
    Code.LIMIT_EXCEEDED: "a limit of the daemon was exceeded",
    Code.LINK_FAILED: "the connection to the neighbour failed",
    Code.INTERNAL_ERROR: "an internal error occurred",
    Code.UNKNOWN_REQUEST: "the request is not known",
    Code.BAD_ARGUMENT: "an argument is not valid",
    Code.PARTITIONED: "a partition imposed for a field test holds the daemons apart",
    Code.GROUP_TABLE_FULL: "the daemons have as many groups as they may, and this would be another",
    Code.IDENTITY_MISMATCH: "the peer's certificate is that of somebody else",
    Code.TLS_FAILED: "the connection could not be protected by TLS",
    Code.ACCESS_DENIED: "the daemon's access rules do not allow it",
    Code.TOKEN_UNKNOWN: "the token is not known to the daemon",
    Code.TOKEN_EXPIRED: "the token has expired",
    Code.TOKEN_MISSING: "a client without a certificate has to send a token",
    Code.TOKEN_EXPOSED: "a token goes only over TLS or a unix socket",
    Code.MODE_MISMATCH: "the group is synchronous and this is not, or the other way round",
    Code.FLUSHING: "the client has answered a flush request of the group, and its view is to come",
    Code.FLUSH_TIMEOUT: "the client did not answer a flush request of the group in time",
    Code.BAD_HEADERS: "a header has a key of 1 to 255 bytes without '$' in front; all take 4 KiB at most",
    Code.OUT_OF_MEMORY: "there is not enough memory",
    Code.CANCELLED: "the program has cancelled the call",
    Code.TOO_MANY_CHANNELS: "there are as many bulk channels as there may be, or as the client may offer",
    Code.UNKNOWN_CHANNEL: "there is no such bulk channel, or it has ended",
    Code.NO_SPACE: "there is no room for the content where it is to be stored",
    Code.FILE_FAILED: "a file of the content cannot be read or written",
    Code.FILE_EXISTS: "there is a file of that name already, or it is being received",
    Code.BAD_CONTENT_NAME: "the name of the content is not one that a file can have here",
    Code.UNKNOWN_FEED: "there is no such feed, or it has ended",
    Code.TOO_MANY_FEEDS: "the client has as many feeds open as it may",
    Code.FLOW_EXCEEDED: "the client sent more than it had room for",
}


def code_of(number: int) -> Code:
    """The code of a number, of whatever version."""
    try:
        return Code(number)
    except ValueError:
        return Code.UNKNOWN_ERROR

"""What a program receives, but for messages, which the module `_engine` has. Names are str: bytes that are no UTF-8
come as surrogates, and go as they came. Times are seconds."""
import enum
from dataclasses import dataclass
from typing import NamedTuple, Optional

from ._codes import Code
from ._engine import Message


class Service(enum.IntEnum):
    """What is promised for a message; each service includes what those before it promise."""

    UNRELIABLE = 0  # may be lost
    RELIABLE = 1  # delivered to all members that stay connected, in no particular order
    FIFO = 2  # a sender's messages in the order sent
    CAUSAL = 3  # after every message that its sender had seen
    AGREED = 4  # in one order everywhere
    SAFE = 5  # delivered only when every daemon concerned has it


class SlowPolicy(enum.IntEnum):
    """What a daemon does about a client that does not read fast enough."""

    DAEMON_DEFAULT = 0  # what its configuration says
    PRICE = 1  # senders slow down
    DROP = 2  # the oldest messages are lost, and Gap says which
    DISCONNECT = 3  # the client is cut off


class ViewCause(enum.Enum):
    """Why a group has a new view."""

    JOIN = "join"
    LEAVE = "leave"
    DISCONNECT = "disconnect"
    NETWORK = "network"


class ViewForm(enum.Enum):
    """What a view says of the members."""

    FULL = "full"  # all of them
    CHANGE = "change"  # who joined and who left: the further views of a large group
    ANSWER = "answer"  # all of them, once more: what request_view() asked for
    FAREWELL = "farewell"  # nothing: this client has left


class Request(enum.Enum):
    """What the daemon has refused."""

    JOIN = "join"
    LEAVE = "leave"
    VIEW = "view"
    SEND = "send"  # messages: nobody gets those
    MEMBERSHIP = "membership"  # to have the client stay a member: it has left
    LISTEN = "listen"


class FeedGapCause(enum.Enum):
    """Why packets of a feed do not come."""

    LOST = "lost"  # in the network, and not repaired in time
    SLOW = "slow"  # this client has not read them in time


class FeedClosedWhy(enum.Enum):
    """Why a feed is over."""

    CLOSED = "closed"  # by its source
    LOST = "lost"  # its daemon is out of reach, or the session in which it was heard is gone
    DENIED = "denied"  # the rules of access do not allow it any more
    LEFT = "left"  # this client has left its group, or had stopped listening there


class FeedLimit(enum.Enum):
    """What keeps the rate of a feed from growing."""

    START = "start"  # nothing: it grows fast
    LINK = "link"  # a path that loses packets
    SOURCE = "source"  # less is sent than may be
    MAXIMUM = "maximum"  # the rate that it was opened with
    SHARE = "share"  # ordered traffic has the rest of a link


class ContentKind(enum.Enum):
    """What a content is at its source."""

    BYTES = "bytes"
    FILE = "file"
    DIRECTORY = "directory"


class BulkEndedCause(enum.Enum):
    """Why a bulk channel is over."""

    CANCELLED = "cancelled"  # by its source, or, with a code, as its content cannot be read
    OVER = "over"  # it was complete, and its time to linger is over
    # The source is gone, nobody has the content, and nothing has happened for a minute; or the daemon of a new session
    # has not told of the channel for a minute.
    ABANDONED = "abandoned"
    ELSEWHERE = "elsewhere"  # daemons that were apart and are back know that it has ended
    DISCONNECTED = "disconnected"  # the session of this client that offered it is gone; others may go on
    LEFT = "left"  # this client is a member of the group no more; others may go on


class ChannelId(NamedTuple):
    """Identifies a bulk channel, for ever."""

    daemon: str  # of the client that offers
    incarnation: int
    number: int

    def __str__(self) -> str:
        return f"{self.number}@{self.daemon}"


class GroupViewId(NamedTuple):
    """Identifies a view of a group; equal at all members that see the view, and never used for another one."""

    view_number: int
    coordinator: str
    incarnation: int
    position: int


@dataclass(frozen=True)
class GroupView:
    """The members of a group have changed, or, with form ANSWER, are told again. Every member sees a change between the
    same two ordered messages."""

    group: str
    id: GroupViewId
    cause: ViewCause
    form: ViewForm
    member_count: int
    synchronous: bool
    digest: int
    joined: tuple[str, ...]
    left: tuple[str, ...]
    apart: tuple[str, ...]
    members: tuple[str, ...]  # all, in one order for all members; empty with forms CHANGE and FAREWELL
    vs_set: tuple[str, ...]  # cause NETWORK: who came from the former view together with this client
    my_index: Optional[int]  # in `members`


@dataclass(frozen=True)
class Transitional:
    """From here to the group's next view of cause NETWORK, messages reach those who are still together only."""

    group: str


@dataclass(frozen=True)
class RequestFailed:
    """The daemon refused something that nobody waits for."""

    request: Request
    group: str
    code: Code
    messages: int  # request SEND: so many


@dataclass(frozen=True)
class FlushRequest:
    """A synchronous group is about to have another view: send what is still to be sent in this one, and then
    flush_ok()."""

    group: str
    number: int


@dataclass(frozen=True)
class FlowReady:
    """Independent flows: there is room again for these destinations, for which try_multicast() has given False."""

    groups: tuple[str, ...]


@dataclass(frozen=True)
class FlowState:
    """How a flow fares: what request_flow() has asked for."""

    groups: tuple[str, ...]
    price: float  # of a packet now, in dollars
    budget: float  # in dollars
    rate: float  # packets a second that entered the network of late
    salary_period: float
    blocked_share: float  # 0 to 1, of its life
    limited_by: str


@dataclass(frozen=True)
class Gap:
    """The client did not keep up, and its policy is DROP: so many messages were lost at this place."""

    messages: int
    bytes: int
    names: tuple[tuple[str, int], ...]  # where they were sent to, and how many to each
    unlisted: int  # how many were sent to a name that is not listed


@dataclass(frozen=True)
class QueueWarning:
    """The daemon holds more and more for this client."""

    percent: int  # 50 or 80
    bytes: int
    limit_bytes: int


@dataclass(frozen=True)
class NotTaken:
    """How many messages that were accepted have not entered the network: nobody gets those. Of messages that are
    unknown (Reconnected) those are among them that the program had not been told of by that event when it asked. Where
    it is not `exact` no word of the daemon came, or some are unknown, and it may have taken some of them. False where
    there is none."""

    messages: int
    exact: bool

    def __bool__(self) -> bool:
        return self.messages != 0


@dataclass(frozen=True)
class Answers:
    """What came of a request."""

    messages: tuple[Message, ...]  # in the order in which they came, one of each client
    missing: tuple[str, ...]  # of a request to all members, who has not answered, as far as that is known


@dataclass(frozen=True)
class Reconnected:
    """The connection was lost, and the program is connected again. Where `resumed`, nothing was lost or doubled.
    Otherwise this is a new session: what was sent to the groups in between is lost here, the groups are joined again,
    and `unknown` has the tickets of messages that may have been sent or not."""

    resumed: bool
    former_name: str
    private_name: str
    unknown: tuple[int, ...]
    fenced: bool


@dataclass(frozen=True)
class Disconnected:
    """The connection has ended: the last event."""

    code: Code
    text: str
    not_taken: NotTaken


@dataclass(frozen=True)
class FeedOpened:
    """A feed of a group that this client listens to."""

    feed: int
    group: str
    source: str
    repair_for: float


@dataclass
class FeedPacket:
    """A message of a feed."""

    __slots__ = ("feed", "packets", "payload", "sequence")

    feed: int
    sequence: int  # of the first packet that it came in
    packets: int  # that it took
    payload: bytes


@dataclass(frozen=True)
class FeedGap:
    """Packets of a feed that this client does not get."""

    feed: int
    first: int
    count: int
    cause: FeedGapCause


@dataclass(frozen=True)
class FeedClosed:
    """Nothing more comes of a feed, or of a feed of this client's own nothing more is sent."""

    feed: int
    why: FeedClosedWhy
    code: Optional[Code]


@dataclass(frozen=True)
class FeedFlow:
    """How the network treats a feed of this client's own."""

    feed: int
    bytes_per_second: int
    round_trip: float
    loss: float
    limited_by: FeedLimit


@dataclass(frozen=True)
class FeedWritable:
    """There is room again in a feed of this client's own, for which try_send() has given False."""

    feed: int


@dataclass(frozen=True)
class BulkOffered:
    """Somebody offers a content to a group of this client: accept() or refuse() it."""

    channel: ChannelId
    group: str
    source: str  # private name of the client that offers
    name: str  # as the source says it; may be empty
    kind: ContentKind
    size: Optional[int]  # None: not known yet
    late: bool  # it was offered before this client joined: nobody waits for it


@dataclass(frozen=True)
class BulkProgress:
    """How far a content is that this client offers or receives; at most twice a second."""

    channel: ChannelId
    bytes: int  # that are there and right, or that were sent to those who keep up
    size: Optional[int]
    bytes_per_second: int  # of late


@dataclass(frozen=True)
class BulkStalled:
    """Nothing has come for 10 s of a content that this client receives. With the next BulkProgress that is over."""

    channel: ChannelId


@dataclass(frozen=True)
class BulkReceived:
    """A content that was accepted is here, whole and right, or cannot be received."""

    channel: ChannelId
    code: Optional[Code]  # None: it is here
    text: str  # says more of `code`
    path: str  # of the file, where it went into one
    content: bytes  # where it was received in memory


@dataclass(frozen=True)
class BulkGone:
    """How those stand that were members where a content was offered, and are no longer."""

    done: int
    failed: int
    refused: int
    missing: int  # they went before they had all of it


@dataclass(frozen=True)
class BulkComplete:
    """All members have the content, or have said that they will not: the same list at all, at one place of the
    order."""

    channel: ChannelId
    done: tuple[str, ...]
    failed: tuple[tuple[str, Code], ...]
    refused: tuple[str, ...]
    gone: BulkGone


@dataclass(frozen=True)
class BulkReturned:
    """Of those that were missing some are back, or have it by now: told to the source."""

    channel: ChannelId
    gone: BulkGone
    present: int  # of `gone.missing`: they are back, and receive it


@dataclass(frozen=True)
class BulkEnded:
    """Nothing more comes of the channel."""

    channel: ChannelId
    cause: BulkEndedCause
    code: Optional[Code]  # why this client cancelled it by itself
    text: str


@dataclass(frozen=True)
class OtherEvent:
    """Of a kind that this package does not know."""

    kind: str

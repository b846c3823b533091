"""A client of Spindle, written from docs/wire-format.md alone: it shares no code with the project, and needs nothing but
Python 3.9. What it could not be written without stands on that page.

Everything here is bytes in and bytes out, but for `connect`.
"""

import collections
import socket
import struct

VERSION = 1
PIECE = 32768
MESSAGE_MAX = 16777216
VIEW_PART = 262144
VIEW_MAX = 268435456
WINDOW = 65536
MESSAGE_COST = 64

UNRELIABLE, RELIABLE, FIFO, CAUSAL, AGREED, SAFE = range(6)
INDEPENDENT_FLOWS, TELL_TAKEN = 1, 8
PRICE, DROP, DISCONNECT = 1 << 1, 2 << 1, 3 << 1

HELLO, DEFINE, SEND, SEND_MORE, JOIN, LEAVE, BYE, PING, VIEW_REQUEST, FLOW_REQUEST, RECEIVED = range(1, 12)
(WELCOME, CLOSE, MESSAGE, MESSAGE_MORE, VIEW, TRANSITIONAL, REPLY, PONG, ADMITTED, FLOW, GAP, WARNING, VIEW_PART_FRAME,
 TAKEN, REFUSED, RECEIVED_BY_DAEMON) = range(16, 32)
CONFIRM, CONFIRMED = 13, 35
ORDER_VIEW = 34
FLUSH_OK = 12
FLUSH_REQUEST = 32

CODES = {
    6: "closed_by_client", 7: "daemon_stopping", 10: "bad_group_name", 11: "bad_client_name", 12: "name_in_use",
    13: "version_mismatch", 14: "malformed_frame", 15: "frame_too_large", 16: "unexpected_frame",
    17: "handshake_timeout", 18: "slow_receiver", 19: "too_many_sessions", 20: "too_many_memberships",
    21: "not_a_member", 22: "already_a_member", 30: "limit_exceeded", 36: "group_table_full",
    44: "mode_mismatch", 45: "flushing", 46: "flush_timeout"}

JOINED, LEFT, DISCONNECTED, NETWORK = 1, 2, 3, 4
FULL, CHANGE, ANSWER, FAREWELL = range(4)


class ProtocolError(Exception):
    """The daemon has sent what the page does not allow."""


# --- Notation ---

def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7f | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def string(text):
    return bytes([len(text)]) + text


def names(list_of_names):
    return varint(len(list_of_names)) + b"".join(string(name) for name in list_of_names)


def frame(kind, body=b""):
    return struct.pack("<I", len(body))[:3] + bytes([kind]) + body


class Reader:
    def __init__(self, body):
        self.body = body
        self.at = 0

    def take(self, count):
        if self.at + count > len(self.body):
            raise ProtocolError("a frame is cut short")
        self.at += count
        return bytes(self.body[self.at - count:self.at])

    def number(self, size):
        return int.from_bytes(self.take(size), "little")

    def varint(self):
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                if byte == 0 and shift > 7:
                    raise ProtocolError("a varint has more bytes than it takes")
                if value >= 1 << 64:
                    raise ProtocolError("a varint has more than 64 bits")
                return value

    def string(self):
        return self.take(self.number(1))

    def names(self):
        return [self.string() for _ in range(self.varint())]

    def rest(self):
        return self.take(len(self.body) - self.at)

    def done(self):
        if self.at != len(self.body):
            raise ProtocolError("a frame has more than it should")


# --- What a daemon tells ---

Welcome = collections.namedtuple("Welcome", "version name key timeout resumed")
Close = collections.namedtuple("Close", "code text taken")
Message = collections.namedtuple("Message", "service type sender groups payload place headers", defaults=((),))
OrderView = collections.namedtuple("OrderView", "number coordinator incarnation changes")
View = collections.namedtuple("View", "group id cause form synchronous digest joined left apart members count")
Transitional = collections.namedtuple("Transitional", "group")
Reply = collections.namedtuple("Reply", "request code")
FlushRequest = collections.namedtuple("FlushRequest", "request group")
Pong = collections.namedtuple("Pong", "token")
Admitted = collections.namedtuple("Admitted", "handle bytes")
Flow = collections.namedtuple("Flow", "request price budget period rate blocked limit")
Gap = collections.namedtuple("Gap", "messages bytes names unlisted")
Warning = collections.namedtuple("Warning", "percent bytes limit")
Taken = collections.namedtuple("Taken", "messages")
Received = collections.namedtuple("Received", "frames")
Confirmed = collections.namedtuple("Confirmed", "request messages")

LENGTHS = {MESSAGE: 289074, MESSAGE_MORE: PIECE, VIEW: VIEW_PART, VIEW_PART_FRAME: VIEW_PART}


def read_view(body):
    reader = Reader(body)
    group = reader.string()
    view_id = (reader.varint(), reader.string(), reader.number(8), reader.varint())
    cause, form, digest = reader.number(1), reader.number(1), reader.number(8)
    synchronous, form = form >= 128, form % 128
    joined, left, apart = reader.names(), reader.names(), reader.names()
    if form in (FULL, ANSWER):
        members = reader.names()
        count = len(members)
    else:
        members, count = None, reader.varint()
    reader.done()
    if not JOINED <= cause <= NETWORK or not FULL <= form <= FAREWELL:
        raise ProtocolError("a view of an unknown cause or form")
    if cause != NETWORK and apart:
        raise ProtocolError("members apart without a change of the network")
    if form == ANSWER and (joined or left or apart):
        raise ProtocolError("an answer that changes something")
    if form == FAREWELL and (cause != LEFT or digest != 0 or count != 0):
        raise ProtocolError("a farewell that is none")
    return View(group, view_id, cause, form, synchronous, digest, joined, left, apart, members, count)


def message_of(head, content, place, described):
    """`content` is the payload, and, where it is described, the headers in front of it."""
    if not described:
        return Message(*head, content, place)
    reader = Reader(content)
    block = Reader(reader.take(reader.number(2)))
    headers = []
    while block.at < len(block.body):
        key = block.string()
        headers.append((key, block.take(block.number(2))))
    if not headers or not all(key for key, _ in headers):
        raise ProtocolError("headers that are none")
    return Message(*head, reader.rest(), place, tuple(headers))


class Incoming:
    """Cuts what a daemon sends into frames and puts messages and views together."""

    def __init__(self):
        self.buffer = bytearray()
        self.welcomed = self.closed = False
        self.frames = 0  # behind the welcome
        self.message = None  # of which pieces are still to come: head and payload so far
        self.view = None     # likewise
        self.order = None    # that places of messages are in

    def feed(self, data):
        self.buffer += data
        events = []
        at = 0
        while len(self.buffer) - at >= 4:
            length = int.from_bytes(self.buffer[at:at + 3], "little")
            kind = self.buffer[at + 3]
            if length > LENGTHS.get(kind, 65549):
                raise ProtocolError("a frame of type %d has %d bytes" % (kind, length))
            if len(self.buffer) - at - 4 < length:
                break
            event = self.read(kind, bytes(self.buffer[at + 4:at + 4 + length]))
            at += 4 + length
            if event is not None:
                events.append(event)
        del self.buffer[:at]
        return events

    def read(self, kind, body):
        if self.closed:
            raise ProtocolError("something follows the close")
        if self.welcomed:
            self.frames += 1
        if not self.welcomed and kind not in (WELCOME, CLOSE):
            raise ProtocolError("a frame of type %d before the welcome" % kind)
        if self.message is not None and kind not in (MESSAGE_MORE, WARNING, CLOSE):
            raise ProtocolError("a frame of type %d within a message" % kind)
        if self.view is not None and kind not in (VIEW_PART_FRAME, VIEW, WARNING, CLOSE):
            raise ProtocolError("a frame of type %d within a view" % kind)
        reader = Reader(body)
        event = self.READERS.get(kind, Incoming.unknown)(self, reader)
        reader.done()
        return event

    def unknown(self, reader):
        raise ProtocolError("a frame of an unknown type")

    def read_welcome(self, reader):
        self.welcomed = True
        version, name = reader.number(2), reader.string()
        found = options(reader)
        key = found[1].take(24) if 1 in found else None
        return Welcome(version, name, key, found[1].number(4) if key else 0,
                       found[2].number(8) if 2 in found else None)

    def read_received(self, reader):
        return Received(reader.varint())

    def read_close(self, reader):
        self.closed = True
        code = reader.number(2)
        return Close(code, reader.take(reader.number(2)), reader.varint())

    def read_message(self, reader):
        flags, kind, total = reader.number(1), reader.number(2), reader.varint()
        place = (reader.varint(), reader.varint()) if flags & 8 else None
        service, count = flags & ~(8 | 16), reader.varint()
        if place is not None and (place[0] == 0 or self.order is None):
            raise ProtocolError("a place in no order")
        if service > SAFE or total > MESSAGE_MAX or not 1 <= count <= 1000:
            raise ProtocolError("a message that nobody may send")
        sender = reader.string()
        head = service, kind, sender, [reader.string() for _ in range(count)]
        described = bool(flags & 16)
        payload = reader.rest()
        if len(payload) > min(total, PIECE) or (total and not payload):
            raise ProtocolError("the first piece of a message has %d of %d bytes" % (len(payload), total))
        if len(payload) == total:
            return message_of(head, payload, place and (self.order, *place), described)
        self.message = head, total, bytearray(payload), place and (self.order, *place), described
        return None

    def read_message_more(self, reader):
        if self.message is None:
            raise ProtocolError("a piece without a beginning")
        head, total, payload, place, described = self.message
        piece = reader.rest()
        if not piece or len(payload) + len(piece) > total:
            raise ProtocolError("a piece that does not fit")
        payload += piece
        if len(payload) < total:
            return None
        self.message = None
        return message_of(head, bytes(payload), place, described)

    def read_order_view(self, reader):
        self.order = OrderView(reader.varint(), reader.string(), reader.number(8), reader.varint())

    def read_view_part(self, reader):
        self.view = (self.view or b"") + reader.rest()
        if len(self.view) > VIEW_MAX:
            raise ProtocolError("a view is too large")

    def read_whole_view(self, reader):
        body = (self.view or b"") + reader.rest()
        self.view = None
        return read_view(body)

    def read_gap(self, reader):
        messages, size = reader.varint(), reader.varint()
        listed = [(reader.string(), reader.varint()) for _ in range(reader.varint())]
        return Gap(messages, size, listed, reader.varint())

    def read_flow(self, reader):
        request, price, budget, period, rate = (reader.varint() for _ in range(5))
        blocked = reader.number(2)
        return Flow(request, price, budget >> 1 ^ -(budget & 1), period, rate, blocked, reader.take(reader.number(2)))

    READERS = {
        WELCOME: read_welcome, CLOSE: read_close, MESSAGE: read_message, MESSAGE_MORE: read_message_more,
        VIEW: read_whole_view, VIEW_PART_FRAME: read_view_part, GAP: read_gap, FLOW: read_flow,
        TRANSITIONAL: lambda self, reader: Transitional(reader.string()),
        REPLY: lambda self, reader: Reply(reader.varint(), reader.number(2)),
        FLUSH_REQUEST: lambda self, reader: FlushRequest(reader.varint(), reader.string()),
        PONG: lambda self, reader: Pong(reader.number(8)),
        ADMITTED: lambda self, reader: Admitted(reader.varint(), reader.varint()),
        WARNING: lambda self, reader: Warning(reader.number(1), reader.varint(), reader.varint()),
        TAKEN: lambda self, reader: Taken(reader.varint()),
        RECEIVED_BY_DAEMON: read_received,
        ORDER_VIEW: read_order_view,
        CONFIRMED: lambda self, reader: Confirmed(reader.varint(), reader.varint()),
    }


# --- What a client asks ---

def option(number, body=b""):
    return struct.pack("<BH", number, len(body)) + body


def options(reader):
    """Of each option that is left, by its number, a reader."""
    found, last = {}, 0
    while reader.at != len(reader.body):
        number = reader.number(1)
        if number <= last:
            raise ProtocolError("options are out of order")
        found[number] = Reader(reader.take(reader.number(2)))
        last = number
    return found


def hello(name=b"", flags=0, lowest=VERSION, highest=VERSION, token=b"", resumable=False, resume=None, more=b""):
    body = b"SPDL" + struct.pack("<HHB", lowest, highest, flags) + string(name)
    body += option(1, token) if token else b""
    body += option(2) if resumable else b""
    if resume:
        key, frames = resume
        body += option(3, key + struct.pack("<Q", frames))
    return frame(HELLO, body + more)


def received(frames):
    return frame(RECEIVED, varint(frames))


def define(handle, groups):
    return frame(DEFINE, varint(handle) + names(groups))


def header_block(headers):
    """Of keys and values; nothing for none."""
    block = b"".join(string(key) + struct.pack("<H", len(value)) + value for key, value in headers)
    return struct.pack("<H", len(block)) + block if block else b""


def send(handle, service, kind, payload, self_discard=False, headers=()):
    flags = service | (8 if self_discard else 0) | (16 if headers else 0)
    payload = header_block(headers) + payload
    head = varint(handle) + struct.pack("<BH", flags, kind) + varint(len(payload))
    out = [frame(SEND, head + payload[:PIECE])]
    for at in range(PIECE, len(payload), PIECE):
        out.append(frame(SEND_MORE, payload[at:at + PIECE]))
    return b"".join(out)


def request(kind, number, group, synchronous=False):
    flags = bytes([1 if synchronous else 0]) if kind == JOIN else b""
    return frame(kind, varint(number) + string(group) + flags)


def flush_ok(number, group):
    return frame(FLUSH_OK, varint(number) + string(group))


def flow_request(number, handle):
    return frame(FLOW_REQUEST, varint(number) + varint(handle))


def confirm(number):
    return frame(CONFIRM, varint(number))


def ping(token):
    return frame(PING, struct.pack("<Q", token))


def bye():
    return frame(BYE)


# --- Members of a group ---

def name_hash(name):
    value = 0xcbf29ce484222325
    for byte in name:
        value = (value ^ byte) * 0x100000001b3 & 0xffffffffffffffff
    return value


def digest(members):
    value = 0
    for name in members:
        value = (value * 0x100000001b3 + name_hash(name)) & 0xffffffffffffffff
    return value


def daemon_of(name):
    return name[name.index(b"#", 1) + 1:]


class Members:
    """The members of a group, kept up to date from its views."""

    def __init__(self):
        self.members = None

    def apply(self, view):
        """Whether the members are now known, and those that the digest is of."""
        if view.form == FAREWELL:
            self.members = []
            return True
        if view.members is not None:
            self.members = list(view.members)
        elif self.members is not None:
            left = set(view.left)
            kept = [name for name in self.members if name not in left]
            for name in view.joined:
                behind = [i for i, other in enumerate(kept) if daemon_of(other) <= daemon_of(name)]
                kept.insert(behind[-1] + 1 if behind else 0, name)
            self.members = kept
        return self.members is not None and len(self.members) == view.count and digest(self.members) == view.digest


# --- Sockets ---

def connect(address, timeout=10):
    """`/path` of a unix socket, or host:port."""
    if address.startswith("/"):
        made = socket.socket(socket.AF_UNIX)
        made.settimeout(timeout)
        made.connect(address)
    else:
        host, port = address.rsplit(":", 1)
        made = socket.create_connection((host, int(port)), timeout)
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return made

#!/usr/bin/env python3
"""Talks to a daemon by its unix socket and by TCP, and checks all that docs/wire-format.md says a client sees.

    conversation.py UNIX_SOCKET HOST:PORT
"""

import collections
import random
import select
import sys
import time

import spindle_protocol as p

PATIENCE = 60  # seconds: a wait that takes this long has failed


class Client:
    """While one waits all read, but for one that is told not to: who does not read slows down those who send to it."""

    everybody = []

    def __init__(self, address, name=b"", flags=0, first=None):
        self.socket = p.connect(address)
        self.socket.setblocking(False)
        self.incoming = p.Incoming()
        self.out = bytearray()
        self.events = collections.deque()
        self.ended = False
        self.outstanding = {}  # by handle, with independent flows
        self.reading = True
        Client.everybody.append(self)
        self.write(p.hello(name, flags) if first is None else first)

    def welcomed(self):
        self.name = self.wait(p.Welcome).name
        return self

    def close(self):
        self.socket.close()
        Client.everybody.remove(self)

    def write(self, data):
        self.out += data
        self.pump(0)

    @staticmethod
    def pump(timeout):
        here = {client.socket: client for client in Client.everybody if not client.ended}
        can_read, can_write, _ = select.select([each for each, client in here.items() if client.reading],
                                               [each for each, client in here.items() if client.out], [], timeout)
        for each in can_write:
            here[each].write_some()
        for each in can_read:
            here[each].read_some()

    def write_some(self):
        try:
            del self.out[:self.socket.send(self.out[:1 << 20])]
        except (BrokenPipeError, ConnectionResetError):
            self.out.clear()

    def read_some(self):
        try:
            data = self.socket.recv(1 << 20)
        except ConnectionResetError:
            data = b""
        self.ended = not data
        for event in self.incoming.feed(data):
            if isinstance(event, p.Admitted):
                self.outstanding[event.handle] -= event.bytes
                assert self.outstanding[event.handle] >= 0, "more is admitted than was sent"
            self.events.append(event)

    def wait(self, kind, matches=lambda event: True):
        """The next event of this kind; those before it are forgotten."""
        end = time.monotonic() + PATIENCE
        while True:
            while self.events:
                event = self.events.popleft()
                if isinstance(event, kind) and matches(event):
                    return event
            assert not self.ended, "the connection has ended"
            assert time.monotonic() < end, "waited in vain for %s" % kind
            self.pump(1)

    def flush(self):
        end = time.monotonic() + PATIENCE
        while self.out:
            assert time.monotonic() < end, "the daemon takes nothing"
            self.pump(1)

    def close_reason(self):
        """Why the daemon has closed the connection, which it has by then."""
        close = self.wait(p.Close)
        end = time.monotonic() + PATIENCE
        while not self.ended:
            assert time.monotonic() < end, "the daemon does not hang up"
            self.pump(1)
        self.close()
        return close

    def leave_politely(self, taken):
        self.write(p.bye())
        close = self.close_reason()
        assert close.code == 6, close
        assert close.taken == taken, close


def expect(found, wanted):
    assert found == wanted, "%s instead of %s" % (repr(found)[:300], repr(wanted)[:300])


def members(*clients):
    return lambda view: view.members is not None and sorted(view.members) == sorted(c.name for c in clients)


def check_messages(ann, bob):
    """Every service with payloads of all kinds of sizes; returns how many ann has sent."""
    sizes = [0, 1, 1000, p.PIECE - 1, p.PIECE, p.PIECE + 1, 3 * p.PIECE, 100000]
    randomness = random.Random(1)
    sent = 0
    ann.write(p.define(0, [b"news"]))
    for service in range(p.UNRELIABLE, p.SAFE + 1):
        for size in sizes:
            payload = bytes(randomness.getrandbits(8) for _ in range(min(size, 997)))
            payload = (payload * (size // max(len(payload), 1) + 1))[:size]
            ann.write(p.send(0, service, size & 0xffff, payload))
            ann.flush()
            sent += 1
            # An unreliable message of several pieces is a reliable one.
            becomes = p.RELIABLE if service == p.UNRELIABLE and size > p.PIECE else service
            for client in (ann, bob):
                message = client.wait(p.Message)
                expect(message._replace(place=None), p.Message(becomes, size & 0xffff, ann.name, [b"news"], payload, None))
                expect(message.place is not None, becomes >= p.CAUSAL)
    return sent


def check_largest(ann, bob):
    payload = bytes(range(256)) * (p.MESSAGE_MAX // 256)
    ann.write(p.send(0, p.AGREED, 9, payload, self_discard=True))
    ann.flush()
    assert bob.wait(p.Message).payload == payload
    return 1


def check_headers(ann, bob):
    headers = ((b"colour", b"blue"), (b"empty", b""), (b"colour", b"\0red"))
    for size in (0, 100, p.PIECE, 3 * p.PIECE):
        ann.write(p.send(0, p.AGREED, 5, b"x" * size, headers=headers) + p.send(0, p.AGREED, 6, b"plain"))
        ann.flush()
        for client in (ann, bob):
            message = client.wait(p.Message)
            expect((message.headers, message.payload), (headers, b"x" * size))
            expect(client.wait(p.Message).headers, ())
    return 8


def check_burst(ann, bob):
    """Small messages that travel together come one by one, and in order, to the private name as well as to the group."""
    count = 500
    ann.write(p.define(1, [b"news", bob.name, b"news"]))
    ann.write(b"".join(p.send(1, p.AGREED, i, b"%d" % i) for i in range(count)))
    for i in range(count):
        for client in (ann, bob):
            message = client.wait(p.Message)
            expect((message.type, message.payload, message.groups), (i, b"%d" % i, [b"news", bob.name, b"news"]))
    return count


def check_pieces(ann, bob):
    """Other frames take effect between the pieces of a message."""
    whole = p.send(0, p.FIFO, 1, b"x" * (p.PIECE + 10))
    first = 4 + int.from_bytes(whole[:3], "little")
    ann.write(whole[:first] + p.ping(77) + p.define(2, [bob.name]) + p.request(p.VIEW_REQUEST, 5, b"news"))
    expect(ann.wait(p.Pong).token, 77)
    answer = ann.wait(p.View)
    expect(answer.form, p.ANSWER)
    expect(ann.wait(p.Reply), p.Reply(5, 0))
    ann.write(whole[first:] + p.send(2, p.FIFO, 2, b"alone"))
    expect(len(bob.wait(p.Message).payload), p.PIECE + 10)
    expect(bob.wait(p.Message).groups, [bob.name])
    ann.wait(p.Message)
    # A handle gets another meaning, and none.
    ann.write(p.define(2, [ann.name]) + p.send(2, p.SAFE, 3, b"") + p.define(2, []))
    expect(ann.wait(p.Message).groups, [ann.name])
    return 3


def check_requests(ann):
    numbers = [0, 1, 1, 0xffffffff]
    for number in numbers:
        ann.write(p.request(p.JOIN, number, b"news"))
    for number in numbers:
        expect(ann.wait(p.Reply), p.Reply(number, 22))
    for kind, group, code in ((p.JOIN, b"", 10), (p.JOIN, b"#x", 10), (p.LEAVE, b"other", 21),
                              (p.VIEW_REQUEST, b"other", 21)):
        ann.write(p.request(kind, 9, group))
        expect(ann.wait(p.Reply), p.Reply(9, code))
    ann.write(p.confirm(11))
    expect(ann.wait(p.Confirmed).request, 11)
    ann.write(p.flow_request(10, 0))
    flow = ann.wait(p.Flow)
    expect(flow.request, 10)
    assert flow.blocked <= 1000 and flow.rate > 0, flow


def check_refusals(address):
    open_frames = p.hello() + p.define(0, [b"news"])
    piece = p.send(0, p.FIFO, 0, b"x" * 40000)[:4 + 7 + p.PIECE]
    expect(int.from_bytes(piece[:3], "little") + 4, len(piece))
    rows = [
        (p.request(p.JOIN, 1, b"news"), 16), (p.hello() + p.hello(), 16), (b"\x00\x00\x00\x01", 14),
        (p.hello(b"a b"), 11), (p.hello(lowest=2, highest=9), 13), (p.hello(flags=0x20), 14),
        (p.hello(more=b"\1\0\0"), 14), (p.hello(more=b"\7\2\0x"), 14), (p.hello(token=b"nobody's"), 40 if "/" in address else 43),
        (open_frames + p.send(1, p.FIFO, 0, b""), 14), (open_frames + p.send(0, 6, 0, b""), 14),
        (open_frames + p.frame(p.SEND, b"\0\x14\0\0\2hi"), 14), (open_frames + p.frame(p.SEND, b"\0\x14\0\0\3\0\0x"), 14),
        (open_frames + p.flow_request(1, 3), 14), (open_frames + p.define(4096, [b"x"]), 14),
        (open_frames + p.define(0, [b"x"] * 1001), 14), (open_frames + p.frame(p.SEND_MORE, b"x"), 16),
        (open_frames + p.frame(p.WELCOME), 16), (open_frames + piece + p.send(0, p.FIFO, 0, b""), 16),
        (open_frames + piece + p.define(0, [b"x"]), 16), (open_frames + piece + p.frame(p.SEND_MORE, b"x"), 14),
        (open_frames + p.received(0), 16), (p.frame(p.HELLO, bytes(1025)), 15),
        (open_frames + p.frame(p.JOIN, bytes(513)), 15), (open_frames + p.frame(p.SEND, bytes(p.PIECE + 65)), 15),
        (open_frames + piece + p.bye(), 6),
    ]
    for bytes_sent, code in rows:
        close = Client(address, first=bytes_sent).close_reason()
        assert close.code == code, (bytes_sent[:40], close)


def check_views(address, ann, bob):
    """Joining, leaving and losing a connection, seen by ann and bob; the digest holds each time."""
    carl = Client(address, b"carl").welcomed()
    carl.write(p.request(p.JOIN, 1, b"news"))
    views = [client.wait(p.View, members(ann, bob, carl)) for client in (ann, bob, carl)]
    for view in views:
        expect((view.cause, view.form, view.joined), (p.JOINED, p.FULL, [carl.name]))
        expect(view.digest, p.digest(view.members))
        expect(view.id, views[0].id)
    carl.write(p.request(p.LEAVE, 2, b"news"))
    views = [client.wait(p.View) for client in (ann, bob, carl)]
    for view in views[:2]:
        expect((view.cause, view.left), (p.LEFT, [carl.name]))
        expect(view.id, views[0].id)
    expect((views[2].form, views[2].left, views[2].count), (p.FAREWELL, [carl.name], 0))
    expect(views[2].id, views[0].id)
    carl.write(p.request(p.JOIN, 3, b"news"))
    ann.wait(p.View, members(ann, bob, carl))
    carl.close()
    expect(ann.wait(p.View).cause, p.DISCONNECTED)
    bob.wait(p.View, members(ann, bob))


def check_names(address):
    first = Client(address, b"taken").welcomed()
    expect(Client(address, b"taken").close_reason().code, 12)
    other = Client(address).welcomed()
    assert other.name.startswith(b"#c"), other.name
    other.leave_politely(0)
    first.leave_politely(0)


def check_resumption(unix, tcp, ann):
    """Half of what is on its way is lost with a connection, and comes on the next, in both directions."""
    local = Client(unix, first=p.hello(b"gus", resumable=True))
    assert local.wait(p.Welcome).key is None, "a session on a unix socket"
    local.leave_politely(0)
    gus = Client(tcp, first=p.hello(b"gus", resumable=True))
    welcome = gus.wait(p.Welcome)
    assert welcome.key and welcome.timeout > 0, welcome
    gus.name = welcome.name
    gus.write(p.define(0, [ann.name]) + p.request(p.JOIN, 1, b"news"))
    expect(gus.wait(p.Reply), p.Reply(1, 0))
    ann.wait(p.View, lambda view: gus.name in view.members)
    expect(gus.wait(p.Received).frames, 2)
    for i in range(10):
        gus.write(p.send(0, p.FIFO, i, b"before"))
    gus.flush()
    ann.wait(p.Message, lambda message: message.type == 9)
    for i in range(10):
        ann.write(p.define(4, [b"news"]) + p.send(4, p.FIFO, i, b"to all"))
    gus.wait(p.Message, lambda message: message.type == 4)
    got = gus.incoming.frames
    gus.close()
    first = 5 + sum(isinstance(event, p.Message) for event in gus.events)

    again = Client(tcp, first=p.hello(b"gus", resumable=True, resume=(welcome.key, got)))
    resumed = again.wait(p.Welcome)
    expect((resumed.name, resumed.key), (welcome.name, welcome.key))
    assert 2 <= resumed.resumed <= 12, resumed
    for i in range(resumed.resumed - 2, 12):
        again.write(p.send(0, p.FIFO, i, b"again"))
    for i in range(first, 10):
        expect(again.wait(p.Message).type, i)
    for i in (10, 11):
        expect(ann.wait(p.Message, lambda message: message.sender == gus.name).type, i)
    stranger = Client(tcp, first=p.hello(b"hal", resume=(welcome.key[:-1] + bytes([welcome.key[-1] ^ 1]), got)))
    expect((stranger.wait(p.Welcome).resumed, stranger.ended), (None, False))
    stranger.leave_politely(0)
    again.write(p.received(10000))
    expect(again.close_reason().code, 14)
    return 10


def check_independent_flows(address, bob):
    """The window of a handle is kept, and all of it comes back."""
    dora = Client(address, b"dora", p.INDEPENDENT_FLOWS | p.TELL_TAKEN).welcomed()
    dora.write(p.define(0, [b"news"]) + p.define(1, [bob.name]))
    payload = b"y" * 2000
    sent = {0: 0, 1: 0}
    dora.outstanding = {0: 0, 1: 0}
    end = time.monotonic() + PATIENCE
    while min(sent.values()) < 300:
        assert time.monotonic() < end, "nothing is admitted"
        for handle in sent:
            while dora.outstanding[handle] < p.WINDOW and sent[handle] < 300:
                dora.outstanding[handle] += len(payload) + p.MESSAGE_COST
                dora.write(p.send(handle, p.FIFO, sent[handle], payload))
                sent[handle] += 1
        dora.pump(1)
    got = {(b"news",): 0, (bob.name,): 0}
    while min(got.values()) < 300:
        message = bob.wait(p.Message)
        expect(message.type, got[tuple(message.groups)])
        got[tuple(message.groups)] += 1
    dora.leave_politely(600)


def check_slow(address, ann):
    """A client that reads nothing loses messages, is told which, and warned before; the numbers add up."""
    eve, fred = Client(address, b"eve", p.DROP).welcomed(), Client(address, b"fred").welcomed()
    for client in (eve, fred):
        client.write(p.request(p.JOIN, 1, b"flood"))
        client.wait(p.View)
    eve.reading = False
    eve.events.clear()
    count, payload = 3000, b"z" * 1000
    ann.write(p.define(3, [b"flood"]))
    for i in range(count):
        ann.write(p.send(3, p.AGREED, i, payload))
    ann.flush()
    fred.wait(p.Message, lambda message: message.type == count - 1)  # all has come to their daemon
    ann.write(p.send(3, p.AGREED, count, b"last"))
    fred.wait(p.Message, lambda message: message.type == count)
    eve.reading = True
    place = lost = warnings = 0
    while place <= count:
        event = eve.wait((p.Message, p.Gap, p.Warning))
        if isinstance(event, p.Warning):
            assert event.percent in (50, 80), event
            warnings += 1
        elif isinstance(event, p.Gap):
            expect(event.names, [(b"flood", event.messages)])
            expect(event.bytes, event.messages * len(payload))
            place += event.messages
            lost += event.messages
        else:
            expect(event.type, place)
            place += 1
    assert lost > 0 and warnings > 0, (lost, warnings)
    eve.leave_politely(0)
    fred.leave_politely(0)
    return count + 1


def main():
    unix, tcp = sys.argv[1:3]
    for first, second in ((unix, tcp), (tcp, unix)):
        ann, bob = Client(first, b"ann", p.TELL_TAKEN).welcomed(), Client(second, b"bob").welcomed()
        ann.write(p.request(p.JOIN, 1, b"news"))
        expect(ann.wait(p.Reply), p.Reply(1, 0))
        ann.wait(p.View, members(ann))
        bob.write(p.request(p.JOIN, 1, b"news"))
        for client in (ann, bob):
            client.wait(p.View, members(ann, bob))
        sent = check_messages(ann, bob)
        sent += check_largest(ann, bob)
        sent += check_headers(ann, bob)
        sent += check_burst(ann, bob)
        sent += check_pieces(ann, bob)
        check_requests(ann)
        check_views(second, ann, bob)
        check_names(first)
        check_independent_flows(second, bob)
        sent += check_slow(unix, ann)  # the system holds less for a unix socket
        sent += check_resumption(unix, tcp, ann)
        check_refusals(first)
        ann.leave_politely(sent)
        bob.leave_politely(0)
    print("all is as the page says")


main()

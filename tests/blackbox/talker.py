#!/usr/bin/env python3
"""Talks to groups without end and writes down all that it asks and is told, for the checkers to read.

    talker.py UNIX_SOCKET NAME SEED HISTORY_FILE

Each connection is a client of its own, with NAME and a number. SIGUSR1: stop talking; a line "rest" then says that what
was sent has come back and nothing more comes, one that begins with "unrest" that it is otherwise again. SIGTERM: write
the history, and end.

A line of the history is a time in nanoseconds of the monotonic clock, a word and what belongs to it, tab by tab; a line
"client" begins the history of the next one. black_box_client.cpp reads it.
"""

import random
import select
import signal
import sys
import time

import spindle_protocol as p

GROUPS = [b"news", b"sports", b"weather"]
INTERVAL, REST, RECONNECT = 0.04, 0.3, 0.05
MARKER = 0xffff
WORD = 0xffffffffffffffff
HEADER_KEY = b"count"

quiet = stopping = False


def on_signal(number, _):
    global quiet, stopping
    if number == signal.SIGUSR1:
        quiet = True
    else:
        stopping = True


def header_of(number):
    """The value of the header that the message with this number has: tests/checkers/recorder.h; empty for none."""
    return b"%d" % number if number % 4 == 1 else b""


def record_digest(kind, header, payload):
    """As tests/checkers/recorder.cpp computes it: no part of the protocol."""
    value = 0xcbf29ce484222325

    def add(word):
        nonlocal value
        value = (value ^ word) * 0x100000001b3 & WORD
        value = (value << 23 | value >> 41) & WORD

    def add_all(text):
        add(len(text))
        whole = len(text) // 8 * 8
        for at in range(0, whole, 8):
            add(int.from_bytes(text[at:at + 8], "little"))
        add(int.from_bytes(text[whole:], "big"))

    add(kind)
    add_all(header)
    add_all(payload)
    return value


class History:
    def __init__(self):
        self.lines = []

    def note(self, *words):
        self.lines.append("\t".join([str(time.monotonic_ns())] + [self.text(word) for word in words]))

    def begin(self, name):
        self.lines.append("client\t" + self.text(name))

    @staticmethod
    def text(word):
        if isinstance(word, (list, tuple)):
            return ",".join(History.text(each) for each in word)
        return word.decode("latin-1") if isinstance(word, bytes) else str(word)


class Talker:
    def __init__(self, connection, name, randomness, history):
        self.socket = connection
        self.socket.setblocking(False)
        self.random = randomness
        self.history = history
        self.incoming = p.Incoming()
        self.out = bytearray(p.hello(name))
        self.name = None
        self.sent = 0
        self.request = 0
        self.pending = {}
        self.handles = {}
        self.groups = {group: p.Members() for group in GROUPS}
        self.member_of = set()
        self.others = []
        self.away = self.marked = self.marker_returned = False
        self.last_event = time.monotonic()

    # What it asks.

    def ask(self, kind, group):
        self.history.note("join" if kind == p.JOIN else "leave", group)
        self.request = self.request + 1 & 0xffffffff
        self.pending[self.request] = group
        self.out += p.request(kind, self.request, group)

    def say(self, service, groups, size, self_discard):
        if len(self.out) > 1 << 20:
            return
        kind = MARKER if quiet else self.sent & 0x7fff
        payload = self.random.getrandbits(8 * size).to_bytes(size, "little") if size else b""
        key = tuple(groups)
        if key not in self.handles:
            self.handles[key] = len(self.handles) % 4096
            self.out += p.define(self.handles[key], groups)
        header = header_of(self.sent)
        headers = [(HEADER_KEY, header)] if header else []
        self.history.note("sent", record_digest(kind, header, payload), len(p.header_block(headers)) + size, service,
                          kind, int(self_discard), groups)
        self.out += p.send(self.handles[key], service, kind, payload, self_discard, headers)
        self.sent += 1

    def churn(self):
        self.away = not self.away
        self.ask(p.LEAVE if self.away else p.JOIN, GROUPS[-1])

    def talk(self):
        if quiet:
            if self.away:
                self.churn()
            if not self.marked:
                self.say(p.AGREED, [self.name], 1, False)
                self.marked = True
            return
        if self.random.randrange(150) == 0:
            return self.churn()
        if self.others and self.random.randrange(10) == 0:
            groups = [self.random.choice(self.others)]
        elif self.random.randrange(5) == 0:
            groups = GROUPS
        else:
            groups = [self.random.choice(GROUPS)]
        size = 100000 if self.random.randrange(50) == 0 else self.random.randrange(1201)
        self.say(self.random.randrange(6), groups, size, self.random.randrange(16) == 0)

    # What it is told.

    def take(self, event):
        self.last_event = time.monotonic()
        if isinstance(event, p.Welcome):
            self.name = event.name
            self.history.begin(event.name)
            for group in GROUPS:
                self.ask(p.JOIN, group)
        elif isinstance(event, p.Message):
            header = dict(event.headers).get(HEADER_KEY, b"other headers" if event.headers else b"")
            size = len(p.header_block(event.headers)) + len(event.payload)
            self.history.note("got", event.sender, record_digest(event.type, header, event.payload), size,
                              event.service, event.type, event.groups)
            self.marker_returned |= event.type == MARKER and event.sender == self.name
        elif isinstance(event, p.View):
            self.take_view(event)
        elif isinstance(event, p.Transitional):
            self.history.note("signal", event.group)
        elif isinstance(event, p.Reply):
            group = self.pending.pop(event.request)
            if event.code:
                self.history.note("refused", group, event.code)
        elif not isinstance(event, (p.Warning, p.Close)):
            raise p.ProtocolError("nobody has asked for %r" % (event,))

    def take_view(self, view):
        members = self.groups[view.group]
        correct = members.apply(view)
        known = members.members or []
        together = []
        if view.cause == p.NETWORK:
            others = (set(view.joined) | set(view.apart)) - {self.name}
            together = [name for name in known if name not in others]
        self.history.note("view", view.group, *view.id, view.cause, int(correct), known,
                          together, view.joined + view.left)
        if self.name in known:
            self.member_of.add(view.group)
            self.others = known
        else:
            self.member_of.discard(view.group)

    def unrest(self):
        if self.name is None:
            return "no welcome"
        if not self.marker_returned:
            return "no marker"
        if len(self.member_of) != len(GROUPS):
            return "not in every group"
        return "" if self.last_event + REST < time.monotonic() else "events"

    def live(self, report):
        """Until the connection or the program ends."""
        due = time.monotonic()
        code, text = 5, b"the connection was lost"
        while not stopping:
            now = time.monotonic()
            if self.name is not None and now >= due:
                self.talk()
                due = max(due + INTERVAL, now)
            report(self.unrest())
            can_read, can_write, _ = select.select([self.socket], [self.socket] if self.out else [], [], 0.02)
            try:
                if can_write:
                    del self.out[:self.socket.send(self.out[:1 << 18])]
                if can_read:
                    data = self.socket.recv(1 << 18)
                    for event in self.incoming.feed(data):
                        self.take(event)
                        if isinstance(event, p.Close):
                            code, text = event.code, event.text
                    if not data:
                        break
            except OSError:
                break
        report("closed")
        if self.name is not None and not stopping:
            self.history.note("closed", code, text.replace(b"\t", b" ").replace(b"\n", b" "))


def main():
    address, name, seed, file = sys.argv[1:]
    signal.signal(signal.SIGUSR1, on_signal)
    signal.signal(signal.SIGTERM, on_signal)
    randomness = random.Random(int(seed))
    history = History()
    said = None

    def report(unrest):
        nonlocal said
        text = ("unrest, " + unrest) if unrest else "rest"
        if quiet and text != said:
            print(text, flush=True)
        said = text if quiet else None

    number = 0
    print("ready", flush=True)
    while not stopping:
        number += 1
        try:
            connection = p.connect(address, 2)
        except OSError:
            time.sleep(RECONNECT)
            continue
        Talker(connection, b"%s-%d" % (name.encode(), number), randomness, history).live(report)
        connection.close()
    with open(file, "w", encoding="latin-1") as out:
        out.write("\n".join(history.lines) + "\n")


main()

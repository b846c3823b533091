"""How many messages a second a program in Python is given where their bytes are there already: what decoding and `async for`
cost on one core, without sockets.

    python_decode.py ADDRESS [--size 100] [--messages 200000] [--rounds 5]

Records what the daemon at that address sends to a client, and gives it to sessions of the package again and again. Says as
JSON how many messages a second came by `async for`, and how many as batches, the best round of each.
"""
import argparse
import asyncio
import json
import socket
import threading
import time

import spindle
from spindle import _engine, sync

#: As a socket gives them.
PIECE = 256 << 10


def new_session(name):
    return _engine.Session(name=name, servers=1, independent_flows=False, slow_policy=0, send_buffer=1 << 20,
                           receive_buffer=1 << 30, connect_timeout=5.0, reconnect_timeout=0.0, keepalive=0.0,
                           resume=False, bulk=False)


def begin(session):
    session.start()
    session.take_dial()
    session.connected(b"")


def record(path, size, messages):
    """The bytes that a client gets to which so many messages are sent."""
    pieces, session = [], new_session(b"decode")
    stream = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    stream.settimeout(30)
    stream.connect(path)
    begin(session)
    stream.sendall(session.output())
    session.consume(session.output_size)

    def read():
        piece = stream.recv(PIECE)
        if not piece:
            raise SystemExit("the daemon has closed the connection")
        pieces.append(piece)
        feed(session, piece)
        return [each for each in session.take_events(1 << 20) if isinstance(each, spindle.Message)]

    while not session.is_connected:
        read()

    def send():
        with sync.connect(path) as sender:
            for _ in range(messages):
                sender.multicast(spindle.Service.FIFO, session.private_name, b"." * size)
    sending = threading.Thread(target=send)
    sending.start()
    got = 0
    while got < messages:
        got += len(read())
    sending.join()
    return b"".join(pieces)


def feed(session, piece):
    while piece:
        room = session.get_buffer()
        count = min(len(room), len(piece))
        room[:count] = piece[:count]
        session.commit(count)
        piece = piece[count:]


class Replay:
    """A session that is given what was recorded, a piece whenever there are no more events."""

    def __init__(self, recorded):
        self.session = new_session(b"decode")
        self._pieces = iter([recorded[at:at + PIECE] for at in range(0, len(recorded), PIECE)])
        self._loop = asyncio.get_running_loop()
        begin(self.session)

    def feed(self):
        """Whether there was a piece."""
        piece = next(self._pieces, None)
        if piece is None:
            self.session.end_stream(None, "")
            return False
        feed(self.session, piece)
        return True

    def wait(self):
        self.feed()
        done = self._loop.create_future()
        done.set_result(None)
        return done

    def events(self, most=0):
        """One by one, or in lists of so many at most."""
        return _engine.EventStream(self.session, self.wait, lambda: None, most)


async def by_event(recorded):
    count = 0
    async for event in Replay(recorded).events():
        if isinstance(event, spindle.Message):
            count += 1
    return count


async def by_batch(recorded):
    count = 0
    async for batch in Replay(recorded).events(4096):
        for event in batch:
            if isinstance(event, spindle.Message):
                count += 1
    return count


def rate(of, recorded, messages, rounds):
    best = 0.0
    for _ in range(rounds):
        begun = time.perf_counter()
        count = asyncio.run(of(recorded))
        taken = time.perf_counter() - begun
        if count != messages:
            raise SystemExit(f"{count} of {messages} messages came")
        best = max(best, messages / taken)
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("address")
    parser.add_argument("--size", type=int, default=100)
    parser.add_argument("--messages", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    recorded = record(arguments.address.removeprefix("unix:"), arguments.size, arguments.messages)
    print(json.dumps({name: rate(of, recorded, arguments.messages, arguments.rounds)
                      for name, of in (("by_event", by_event), ("by_batch", by_batch))}), flush=True)


if __name__ == "__main__":
    main()

"""A daemon for tests, and what they wait for."""
import asyncio
import pathlib
import socket
import struct
import tempfile
import unittest

from runner.daemon import Daemon
from runner.play import Programs

import spindle

BUILD = pathlib.Path()
PATIENCE_S = 30


class DaemonMixin:
    """`self.address` is that of a daemon of the test's own."""

    def make_settings(self, folder):
        """Of the daemon: keys and values."""
        return []

    def setUp(self):
        self._folder = tempfile.TemporaryDirectory(prefix="py-", dir="/tmp")
        self.addCleanup(self._folder.cleanup)
        programs = Programs(str(BUILD / "spindled"), str(BUILD / "tools" / "spmonitor"))
        self.daemon = Daemon(programs, self._folder.name, "a", [], self.make_settings(self._folder.name))
        self.addCleanup(self.daemon.end)
        self.address = self.daemon.client_address("unix")


class WithDaemon(DaemonMixin, unittest.IsolatedAsyncioTestCase):
    async def connect(self, name, **options):
        """Closed when the test is over."""
        connection = await spindle.connect(self.address, name=name, **options)
        self.addAsyncCleanup(connection.close)
        return connection

    async def messages(self, connection, count):
        """The next so many, past all else."""
        found = []
        while len(found) < count:
            event = await connection.receive(timeout=PATIENCE_S)
            if isinstance(event, spindle.Message):
                found.append(event)
        return found


class DeadAndLiving:
    """A host with two addresses: one that says nothing to who connects, and that of a daemon."""

    NAME = "both.test"

    def __init__(self, living):
        self.port = int(living.rpartition(":")[2])
        self._full = socket.socket()
        self._full.bind(("127.0.0.1", 0))
        self._full.listen(0)  # beyond one or two connections that nobody accepts it takes none
        self._waiting = [socket.socket() for _ in range(4)]
        for each in self._waiting:
            each.setblocking(False)
            each.connect_ex(self._full.getsockname())

    def resolve(self, *_, **__):
        """As socket.getaddrinfo()."""
        return [(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", where)
                for where in (self._full.getsockname(), ("127.0.0.1", self.port))]

    def close(self):
        for each in (self._full, *self._waiting):
            each.close()


# What a daemon says that a test plays, to a session without a connection.

def frame(kind, *parts):
    content = b"".join(parts)
    return len(content).to_bytes(3, "little") + bytes([kind]) + content


def text(value):
    return bytes([len(value)]) + value.encode()


def welcome(name):
    return frame(16, struct.pack("<H", 1), text(name))


def hear(session, said):
    with session.get_buffer() as room:
        room[:len(said)] = said
    session.commit(len(said))


async def soon(condition):
    """Lets the loop turn until it holds."""
    async def turn():
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.001)
    await asyncio.wait_for(turn(), PATIENCE_S)

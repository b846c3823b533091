"""Bulk channels: what is Python's own of them. The scenarios of tests/conformance have what they promise."""
import asyncio
import io
import os
import pathlib
import select
import signal
import struct
import subprocess
import sys
import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from unittest import mock

from support import PATIENCE_S, DaemonMixin, WithDaemon, frame, hear, text, welcome

import spindle
import support
from spindle import BulkSink, BulkSource, _engine, _second, sync
from spindle._bulk import Callers

BLOCK = 8 << 20


class WithChannels(WithDaemon):
    def setUp(self):
        super().setUp()
        os.environ["XDG_CACHE_HOME"] = self._folder.name + "/cache"

    async def pair(self, **options):
        """A source, and a member of "den" that hears of what it offers."""
        source = await self.connect("source", bulk=True, **options)
        member = await self.connect("member", bulk=True, **options)
        await member.join("den", timeout=PATIENCE_S)
        return source, member

    async def next(self, connection, *kinds):
        """The next event of these kinds, past all else but failures."""
        while True:
            event = await connection.receive(timeout=PATIENCE_S)
            if isinstance(event, kinds):
                return event
            self.assertNotIsInstance(event, (spindle.RequestFailed, spindle.Disconnected, spindle.BulkEnded))

    def path(self, name):
        return pathlib.Path(self._folder.name) / name


class Channels(WithChannels):
    async def test_a_file_goes_into_a_directory(self):
        source, member = await self.pair()
        content = os.urandom(3 * BLOCK + 12345)
        self.path("disk.img").write_bytes(content)
        self.path("in").mkdir()
        channel = await source.bulk.offer("den", BulkSource.file(self.path("disk.img")))
        offered = await self.next(member, spindle.BulkOffered)
        self.assertEqual((channel, "den", source.private_name, "disk.img"),
                         (offered.channel, offered.group, offered.source, offered.name))
        self.assertEqual((spindle.ContentKind.FILE, len(content), False), (offered.kind, offered.size, offered.late))
        member.bulk.accept(channel, BulkSink.directory(self.path("in")))
        received = await self.next(member, spindle.BulkReceived)
        self.assertIsNone(received.code, received.text)
        self.assertEqual(str(self.path("in/disk.img")), received.path)
        self.assertEqual(content, self.path("in/disk.img").read_bytes())
        complete = await self.next(source, spindle.BulkComplete)
        self.assertEqual(((member.private_name,), (), (), spindle.BulkGone(0, 0, 0, 0)),
                         (complete.done, complete.failed, complete.refused, complete.gone))

    async def test_streams_of_python_at_both_ends(self):
        source, member = await self.pair()
        content = os.urandom(2 * BLOCK + 77)
        reader, threads, blocks = io.BytesIO(content), set(), []

        def read(most):
            threads.add(threading.get_ident())
            return reader.read(most)

        channel = await source.bulk.offer("den", BulkSource.stream(read, name="flow"))
        offered = await self.next(member, spindle.BulkOffered)
        self.assertEqual(("flow", None), (offered.name, offered.size))
        member.bulk.accept(channel, BulkSink.stream(blocks.append))
        received = await self.next(member, spindle.BulkReceived)
        self.assertIsNone(received.code, received.text)
        self.assertEqual(content, b"".join(blocks))
        self.assertNotIn(threading.get_ident(), threads)

    async def test_a_stream_may_have_nothing_at_present(self):
        source, member = await self.pair()
        answers = iter([None, b"ab", None, None, b"c"])
        channel = await source.bulk.offer("den", BulkSource.stream(lambda most: next(answers, b"")))
        await self.next(member, spindle.BulkOffered)
        blocks = []
        member.bulk.accept(channel, BulkSink.stream(blocks.append))
        await self.next(member, spindle.BulkReceived)
        self.assertEqual(b"abc", b"".join(blocks))

    async def test_what_a_stream_raises_ends_the_channel_and_is_said(self):
        source, _ = await self.pair()

        def read(most):
            raise ZeroDivisionError("on purpose")
        channel = await source.bulk.offer("den", BulkSource.stream(read))
        ended = await self.next(source, spindle.BulkEnded)
        self.assertEqual((channel, spindle.BulkEndedCause.CANCELLED, spindle.Code.FILE_FAILED),
                         (ended.channel, ended.cause, ended.code))
        self.assertIn("ZeroDivisionError: on purpose", ended.text)

    async def test_what_a_sink_raises_fails_for_all_to_see(self):
        source, member = await self.pair()

        def write(block):
            raise KeyError("full")
        channel = await source.bulk.offer("den", BulkSource.bytes(b"x" * 1000))
        await self.next(member, spindle.BulkOffered)
        member.bulk.accept(channel, BulkSink.stream(write))
        received = await self.next(member, spindle.BulkReceived)
        self.assertEqual(spindle.Code.FILE_FAILED, received.code)
        complete = await self.next(source, spindle.BulkComplete)
        self.assertEqual(((member.private_name, spindle.Code.FILE_FAILED),), complete.failed)

    async def test_a_receiver_goes_on_with_what_it_has(self):
        """Closed in the middle, and accepted once more by a client that is new."""
        source, member = await self.pair()
        content = os.urandom(6 * BLOCK)
        self.path("in").mkdir()
        self.path("disk.img").write_bytes(content)
        channel = await source.bulk.offer("den", BulkSource.file(self.path("disk.img")), bytes_per_second=BLOCK)
        await self.next(member, spindle.BulkOffered)
        member.bulk.accept(channel, BulkSink.directory(self.path("in")))
        while (await self.next(member, spindle.BulkProgress)).bytes < 2 * BLOCK:
            pass
        await member.close()
        self.assertTrue(self.path("in/disk.img.spindle-state").exists())
        source.bulk.set_rate(channel, 0)
        again = await self.connect("again", bulk=True)
        await again.join("den", timeout=PATIENCE_S)
        offered = await self.next(again, spindle.BulkOffered)
        self.assertTrue(offered.late)
        again.bulk.accept(offered.channel, BulkSink.directory(self.path("in")))
        received = await self.next(again, spindle.BulkReceived)
        self.assertIsNone(received.code, received.text)
        self.assertEqual(content, self.path("in/disk.img").read_bytes())

    async def test_a_directory_leaves_out_what_it_cannot_have(self):
        source, member = await self.pair()
        self.path("tree/sub").mkdir(parents=True)
        self.path("tree/sub/one").write_text("1")
        os.symlink("sub/one", self.path("tree/link"))
        with self.assertRaises(spindle.Error) as caught:
            await source.bulk.offer("den", BulkSource.directory(self.path("tree")))
        self.assertEqual(spindle.Code.FILE_FAILED, caught.exception.code)
        tree = BulkSource.directory(self.path("tree"), leave_out=True)
        channel = await source.bulk.offer("den", tree)
        self.assertEqual(("link",), tree.left_out)
        await self.next(member, spindle.BulkOffered)
        member.bulk.accept(channel, BulkSink.file(self.path("copy")))
        await self.next(member, spindle.BulkReceived)
        self.assertEqual("1", self.path("copy/sub/one").read_text())

    async def test_an_offer_that_is_cancelled_is_taken_back(self):
        source, member = await self.pair()
        self.daemon.send_signal(signal.SIGSTOP)
        offering = asyncio.ensure_future(source.bulk.offer("den", BulkSource.bytes(b"x")))
        await asyncio.sleep(0.05)
        offering.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await offering
        self.daemon.send_signal(signal.SIGCONT)
        await self.next(member, spindle.BulkOffered)
        ended = await self.next(member, spindle.BulkEnded)
        self.assertEqual(spindle.BulkEndedCause.CANCELLED, ended.cause)

    async def test_offers_that_wait_leave_the_executor_of_the_loop_alone(self):
        """By which loops resolve names."""
        source, member = await self.pair()
        loop = asyncio.get_running_loop()
        executor = ThreadPoolExecutor(1)
        loop.set_default_executor(executor)
        self.daemon.send_signal(signal.SIGSTOP)
        offering = asyncio.ensure_future(source.bulk.offer("den", BulkSource.bytes(b"x"), timeout=None))
        try:
            await asyncio.sleep(0)
            found = await asyncio.wait_for(loop.getaddrinfo("127.0.0.1", 1), PATIENCE_S)
            self.assertEqual(("127.0.0.1", 1), found[0][4])
            self.assertFalse(offering.done())
        finally:
            self.daemon.send_signal(signal.SIGCONT)
            await offering
        await self.next(member, spindle.BulkOffered)

    async def test_a_refusal_goes_before_what_is_asked_next(self):
        """Else who has left before it refuses counts as missing."""
        source, member = await self.pair()
        for _ in range(5):
            channel = await source.bulk.offer("den", BulkSource.bytes(b"x"))
            offered = None
            while not isinstance(offered, spindle.BulkOffered) or offered.channel != channel:  # former ones come again
                offered = await self.next(member, spindle.BulkOffered, spindle.BulkEnded)
            member.bulk.refuse(channel)
            await member.leave("den")
            complete = await self.next(source, spindle.BulkComplete)
            self.assertEqual((channel, 1, 0), (complete.channel, complete.gone.refused + len(complete.refused),
                                               complete.gone.missing))
            await member.join("den")

    async def test_mistakes_are_raised(self):
        source, _ = await self.pair()
        plain = await self.connect("plain")
        with self.assertRaises(spindle.BadArgument):
            plain.bulk.refuse(spindle.ChannelId("a", 1, 1))
        for wrong in ({"weight": 0}, {"weight": -1}, {"weight": 1 << 33}, {"bytes_per_second": -1}, {"linger": -1}):
            with self.assertRaises(spindle.BadArgument, msg=wrong):
                await source.bulk.offer("den", BulkSource.bytes(b"x"), **wrong)
        with self.assertRaises(TypeError):
            await source.bulk.offer("den", BulkSource.bytes(3.5))
        with self.assertRaises(spindle.BadArgument):
            await spindle.connect(self.address, bulk=spindle.BulkOptions(workers=0))
        with self.assertRaises(TypeError):
            source.bulk.refuse("1@a")
        with self.assertRaises(spindle.Error) as caught:
            source.bulk.refuse(spindle.ChannelId("a", 1, 1))
        self.assertEqual(spindle.Code.UNKNOWN_CHANNEL, caught.exception.code)
        await source.close()
        with self.assertRaises(spindle.NotConnected):
            await source.bulk.offer("den", BulkSource.bytes(b"x"))

    async def test_closing_waits_for_nobody_who_reads_a_stream(self):
        """And an offer that waits for its answer ends."""
        source, member = await self.pair()
        is_reading = threading.Event()

        def read(most):
            is_reading.set()
            time.sleep(0.01)
            return b"x"
        await source.bulk.offer("den", BulkSource.stream(read))
        await self.next(member, spindle.BulkOffered)
        await support.soon(is_reading.is_set)
        self.daemon.send_signal(signal.SIGSTOP)
        offering = asyncio.ensure_future(source.bulk.offer("den", BulkSource.bytes(b"x")))
        await asyncio.sleep(0.05)
        await asyncio.wait_for(source.close(timeout=0.1), PATIENCE_S)
        with self.assertRaises(spindle.Error):
            await asyncio.wait_for(offering, PATIENCE_S)
        self.daemon.send_signal(signal.SIGCONT)

    async def test_the_loop_goes_on_beside_content(self):
        """Messages pass while large content is on its way, which no task of the loop moves."""
        source, member = await self.pair()
        await source.join("den", timeout=PATIENCE_S)
        channel = await source.bulk.offer("den", BulkSource.bytes(os.urandom(4 * BLOCK)))
        await self.next(member, spindle.BulkOffered)
        blocks = []
        member.bulk.accept(channel, BulkSink.stream(blocks.append))
        for i in range(100):
            await source.multicast(spindle.Service.AGREED, "den", b"%d" % i)
        got, is_received = [], False
        while len(got) < 100 or not is_received:
            event = await member.receive(timeout=PATIENCE_S)
            if isinstance(event, spindle.Message):
                got.append(int(event.payload))
            is_received = is_received or isinstance(event, spindle.BulkReceived)
        self.assertEqual(list(range(100)), got)
        self.assertEqual(4 * BLOCK, sum(map(len, blocks)))


class FewThreads:
    """`threading`, of which one more thread is not to be had, and then as many as one likes."""

    def __init__(self):
        self.refused = 0

    def Thread(self, *arguments, **options):  # noqa: N802
        thread = threading.Thread(*arguments, **options)
        if not self.refused:
            self.refused += 1
            thread.start = mock.Mock(side_effect=RuntimeError("can't start new thread"))
        return thread


class Sync(DaemonMixin, unittest.TestCase):
    def test_carries_content(self):
        content = os.urandom(BLOCK + 5)
        with sync.connect(self.address, name="source", bulk=True) as source, \
                sync.connect(self.address, name="member", bulk=True) as member:
            member.join("den", timeout=PATIENCE_S)
            channel = source.bulk.offer("den", BulkSource.bytes(content, name="it"))
            while not isinstance(member.receive(timeout=PATIENCE_S), spindle.BulkOffered):
                pass
            member.bulk.accept(channel, BulkSink.memory())
            event = None
            while not isinstance(event, spindle.BulkReceived):
                event = member.receive(timeout=PATIENCE_S)
            self.assertEqual(content, event.content)
            while not isinstance(event, spindle.BulkComplete):
                event = source.receive(timeout=PATIENCE_S)
            self.assertEqual((member.private_name,), event.done)
            with self.assertRaises(spindle.Error):
                source.bulk.offer("", BulkSource.bytes(b""))

    def test_a_second_connection_that_no_thread_can_make_is_tried_again(self):
        """Whoever moves the bytes is not harmed."""
        threads = FewThreads()
        with sync.connect(self.address, name="source", bulk=True) as source, \
                sync.connect(self.address, name="member", bulk=True) as member, \
                mock.patch.object(_second, "threading", threads):
            member.join("den", timeout=PATIENCE_S)
            source.bulk.offer("den", BulkSource.bytes(b"it"))
            while not isinstance(event := member.receive(timeout=PATIENCE_S), spindle.BulkOffered):
                pass
            member.bulk.accept(event.channel, BulkSink.memory())
            while not isinstance(event, spindle.BulkReceived):
                event = member.receive(timeout=PATIENCE_S)
            self.assertEqual((1, b"it"), (threads.refused, event.content))


def channel(number):
    return text("alpha"), struct.pack("<QB", 7, number)


def offer(number):
    """Of ten bytes, to who is in "den"."""
    terms = text("it") + struct.pack("<IHBBBBB", 1 << 20, 1 << 10, 10, 0, 0, 1, 0)
    return frame(48, *channel(number), b"\0\0", text("den"), text("#bob#alpha"), terms)


class NewSessions(unittest.TestCase):
    """With a daemon that the test plays."""

    RETOLD_WITHIN_S = 0.03

    def setUp(self):
        self.session = _engine.Session(
            name=b"ann", servers=1, independent_flows=False, slow_policy=0, send_buffer=1 << 20, receive_buffer=1 << 20,
            connect_timeout=60.0, reconnect_timeout=600.0, keepalive=0.0, resume=False, bulk=True)
        self.bulk = _engine.Bulk(self.session, 1, False, b"", self.RETOLD_WITHIN_S)
        self.addCleanup(self.bulk.close)

    def hear(self, said):
        hear(self.session, said)

    def dial(self):
        until = time.monotonic() + PATIENCE_S
        while self.session.take_dial() is None:
            self.assertLess(time.monotonic(), until)
            time.sleep(0.001)
            self.session.handle_time()
        self.session.connected(b"")

    def events(self):
        self.session.serve_channels()
        return self.session.take_events(100)

    def ends(self):
        return [event for event in self.events() if isinstance(event, spindle.BulkEnded)]

    def test_end_nothing_before_they_could_tell(self):
        self.session.start()
        self.dial()
        self.hear(welcome("#ann#alpha") + offer(1) + offer(2))
        self.assertEqual([1, 2], [event.channel.number for event in self.events()])
        self.session.end_stream(None, "")
        self.dial()
        # It is the beginning of a new session, and the end of its connection.
        self.hear(welcome("#ann#beta") + frame(17, struct.pack("<HHB", spindle.Code.DAEMON_STOPPING, 0, 0)))
        self.assertFalse(self.session.is_connected)
        self.assertTrue(self.session.can_send)
        time.sleep(20 * self.RETOLD_WITHIN_S)  # for what is not to come
        self.assertEqual([], self.ends())
        self.dial()
        self.hear(welcome("#ann#gamma") + offer(2))
        ended = []
        until = time.monotonic() + PATIENCE_S
        while not ended and time.monotonic() < until:
            select.select([self.session.bulk_descriptor], [], [], PATIENCE_S)
            ended = self.ends()
        self.assertEqual([(("alpha", 7, 1), spindle.BulkEndedCause.ABANDONED)],
                         [(tuple(event.channel), event.cause) for event in ended])


    def test_an_offer_that_nobody_has_served_ends_with_the_channels(self):
        """Of a loop that is closed, such as at the end of a program."""
        self.session.start()
        self.dial()
        self.hear(welcome("#ann#alpha"))
        self.events()
        codes = []

        def offer_it():
            codes.append(self.bulk.offer("den", 2, b"x", "", b"", False, 0, 10, 60.0, 1e9)[0])
        threads = [threading.Thread(target=each, daemon=True) for each in (offer_it, self.bulk.close)]
        threads[0].start()
        self.assertTrue(select.select([self.session.bulk_descriptor], [], [], PATIENCE_S)[0])
        threads[1].start()
        for each in threads:
            each.join(PATIENCE_S)
        self.assertEqual([spindle.Code.NOT_CONNECTED], codes)


class Threads(unittest.IsolatedAsyncioTestCase):
    async def test_so_many_calls_wait_at_once(self):
        callers, goes_on, begun = Callers(2), threading.Event(), []

        def wait(number):
            begun.append(number)
            self.assertTrue(goes_on.wait(PATIENCE_S))
            return number
        calls = [callers.call(lambda number=number: wait(number)) for number in range(4)]
        await support.soon(lambda: len(begun) == 2)
        self.assertEqual(7, await callers.call(lambda: 7, at_once=True))
        self.assertEqual({0, 1}, set(begun))
        goes_on.set()
        self.assertEqual([0, 1, 2, 3], await asyncio.gather(*calls))
        with self.assertRaises(ZeroDivisionError):
            await callers.call(lambda: 1 // 0)
        callers.join()

    async def test_a_thread_that_cannot_be_had_leaves_room_for_the_next(self):
        callers = Callers(1)
        with mock.patch.object(threading.Thread, "start", side_effect=RuntimeError("can't start new thread")), \
                self.assertRaises(RuntimeError):
            callers.call(lambda: 1)
        self.assertEqual(2, await callers.call(lambda: 2))


class AtExit(DaemonMixin, unittest.TestCase):
    def test_a_program_may_end_while_it_offers(self):
        """To a daemon that does not answer, and without closing the connection, in both forms."""
        for form in ("sync", "async"):
            program = f"""
import asyncio, contextlib, os, signal, spindle, threading, time
from spindle import BulkSource, sync

SOURCE, EVER = BulkSource.bytes(b"x"), None

def offer():
    with contextlib.suppress(spindle.Error):
        kept.bulk.offer("den", SOURCE, timeout=EVER)

def use_sync():
    global kept
    kept = sync.connect({self.address!r}, bulk=True)
    os.kill({self.daemon._process.pid}, signal.SIGSTOP)
    threading.Thread(target=offer, daemon=True).start()
    while not kept._waiting:
        time.sleep(0.001)

async def use_async():
    global kept
    kept = await spindle.connect({self.address!r}, bulk=True)
    os.kill({self.daemon._process.pid}, signal.SIGSTOP)
    try:
        await asyncio.wait_for(kept.bulk.offer("den", SOURCE, timeout=EVER), 0.1)
    except asyncio.TimeoutError:
        print("end")

if {form!r} == "async":
    asyncio.run(use_async())
else:
    use_sync()
    print("end")
"""
            try:
                done = subprocess.run([sys.executable, "-c", program], timeout=PATIENCE_S, capture_output=True,
                                      text=True, check=False,
                                      env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
            finally:
                self.daemon.send_signal(signal.SIGCONT)
            self.assertEqual((0, "end\n", ""), (done.returncode, done.stdout, done.stderr), form)

    def test_a_program_may_end_in_the_middle(self):
        """With streams, workers and connections that nobody has closed, of both forms."""
        for form in ("sync", "async"):
            program = f"""
import asyncio, spindle, sys, time
from spindle import BulkSink, BulkSource, _engine, sync

def read(most):
    time.sleep(0.001)
    return b"x" * min(most, 100_000)

def use_sync():
    source = sync.connect({self.address!r}, bulk=True)
    member = sync.connect({self.address!r}, bulk=True)
    member.join("den-{form}", timeout=30)
    channel = source.bulk.offer("den-{form}", BulkSource.stream(read))
    while not isinstance(member.receive(timeout=30), spindle.BulkOffered):
        pass
    member.bulk.accept(channel, BulkSink.stream(lambda block: None))
    while not isinstance(member.receive(timeout=30), spindle.BulkProgress):
        pass
    return source, member

async def use_async():
    source = await spindle.connect({self.address!r}, bulk=True)
    member = await spindle.connect({self.address!r}, bulk=True)
    await member.join("den-{form}", timeout=30)
    channel = await source.bulk.offer("den-{form}", BulkSource.stream(read))
    while not isinstance(await member.receive(timeout=30), spindle.BulkOffered):
        pass
    member.bulk.accept(channel, BulkSink.stream(lambda block: None))
    while not isinstance(await member.receive(timeout=30), spindle.BulkProgress):
        pass
    return source, member

kept = use_sync() if {form!r} == "sync" else asyncio.run(use_async())
print("end")
"""
            done = subprocess.run([sys.executable, "-c", program], timeout=4 * PATIENCE_S, capture_output=True,
                                  text=True, check=False, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
            self.assertEqual((0, "end\n"), (done.returncode, done.stdout), done.stderr)

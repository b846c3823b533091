"""What is Python's own of a connection; what all languages have is in tests/conformance."""
import asyncio
import collections
import gc
import os
import resource
import signal
import socket
import time
import types
import unittest
import weakref
from unittest import mock

from support import PATIENCE_S, DeadAndLiving, WithDaemon, hear, soon, welcome

import spindle
from spindle import Service, _address, _engine, sync
from spindle._link import Link, LinkOwner


class Connecting(WithDaemon):
    async def test_is_a_context(self):
        async with spindle.connect(self.address, name="ann") as connection:
            self.assertEqual("#ann#a", connection.private_name)
            self.assertTrue(connection.is_open)
            self.assertIn("#ann#a", repr(connection))
        self.assertFalse(connection.is_open)
        self.assertIn("closed", repr(connection))

    async def test_closes_as_an_exception_passes(self):
        with self.assertRaises(KeyError):
            async with spindle.connect(self.address, name="ann") as connection:
                raise KeyError
        self.assertFalse(connection.is_open)

    async def test_refusals_are_raised(self):
        await self.connect("ann")
        for address, name, kind, code in ((self.address, "ann", spindle.Error, "NAME_IN_USE"),
                                          (self.address, "a b", spindle.BadArgument, "BAD_CLIENT_NAME"),
                                          ("unix:", "bob", spindle.BadArgument, "BAD_ADDRESS"),
                                          ("/nonexistent/socket", "bob", spindle.NotConnected, "CONNECT_FAILED")):
            with self.assertRaises(kind) as caught:
                await spindle.connect(address, name=name)
            self.assertEqual(spindle.Code[code], caught.exception.code)

    async def test_who_finds_no_daemon_is_told_what_to_say(self):
        path = self._folder.name + "/nobody"
        with mock.patch.object(_address, "_default",
                               lambda: _address.Address(path, "", 0, False, is_default=True, is_anybodys=False)), \
                mock.patch.dict(os.environ, SPINDLE_ADDRESS=""):
            for connect in (spindle.connect, lambda: asyncio.to_thread(sync.connect)):
                with self.assertRaisesRegex(spindle.NotConnected, r'connect\("ADDRESS"\), SPINDLE_ADDRESS'):
                    await connect()

    async def test_unknown_options_are_refused(self):
        for option, told in (("colour", "there are name, tls_bundle"), ("timeout", "connect_timeout or"),
                             ("keep_alive", "keepalive may be meant"), ("addresses", "no option 'addresses'")):
            for connect in (spindle.connect, sync.connect):
                with self.assertRaisesRegex(TypeError, told):
                    connect(self.address, **{option: 1})

    async def test_that_is_cancelled_leaves_nothing(self):
        came, gone = asyncio.Event(), asyncio.Event()

        async def say_nothing(reader, writer):
            came.set()
            await reader.read()
            writer.close()
            gone.set()
        async with await asyncio.start_unix_server(say_nothing, self._folder.name + "/silent") as server:
            task = asyncio.ensure_future(self.take_part(self._folder.name + "/silent"))
            await asyncio.wait_for(came.wait(), PATIENCE_S)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            await asyncio.wait_for(gone.wait(), PATIENCE_S)
            server.close()

    async def take_part(self, address):
        async with spindle.connect(address):
            self.fail("it is connected to nobody")

    async def test_that_fails_late_leaves_nothing(self):
        """A directory that is none, which is seen once the daemon has welcomed the client; in both forms."""
        for connect in (spindle.connect, lambda *to, **how: asyncio.to_thread(sync.connect, *to, **how)):
            with self.assertRaises(TypeError):
                await connect(self.address, name="ann", bulk=spindle.BulkOptions(hash_directory=None))
            async with spindle.connect(self.address, name="ann") as connection:
                self.assertTrue(connection.is_open)

    async def test_goes_on_to_the_next_address(self):
        connection = await spindle.connect("/nonexistent/socket", self.address)
        self.addAsyncCleanup(connection.close)
        self.assertTrue(connection.is_open)


    async def test_goes_on_to_the_next_address_of_a_host(self):
        """Each has its share of the time, in both forms."""
        host = DeadAndLiving(self.daemon.client_address("tcp"))
        self.addCleanup(host.close)
        address = f"tcp:{host.NAME}:{host.port}"
        with mock.patch.object(socket, "getaddrinfo", host.resolve):
            async with spindle.connect(address, connect_timeout=4) as connection:
                self.assertTrue(connection.is_open)
            connection = await asyncio.to_thread(sync.connect, address, connect_timeout=4)
        await asyncio.to_thread(connection.close)


class Messages(WithDaemon):
    async def asyncSetUp(self):
        self.ann = await self.connect("ann")
        self.group = await self.ann.join("den", timeout=PATIENCE_S)

    async def test_have_what_was_sent(self):
        await self.group.multicast(Service.SAFE, b"hello", type=7, headers={"trace": b"1", "b": "text"})
        message, = await self.messages(self.ann, 1)
        self.assertEqual(("#ann#a", Service.SAFE, 7, ("den",), "den", b"hello", 5),
                         (message.sender, message.service, message.type, message.groups, message.group,
                          message.payload, len(message)))
        self.assertEqual((("trace", b"1"), ("b", b"text")), message.headers)
        self.assertEqual((b"1", None), (message.header("trace"), message.header(b"none")))
        self.assertIs(message.payload, message.payload)
        change, _, index = message.position
        self.assertEqual(("a", 0), (change[1], index))
        self.assertFalse(message.is_request)
        self.assertIn("5 bytes", repr(message))

    async def test_have_headers_of_any_mapping(self):
        wanted = (("to", b"1"), ("by", b"2"))
        for headers in ({"to": b"1", "by": b"2"}, types.MappingProxyType(dict(wanted)), collections.UserDict(wanted),
                        list(wanted), dict(wanted).items()):
            await self.group.multicast(Service.AGREED, b"", headers=headers)
            message, = await self.messages(self.ann, 1)
            self.assertEqual(wanted, message.headers)

    async def test_are_buffers_that_outlive_the_connection(self):
        await self.group.multicast(Service.AGREED, bytearray(b"x" * 100_000))
        await self.group.multicast(Service.AGREED, memoryview(b""))
        message, empty = await self.messages(self.ann, 2)
        view = memoryview(message)
        self.assertTrue(view.readonly)
        self.assertEqual((b"", True), (bytes(memoryview(empty)), bool(empty)))
        await self.ann.close()
        del message
        gc.collect()
        self.assertEqual(b"x" * 100_000, bytes(view))

    async def test_names_are_text_of_any_bytes(self):
        for name, text in (("späßchen", "späßchen"), (b"\xff\x00x", "\udcff\0x")):
            group = await self.ann.join(name, timeout=PATIENCE_S)
            self.assertEqual(text, group.view.group)
            await self.ann.multicast(Service.AGREED, text, b"")
            message, = await self.messages(self.ann, 1)
            self.assertEqual(text, message.group)

    async def test_go_to_sequences_of_groups(self):
        await self.ann.multicast(Service.AGREED, ["den", b"other", "#ann#a"], b"1")
        await self.ann.multicast(Service.AGREED, ("den",), b"2")
        first, second = await self.messages(self.ann, 2)
        self.assertEqual((("den", "other", "#ann#a"), ("den",)), (first.groups, second.groups))

    async def test_wrong_arguments_are_told_and_nothing_is_sent(self):
        for to, payload, options in ((1, b"", {}), ("den", "text", {}), ("den", None, {}), (["den", 1], b"", {}),
                                     ("den", b"", {"type": "x"}), ("den", b"", {"headers": [1]}),
                                     ("den", b"", {"headers": {"a": 1}}), (iter(["den"]), b"", {}),
                                     ("den", b"", {"headers": iter([("a", b"1")])})):
            with self.assertRaises(TypeError, msg=(to, payload, options)):
                await self.ann.multicast(Service.AGREED, to, payload, **options)
        for options in ({"type": 65536}, {"type": -1}, {"ticket": -1}):
            with self.assertRaises(OverflowError, msg=options):
                await self.ann.multicast(Service.AGREED, "den", b"", **options)
        for to, service, options in (("", 4, {}), ("#x", 4, {}), ("den", 17, {}), ("den", 4, {"headers": {"$x": b""}})):
            with self.assertRaises(spindle.BadArgument, msg=(to, service, options)):
                await self.ann.multicast(service, to, b"", **options)
        for service in (17, -1, 1 << 70):
            with self.assertRaisesRegex(spindle.BadArgument, f"there is no service {service}"):
                await self.ann.multicast(service, "den", b"")
            with self.assertRaisesRegex(spindle.BadArgument, f"there is no service {service}"):
                await self.ann.request("den", b"", service=service)
        await self.ann.multicast(Service.AGREED, "den", b"good")
        self.assertEqual([b"good"], [each.payload for each in await self.messages(self.ann, 1)])

    async def test_flags_are_what_python_takes_for_true(self):
        await self.group.multicast(Service.AGREED, b"not for me", self_discard=1)
        await self.group.multicast(Service.AGREED, b"for me", self_discard=[])
        self.assertEqual([b"for me"], [each.payload for each in await self.messages(self.ann, 1)])
        await self.ann.join("pit", synchronous=1, auto_flush="yes", timeout=PATIENCE_S)
        bob = await self.connect("bob")
        with self.assertRaises(spindle.Error) as caught:
            await bob.join("pit", timeout=PATIENCE_S)
        self.assertEqual(spindle.Code.MODE_MISMATCH, caught.exception.code)
        joining = asyncio.ensure_future(bob.join("pit", synchronous=2, timeout=PATIENCE_S))
        while not joining.done():  # which answers requests to flush
            await asyncio.wait({joining, asyncio.ensure_future(self.ann.receive())}, timeout=PATIENCE_S,
                               return_when=asyncio.FIRST_COMPLETED)
        self.assertEqual(2, joining.result().view.member_count)

    async def test_what_is_neither_true_nor_false_is_told(self):
        class Undecided:
            def __bool__(self):
                raise ZeroDivisionError
        neither = Undecided()
        bulk = await self.connect("bulk", bulk=True)
        channel = spindle.ChannelId("a", 1, 1)
        sink = spindle.BulkSink.memory()
        for call in (lambda: self.ann.multicast(Service.AGREED, "den", b"", self_discard=neither),
                     lambda: self.ann.request("den", b"", self_discard=neither, timeout=0.01),
                     lambda: self.ann.join("pit", synchronous=neither, timeout=0.01),
                     lambda: self.ann.join("pit", auto_flush=neither, timeout=0.01),
                     lambda: self.ann.open_feed("den", drop_oldest=neither),
                     lambda: self.ann.listen("den", ordered=neither),
                     lambda: bulk.bulk.offer("den", spindle.BulkSource.directory("/", leave_out=neither)),
                     lambda: bulk.bulk.accept(channel, sink, replace=neither),
                     lambda: bulk.bulk.accept(channel, sink, serve=neither)):
            with self.assertRaises(ZeroDivisionError):
                await call()

    async def test_calls_from_another_thread_are_refused(self):
        for call in (lambda: self.ann.join("pit"), self.ann.receive, lambda: self.ann.request("den", b"")):
            with self.assertRaisesRegex(RuntimeError, "another thread's loop"):
                await asyncio.to_thread(lambda each=call: asyncio.run(each()))
        sends = (lambda: self.ann.try_multicast(Service.AGREED, "den", b"bad"),
                 lambda: asyncio.run(self.ann.multicast(Service.AGREED, "den", b"bad")))
        for send in sends:
            for _ in range(3):  # where it joins others, too
                with self.assertRaisesRegex(RuntimeError, "another thread's loop"):
                    await asyncio.to_thread(send)
        self.daemon.send_signal(signal.SIGSTOP)  # until there is no room
        try:
            while self.ann.try_multicast(Service.FIFO, "nobody", b"x" * 100_000):
                pass
            for send in sends:  # and where not all calls are held to the thread
                with mock.patch.object(self.ann, "_flush") as flush, \
                        mock.patch.object(self.ann, "_is_debugged", False), \
                        self.assertRaisesRegex(RuntimeError, "another thread's loop"):
                    await asyncio.to_thread(send)
                flush.assert_not_called()
        finally:
            self.daemon.send_signal(signal.SIGCONT)
        call = asyncio.run_coroutine_threadsafe
        loop = asyncio.get_running_loop()
        await asyncio.to_thread(lambda: call(self.ann.multicast(Service.AGREED, "den", b"good"), loop).result())
        self.assertEqual([b"good"], [each.payload for each in await self.messages(self.ann, 1)])


class Iterating(WithDaemon):
    async def asyncSetUp(self):
        self.ann = await self.connect("ann")
        await self.ann.join("den", timeout=PATIENCE_S)
        await self.ann.receive(timeout=PATIENCE_S)  # the view

    async def send(self, count):
        for i in range(count):
            await self.ann.multicast(Service.AGREED, "den", str(i).encode())

    async def test_ends_behind_the_last_event(self):
        await self.send(3)
        await self.messages(self.ann, 3)
        await self.ann.close()
        events = [event async for event in self.ann]
        self.assertIsInstance(events[-1], spindle.Disconnected)
        self.assertEqual(spindle.Code.CLOSED_BY_CLIENT, events[-1].code)
        self.assertEqual([], [event async for event in self.ann])
        with self.assertRaises(spindle.NotConnected):
            await self.ann.receive()

    async def test_gives_each_event_to_one_task(self):
        got = []

        async def take():
            async for event in self.ann:
                if isinstance(event, spindle.Disconnected):
                    return
                got.append(int(event.payload))
                await asyncio.sleep(0)
        takers = [asyncio.ensure_future(take()) for _ in range(3)]
        await self.send(500)
        await soon(lambda: len(got) == 500)
        self.assertEqual(list(range(500)), sorted(got))
        await self.ann.close()
        await asyncio.wait_for(asyncio.gather(*takers, return_exceptions=True), PATIENCE_S)

    async def test_that_is_cancelled_loses_nothing(self):
        got = []
        for _ in range(300):
            task = asyncio.ensure_future(self.take_into(got))
            await self.ann.multicast(Service.AGREED, "den", b"x")
            for _ in range(len(got) % 5):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait({task})
        got += await self.messages(self.ann, 300 - len(got))
        with self.assertRaises(spindle.TimedOut):
            await self.ann.receive(timeout=0)

    async def take_into(self, got):
        async for event in self.ann:
            got.append(event)

    async def test_can_be_awaited_by_hand(self):
        stream = self.ann.__aiter__()
        first, second = stream.__anext__(), stream.__anext__()
        both = asyncio.gather(asyncio.wait_for(first, PATIENCE_S), asyncio.wait_for(second, PATIENCE_S))
        await asyncio.sleep(0)
        await self.send(2)
        self.assertEqual([b"0", b"1"], sorted(each.payload for each in await both))
        with self.assertRaises(asyncio.TimeoutError):
            await asyncio.wait_for(stream.__anext__(), 0.01)
        await self.send(1)
        self.assertEqual(b"0", (await stream.__anext__()).payload)

    async def test_gives_batches(self):
        await self.send(1000)
        got = []
        async for batch in self.ann.batches(most=300):
            self.assertTrue(0 < len(batch) <= 300)
            got += [each.payload for each in batch]
            if len(got) == 1000:
                break
        self.assertEqual([str(i).encode() for i in range(1000)], got)
        with self.assertRaises(ValueError):
            self.ann.batches(most=0)

    async def test_does_not_wait_with_a_timeout_of_nothing(self):
        with self.assertRaises(spindle.TimedOut):
            await self.ann.receive(timeout=0)
        with self.assertRaises(spindle.TimedOut):
            await self.ann.receive(timeout=0.01)


class Calls(WithDaemon):
    async def test_joining_gives_the_view(self):
        ann = await self.connect("ann")
        group = await ann.join("den", timeout=PATIENCE_S)
        self.assertEqual((("#ann#a",), 0, spindle.ViewCause.JOIN, spindle.ViewForm.FULL),
                         (group.view.members, group.view.my_index, group.view.cause, group.view.form))
        self.assertEqual(group.view, await ann.receive(timeout=PATIENCE_S))
        with self.assertRaises(spindle.Error) as caught:
            await ann.join("den", timeout=PATIENCE_S)
        self.assertEqual(spindle.Code.ALREADY_A_MEMBER, caught.exception.code)

    async def test_requests_give_answers(self):
        ann, bob = await self.connect("ann"), await self.connect("bob")
        for each in (ann, bob):
            await each.join("den", timeout=PATIENCE_S)

        async def serve():
            async for event in bob:
                if isinstance(event, spindle.Message) and event.is_request:
                    await bob.reply(event, b"answer to " + event.payload)
        server = asyncio.ensure_future(serve())
        answers = await ann.request("den", b"q", timeout=PATIENCE_S)
        self.assertEqual([("#bob#a", b"answer to q")], [(each.sender, each.payload) for each in answers.messages])
        with self.assertRaises(spindle.TimedOut) as caught:
            await ann.request("den", b"q", answers=spindle.ALL, timeout=6)
        self.assertEqual(("#ann#a",), caught.exception.answers.missing)
        self.assertEqual(1, len(caught.exception.answers.messages))
        server.cancel()

    async def test_the_end_ends_them(self):
        ann = await self.connect("ann", reconnect_timeout=0)
        waiting = [asyncio.ensure_future(ann.request("nobody", b"?")), asyncio.ensure_future(self.take_all(ann))]
        await asyncio.sleep(0.05)
        self.daemon.end()
        with self.assertRaises(spindle.Error):
            await asyncio.wait_for(waiting[0], PATIENCE_S)
        self.assertIsInstance((await asyncio.wait_for(waiting[1], PATIENCE_S))[-1], spindle.Disconnected)
        for call in (ann.multicast(Service.AGREED, "den", b""), ann.join("den"), ann.leave("den"), ann.writable("den")):
            with self.assertRaises(spindle.NotConnected):
                await call

    async def take_all(self, connection):
        return [event async for event in connection]

    async def test_confirming_says_what_is_lost(self):
        ann = await self.connect("ann", reconnect_timeout=0)
        await ann.multicast(Service.AGREED, "den", b"")
        await ann.confirm(PATIENCE_S)
        self.assertFalse(await ann.close())

    async def test_confirming_says_what_is_unknown(self):
        ann = await self.connect("ann")
        self.daemon.send_signal(signal.SIGSTOP)
        await ann.multicast(Service.AGREED, "den", b"")
        confirmation = asyncio.create_task(ann.confirm())
        await soon(lambda: not ann._session.output_size)
        self.daemon.end()
        self.daemon.start()
        with self.assertRaises(spindle.NotTakenError) as raised:
            await confirmation
        self.assertEqual(spindle.Code.CONNECTION_LOST, raised.exception.code)
        self.assertEqual(spindle.NotTaken(1, False), raised.exception.not_taken)
        with self.assertRaises(spindle.NotTakenError):
            await ann.confirm(PATIENCE_S)
        self.assertEqual(1, len((await ann.receive(timeout=PATIENCE_S)).unknown))
        await ann.confirm(PATIENCE_S)

    async def test_sending_needs_no_turn_of_the_loop_while_there_is_room(self):
        ann = await self.connect("ann", send_buffer=4096)
        for _ in range(20):
            self.assertTrue(ann.try_multicast(Service.AGREED, "nobody", b"x" * 1000))
        await ann.confirm(PATIENCE_S)

    async def test_a_send_buffer_of_nothing_takes_a_message(self):
        ann = await self.connect("ann", send_buffer=0)
        self.assertTrue(ann.try_multicast(Service.AGREED, "nobody", b"x"))
        await ann.multicast(Service.AGREED, "nobody", b"y", timeout=PATIENCE_S)
        await ann.confirm(PATIENCE_S)

    async def test_a_feed_that_is_not_opened_in_time_does_not_stay(self):
        ann = await self.connect("ann")
        self.daemon.send_signal(signal.SIGSTOP)
        try:
            with self.assertRaises(spindle.TimedOut):
                await ann.open_feed("den", timeout=0.01)
        finally:
            self.daemon.send_signal(signal.SIGCONT)
        feed = await ann.open_feed("den", timeout=PATIENCE_S)
        self.assertTrue(feed.is_open)
        late = spindle.Feed(ann, feed.id - 1)
        self.assertFalse(late.is_open)

    async def test_draining_leaves(self):
        ann, bob = await self.connect("ann"), await self.connect("bob")
        for each in (ann, bob):
            await each.join("den", timeout=PATIENCE_S)
        await ann.multicast(Service.AGREED, "den", b"last")
        self.assertFalse(await ann.drain(PATIENCE_S))
        events = await self.take_all(ann)
        self.assertEqual([spindle.ViewForm.FULL] * 2 + [spindle.ViewForm.FAREWELL],
                         [each.form for each in events if isinstance(each, spindle.GroupView)])
        self.assertEqual([b"last"], [each.payload for each in await self.messages(bob, 1)])


class ComingBack(unittest.TestCase):
    """With a daemon that the test plays."""

    def test_each_daemon_has_its_share_of_the_time(self):
        session = _engine.Session(
            name=b"ann", servers=2, independent_flows=False, slow_policy=0, send_buffer=1 << 20, receive_buffer=1 << 20,
            connect_timeout=4e6, reconnect_timeout=60.0, keepalive=0.0, resume=False, bulk=False)
        session.start()
        self.assertEqual(0, session.take_dial())
        self.assertGreater(session.dial_time(), 60)
        session.connected(b"")
        hear(session, welcome("#ann#alpha"))
        session.end_stream(None, "")
        until = time.monotonic() + PATIENCE_S
        while session.take_dial() is None:
            self.assertLess(time.monotonic(), until)
            time.sleep(0.001)
            session.handle_time()
        self.assertLessEqual(session.dial_time(), 30)


class Failing(unittest.IsolatedAsyncioTestCase):
    """A daemon that the test plays."""

    async def test_the_reason_is_heard_although_nothing_can_be_written(self):
        """The other side takes nothing any more, and says why a little later."""
        ours, theirs = socket.socketpair()
        theirs.setblocking(False)
        got = []

        class Owner(LinkOwner):
            buffer = bytearray(100)

            def get_buffer(self, sizehint):
                return memoryview(self.buffer)

            def buffer_updated(self, count):
                got.append(bytes(self.buffer[:count]))

            def link_lost(self, code, text):
                got.append(code)

            def link_writable(self):
                pass
        link = Link()
        await asyncio.get_running_loop().create_unix_connection(lambda: link, sock=ours)
        link.attach(Owner())
        theirs.shutdown(socket.SHUT_RD)
        for _ in range(3):
            link.write(b"x")
            await asyncio.sleep(0)
        theirs.send(b"why")
        await soon(lambda: got == [b"why"])
        link.set_reading(False)
        theirs.send(b"more")
        await asyncio.sleep(0.01)
        self.assertEqual([b"why"], got)
        link.set_reading(True)
        theirs.close()
        await soon(lambda: len(got) == 3)
        self.assertEqual([b"why", b"more", None], got)
        link.let_go()


class Memory(WithDaemon):
    async def test_waits_that_were_in_vain_leave_nothing(self):
        ann = await self.connect("ann")
        stream = ann.__aiter__()

        def futures():
            gc.collect()
            return sum(isinstance(each, asyncio.Future) for each in gc.get_objects())
        before = futures()
        for _ in range(50):
            with self.assertRaises(spindle.TimedOut):
                await ann.receive(timeout=0.0001)
            for waiting in (ann.receive(), stream.__anext__()):
                task = asyncio.ensure_future(waiting)
                await asyncio.sleep(0)
                task.cancel()
                await asyncio.wait({task})
        del task, waiting
        self.assertLess(futures() - before, 20)

    async def test_nothing_is_kept(self):
        """Of connections, messages and calls that are over."""
        async def life():
            async with spindle.connect(self.address) as connection:
                group = await connection.join("den", timeout=PATIENCE_S)
                for _ in range(2000):
                    await group.multicast(Service.AGREED, b"x" * 1000, headers={"a": b"b"})
                for message in await self.messages(connection, 2000):
                    self.assertEqual((1000, "den", "a"),
                                     (len(message.payload), message.groups[0], message.headers[0][0]))
                return weakref.ref(connection)
        for _ in range(3):
            await life()
        gc.collect()
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for _ in range(20):
            last = await life()
        await asyncio.sleep(0)
        gc.collect()
        self.assertIsNone(last())
        # Each life sends and gets 2 MB: forty of them are kept nowhere.
        self.assertLess(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, 20_000)


if __name__ == "__main__":
    unittest.main()

"""spindle.sync, as far as it is not as the rest: threads, and what happens while nobody waits."""
import os
import select
import signal
import socket
import subprocess
import sys
import sysconfig
import threading
import time
import unittest
from unittest import mock

from support import PATIENCE_S, DaemonMixin

import spindle
from spindle import Service, sync
from spindle._blocking import connect_blocking

INTERRUPTED = """
import os, signal, sys, threading, time
import spindle
from spindle import Service, sync

address, where = sys.argv[1:]
bob = sync.connect(address, name="bob")
ann = sync.connect(address, name="ann")
for each in (bob, ann):
    each.join("den", timeout=30)
was_called = False
wrong = []

def end(*_):
    global was_called
    was_called = True
    if where != "elsewhere":
        try:
            ann.receive(timeout=30)
            wrong.append("it has waited")
        except RuntimeError:
            pass
    ann.close()

def interrupt():
    if not was_called and threading.current_thread() is threading.main_thread():
        signal.raise_signal(signal.SIGTERM)

class Interrupted:
    def __init__(self, inner, name):
        self._inner, self._name = inner, name

    def __getattr__(self, name):
        found = getattr(self._inner, name)
        if name != self._name:
            return found
        def call(*arguments):
            result = found(*arguments)
            interrupt()
            return result
        return call

def interrupt_polling():
    while ann._poller != threading.main_thread().ident:
        time.sleep(0.001)
    os.kill(os.getpid(), signal.SIGTERM)

signal.signal(signal.SIGTERM, end)
ann.multicast(Service.AGREED, "den", b"1")
ann.confirm(30)
while not isinstance(ann.receive(timeout=30), spindle.Message):
    pass
if where == "writing":
    ann._stream = Interrupted(ann._stream, "send")
ann.multicast(Service.AGREED, "den", b"2")
if where == "asking":
    ann._session = Interrupted(ann._session, "request_view")
    ann.request_view("den")
if where == "polling":
    threading.Thread(target=interrupt_polling, daemon=True).start()
elif where == "elsewhere":
    interrupt()
last = list(ann)[-1]
payloads = []
while not isinstance(event := bob.receive(timeout=30), spindle.GroupView) or event.member_count != 1 or not payloads:
    if isinstance(event, spindle.Message):
        payloads.append(event.payload)
assert was_called and not wrong, wrong
print(type(last).__name__, last.code.name, bool(ann.close()), payloads)
"""


class Sync(DaemonMixin, unittest.TestCase):
    def connect(self, name, **options):
        connection = sync.connect(self.address, name=name, **options)
        self.addCleanup(connection.close)
        return connection

    def messages(self, connection, count):
        found = []
        while len(found) < count:
            event = connection.receive(timeout=PATIENCE_S)
            if isinstance(event, spindle.Message):
                found.append(event)
        return found

    def in_thread(self, function, *arguments):
        """What it gives, or raises, from `join()` on."""
        results = []

        def run():
            try:
                results.append((function(*arguments), None))
            except BaseException as error:
                results.append((None, error))
        thread = threading.Thread(target=run, daemon=True)
        thread.start()

        def result():
            thread.join(PATIENCE_S)
            self.assertTrue(results, "it goes on")
            value, error = results[0]
            if error is not None:
                raise error
            return value
        return result

    def test_is_a_context_and_an_iterator(self):
        with sync.connect(self.address, name="ann") as ann:
            group = ann.join("den", timeout=PATIENCE_S)
            group.multicast(Service.AGREED, b"hello")
            event = next(event for event in ann if isinstance(event, spindle.Message))
            self.assertEqual(b"hello", event.payload)
        self.assertFalse(ann.is_open)
        self.assertIsInstance(list(ann)[-1], spindle.Disconnected)
        with self.assertRaises(spindle.NotConnected):
            ann.receive()

    def test_refusals_are_raised(self):
        self.connect("ann")
        for address, name, kind in ((self.address, "ann", spindle.Error), ("unix:", "bob", spindle.BadArgument),
                                    ("/nonexistent/socket", "bob", spindle.NotConnected),
                                    ("tcp:" + "x" * 300, "bob", spindle.NotConnected)):
            with self.assertRaises(kind):
                sync.connect(address, name=name)

    def test_without_a_thread_of_its_own_there_is_no_connection(self):
        start = threading.Thread.start

        def start_others(thread):
            if thread.name == "spindle":
                raise RuntimeError("can't start new thread")
            start(thread)
        for options in ({}, {"bulk": True}):
            with mock.patch.object(threading.Thread, "start", start_others), self.assertRaises(RuntimeError):
                sync.connect(self.address, name="ann", **options)
            sync.connect(self.address, name="ann").close()

    def test_a_daemon_that_says_nothing_is_not_waited_for(self):
        silent = socket.socket(socket.AF_UNIX)
        self.addCleanup(silent.close)
        silent.bind(self._folder.name + "/silent")
        silent.listen()
        with self.assertRaises(spindle.TimedOut):
            sync.connect(self._folder.name + "/silent", connect_timeout=0.2)

    def test_threads_share_it(self):
        """Some receive, some send, some wait for answers: each event goes to one, and each call gets its own."""
        ann, bob = self.connect("ann"), self.connect("bob")
        for each in (ann, bob):
            each.join("den", timeout=PATIENCE_S)

        def serve():
            served = 0
            for event in bob:
                if isinstance(event, spindle.Message) and event.is_request:
                    bob.reply(event, event.payload)
                    served += 1
                if served == 300:
                    return

        def ask(first):
            for i in range(100):
                payload = f"{first}.{i}".encode()
                answers = ann.request("den", payload, self_discard=True, timeout=PATIENCE_S)
                self.assertEqual([payload], [each.payload for each in answers.messages])

        def count():
            return sum(isinstance(event, spindle.Message) for event in ann)
        server = self.in_thread(serve)
        counters = [self.in_thread(count) for _ in range(2)]
        askers = [self.in_thread(ask, i) for i in range(3)]
        for i in range(500):
            bob.multicast(Service.AGREED, "#ann#a", str(i).encode())
        for each in (*askers, server):
            each()
        bob.confirm(PATIENCE_S)
        ann.multicast(Service.SAFE, "den", b"last")
        ann.confirm(PATIENCE_S)
        self.assertFalse(ann.drain(PATIENCE_S))
        self.assertEqual(501, sum(each() for each in counters))

    def test_what_gathers_is_written_though_its_sender_does_nothing_more(self):
        ann, bob = self.connect("ann"), self.connect("bob")
        group = ann.join("den", timeout=PATIENCE_S)
        bob.join("den", timeout=PATIENCE_S)
        for count in (1, 2, 100):
            for number in range(count):
                group.multicast(Service.FIFO, b"%d" % number)
            self.assertEqual([b"%d" % number for number in range(count)],
                             [each.payload for each in self.messages(bob, count)])

    def test_what_gathers_as_a_thread_is_about_to_sleep_is_written(self):
        """It has written all there was, and whoever looks after what gathers is that thread itself."""
        with mock.patch.object(sync.Connection, "_stand_in", lambda self: None):
            ann = self.connect("ann", keepalive=0)
        session = ann._session
        while session.multicast_gathering("nobody", b"", Service.FIFO, 0, False, 0, None) == sync.WRITE:
            pass
        session.watch()  # somebody looks after what gathers
        ann.confirm(PATIENCE_S)
        self.daemon.send_signal(signal.SIGSTOP)  # it says nothing more, which would wake the thread
        self.addCleanup(self.daemon.send_signal, signal.SIGCONT)
        while select.select([ann._stream], [], [], 0)[0]:
            with self.assertRaises(spindle.TimedOut):
                ann.receive(timeout=0)
        sending = []

        class Sending:
            """The session, in which another thread sends once all is written."""

            def __getattr__(self, name):
                if name == "has_outcomes" and not sending:
                    sending.append(in_thread(ann.multicast, Service.FIFO, "nobody", b"x"))
                    while not session.output_size:
                        time.sleep(0)
                return getattr(session, name)

        def move_bytes():
            with ann._lock:
                while not (sending and session.is_over):
                    ann._poll(None)
        in_thread, ann._session = self.in_thread, Sending()
        moving = self.in_thread(move_bytes)
        end = time.monotonic() + PATIENCE_S
        while not sending or session.output_size:
            self.assertLess(time.monotonic(), end, "it waits")
            time.sleep(0.001)
        sending[0]()
        self.daemon.send_signal(signal.SIGCONT)
        ann.close()
        moving()

    def test_who_looks_after_what_gathers_stops_and_begins_again(self):
        """With pauses of all kinds, and beside a thread that waits."""
        ann, bob = self.connect("ann"), self.connect("bob")
        group = ann.join("den", timeout=PATIENCE_S)
        bob.join("den", timeout=PATIENCE_S)

        def send_all():
            number = 0
            for pause in (0, 0.002, 0.03, 0.1, 0, 0.001):
                for _ in range(7):
                    group.multicast(Service.FIFO, b"%d" % number)
                    number += 1
                time.sleep(pause)
                # Nothing but what was just sent has anybody write it.
                self.assertEqual(b"%d" % (number - 1), self.messages(bob, 7)[-1].payload)

        send_all()
        hearing = self.in_thread(lambda: sum(isinstance(event, spindle.Message) for event in ann))
        send_all()
        ann.close()
        self.assertLess(0, hearing())

    def test_threads_that_send_one_after_the_other_lose_nothing(self):
        """What they send needs no lock, as long as nothing is to be written."""
        threads, each = 4, 2000
        ann = self.connect("ann")
        group = ann.join("den", timeout=PATIENCE_S)

        def send(thread):
            for number in range(each):
                group.multicast(Service.FIFO, b"%d %d" % (thread, number))
        sending = [self.in_thread(send, thread) for thread in range(threads)]
        found = [[] for _ in range(threads)]
        for message in self.messages(ann, threads * each):
            thread, number = message.payload.split()
            found[int(thread)].append(int(number))
        for end in sending:
            end()
        self.assertEqual([list(range(each))] * threads, found)

    @unittest.skipUnless(sysconfig.get_config_var("Py_GIL_DISABLED"), "this interpreter has a lock")
    def test_an_interpreter_without_a_lock_stays_without(self):
        self.assertFalse(sys._is_gil_enabled())

    def test_threads_that_share_all_calls_do_not_hurt_each_other(self):
        """Without a lock of the interpreter they run at once, within the module, too."""
        ann = self.connect("ann")
        group = ann.join("den", timeout=PATIENCE_S)
        count, threads = 500, 3

        def send():
            for number in range(count):
                group.multicast(Service.AGREED, b"%d" % number)

        def look():
            for _ in range(count):
                self.assertTrue(ann.is_open)
                ann.writable("den", timeout=PATIENCE_S)
                ann.request_view("den")

        def receive(found):
            while len(found) < threads * count:
                event = ann.receive(timeout=PATIENCE_S)
                if isinstance(event, spindle.Message):
                    found.append(event)
        found = []
        ends = [self.in_thread(send) for _ in range(threads)] + [self.in_thread(look), self.in_thread(receive, found)]
        for end in ends:
            end()
        payloads = []  # threads that ask one message for the same at once
        readers = [self.in_thread(lambda: payloads.append([each.payload for each in found])) for _ in range(threads)]
        for end in readers:
            end()
        self.assertEqual(sorted(payloads[0]), sorted(b"%d" % number for number in range(count) for _ in range(threads)))
        self.assertEqual(payloads[0], payloads[1])

    def test_closing_ends_what_waits(self):
        ann = self.connect("ann")
        waiting = [self.in_thread(ann.request, "nobody", b"?"), self.in_thread(list, ann)]
        time.sleep(0.05)
        ann.close()
        with self.assertRaises(spindle.Error):
            waiting[0]()
        self.assertIsInstance(waiting[1]()[-1], spindle.Disconnected)
        for call in (lambda: ann.multicast(Service.AGREED, "den", b""), lambda: ann.join("den"),
                     lambda: ann.writable("den")):
            with self.assertRaises(spindle.NotConnected):
                call()

    def test_a_timeout_of_nothing_sees_what_has_come(self):
        ann, bob = self.connect("ann"), self.connect("bob")
        with self.assertRaises(spindle.TimedOut):
            ann.receive(timeout=0)
        bob.multicast(Service.AGREED, "#ann#a", b"x")
        bob.confirm(PATIENCE_S)
        end = time.monotonic() + PATIENCE_S
        while True:
            try:
                self.assertEqual(b"x", ann.receive(timeout=0).payload)
                break
            except spindle.TimedOut:
                self.assertLess(time.monotonic(), end)

    def test_times_may_be_longer_than_the_system_takes(self):
        """At once: 24.8 days for sockets, and 292 years for threads."""
        for timeout in (3e6, 1e10, float("inf")):
            ann = self.connect("ann", connect_timeout=timeout)
            sync.connect(self.daemon.client_address("tcp"), connect_timeout=timeout).close()
            waiting = [self.in_thread(ann.receive, timeout) for _ in range(2)]
            end = time.monotonic() + PATIENCE_S
            while ann._waiting < len(waiting) and time.monotonic() < end:
                time.sleep(0.001)
            for _ in waiting:
                ann.multicast(Service.AGREED, ann.private_name, b"x")
            for each in waiting:
                self.assertEqual(b"x", each().payload)
            ann.close(timeout)

    def test_a_handler_of_signals_may_close(self):
        """Wherever it interrupts the thread: each message is sent once, and the end is an event."""
        for where in ("polling", "writing", "asking", "elsewhere"):
            done = subprocess.run([sys.executable, "-c", INTERRUPTED, self.address, where], timeout=2 * PATIENCE_S,
                                  capture_output=True, text=True, check=False,
                                  env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
            self.assertEqual((0, "Disconnected CLOSED_BY_CLIENT False [b'1', b'2']\n"), (done.returncode, done.stdout),
                             where + done.stderr)

    def test_large_messages_wait_for_room(self):
        ann = self.connect("ann", send_buffer=65536, receive_buffer=65536)
        ann.join("den", timeout=PATIENCE_S)
        content = bytes(range(256)) * 8192

        def send():
            for _ in range(20):
                ann.multicast(Service.AGREED, "den", content)
        sender = self.in_thread(send)
        self.assertTrue(all(each.payload == content for each in self.messages(ann, 20)))
        sender()

    def test_connecting_again_holds_nobody_up(self):
        """Such as a resolver that does not answer, for which nothing has a bound."""
        ann = self.connect("ann")
        begun, goes_on, has_ended, dropped = (threading.Event() for _ in range(4))

        class Stream(socket.socket):
            def close(self):
                super().close()
                dropped.set()

        def connect(*_):
            begun.set()
            goes_on.wait(PATIENCE_S)
            has_ended.set()
            return Stream(socket.AF_UNIX)
        self.addCleanup(goes_on.set)
        with mock.patch.object(sync, "connect_blocking", connect):
            self.daemon.end()
            self.assertTrue(begun.wait(PATIENCE_S))
            with self.assertRaises(spindle.TimedOut):
                ann.receive(timeout=0.01)
            ann.close(0.01)
            self.assertFalse(has_ended.is_set(), "it was waited for")
            self.assertFalse(ann.is_open)
            goes_on.set()
            self.assertTrue(dropped.wait(PATIENCE_S), "nobody wants it any more")

    def test_an_address_that_hangs_has_its_share_of_the_time(self):
        goes_on = threading.Event()
        self.addCleanup(goes_on.set)

        def connect(options, address, until):
            if address.path == "/hangs":
                goes_on.wait(PATIENCE_S)
            return connect_blocking(options, address, until)
        with mock.patch.object(sync, "connect_blocking", connect):
            ann = sync.connect("/hangs", self.address, name="ann", connect_timeout=6)
        self.addCleanup(ann.close)
        self.assertTrue(ann.is_open)
        self.assertFalse(goes_on.is_set())

    def test_goes_on_when_the_daemon_is_back(self):
        ann = self.connect("ann")
        ann.join("den", timeout=PATIENCE_S)
        self.daemon.end()
        self.daemon.start()
        while not isinstance(event := ann.receive(timeout=PATIENCE_S), spindle.Reconnected):
            pass
        self.assertFalse(event.resumed)
        ann.multicast(Service.AGREED, "den", b"again")
        self.assertEqual(b"again", self.messages(ann, 1)[0].payload)

"""The same connection without asyncio, for programs that wait in threads: the same names, without `await`.

    with spindle.sync.connect(name="reader") as connection:
        connection.join("news", timeout=5)
        for event in connection:
            if isinstance(event, spindle.Message):
                print(event.sender, event.payload)

All functions may be called by several threads at once. Whoever waits moves the bytes, so that an event need not go from
one thread to another; while nobody does, a thread of the connection's own stands in.
"""
import select
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Any, Callable, Optional, TypeVar

from . import _patience, _second
from ._address import Address
from ._blocking import connect_blocking
from ._bulk import BulkEngine, BulkSource, Channels
from ._codes import Code
from ._connection import ALL, WRITE
from ._engine import Message, Session
from ._errors import Error, NotTakenError, error_of
from ._events import Answers, ChannelId, Disconnected, FeedFlow, FlushRequest, GroupView, NotTaken, Service
from ._options import Options, options_of
from ._types import Destinations, Headers, Name, Payload

__all__ = ["ALL", "Bulk", "Connection", "Feed", "Group", "connect"]

_Result = TypeVar("_Result")
_WAITING = (Code.WOULD_BLOCK, Code.FLUSHING)
#: Who has waited comes back soon, as a rule: only behind this time does the connection's own thread stand in, seconds.
_GRACE = 0.02
#: How long that thread sleeps at most where others wait.
_SLEEP = 0.5
#: What Session.watch() finds: something to be written, or nothing for some time.
_IS_LEFT, _IS_OVER = 1, 2
_NOT_NOW = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)


class Group:
    """A group that this client has joined. `view` is the one with which it did; later ones are events."""

    def __init__(self, connection: "Connection", name: Name, view: GroupView) -> None:
        self._connection = connection
        self._session = connection._session
        self.name = name
        self.view = view

    def multicast(self, service: Service, payload: Payload, *, type: int = 0, self_discard: bool = False,
                  ticket: int = 0, headers: Headers = None, timeout: Optional[float] = None) -> None:
        """As Connection.multicast()."""
        code = self._session.multicast_gathering(self.name, payload, service, type, self_discard, ticket, headers)
        if code:
            self._connection._go_on_sending(code, self.name, payload, service, type, self_discard, ticket, headers,
                                            timeout)

    def try_multicast(self, service: Service, payload: Payload, *, type: int = 0, self_discard: bool = False,
                      ticket: int = 0, headers: Headers = None) -> bool:
        """As Connection.try_multicast()."""
        return self._connection.try_multicast(service, self.name, payload, type=type, self_discard=self_discard,
                                              ticket=ticket, headers=headers)

    def request(self, payload: Payload, **options: Any) -> Answers:
        """As Connection.request()."""
        return self._connection.request(self.name, payload, **options)

    def request_view(self) -> None:
        """As Connection.request_view()."""
        self._connection.request_view(self.name)

    def leave(self) -> None:
        """As Connection.leave()."""
        self._connection.leave(self.name)


class Feed:
    """A feed of this client's own: Connection.open_feed(). It outlives connections."""

    def __init__(self, connection: "Connection", number: int) -> None:
        self._connection = connection
        self.id = number

    def try_send(self, payload: Payload) -> bool:
        """Sends a message. False where there is no room: FeedWritable comes when there is."""
        with self._connection._calling() as session:
            code = session.send_feed(self.id, payload)
            if code == Code.WOULD_BLOCK:
                self._connection._look()
                code = session.send_feed(self.id, payload)
        if code and code != Code.WOULD_BLOCK:
            raise error_of(Code(code))
        return not code

    @property
    def is_open(self) -> bool:
        """Whether it can be sent to."""
        with self._connection._calling() as session:
            return session.feed_is_open(self.id)

    @property
    def flow(self) -> Optional[FeedFlow]:
        """How the network treats it, as far as that is known."""
        with self._connection._calling() as session:
            return session.feed_flow(self.id)

    @property
    def dropped(self) -> int:
        """How many messages were dropped for want of room."""
        with self._connection._calling() as session:
            return session.feed_dropped(self.id)

    def close(self) -> None:
        """Nothing more is sent."""
        with self._connection._calling() as session:
            session.close_feed(self.id)

    def __enter__(self) -> "Feed":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Bulk(Channels):
    """Offers and receives contents: `Connection.bulk`; see spindle.Bulk."""

    def __init__(self, connection: "Connection", engine: BulkEngine) -> None:
        super().__init__(engine)
        self._connection = connection

    def offer(self, group: Name, source: BulkSource, *, bytes_per_second: int = 0, weight: int = 10,
              linger: float = 60.0, timeout: Optional[float] = 30.0) -> ChannelId:
        """Offers a content to the members of a group; see spindle.Bulk.offer()."""
        return self._connection._wait_for(
            lambda: self._engine.offer(group, source, bytes_per_second, weight, linger, timeout),
            self._engine.withdraw)


class _Dialling:
    """An attempt to connect, of a thread of its own, as how long a resolver takes has no bound."""

    def __init__(self, address: Address, until: float) -> None:
        self.address = address
        self.until = until  # a time of time.monotonic()


class Connection:
    """The connection of a program to its daemon: connect() makes it. It is an iterator of events."""

    def __init__(self, options: Options) -> None:
        self._stream: Optional[socket.socket] = None
        self._dialling: Optional[_Dialling] = None  # what comes of any other is of no use
        self._wake_in, self._wake_out = socket.socketpair()
        self._options = options
        self._servers = options.servers()
        self._session = options.session()
        self._lock = threading.RLock()  # for all that follows; taken twice by `close` in a handler of signals only
        #: Whether this thread has: a handler of signals that has interrupted it must not change what that guards.
        self._has_lock: Callable[[], bool] = self._lock._is_owned  # type: ignore[attr-defined]
        self._news = threading.Condition(self._lock)
        self._idle = threading.Condition(self._lock)
        self._poller: Optional[int] = None  # the thread that polls: others wait for its news
        self._waiting = 0  # calls
        self._waited_at = 0.0  # the last one, until then
        self._sleeps_long = False  # the connection's own thread
        self._is_watching = False  # the same, for messages that have gathered
        self._is_urgent = False  # output waits that nobody may come back for
        self._has_failed = False  # writing; why is still to be read
        self._has_ended = False  # this direction
        self._results: dict[int, tuple[Optional[Code], Any]] = {}
        self._wanted: set[int] = set()  # calls whose results somebody waits for
        self._address = self._servers[0]  # of the daemon that the session is at
        self._channels: Optional[BulkEngine] = None
        self._wake_in.setblocking(False)
        self._wake_out.setblocking(False)

    # --- Events ---

    def __iter__(self) -> Iterator[Any]:
        while True:
            events = self._take(1, None)
            if not events:
                return
            yield events[0]

    def batches(self, most: int = 4096) -> Iterator[list[Any]]:
        """Lists of events, each of as many as wait, up to `most`."""
        if most < 1:
            raise ValueError("a list holds one event at least")
        while True:
            events = self._take(most, None)
            if not events:
                return
            yield events

    def receive(self, timeout: Optional[float] = None) -> Any:
        """The next event. Raises TimedOut, and NotConnected once Disconnected, the last event, was given. A timeout of
        0 does not wait."""
        events = self._take(1, timeout)
        if not events:
            raise error_of(Code.NOT_CONNECTED)
        return events[0]

    # --- Groups ---

    def join(self, group: Name, *, synchronous: bool = False, auto_flush: bool = False,
             timeout: Optional[float] = None) -> Group:
        """Joins, and waits for the view that shows it; see spindle.Connection.join()."""
        until = _patience.until(timeout)
        with self._calling() as session:
            self._ask(lambda: session.join(group, synchronous, auto_flush), group, until)
            view = self._result(session.await_join(group, _patience.left(until)))
        return Group(self, group, view)

    def join_nowait(self, group: Name, *, synchronous: bool = False, auto_flush: bool = False) -> None:
        """Asks to join, and waits for nothing but room to ask. The GroupView, or RequestFailed, is an event."""
        with self._calling() as session:
            self._ask(lambda: session.join(group, synchronous, auto_flush), group, self._send_until())

    def leave(self, group: Name) -> None:
        """Asks to leave. The last view of the group, of form FAREWELL, is an event."""
        with self._calling() as session:
            self._ask(lambda: session.leave(group), group, self._send_until())

    def request_view(self, group: Name) -> None:
        """Asks for all members of a group that this client is in: a GroupView of form ANSWER."""
        with self._calling() as session:
            self._ask(lambda: session.request_view(group), group, self._send_until())

    def request_flow(self, groups: Destinations) -> None:
        """Asks how the flow to these destinations fares: a FlowState."""
        with self._calling() as session:
            self._ask(lambda: session.request_flow(groups), groups, self._send_until())

    def flush_ok(self, request: FlushRequest) -> None:
        """Answers: from here to the next view of the group this client sends nothing to it."""
        with self._calling() as session:
            _check(session.flush_ok(request.group, request.number))

    # --- Sending ---

    def multicast(self, service: Service, groups: Destinations, payload: Payload, *, type: int = 0,
                  self_discard: bool = False, ticket: int = 0, headers: Headers = None,
                  timeout: Optional[float] = None) -> None:
        """Sends a message; see spindle.Connection.multicast(). It is written at once, as far as the socket takes it; of
        messages that follow one another within microseconds several are written together, by whoever is first to, some
        two milliseconds later at most."""
        code = self._session.multicast_gathering(groups, payload, service, type, self_discard, ticket, headers)
        if code:
            self._go_on_sending(code, groups, payload, service, type, self_discard, ticket, headers, timeout)

    def try_multicast(self, service: Service, groups: Destinations, payload: Payload, *, type: int = 0,
                      self_discard: bool = False, ticket: int = 0, headers: Headers = None) -> bool:
        """The same without waiting: False where there is no room, and nothing was sent."""
        with self._calling() as session:
            code = session.multicast(groups, payload, service, type, self_discard, ticket, headers, True)
            if code == Code.WOULD_BLOCK:
                self._look()
                code = session.multicast(groups, payload, service, type, self_discard, ticket, headers, False)
        if code == Code.WOULD_BLOCK:
            return False
        _check(code)
        return True

    def writable(self, groups: Destinations, *, timeout: Optional[float] = None) -> None:
        """Waits until it is worth trying to send to these destinations."""
        with self._calling() as session:
            self._result(session.await_room(groups, timeout))
            if not session.can_send:
                raise error_of(Code.NOT_CONNECTED)

    def request(self, groups: Destinations, payload: Payload, *, answers: int = 1, service: Service = Service.AGREED,
                type: int = 0, self_discard: bool = False, headers: Headers = None,
                timeout: Optional[float] = None) -> Answers:
        """Sends a request, and waits for answers; see spindle.Connection.request()."""
        until = _patience.until(timeout)
        call = 0
        with self._calling() as session:
            def ask() -> int:
                nonlocal call
                call = session.request(groups, payload, answers, service, type, self_discard, headers,
                                       _patience.left(until))
                return max(-call, 0)
            self._ask(ask, groups, until)
            code, value = self._outcome(call)
        found = Answers(*(value or ((), ())))
        if code is None:
            return found
        error = error_of(code)
        error.answers = found
        raise error

    def reply(self, request: Message, payload: Payload, *, type: int = 0, headers: Headers = None,
              timeout: Optional[float] = None) -> None:
        """Answers a message for which `is_request` holds, to its sender alone."""
        with self._calling() as session:
            self._ask(lambda: session.reply(request, payload, type, headers), request.sender,
                      self._send_until() if timeout is None else _patience.until(timeout))

    def confirm(self, timeout: Optional[float] = None) -> None:
        """Waits until the network has taken all that was sent before. Raises NotTakenError."""
        until = _patience.until(timeout)
        with self._calling() as session:
            call = session.confirm(timeout)
            if call < 0:
                lost, code = session.not_taken, Code(-call)
            else:
                ended, lost = self._outcome(call)
                code = ended or _patience.why_not_taken(until, session.can_send)
        if lost:
            raise NotTakenError(lost, code)

    # --- Feeds ---

    def open_feed(self, group: Name, *, repair_for: float = 0.2, bytes_per_second: int = 0, drop_oldest: bool = False,
                  timeout: float = 30.0) -> Feed:
        """Opens a feed; see spindle.Connection.open_feed()."""
        if repair_for < 0:
            raise error_of(Code.BAD_ARGUMENT)
        with self._calling() as session:
            number, call = session.open_feed(group, repair_for, bytes_per_second, drop_oldest)
            if call < 0:
                raise error_of(Code(-call))
            code: Optional[Code] = Code.INTERNAL_ERROR
            try:
                code, _ = self._outcome(call, _patience.until(timeout))
            finally:
                if code is not None:
                    session.close_feed(number)
        if code is not None:
            raise error_of(code)
        return Feed(self, number)

    def listen(self, group: Name, *, ordered: bool = True, deadline: float = 0.05) -> None:
        """Has this client hear the feeds of a group; see spindle.Connection.listen()."""
        if deadline < 0:
            raise error_of(Code.BAD_ARGUMENT)
        with self._calling() as session:
            _check(session.listen(group, ordered, deadline))

    def stop_listening(self, group: Name) -> None:
        """Nothing more is told of the feeds of that group."""
        with self._calling() as session:
            _check(session.stop_listening(group))

    # --- Bulk channels ---

    @property
    def bulk(self) -> Bulk:
        """Bulk channels: of a connection that was made with `bulk=True`."""
        if self._channels is None:
            raise error_of(Code.BAD_ARGUMENT, "the connection was made without bulk")
        return Bulk(self, self._channels)

    def _wait_for(self, call: Callable[[], _Result], drop: Callable[[_Result], None]) -> _Result:
        """Has a thread call what waits for the daemon, and moves bytes meanwhile. `drop`: what comes of it is of use to
        nobody."""
        done: list[_Result] = []
        failed: list[BaseException] = []
        is_left = False

        def run() -> None:
            try:
                result = call()
            except BaseException as error:
                failed.append(error)
            else:
                with self._lock:
                    done.append(result)
                    is_wanted = not is_left
                if not is_wanted:
                    drop(result)
            self._wake()

        assert self._channels is not None
        self._channels.callers.run(run, at_once=True)
        with self._calling():
            try:
                self._wait(lambda: bool(done or failed), None)
            except BaseException:
                is_left = True
                for each in done:
                    drop(each)
                raise
        if failed:
            raise failed[0]
        return done[0]

    # --- The end ---

    @property
    def private_name(self) -> str:
        """ "#name#daemon": others can multicast to it."""
        with self._lock:
            return self._session.private_name

    @property
    def is_open(self) -> bool:
        """Whether requests can be made: neither side has ended the connection."""
        with self._lock:
            return self._session.can_send

    def close(self, timeout: Optional[float] = None) -> NotTaken:
        """Ends the connection; see spindle.Connection.close(). In a handler of signals that has interrupted another
        call it does not wait: that call goes on to the end."""
        if self._is_within_call():
            with self._lock:
                self._session.close(self._options.disconnect_timeout if timeout is None else timeout)
                return self._leave_to_call()
        with self._calling() as session:
            session.close(self._options.disconnect_timeout if timeout is None else timeout)
            try:
                self._wait(lambda: session.is_over, None)
            except BaseException:
                session.hurry()
                session.handle_time()
                raise
            finally:
                if self._poller is None:
                    self._hang_up()
            lost = session.not_taken
        if self._channels is not None:
            self._channels.close()
        return lost

    def drain(self, timeout: float) -> NotTaken:
        """Leaves all groups, and closes once all was taken; see spindle.Connection.drain()."""
        if self._is_within_call():
            raise _interrupting()
        until = _patience.until(timeout)
        with self._calling() as session:
            try:
                self._wait(session.leave_all, until)
                self._wait(lambda: session.has_left_all, until)
            except BaseException:
                session.close(0)
                session.handle_time()
                raise
        return self.close(_patience.left(until))

    def __enter__(self) -> "Connection":
        return self

    def __exit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()

    def __del__(self) -> None:
        for each in (self._stream, self._wake_in, self._wake_out):
            if each is not None:
                each.close()

    # --- Handlers of signals, which may have interrupted any other function of this thread ---

    def _is_within_call(self) -> bool:
        """What the lock guards may be in the middle of a change, or no bytes go as long as the handler runs."""
        return self._has_lock() or self._poller == threading.get_ident()

    def _leave_to_call(self) -> NotTaken:
        """Has what was asked written, by whoever polls next at the latest. What has not entered the network."""
        self._is_urgent = True
        self._wake()
        return self._session.not_taken

    # --- Calls, of which the caller holds the lock ---

    @contextmanager
    def _calling(self) -> Iterator[Session]:
        """The session, with the lock; what the call has to say is written."""
        if self._has_lock():
            raise _interrupting()
        with self._lock:
            try:
                yield self._session
            finally:
                self._write_all()

    def _write_all(self) -> None:
        """Or has somebody else write what the socket does not take."""
        session = self._session
        is_blocked = self._write()
        is_news = self._waiting > 0 and (session.has_events or session.has_outcomes or session.is_over)
        if is_news:
            self._collect()
            self._news.notify_all()
        if is_blocked and (self._poller is not None or not self._waiting):
            self._have_written()
        elif is_news and self._poller is not None:
            self._wake()

    def _have_written(self) -> None:
        """By the thread that polls, or by the connection's own."""
        if self._poller is not None:
            self._wake()
        else:
            self._is_urgent = True
            if self._is_watching:
                self._session.call_back()
            self._idle.notify()

    def _have_gathered_written(self) -> None:
        """The same for messages that gather: the connection's own thread looks after them and those that follow."""
        if self._poller is not None:
            self._wake()
        else:
            self._is_watching = True
            self._idle.notify()

    def _go_on_sending(self, code: int, groups: Destinations, payload: Payload, service: Service, type: int,
                       self_discard: bool, ticket: int, headers: Headers, timeout: Optional[float]) -> None:
        """Behind Session.multicast_gathering(): has written what gathers there, or sends what was not."""
        if code < 0 and self._has_lock():
            self._leave_to_call()
            return
        with self._lock:
            if code == WRITE:
                self._write_all()
                self._session.wrote()
                return
            if code < 0:
                self._have_gathered_written()
                return
        with self._calling() as session:
            def attempt() -> int:
                return session.multicast(groups, payload, service, type, self_discard, ticket, headers, True)
            if code == Code.WOULD_BLOCK:
                self._write()
                code = attempt()
            if code:
                self._go_on_asking(code, attempt, groups,
                                   self._send_until() if timeout is None else _patience.until(timeout))

    def _send_until(self) -> Optional[float]:
        return _patience.until(self._options.send_timeout)

    def _ask(self, attempt: Callable[[], int], groups: Destinations, until: Optional[float]) -> None:
        self._go_on_asking(attempt(), attempt, groups, until)

    def _go_on_asking(self, code: int, attempt: Callable[[], int], groups: Destinations,
                      until: Optional[float]) -> None:
        while code in _WAITING:
            self._result(self._session.await_room(groups, _patience.left(until)))
            code = attempt()
        _check(code)

    def _result(self, call: int) -> Any:
        code, value = self._outcome(call)
        if code is not None:
            raise error_of(code)
        return value

    def _outcome(self, call: int, until: Optional[float] = None) -> tuple[Optional[Code], Any]:
        """What the call comes to. With `until`: TimedOut then."""
        self._wanted.add(call)
        try:
            self._collect()
            if not self._wait(lambda: call in self._results, until):
                return Code.TIMED_OUT, None
            return self._results[call]
        except BaseException:
            self._session.cancel(call)
            raise
        finally:
            self._wanted.discard(call)
            self._results.pop(call, None)

    def _collect(self) -> None:
        for call, code, value in self._session.take_outcomes():
            if call in self._wanted:
                self._results[call] = (code, value)

    def _take(self, most: int, timeout: Optional[float]) -> list[Any]:
        """Events; none once the last was taken."""
        session = self._session
        events: list[Any] = session.take_events(most)  # no other call goes between
        if events and not session.wants_owner:
            return events
        if self._has_lock():
            if not events:
                raise _interrupting()
            self._leave_to_call()
            return events
        with self._lock:
            if not events and not session.is_finished:
                until = _patience.until(timeout)
                if timeout is not None and timeout <= 0:
                    self._look()
                    events = session.take_events(most)
                while not events and not session.is_finished:
                    if not self._wait(lambda: session.has_events or session.is_finished, until):
                        raise error_of(Code.TIMED_OUT)
                    events = session.take_events(most)
            if session.wants_owner:
                self._write_all()
            return events

    # --- What moves bytes; the caller holds the lock ---

    def _wait(self, condition: Callable[[], bool], until: Optional[float]) -> bool:
        """Until it holds; False where the time is over. One thread of those that wait polls."""
        if condition():
            return True
        if self._poller == threading.get_ident():
            raise _interrupting()
        self._waiting += 1
        try:
            if self._poller is not None:
                self._wake()  # for what is new; the connection's own thread makes way
            while not condition():
                left = _patience.left(until)
                if left is not None and left <= 0:
                    return False
                if self._poller is not None:
                    self._news.wait(None if until is None else _patience.left_at_once(until))
                else:
                    self._poll(until)
            return True
        finally:
            self._waiting -= 1
            self._waited_at = time.monotonic()
            if not self._waiting and self._sleeps_long:
                self._idle.notify()

    def _look(self) -> None:
        """At what has come, and nobody has read, without waiting."""
        self._write()
        if self._poller is None and self._stream is not None:
            self._poll(time.monotonic())

    def _stand_in(self) -> None:
        """The connection's own thread. It sleeps long only while somebody waits for long: it has to be woken then."""
        sleep, seen = _GRACE, 0.0
        with self._lock:
            while not self._session.is_over:
                if not self._waiting and self._poller is None:
                    is_blocked = self._is_urgent and self._write()
                    self._is_urgent = False
                    if is_blocked or time.monotonic() - self._waited_at >= _GRACE:
                        self._poll(None)
                        continue
                    sleep = _GRACE
                else:
                    sleep = min(2 * sleep, _SLEEP) if self._waited_at == seen else _GRACE
                seen = self._waited_at
                self._sleeps_long = sleep > _GRACE and not self._is_watching
                if self._is_watching:
                    self._watch()
                else:
                    self._idle.wait(sleep)
            if self._poller is None:
                self._hang_up()

    def _watch(self) -> None:
        """Looks for a while after what gathers, and writes what is left of it."""
        self._lock.release()
        try:
            sight = self._session.watch()
        finally:
            self._lock.acquire()
        if sight == _IS_LEFT:
            self._write_all()
        self._is_watching = sight != _IS_OVER

    def _wake(self) -> None:
        """Has the thread that polls look again."""
        with suppress(OSError):  # it has been woken already, or all is over
            self._wake_out.send(b"x")

    def _poll(self, until: Optional[float]) -> None:
        """One turn: connects, writes, waits without the lock, and reads."""
        self._poller = threading.get_ident()
        try:
            self._turn(until)
        finally:
            self._poller = None
            self._collect()
            self._news.notify_all()

    def _turn(self, until: Optional[float]) -> None:
        session = self._session
        if session.take_hang_up():
            self._hang_up()
        server = session.take_dial()
        if server is not None:
            self._dial(server)
            return
        # Before the last look at what is to be written: who sends from here on has this thread woken.
        session.set_polled(True)
        try:
            is_blocked = self._write()
            if session.has_outcomes:
                return
            stream, dialling = self._stream, self._dialling
            wanted = (select.POLLIN if session.takes_bytes else 0) | (select.POLLOUT if is_blocked else 0)
            ready = self._sleep(until, wanted)
        finally:
            session.set_polled(False)
        if self._wake_in.fileno() in ready:
            self._wake_in.recv(4096)
        if self._channels is not None and session.bulk_descriptor in ready:
            _second.serve(session, self._options, self._address)
            self._write()
        if stream is not None and stream is self._stream:
            if wanted & select.POLLIN and (stream.fileno() in ready or isinstance(stream, ssl.SSLSocket)):
                self._read(stream)
            self._write()
        if dialling is not None and dialling is self._dialling and dialling.until <= time.monotonic():
            self._dialling = None
            session.failed(Code.TIMED_OUT, f"{dialling.address}: the daemon did not accept the connection in time")
        session.handle_time()
        if session.take_hang_up():
            self._hang_up()

    def _sleep(self, until: Optional[float], wanted: int) -> dict[int, int]:
        """Waits without the lock for the socket, as it is `wanted`, for a wake-up, or for the end of patience. What is
        ready."""
        session, stream, dialling = self._session, self._stream, self._dialling
        ends = [each for each in (until, _patience.until(session.deadline()), dialling.until if dialling else None)
                if each is not None]
        left = _patience.left_at_once(min(ends)) if ends else None
        poll = select.poll()
        poll.register(self._wake_in, select.POLLIN)
        if self._channels is not None:
            poll.register(session.bulk_descriptor, select.POLLIN)
        if stream is not None and wanted:
            poll.register(stream, wanted)
            if isinstance(stream, ssl.SSLSocket) and wanted & select.POLLIN and stream.pending():
                left = 0
        self._lock.release()
        try:
            return dict(poll.poll(None if left is None else left * 1000 + (left > 0)))
        finally:
            self._lock.acquire()

    def _read(self, stream: socket.socket) -> None:
        try:
            count = stream.recv_into(self._session.get_buffer())
        except _NOT_NOW:
            return
        except ssl.SSLError as error:
            self._session.end_stream(Code.TLS_FAILED, str(error))
            return
        except OSError:
            count = 0
        if count > 0:
            self._session.commit(count)
        else:
            self._session.end_stream(None, "")

    def _write(self) -> bool:
        """As much as the socket takes. Whether it takes no more."""
        session, stream = self._session, self._stream
        session.begin_writing()
        if stream is None or self._has_failed:
            return False
        while True:
            piece = session.output()
            if not piece:
                break
            try:
                session.consume(stream.send(piece))
            except _NOT_NOW:
                return True
            except OSError:
                self._has_failed = True  # reading tells why
                return False
        if session.ends_output and not self._has_ended:
            self._has_ended = True
            if not isinstance(stream, ssl.SSLSocket):
                with suppress(OSError):
                    stream.shutdown(socket.SHUT_WR)
        return False

    def _hang_up(self) -> None:
        self._dialling = None
        if self._stream is not None:
            self._stream.close()
            self._stream = None
        self._has_failed = self._has_ended = False

    def _dial(self, server: int) -> None:
        """Has a thread connect, which whoever waits does not wait for."""
        until = time.monotonic() + self._session.dial_time()
        self._dialling = dialling = _Dialling(self._servers[server], until)
        try:
            threading.Thread(target=self._connect, args=(dialling,), name="spindle-dial", daemon=True).start()
        except RuntimeError as error:  # there can be no more
            self._dialling = None
            self._session.failed(Code.CONNECT_FAILED, f"{dialling.address}: {error}")

    def _connect(self, dialling: _Dialling) -> None:
        """In that thread, which does not hold the lock."""
        address, token = dialling.address, b""
        stream: Optional[socket.socket] = None
        failure: Optional[Error] = None
        try:
            token = self._options.token_for(address)
            stream = connect_blocking(self._options, address, dialling.until)
        except Error as error:
            failure = error
        except Exception as error:  # such as a name of a host that cannot be one
            failure = error_of(Code.CONNECT_FAILED, f"{address}: {error}")
        with self._lock:
            if dialling is not self._dialling:
                if stream is not None:
                    stream.close()
                return
            self._dialling = None
            if failure is not None:
                self._session.failed(failure.code, failure.text)
            else:
                self._stream = stream
                self._address = address
                self._session.connected(token)
            self._write_all()
            self._have_written()  # and read

    def _open(self) -> "Connection":
        """Connects for the first time."""
        session = self._session
        with self._lock:
            until = time.monotonic() + self._options.connect_timeout
            session.start()
            try:
                if not self._wait(lambda: session.is_connected or session.is_over, until):
                    session.give_up(Code.TIMED_OUT, "the daemon did not welcome the client in time")
            except BaseException:
                session.give_up(Code.CANCELLED, "")
                self._hang_up()
                raise
            if session.is_over:
                self._hang_up()
                end = session.take_events(1 << 20)[-1]
                assert isinstance(end, Disconnected)
                raise error_of(end.code, end.text)
        try:
            if self._options.bulk:
                self._channels = BulkEngine(session, self._options)
            threading.Thread(target=self._stand_in, name="spindle", daemon=True).start()
        except BaseException:
            self.close()
            raise
        return self


def _interrupting() -> RuntimeError:
    return RuntimeError("a handler of signals has interrupted another call of this connection, and cannot wait: it may "
                        "close the connection, or leave a note for the program")


def _check(code: int) -> None:
    if code:
        raise error_of(Code(code))


def connect(*addresses: str, **options: Any) -> Connection:
    """As spindle.connect(), with the same options, and waits."""
    return Connection(options_of(addresses, options))._open()

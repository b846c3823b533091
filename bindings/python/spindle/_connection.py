"""A connection to a daemon, on a loop of asyncio."""
import asyncio
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Coroutine, Generator
from types import TracebackType
from typing import Any, Callable, Optional

from . import _patience, _second
from ._bulk import Bulk, BulkEngine
from ._codes import Code
from ._engine import EventStream, Message
from ._errors import NotTakenError, error_of
from ._events import Answers, Disconnected, FeedFlow, FlushRequest, GroupView, NotTaken, Service
from ._link import Link, LinkOwner, open_link
from ._options import Options, options_of
from ._types import Destinations, Headers, Name, Payload

#: Of a request: the answers of all members of the group are waited for.
ALL = 0

_WAITING = (Code.WOULD_BLOCK, Code.FLUSHING)
#: Events of a batch, at most.
_BATCH = 4096
#: What Session.gather(), and multicast_gathering(), have their caller do: to write at once. Any other negative number:
#: to see to it that somebody does soon.
WRITE = -1
#: What Session.commit() finds: nothing, events, or something else, for which all is looked at.
_EVERYTHING = 2

#: Futures, in their order.
_Waiters = dict["asyncio.Future[None]", None]


class Group:
    """A group that this client has joined. `view` is the one with which it did; later ones are events."""

    def __init__(self, connection: "Connection", name: Name, view: GroupView) -> None:
        self._connection = connection
        self.name = name
        self.view = view

    def multicast(self, service: Service, payload: Payload, *, type: int = 0, self_discard: bool = False,
                  ticket: int = 0, headers: Headers = None,
                  timeout: Optional[float] = None) -> Coroutine[Any, Any, None]:
        """As Connection.multicast()."""
        return self._connection.multicast(service, self.name, payload, type=type, self_discard=self_discard,
                                          ticket=ticket, headers=headers, timeout=timeout)

    def try_multicast(self, service: Service, payload: Payload, *, type: int = 0, self_discard: bool = False,
                      ticket: int = 0, headers: Headers = None) -> bool:
        """As Connection.try_multicast()."""
        return self._connection.try_multicast(service, self.name, payload, type=type, self_discard=self_discard,
                                              ticket=ticket, headers=headers)

    async def request(self, payload: Payload, **options: Any) -> Answers:
        """As Connection.request()."""
        return await self._connection.request(self.name, payload, **options)

    async def request_view(self) -> None:
        """As Connection.request_view()."""
        await self._connection.request_view(self.name)

    async def leave(self) -> None:
        """As Connection.leave()."""
        await self._connection.leave(self.name)

    def __repr__(self) -> str:
        return f"<spindle.Group {self.name!r} with {self.view.member_count} members when it was joined>"


class Feed:
    """A feed of this client's own: Connection.open_feed(). It outlives connections."""

    def __init__(self, connection: "Connection", number: int) -> None:
        self._connection = connection
        self.id = number

    def try_send(self, payload: Payload) -> bool:
        """Sends a message. False where there is no room: FeedWritable comes when there is."""
        connection = self._connection
        code = connection._session.send_feed(self.id, payload)
        connection._write()
        if code == Code.WOULD_BLOCK:
            return False
        if code:
            raise error_of(Code(code))
        return True

    @property
    def is_open(self) -> bool:
        """Whether it can be sent to."""
        return self._connection._session.feed_is_open(self.id)

    @property
    def flow(self) -> Optional[FeedFlow]:
        """How the network treats it, as far as that is known."""
        return self._connection._session.feed_flow(self.id)

    @property
    def dropped(self) -> int:
        """How many messages were dropped for want of room."""
        return self._connection._session.feed_dropped(self.id)

    def close(self) -> None:
        """Nothing more is sent."""
        self._connection._session.close_feed(self.id)
        self._connection._write()

    def __enter__(self) -> "Feed":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Connection(LinkOwner):
    """The connection of a program to its daemon: connect() makes it. All functions are for the loop that it was
    made on: from other threads by asyncio.run_coroutine_threadsafe().

    It is an asynchronous iterator of events: messages, and what else spindle's classes of events are. A task that is
    cancelled while it waits for one has taken none."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._servers = options.servers()
        self._session = options.session()
        self.get_buffer = self._session.get_buffer
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._is_debugged = self._loop.get_debug()  # all calls are held to the thread
        self._link: Optional[Link] = None
        self._dialling: Optional[asyncio.Task[None]] = None
        self._timer: Optional[asyncio.TimerHandle] = None
        self._timer_at = 0.0
        self._address = self._servers[0]  # of the daemon that the session is at
        self._channels: Optional[BulkEngine] = None
        self._serves_channels = False
        self._flush_is_due = False
        self._calls: dict[int, asyncio.Future[tuple[Optional[Code], Any]]] = {}
        self._event_waiters: _Waiters = {}
        self._change_waiters: _Waiters = {}

    # --- Events ---

    def __aiter__(self) -> AsyncIterator[Any]:
        return EventStream(self._session, self._wait_for_event, self._attend, 0)

    def batches(self, most: int = _BATCH) -> AsyncIterator[list[Any]]:
        """Lists of events, each of as many as wait, up to `most`: for programs that get very many."""
        if most < 1:
            raise ValueError("a list holds one event at least")
        return EventStream(self._session, self._wait_for_event, self._attend, most)

    async def receive(self, timeout: Optional[float] = None) -> Any:
        """The next event. Raises TimedOut, and NotConnected once Disconnected, the last event, was given. A timeout of
        0 does not wait."""
        events = await self._take(1, timeout)
        if not events:
            raise error_of(Code.NOT_CONNECTED)
        return events[0]

    # --- Groups ---

    async def join(self, group: Name, *, synchronous: bool = False, auto_flush: bool = False,
                   timeout: Optional[float] = None) -> Group:
        """Joins, and waits for the view that shows it. That view is an event, too, in its place. Raises what the daemon
        refuses it with. After TimedOut, or where it is cancelled, the request stands: what comes of it is an event.
        `auto_flush`: a FlushRequest of the group is answered as it is received."""
        until = _patience.until(timeout)
        await self._ask(lambda: self._session.join(group, synchronous, auto_flush), group, until)
        call = self._session.await_join(group, _patience.left(until))
        return Group(self, group, await self._result(call))

    async def join_nowait(self, group: Name, *, synchronous: bool = False, auto_flush: bool = False) -> None:
        """Asks to join, and waits for nothing but room to ask. The GroupView, or RequestFailed, is an event."""
        await self._ask(lambda: self._session.join(group, synchronous, auto_flush), group, self._send_until())

    async def leave(self, group: Name) -> None:
        """Asks to leave. The last view of the group, of form FAREWELL, is an event."""
        await self._ask(lambda: self._session.leave(group), group, self._send_until())

    async def request_view(self, group: Name) -> None:
        """Asks for all members of a group that this client is in: a GroupView of form ANSWER."""
        await self._ask(lambda: self._session.request_view(group), group, self._send_until())

    async def request_flow(self, groups: Destinations) -> None:
        """Asks how the flow to these destinations fares: a FlowState."""
        await self._ask(lambda: self._session.request_flow(groups), groups, self._send_until())

    def flush_ok(self, request: FlushRequest) -> None:
        """Answers: from here to the next view of the group this client sends nothing to it."""
        self._check(self._session.flush_ok(request.group, request.number))

    # --- Sending ---

    async def multicast(self, service: Service, groups: Destinations, payload: Payload, *, type: int = 0,
                        self_discard: bool = False, ticket: int = 0, headers: Headers = None,
                        timeout: Optional[float] = None) -> None:
        """Sends a message to groups, or private names, of one or several. Waits where there is no room, for
        send_timeout or `timeout`, or for the view that flush_ok() has made way for. A call that is cancelled has sent
        nothing."""
        if self._is_debugged:
            self._check_thread()
        code = self._session.multicast_gathering(groups, payload, service, type, self_discard, ticket, headers)
        if code < 0:
            self._write_as(code)
        elif code:
            await self._send_later(code, lambda: self._session.multicast(groups, payload, service, type, self_discard,
                                                                         ticket, headers, True), groups, timeout)

    def try_multicast(self, service: Service, groups: Destinations, payload: Payload, *, type: int = 0,
                      self_discard: bool = False, ticket: int = 0, headers: Headers = None) -> bool:
        """The same without waiting: False where there is no room, and nothing was sent. writable() waits for some; with
        independent flows FlowReady comes, too. Raises WouldBlock with the code FLUSHING where flush_ok() says so."""
        if self._is_debugged:
            self._check_thread()
        code = self._session.multicast_gathering(groups, payload, service, type, self_discard, ticket, headers)
        if code == Code.WOULD_BLOCK:
            self._check_thread()
            self._flush()  # the socket may have the room that the output has not
            code = self._session.multicast(groups, payload, service, type, self_discard, ticket, headers, False)
            if code == Code.WOULD_BLOCK:
                return False
            self._check(code)
        elif code < 0:
            self._write_as(code)
        elif code:
            raise error_of(Code(code))
        return True

    async def writable(self, groups: Destinations, *, timeout: Optional[float] = None) -> None:
        """Waits until it is worth trying to send to these destinations."""
        await self._result(self._session.await_room(groups, timeout))
        if not self._session.can_send:
            raise error_of(Code.NOT_CONNECTED)

    async def request(self, groups: Destinations, payload: Payload, *, answers: int = 1,
                      service: Service = Service.AGREED, type: int = 0, self_discard: bool = False,
                      headers: Headers = None, timeout: Optional[float] = None) -> Answers:
        """Sends a request, and waits for answers: one, as many as `answers` says, or with ALL those of all members of
        the group. No answer is an event. Raises TimedOut where they do not come in time; its `answers` has those that
        did."""
        until = _patience.until(timeout)
        call = 0

        def ask() -> int:
            nonlocal call
            call = self._session.request(groups, payload, answers, service, type, self_discard, headers,
                                         _patience.left(until))
            return max(-call, 0)

        await self._ask(ask, groups, until)
        code, value = await self._outcome(call)
        messages, missing = value or ((), ())
        found = Answers(messages, missing)
        if code is None:
            return found
        error = error_of(code)
        error.answers = found
        raise error

    async def reply(self, request: Message, payload: Payload, *, type: int = 0, headers: Headers = None,
                    timeout: Optional[float] = None) -> None:
        """Answers a message for which `is_request` holds, to its sender alone."""
        sender = request.sender
        await self._ask(lambda: self._session.reply(request, payload, type, headers), sender,
                        self._send_until() if timeout is None else _patience.until(timeout))

    async def confirm(self, timeout: Optional[float] = None) -> None:
        """Waits until the network has taken all that was sent before. Raises NotTakenError, which says how much it has
        not, also where some of it becomes unknown (Reconnected); code CONNECTION_LOST then."""
        until = _patience.until(timeout)
        call = self._session.confirm(timeout)
        if call < 0:
            lost, code = self._session.not_taken, Code(-call)
        else:
            ended, lost = await self._outcome(call)
            code = ended or _patience.why_not_taken(until, self._session.can_send)
        if lost:
            raise NotTakenError(lost, code)

    # --- Feeds ---

    async def open_feed(self, group: Name, *, repair_for: float = 0.2, bytes_per_second: int = 0,
                        drop_oldest: bool = False, timeout: float = 30.0) -> Feed:
        """Opens a feed to a group that this client may send to. What is lost on the way is repaired for `repair_for`
        seconds. `drop_oldest`: what there is no room for is kept, and the oldest that is kept is dropped for it."""
        if repair_for < 0:
            raise error_of(Code.BAD_ARGUMENT)
        number, call = self._session.open_feed(group, repair_for, bytes_per_second, drop_oldest)
        if call < 0:
            raise error_of(Code(-call))
        code: Optional[Code] = Code.INTERNAL_ERROR
        try:
            code, _ = await self._outcome(call, _patience.until(timeout))
        finally:
            if code is not None:
                self._session.close_feed(number)
                self._write()
        if code is not None:
            raise error_of(code)
        return Feed(self, number)

    def listen(self, group: Name, *, ordered: bool = True, deadline: float = 0.05) -> None:
        """Has this client hear the feeds of a group, as long as it is a member: FeedOpened, FeedPacket, FeedGap and
        FeedClosed. `ordered`: what comes behind a gap waits for what is missing, for `deadline` seconds."""
        if deadline < 0:
            raise error_of(Code.BAD_ARGUMENT)
        self._check(self._session.listen(group, ordered, deadline))

    def stop_listening(self, group: Name) -> None:
        """Nothing more is told of the feeds of that group."""
        self._check(self._session.stop_listening(group))

    # --- Bulk channels ---

    @property
    def bulk(self) -> Bulk:
        """Bulk channels: of a connection that was made with `bulk=True`."""
        if self._channels is None:
            raise error_of(Code.BAD_ARGUMENT, "the connection was made without bulk")
        return Bulk(self._channels)

    def _open_channels(self) -> None:
        self._channels = BulkEngine(self._session, self._options)
        self._loop.add_reader(self._session.bulk_descriptor, self._serve)
        self._serves_channels = True

    def _serve(self) -> None:
        _second.serve(self._session, self._options, self._address)
        self._attend()

    def _stop_serving(self) -> None:
        if self._serves_channels:
            self._serves_channels = False
            self._loop.remove_reader(self._session.bulk_descriptor)

    async def _close_channels(self) -> None:
        """Also where the caller is cancelled."""
        self._stop_serving()
        channels = self._channels
        if channels is None:
            return
        try:
            await channels.callers.call(channels.close, at_once=True)
        except RuntimeError:  # there can be no more threads
            channels.close()

    # --- The end ---

    @property
    def private_name(self) -> str:
        """ "#name#daemon": others can multicast to it."""
        return self._session.private_name

    @property
    def is_open(self) -> bool:
        """Whether requests can be made: neither side has ended the connection."""
        return self._session.can_send

    async def close(self, timeout: Optional[float] = None) -> NotTaken:
        """Ends the connection, in `timeout` or disconnect_timeout at most. Gives how many messages have not entered the
        network; it is false where all have. What came before can still be received, and Disconnected behind it."""
        self._session.close(self._options.disconnect_timeout if timeout is None else timeout)
        self._attend()
        try:
            while not self._session.is_over:
                await self._change()
        except BaseException:
            self._session.hurry()
            self._session.handle_time()
            self._attend()
            raise
        finally:
            await self._close_channels()
        return self._session.not_taken

    async def drain(self, timeout: float) -> NotTaken:
        """Goes without losing anything, in `timeout` at most: leaves all groups, waits for their last views, and closes
        once the network has taken all that was sent. Where it is cancelled it closes at once."""
        until = _patience.until(timeout)
        try:
            while not self._session.leave_all() and await self._change(until):
                pass
            self._attend()
            while not self._session.has_left_all and await self._change(until):
                pass
        except BaseException:
            self._session.close(0)
            self._session.handle_time()
            self._attend()
            raise
        return await self.close(_patience.left(until))

    async def __aenter__(self) -> "Connection":
        return self

    async def __aexit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException],
                        trace: Optional[TracebackType]) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"<spindle.Connection {self.private_name or 'without a name'}{'' if self.is_open else ', closed'}>"

    # --- Waiting ---

    def _check_thread(self) -> None:
        """Whatever waits, or has the loop do something, would otherwise harm it in silence."""
        if threading.get_ident() != self._thread:
            raise RuntimeError("this connection is of another thread's loop: asyncio.run_coroutine_threadsafe() calls "
                               "there, and spindle.sync has connections for several threads")

    def _send_until(self) -> Optional[float]:
        return _patience.until(self._options.send_timeout)

    def _check(self, code: int) -> None:
        if code:
            raise error_of(Code(code))
        self._write()

    async def _ask(self, attempt: Callable[[], int], groups: Destinations, until: Optional[float]) -> None:
        self._check_thread()
        code = attempt()
        while code in _WAITING:
            await self._result(self._session.await_room(groups, _patience.left(until)))
            code = attempt()
        self._check(code)

    async def _send_later(self, code: int, attempt: Callable[[], int], groups: Destinations,
                          timeout: Optional[float]) -> None:
        self._check_thread()
        if code == Code.WOULD_BLOCK:
            self._flush()
            code = attempt()
        until = self._send_until() if timeout is None else _patience.until(timeout)
        while code in _WAITING:
            await self._result(self._session.await_room(groups, _patience.left(until)))
            code = attempt()
        self._check(code)

    async def _result(self, call: int) -> Any:
        code, value = await self._outcome(call)
        if code is not None:
            raise error_of(code)
        return value

    async def _outcome(self, call: int, until: Optional[float] = None) -> tuple[Optional[Code], Any]:
        """What the call comes to. With `until`: TimedOut then."""
        self._check_thread()
        future: asyncio.Future[tuple[Optional[Code], Any]] = self._loop.create_future()
        self._calls[call] = future
        timer = None
        if until is not None:
            timer = self._loop.call_later(max(until - time.monotonic(), 0), self._end_call, call)
        self._attend()
        try:
            return await future
        except BaseException:
            if self._calls.pop(call, None) is not None:
                self._session.cancel(call)
                self._tell_outcomes()
            raise
        finally:
            if timer is not None:
                timer.cancel()

    def _end_call(self, call: int) -> None:
        future = self._calls.pop(call, None)
        if future is not None and not future.done():
            future.set_result((Code.TIMED_OUT, None))

    async def _wait(self, waiters: _Waiters, until: Optional[float]) -> bool:
        """False where the time is over."""
        if until is not None and until <= time.monotonic():
            return False
        future: asyncio.Future[None] = self._loop.create_future()
        waiters[future] = None
        timer = None
        if until is not None:
            timer = self._loop.call_later(until - time.monotonic(), _wake, {future: None})
        try:
            await future
        finally:
            waiters.pop(future, None)  # where nothing has come
            if timer is not None:
                timer.cancel()
        return True

    async def _change(self, until: Optional[float] = None) -> bool:
        """Waits until something has changed. False where the time is over."""
        return await self._wait(self._change_waiters, until)

    async def _take(self, most: int, timeout: Optional[float]) -> list[Any]:
        """Events; none once the last was taken."""
        self._check_thread()
        until = _patience.until(timeout)
        while True:
            events = self._session.take_events(most)
            if self._session.wants_owner:
                self._attend()
            if events or self._session.is_finished:
                return events
            self._attend()
            if not await self._wait(self._event_waiters, until):
                raise error_of(Code.TIMED_OUT)

    def _wait_for_event(self) -> Awaitable[None]:
        future: asyncio.Future[None] = self._loop.create_future()
        self._event_waiters[future] = None
        future.add_done_callback(self._forget_waiter)
        return future

    def _forget_waiter(self, future: "asyncio.Future[None]") -> None:
        """One that is cancelled, where nothing has come."""
        self._event_waiters.pop(future, None)

    # --- What moves bytes ---

    async def _open(self) -> "Connection":
        """Connects for the first time."""
        until = time.monotonic() + self._options.connect_timeout
        self._session.start()
        self._attend()
        try:
            while not self._session.is_connected and not self._session.is_over:
                if not await self._change(until) and not self._session.is_connected:
                    self._session.give_up(Code.TIMED_OUT, "the daemon did not welcome the client in time")
                    self._attend()
        except BaseException:
            self._session.give_up(Code.CANCELLED, "")
            self._attend()
            raise
        if not self._session.is_over:
            if self._options.bulk:
                try:
                    self._open_channels()
                except BaseException:
                    await self.close()
                    raise
            return self
        end = self._session.take_events(1 << 20)[-1]
        assert isinstance(end, Disconnected)
        raise error_of(end.code, end.text)

    def _attend(self) -> None:
        """Does what the session wants after any input."""
        session = self._session
        if session.take_hang_up():
            self._hang_up()
        server = session.take_dial()
        if server is not None:
            self._dialling = self._loop.create_task(self._dial(server))
        if session.has_outcomes:
            self._tell_outcomes()
        if self._serves_channels and session.is_over:
            self._stop_serving()
        if self._event_waiters and (session.has_events or session.is_finished):
            _wake(self._event_waiters)
        if self._change_waiters:
            _wake(self._change_waiters)
        if not self._flush_is_due and (session.output_size or session.ends_output):
            self._flush_soon()
        self._set_reading()
        self._set_timer()

    def _tell_outcomes(self) -> None:
        for call, code, value in self._session.take_outcomes():
            future = self._calls.pop(call, None)
            if future is not None and not future.done():
                future.set_result((code, value))

    async def _dial(self, server: int) -> None:
        until = time.monotonic() + self._session.dial_time()
        address = self._servers[server]
        try:
            token = self._options.token_for(address)
            opening = self._loop.create_task(open_link(self._options, address, until))
            try:
                done, _ = await asyncio.wait({opening}, timeout=max(until - time.monotonic(), 0.0))
            except BaseException:
                _drop(opening)
                raise
            if not done:
                _drop(opening)
                raise error_of(Code.TIMED_OUT, f"{address}: the daemon did not accept the connection in time")
            link = opening.result()
        except asyncio.CancelledError:
            raise
        except Exception as error:  # whatever a loop, or a resolver, makes of it
            code = getattr(error, "code", Code.CONNECT_FAILED)
            self._dialling = None
            self._session.failed(code, getattr(error, "text", str(error)))
        else:
            self._dialling = None
            self._link = link
            self._address = address
            self._session.connected(token)
            self._flush()
            link.attach(self)
        self._attend()

    def _hang_up(self) -> None:
        if self._dialling is not None:
            self._dialling.cancel()
            self._dialling = None
        if self._link is not None:
            self._link.let_go()
            self._link = None

    def _write(self) -> None:
        """What was asked just now: at once, or with what follows in this turn of the loop."""
        if self._is_debugged:
            self._check_thread()
        code = self._session.gather()
        if code < 0:
            self._write_as(code)

    def _write_as(self, code: int) -> None:
        self._check_thread()
        if code == WRITE:
            self._flush()
            self._session.wrote()
        elif not self._flush_is_due:
            self._flush_soon()

    def _flush_soon(self) -> None:
        """Output is written behind this turn of the loop, once."""
        self._flush_is_due = True
        self._loop.call_soon(self._flush_now)

    def _flush_now(self) -> None:
        self._flush_is_due = False
        self._flush()

    def _flush(self) -> None:
        link, session = self._link, self._session
        if link is None:
            return
        while not link.is_blocked and self._link is link:
            piece = session.take_output()  # what of it the other side gets is known to nobody but itself
            if not piece:
                break
            link.write(piece)
        if session.ends_output and not link.is_blocked:
            link.end_output()
        if session.has_outcomes or (self._event_waiters and session.has_events):
            self._attend()

    def _set_reading(self) -> None:
        if self._link is not None:
            self._link.set_reading(self._session.takes_bytes)

    def _set_timer(self) -> None:
        left = self._session.deadline()
        if left is None:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            return
        at = self._loop.time() + left
        if self._timer is not None:
            if self._timer_at <= at + 0.001:  # it finds out that it is early
                return
            self._timer.cancel()
        self._timer_at = at
        self._timer = self._loop.call_at(at, self._handle_time)

    def _handle_time(self) -> None:
        self._timer = None
        self._session.handle_time()
        self._attend()

    # LinkOwner.

    def buffer_updated(self, count: int) -> None:
        news = self._session.commit(count)
        if news == _EVERYTHING or self._change_waiters:
            self._attend()
        elif news and self._event_waiters:
            _wake(self._event_waiters)

    def link_lost(self, code: Optional[Code], text: str) -> None:
        self._session.end_stream(code, text)
        self._attend()

    def link_writable(self) -> None:
        self._flush()
        if self._change_waiters:
            _wake(self._change_waiters)


def _wake(waiters: _Waiters) -> None:
    for future in waiters:
        if not future.done():
            future.set_result(None)
    waiters.clear()


def _drop(opening: "asyncio.Task[Link]") -> None:
    """Nobody wants that link any more."""
    opening.cancel()
    opening.add_done_callback(lambda task: None if task.cancelled() or task.exception() else task.result().let_go())


class Connecting:
    """What connect() gives: `await` it, or use it as a context."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._connection: Optional[Connection] = None

    def __await__(self) -> Generator[Any, None, Connection]:
        return self._connect().__await__()

    async def _connect(self) -> Connection:
        return await Connection(self._options)._open()

    async def __aenter__(self) -> Connection:
        self._connection = await self._connect()
        return self._connection

    async def __aexit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException],
                        trace: Optional[TracebackType]) -> None:
        assert self._connection is not None
        await self._connection.__aexit__(kind, error, trace)


def connect(*addresses: str, **options: Any) -> Connecting:
    """Connects to a daemon:

        async with spindle.connect("unix:/run/spindle/spindle.4803", name="ann") as connection: ...
        connection = await spindle.connect("tls:alpha", "tls:beta")

    `addresses` are "unix:/path" or "/path", "tls:host:port" or "tls:host", "tcp:host:port" or "host"; the first is
    tried first. Without one: what SPINDLE_ADDRESS says, or the socket of a daemon of this host. Options, with what they
    are where nothing is said:

    name=""                  of the client, 1 to 64 printable characters; empty: the daemon chooses
    tls_bundle=""            for "tls:", a file with the CA certificates, and this client's certificate and key;
                             "": what SPINDLE_TLS_BUNDLE says
    tls_revocation_lists=""  a file with lists of revoked certificates; "": what SPINDLE_REVOCATION_LISTS says, or none
    ssl=None                 an SSLContext that is used instead of these two
    token=""                 by which the client proves who it is, by "tls:" and to unix sockets only; "": what
                             SPINDLE_TOKEN holds, or none
    connect_timeout=5.0      bounds connecting, in seconds, as all times
    reconnect_timeout=60.0   for how long a lost connection is tried to be had again; 0: its loss is the end
    resume=True              whether the daemon is asked to keep the session then
    keepalive=10.0           how often both sides show that they are there; 0: never
    send_timeout=None        how long sending waits for room; None: as long as it takes
    disconnect_timeout=1.0   how long close() waits for the daemon
    send_buffer=1048576      bytes beyond which sending waits
    receive_buffer=8388608   bytes of events beyond which nothing is read
    independent_flows=False  whether each set of destinations is a flow of its own
    slow_policy=SlowPolicy.DAEMON_DEFAULT   what the daemon does where this client does not read
    bulk=False               whether there are bulk channels; a BulkOptions says how
    """
    return Connecting(options_of(addresses, options))

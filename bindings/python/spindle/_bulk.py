"""Bulk channels: large content from one client to the members of a group. docs/bulk.md is the guide."""
import asyncio
import atexit
import os
import threading
import weakref
from collections import deque
from contextlib import suppress
from typing import Any, Callable, Optional, TypeVar, Union

from . import _engine
from ._codes import Code
from ._errors import error_of
from ._events import ChannelId
from ._options import Options
from ._types import Name

_FILE, _DIRECTORY, _BYTES, _STREAM = range(4)
#: Seconds that are as good as for ever.
_EVER = 1e9
#: That wait at once, at most; each has a thread.
_CALLS = 32

_Result = TypeVar("_Result")
Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]


class BulkSource:
    """What is offered. Its functions make one."""

    def __init__(self, kind: int, content: Any, name: str, spool: Path = "", leave_out: bool = False) -> None:
        self._kind = kind
        self._content = content
        self._name = name
        self._spool = spool
        self._leave_out = leave_out
        #: Of a directory, what was not offered, as paths below it.
        self.left_out: tuple[str, ...] = ()

    @classmethod
    def file(cls, path: Path, *, name: str = "") -> "BulkSource":
        """A regular file, by the last part of its path or by `name`. It is read while it is sent, and must not change
        before the channel has ended: one that has changed ends it."""
        return cls(_FILE, os.fsencode(path), name)

    @classmethod
    def directory(cls, path: Path, *, name: str = "", leave_out: bool = False) -> "BulkSource":
        """A directory with all that is in it: files, whether their owner may execute them, and directories. What is
        neither, symbolic links above all, cannot be offered: offer() raises FILE_FAILED, or with `leave_out` puts the
        paths into `left_out`."""
        return cls(_DIRECTORY, os.fsencode(path), name, leave_out=leave_out)

    @classmethod
    def bytes(cls, content: Any, *, name: str = "") -> "BulkSource":
        """Whatever has a buffer, of which a copy is made."""
        return cls(_BYTES, content, name)

    @classmethod
    def stream(cls, read: Callable[[int], Any], *, name: str = "", spool: Path = "") -> "BulkSource":
        """A content whose size is not known: `read(n)` gives up to n bytes, none at its end, as that of a binary file
        does; None: there are none at present, ask again. A thread of its own calls it; what it raises ends the channel.
        Blocks of 8 MiB are sent as soon as they are whole. Where `spool` is the path of a file, which must not be
        there, everything is kept in it, without a name, until the channel has ended; otherwise the last 8 blocks
        are."""
        return cls(_STREAM, read, name, spool)


class BulkSink:
    """Where a content goes that is received. Its functions make one."""

    def __init__(self, kind: int, where: Any, most: int = 0) -> None:
        self._kind = kind
        self._where = where
        self._most = most

    @classmethod
    def file(cls, path: Path) -> "BulkSink":
        """The file, or for a directory the directory, of that path."""
        return cls(_FILE, os.fsencode(path))

    @classmethod
    def directory(cls, path: Path) -> "BulkSink":
        """In that directory, by the name that the source has offered. Where that can be none accept() raises
        BAD_CONTENT_NAME. What is not whole yet is "NAME.spindle-part": who accepts the same content there once more
        goes on with it."""
        return cls(_DIRECTORY, os.fsencode(path))

    @classmethod
    def memory(cls, most: int = 64 << 20) -> "BulkSink":
        """BulkReceived.content, of up to `most` bytes."""
        return cls(_BYTES, b"", most)

    @classmethod
    def stream(cls, write: Callable[["bytes"], Any]) -> "BulkSink":
        """`write(block)` is called with each block, in order, by a worker; what it raises ends the receiving. Each
        block is right by its hash; whether all is what the source has offered says BulkReceived."""
        return cls(_STREAM, write)


class Callers:
    """Threads for calls that may wait. A program that ends does not wait for them first, as it does for those of an
    executor: their calls are told to end then."""

    def __init__(self, most: int) -> None:
        self._lock = threading.Lock()  # for all that follows
        self._left = most
        self._waiting: deque[Callable[[], None]] = deque()
        self._threads: set[threading.Thread] = set()

    def run(self, work: Callable[[], None], *, at_once: bool = False) -> None:
        """Has a thread call what raises nothing; `at_once`: however many there are. Raises RuntimeError where there can
        be no more."""
        thread = threading.Thread(target=self._serve, args=(work,), name="spindle-call", daemon=True)
        with self._lock:
            if self._left <= 0 and not at_once:
                self._waiting.append(work)
                return
            self._left -= 1
            self._threads.add(thread)
        try:
            thread.start()
        except RuntimeError:
            with self._lock:
                self._note_end(thread)
            raise

    def call(self, call: Callable[[], _Result], *, at_once: bool = False) -> "asyncio.Future[_Result]":
        """The same for the loop that runs: what the call comes to."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[_Result] = loop.create_future()

        def tell(result: Any, error: Optional[BaseException]) -> None:
            if future.done():
                return
            if error is None:
                future.set_result(result)
            else:
                future.set_exception(error)

        def work() -> None:
            result, error = None, None
            try:
                result = call()
            except BaseException as caught:
                error = caught
            with suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(tell, result, error)
        self.run(work, at_once=at_once)
        return future

    def _serve(self, work: Callable[[], None]) -> None:
        while True:
            work()
            with self._lock:
                if self._left < 0 or not self._waiting:
                    self._note_end(threading.current_thread())
                    return
                work = self._waiting.popleft()

    def _note_end(self, thread: threading.Thread) -> None:
        self._left += 1
        self._threads.discard(thread)

    def join(self) -> None:
        """Waits for those that there are, whose calls have been told to end."""
        with self._lock:
            threads = list(self._threads)
        for each in threads:
            each.join()


class BulkEngine:
    """The threads of a connection's channels, for both forms of it."""

    def __init__(self, session: _engine.Session, options: Options) -> None:
        how = options.bulk_options()
        self._process = os.getpid()
        #: For calls that wait: the executor of the loop is for resolvers, too, without which nobody connects.
        self.callers = Callers(_CALLS)
        self.engine = _engine.Bulk(session, how.workers, how.keep_hashes, os.fsencode(how.hash_directory))
        _ENGINES.add(self)

    def offer(self, group: Name, source: BulkSource, bytes_per_second: int, weight: int, linger: float,
              timeout: Optional[float]) -> ChannelId:
        """Waits for the daemon, in a thread that may."""
        if bytes_per_second < 0 or linger < 0 or not 0 <= weight < 1 << 32:
            raise error_of(Code.BAD_ARGUMENT)
        code, text, channel, left_out = self.engine.offer(
            group, source._kind, source._content, source._name, os.fsencode(source._spool), source._leave_out,
            bytes_per_second, weight, linger, _EVER if timeout is None else timeout)
        source.left_out = left_out
        if code:
            raise error_of(Code(code), text)
        assert channel is not None
        return channel

    def accept(self, channel: ChannelId, sink: BulkSink, replace: bool, serve: bool) -> None:
        _check(self.engine.accept(channel, sink._kind, sink._where, sink._most, replace, serve))

    def refuse(self, channel: ChannelId) -> None:
        _check(self.engine.refuse(channel))

    def cancel(self, channel: ChannelId) -> None:
        _check(self.engine.cancel(channel))

    def set_rate(self, channel: ChannelId, bytes_per_second: int) -> None:
        if bytes_per_second < 0:
            raise error_of(Code.BAD_ARGUMENT)
        _check(self.engine.set_rate(channel, bytes_per_second))

    def withdraw(self, channel: ChannelId) -> None:
        """Nobody has waited for it."""
        self.engine.cancel(channel)

    def close(self) -> None:
        """Waits until jobs that have begun are over. Calls that wait end."""
        if self._process == os.getpid():  # elsewhere its threads are not there
            self.engine.close()


_ENGINES: "weakref.WeakSet[BulkEngine]" = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    """No thread may want Python when that is going."""
    for each in list(_ENGINES):
        each.close()
        each.callers.join()


def _check(code: int) -> None:
    if code:
        raise error_of(Code(code))


class Channels:
    """What both forms of a connection say of its channels in the same words."""

    def __init__(self, engine: BulkEngine) -> None:
        self._engine = engine

    def accept(self, channel: ChannelId, sink: BulkSink, *, replace: bool = False, serve: bool = True) -> None:
        """Receives what was offered; BulkReceived tells of its end. `replace`: a file of that name may be replaced;
        `serve`: this client sends what it has to other receivers."""
        self._engine.accept(channel, sink, replace, serve)

    def refuse(self, channel: ChannelId) -> None:
        """Tells all that this client will not receive it. Who neither accepts nor refuses is waited for."""
        self._engine.refuse(channel)

    def cancel(self, channel: ChannelId) -> None:
        """Ends a channel that this client has offered."""
        self._engine.cancel(channel)

    def set_rate(self, channel: ChannelId, bytes_per_second: int) -> None:
        """Changes what offer() was given."""
        self._engine.set_rate(channel, bytes_per_second)


class Bulk(Channels):
    """Offers and receives contents: `Connection.bulk`. What becomes of them are events of the connection: BulkOffered,
    BulkProgress, BulkStalled, BulkReceived, BulkComplete, BulkReturned, BulkEnded.

    The content goes over a second connection to the daemon, which threads of the module read and write: the loop is not
    held up by it, nor Python's lock, but for streams of the program's own and TLS."""

    async def offer(self, group: Name, source: BulkSource, *, bytes_per_second: int = 0, weight: int = 10,
                    linger: float = 60.0, timeout: Optional[float] = 30.0) -> ChannelId:
        """Offers a content to the members of a group, and waits until the daemon has taken the offer. This client need
        not be a member, and gets no BulkOffered of its own. `bytes_per_second`: the most that this client sends of it,
        0: as much as goes; `weight`: 1 to 100, its share beside other channels; `linger`: how long the channel stays
        once it is complete, for members that come later. Cancelled, it offers nothing, or takes it back."""
        offering = self._engine.callers.call(
            lambda: self._engine.offer(group, source, bytes_per_second, weight, linger, timeout))
        try:
            return await asyncio.shield(offering)
        except asyncio.CancelledError:
            offering.add_done_callback(self._take_back)
            raise

    def _take_back(self, offering: "asyncio.Future[ChannelId]") -> None:
        if not offering.cancelled() and offering.exception() is None:
            self._engine.withdraw(offering.result())

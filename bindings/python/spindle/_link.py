"""One stream of bytes to a daemon, on a loop of asyncio."""
import asyncio
import os
import socket
import time
from typing import Any, Callable, Optional, cast

from . import _patience, _tls
from ._address import Address
from ._blocking import check_owner, why_unconnected
from ._codes import Code
from ._errors import Error, error_of
from ._options import Options


class LinkOwner:
    """Who is told of what a link gets. After let_go() nobody is."""

    get_buffer: Callable[[int], memoryview]

    def buffer_updated(self, count: int) -> None:
        raise NotImplementedError

    def link_lost(self, code: Optional[Code], text: str) -> None:
        """`code`: where it was not just the other side that has closed it."""
        raise NotImplementedError

    def link_writable(self) -> None:
        raise NotImplementedError


class Link(asyncio.BufferedProtocol):
    """Bytes go from the socket into the memory that messages share. What is written is given to the transport piece by
    piece, the next one when the former is gone."""

    def __init__(self) -> None:
        self._owner: Optional[LinkOwner] = None
        self._transport: Optional[asyncio.Transport] = None
        self._end: Optional[tuple[Optional[Code], str]] = None  # that the owner is to be told
        self._rest: Optional[socket.socket] = None  # where writing has failed: what is read from then
        self._is_paused = True
        self._has_ended = False  # this direction
        self.is_blocked = False

    # What the owner does.

    def attach(self, owner: LinkOwner) -> None:
        """Only from here on anything is read, or told."""
        self._owner = owner
        # What is read takes no way round by the methods below.
        self.__dict__.update(get_buffer=owner.get_buffer, buffer_updated=owner.buffer_updated)
        if self._end is None:
            self.set_reading(True)
        else:
            asyncio.get_running_loop().call_soon(self._tell_end)

    def write(self, piece: bytes) -> None:
        assert self._transport is not None
        if not self._transport.is_closing():
            self._transport.write(piece)

    def end_output(self) -> None:
        if self._has_ended or self._transport is None:
            return
        self._has_ended = True
        if self._transport.can_write_eof():
            self._transport.write_eof()

    def set_reading(self, on: bool) -> None:
        if self._transport is None or self._is_paused is not on:
            return
        if self._rest is not None:
            self._is_paused = not on
            loop = asyncio.get_running_loop()
            if on:
                loop.add_reader(self._rest, self._read_rest)
            else:
                loop.remove_reader(self._rest)
            return
        if self._transport.is_closing():
            return
        self._is_paused = not on
        if on:
            self._transport.resume_reading()
        else:
            self._transport.pause_reading()

    def let_go(self) -> None:
        """Nothing is told any more."""
        self._owner = None
        for name in ("get_buffer", "buffer_updated"):
            self.__dict__.pop(name, None)
        self._end = None
        self._close_rest()
        if self._transport is not None:
            self._transport.abort()

    # What the loop tells.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        # Not 0: a transport of TLS that holds nothing would say that it holds as much.
        self._transport.set_write_buffer_limits(high=1, low=0)
        self._transport.pause_reading()

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._owner.get_buffer(sizehint) if self._owner is not None else memoryview(bytearray(1 << 16))

    def buffer_updated(self, nbytes: int) -> None:
        if self._owner is not None:
            self._owner.buffer_updated(nbytes)

    def eof_received(self) -> Optional[bool]:
        self._note_end(None, "")
        return False

    def connection_lost(self, exc: Optional[Exception]) -> None:
        if exc is not None and self._go_on_reading():
            return
        failure = _tls.failure_of(exc) if exc is not None else None
        self._note_end(failure.code if failure else None, failure.text if failure else "")

    def _go_on_reading(self) -> bool:
        """Where writing has failed the transport reads no more; what the daemon has said before, and is still to come,
        may say why."""
        assert self._transport is not None
        found = self._transport.get_extra_info("socket")
        if self._owner is None or found is None or self._transport.get_extra_info("ssl_object") is not None:
            return False
        try:
            self._rest = socket.socket(fileno=os.dup(found.fileno()))
            self._rest.setblocking(False)
            if not self._is_paused:
                asyncio.get_running_loop().add_reader(self._rest, self._read_rest)
        except (OSError, NotImplementedError):  # no descriptor is left, or a loop has no such thing
            self._close_rest()
            return False
        return True

    def _read_rest(self) -> None:
        if self._owner is None or self._rest is None:
            return
        try:
            count = self._rest.recv_into(self._owner.get_buffer(-1))
        except BlockingIOError:
            return
        except OSError:
            count = 0
        if count > 0:
            self._owner.buffer_updated(count)
        else:
            self._close_rest()
            self._note_end(None, "")

    def _close_rest(self) -> None:
        if self._rest is None:
            return
        if not self._is_paused:
            asyncio.get_running_loop().remove_reader(self._rest)
        self._rest.close()
        self._rest = None

    def _note_end(self, code: Optional[Code], text: str) -> None:
        if self._end is None:
            self._end = (code, text)
            self._tell_end()

    def _tell_end(self) -> None:
        if self._owner is not None and self._end is not None:
            self._owner.link_lost(*self._end)

    def pause_writing(self) -> None:
        self.is_blocked = True

    def resume_writing(self) -> None:
        self.is_blocked = False
        if self._owner is not None:
            self._owner.link_writable()


async def _connect_unix(address: Address, until: float) -> socket.socket:
    found = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    found.setblocking(False)
    try:
        while True:
            try:
                found.connect(address.path)
                break
            except BlockingIOError:  # the daemon has not accepted as many as may wait
                if time.monotonic() >= until:
                    raise error_of(Code.TIMED_OUT,
                                   f"{address}: the daemon did not accept the connection in time") from None
                await asyncio.sleep(0.01)
        check_owner(address, found)
    except BaseException:
        found.close()
        raise
    return found


async def _addresses_of(address: Address) -> list[Any]:
    """Of the host. One that is an address itself takes no thread."""
    try:
        return socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
    except socket.gaierror:
        return await asyncio.get_running_loop().getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)


async def _connect_tcp(address: Address, until: float) -> socket.socket:
    """To the first address of the host that answers. Each has its share of the time, so that one that says nothing
    leaves some to others."""
    loop = asyncio.get_running_loop()
    addresses = await _addresses_of(address)
    last: Exception = OSError("the host has no address")
    for i, (family, kind, protocol, _, where) in enumerate(addresses):
        found = None
        try:
            found = socket.socket(family, kind, protocol)
            found.setblocking(False)
            found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            share = _patience.left_at_once(until) / (len(addresses) - i)
            await asyncio.wait_for(loop.sock_connect(found, where), share)
            return found
        except BaseException as error:
            if found is not None:
                found.close()
            if isinstance(error, asyncio.TimeoutError):
                last = error_of(Code.TIMED_OUT, f"{address}: the daemon did not accept the connection in time")
            elif isinstance(error, OSError):
                last = error
            else:
                raise
    raise last


async def open_link(options: Options, address: Address, until: float) -> Link:
    """Connects, and raises an Error where that fails. `until` is a time of time.monotonic()."""
    loop = asyncio.get_running_loop()
    link = Link()
    try:
        if address.path:
            await loop.create_unix_connection(lambda: link, sock=await _connect_unix(address, until))
        elif address.is_protected:
            context = options.tls_context()
            transport, _ = await loop.create_connection(lambda: link, sock=await _connect_tcp(address, until),
                                                        ssl=context, server_hostname=address.host)
            _tls.check_daemon(transport.get_extra_info("ssl_object"), context)
        else:
            await loop.create_connection(lambda: link, sock=await _connect_tcp(address, until))
    except BaseException as error:
        link.let_go()
        if isinstance(error, OSError) and not isinstance(error, Error):
            raise why_unconnected(address, error) from error
        raise
    return link

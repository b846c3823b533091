"""Connecting without a loop."""
import os
import socket
import ssl
import struct
import time

from . import _patience, _tls
from ._address import Address
from ._codes import Code
from ._errors import Error, error_of
from ._options import Options


def _timeout(until: float) -> float:
    """Of a socket, for which 0 is not to block."""
    return max(_patience.left_at_once(until), 0.001)


def _connect_unix(address: Address, until: float) -> socket.socket:
    stream = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        stream.settimeout(_timeout(until))
        while True:
            try:
                stream.connect(address.path)
                break
            except BlockingIOError:  # the daemon has not accepted as many as may wait
                if time.monotonic() >= until:
                    raise error_of(Code.TIMED_OUT,
                                   f"{address}: the daemon did not accept the connection in time") from None
                time.sleep(0.01)
        check_owner(address, stream)
    except BaseException:
        stream.close()
        raise
    return stream


def _connect_tcp(address: Address, until: float) -> socket.socket:
    """To the first address of the host that answers. Each has its share of the time, so that one that says nothing
    leaves some to others."""
    found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    last: OSError = OSError("the host has no address")
    for i, (family, kind, protocol, _, where) in enumerate(found):
        stream = None
        try:
            stream = socket.socket(family, kind, protocol)
            stream.settimeout(_timeout(until) / (len(found) - i))
            stream.connect(where)
            stream.settimeout(_timeout(until))
            stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return stream
        except BaseException as error:
            if stream is not None:
                stream.close()
            if not isinstance(error, OSError):
                raise
            last = error
    raise last


def check_owner(address: Address, stream: socket.socket) -> None:
    """Raises where the address was not said, and somebody listens there whom there is no reason to trust."""
    if not address.is_anybodys:
        return
    _, user, _ = struct.unpack("3i", stream.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    if user not in (0, os.geteuid()):
        raise error_of(Code.CONNECT_FAILED, f"{address}: user {user} listens there, who is neither root nor you, where "
                                            "anybody could; say the path to trust that daemon all the same")


def why_unconnected(address: Address, error: OSError) -> Error:
    if isinstance(error, ssl.SSLError):  # of which certificates that are wrong are a kind
        return error_of(Code.TLS_FAILED, f"{address}: {error}")
    if address.is_default and isinstance(error, FileNotFoundError):
        return error_of(Code.CONNECT_FAILED, f"no daemon is at {address}: is spindled running? Otherwise name its "
                                             'address (connect("ADDRESS"), SPINDLE_ADDRESS)')
    return error_of(Code.CONNECT_FAILED, f"{address}: {error.strerror or error}")


def _protect(options: Options, address: Address, plain: socket.socket) -> socket.socket:
    context = options.tls_context()
    stream = context.wrap_socket(plain, server_hostname=address.host)
    try:
        _tls.check_daemon(stream, context)
    except BaseException:
        stream.close()
        raise
    return stream


def connect_blocking(options: Options, address: Address, until: float) -> socket.socket:
    """A socket that does not block, connected; raises an Error. `until` is a time of time.monotonic(); how long a
    resolver takes is its own affair."""
    stream = None
    try:
        if address.path:
            stream = _connect_unix(address, until)
        else:
            stream = _connect_tcp(address, until)
            if address.is_protected:
                stream = _protect(options, address, stream)
        stream.setblocking(False)
        return stream
    except BaseException as error:
        if stream is not None:
            stream.close()
        if isinstance(error, Error):
            raise
        if isinstance(error, (TimeoutError, socket.timeout)):
            raise error_of(Code.TIMED_OUT, f"{address}: the daemon did not accept the connection in time") from error
        if isinstance(error, OSError):
            raise why_unconnected(address, error) from error
        raise

"""The second connection to a daemon, on which the content of bulk channels goes."""
import os
import ssl
import threading
import time

from ._address import Address
from ._blocking import connect_blocking
from ._engine import Session
from ._options import Options

_NOT_NOW = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)
#: As much as TLS protects at once: what it could not write is to be written again, and no less.
_RECORD = 1 << 14


class Protected:
    """A stream of TLS, as the module reads and writes it, in a thread of its own and without waiting: how many bytes,
    and whether it is over."""

    def __init__(self, stream: ssl.SSLSocket) -> None:
        self._stream = stream

    def read(self, space: memoryview) -> tuple[int, bool]:
        count = 0
        try:
            while count < len(space):
                found = self._stream.recv_into(space[count:])
                if found == 0:
                    return count, True
                count += found
        except _NOT_NOW:
            pass
        except (ssl.SSLEOFError, ssl.SSLZeroReturnError):
            return count, True
        return count, False

    def write(self, piece: memoryview) -> tuple[int, bool]:
        count = 0
        try:
            while count < len(piece):
                count += self._stream.send(piece[count:count + _RECORD])
        except _NOT_NOW:
            pass
        return count, False

    def __del__(self) -> None:
        self._stream.close()


def _dial(session: Session, number: int, options: Options, address: Address) -> None:
    descriptor, protected = -1, None
    try:
        stream = connect_blocking(options, address, time.monotonic() + options.connect_timeout)
        if isinstance(stream, ssl.SSLSocket):
            descriptor, protected = os.dup(stream.fileno()), Protected(stream)
        else:
            descriptor = stream.detach()
    except Exception:  # whatever it is: there is another try in a while
        pass
    session.bulk_dialled(number, descriptor, protected)


def serve(session: Session, options: Options, address: Address) -> None:
    """Does what threads of bulk channels want of the session, which is at a daemon of that address."""
    session.serve_channels()
    while True:
        number = session.take_bulk_dial()
        if number is None:
            return
        try:
            threading.Thread(target=_dial, args=(session, number, options, address), name="spindle-dial",
                             daemon=True).start()
        except RuntimeError:  # there can be no more; there is another try in a while
            session.bulk_dialled(number, -1, None)

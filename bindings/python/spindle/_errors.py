"""What is raised. Each code is an Error, and where Python has a class for it, of that class, too."""
import asyncio
from typing import Any, Optional

from ._codes import Code
from ._events import Answers, NotTaken


class Error(Exception):
    """Something that the library, or the daemon, says: `code` says what, `text` in words."""

    code: Code
    text: str
    #: Of a request that did not get all that it wanted: what came.
    answers: Optional[Answers] = None

    def __init__(self, code: Code, text: Optional[str] = None) -> None:
        self.code = code
        self.text = text or code.text
        super().__init__(self.text)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.code, self.text)


# Before Python 3.11 a timeout of asyncio is another class.
_TIMEOUTS: tuple[type[BaseException], ...] = tuple({asyncio.TimeoutError: None, TimeoutError: None})


class TimedOut(Error, *_TIMEOUTS):  # type: ignore[misc]
    """What was waited for did not come in time."""


class NotConnected(Error, ConnectionError):
    """There is no connection, or it cannot be had."""


class AccessDenied(Error, PermissionError):
    """The daemon does not allow it, or does not believe who asks."""


class WouldBlock(Error, BlockingIOError):
    """There is no room now: nothing was sent."""


class BadArgument(Error, ValueError):
    """What was asked for cannot be."""


class NotTakenError(Error):
    """Messages have not entered the network: `not_taken` says how many."""

    not_taken: NotTaken

    def __init__(self, not_taken: NotTaken, code: Code = Code.TIMED_OUT) -> None:
        super().__init__(code, f"{not_taken.messages} messages have not entered the network")
        self.not_taken = not_taken

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.not_taken, self.code)


_CLASSES: dict[Code, type[Error]] = {
    Code.WOULD_BLOCK: WouldBlock,
    Code.FLUSHING: WouldBlock,
    **dict.fromkeys((Code.TIMED_OUT, Code.FLUSH_TIMEOUT, Code.HANDSHAKE_TIMEOUT), TimedOut),
    **dict.fromkeys((Code.NOT_CONNECTED, Code.CONNECT_FAILED, Code.CONNECTION_LOST, Code.CLOSED_BY_CLIENT,
                     Code.DAEMON_STOPPING, Code.SILENT_PEER, Code.TLS_FAILED), NotConnected),
    **dict.fromkeys((Code.ACCESS_DENIED, Code.IDENTITY_MISMATCH, Code.TOKEN_UNKNOWN, Code.TOKEN_EXPIRED,
                     Code.TOKEN_MISSING, Code.TOKEN_EXPOSED), AccessDenied),
    **dict.fromkeys((Code.BAD_ARGUMENT, Code.BAD_ADDRESS, Code.BAD_GROUP_NAME, Code.BAD_CLIENT_NAME, Code.BAD_HEADERS,
                     Code.MESSAGE_TOO_LARGE, Code.TOO_MANY_GROUPS, Code.MODE_MISMATCH, Code.BAD_CONTENT_NAME),
                    BadArgument),
}


def error_of(code: Code, text: Optional[str] = None) -> Error:
    """To raise for a code."""
    return _CLASSES.get(code, Error)(code, text)

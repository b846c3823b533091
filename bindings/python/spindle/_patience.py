"""Times to wait, in seconds, and the times of time.monotonic() at which they are over. None: for ever."""
import time
from typing import Optional

from ._codes import Code

_DAY = 86400.0


def until(timeout: Optional[float]) -> Optional[float]:
    return None if timeout is None else time.monotonic() + timeout


def left(end: Optional[float]) -> Optional[float]:
    return None if end is None else max(end - time.monotonic(), 0.0)


def why_not_taken(end: Optional[float], can_send: bool) -> Code:
    """Why a confirmation has come to its end without what it waited for."""
    if not can_send:
        return Code.NOT_CONNECTED
    return Code.TIMED_OUT if end is not None and time.monotonic() >= end else Code.CONNECTION_LOST


def left_at_once(end: float) -> float:
    """For the system, which takes no more than 24.8 days: who waits longer waits again."""
    return min(max(end - time.monotonic(), 0.0), _DAY)

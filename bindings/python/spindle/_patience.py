"""Times to wait, in seconds, and the times of time.monotonic() at which they are over. None: for ever."""
import time
from typing import Optional


def until(timeout: Optional[float]) -> Optional[float]:
    return None if timeout is None else time.monotonic() + timeout


def left(end: Optional[float]) -> Optional[float]:
    return None if end is None else max(end - time.monotonic(), 0.0)

"""Where a daemon is."""
import os
import stat
from typing import NamedTuple, Optional

from ._codes import Code
from ._errors import error_of

PORT = 4803
SOCKET = "spindle.4803"


class Address(NamedTuple):
    """A unix socket, where there is a path, or a host and a port."""

    path: str
    host: str
    port: int
    is_protected: bool
    is_default: bool  # nobody has said it
    is_anybodys: bool  # anybody could have made a socket there

    def __str__(self) -> str:
        return self.path or f"{self.host}:{self.port}"


def _bad(text: str) -> Exception:
    return error_of(Code.BAD_ADDRESS, f'"{text}" is no address')


def _port(text: str, whole: str) -> int:
    if not (text.isascii() and text.isdigit()) or not 0 < int(text) < 65536:
        raise _bad(whole)
    return int(text)


def _host_and_port(text: str, whole: str) -> tuple[str, int]:
    if text.startswith("["):
        host, bracket, rest = text[1:].partition("]")
        if not bracket or (rest and not rest.startswith(":")):
            raise _bad(whole)
        port = rest[1:] if rest else None
    else:
        host, colon, after = text.partition(":")
        port = after if colon else None
    if not host or any(c.isspace() or c == "\0" for c in host):
        raise _bad(whole)
    return host, PORT if port is None else _port(port, whole)


def _is_socket(path: str) -> bool:
    try:
        return stat.S_ISSOCK(os.stat(path).st_mode)
    except OSError:
        return False


def _default() -> Address:
    """The socket of a daemon of this host; where there is none, the last place that was looked at."""
    runtime = "" if os.geteuid() == 0 else os.environ.get("XDG_RUNTIME_DIR", "")
    folders = [each for each in ("/run/spindle", runtime) if each.startswith("/") and os.path.isdir(each)] + ["/tmp"]
    paths = [os.path.join(each, SOCKET) for each in folders]
    path = next((each for each in paths if _is_socket(each)), paths[-1])
    return Address(path, "", 0, False, True, path == paths[-1])


def parse(text: Optional[str]) -> Address:
    """Of what a program gives to connect(); raises Error(BAD_ADDRESS)."""
    text = text or os.environ.get("SPINDLE_ADDRESS") or ""
    if not text:
        return _default()
    if text.startswith(("unix:", "/")):
        path = text if text.startswith("/") else text[len("unix:"):]
        if not path or len(os.fsencode(path)) > 107 or "\0" in path:
            raise _bad(text)
        return Address(path, "", 0, False, False, False)
    is_protected = text.startswith("tls:")
    rest = text[4:] if text.startswith(("tls:", "tcp:")) else text
    host, port = _host_and_port(rest, text)
    return Address("", host, port, is_protected, False, False)

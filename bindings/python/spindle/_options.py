"""What a connection is made with."""
import difflib
import os
from dataclasses import dataclass, fields
from ssl import SSLContext
from typing import Any, Optional, Union

from . import _engine, _tls
from ._address import Address, parse
from ._codes import Code
from ._errors import error_of
from ._events import SlowPolicy


def _encoded(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")


@dataclass(frozen=True)
class BulkOptions:
    """How a connection has bulk channels."""

    #: Threads that read, write, hash, encode and decode, 1 to 64.
    workers: int = 2
    #: Whether the hashes of files that are offered are kept: one that is offered again need not be hashed again.
    keep_hashes: bool = True
    #: The directory for these; empty: spindle/hashes in XDG_CACHE_HOME, or else in ~/.cache.
    hash_directory: str = ""


@dataclass(frozen=True)
class Options:
    """The arguments of connect(), which explains them."""

    addresses: tuple[str, ...] = ()
    name: str = ""
    tls_bundle: str = ""
    tls_revocation_lists: str = ""
    ssl: Optional[SSLContext] = None
    token: str = ""
    connect_timeout: float = 5.0
    reconnect_timeout: float = 60.0
    resume: bool = True
    keepalive: float = 10.0
    send_timeout: Optional[float] = None
    disconnect_timeout: float = 1.0
    send_buffer: int = 1 << 20
    receive_buffer: int = 8 << 20
    independent_flows: bool = False
    slow_policy: SlowPolicy = SlowPolicy.DAEMON_DEFAULT
    bulk: Union[bool, BulkOptions] = False

    def servers(self) -> tuple[Address, ...]:
        """Raises where one of the addresses, or the name, cannot be."""
        if self.name and not _engine.is_client_name(_encoded(self.name)):
            raise error_of(Code.BAD_CLIENT_NAME)
        if not 1 <= self.bulk_options().workers <= 64:
            raise error_of(Code.BAD_ARGUMENT, "there are 1 to 64 workers")
        return tuple(parse(each) for each in self.addresses) or (parse(None),)

    def session(self) -> _engine.Session:
        """A new one."""
        return _engine.Session(
            name=_encoded(self.name), servers=max(1, len(self.addresses)), independent_flows=self.independent_flows,
            slow_policy=int(self.slow_policy), send_buffer=self.send_buffer, receive_buffer=self.receive_buffer,
            connect_timeout=self.connect_timeout, reconnect_timeout=self.reconnect_timeout, keepalive=self.keepalive,
            resume=self.resume, bulk=bool(self.bulk))

    def bulk_options(self) -> BulkOptions:
        return self.bulk if isinstance(self.bulk, BulkOptions) else BulkOptions()

    def tls_context(self) -> SSLContext:
        return self.ssl or _tls.context_of(self.tls_bundle, self.tls_revocation_lists)

    def token_for(self, address: Address) -> bytes:
        """That the client may show there; empty: none."""
        token = (self.token or os.environ.get("SPINDLE_TOKEN", "")).encode()
        source = "token" if self.token else "SPINDLE_TOKEN"
        if token and not _engine.is_token(token):
            raise error_of(Code.BAD_ARGUMENT, f"{source} holds no token; `spmonitor token new` makes one")
        if token and not address.path and not address.is_protected:
            raise error_of(Code.TOKEN_EXPOSED, f"{source} is set, and others could read it on its way to {address}: "
                                               'connect by "tls:" or to a unix socket, or without a token')
        return token


def options_of(addresses: tuple[str, ...], options: dict[str, Any]) -> Options:
    """Of the arguments of connect(). Raises where there is no such option, and says which one may be meant."""
    known = [each.name for each in fields(Options) if each.name != "addresses"]
    for name in options:
        if name not in known:
            near = [each for each in known if name in each] or difflib.get_close_matches(name, known)
            meant = f": {' or '.join(near)} may be meant" if near else f"; there are {', '.join(known)}"
            raise TypeError(f"connect() has no option {name!r}{meant}")
    return Options(addresses=addresses, **options)

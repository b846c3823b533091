"""TLS as daemons and clients of Spindle have it: TLS 1.3, and certificates that say who their holder is."""
import os
import ssl
from collections.abc import Iterable
from typing import Any, Optional
from urllib.parse import unquote, urlsplit

from ._codes import Code
from ._errors import Error, error_of

_PROTOCOL = "spindle-client/1"
#: How the alternative names of a certificate begin (RFC 5280, section 4.2.1.6), and a URI among them.
_ALTERNATIVE_NAMES = b"\x06\x03\x55\x1d\x11"
_BOOLEAN, _URI = 0x01, 0x86


class _EncryptedError(Exception):
    """Nobody is there to be asked for a password: a loop would stand still meanwhile."""

    def __init__(self) -> None:
        super().__init__("the private key is encrypted; `openssl pkey -in FILE` makes it a plain one")


def _refuse_password() -> str:
    raise _EncryptedError


class Context(ssl.SSLContext):
    """What connections by TLS have in common."""

    #: Of this client's own certificate; None: it has none.
    cluster: Optional[str] = None


def context_of(bundle: str, revocation_lists: str) -> Context:
    """Of a file with the CA certificates of the cluster, and the key and certificate of this client, where it has
    some."""
    path = bundle or os.environ.get("SPINDLE_TLS_BUNDLE", "")
    if not path:
        raise error_of(Code.TLS_FAILED, '"tls:" needs a file with the CA certificate of the cluster: tls_bundle, or '
                                        "SPINDLE_TLS_BUNDLE")
    context = Context(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    # Who a daemon is stands in a name of another kind: `check_daemon`.
    context.check_hostname = False
    context.set_alpn_protocols([_PROTOCOL])
    try:
        context.load_verify_locations(path)
        with open(path, encoding="ascii", errors="replace") as file:
            text = file.read()
        if "PRIVATE KEY-----" in text:
            context.load_cert_chain(path, password=_refuse_password)
        lists = revocation_lists or os.environ.get("SPINDLE_REVOCATION_LISTS", "")
        if lists:
            context.load_verify_locations(lists)
            context.verify_flags |= ssl.VERIFY_CRL_CHECK_LEAF
    except (OSError, ssl.SSLError, _EncryptedError) as error:
        raise error_of(Code.TLS_FAILED, f"{path}: {error}") from error
    if "PRIVATE KEY-----" in text:
        context.cluster = _cluster_of(text)
        if context.cluster is None:  # daemons of all clusters would be taken
            raise error_of(Code.TLS_FAILED, f'{path}: the certificate has no name of Spindle, '
                                            '"spindle://CLUSTER/KIND/NAME", or several')
    return context


def _element(der: bytes, at: int) -> tuple[int, int, int]:
    """Of the element there, its kind, and where what it holds begins and ends."""
    kind, size, at = der[at], der[at + 1], at + 2
    if size & 0x80:
        begin = at + (size & 0x7f)
        size, at = int.from_bytes(der[at:begin], "big"), begin
    return kind, at, at + size


def _own_uris(pem: str) -> list[str]:
    """Of the alternative names of the first certificate, as of peers getpeercert() gives them."""
    begin, end = pem.find(ssl.PEM_HEADER), pem.find(ssl.PEM_FOOTER)
    if not 0 <= begin < end:
        return []
    der = ssl.PEM_cert_to_DER_cert(pem[begin:end + len(ssl.PEM_FOOTER)])
    at = der.find(_ALTERNATIVE_NAMES)
    if at < 0:
        return []
    kind, begin, end = _element(der, at + len(_ALTERNATIVE_NAMES))
    if kind == _BOOLEAN:  # whether they are critical
        kind, begin, end = _element(der, end)
    uris = []
    _, at, end = _element(der, begin)
    while at < end:
        kind, begin, at = _element(der, at)
        if kind == _URI:
            uris.append(der[begin:at].decode("ascii", "replace"))
    return uris


def _cluster_of(pem: str) -> Optional[str]:
    names = _names(_own_uris(pem))
    return names[0][0] if len(names) == 1 and len(names[0]) == 3 else None


def _names(uris: Iterable[str]) -> list[list[str]]:
    """Of names such as "spindle://trading/daemon/alpha", the parts."""
    found = []
    for each in uris:
        parts = urlsplit(each)
        if parts.scheme == "spindle":
            found.append([unquote(part) for part in (parts.netloc + parts.path).split("/")])
    return found


def check_daemon(peer: Any, context: ssl.SSLContext) -> None:
    """Raises where the other side is no daemon, or one of another cluster. `peer` is the SSLObject or SSLSocket, made
    with that context; one that the program made says nothing of a cluster."""
    if peer.selected_alpn_protocol() != _PROTOCOL:
        raise error_of(Code.TLS_FAILED, "the other side does not speak the protocol of Spindle's clients")
    uris = (value for kind, value in (peer.getpeercert() or {}).get("subjectAltName", ()) if kind == "URI")
    names = _names(uris)
    if len(names) != 1 or len(names[0]) != 3 or names[0][1] != "daemon":
        raise error_of(Code.TLS_FAILED, "the certificate of the other side is not that of a daemon")
    theirs, ours = names[0][0], context.cluster if isinstance(context, Context) else None
    if ours not in (None, theirs):
        raise error_of(Code.TLS_FAILED, f'the certificate of the other side is of the cluster "{theirs}", and this '
                                        f'client\'s of "{ours}"')


def failure_of(error: BaseException) -> Optional[Error]:
    """What an exception of TLS means; None for others."""
    if isinstance(error, ssl.SSLError):
        return error_of(Code.TLS_FAILED, str(error))
    return None

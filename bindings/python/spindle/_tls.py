"""TLS as daemons and clients of Spindle have it: TLS 1.3, and certificates that say who their holder is."""
import os
import ssl
from typing import Any, Optional
from urllib.parse import unquote, urlsplit

from ._codes import Code
from ._errors import Error, error_of

_PROTOCOL = "spindle-client/1"


def context_of(bundle: str, revocation_lists: str) -> ssl.SSLContext:
    """Of a file with the CA certificates of the cluster, and the key and certificate of this client, where it has
    some."""
    path = bundle or os.environ.get("SPINDLE_TLS_BUNDLE", "")
    if not path:
        raise error_of(Code.TLS_FAILED, '"tls:" needs a file with the CA certificate of the cluster: tls_bundle, or '
                                        "SPINDLE_TLS_BUNDLE")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    # Who a daemon is stands in a name of another kind: `check_daemon`.
    context.check_hostname = False
    context.set_alpn_protocols([_PROTOCOL])
    try:
        context.load_verify_locations(path)
        with open(path, encoding="ascii", errors="replace") as file:
            has_key = "PRIVATE KEY-----" in file.read()
        if has_key:
            context.load_cert_chain(path)
        if revocation_lists:
            context.load_verify_locations(revocation_lists)
            context.verify_flags |= ssl.VERIFY_CRL_CHECK_LEAF
    except (OSError, ssl.SSLError) as error:
        raise error_of(Code.TLS_FAILED, f"{path}: {error}") from error
    return context


def _names(certificate: Optional[Any]) -> list[list[str]]:
    """Of names such as "spindle://trading/daemon/alpha", the parts."""
    found = []
    for kind, value in (certificate or {}).get("subjectAltName", ()):
        parts = urlsplit(value)
        if kind == "URI" and parts.scheme == "spindle":
            found.append([unquote(each) for each in (parts.netloc + parts.path).split("/")])
    return found


def check_daemon(peer: Any) -> None:
    """Raises where the other side is no daemon. `peer` is the SSLObject or SSLSocket."""
    if peer.selected_alpn_protocol() != _PROTOCOL:
        raise error_of(Code.TLS_FAILED, "the other side does not speak the protocol of Spindle's clients")
    names = _names(peer.getpeercert())
    if len(names) != 1 or len(names[0]) != 3 or names[0][1] != "daemon":
        raise error_of(Code.TLS_FAILED, "the certificate of the other side is not that of a daemon")


def failure_of(error: BaseException) -> Optional[Error]:
    """What an exception of TLS means; None for others."""
    if isinstance(error, ssl.SSLError):
        return error_of(Code.TLS_FAILED, str(error))
    return None

"""Statements about daemons, clients as processes, and what is between them: how each is read."""
from . import words

# How a client connects, as drivers know it (README.md, "connect").
CLIENT_OPTIONS = {"address", "name", "flows", "policy", "receive_buffer", "send_buffer", "connect_timeout_ms",
                  "disconnect_timeout_ms", "reconnect", "resume", "keepalive_ms", "fresh_name", "bulk"}


def settings(statement, what, known=None):
    found = []
    while statement.peek() not in (None, ",", "refused"):
        key, equals, value = statement.take(what).partition("=")
        if not equals or (known is not None and key not in known):
            raise statement.error(f"{key!r} is not {what}" + (f": {', '.join(sorted(known))}" if known else ""))
        if known is None and "." not in key:
            raise statement.error(f"{key!r} is not {what}, which is section.key=value")
        found.append((key, value))
    return found


def daemons(statement):
    names = []
    shape = "apart"
    while statement.peek() not in (None, "with"):
        if statement.accept("linked"):
            shape = "linked"
            break
        if statement.accept("in", "a", "line"):
            shape = "line"
            break
        names.append(statement.name("a daemon"))
    if not names:
        raise statement.error("a daemon is missing")
    configuration = settings(statement, "a key of the configuration") if statement.accept("with") else []
    return {"names": names, "shape": shape, "settings": configuration}


def one_client(statement):
    name = statement.name("a client")
    if name in VERBS:
        raise statement.error(f"{name!r} is a verb, and no name for a client")
    statement.expect("at")
    servers = [statement.name("a daemon")]
    while statement.accept("or"):
        servers.append(statement.name("a daemon"))
    by = "tcp" if statement.accept("by", "tcp") else "unix"
    options = settings(statement, "an option", CLIENT_OPTIONS) if statement.accept("with") else []
    options = [(key, words.decode(value)) for key, value in options]
    refused = statement.take("a code") if statement.accept("refused") else None
    return {"client": name, "servers": servers, "by": by, "options": options, "refused": refused}


def client(statement):
    found = [one_client(statement)]
    while statement.accept(","):
        found.append(one_client(statement))
    return {"clients": found}


def processes(statement):
    names = [statement.name("a daemon or client")]
    while statement.peek() is not None:
        names.append(statement.name("a daemon or client"))
    return {"names": names}


def partition(statement):
    sides = [[]]
    while statement.peek() is not None:
        if statement.accept("/"):
            sides.append([])
        else:
            sides[-1].append(statement.name("a daemon"))
    if len(sides) < 2 or not all(sides):
        raise statement.error("a partition has sides with / between them")
    return {"sides": sides}


def cut(statement):
    arguments = {"client": statement.client(), "after": None, "direction": None, "for_ms": None}
    if statement.accept("after"):
        arguments["after"] = statement.size()
        statement.expect("bytes")
        arguments["direction"] = statement.choice("a direction", {"sent", "received"})
    if statement.accept("for"):
        arguments["for_ms"] = statement.milliseconds()
    return arguments


def insert(statement):
    text = statement.take("bytes")
    try:
        inserted = bytes.fromhex(text)
    except ValueError:
        raise statement.error(f"{text!r} are no bytes in hexadecimal digits") from None
    statement.expect("to")
    return {"bytes": inserted, "client": statement.client()}


def nothing_more(statement):
    return {}


def of_client(statement):
    return {"client": statement.client()}


VERBS = {
    "daemon": daemons,
    "daemons": daemons, "client": client, "kill": processes, "stop": processes, "continue": processes,
    "end": processes, "restart": processes, "partition": partition, "heal": nothing_more,
    "cut": cut, "stall": of_client, "forward": of_client, "insert": insert}
# Those for which a client's bytes have to go through the runner.
NEED_PROXY = {"cut", "stall", "forward", "insert"}

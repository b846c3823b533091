"""Statements about what clients call and what they get: how each is read."""
from . import bulk_verbs, feed_verbs, words
from .outcome import outcome

SERVICES = {"unreliable", "reliable", "fifo", "causal", "agreed", "safe"}
CAUSES = {"join", "leave", "disconnect", "network"}
FORMS = {"full", "change", "answer", "farewell"}
END_OF_NAMES = {"meanwhile", "refused", "synchronous", "within", "flushing"}


def join(statement):
    arguments = {"groups": statement.names(END_OF_NAMES), "synchronous": statement.accept("synchronous"),
                 "auto_flush": statement.accept("flushing", "by", "itself")}
    return outcome(statement, arguments)


def leave(statement):
    return outcome(statement, {"groups": statement.names(END_OF_NAMES)})


def send(statement):
    arguments = {"groups": statement.names(SERVICES), "service": statement.choice("a service", SERVICES),
                 "count": 1, "size": 100, "type": 0, "self_discard": False, "headers": []}
    if statement.peek() is not None and statement.peek().isdigit():
        arguments["count"] = statement.count("a count")
    return message_options(statement, arguments)


def message_options(statement, arguments):
    while True:
        if statement.accept("of"):
            arguments["size"] = statement.size()
        elif statement.accept("type"):
            arguments["type"] = statement.count("a type")
        elif statement.accept("without", "self"):
            arguments["self_discard"] = True
        elif statement.accept("until"):
            arguments["refused"] = statement.take("a code")
        elif statement.accept("header"):
            key, _, value = statement.take("a header").partition("=")
            arguments["headers"].append((words.decode(key), words.decode(value)))
        else:
            return outcome(statement, arguments)


def request(statement):
    """As a message, and how many answers are awaited; 0 stands for those of all members."""
    groups = statement.names(SERVICES)
    service = statement.choice("a service", SERVICES)
    statement.expect("answers")
    answers = 0 if statement.accept("all") else statement.count("a count")
    arguments = {"groups": groups, "service": service, "count": 1, "size": 100, "type": 0, "self_discard": False,
                 "headers": [], "answers": answers}
    return message_options(statement, arguments)


def answered(statement):
    arguments = {"sequences": []}
    while statement.peek() is not None:
        arguments["sequences"].append(statement.sequence())
    return arguments


def plain_call(statement):
    return outcome(statement, {})


def call_on_group(statement):
    return outcome(statement, {"group": statement.group()})


def flow(statement):
    return outcome(statement, {"groups": statement.names(END_OF_NAMES)})


def close(statement):
    """Calls that say how many messages were not taken."""
    arguments = {"losing": 0}
    if statement.accept("losing"):
        arguments["losing"] = None if statement.accept("some") else statement.count("a count")
    return outcome(statement, arguments)


def gets(statement):
    arguments = {"sequences": [], "groups": None, "one_order": False, "gaps": False,
                 "some": statement.accept("some", "of")}
    while True:
        more = [statement.sequence()]
        while statement.peek() is not None and ":" in statement.peek():
            more.append(statement.sequence())
        arguments["sequences"].append(more)
        if not statement.accept("and"):
            break
    while statement.peek() is not None:
        if statement.accept("in", "one", "order"):
            arguments["one_order"] = True
        elif statement.accept("in"):
            arguments["groups"] = statement.names({"in", "with"})
        elif statement.accept("with", "gaps"):
            arguments["gaps"] = True
        else:
            statement.end()
    if arguments["gaps"] and len(arguments["sequences"]) > 1:
        raise statement.error("gaps are told of one sequence only")
    return arguments


def view(statement):
    arguments = {"group": statement.group(), "members": None, "count": None, "cause": None, "form": None,
                 "joined": None, "left": None, "apart": None, "together": None}
    lists = {"joined", "left", "apart", "together"}
    while statement.peek() is not None:
        word = statement.take("a word")
        if word == "of" and statement.peek() is not None and statement.peek().isdigit():
            arguments["count"] = statement.count("a count")
        elif word == "of":
            arguments["members"] = statement.clients(lists | {"by", "as"})
        elif word == "by":
            arguments["cause"] = statement.choice("a cause", CAUSES)
        elif word == "as":
            arguments["form"] = statement.choice("a form", FORMS)
        elif word in lists:
            arguments[word] = statement.clients(lists | {"by", "as", "of"})
        else:
            raise statement.error(f"{word!r} is not understood here")
    return arguments


def on_group(statement):
    return {"group": statement.group()}


def on_groups(statement):
    return {"groups": statement.names()}


def warned(statement):
    return {"percent": statement.count("a percentage")}


def disconnected(statement):
    return {"code": statement.take("a code")}


def reconnected(statement):
    how = statement.choice("how", {"resumed", "anew"})
    unknown = [statement.sequence()] if statement.accept("unknown") else []
    while unknown and statement.peek() is not None:
        unknown.append(statement.sequence())
    return {"how": how, "unknown": unknown}


def told(statement):
    return {"request": statement.choice("a request", {"join", "leave", "view", "send", "membership", "listen"}),
            "group": statement.group(), "code": statement.take("a code")}


def none(statement):
    return {}


CALLS = {
    "join": join, "leave": leave, "ask": call_on_group, "send": send, "try": send, "flow": flow, "writable": flow,
    "confirm": close, "drain": close, "close": close, "flush_ok": plain_call, "request": request,
    "answer": plain_call, "receive": plain_call, "cancel": none}
EXPECTATIONS = {
    "gets": gets, "get": gets, "view": view, "signal": on_group, "ready": on_groups, "warned": warned, "told": told,
    "disconnected": disconnected, "reconnected": reconnected, "flush_request": on_group, "answered": answered,
    "nothing": none, "done": none}
VERBS = {**CALLS, **EXPECTATIONS, **bulk_verbs.VERBS, **feed_verbs.VERBS}

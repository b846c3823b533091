"""Statements about bulk channels: how each is read."""
from . import words
from .outcome import outcome

KINDS = {"bytes", "file", "directory", "stream"}
SINKS = {"memory", "file", "directory", "stream"}
CAUSES = {"cancelled", "over", "abandoned", "elsewhere", "disconnected", "left"}
LISTS = {"done", "refused", "failed"}
GONE = ("done", "failed", "refused", "missing")


def offer(statement):
    arguments = {"group": statement.group(), "kind": statement.choice("a kind of content", KINDS), "size": 0,
                 "name": None, "options": [], "spooled": False, "missing": False}
    while True:
        if statement.accept("of"):
            arguments["size"] = statement.size()
        elif statement.accept("named"):
            arguments["name"] = words.decode(statement.take("a name"))
        elif statement.accept("spooled"):
            arguments["spooled"] = True
        elif statement.accept("not", "there"):
            arguments["missing"] = True
        elif statement.accept("rate"):
            arguments["options"].append(("rate", statement.size()))
        elif statement.accept("weight"):
            arguments["options"].append(("weight", statement.count("a weight")))
        elif statement.accept("linger"):
            arguments["options"].append(("linger_ms", statement.milliseconds()))
        else:
            return outcome(statement, arguments)


def accept(statement):
    arguments = {"content": statement.content()}
    statement.expect("into")
    arguments |= {"sink": statement.choice("where it goes", SINKS), "bytes_max": 1 << 30, "replace": False,
                  "not_serving": False}
    while True:
        if statement.accept("of"):
            arguments["bytes_max"] = statement.size()
        elif statement.accept("replacing"):
            arguments["replace"] = True
        elif statement.accept("without", "serving"):
            arguments["not_serving"] = True
        else:
            return outcome(statement, arguments)


def on_content(statement):
    return outcome(statement, {"content": statement.content()})


def rate(statement):
    return outcome(statement, {"content": statement.content(), "rate": statement.size()})


def offered(statement):
    return {"content": statement.content(), "late": statement.accept("late")}


def progress(statement):
    return {"content": statement.content()}


def received(statement):
    arguments = {"content": statement.content(), "code": None}
    if statement.accept("failing"):
        arguments["code"] = statement.take("a code")
    return arguments


def complete(statement):
    arguments = {"content": statement.content(), "done": [], "refused": [], "failed": []}
    while statement.peek() is not None:
        if statement.accept("gone"):
            arguments["gone"] = gone(statement)
            break
        what = statement.choice("a list", LISTS)
        if what == "failed":
            arguments[what].append((statement.client(), statement.take("a code")))
        else:
            arguments[what] += statement.clients(LISTS | {"gone"})
    return arguments


def gone(statement):
    """Numbers behind their words; what is not said is none."""
    counts = dict.fromkeys(GONE, 0)
    while statement.peek() in GONE:
        what = statement.take("what they are")
        counts[what] = statement.count("how many")
    return counts


def returned(statement):
    arguments = {"content": statement.content(), "gone": gone(statement)}
    arguments["present"] = statement.count("how many") if statement.accept("present") else 0
    return arguments


def ended(statement):
    arguments = {"content": statement.content(), "code": None}
    statement.expect("by")
    arguments["cause"] = statement.choice("a cause", CAUSES)
    if statement.accept("failing"):
        arguments["code"] = statement.take("a code")
    return arguments


VERBS = {
    "offer": offer, "accept": accept, "refuse": on_content, "withdraw": on_content, "rate": rate,
    "offered": offered, "progress": progress, "received": received, "complete": complete, "returned": returned,
    "ended": ended}

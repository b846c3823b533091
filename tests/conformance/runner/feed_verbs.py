"""Statements about feeds: how each is read."""
from .outcome import outcome

CAUSES = {"lost", "slow"}
WHYS = {"closed", "lost", "denied", "left"}


def listen(statement):
    arguments = {"group": statement.group(), "delivery": "ordered", "deadline_ms": None}
    while True:
        if statement.accept("immediate"):
            arguments["delivery"] = "immediate"
        elif statement.accept("deadline"):
            arguments["deadline_ms"] = statement.milliseconds()
        else:
            return outcome(statement, arguments)


def unlisten(statement):
    return outcome(statement, {"group": statement.group()})


def feed(statement):
    arguments = {"group": statement.group(), "options": []}
    while True:
        if statement.accept("repair"):
            arguments["options"].append(("repair_ms", statement.milliseconds()))
        elif statement.accept("rate"):
            arguments["options"].append(("rate", statement.size()))
        elif statement.accept("drop", "oldest"):
            arguments["options"].append(("drop_oldest", "yes"))
        else:
            return outcome(statement, arguments)


def emit(statement):
    arguments = {"feed": statement.content(), "count": 1, "size": 100}
    if statement.peek() is not None and statement.peek().isdigit():
        arguments["count"] = statement.count("a count")
    if statement.accept("of"):
        arguments["size"] = statement.size()
    return outcome(statement, arguments)


def on_feed(statement):
    return outcome(statement, {"feed": statement.content()})


def heard_of(statement):
    return {"feed": statement.content()}


def hears(statement):
    """The numbers of messages of the feed, in this order; `last`: the one that was sent last."""
    arguments = {"feed": statement.content()}
    first, _, last = statement.take("messages, as 1..3").partition("..")
    if not first.isdigit() or not (last or first).isdigit():
        raise statement.error("messages are 2 or 1..3")
    arguments["numbers"] = range(int(first), int(last or first) + 1)
    return arguments


def over(statement):
    arguments = {"feed": statement.content(), "code": None}
    statement.expect("by")
    arguments["why"] = statement.choice("why", WHYS)
    if statement.accept("failing"):
        arguments["code"] = statement.take("a code")
    return arguments


VERBS = {"listen": listen, "unlisten": unlisten, "feed": feed, "emit": emit, "shut": on_feed, "told_feed": heard_of,
         "hears": hears, "over": over}

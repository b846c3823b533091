"""How a call is to end: what may stand behind each."""


def outcome(statement, arguments):
    """What may stand behind a call: that it is not waited for, its timeout, or that it is refused."""
    arguments.setdefault("refused", None)
    arguments["meanwhile"] = arguments["within_ms"] = None
    while statement.peek() is not None:
        if statement.accept("meanwhile"):
            arguments["meanwhile"] = True
        elif statement.accept("within"):
            arguments["within_ms"] = statement.milliseconds()
        elif statement.accept("refused"):
            arguments["refused"] = statement.take("a code")
        else:
            statement.end()
    return arguments

"""Bulk channels: what clients offer and do with it, and what they are to be told. How each verb is performed."""
import dataclasses

from . import contents
from .bulk_verbs import GONE
from .client import describe
from .failure import Failure


def perform_offer(stage, step, clients):
    stage.each(clients, lambda client: offer(stage, step, client))


def offer(stage, step, client):
    of = step.arguments
    number = len(client.contents) + 1
    seed = client.content_seed(number)
    path = stage.folder / f"{client.name}-{number}"
    pairs = [("group", of["group"]), ("kind", of["kind"]), *of["options"]]
    if of["kind"] in ("bytes", "stream"):
        pairs += [("size", of["size"]), ("seed", seed)]
    else:
        pairs.append(("path", path))
        if not of["missing"]:
            contents.make(path, of["kind"], seed, of["size"])
    pairs += [("spool", f"{path}.spool")] * of["spooled"]
    pairs += [("name", of["name"])] if of["name"] is not None else []
    answer = client.call(step, "offer", pairs)
    if answer.word == "ok":
        name = path.name.encode() if of["kind"] in ("file", "directory") else b""
        name = name if of["name"] is None else of["name"]
        client.contents.append(contents.Content(answer.values.text("channel"), client.private_name, of["group"],
                                                of["kind"], name, seed, of["size"]))


def perform_accept(stage, step, clients):
    """Files go into a folder of each client, into which it receives by their names, too."""
    def one(client):
        of = step.arguments
        channel = stage.content(of["content"]).channel
        folder = stage.folder / f"{client.name}-received"
        folder.mkdir(exist_ok=True)
        pairs = [("channel", channel), ("sink", of["sink"])]
        if of["sink"] == "memory":
            pairs.append(("bytes_max", of["bytes_max"]))
        elif of["sink"] in ("file", "directory"):
            name = f"{of['content'].source}-{of['content'].number}"
            pairs.append(("path", folder / name if of["sink"] == "file" else folder))
        pairs += [(key, "yes") for key in ("replace", "not_serving") if of[key]]
        client.call(step, "accept", pairs)
    stage.each(clients, one)


def perform_on_content(stage, step, clients):
    pairs = [("channel", stage.content(step.arguments["content"]).channel)]
    pairs += [("rate", step.arguments["rate"])] if "rate" in step.arguments else []
    stage.each(clients, lambda client: client.call(step, step.verb, pairs))


@dataclasses.dataclass(frozen=True)
class Awaited:
    """An event of a channel."""
    client: object
    kind: str
    channel: str

    def event(self):
        event = self.client.next_event(self.kind)
        if event.word != self.kind or event.values.text("channel") != self.channel:
            raise Failure(f"{self.client.name} gets {describe(event)}, and waits for {self.kind} of {self.channel}")
        return event.values


def each_event(stage, step, clients, kind, check):
    """Has each client get that event of the step's content, and holds it to `check`, which gives what is wrong."""
    content = stage.content(step.arguments["content"])

    def one(client):
        values = Awaited(client, kind, content.channel).event()
        wrong = check(client, content, values)
        if wrong:
            raise Failure(f"{client.name} gets {kind} of {content.channel}: {wrong}")
    stage.each(clients, one)


def differences(values, expected):
    """Of lists of values by their keys."""
    return "; ".join(f"{key} is {values.all(key)}, not {value}" for key, value in expected.items()
                     if values.all(key) != value)


def check_offered(stage, step, clients):
    is_late = step.arguments["late"]

    def check(_, content, values):
        expected = {"group": [content.group], "source": [content.source], "name": [content.name],
                    "kind": [content.event_kind], "late": [b"yes" if is_late else b"no"]}
        # Somebody who comes late may come before the end of a stream, or behind it.
        if content.kind == "directory" or content.kind == "stream" and is_late:
            return differences(values, expected)
        return differences(values, {**expected, "size": [] if content.kind == "stream" else [b"%d" % content.size]})
    each_event(stage, step, clients, "bulk_offered", check)


def check_progress(stage, step, clients):
    """News, which may have come while something else was awaited."""
    content = stage.content(step.arguments["content"])

    def one(client):
        while not any(is_progress(client, content, event) for event in client.news):
            event = client.next_event("bulk_progress")
            if event.word != "bulk_progress":
                raise Failure(f"{client.name} gets {describe(event)}, and waits for the progress of {content.channel}")
    stage.each(clients, one)


def is_progress(client, content, event):
    """Or whether it is an event of something else."""
    if event.word != "bulk_progress" or event.values.text("channel") != content.channel:
        return False
    if event.values.number("size", content.size) != content.size or event.values.number("bytes") > content.size:
        raise Failure(f"{client.name} is told that {event.values.text('bytes')} of {event.values.text('size')} bytes "
                      f"are there of {content.channel}, which has {content.size}")
    return True


def check_received(stage, step, clients):
    code = step.arguments["code"]

    def check(_, content, values):
        if code is not None or values.all("code"):
            return differences(values, {"code": [] if code is None else [code.encode()]})
        path = values.text("path")
        if path:
            return contents.what_is_wrong(path, content)
        return differences(values, {"size": [b"%d" % content.size], "digest": [b"%d" % content.digest]})
    each_event(stage, step, clients, "bulk_received", check)


def gone_of(values):
    return {what: values.number(f"gone_{what}", 0) for what in GONE}


def check_returned(stage, step, clients):
    of = step.arguments
    expected = (of["gone"], of["present"])

    def check(_, __, values):
        told = (gone_of(values), values.number("present"))
        return "" if told == expected else f"{told}, not {expected}"
    each_event(stage, step, clients, "bulk_returned", check)


def check_complete(stage, step, clients):
    of = step.arguments
    gone = of.get("gone", dict.fromkeys(GONE, 0))
    expected = {key: sorted(stage.private_names(of[key])) for key in ("done", "refused")}
    failed = sorted((stage.clients([name])[0].private_name, code.encode()) for name, code in of["failed"])

    def check(_, __, values):
        told = {key: sorted(values.all(key)) for key in expected}
        told_failed = sorted(zip(values.all("failed"), values.all("failed_code")))
        if (told, told_failed) != (expected, failed):
            return f"{told} and failed {told_failed}"
        return "" if gone_of(values) == gone else f"gone are {gone_of(values)}, not {gone}"
    each_event(stage, step, clients, "bulk_complete", check)


def check_ended(stage, step, clients):
    of = step.arguments
    expected = {"cause": [of["cause"].encode()], "code": [] if of["code"] is None else [of["code"].encode()]}
    each_event(stage, step, clients, "bulk_ended", lambda _, __, values: differences(values, expected))


VERBS = {
    "offer": perform_offer, "accept": perform_accept, "refuse": perform_on_content, "withdraw": perform_on_content,
    "rate": perform_on_content, "offered": check_offered, "progress": check_progress, "received": check_received,
    "complete": check_complete, "returned": check_returned, "ended": check_ended}

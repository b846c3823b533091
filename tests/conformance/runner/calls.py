"""What clients call: how each verb is performed."""
from .failure import PATIENCE_S, Failure

ANSWER_BYTES = 100


def perform_join(stage, step, clients):
    stage.each(clients, lambda client: request_groups(stage, step, client, "join"))
    if step.arguments["refused"] or step.arguments["meanwhile"]:
        return
    everybody = {client.private_name for client in clients}
    groups = stage.resolve(step.arguments["groups"])
    stage.each(clients, lambda client: wait_for_views(client, groups, everybody))


def perform_leave(stage, step, clients):
    stage.each(clients, lambda client: request_groups(stage, step, client, "leave"))
    if step.arguments["refused"] or step.arguments["meanwhile"]:
        return
    groups = stage.resolve(step.arguments["groups"])
    stage.each(clients, lambda client: wait_for_views(client, groups, None))


def request_groups(stage, step, client, verb):
    for group in stage.resolve(step.arguments["groups"]):
        pairs = [("group", group)]
        pairs += [(key, "yes") for key in ("synchronous", "auto_flush") if step.arguments.get(key)]
        client.passed_over |= {"flush_request"} if step.arguments.get("auto_flush") else set()
        answer = client.call(step, verb, pairs)
        expect_refusal(client, step, verb, group, answer)


def expect_refusal(client, step, request, group, answer):
    """Where a step says that its request is refused: by the call itself, or by an event that follows."""
    code = step.arguments["refused"]
    if code is None or answer is None or answer.word == "failed":
        return
    event = client.next_event("told")
    got = (event.values.text("request", "none"), event.values.all("group"), event.values.text("code", "none"))
    if event.word != "told" or got != (request, [group], code):
        raise Failure(f"{client.name} is not refused with {code}, but gets {event.word} {got}")


def wait_for_views(client, groups, members):
    """Until the client has seen a view with these members in each group; None: its own farewell."""
    waiting = set(groups)
    while waiting:
        event = client.next_event("view")
        if event.word != "view":
            raise Failure(f"{client.name} gets {event.word}, while views of {len(waiting)} groups are awaited")
        group = event.values.bytes("group")
        if members is None:
            is_reached = event.values.text("form") == "farewell"
        else:
            is_reached = members <= set(client.members.of(group))
        if is_reached:
            waiting.discard(group)
    client.view_reached = event


def perform_ask(stage, step, clients):
    def one(client):
        answer = client.call(step, "ask", [("group", step.arguments["group"])])
        expect_refusal(client, step, "view", step.arguments["group"], answer)
    stage.each(clients, one)


def perform_send(stage, step, clients):
    stage.each(clients, lambda client: send(stage, step, client))


def send(stage, step, client):
    of = step.arguments
    groups = stage.resolve(of["groups"])
    pairs = message_pairs(of, groups, client)
    pairs += [("count", of["count"]), ("ticket", len(client.sent) + 1)] + [("try", "yes")] * (step.verb == "try")
    client.has_sent(of["count"], of["service"], of["type"], tuple(groups), of["size"], tuple(of["headers"]))
    client.call(step, "send", pairs)


def message_pairs(of, groups, client):
    pairs = [("service", of["service"]), *(("group", group) for group in groups), ("size", of["size"]),
             ("seed", client.next_seed()), ("type", of["type"])]
    pairs += [("self_discard", "yes")] * of["self_discard"]
    for key, value in of["headers"]:
        pairs += [("header", key), ("header_value", value)]
    return pairs


def perform_request(stage, step, clients):
    def one(client):
        of = step.arguments
        groups = stage.resolve(of["groups"])
        pairs = [*message_pairs(of, groups, client), ("answers", of["answers"])]
        client.has_sent(1, of["service"], of["type"], tuple(groups), of["size"], tuple(of["headers"]))
        client.call(step, "request", pairs)
    stage.each(clients, one)


def perform_answer(stage, step, clients):
    """To the request that has come last."""
    def one(client):
        pairs = [("size", ANSWER_BYTES), ("seed", client.next_seed())]
        client.has_sent(1, "fifo", 0, (), ANSWER_BYTES, ())
        client.call(step, "answer", pairs)
    stage.each(clients, one)


def perform_cancel(stage, step, clients):
    stage.each(clients, lambda client: client.cancel())


def perform_receive(stage, step, clients):
    """One that gives nothing: what comes is for expectations."""
    patience = [] if step.arguments["within_ms"] else [("timeout_ms", PATIENCE_S * 1000)]
    stage.each(clients, lambda client: client.call(step, "receive", patience))


def perform_flow(stage, step, clients):
    groups = stage.resolve(step.arguments["groups"])

    def one(client):
        if client.call(step, "flow", [("group", group) for group in groups]).word == "failed":
            return
        event = client.next_event("flow")
        if event.word != "flow" or event.values.all("group") != groups:
            raise Failure(f"{client.name} is not told of the flow, but gets {event.word}")
    stage.each(clients, one)


def perform_close(stage, step, clients):
    def one(client):
        check_lost(client, step, client.call(step, "close", []))
        client.expect_end("closed_by_client", ignore_messages=True)
    stage.each(clients, one)


def perform_confirm(stage, step, clients):
    """Or drain, behind which events up to the end can be received."""
    patience = [] if step.arguments["within_ms"] else [("timeout_ms", PATIENCE_S * 1000)]
    stage.each(clients, lambda client: check_lost(client, step, client.call(step, step.verb, patience)))


def check_lost(client, step, answer):
    losing = step.arguments["losing"]
    if answer is None or answer.word == "failed":
        return
    lost = answer.values.number("not_taken")
    if lost == 0 if losing is None else lost != losing:
        raise Failure(f"{client.name}: {lost} messages were not taken")


def perform_writable(stage, step, clients):
    groups = [("group", group) for group in stage.resolve(step.arguments["groups"])]
    patience = [] if step.arguments["within_ms"] else [("timeout_ms", PATIENCE_S * 1000)]
    stage.each(clients, lambda client: client.call(step, "writable", groups + patience))


def perform_plainly(stage, step, clients):
    pairs = [("group", step.arguments["group"])] if "group" in step.arguments else []
    stage.each(clients, lambda client: client.call(step, step.verb, pairs))


VERBS = {"join": perform_join, "leave": perform_leave, "ask": perform_ask, "send": perform_send, "try": perform_send,
         "flow": perform_flow, "close": perform_close, "writable": perform_writable,
         "confirm": perform_confirm, "drain": perform_confirm,
         "flush_ok": perform_plainly, "request": perform_request, "answer": perform_answer, "receive": perform_receive,
         "cancel": perform_cancel}

#!/usr/bin/env python3
"""The driver of spindle.sync: makes the calls that the runner asks for and tells how they end."""
import pathlib
import sys
import threading

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent.parent)]

import spindle  # noqa: E402
from spindle import sync  # noqa: E402
from calls import (FEATURES, Call, Program, answered, connect_options, failed, feed_options,  # noqa: E402
                   join_options, lost, not_answered, offer_options, request_options, send_options, source_of)
from events import raw  # noqa: E402
from runner import words  # noqa: E402

OUTPUT = threading.Lock()


class Driver(Program):
    def perform(self, call):
        try:
            return getattr(self, "do_" + call.verb)(call) or ("ok", [])
        except spindle.Error as error:
            return failed(error)

    def do_connect(self, call):
        addresses, options = connect_options(call)
        self.feeds = {}
        self.connection = sync.connect(*addresses, **options)
        return "ok", [("name", raw(self.connection.private_name))]

    def do_join(self, call):
        """With a timeout the form that waits."""
        options = join_options(call)
        if call.has("timeout_ms"):
            self.connection.join(call.name("group"), timeout=call.seconds("timeout_ms"), **options)
        else:
            self.connection.join_nowait(call.name("group"), **options)

    def do_leave(self, call):
        self.connection.leave(call.name("group"))

    def do_ask(self, call):
        self.connection.request_view(call.name("group"))

    def do_flow(self, call):
        self.connection.request_flow(call.all("group"))

    def do_writable(self, call):
        self.connection.writable(call.all("group"), timeout=call.seconds("timeout_ms"))

    def do_confirm(self, call):
        try:
            self.connection.confirm(call.seconds("timeout_ms"))
        except spindle.NotTakenError as error:
            return lost(error.not_taken)
        return lost(spindle.NotTaken(0, True))

    def do_drain(self, call):
        return lost(self.connection.drain(call.seconds("timeout_ms")))

    def do_close(self, call):
        return lost(self.connection.close())

    def do_send(self, call):
        sent = 0
        options = send_options(call)
        try:
            for content in call.payloads():
                to = (call.service(), call.all("group"), content)
                ticket = call.integer("ticket") + sent
                if not call.has("try"):
                    self.connection.multicast(*to, ticket=ticket, timeout=call.seconds("timeout_ms"), **options)
                elif not self.connection.try_multicast(*to, ticket=ticket, **options):
                    return "failed", [("code", "would_block"), ("sent", sent)]
                sent += 1
        except spindle.Error as error:
            return failed(error, ("sent", sent))
        return "ok", [("sent", sent)]

    def do_request(self, call):
        try:
            return answered(self.connection.request(call.all("group"), call.payload(), **request_options(call)))
        except spindle.Error as error:
            return not_answered(error)

    def do_answer(self, call):
        self.connection.reply(self.request_message, call.payload())

    def do_feed(self, call):
        return self.opened(self.connection.open_feed(call.name("group"), **feed_options(call)))

    def do_offer(self, call):
        return self.offered(self.connection.bulk.offer(call.name("group"), source_of(call), **offer_options(call)))

    def do_receive(self, call):
        return self.received(self.connection.receive(timeout=call.seconds("timeout_ms")))


def tell(line):
    with OUTPUT:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


def answer(driver, call):
    if not hasattr(driver, "do_" + call.verb):
        return tell(words.write(f"{call.number} unusable", [("text", "unknown verb: " + call.verb)]))
    word, pairs = driver.perform(call)
    return tell(words.write(f"{call.number} {word}", pairs))


def main():
    tell(words.write("driver", [("protocol", 1), ("language", "Python (sync)"),
                                *[("feature", feature) for feature in FEATURES]]))
    driver = Driver()
    for line in sys.stdin:
        call = Call(line)
        if call.has("aside"):
            threading.Thread(target=answer, args=(driver, call), daemon=True).start()
        else:
            answer(driver, call)


if __name__ == "__main__":
    main()

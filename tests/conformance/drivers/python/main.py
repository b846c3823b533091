#!/usr/bin/env python3
"""The driver of the Python package: makes the calls that the runner asks for and tells how they end."""
import asyncio
import inspect
import pathlib
import sys
import threading

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent.parent)]

import spindle  # noqa: E402
from calls import (FEATURES, Call, Program, answered, connect_options, failed, feed_options,  # noqa: E402
                   join_options, lost, not_answered, offer_options, request_options, send_options, source_of)
from events import raw  # noqa: E402
from runner import words  # noqa: E402


class Driver(Program):
    async def perform(self, call):
        try:
            result = getattr(self, "do_" + call.verb)(call)
            return (await result if inspect.isawaitable(result) else result) or ("ok", [])
        except spindle.Error as error:
            return failed(error)

    async def do_connect(self, call):
        addresses, options = connect_options(call)
        self.feeds = {}
        self.connection = await spindle.connect(*addresses, **options)
        return "ok", [("name", raw(self.connection.private_name))]

    async def do_join(self, call):
        """With a timeout the form that waits."""
        options = join_options(call)
        if call.has("timeout_ms"):
            await self.connection.join(call.name("group"), timeout=call.seconds("timeout_ms"), **options)
        else:
            await self.connection.join_nowait(call.name("group"), **options)

    async def do_leave(self, call):
        await self.connection.leave(call.name("group"))

    async def do_ask(self, call):
        await self.connection.request_view(call.name("group"))

    async def do_flow(self, call):
        await self.connection.request_flow(call.all("group"))

    async def do_writable(self, call):
        await self.connection.writable(call.all("group"), timeout=call.seconds("timeout_ms"))

    async def do_confirm(self, call):
        try:
            await self.connection.confirm(call.seconds("timeout_ms"))
        except spindle.NotTakenError as error:
            return lost(error.not_taken)
        return lost(spindle.NotTaken(0, True))

    async def do_drain(self, call):
        return lost(await self.connection.drain(call.seconds("timeout_ms")))

    async def do_close(self, call):
        return lost(await self.connection.close())

    async def do_send(self, call):
        sent = 0
        options = send_options(call)
        try:
            for content in call.payloads():
                to = (call.service(), call.all("group"), content)
                ticket = call.integer("ticket") + sent
                if not call.has("try"):
                    await self.connection.multicast(*to, ticket=ticket, timeout=call.seconds("timeout_ms"), **options)
                elif not self.connection.try_multicast(*to, ticket=ticket, **options):
                    return "failed", [("code", "would_block"), ("sent", sent)]
                else:
                    await asyncio.sleep(0)  # the loop has to have its turn for the socket to take more
                sent += 1
        except spindle.Error as error:
            return failed(error, ("sent", sent))
        except asyncio.CancelledError:
            return "failed", [("code", "cancelled"), ("sent", sent)]
        return "ok", [("sent", sent)]

    async def do_request(self, call):
        try:
            return answered(await self.connection.request(call.all("group"), call.payload(), **request_options(call)))
        except spindle.Error as error:
            return not_answered(error)

    async def do_answer(self, call):
        await self.connection.reply(self.request_message, call.payload())

    async def do_feed(self, call):
        return self.opened(await self.connection.open_feed(call.name("group"), **feed_options(call)))

    async def do_offer(self, call):
        offering = self.connection.bulk.offer(call.name("group"), source_of(call), **offer_options(call))
        return self.offered(await offering)

    async def do_receive(self, call):
        return self.received(await self.connection.receive(timeout=call.seconds("timeout_ms")))


def tell(line):
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def read_lines(loop, lines):
    for line in sys.stdin:
        loop.call_soon_threadsafe(lines.put_nowait, line)
    loop.call_soon_threadsafe(lines.put_nowait, None)


async def answer(driver, call):
    if not hasattr(driver, "do_" + call.verb):
        return tell(words.write(f"{call.number} unusable", [("text", "unknown verb: " + call.verb)]))
    word, pairs = await driver.perform(call)
    await asyncio.sleep(0)  # what was asked for is written, so that it comes before what others are asked for then
    return tell(words.write(f"{call.number} {word}", pairs))


def note_end(number):
    def done(task):
        if task.cancelled():
            tell(f"{number} failed code=cancelled")
        elif task.exception() is not None:
            raise task.exception()
    return done


async def main():
    tell(words.write("driver", [("protocol", 1), ("language", "Python"),
                                *[("feature", feature) for feature in (*FEATURES, "cancellation")]]))
    lines = asyncio.Queue()
    threading.Thread(target=read_lines, args=(asyncio.get_running_loop(), lines), daemon=True).start()
    driver, aside = Driver(), {}
    while True:
        line = await lines.get()
        if line is None:
            return
        call = Call(line)
        if call.verb == "cancel":
            if call.text("call") in aside:
                aside[call.text("call")].cancel()
            tell(f"{call.number} ok")
        elif call.has("aside"):
            task = asyncio.ensure_future(answer(driver, call))
            task.add_done_callback(note_end(call.number))
            aside[call.number] = task
            await asyncio.sleep(0)  # it begins
        else:
            await answer(driver, call)


if __name__ == "__main__":
    asyncio.run(main())

"""A member of a group of three, by one of several clients for Python: sends as much as it has room for, or at a rate, and
receives what all of them send. `bench/spindle_bench/bindings_python.py` starts three of them and compares.

    python_member.py CLIENT ADDRESS... --me 0 --members 3 --size 100 [--rate 300] --seconds 3

CLIENT is spindle, spindle_sync, nats, zmq or zmq_asyncio. Of ZeroMQ the addresses are those where each member publishes. It
says "ready", waits for a line, sends and receives for as long as was asked, and says what it has found as JSON: messages
a second that it was given, and the microseconds that half of them, and 99 %, took. Each sender's messages have to come whole,
in the order sent, from the first one that comes, without a gap or a double.
"""
import argparse
import asyncio
import contextlib
import json
import struct
import sys
import time

GROUP = "bench"
#: What a member has under way of its own where no rate is asked for.
UNDER_WAY, UNDER_WAY_BYTES = 1000, 256 << 10
#: Seconds of a measurement before what counts.
WARM_UP = 1
#: What a message begins with: its sender, its number, and when it was sent, in nanoseconds.
HEADER = struct.Struct("<IIQ")


class Load:
    """What is sent, and what has come of it."""

    def __init__(self, arguments):
        self.me, self.members, self.size = arguments.me, arguments.members, arguments.size
        self.under_way = min(UNDER_WAY, UNDER_WAY_BYTES // self.size)
        self.padding = b"." * (self.size - HEADER.size)
        self.interval = 1 / arguments.rate if arguments.rate else 0.0
        self.seconds = arguments.seconds
        self.expected = [0] * self.members
        self.received = 0
        self.sent = 0
        self.latencies = []
        self.count_from = float("inf")

    def begin(self):
        self.due = time.monotonic() + self.interval * self.me / self.members
        self.count_from = time.monotonic() + WARM_UP
        self.end = self.count_from + self.seconds

    def is_over(self):
        return time.monotonic() >= self.end

    def next(self):
        """The next message where one may be sent now; otherwise None."""
        if self.interval:
            if time.monotonic() < self.due:
                return None
            self.due += self.interval
        elif self.sent - self.expected[self.me] >= self.under_way:
            return None
        message = HEADER.pack(self.me, self.sent, time.monotonic_ns()) + self.padding
        self.sent += 1
        return message

    def until_due(self):
        return max(self.due - time.monotonic(), 0.0)

    def take(self, payload):
        sender, number, sent_ns = HEADER.unpack_from(payload)
        if number != self.expected[sender] or len(payload) != self.size:
            # Who subscribes with ZeroMQ may miss what is sent first.
            if self.expected[sender] or len(payload) != self.size:
                raise RuntimeError(f"message {number} of {sender} with {len(payload)} bytes came instead of "
                                   f"{self.expected[sender]}")
        self.expected[sender] = number + 1
        self.received += 1
        if self.interval:
            now = time.monotonic_ns()
            if now >= self.count_from * 1e9:
                self.latencies.append((now - sent_ns) / 1000)

    def result(self, before, after):
        result = {"per_second": (after - before) / self.seconds}
        if self.latencies:
            self.latencies.sort()
            result["p50_us"] = self.latencies[len(self.latencies) // 2]
            result["p99_us"] = self.latencies[len(self.latencies) * 99 // 100]
        return result


def wait_for_start():
    print("ready", flush=True)
    sys.stdin.readline()


async def measure(load, send, news, receiving):
    """Beside the task `receiving`, which sets `news` when messages have come. `send(message)` is a coroutine function."""
    await asyncio.get_running_loop().run_in_executor(None, wait_for_start)
    load.begin()
    asyncio.get_running_loop().call_later(WARM_UP + load.seconds, news.set)
    before = None
    while not load.is_over():
        message = load.next()
        if receiving.done():
            receiving.result()
        if message is not None:
            await send(message)
        elif load.interval:
            await asyncio.sleep(load.until_due())
        else:
            news.clear()
            await news.wait()
        if before is None and time.monotonic() >= load.count_from:
            before = load.received
    return load.result(before, load.received)


async def spindle_member(arguments, load):
    import spindle
    from spindle import GroupView, Message
    async with spindle.connect(arguments.addresses[load.me], name=f"m{load.me}") as connection:
        group = await connection.join(GROUP, timeout=30)
        is_whole = asyncio.Event()
        news = asyncio.Event()

        def note(event):
            if isinstance(event, GroupView) and event.member_count == load.members:
                is_whole.set()

        async def receive_batches():
            async for batch in connection.batches():
                for event in batch:
                    if isinstance(event, Message):
                        load.take(event.payload)
                    else:
                        note(event)
                news.set()

        async def receive_one_by_one():
            async for event in connection:
                if isinstance(event, Message):
                    load.take(event.payload)
                else:
                    note(event)

        receiving = asyncio.ensure_future(receive_one_by_one() if load.interval else receive_batches())
        await is_whole.wait()
        agreed = spindle.Service.AGREED
        result = await measure(load, lambda message: group.multicast(agreed, message), news, receiving)
        receiving.cancel()
        return result


def spindle_sync_member(arguments, load):
    import spindle
    from spindle import GroupView, Message, sync
    agreed = spindle.Service.AGREED
    with sync.connect(arguments.addresses[load.me], name=f"m{load.me}") as connection:
        group = connection.join(GROUP, timeout=30)
        members = 0
        while members != load.members:
            event = connection.receive(timeout=30)
            if isinstance(event, GroupView):
                members = event.member_count
        wait_for_start()
        load.begin()
        before = None
        batches = connection.batches()
        while not load.is_over():
            while (message := load.next()) is not None:
                group.multicast(agreed, message)
            with contextlib.suppress(spindle.TimedOut):
                for event in [connection.receive(timeout=load.until_due())] if load.interval else next(batches):
                    if isinstance(event, Message):
                        load.take(event.payload)
            if before is None and time.monotonic() >= load.count_from:
                before = load.received
        return load.result(before, load.received)


async def nats_member(arguments, load):
    import nats
    news, failure = asyncio.Event(), asyncio.get_running_loop().create_future()

    def fail(error):
        if not failure.done():
            failure.set_exception(error)
        news.set()

    async def note_error(error):
        fail(RuntimeError(f"nats: {error!r}"))

    async def take(message):
        try:
            load.take(message.data)
        except RuntimeError as error:
            fail(error)
        news.set()

    # A server that finds a client slow cuts it off, and what was sent meanwhile is lost to it.
    client = await nats.connect(arguments.addresses[load.me], allow_reconnect=False, error_cb=note_error)
    await client.subscribe(GROUP, cb=take, pending_msgs_limit=-1, pending_bytes_limit=-1)
    await client.flush()
    result = await measure(load, lambda message: client.publish(GROUP, message), news, failure)
    await client.close()
    return result


def zmq_sockets(context, addresses, me):
    """A socket that publishes at its own address, and one that has subscribed to all."""
    import zmq
    publisher, subscriber = context.socket(zmq.PUB), context.socket(zmq.SUB)
    for each in (publisher, subscriber):
        each.set_hwm(0)
        each.linger = 0
    publisher.bind(addresses[me])
    subscriber.subscribe(b"")
    for each in addresses:
        subscriber.connect(each)
    return publisher, subscriber


def zmq_member(arguments, load):
    import zmq
    publisher, subscriber = zmq_sockets(zmq.Context(), arguments.addresses, load.me)
    wait_for_start()
    load.begin()
    before = None
    while not load.is_over():
        while (message := load.next()) is not None:
            publisher.send(message)
        if subscriber.poll(load.until_due() * 1000 if load.interval else 1000):
            with contextlib.suppress(zmq.Again):
                while True:
                    load.take(subscriber.recv(zmq.DONTWAIT))
        if before is None and time.monotonic() >= load.count_from:
            before = load.received
    return load.result(before, load.received)


async def zmq_asyncio_member(arguments, load):
    import zmq.asyncio
    publisher, subscriber = zmq_sockets(zmq.asyncio.Context(), arguments.addresses, load.me)
    news = asyncio.Event()

    async def receive():
        while True:
            load.take(await subscriber.recv())
            news.set()

    receiving = asyncio.ensure_future(receive())
    result = await measure(load, publisher.send, news, receiving)
    receiving.cancel()
    return result


CLIENTS = {"spindle": spindle_member, "spindle_sync": spindle_sync_member, "nats": nats_member, "zmq": zmq_member,
           "zmq_asyncio": zmq_asyncio_member}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("client", choices=CLIENTS)
    parser.add_argument("addresses", nargs="+")
    parser.add_argument("--me", type=int, required=True)
    parser.add_argument("--members", type=int, required=True)
    parser.add_argument("--size", type=int, default=100)
    parser.add_argument("--rate", type=float, default=0, help="messages a second; 0: as many as there is room for")
    parser.add_argument("--seconds", type=float, default=3)
    arguments = parser.parse_args()
    load = Load(arguments)
    result = CLIENTS[arguments.client](arguments, load)
    print(json.dumps(asyncio.run(result) if asyncio.iscoroutine(result) else result), flush=True)


if __name__ == "__main__":
    main()

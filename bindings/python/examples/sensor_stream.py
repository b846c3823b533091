#!/usr/bin/env python3
"""Readings of sensors, of which the newest counts.

Each sensor is a group, and with independent flows each has a line of its own: where the receivers of one are slow, the
others are not held up. A reading that may not enter is replaced by the next one of its sensor. Who watches has asked to
lose messages rather than slow down who measures, and is told how many it has lost."""
import time

import spindle
from common import Options, run, show
from spindle import Service

HELP = """sensor_stream [OPTION VALUE]... publish SENSOR...
sensor_stream [OPTION VALUE]... watch SENSOR...

The first publishes readings of each SENSOR. The second shows those that come, and when their publisher has ended how
many have come and how many were lost.

  --connect ADDRESS  of the daemon
  --name NAME        of this client
  --count N          readings of each sensor (100)
  --pause-ms M       between two readings (0); with watch, the time that it takes over each (0)
  --bytes B          of a reading (64)
  --show N           every Nth reading only (1)
"""

READING = 0  # "NUMBER VALUE", filled up with spaces
END = 1  # "SENT", how many readings there were


class Sensor:
    def __init__(self):
        self.waiting = None  # the newest reading, where it could not enter
        self.sent = self.replaced = self.received = self.lost = 0


def check(event):
    if isinstance(event, spindle.Disconnected):
        raise spindle.NotConnected(event.code, event.text)


class Publisher:
    def __init__(self, connection, sensors, size):
        self._connection, self._size = connection, size
        self._sensors = {name: Sensor() for name in sensors}

    def publish(self, number):
        """A reading of each sensor."""
        for name, sensor in self._sensors.items():
            sensor.replaced += sensor.waiting is not None
            sensor.waiting = f"{number} {20 + number % 7}".encode().ljust(self._size)
            self._offer(name, sensor)

    async def receive(self, until):
        """Handles events until that time."""
        while True:
            try:
                self._handle(await self._connection.receive(timeout=max(until - time.monotonic(), 0)))
            except spindle.TimedOut:
                return

    async def finish(self):
        while any(sensor.waiting is not None for sensor in self._sensors.values()):
            self._handle(await self._connection.receive())
        # The oldest messages are lost where some are, so these are not.
        for name, sensor in self._sensors.items():
            await self._connection.multicast(Service.FIFO, name, str(sensor.sent).encode(), type=END)
            show(f"{name}: {sensor.sent} sent, {sensor.replaced} replaced by newer ones")

    def _offer(self, name, sensor):
        if self._connection.try_multicast(Service.FIFO, name, sensor.waiting, type=READING):  # or FlowReady comes
            sensor.waiting = None
            sensor.sent += 1

    def _handle(self, event):
        check(event)
        if isinstance(event, spindle.FlowReady):
            sensor = self._sensors[event.groups[0]]
            if sensor.waiting is not None:
                self._offer(event.groups[0], sensor)


class Watcher:
    def __init__(self, connection, pause, every):
        self._connection, self._pause, self._every = connection, pause, every
        self._sensors = {}  # that have not ended

    async def run(self, names):
        """Until all sensors have ended."""
        for name in names:
            await self._connection.join(name, timeout=5)
            self._sensors[name] = Sensor()
        while self._sensors:
            self._handle(await self._connection.receive())

    def _handle(self, event):
        check(event)
        if isinstance(event, spindle.Message):
            self._finish(event) if event.type == END else self._show(event)
        elif isinstance(event, spindle.Gap):
            for name, messages in event.names:
                if name in self._sensors:
                    self._sensors[name].lost += messages
            show(f"{event.messages} readings are lost")
        elif isinstance(event, spindle.Reconnected) and not event.resumed:
            show("connected again: readings of meanwhile are lost")

    def _show(self, message):
        sensor = self._sensors.get(message.group)
        if sensor is None:
            return
        if sensor.received % self._every == 0:
            show(f"{message.group}: {message.payload.decode().rstrip(' ')}")
        sensor.received += 1
        time.sleep(self._pause)  # it is slow: neither its loop nor anything else of it goes on

    def _finish(self, message):
        sensor = self._sensors.pop(message.group, None)
        if sensor is not None:
            show(f"{message.group} has ended: {message.payload.decode()} sent, {sensor.received} received, "
                 f"{sensor.lost} lost")


async def main(options):
    what, *sensors = options.words
    pause = int(options["pause_ms"]) / 1000
    if what == "watch":
        # What is shown is not much older than what is sent.
        async with options.connect(slow_policy=spindle.SlowPolicy.DROP, receive_buffer=64 << 10) as connection:
            await Watcher(connection, pause, int(options["show"])).run(sensors)
        return 0
    async with options.connect(independent_flows=True) as connection:
        publisher = Publisher(connection, sensors, int(options["bytes"]))
        until = time.monotonic()
        for number in range(1, int(options["count"]) + 1):
            publisher.publish(number)
            until += pause
            await publisher.receive(until)
        await publisher.finish()
        return 1 if await connection.drain(10) else 0


run("sensor_stream", main(Options(HELP, count="100", pause_ms="0", bytes="64", show="1")))

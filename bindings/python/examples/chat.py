#!/usr/bin/env python3
"""A room to talk in: everybody sees the same lines in the same order, and who comes and goes."""
import asyncio
import sys

import spindle
from common import Options, input_lines, run, show
from spindle import Service, ViewCause, ViewForm

HELP = """chat [--connect ADDRESS] [--name NAME] ROOM

Sends the lines of standard input to all who are in ROOM, and shows what they say.

  /to NAME TEXT   says TEXT to one of them alone; NAME is as others are shown, such as #ann#alpha
  /who            shows who is in the room

The end of the input leaves the room, when everything that was said is on its way.
"""


def show_names(names, what):
    for name in names:
        show(f"* {name}{what}")


def show_event(event, room):
    if isinstance(event, spindle.Message):
        to = ": " if event.group == room else " to you alone: "
        show(event.sender + to + event.payload.decode(errors="replace"))
    elif isinstance(event, spindle.GroupView) and event.form is ViewForm.ANSWER:
        show_names(event.members, " is here")
    elif isinstance(event, spindle.GroupView):
        show_names(event.joined, " has come")
        show_names(event.left, " is out of reach" if event.cause is ViewCause.NETWORK else " has gone")
    elif isinstance(event, spindle.RequestFailed):
        show(f"* refused: {event.code.text}")
    elif isinstance(event, spindle.Reconnected) and not event.resumed:
        show(f"* connected again, as {event.private_name}")
        if event.unknown:
            show(f"* perhaps nobody has got your last {len(event.unknown)} lines")
    elif isinstance(event, spindle.Disconnected):
        show(f"* the connection has ended: {event.text}")


async def say(group, connection, line):
    if line == "/who":
        return await group.request_view()
    if not line.startswith("/to "):
        return await group.multicast(Service.AGREED, line.encode())
    name, space, text = line[len("/to "):].partition(" ")
    if not space:
        raise spindle.BadArgument(spindle.Code.BAD_ARGUMENT)
    return await connection.multicast(Service.AGREED, name, text.encode())


async def main(options):
    room = options.words[0]
    async with options.connect() as connection:

        async def show_all():
            async for event in connection:
                show_event(event, room)

        shower = asyncio.ensure_future(show_all())
        group = await connection.join(room, timeout=5)
        async for line in input_lines():
            try:
                await say(group, connection, line)
            except spindle.Error as error:
                show(f"* not sent: {error}")
        lost = await connection.drain(10)
        await shower
    if lost:
        print(f"chat: the last {lost.messages} messages were not taken", file=sys.stderr)
    return 1 if lost else 0


run("chat", main(Options(HELP)))

"""Files for all who are in a group: one gives them, and everybody else takes them into a directory."""
import os
import sys

import spindle
from common import Options, run, show
from spindle import BulkSink, BulkSource

HELP = """\
share [--connect ADDRESS] [--name NAME] give GROUP PATH
share [--connect ADDRESS] [--name NAME] [--count COUNT] take GROUP DIRECTORY

give   sends the file or directory PATH to all who are in GROUP, and ends when each of them has it, has failed or
       has refused it
take   receives into DIRECTORY what is given to GROUP. What is there already is not replaced

  --count COUNT   ends after so many; otherwise it goes on
"""


def show_progress(event):
    if event.size:
        show(f"{event.bytes} of {event.size} bytes")


def source_of(path):
    return BulkSource.directory(path) if os.path.isdir(path) else BulkSource.file(path)


async def give(connection, group, path):
    """The source has to stay until all have it."""
    channel = await connection.bulk.offer(group, source_of(path))
    async for event in connection:
        if isinstance(event, spindle.Disconnected):
            raise spindle.NotConnected(event.code, event.text)
        if getattr(event, "channel", None) != channel:
            continue
        if isinstance(event, spindle.BulkProgress):
            show_progress(event)
        elif isinstance(event, spindle.BulkEnded):
            raise spindle.Error(event.code or spindle.Code.UNKNOWN_CHANNEL, event.text)
        elif isinstance(event, spindle.BulkComplete):
            for name in event.done:
                show(f"{name} has it")
            for name, code in event.failed:
                show(f"{name} could not take it: {code.text}")
            for name in event.refused:
                show(f"{name} did not want it")
            return


def answer(connection, offered, directory):
    """Somebody waits for each answer: what cannot be accepted is refused."""
    try:
        connection.bulk.accept(offered.channel, BulkSink.directory(directory))
        show(f"{offered.source} gives {offered.name}")
    except spindle.Error as error:
        show(f"not taken: {error}")
        connection.bulk.refuse(offered.channel)


async def take(connection, group, directory, count):
    await connection.join(group, timeout=5)
    show("ready")
    received = 0
    async for event in connection:
        if isinstance(event, spindle.BulkOffered):
            answer(connection, event, directory)
        elif isinstance(event, spindle.BulkProgress):
            show_progress(event)
        elif isinstance(event, spindle.BulkReceived):
            show(f"not received: {event.text}" if event.code else f"received {event.path}")
            received += 1
            if received == count:
                return
        elif isinstance(event, spindle.Disconnected):
            raise spindle.NotConnected(event.code, event.text)


async def main():
    options = Options(HELP, count="0")
    if len(options.words) != 3 or options.words[0] not in ("give", "take"):
        print(HELP, end="", file=sys.stderr)
        return 2
    what, group, path = options.words
    async with options.connect(bulk=True) as connection:
        if what == "give":
            await give(connection, group, path)
        else:
            await take(connection, group, path, int(options["count"]))
    return 0


run("share", main())

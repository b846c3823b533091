#!/usr/bin/env python3
"""A map of which several programs have the same copy, as long as a majority of them is together.

Updates are agreed messages, so all replicas apply the same ones in the same order. After a transitional signal they are
tentative, until the view that follows says whether a majority has them. Where members meet that were not together, one
of each side sends its state, and all go on with the newest."""
import asyncio
import contextlib
import copy

import spindle
from common import Options, input_lines, run, show
from spindle import Service, ViewCause, ViewForm

HELP = """replicated_map [--connect ADDRESS] [--name NAME] [--replicas N] GROUP

One of N replicas (3) of a map. Commands are the lines of standard input:

  set KEY VALUE   changes the map at all replicas; KEY is one word
  remove KEY
  list            shows this replica's map

Changes wait until a majority of the replicas is together.
"""

UPDATE = 0  # "set KEY VALUE" or "remove KEY"
STATE = 1  # see Replica.send_state()


class State:
    def __init__(self, version=0):
        self.version = version  # how many updates were applied
        self.values = {}

    def apply(self, update):
        verb, key, value = [*update.split(" ", 2), "", ""][:3]
        if verb == "set":
            self.values[key] = value
        elif verb == "remove":
            self.values.pop(key, None)
        self.version += 1


class Replica:
    def __init__(self, connection, group, replicas):
        self._connection, self._group, self._replicas = connection, group, replicas
        self._news = asyncio.Condition()
        self.state = State()
        self._before_signal = None  # what holds if the view that follows has no majority
        self._members = 0
        self._awaited = 0  # members whose state has not come yet
        self._exchange = ""  # the view that states are exchanged for
        self._newest = self.state  # of those that have come
        self._update = None  # that is not done yet
        self._is_under_way = False
        self._has_ended = False

    async def update(self, text):
        """Waits until the update is done."""
        self._update = text
        await self._send_update()
        async with self._news:
            await self._news.wait_for(lambda: self._update is None or self._has_ended)
        if self._has_ended:
            raise spindle.NotConnected(spindle.Code.NOT_CONNECTED)

    async def handle_all(self):
        async for event in self._connection:
            await self._handle(event)
            async with self._news:
                self._news.notify_all()

    async def _handle(self, event):
        if isinstance(event, spindle.Message):
            await (self._handle_state(event) if event.type == STATE else self._handle_update(event))
        elif isinstance(event, spindle.GroupView) and event.form is ViewForm.FULL:
            await self._handle_view(event)
        elif isinstance(event, spindle.Transitional):
            if self._before_signal is None:  # who is separated from here may not get what follows
                self._before_signal = copy.deepcopy(self.state)
        elif isinstance(event, spindle.Disconnected):
            show(f"the connection has ended: {event.text}")
            self._has_ended = True

    def _has_majority(self):
        return self._members > self._replicas // 2

    def _is_serving(self):
        """The same at all who get a message at its place in the order, so that all apply it or all pass over it."""
        return self._has_majority() and self._awaited == 0

    async def _multicast(self, kind, text):
        with contextlib.suppress(spindle.NotConnected):  # an event tells
            await self._connection.multicast(Service.AGREED, self._group, text.encode(), type=kind)

    async def _send_update(self):
        if self._update is not None and not self._is_under_way and self._is_serving():
            self._is_under_way = True
            await self._multicast(UPDATE, self._update)

    async def _handle_update(self, message):
        is_mine = message.sender == self._connection.private_name
        if is_mine:
            self._is_under_way = False  # and it is sent again where it was passed over
        if not self._is_serving():
            return
        text = message.payload.decode()
        self.state.apply(text)
        show(text + (" (tentative)" if self._before_signal is not None else ""))
        if is_mine:
            self._update = None

    async def _handle_view(self, view):
        self._members = view.member_count
        if self._before_signal is not None and view.cause is ViewCause.NETWORK:
            if not self._has_majority():
                self.state = self._before_signal
            self._before_signal = None
        await self._exchange_states(view)
        if self._awaited == 0:
            await self._go_on()

    async def _go_on(self):
        show(f"{'serving' if self._has_majority() else 'waiting'} with {self._members} of {self._replicas}, "
             f"version {self.state.version}")
        await self._send_update()

    async def _exchange_states(self, view):
        """Where members meet that were not together, or while states are on their way already: then each sends its
        own."""
        me = self._connection.private_name
        side = self._side_of(view, me)
        if len(side) == view.member_count and self._awaited == 0:
            return
        if self._awaited != 0:
            side = [me]
        self._awaited = view.member_count
        self._exchange = f"{view.id.view_number}.{view.id.position}"
        self._newest = copy.deepcopy(self.state)
        if side[0] == me:
            await self._send_state(len(side))

    @staticmethod
    def _side_of(view, me):
        """Who has the same state as this replica."""
        if view.cause is ViewCause.NETWORK:
            return list(view.vs_set)
        return [me] if me in view.joined else [name for name in view.members if name not in view.joined]

    async def _send_state(self, members):
        """ "EXCHANGE MEMBERS VERSION", where MEMBERS is how many have this state; then a line "KEY VALUE" for each
        key."""
        lines = [f"{self._exchange} {members} {self.state.version}"]
        lines += [f"{key} {value}" for key, value in sorted(self.state.values.items())]
        await self._multicast(STATE, "\n".join(lines) + "\n")

    async def _handle_state(self, message):
        head, *lines = message.payload.decode().splitlines()
        exchange, members, version = head.split(" ")
        if self._awaited == 0 or exchange != self._exchange:
            return
        if int(version) > self._newest.version:
            self._newest = State(int(version))
            self._newest.values = dict(line.split(" ", 1) for line in lines)
        self._awaited -= min(self._awaited, int(members))
        if self._awaited == 0:
            self.state = self._newest
            await self._go_on()


async def main(options):
    # What it sent last may have been applied or not when the connection is lost. So it ends, and begins with the state
    # of the others when it is started again.
    async with options.connect(reconnect_timeout=0) as connection:
        replica = Replica(connection, options.words[0], int(options["replicas"]))
        handler = asyncio.ensure_future(replica.handle_all())
        await connection.join(options.words[0], timeout=5)
        async for line in input_lines():
            if line == "list":
                for key, value in sorted(replica.state.values.items()):
                    show(f"{key} = {value}")
            elif line.startswith(("set ", "remove ")):
                await replica.update(line)
            else:
                show("commands are set KEY VALUE, remove KEY, list")
        await connection.close()
        await handler
    return 0


run("replicated_map", main(Options(HELP, replicas="3")))

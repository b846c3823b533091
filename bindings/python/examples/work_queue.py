#!/usr/bin/env python3
"""Jobs that a group of workers shares out without anybody in charge, and that are taken over when a worker leaves.

A job is an agreed message to the group, so all workers know the same jobs in the same order, and by one rule find the
same worker for each. An answer goes to who has asked, by its private name, and with the same message to the group,
which forgets the job then."""
import asyncio
from dataclasses import dataclass

import spindle
from common import Options, run, show
from spindle import Service

HELP = """work_queue [--connect ADDRESS] [--name NAME] [--seconds S] work GROUP
work_queue [--connect ADDRESS] [--name NAME] ask GROUP NUMBER...

The first is a worker of GROUP, which splits numbers into their prime factors, each in S seconds (0) more than that
takes, until it is ended. The second asks the workers for those of each NUMBER, and ends when all have come.
"""

JOB = 0  # "ID NUMBER", to the group; the ID is the asker's
ANSWER = 1  # "ASKER ID NUMBER = FACTOR * FACTOR ...", to the asker and to the group


def factorize(number):
    factors, rest, factor = [], number, 2
    while rest > 1:
        if factor * factor > rest:
            factor = rest
        while rest % factor == 0:
            factors.append(str(factor))
            rest //= factor
        factor += 1
    return f"{number} = {' * '.join(factors)}"


@dataclass
class Job:
    asker: str
    id: str
    number: int
    candidates: list  # the members that know it, in an order that is the same at all of them
    worker: str = ""  # who of these does it

    def assign(self):
        """By the number alone: who knows the job and its candidates finds the same worker."""
        if self.candidates:
            self.worker = self.candidates[self.number % len(self.candidates)]


class Worker:
    def __init__(self, connection, group, pause):
        self._connection, self._group, self._pause = connection, group, pause
        self._begin_anew()

    async def run(self):
        """Until the connection ends."""
        await self._connection.join(self._group, timeout=5)
        while True:
            # What has come is looked at before each job: somebody may have left.
            job = self._my_job()
            try:
                event = await self._connection.receive(timeout=None if job is None else 0)
            except spindle.TimedOut:
                await self._perform(job)
            except spindle.NotConnected:
                return
            else:
                self._handle(event)

    def _my_job(self):
        me = self._connection.private_name
        return next((job for job in self._jobs if job.worker == me and (job.asker, job.id) not in self._done), None)

    def _handle(self, event):
        if isinstance(event, spindle.Message):
            self._take_job(event) if event.type == JOB else self._forget(event)
        elif isinstance(event, spindle.GroupView) and event.members:
            self._take_view(event)
        elif isinstance(event, spindle.Reconnected) and not event.resumed:
            self._begin_anew()  # the others have given its jobs to each other
        elif isinstance(event, spindle.Disconnected):
            show(f"the connection has ended: {event.text}")

    def _begin_anew(self):
        self._members, self._jobs, self._done = (), [], set()

    def _take_job(self, message):
        number = message.payload.decode().split()
        job = Job(message.sender, number[0], int(number[1]), list(self._members))
        job.assign()
        self._jobs.append(job)

    def _forget(self, message):
        asker, number = message.payload.decode().split()[:2]
        self._jobs = [job for job in self._jobs if (job.asker, job.id) != (asker, number)]
        self._done.discard((asker, number))

    def _take_view(self, view):
        """Who comes has not seen the jobs that there are; those of who has gone are given to others that have."""
        self._members = view.members
        show(f"{len(self._members)} workers")
        for job in self._jobs:
            job.candidates = [name for name in job.candidates if name in self._members]
            if job.worker not in self._members:
                show(f"job {job.number} of {job.worker} is given to others")
                job.assign()

    async def _perform(self, job):
        show(f"doing {job.number}")
        await asyncio.sleep(self._pause)
        answer = f"{job.asker} {job.id} {factorize(job.number)}"
        await self._connection.multicast(Service.AGREED, [job.asker, self._group], answer.encode(), type=ANSWER)
        self._done.add((job.asker, job.id))  # until the answer comes back


async def ask(connection, group, numbers):
    """Asks for all numbers at once, and shows answers in the order in which they come."""
    waiting = {str(i): number for i, number in enumerate(numbers, 1)}

    async def send():
        for number, question in waiting.items():
            await connection.multicast(Service.AGREED, group, f"{number} {question}".encode(), type=JOB)

    await send()
    while waiting:
        event = await connection.receive()
        if isinstance(event, spindle.Reconnected) and not event.resumed:
            await send()  # answers went to the name that asked, which is nobody's now
        elif isinstance(event, spindle.Message) and event.type == ANSWER:
            _, number, answer = event.payload.decode().split(maxsplit=2)
            if waiting.pop(number, None) is not None:
                show(answer)


async def main(options):
    if len(options.words) < 2:
        raise spindle.BadArgument(spindle.Code.BAD_ARGUMENT, "say --help")
    what, group, *numbers = options.words
    async with options.connect() as connection:
        if what == "work":
            await Worker(connection, group, float(options["seconds"])).run()
            return 1
        await ask(connection, group, numbers)
    return 0


run("work_queue", main(Options(HELP, seconds="0")))

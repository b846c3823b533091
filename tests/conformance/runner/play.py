"""Runs one scenario with one driver."""
import collections
import tempfile
import time

from . import bulk, calls, expectations, feeds, stage
from .failure import Failure
from .words import BadLine

Programs = collections.namedtuple("Programs", "spindled spmonitor")
# `trouble`: empty for a scenario that holds.
Result = collections.namedtuple("Result", "name trouble seconds")

CLIENT_VERBS = {**calls.VERBS, **expectations.VERBS, **bulk.VERBS, **feeds.VERBS}


def play(programs, driver_command, scenario):
    begin = time.monotonic()
    trouble = ""
    # A short path: a unix socket's must fit into 107 bytes.
    with tempfile.TemporaryDirectory(prefix="conf-", dir="/tmp") as folder:
        scene = stage.Stage(programs, driver_command, folder, scenario)
        try:
            perform(scene, scenario)
        except (Failure, BadLine) as failure:
            trouble = f"{failure}\n{scene.logs()}"
        finally:
            scene.close()
    return Result(scenario.name, trouble, time.monotonic() - begin)


def perform(scene, scenario):
    for step in scenario.steps:
        try:
            perform_step(scene, step)
        except (Failure, BadLine) as failure:
            raise Failure(f"{step.where()}\n    {failure}") from None
    try:
        clients = scene.open_clients()
        if clients:
            scene.each(clients, lambda client: client.finish_all())
            scene.each(clients, expectations.expect_nothing)
    except (Failure, BadLine) as failure:
        raise Failure(f"{scenario.file}:{scenario.line}: the end of {scenario.name}\n    {failure}") from None


def perform_step(scene, step):
    if step.subjects:
        CLIENT_VERBS[step.verb](scene, step, scene.clients(step.subjects))
    else:
        stage.VERBS[step.verb](scene, step.arguments)

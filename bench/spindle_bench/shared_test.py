"""What the commands share: marks, tables, measuring anew, files. No system runs."""

import contextlib
import io
import json
import os
import pathlib
import signal
import sys
import tempfile
import unittest
import unittest.mock

from spindle_bench import flush, handshakes
from spindle_bench.marks import at_least, at_most, below, verdict, within
from spindle_bench.processes import (Disturbed, MeasurementFailed, end_all, end_input, read_line, start, tell,
                                     undisturbed, wait_until_ready)
from spindle_bench.results import write_json
from spindle_bench.sim.command import as_options, parse_arguments
from spindle_bench.tables import align, align_left

ECHO = "import sys; print('ready', flush=True); [print(line, end='', flush=True) for line in sys.stdin]"


class Marks(unittest.TestCase):
    def test_a_bound_holds_up_to_itself_or_below(self):
        self.assertEqual([at_least(2).holds(figure) for figure in (1.9, 2, 2.1)], [False, True, True])
        self.assertEqual([at_most(2).holds(figure) for figure in (1.9, 2, 2.1)], [True, True, False])
        self.assertEqual([below(2).holds(figure) for figure in (1.9, 2, 2.1)], [True, False, False])
        self.assertEqual([within(2, 3).holds(figure) for figure in (1.9, 2, 3, 3.1)], [False, True, True, False])

    def test_it_says_what_it_asks(self):
        self.assertEqual([str(at_least(0.95)), str(at_most(20_000, "{:,}")), str(below(290 / 228, "{:.3g}")),
                          str(within(0.9, 1.1))], [">= 0.95", "<= 20,000", "< 1.27", "0.9 to 1.1"])
        self.assertEqual([verdict(None), verdict(True), verdict(False)], ["", "ok", "FALLS SHORT"])


class Tables(unittest.TestCase):
    def test_columns_are_as_wide_as_their_widest_cell(self):
        rows = [["a", "bb", "c"], ["ddd", "e", "ff"]]
        self.assertEqual(align(rows, left=1).splitlines(), ["a    bb   c", "ddd   e  ff"])
        self.assertEqual(align_left(rows).splitlines(), ["a    bb  c", "ddd  e   ff"])


class Measuring(unittest.TestCase):
    def measure(self, *outcomes):
        """`outcomes`, one for each time that it is called: something to return, or to raise."""
        left = list(outcomes)

        def once():
            outcome = left.pop(0)
            if isinstance(outcome, Exception):
                raise outcome
            return outcome
        with contextlib.redirect_stderr(io.StringIO()):
            return undisturbed(once)

    def test_what_was_disturbed_is_measured_again(self):
        self.assertEqual(self.measure(Disturbed("late"), Disturbed("late"), 7), 7)

    def test_three_times_at_most(self):
        with self.assertRaisesRegex(MeasurementFailed, "3 times"):
            self.measure(*[Disturbed("late")] * 3)

    def test_what_fails_is_not(self):
        with self.assertRaisesRegex(MeasurementFailed, "broken"):
            self.measure(MeasurementFailed("broken"), 7)


class Processes(unittest.TestCase):
    def start(self, program):
        process = start([sys.executable, "-c", program])
        self.addCleanup(end_all, [process])
        return process

    def test_they_talk_by_lines_until_their_input_ends(self):
        process = self.start(ECHO)
        wait_until_ready(process, 10, "it")
        tell(process, "go 7")
        self.assertEqual(read_line(process, 10), "go 7\n")
        self.assertEqual(end_input(process, 10), 0)

    def test_one_that_says_something_else_is_not_ready(self):
        with self.assertRaisesRegex(MeasurementFailed, "it did not get ready"):
            wait_until_ready(self.start("print('no')"), 10, "it")

    def test_one_that_does_not_end_is_killed(self):
        process = self.start("import time; print('ready', flush=True); time.sleep(60)")
        wait_until_ready(process, 10, "it")
        self.assertIsNone(end_input(process, 0.1))

    def test_all_are_asked_to_end_and_then_killed(self):
        stubborn = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('ready', flush=True); " \
                   "time.sleep(60)"
        processes = [self.start(ECHO), self.start(stubborn)]
        for process in processes:
            wait_until_ready(process, 10, "it")
        end_all(processes, patience=0.5)
        self.assertEqual([process.returncode for process in processes], [-15, -9])


class Daemons(unittest.TestCase):
    """Those of a command whose last daemon does not come up."""

    def end_of(self, main, spindled):
        """The error that `main` ends with, and the processes that are left."""
        with tempfile.TemporaryDirectory() as build:
            pids = pathlib.Path(build, "pids")
            pathlib.Path(build, "tools").mkdir()
            for program, script in (("spindled", f"echo $$ >>{pids}\n{spindled}"), ("tools/spmonitor", "exit 0")):
                pathlib.Path(build, program).write_text(f"#!/bin/sh\n{script}\n")
                pathlib.Path(build, program).chmod(0o755)
            with self.assertRaises((MeasurementFailed, TypeError)) as failure, \
                    unittest.mock.patch("sys.argv", ["bench", "--build", build]), \
                    unittest.mock.patch("signal.signal"):
                main("bench")
            left = [int(pid) for pid in pids.read_text().split() if pathlib.Path("/proc", pid).exists()]
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        return str(failure.exception), left

    def test_a_daemon_ends_though_another_one_does_not_begin(self):
        says_ready = 'grep -q alpha "$2" || exit 7\necho "ready: links at 127.0.0.1:1"\nexec sleep 60'
        error, left = self.end_of(flush.main, says_ready)
        self.assertIn("ended with status 7", error)
        self.assertEqual([], left)

    def test_a_daemon_ends_that_says_something_else(self):
        self.assertEqual([], self.end_of(handshakes.main, "echo ready\nexec sleep 60")[1])


class Files(unittest.TestCase):
    def test_results_are_written_with_the_folders_above(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "a", "b.json")
            write_json(path, {"path": path, "figure": 1.5})
            self.assertEqual(json.loads(path.read_text()), {"path": str(path), "figure": 1.5})


class Programs(unittest.TestCase):
    def options(self, name, *options):
        with unittest.mock.patch("sys.argv", ["bench", *options]):
            return as_options(parse_arguments(name))

    def test_options_are_handed_on(self):
        self.assertEqual(self.options("scenarios"), ["--jobs", "2", "--output", "build/scenarios"])
        self.assertEqual(self.options("scenarios", "--only", "1,2a", "--only", "3", "--set", "a=1", "b=2", "--check",
                                      "--plots", "--build", "elsewhere", "--seed", "0", "--output", "there"),
                         ["--only", "1,2a", "3", "--seed", "0", "--set", "a=1", "b=2", "--jobs", "2",
                          "--output", "there", "--check"])
        self.assertEqual(self.options("grid", "--lossy", "--list", "--only=10M"),
                         ["--only", "10M", "--list", "--lossy", "--jobs", "2", "--output", "build/grid"])
        self.assertEqual(self.options("bulk-scenarios", "--share", "0.2", "--only=fig6", "--check"),
                         ["--only", "fig6", "--share", "0.2", "--jobs", "2", "--output", "build/bulk-scenarios",
                          "--check"])


if __name__ == "__main__":
    unittest.main()

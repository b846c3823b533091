"""A driver: the process that is one client, and the line that it says first. README.md has the protocol."""
import collections
import contextlib
import os
import subprocess
import threading

from . import words
from .failure import PATIENCE_S, Failure

PROTOCOL = 1

Answer = collections.namedtuple("Answer", "word values")


class Driver:
    def __init__(self, command, log_path):
        self._log_path = log_path
        # What somebody's shell tells clients is not for these.
        environment = {name: value for name, value in os.environ.items() if not name.startswith("SPINDLE_")}
        with open(log_path, "ab") as log:
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
                                             env=environment)
        self._news = threading.Condition()
        self._answers = {}
        self._greeting = None
        self._over = False
        self._last = 0
        threading.Thread(target=self._read, daemon=True).start()
        try:
            self._greet()
        except (Failure, words.BadLine):
            self.end()
            raise

    def _greet(self):
        greeting = self._wait(lambda: self._greeting, "say who it is")
        if greeting.number("protocol") != PROTOCOL:
            raise Failure(f"the driver speaks protocol {greeting.text('protocol')}, and the runner {PROTOCOL}")
        self.language = greeting.text("language")
        self.features = {feature.decode() for feature in greeting.all("feature")}

    def _read(self):
        with self._process.stdout as lines:
            for line in lines:
                self._take(line.decode("ascii", "replace").split())
        with self._news:
            self._over = True
            self._news.notify_all()

    def _take(self, line):
        """The greeting, or the number of a call, a word and its values. Other lines are of no call."""
        with self._news:
            if self._greeting is None and line[:1] == ["driver"]:
                self._greeting = words.Values(line[1:])
            elif len(line) > 1:
                self._answers[line[0]] = Answer(line[1], words.Values(line[2:]))
            self._news.notify_all()

    def _wait(self, ready, what):
        with self._news:
            # Twice as patient as the calls, so that these tell what they waited for.
            self._news.wait_for(lambda: ready() is not None or self._over, 2 * PATIENCE_S)
            found = ready()
        if found is None:
            raise Failure(f"the driver {'has ended and' if self._over else ''} does not {what}\n{self.log()}")
        return found

    def begin(self, verb, pairs=(), aside=False):
        """Asks for a call. Calls are made one after the other, but those aside at once. The number of the call."""
        self._last += 1
        number = str(self._last)
        line = words.write(f"{number} {verb}", [*pairs, *([("aside", "yes")] if aside else [])])
        try:
            self._process.stdin.write(line.encode("ascii") + b"\n")
            self._process.stdin.flush()
        except OSError:
            raise Failure(f"the driver has ended\n{self.log()}") from None
        return number

    def finish(self, number):
        """The answer to a call."""
        answer = self._wait(lambda: self._answers.get(number), "answer")
        del self._answers[number]
        if answer.word == "unusable":
            raise Failure(f"the driver does not understand: {answer.values.text('text')}")
        return answer

    def call(self, verb, pairs=()):
        return self.finish(self.begin(verb, pairs))

    def send_signal(self, number):
        self._process.send_signal(number)

    def end(self):
        self._process.kill()
        self._process.wait()
        with contextlib.suppress(OSError):
            self._process.stdin.close()

    def log(self):
        with open(self._log_path, encoding="utf-8", errors="replace") as file:
            return "".join(file.readlines()[-40:])

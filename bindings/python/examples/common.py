"""What the examples share: their command lines, and lines of standard input."""
import asyncio
import sys
import threading

import spindle


class Options:
    """Options with a value each, and one word at least."""

    def __init__(self, text, **defaults):
        self._values = {"connect": "", "name": "", **defaults}
        self.words = []
        arguments = iter(sys.argv[1:])
        for word in arguments:
            if word == "--help":
                print(text, end="")
                sys.exit(0)
            name = word[2:].replace("-", "_")
            if not word.startswith("--"):
                self.words.append(word)
                continue
            value = next(arguments, None)
            if name not in self._values or value is None:
                self._refuse(text)
            self._values[name] = value
        if not self.words:
            self._refuse(text)

    def __getitem__(self, name):
        return self._values[name]

    def connect(self, **options):
        return spindle.connect(*filter(None, [self["connect"]]), name=self["name"], **options)

    @staticmethod
    def _refuse(text):
        print(text, end="", file=sys.stderr)
        sys.exit(2)


async def input_lines():
    """A thread reads them: not everything that standard input may be can be waited for."""
    loop, lines = asyncio.get_running_loop(), asyncio.Queue()

    def read():
        for line in sys.stdin:
            loop.call_soon_threadsafe(lines.put_nowait, line.rstrip("\n"))
        loop.call_soon_threadsafe(lines.put_nowait, None)

    threading.Thread(target=read, daemon=True).start()
    while (line := await lines.get()) is not None:
        yield line


def show(text):
    print(text, flush=True)


def run(name, main):
    """Runs `main`, whose result is the status."""
    try:
        sys.exit(asyncio.run(main))
    except spindle.Error as error:
        print(f"{name}: {error}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)

"""Network namespaces."""

import itertools
import os
import subprocess

numbers = itertools.count(1)


def run(*command):
    """What it prints."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        raise OSError(f"{' '.join(command)}: {done.stderr.strip() or done.returncode}")
    return done.stdout


class Namespaces:
    """One for each of `names` as long as the context lasts; takes root. Classes that are derived join them."""

    def __init__(self, names):
        self.names = list(names)
        self.prefix = f"spindle-{os.getpid()}-{next(numbers)}-"

    def __enter__(self):
        try:
            for name in self.names:
                run("ip", "netns", "add", self.namespace(name))
                self.ip(name, "link", "set", "lo", "up")
            self.join()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for name in self.names:
            subprocess.run(["ip", "netns", "del", self.namespace(name)], stderr=subprocess.DEVNULL, check=False)

    def join(self):
        raise NotImplementedError

    def namespace(self, name):
        return f"{self.prefix}{name}"

    def inside(self, name):
        """What goes before a command that is to run in a namespace. The process is the command's own."""
        return ["ip", "netns", "exec", self.namespace(name)]

    def ip(self, name, *command):
        run("ip", "-n", self.namespace(name), *command)

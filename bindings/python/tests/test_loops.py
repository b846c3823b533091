"""Other loops than that of asyncio, where they are installed."""
import importlib.util
import os
import pathlib
import subprocess
import sys
import unittest

import support


class Loops(unittest.TestCase):
    @unittest.skipIf(importlib.util.find_spec("uvloop") is None, "uvloop is not installed")
    def test_uvloop(self):
        """All that has to do with bytes on their way."""
        done = subprocess.run([sys.executable, "-B", str(pathlib.Path(__file__).with_name("run")), str(support.BUILD),
                               "test_connection", "test_tls", "test_bulk.Channels"], capture_output=True, text=True,
                              check=False, timeout=300, env={**os.environ, "SPINDLE_TEST_LOOP": "uvloop"})
        self.assertEqual(0, done.returncode, done.stderr)

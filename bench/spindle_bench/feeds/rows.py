"""What is measured, row by row. Each is a function of the setting that gives figures."""

from .bottleneck import CUBIC, RENO, ordered, pairs
from .stream import streams

ROWS = {
    "stream": streams("stream", 1000, 1000),
    # So slow that a flow of TCP would carry it at all losses.
    "slow": streams("slow", 200, 1000),
    "reno": RENO,
    "cubic": CUBIC,
    "pairs": pairs,
    "ordered": ordered,
}

"""How long to wait before measuring, and how long to measure: flows of TCP that share a link take their time."""

import math
from typing import NamedTuple

from .network import queue_bytes

FRAME_BYTES = 1514
# Until what is sent has settled to what the links carry.
WARMUP_SECONDS = 8
# Losses after which an eighth is left of what the windows of two flows differ by: Reno keeps half of a window at each,
# CUBIC 70 %.
LOSSES_TO_SETTLE = {"reno": 3, "cubic": 6}
# Who loses when is luck, and shares of drop-tail queues go up and down with it: as many as can be waited for.
LOSSES_TO_MEASURE = 10
MEASURE_SECONDS_MAX = 180
# CUBIC's window is back after the cubic root of (its reduction in packets / 0.4) seconds (RFC 9438, figure 2).
CUBIC_C = 0.4
CUBIC_REDUCTION = 0.3


class Pace(NamedTuple):
    warmup: int  # seconds, as iperf3 wants them whole
    seconds: int


def of(rate, round_trip_ms, congestion_control, seconds):
    """For a flow alone, and for two that share a link of `rate` bits a second; measured for `seconds` at least."""
    between = seconds_between_losses(rate, round_trip_ms, congestion_control)
    # The queue holds a round trip: who is alone fills the link after a loss, too. Losses at the start may be several.
    return (Pace(max(WARMUP_SECONDS, math.ceil(between / 2)), seconds),
            Pace(max(WARMUP_SECONDS, math.ceil(LOSSES_TO_SETTLE.get(congestion_control, 3) * between)),
                 max(seconds, min(MEASURE_SECONDS_MAX, math.ceil(LOSSES_TO_MEASURE * between)))))


def seconds_between_losses(rate, round_trip_ms, congestion_control):
    """From one loss of a flow to the next, of two that share the link."""
    room = queue_bytes(rate, round_trip_ms)
    window = (rate / 8 * round_trip_ms / 1000 + room) / FRAME_BYTES / 2
    longest_round_trip = round_trip_ms / 1000 + 8 * room / rate
    if congestion_control == "cubic":
        return (window * CUBIC_REDUCTION / CUBIC_C) ** (1 / 3) + 2 * longest_round_trip  # one to lose, one to notice
    # A window of Reno grows by a packet in a round trip, and by the half that was lost.
    return window / 2 * longest_round_trip


def longest(paces):
    paces = list(paces)
    return Pace(max(each.warmup for each in paces), max(each.seconds for each in paces))

"""A fluid model of the loop that admission closes: flows buy at a price that they know late, the queue that they fill
makes the price, and salaries follow it.

One link, flows that always have more to send, all at one distance. No packets, lots, budgets or TCP: what this model
shows is what follows from gains and delays alone, within seconds for any rate. Two laws are there to compare:

  paper     the price is the exponential of the queue's mean length, and salaries grow and shrink at fixed rates
  present   the logarithm of the price integrates how much more arrives than leaves, and how far the queueing time is from
            its aim, in units of the delay with which senders answer; salaries tend to the inverse square of the price
            (docs/flow-control.md, decision 22)

  tools/bench loop                                    a table of both laws over a grid
  tools/bench loop --law present --rate 50 --plot F   one cell; its course over time as text columns in F
  tools/bench loop --rate 50 --delay 25 --figure F    one cell with both laws, drawn as PNG and SVG (takes matplotlib)
"""

import math
from collections import deque
from dataclasses import dataclass, field

from .. import plots
from ..console import make_parser

FIGURE_SECONDS = 6
PACKET_BITS = 1400 * 8
FEE, THRESHOLD, PRICE_MAX, SALARY = 1.0, 2.0, 20.0, 10.0


@dataclass
class Cell:
    """A bottleneck and who sends over it."""

    rate_mbps: float
    delay_s: float  # one way
    flows: int
    seconds: float = 60.0
    settle_s: float = 20.0

    @property
    def packets_per_s(self):
        return self.rate_mbps * 1e6 / PACKET_BITS


@dataclass
class Outcome:
    used: float = 0.0
    queue_mean_s: float = 0.0
    queue_most_s: float = 0.0
    course: list = field(default_factory=list)  # (s, queueing time in s, price, arrivals / rate)


class PaperLaw:
    """Equation (7) of the paper on the mean queue of each interval, and salaries that grow and shrink at
    fixed rates."""

    update_s, step_s, increase, decrease = 0.05, 0.05, 8.0, 1.3
    first_salary, first_price = SALARY, FEE

    def __init__(self, cell):
        self.interval_s = self.update_s
        self.soft_limit = max(100.0, 2 * cell.packets_per_s * self.update_s)

    def price(self, queue_mean, _arrivals, _elapsed_s):
        ratio = min(5.0, queue_mean / self.soft_limit)
        return FEE + PRICE_MAX * math.expm1(ratio) / (math.e - 1)

    def salary(self, salary, price, dt):
        """In dollars a second."""
        excess = price - THRESHOLD
        if excess < 0:
            salary *= math.exp(-excess / (THRESHOLD - FEE) * dt / self.step_s)
        else:
            salary *= math.exp(-self.decrease * excess * dt)
        return salary + SALARY * self.increase * dt


class PresentLaw:
    """The law of decision 22, with its gains: daemon/admission/link_price.cpp and flow.cpp."""

    excess_gain, wait_gain = 0.4, 0.08
    first_interval_s, first_rate = 0.05, 178  # T_min, and the rate that it is for
    aim_s, aim_packets = 0.005, 24
    wait_delays_max = 2
    dearest = 100  # times the first price
    balance_delays = 5
    first_share = 0.5

    def __init__(self, cell):
        self.rate = cell.packets_per_s
        share = self.first_rate / self.rate
        round_trip = 2 * cell.delay_s
        self.interval_s = max(self.first_interval_s * (math.sqrt(share) if share < 1 else share), round_trip / 4)
        self.delay_s = round_trip + 2 * self.interval_s
        self.aim = max(self.aim_s, self.aim_packets / self.rate)
        self.first = math.log(THRESHOLD * (1e6 / self.rate) ** (1 / 3))
        self.level = self.first
        self.first_price = FEE + math.exp(self.level)
        self.first_salary = self.first_share * self.balance(self.first_price)

    @staticmethod
    def balance(price):
        return 1e6 * THRESHOLD * (THRESHOLD / price) ** 2

    def price(self, queue_mean, arrivals, elapsed_s):
        excess = arrivals / self.rate - 1
        wait = min(queue_mean / self.rate - self.aim, self.wait_delays_max * self.delay_s)
        step = elapsed_s / self.delay_s * (self.excess_gain * excess + self.wait_gain * wait / self.delay_s)
        self.level = min(self.first + math.log(self.dearest), max(self.first - math.log(2), self.level + step))
        return FEE + math.exp(self.level)

    def salary(self, salary, price, dt):
        delays = dt / max(self.delay_s, 0.001)
        missing = math.log(self.balance(price) / salary)
        if abs(missing) > 1:
            missing = math.copysign(1 + (abs(missing) - 1) * 0.5**delays, missing)
        return self.balance(price) * math.exp(-missing * math.exp(-delays / self.balance_delays))


LAWS = {"paper": PaperLaw, "present": PresentLaw}


def run(cell, law):
    rate = cell.packets_per_s
    dt = max(0.0002, min(law.interval_s / 4, max(cell.delay_s, 0.0005) / 2, 0.005))
    lag = max(1, round(cell.delay_s / dt))
    arriving = deque([0.0] * lag)
    known = deque([law.first_price] * lag)
    salary, queue, price = law.first_salary, 0.0, law.first_price
    waited = arrived = elapsed = 0.0
    outcome = Outcome()
    left = measured_s = waited_all = 0.0
    for step in range(int(cell.seconds / dt)):
        now = step * dt
        known.append(price)
        heard = known.popleft()
        salary = law.salary(salary, heard, dt)
        arriving.append(cell.flows * salary / heard)
        arrivals = arriving.popleft()
        leaving = min(rate * dt, queue + arrivals * dt)
        queue += arrivals * dt - leaving
        waited += queue * dt
        arrived += arrivals * dt
        elapsed += dt
        if elapsed >= law.interval_s:
            price = law.price(waited / elapsed, arrived / elapsed, elapsed)
            outcome.course.append((now, queue / rate, price, arrived / elapsed / rate))
            waited = arrived = elapsed = 0.0
        if now >= cell.settle_s:
            left += leaving
            waited_all += queue * dt
            measured_s += dt
            outcome.queue_most_s = max(outcome.queue_most_s, queue / rate)
    outcome.used = left / rate / measured_s
    outcome.queue_mean_s = waited_all / measured_s / rate
    return outcome


def grid():
    for rate in (0.25, 2, 10, 50, 100, 400, 10_000):
        for delay_ms in (0.1, 10, 25, 100):
            for flows in (1, 50):
                yield Cell(rate, delay_ms / 1000, flows, seconds=40)


def settled_courses(cell, outcomes):
    """What is drawn: some seconds of each law, once it has settled."""
    return {
        "title": f"{cell.flows} flows, {cell.rate_mbps:g} Mb/s, {1000 * cell.delay_s:g} ms one way",
        "courses": {name: [{"second": second, "queueing_s": queueing, "arrivals": arrivals}
                           for second, queueing, _, arrivals in outcome.course
                           if cell.settle_s <= second <= cell.settle_s + FIGURE_SECONDS]
                    for name, outcome in outcomes.items()},
    }


def main(name):
    parser = make_parser(name, __doc__, build=False, plots=True)
    parser.add_argument("--law", choices=LAWS, help="only this one")
    parser.add_argument("--rate", type=float, help="Mb/s, of one cell instead of the grid")
    parser.add_argument("--delay", type=float, default=10, help="ms, one way")
    parser.add_argument("--flows", type=int, default=50)
    parser.add_argument("--plot", metavar="FILE", help="the course of the one cell over time")
    parser.add_argument("--figure", metavar="FILE", help="some seconds of the one cell, drawn")
    options = parser.parse_args()
    if options.figure and not options.rate:
        parser.error("--figure: --rate says of what")
    cells = [Cell(options.rate, options.delay / 1000, options.flows)] if options.rate else list(grid())
    laws = [options.law] if options.law else list(LAWS)
    print(f"{'Mb/s':>8} {'delay ms':>9} {'flows':>6}  {'law':9} {'used %':>7} {'queue ms':>9} {'packets':>8} {'most ms':>8}")
    for cell in cells:
        outcomes = {}
        for law in laws:
            outcome = outcomes[law] = run(cell, LAWS[law](cell))
            print(
                f"{cell.rate_mbps:8g} {cell.delay_s * 1000:9g} {cell.flows:6}  {law:9} {100 * outcome.used:7.2f} "
                f"{1000 * outcome.queue_mean_s:9.1f} {outcome.queue_mean_s * cell.packets_per_s:8.1f} "
                f"{1000 * outcome.queue_most_s:8.1f}",
                flush=True,
            )
            if options.plot:
                with open(options.plot, "w", encoding="utf-8") as file:
                    file.write("s queueing_s price arrivals\n")
                    file.writelines(f"{a:.4f} {b:.6f} {c:.4f} {d:.4f}\n" for a, b, c, d in outcome.course)
        if options.figure:
            plots.draw("loop", options.figure, settled_courses(cell, outcomes))
    return 0

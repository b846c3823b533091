"""The marks that scale is held to: what is compared is measured in turn."""

import statistics

from ..console import say
from ..marks import at_least, at_most
from .memory import Sampler, settled_bytes, slope
from .points import SIZE, cluster, load_options, measure_load, warm_bytes

GROUPS = 100_000
CLIENTS = 2_000  # at each daemon
# Pools grow to what the longest queues so far have needed, more and more rarely: the first half is left to that.
FILL_SHARE = 0.5

# What is demanded.
THROUGHPUT_RATIO = at_least(0.95)
LATENCY_RATIO = at_most(1.05)
CLIENT_BYTES = at_most(20_000, "{:,}")
GROUP_BYTES = at_most(500)
LOADED_MEGABYTES = at_most(150)
GROWTH_SHARE = at_most(0.05, "{:.0%}")  # of the memory, over the second half of the load


class Marks:
    def __init__(self, arguments, folder):
        self.arguments = arguments
        self.folder = folder
        self.rows = []
        self.series = []

    def run(self):
        """Rows of what, demanded, measured, and whether that is enough."""
        with cluster(self.arguments, self.folder / "plain", self.arguments.base_daemons) as (plain, _):
            self._groups(plain)
            self._clients(plain)
        self._load()
        return self.rows

    def _add(self, what, bound, value, form, detail=""):
        self.rows.append({"what": what, "demanded": str(bound), "value": value, "text": form.format(value) + detail,
                          "good": bound.holds(value)})
        say(f"{what}: {form.format(value)}{detail}")

    def _groups(self, plain):
        with cluster(self.arguments, self.folder / "groups", self.arguments.base_daemons) as (full, _):
            empty = warm_bytes(self.arguments, full)
            full.gather(0, 1, GROUPS, "group")
            full.wait()
            added = [(now - before) / GROUPS for now, before in zip(settled_bytes(full.daemon_pids()), empty)]
            self._add(f"bytes a group, of {GROUPS:,}, where it takes most", GROUP_BYTES, max(added), "{:,.0f}",
                      f" (by daemon: {', '.join(f'{each:,.0f}' for each in added)}; the first has the member)")
            self._compare(f"throughput beside {GROUPS:,} groups, against one", "throughput", "messages_per_second",
                          full, plain, THROUGHPUT_RATIO)

    def _clients(self, plain):
        with cluster(self.arguments, self.folder / "clients", self.arguments.base_daemons) as (full, _):
            empty = warm_bytes(self.arguments, full)
            full.gather_everywhere(CLIENTS * full.count)
            added = [(now - before) / CLIENTS for now, before in zip(settled_bytes(full.daemon_pids()), empty)]
            self._add(f"bytes an idle client, of {CLIENTS:,} at each daemon", CLIENT_BYTES, max(added), "{:,.0f}")
            self._compare(f"median latency beside {CLIENTS:,} idle clients at each daemon, against none", "latency",
                          "p50_us", full, plain, LATENCY_RATIO)

    def _compare(self, what, kind, key, full, plain, bound):
        options = load_options(self.arguments, full.count)
        quotients, values = [], {"full": [], "plain": []}
        for number in range(self.arguments.check_rounds):
            # What comes first in one round comes last in the next: neither always follows the other.
            order = [("full", full), ("plain", plain)]
            for name, system in order if number % 2 == 0 else reversed(order):
                values[name].append(measure_load(system, kind, options)[key])
            quotients.append(values["full"][-1] / values["plain"][-1])
            say(f"{number + 1}/{self.arguments.check_rounds} {what}: {values['full'][-1]:,.0f} against "
                f"{values['plain'][-1]:,.0f}")
        value = statistics.median(quotients)
        self._add(what, bound, value, "{:.3f}",
                  f" ({min(quotients):.3f} to {max(quotients):.3f}; "
                  f"{statistics.median(values['full']):,.0f} against {statistics.median(values['plain']):,.0f})")

    def _load(self):
        """Everything at once: groups, idle clients, and as many messages as go through."""
        seconds = self.arguments.load_seconds
        with cluster(self.arguments, self.folder / "load", self.arguments.base_daemons) as (system, _):
            system.gather_everywhere(CLIENTS * system.count)
            system.gather(0, 1, GROUPS, "group")
            system.wait()
            say(f"full load for {seconds:g} s")
            sampler = Sampler(system.daemon_pids())
            sampler.start()
            try:
                rate = measure_load(system, "throughput", load_options(self.arguments, system.count, seconds=seconds))
            finally:
                sampler.stop()
        samples = sampler.samples
        self.series = [[at, *values] for at, values in samples]
        late = [sample for sample in samples if sample[0] >= FILL_SHARE * samples[-1][0]]
        detail = f" ({SIZE} bytes, {rate['messages_per_second']:,.0f} messages/s for {seconds:g} s)"
        most = max(max(values) for _, values in samples)
        self._add("MB resident in a daemon under full load, the most", LOADED_MEGABYTES, most / 1e6, "{:.1f}", detail)
        growths = []  # share, bytes a second
        for daemon in range(len(samples[0][1])):
            line = [(at, values[daemon]) for at, values in late]
            rise = slope(line)
            growths.append((rise * (line[-1][0] - line[0][0]) / statistics.mean(value for _, value in line), rise))
        share, rise = max(growths)
        self._add("growth of that memory over the second half of the time", GROWTH_SHARE, share, "{:.2%}",
                  f" ({rise * 60 / 1e6:.2f} MB a minute)")

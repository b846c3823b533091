"""The marks that scale is held to: what is compared is measured in turn."""

import statistics

from memory import Sampler, settled_bytes, slope
from points import SIZE, cluster, load_options, measure_load, say, warm_bytes

GROUPS = 100_000
CLIENTS = 2_000  # at each daemon
# Pools grow to what the longest queues so far have needed, more and more rarely: the first half is left to that.
FILL_SHARE = 0.5

# What is demanded.
THROUGHPUT_RATIO_MIN = 0.95
LATENCY_RATIO_MAX = 1.05
CLIENT_BYTES_MAX = 20_000
GROUP_BYTES_MAX = 500
LOADED_BYTES_MAX = 150e6
GROWTH_SHARE_MAX = 0.05  # of the memory, over the second half of the load


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

    def _add(self, what, demanded, value, form, good, detail=""):
        self.rows.append({"what": what, "demanded": demanded, "value": value, "text": form.format(value) + detail,
                          "good": good})
        say(f"{what}: {form.format(value)}{detail}")

    def _groups(self, plain):
        with cluster(self.arguments, self.folder / "groups", self.arguments.base_daemons) as (full, _):
            empty = warm_bytes(self.arguments, full)
            full.gather(0, 1, GROUPS, "group")
            full.wait()
            added = [(now - before) / GROUPS for now, before in zip(settled_bytes(full.daemon_pids()), empty)]
            self._add(f"bytes a group, of {GROUPS:,}, where it takes most", f"<= {GROUP_BYTES_MAX}", max(added),
                      "{:,.0f}", max(added) <= GROUP_BYTES_MAX,
                      f" (by daemon: {', '.join(f'{each:,.0f}' for each in added)}; the first has the member)")
            self._compare(f"throughput beside {GROUPS:,} groups, against one", "throughput", "messages_per_second",
                          full, plain, THROUGHPUT_RATIO_MIN, None)

    def _clients(self, plain):
        with cluster(self.arguments, self.folder / "clients", self.arguments.base_daemons) as (full, _):
            empty = warm_bytes(self.arguments, full)
            full.gather_everywhere(CLIENTS * full.count)
            added = [(now - before) / CLIENTS for now, before in zip(settled_bytes(full.daemon_pids()), empty)]
            self._add(f"bytes an idle client, of {CLIENTS:,} at each daemon", f"<= {CLIENT_BYTES_MAX:,}", max(added),
                      "{:,.0f}", max(added) <= CLIENT_BYTES_MAX)
            self._compare(f"median latency beside {CLIENTS:,} idle clients at each daemon, against none", "latency",
                          "p50_us", full, plain, None, LATENCY_RATIO_MAX)

    def _compare(self, what, kind, key, full, plain, least, most):
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
        self._add(what, f">= {least}" if least else f"<= {most}", value, "{:.3f}",
                  value >= least if least else value <= most,
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
        self._add("MB resident in a daemon under full load, the most", f"<= {LOADED_BYTES_MAX / 1e6:g}", most / 1e6,
                  "{:.1f}", most <= LOADED_BYTES_MAX, detail)
        growths = []  # share, bytes a second
        for daemon in range(len(samples[0][1])):
            line = [(at, values[daemon]) for at, values in late]
            rise = slope(line)
            growths.append((rise * (line[-1][0] - line[0][0]) / statistics.mean(value for _, value in line), rise))
        share, rise = max(growths)
        self._add("growth of that memory over the second half of the time", f"<= {GROWTH_SHARE_MAX:.0%}", share,
                  "{:.2%}", share <= GROWTH_SHARE_MAX, f" ({rise * 60 / 1e6:.2f} MB a minute)")

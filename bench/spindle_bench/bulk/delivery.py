"""How fast a content gets to many, what that costs, and what is fetched twice."""

import re
import subprocess
import time

from ..figures import Figure
from ..marks import at_least, at_most
from .places import MEGABIT, MIB, content_of, running, star
from .plain import tcp_between, tcp_to_all
from .setting import median_of, repeated
from .transfers import Transfer, transfer

# The last receiver, in times that one TCP connection takes over one of the links.
LAST_DONE = at_most(1.05)


# --- To many, over links of a rate ---


def distribution(name, receivers, edges, rate, is_line):
    def row(setting):
        content = content_of(setting, setting.size)
        # In a star the source's own cable is as fast as all the others together; in a line all are alike.
        limited = range(receivers + 1) if is_line else range(1, receivers + 1)
        with running(setting, name, receivers + 1, edges, {host: rate for host in limited}) as (hosts, daemons):
            def once():
                plain = tcp_between(hosts, 0, 1, content, setting.folder)
                ours = transfer(daemons, content, range(1, receivers + 1))
                return plain, ours
            rounds = repeated(setting, name, once)
        what = f"last of {receivers}, {'line' if is_line else 'star'} of {rate // MEGABIT} Mb/s, by one TCP"
        plain = median_of(rounds, lambda each: each[0])
        ours = median_of(rounds, lambda each: each[1].seconds)
        return [Figure(name, what, median_of(rounds, lambda each: each[1].seconds / each[0]), "{:.3f}", LAST_DONE,
                       f"{ours:.1f} s by {plain:.1f} s")]
    return row


def relay_killed(setting):
    """Two relays, behind them three receivers; one relay is killed half way. The cables of relays are fast: what counts is
    those of the receivers."""
    name, rate = "relay", 200 * MEGABIT
    relays, receivers = (1, 2), (3, 4, 5)
    edges = [(0, relay) for relay in relays] + [(relay, host) for relay in relays for host in receivers]
    content = content_of(setting, setting.share(0.5))
    figures = []
    with running(setting, name, 6, edges, {host: rate for host in receivers}) as (hosts, daemons):
        plain = tcp_between(hosts, 0, 3, content, setting.folder)
        received = lambda: {host: daemons.received_bytes(host) for host in receivers}
        counted = received()
        undisturbed = transfer(daemons, content, receivers)
        whole = {host: after - counted[host] for host, after in received().items()}
        counted = received()
        with Transfer(daemons, content, receivers, 0) as moving:
            moving.start()
            moving.wait_until_received(3, 0.5)
            daemons.kill(1)
            outcome = moving.finish()
        again = max(after - counted[host] - whole[host] for host, after in received().items())
    figures.append(Figure(name, "last of 3 behind two relays, by one TCP", undisturbed.seconds / plain, "{:.3f}",
                          LAST_DONE, f"{undisturbed.seconds:.1f} s by {plain:.1f} s"))
    figures.append(Figure(name, "the same, one relay killed half way", outcome.seconds / plain, "{:.3f}", LAST_DONE,
                          f"{outcome.seconds:.1f} s"))
    figures.append(Figure(name, "fetched again, MiB, most of all", max(0, again) / MIB, "{:.1f}", at_most(16)))
    return figures


def receiver_killed(setting):
    """A receiver is killed half way, and started again after a second."""
    name, rate = "receiver", 200 * MEGABIT
    receivers = (1, 2, 3)
    content = content_of(setting, setting.share(0.5))
    with running(setting, name, 4, star(3), {host: rate for host in receivers}) as (hosts, daemons):
        plain = tcp_between(hosts, 0, 1, content, setting.folder)
        counted = daemons.received_bytes(1)
        undisturbed = transfer(daemons, content, receivers)
        whole = daemons.received_bytes(1) - counted
        counted = daemons.received_bytes(1)
        with Transfer(daemons, content, receivers, 0, stays=True) as moving:
            moving.start()
            moving.wait_until_received(1, 0.5)
            moving.clients[1].kill()
            time.sleep(1)
            moving.receive(1)
            outcome = moving.finish()
        again = daemons.received_bytes(1) - counted - whole
    others = max(seconds for host, seconds in outcome.done.items() if host != 1)
    return [Figure(name, "others, one receiver killed half way, by one TCP", others / plain, "{:.3f}", LAST_DONE,
                   f"{others:.1f} s, undisturbed {undisturbed.seconds:.1f} s"),
            Figure(name, "fetched again by the one that goes on, MiB", max(0, again) / MIB, "{:.1f}", at_most(16),
                   f"it is done after {outcome.done[1]:.1f} s")]


# --- As fast as the machine ---


def unshaped(setting):
    """Beside it what the machine makes of three copies over TCP, without TLS, hashes or an order: where files are slow to
    write, or memory to get, that is what bounds both."""
    receivers = (1, 2, 3)
    content = content_of(setting, setting.size)
    with running(setting, "unshaped", 4, star(3)) as (hosts, daemons):
        plain = repeated(setting, "unshaped", lambda: tcp_to_all(hosts, 0, receivers, content, setting.folder / "plain"))
        rounds = repeated(setting, "unshaped", lambda: transfer(daemons, content, receivers))
    gigabytes = content.size / 1e9
    return [Figure("unshaped", "MB/s at each of 3 receivers, two processors",
                   median_of(rounds, lambda each: content.size / each.seconds / 1e6), "{:.0f}", at_least(300)),
            Figure("unshaped", "processor s for each GB and receiver",
                   median_of(rounds, lambda each: each.processor_seconds / gigabytes / len(receivers)), "{:.2f}",
                   at_most(1.6), "all daemons, the source and the receivers"),
            Figure("unshaped", "MB/s at each of 3 plain TCP connections", median_of(
                plain, lambda each: content.size / each[0] / 1e6), "{:.0f}"),
            Figure("unshaped", "processor s for each GB and plain TCP connection", median_of(
                plain, lambda each: each[1] / gigabytes / len(receivers)), "{:.2f}")]


# --- Bytes ---


def tcp_received(hosts, host):
    """Bytes that have come to a host over connections that are there, without the heads of packets."""
    done = subprocess.run([str(part) for part in [*hosts.inside(host), "ss", "-H", "-t", "-i", "-n"]],
                          capture_output=True, text=True, check=True)
    return sum(int(count) for count in re.findall(r"bytes_received:(\d+)", done.stdout))


def overhead(setting):
    """What comes to hosts beyond the content: all of two connections' bytes, links with their control included; and by the
    devices, with the heads of packets as large as TCP makes them here. One receiver has a tenth of the rate of others, so
    that it misses most of what passes."""
    name, rate = "overhead", 200 * MEGABIT
    content = content_of(setting, setting.share(0.1))
    rates = {1: rate, 2: rate, 3: rate // 10}
    with running(setting, name, 4, star(3), rates) as (hosts, daemons):
        transfer(daemons, content_of(setting, 1 << 20), rates)  # hops are there then
        content = content_of(setting, setting.share(0.1))
        before = {host: (tcp_received(hosts, host), daemons.received_bytes(host)) for host in rates}
        transfer(daemons, content, rates)
        beyond = {host: [after / content.size - 1 for after in (
            tcp_received(hosts, host) - before[host][0], daemons.received_bytes(host) - before[host][1])] for host in rates}
    quick = max(beyond[host][0] for host in (1, 2))
    return [Figure(name, "beyond the content at receivers that keep up, %", 100 * quick, "{:.3f}", at_most(0.5),
                   "0.22 % are the heads of symbols"),
            Figure(name, "at one of a tenth of the rate, %", 100 * beyond[3][0], "{:.3f}", at_most(0.5)),
            Figure(name, "with the heads of packets, %", 100 * max(each[1] for each in beyond.values()), "{:.3f}")]

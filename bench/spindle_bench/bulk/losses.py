"""Links that lose frames and are long."""

import string

from ..field.network import Network
from ..figures import Figure
from ..marks import at_least, at_most
from ..namespaces import run
from .places import MEGABIT, content_of
from .plain import tcp_seconds
from .setting import median_of, repeated
from .transfers import Daemons, transfer

RATE = 50 * MEGABIT
# What is in the rings of a chain at the end comes in a third of a second, which is not to be taken for a loss of rate.
LOSSY_BYTES_LEAST = 50_000_000


def lose(network, link, per_mille):
    """So many of a thousand frames, in each direction."""
    run(*network.inside("".join(link)), "nft", "flush ruleset; table inet bulk { chain forward { type filter hook forward "
        f"priority 0; policy accept; numgen random mod 1000 < {per_mille} drop; }}; }}")


def joined(setting, links, round_trip_ms):
    return Network({link: RATE for link in links}, round_trips={link: round_trip_ms for link in links},
                   delay_line=setting.build / "bench" / "delay_line")


def daemons_on(setting, network, name, links):
    return Daemons(setting.build, setting.folder / name, network, links, network.address)


def seconds_of_chain(setting, content, hops, per_mille, round_trip_ms):
    hosts = string.ascii_lowercase[:hops + 1]
    links = list(zip(hosts, hosts[1:]))
    with joined(setting, links, round_trip_ms) as network:
        for link in links:
            lose(network, link, per_mille)
        with daemons_on(setting, network, "chain", links) as daemons:
            return transfer(daemons, content, [hosts[-1]], hosts[0]).seconds


def loss(setting):
    """A chain, each link of which loses one frame in a hundred: what a further hop costs."""
    hops, round_trip_ms, per_mille = 4, 4, 10
    content = content_of(setting, max(setting.share(0.05), LOSSY_BYTES_LEAST))
    rounds = repeated(setting, "loss", lambda: [seconds_of_chain(setting, content, count, per_mille, round_trip_ms)
                                                for count in (1, hops)])
    one, all_of_them = (median_of(rounds, lambda each, i=i: each[i]) for i in (0, 1))
    a_hop = 100 * (1 - (one / all_of_them) ** (1 / (hops - 1)))
    return [Figure("loss", "rate lost by a further hop, %", a_hop, "{:.1f}", at_most(3),
                   f"{8 * content.size / one / MEGABIT:.1f} Mb/s over 1 hop, "
                   f"{8 * content.size / all_of_them / MEGABIT:.1f} over {hops}; 1 % loss, {round_trip_ms} ms each")]


def detour(setting):
    """The direct way loses frames and is long; the one over a third host does not lose any."""
    round_trip_ms, per_mille = 30, 20
    direct, around = ("a", "b"), [("a", "c"), ("c", "b")]
    content = content_of(setting, setting.share(0.02))
    with joined(setting, [direct, *around], round_trip_ms) as network:
        lose(network, direct, per_mille)
        place = setting.folder / "direct"
        with daemons_on(setting, network, "detour", around) as daemons:
            def once():
                plain = tcp_seconds((network.inside("a"), network.inside("b")), network.address("b", "a"), content, place)
                place.unlink()
                return plain, transfer(daemons, content, ["b"], "a").seconds
            rounds = repeated(setting, "detour", once)
    return [Figure("detour", "rate over a third host by one TCP directly",
                   median_of(rounds, lambda each: each[0] / each[1]), "{:.1f}", at_least(2),
                   f"direct {round_trip_ms} ms and 2 % loss; around twice {round_trip_ms} ms, none")]

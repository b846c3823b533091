"""The mesh beside the tree alone: daemons on hosts whose cables are uneven and slow, so that these decide and not the
processors."""

from ..figures import Figure
from ..marks import at_most
from .peers import Aria2, Transmission, peer_done
from .places import MEGABIT, content_of, hosts_with, star
from .setting import median_of, repeated
from .transfers import PORT, Course, Daemons, transfer

HOSTS = 16
RECEIVERS = tuple(range(1, HOSTS))
# Of cables, of host 0 first, which has the content.
RATES = [rate * MEGABIT for rate in (20, 20, 6, 14, 8, 20, 6, 12, 4, 18, 10, 7, 16, 5, 14, 9)]
BYTES = 6_000_000
PEERS = {"aria2": Aria2, "transmission": Transmission}


def around():
    """The source is a neighbour of all others, and of these each of the next two."""
    step = lambda host, far: (host - 1 + far) % (HOSTS - 1) + 1
    edges = [(0, host) for host in RECEIVERS]
    return edges + [tuple(sorted((host, step(host, far)))) for host in RECEIVERS for far in (1, 2)]


def seconds_of(setting, hosts, what, edges, content, mesh, rate=None):
    """Receivers stay, as those of torrents do. All daemons tell an address, so that they need not be neighbours. What comes
    to receivers meanwhile goes to the courses of `setting`."""
    settings = lambda host: [f'[bulk]\nmesh = {mesh}\naddress = "{hosts.address(host)}:{PORT}"']
    with Daemons(setting.build, setting.folder / f"mesh-{mesh}", hosts, edges, settings=settings) as daemons:
        with Course(daemons, RECEIVERS) as course:
            seconds = transfer(daemons, content, RECEIVERS, rate=rate, serves=True).seconds
    setting.courses.append({"row": "mesh", "what": what, "series": "with the mesh" if mesh == "true" else "the tree alone",
                            "rates": course.rates()})
    return seconds


def in_turn(setting, hosts, what, edges, content, rate=None):
    """Rounds of (tree alone, mesh beside it)."""
    return repeated(setting, f"mesh, {what}", lambda: [
        seconds_of(setting, hosts, what, edges, content, mesh, rate) for mesh in ("false", "true")])


def figure_of(what, rounds, must):
    tree, mesh = (median_of(rounds, lambda each, i=i: each[i]) for i in (0, 1))
    return Figure("mesh", f"time by that of the tree alone, {what}", median_of(rounds, lambda each: each[1] / each[0]),
                  "{:.3f}", must, f"{mesh:.1f} s by {tree:.1f} s")


def beside_the_tree(setting):
    """Where all children share the cable of the source, with neighbours and without, and where the source itself is slower
    than any cable."""
    content = content_of(setting, min(setting.size, BYTES))
    receivers = len(RECEIVERS)
    with hosts_with(HOSTS, dict(enumerate(RATES))) as hosts:
        alone = in_turn(setting, hosts, "a star", star(receivers), content)
        figures = [figure_of(f"{receivers} receivers in a star, which share the cable of the source", alone, at_most(0.6))]
        joined = in_turn(setting, hosts, "neighbours", around(), content)
        figures.append(figure_of("the same, each a neighbour of the next two", joined, at_most(0.6)))
        slow = RATES[0] // 8 // receivers * 2 // 3  # bytes a second: two thirds of a share of that cable
        capped = in_turn(setting, hosts, "a slow source", star(receivers), content, slow)
        figures.append(figure_of("a source slower than all cables", capped, at_most(1.02)))
        ours = median_of(alone, lambda each: each[1])
        for name, peer in PEERS.items() if setting.peers else ():
            done = peer_done(setting, hosts, content, name, peer, RECEIVERS)
            seconds = done and max(done.values())
            figures.append(Figure("mesh", f"time in a star by that of {name}", seconds and ours / seconds, "{:.2f}",
                                  at_most(1), f"{seconds:.1f} s" if seconds else "cannot be had here"))
    return figures

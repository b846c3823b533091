"""What is measured, row by row. Each is a function of the setting that gives figures."""

from .beside import bursts, ordered
from .delivery import distribution, overhead, receiver_killed, relay_killed, unshaped
from .failover import failover
from .losses import detour, loss
from .memory import memory
from .mesh import beside_the_tree
from .peers import beside_peers
from .places import GIGABIT, MEGABIT, line, star
from .resume import resume

ROWS = {
    "star3": distribution("star3", 3, star(3), GIGABIT, False),
    "star8": distribution("star8", 8, star(8), 200 * MEGABIT, False),
    "line8": distribution("line8", 8, line(8), 200 * MEGABIT, True),
    "star16": distribution("star16", 16, star(16), 200 * MEGABIT, False),
    "line16": distribution("line16", 16, line(16), 200 * MEGABIT, True),
    "relay": relay_killed,
    "receiver": receiver_killed,
    "unshaped": unshaped,
    "peers": beside_peers,
    "mesh": beside_the_tree,
    "ordered": ordered,
    "bursts": bursts,
    "loss": loss,
    "detour": detour,
    "failover": failover,
    "memory": memory,
    "resume": resume,
    "overhead": overhead,
}

"""A receiver that has nearly all of a large content, and is started again."""

import hashlib
import os
import subprocess
import time

from ..figures import Figure
from ..marks import at_most
from ..namespaces import run
from ..processes import wait_for
from .places import MIB, line, running
from .transfers import Transfer

BLOCK_BYTES = 8 * MIB
SYMBOL_BYTES = 8192
LACKING_BLOCKS = 64
STATE_VERSION = 1
GOES_ON_SECONDS = 600
FRAMING = 0.004  # heads of symbols and packets
CRC32C_POLYNOMIAL = 0x82F63B78


class Disk:
    """A file system of its own, far larger than what is there for it: only what is written takes room."""

    def __init__(self, folder, size):
        self.image = folder / "image"
        self.place = folder / "disk"
        self.size = size

    def __enter__(self):
        self.place.mkdir()
        with open(self.image, "wb") as image:
            image.truncate(self.size)
        # Huge contents in few files: hardly any inodes, and no journal to write.
        run("mkfs.ext4", "-q", "-O", "^has_journal", "-N", "64", "-m", "0", "-E", "lazy_itable_init=1,nodiscard",
            str(self.image))
        run("mount", "-o", "loop", str(self.image), str(self.place))
        return self.place

    def __exit__(self, *_):
        subprocess.run(["umount", "-l", str(self.place)], check=False)
        self.image.unlink()


def crc32c(data):
    table = []
    for octet in range(256):
        for _ in range(8):
            octet = (octet >> 1) ^ (CRC32C_POLYNOMIAL if octet & 1 else 0)
        table.append(octet)
    crc = 0xFFFFFFFF
    for octet in data:
        crc = (crc >> 8) ^ table[(crc ^ octet) & 0xFF]
    return crc ^ 0xFFFFFFFF


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def state_of_zeros(size, blocks):
    """What a receiver keeps (libclient/bulk/resume_state.h) that has so many blocks of a content of zeros."""
    run_of_blocks = varint(1) + varint(0) + varint(blocks)
    state = (bytes([STATE_VERSION]) + BLOCK_BYTES.to_bytes(4, "little") + SYMBOL_BYTES.to_bytes(2, "little") + varint(size)
             + bytes([0]) + 2 * run_of_blocks + blocks * hashlib.sha256(bytes(BLOCK_BYTES)).digest())
    return state + crc32c(state).to_bytes(4, "little")


class Zeros:
    """A content that takes no room on the disk."""

    def __init__(self, path, size):
        self.path = path
        self.size = size
        with open(path, "wb") as file:
            file.truncate(size)


def resume(setting):
    """All but the last half of a GiB of it is there, behind a relay. The content is of zeros, in files that take no room:
    disks here have none for it."""
    name = "resume"
    host = 2
    size = (100 * setting.size // BLOCK_BYTES) * BLOCK_BYTES
    has = size // BLOCK_BYTES - LACKING_BLOCKS
    with Disk(setting.folder, 2 * size + (4 << 30)) as disk, running(setting, name, host + 1, line(host)) as (_, daemons):
        content = Zeros(disk / "content", size)
        with Transfer(daemons, content, [], folder=disk / "received") as moving:
            place = moving.place_of(host)
            with open(place / "content.spindle-part", "wb") as part:
                os.posix_fallocate(part.fileno(), 0, size)
            (place / "content.spindle-state").write_bytes(state_of_zeros(size, has))
            moving.receive(host)
            moving.wait_for_receivers()
            counted, begin = daemons.received_bytes(host), time.monotonic()
            moving.start()
            lacking = LACKING_BLOCKS * BLOCK_BYTES
            came = lambda: daemons.received_bytes(host) - counted
            wait_for(lambda: came() > MIB, GOES_ON_SECONDS, "the receiver goes on")
            goes_on = time.monotonic() - begin
            wait_for(lambda: came() >= lacking, GOES_ON_SECONDS, "what is lacking has come")
            wait_for(moving.clients[host].is_over, GOES_ON_SECONDS, "the receiver has all of it")
            whole = time.monotonic() - begin
            again = came() / (1 + FRAMING) - lacking
    return [Figure(name, f"s until a receiver goes on that has all but {lacking / MIB:.0f} MiB of {size / 1e9:.0f} GB",
                   goes_on, "{:.2f}", at_most(2)),
            Figure(name, "fetched again, MiB", max(0, again) / MIB, "{:.1f}", at_most(16)),
            Figure(name, "s until the source has read and hashed all of it, and the receiver has it", whole, "{:.1f}")]

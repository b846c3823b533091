"""What a message carries: bytes made from a seed, so that a digest says whether they have come as they were sent."""
import functools
import struct
import zlib

# What a longer payload repeats. A prime, so that pieces of a message that have changed places are noticed.
BLOCK = 65521
WORD = 8


@functools.lru_cache(maxsize=4096)
def digest(seed, size):
    """CRC-32 of the payload with this seed and size."""
    return zlib.crc32(payload(seed, size))


def payload(seed, size):
    length = min(size, BLOCK)
    states = [seed]
    for _ in range(-(-length // WORD)):
        states.append((states[-1] * 6364136223846793005 + 1442695040888963407) & 0xffffffffffffffff)
    block = struct.pack(f"<{len(states) - 1}Q", *states[1:])[:length]
    return (block * (size // BLOCK + 1))[:size]

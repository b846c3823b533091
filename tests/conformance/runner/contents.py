"""Contents of bulk channels: what they are at their sources, and whether they have arrived."""
import dataclasses
import pathlib
import zlib

from . import payload

# What a directory has: files by their paths, and how many bytes they have of its size, at most.
FILES = {"empty": 0, "one": 1, "deep/down/rest": None}
HOLLOW = "deep/hollow"


@dataclasses.dataclass(frozen=True)
class Content:
    channel: str
    source: bytes  # private name
    group: bytes
    kind: str
    name: bytes
    seed: int
    size: int

    @property
    def event_kind(self):
        return b"file" if self.kind == "stream" else self.kind.encode()

    @property
    def digest(self):
        return payload.digest(self.seed, self.size)


def files(seed, size):
    """The bytes of each file of a directory."""
    return {path: payload.payload(seed, size if part is None else part) for path, part in FILES.items()}


def make(path, kind, seed, size):
    if kind == "file":
        path.write_bytes(payload.payload(seed, size))
        return
    (path / HOLLOW).mkdir(parents=True)
    for name, content in files(seed, size).items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(content)


def what_is_wrong(path, content):
    """With what has been received there; nothing where it is the content."""
    place = pathlib.Path(path)
    if content.kind != "directory":
        found = place.read_bytes()
        is_right = len(found) == content.size and zlib.crc32(found) == content.digest
        return "" if is_right else f"{path} is another content, of {len(found)} bytes"
    there = {str(each.relative_to(place)): each.read_bytes() for each in place.rglob("*") if each.is_file()}
    if there != files(content.seed, content.size) or not (place / HOLLOW).is_dir():
        return f"{path} has other files: {' '.join(sorted(there))}"
    return ""

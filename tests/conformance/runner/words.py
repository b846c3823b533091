"""Lines between runner and driver: a word, and then key=value. A key that comes several times has a list of values.

Values are bytes. All but letters, digits and -._~/ are written as % and two hexadecimal digits.
"""
import urllib.parse


class BadLine(Exception):
    """A line that is not of this form."""


def encode(value):
    if isinstance(value, bytes):
        return urllib.parse.quote_from_bytes(value, safe="/")
    return urllib.parse.quote(str(value), safe="/")


def decode(text):
    return urllib.parse.unquote_to_bytes(text)


def write(word, pairs=()):
    return " ".join([word] + [f"{key}={encode(value)}" for key, value in pairs])


class Values:
    """The values of a line by their keys."""

    def __init__(self, words=()):
        self._values = {}
        for word in words:
            key, equals, value = word.partition("=")
            if not equals or not key:
                raise BadLine(f"{word!r} is not key=value")
            self._values.setdefault(key, []).append(decode(value))

    def all(self, key):
        return self._values.get(key, [])

    def bytes(self, key):
        values = self.all(key)
        if len(values) != 1:
            raise BadLine(f"{key} is there {len(values)} times")
        return values[0]

    def text(self, key, default=None):
        if default is not None and not self.all(key):
            return default
        return self.bytes(key).decode("ascii", "backslashreplace")

    def number(self, key, default=None):
        text = self.text(key, None if default is None else str(default))
        if not text.isdigit():
            raise BadLine(f"{key} is no number: {text!r}")
        return int(text)

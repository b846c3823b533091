"""What programs give."""
from collections.abc import Mapping, Sequence
from typing import Any, Union

#: Of a group, or the private name of a client.
Name = Union[str, bytes]
#: One name or several.
Destinations = Union[Name, Sequence[Name]]
#: Whatever has a buffer.
Payload = Any
#: Keys as names are, values that are text or have a buffer. No iterator: a call may try several times.
Headers = Union[None, Mapping[Name, Any], Sequence[tuple[Name, Any]]]

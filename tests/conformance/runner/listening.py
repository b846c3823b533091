"""Which feeds a client may be told of and hear, by what it has called and has been told so far."""
from .failure import Failure

EVENTS = {"feed_opened", "feed_packet", "feed_gap", "feed_closed"}


class Listening:
    def __init__(self):
        self._groups = set()  # whose feeds it listens to; a group that it leaves stays among them
        self._heard = {}  # the group of each feed of others that is open for it, by what the client calls the feed
        self._own = set()  # feeds that it has opened

    def listens(self, group):
        self._groups.add(group)

    def stops(self, group):
        """Nothing more comes of the group's feeds, not even their ends."""
        self._groups.discard(group)
        self._heard = {feed: of for feed, of in self._heard.items() if of != group}

    def opens(self, feed):
        self._own.add(feed)

    def take(self, event):
        """What comes of a feed that the client does not hear fails, whatever is awaited."""
        feed = event.values.text("feed")
        if event.word == "feed_opened":
            group = event.values.bytes("group")
            if group not in self._groups:
                raise Failure(f"is told of a feed of {group!r}, to which it does not listen")
            self._heard[feed] = group
        elif event.word == "feed_closed":
            if self._heard.pop(feed, None) is None and feed not in self._own:
                raise Failure(f"is told of the end of feed {feed}, which is not open")
            self._own.discard(feed)
        elif feed not in self._heard:
            raise Failure(f"gets a {event.word} of feed {feed}, which it does not hear")

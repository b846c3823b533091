"""What stands between a client and its daemon where a scenario cuts or holds up their connection."""
import contextlib
import os
import socket
import threading
import time

CHUNK = 65536


def dial(address):
    kind, _, rest = address.partition(":")
    if kind == "unix":
        family, target = socket.AF_UNIX, rest
    else:
        host, _, port = rest.rpartition(":")
        family, target = socket.AF_INET, (host, int(port))
    connection = socket.socket(family, socket.SOCK_STREAM)
    try:
        connection.connect(target)
    except OSError:
        connection.close()
        raise
    return connection


class Proxy:
    """Forwards what comes to `address` to `target`, a function that gives the daemon's address of the moment."""

    def __init__(self, path, target):
        self.address = f"unix:{path}"
        self._path = path
        self._target = target
        self._lock = threading.Lock()
        self._listener = None
        self._pairs = []  # of sockets: the client's, the daemon's
        self._flowing = threading.Event()
        self._flowing.set()
        self._trigger = None  # (direction, bytes left, milliseconds)
        self.listen()

    def listen(self):
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(self._path)
        listener.listen()
        self._listener = listener
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()

    def cut(self, for_ms):
        """Closes all connections and refuses others, for a time or until `listen`."""
        self._refuse()
        with self._lock:
            pairs, self._pairs = self._pairs, []
        for pair in pairs:
            for each in pair:
                close(each)
        self._flowing.set()
        if for_ms is not None:
            time.sleep(for_ms / 1000)
            self.listen()

    def cut_after(self, count, direction, for_ms):
        """The same, once as many further bytes have gone in a direction: "sent" by the client, or "received". Those
        arrive, and nothing behind them."""
        with self._lock:
            self._trigger = (direction, count, for_ms)

    def stall(self):
        """Forwards nothing until `forward`."""
        self._flowing.clear()

    def forward(self):
        self._flowing.set()
        if self._listener is None:
            self.listen()

    def insert(self, inserted):
        """Bytes to the client that its daemon has not sent."""
        with self._lock:
            client, _ = self._pairs[-1]
        client.sendall(inserted)

    def close(self):
        self.cut(None)

    def _refuse(self):
        with self._lock:
            listener, self._listener = self._listener, None
        if listener is not None:
            os.unlink(self._path)
            close(listener)

    def _accept(self, listener):
        with contextlib.suppress(OSError):
            while True:
                self._forward(listener.accept()[0])

    def _forward(self, client):
        try:
            daemon = dial(self._target())
        except OSError:
            close(client)
            return
        with self._lock:
            self._pairs.append((client, daemon))
        for source, sink, direction in ((client, daemon, "sent"), (daemon, client, "received")):
            threading.Thread(target=self._pump, args=(source, sink, direction), daemon=True).start()

    def _pump(self, source, sink, direction):
        with contextlib.suppress(OSError):
            while True:
                self._flowing.wait()
                data = source.recv(CHUNK)
                if not data:
                    break
                self._flowing.wait()
                allowed, for_ms, is_last = self._allowed(direction, len(data))
                sink.sendall(data[:allowed])
                if is_last:
                    self._end_behind(sink, for_ms)
                    return
        close(source)
        close(sink)

    def _end_behind(self, sink, for_ms):
        """Whoever has got the last bytes closes the connection, which ends the other direction."""
        self._refuse()
        sink.shutdown(socket.SHUT_WR)
        if for_ms is not None:
            time.sleep(for_ms / 1000)
            self.listen()

    def _allowed(self, direction, count):
        """How many of these bytes may go, and whether the connection is to be cut behind them."""
        with self._lock:
            if self._trigger is None or self._trigger[0] != direction:
                return count, None, False
            _, left, for_ms = self._trigger
            if count < left:
                self._trigger = (direction, left - count, for_ms)
                return count, None, False
            self._trigger = None
            return left, for_ms, True


def close(connection):
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()

"""A file over one TCP connection: `receive PORT FILE` and `send ADDRESS PORT FILE`, as fast as the kernel does it. Who sends
ends when all is in the other's file."""

import os
import socket
import sys

PIECE_BYTES = 1 << 20


def receive(port, path):
    with socket.create_server(("", int(port))) as server, open(path, "wb", buffering=0) as file:
        print("ready", flush=True)
        connection, _ = server.accept()
        buffer = memoryview(bytearray(PIECE_BYTES))
        with connection:
            while count := connection.recv_into(buffer):
                file.write(buffer[:count])
            os.fsync(file.fileno())


def send(address, port, path):
    with socket.create_connection((address, int(port))) as connection, open(path, "rb") as file:
        connection.sendfile(file)
        connection.shutdown(socket.SHUT_WR)
        connection.recv(1)


if __name__ == "__main__":
    {"receive": receive, "send": send}[sys.argv[1]](*sys.argv[2:])

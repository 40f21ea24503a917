"""Another local user beside a queue, in a process of their own: asks its server without a token, with made-up ones and with
what is no request, and tries to read what is in its folders. Prints what they got, which should be nothing.

Arguments: the server's port, for how many seconds, and folders."""

import os
import pathlib
import random
import socket
import sys
import time

REQUESTS = (b"GET /v1/entries HTTP/1.1\r\nHost: x\r\n\r\n",
            b"GET /v1/entries HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer entry-1-0123456789abcdef0123456789abcdef\r\n\r\n",
            b"POST /v1/entries HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{",
            b"GET /v1/machine HTTP/1.1\r\nHost: x\r\nRange: bytes=1000-2000\r\nConnection: close\r\n\r\n",
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"")
SECRET = ("token", "tokens", "queue.db", "queue.db-wal")


def main(port, seconds, *folders):
    for folder in folders:
        for name in SECRET:
            file = pathlib.Path(folder, name)
            if os.access(file, os.R_OK):
                print(f"{file} can be read")
    draw, held = random.Random(port), []
    until = time.monotonic() + float(seconds)
    while time.monotonic() < until:
        try:
            connection = socket.create_connection(("127.0.0.1", int(port)), timeout=0.2)
            connection.sendall(draw.choice(REQUESTS))
            answer = connection.recv(4096)
            if answer.startswith(b"HTTP/1.1 2"):
                print(f"the server answers {answer[:200]!r}")
            held = [*held[-100:], connection]
        except OSError:
            pass
        time.sleep(0.01)


if __name__ == "__main__":
    main(*sys.argv[1:])

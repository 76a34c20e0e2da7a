"""Command lines of `bayes-dp` that run one after another in one process, which imports and compiles things once.

`shim` makes a program of the name bayes-dp that hands its arguments, its folder and its standard streams to that
process, and ends with the exit code that it is told. The first command line of each verb it runs as usual, in a process
of its own.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from pathlib import Path

from bayes_dp.cli import main
from bayes_dp.support.workers import end_with

_SHIM = """#!{python} -SE
import json, os, socket, sys

arguments = sys.argv[1:]
verb = " ".join(arguments[: 2 if arguments[:1] == ["audit"] else 1])
try:
    open(os.path.join({seen!r}, verb), "x")
except FileExistsError:
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.connect({address!r})
            socket.send_fds(server, [json.dumps([os.getcwd(), *arguments]).encode()], [0, 1, 2])
            sys.exit(server.recv(1)[0])
    except (OSError, IndexError) as error:
        print("the process of the command lines is gone:", error, file=sys.stderr)
        sys.exit(70)
os.execv({program!r}, [{program!r}, *arguments])
"""


def shim(folder: Path, address: str, seen: Path) -> Path:
    """The folder of a program bayes-dp that asks the server at `address`."""
    path = folder / "bin" / "bayes-dp"
    path.parent.mkdir(parents=True)
    program = Path(sys.executable).parent / "bayes-dp"
    path.write_text(_SHIM.format(python=sys.executable, seen=str(seen), address=address, program=str(program)))
    path.chmod(0o755)
    return path.parent


def serve(address: str) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        while True:
            with listener.accept()[0] as caller:
                message, streams, *_ = socket.recv_fds(caller, 2**16, 3)
                folder, *arguments = json.loads(message)
                os.chdir(folder)
                caller.sendall(bytes([_run(arguments, streams)]))


def _run(arguments: list[str], streams: list[int]) -> int:
    for own, given in enumerate(streams):
        os.dup2(given, own)
        os.close(given)
    with (
        open(0, closefd=False) as sys.stdin,
        open(1, "w", closefd=False) as sys.stdout,
        open(2, "w", buffering=1, closefd=False) as sys.stderr,
    ):
        code = main(arguments)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for own in range(3):  # whoever reads what was printed waits for the end of it
        os.dup2(nowhere, own)
    os.close(nowhere)
    return code


if __name__ == "__main__":
    end_with(os.getppid())
    serve(sys.argv[1])

"""What every process of the server runs in: a module, and a thread that ends it with its parent.

The parent holds the write end of a pipe, the lifeline, and never writes. When the parent is gone,
however it went, SIGKILL included, the kernel closes that end and the read here returns. Works on
every POSIX system and, unlike a parent-death signal, takes the children's children along.

Run as ``python -m automemory_dagster.triggers.child LIFELINE MODULE ARGUMENT...``, as the leader of
a process group. Standard library only: it is in memory once a process.
"""

import os
import runpy
import signal
import sys
import threading
import time

GRACE_SECONDS = 5.0
"""Between asking the group to end and ending it."""


def main() -> None:
    """Run the module until it ends or the parent does."""
    lifeline, module, *arguments = sys.argv[1:]
    sys.argv = [module, *arguments]
    is_orphan = threading.Event()
    threading.Thread(
        target=_end_with_parent, args=(int(lifeline), is_orphan), name="lifeline", daemon=True
    ).start()
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    finally:
        if is_orphan.is_set():
            # Nobody is left to look after what this process may have started.
            os.killpg(0, signal.SIGKILL)


def _end_with_parent(lifeline: int, is_orphan: threading.Event) -> None:
    os.read(lifeline, 1)
    is_orphan.set()
    os.killpg(0, signal.SIGTERM)
    time.sleep(GRACE_SECONDS)
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    main()

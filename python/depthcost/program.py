"""The command `depthcost`: the same program as the one that is built without Python."""

from __future__ import annotations

import signal
import sys

from depthcost import _core


def main() -> int:
    # Ctrl-C ends it at once, as it ends any program: Python's own handler would wait until it returns.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.stdout.flush()
    return _core.program(["depthcost", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())

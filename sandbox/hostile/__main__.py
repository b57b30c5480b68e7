"""`python -m sandbox.hostile [LEVEL [NUMBER…]]`: the forty behaviours, or some, on one level, as JSON lines.

Without a jail (NONE) the probes show that they can tell a leak; for that they must not run as root.
"""

from __future__ import annotations

import json
import os
import sys

from sandbox.contract import Level, SandboxUnavailable
from sandbox.hostile.behaviours import NAMES, examine
from sandbox.jail import Sandbox


def main() -> None:
    level = Level[sys.argv[1]] if len(sys.argv) > 1 else None
    if level is Level.NONE and os.getuid() == 0:
        sys.exit("hostile code without a jail, as root: no")
    try:
        sandbox = Sandbox.unsafe() if level is Level.NONE else Sandbox.detect(level)
    except SandboxUnavailable as refusal:
        sys.exit(str(refusal))
    print(json.dumps({"level": sandbox.level.name}), flush=True)
    for finding in examine(sandbox, map(int, sys.argv[2:]) if len(sys.argv) > 2 else NAMES):
        print(json.dumps({"number": finding.number, "leaks": finding.leaks, "remark": finding.remark}), flush=True)


main()

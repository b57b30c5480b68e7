"""Ended abruptly at random moments: the user's tree is as it was before, or wholly as after."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time

import pytest

from tests.coder.agent.scripted import calls, finish

FILES = 50
PROGRAM = [sys.executable, "-c", "from coder.cli.main import run; run()"]


@pytest.mark.slow
@pytest.mark.parametrize("apply", [False, True])
def test_killed_at_random_moments(coder, apply) -> None:
    """KILLS moments each over the time that an undisturbed run takes; -s shows how many fell where."""
    count = int(os.environ.get("KILLS", "100"))
    for number in range(FILES):
        (coder.project / f"f{number}.txt").write_text(f"old {number}\n")
    before = coder.tree()
    variables = {
        **os.environ,
        "XDG_CONFIG_HOME": str(coder.home / "config"),
        "XDG_STATE_HOME": str(coder.home / "state"),
    }

    def names(start: int) -> list[str]:
        return [f"f{number}.txt" for number in range(start, FILES, 5)]

    def script() -> list:
        steps = []
        for start in range(5):
            steps.append(calls(*(("read", {"path": name}) for name in names(start))))
            steps.append(calls(*(("write", {"path": name, "text": "new\n"}) for name in names(start))))
        return [*steps, finish()]

    def start() -> subprocess.Popen:
        coder.server.script = script()
        arguments = ["do", "rewrite", *coder.named, "--apply" if apply else "--dry-run"]
        return subprocess.Popen(
            [*PROGRAM, *arguments],
            cwd=coder.project,
            env=variables | {"PYTHONPATH": os.getcwd()},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    begun = time.monotonic()
    whole = start()
    assert whole.wait() == (0 if apply else 5)
    whole_s = time.monotonic() - begun
    after = coder.tree()
    assert (after != before) == apply
    undo = [*PROGRAM, "undo"]
    seen = {"before": 0, "after": 0, "ended before the kill": 0, "files in part written": 0}
    for number in range(count):
        if coder.tree() != before:
            subprocess.run(undo, cwd=coder.project, env=variables | {"PYTHONPATH": os.getcwd()}, check=True)
        process = start()
        late = apply and number % 2  # half of them near the end, where the files are written
        time.sleep(random.uniform(0.75 * whole_s if late else 0, 1.05 * whole_s if late else whole_s))
        seen["ended before the kill"] += process.poll() is not None
        process.send_signal(signal.SIGKILL)
        process.wait()
        if not apply:
            assert coder.tree() == before
        seen["files in part written"] += coder.tree() not in (before, after)
        listing = [*PROGRAM, "log"]
        subprocess.run(listing, cwd=coder.project, env=variables | {"PYTHONPATH": os.getcwd()}, check=True)
        now = coder.tree()
        assert now in (before, after)
        seen["before" if now == before else "after"] += 1
    print(f"apply={apply}, {count} kills: {seen}")
    assert seen["before"] + seen["after"] == count

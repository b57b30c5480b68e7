"""The test runner on every rung that this machine has, and without a jail."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import pytest

from sandbox.contract import Level, SandboxUnavailable
from sandbox.jail import Sandbox
from sandbox.testing.report import Way
from sandbox.testing.session import TestSession
from sandbox.working_copy import WorkingCopy

FILES = {
    "lib.py": "import os, time\n\n\ndef answer():\n    return 41\n",
    "test_lib.py": "import lib\n\ndef test_answer(): assert lib.answer() == 42\ndef test_other(): pass\n",
}
NODES = ["test_lib.py::test_answer", "test_lib.py::test_other"]
DAEMON = "if not os.fork():\n        os.setsid()\n        if not os.fork(): time.sleep(300)\n    return 42"


@pytest.fixture(scope="module", params=list(Level), ids=lambda level: level.name)
def session(
    request: pytest.FixtureRequest, tree_of: Callable[[Mapping[str, str]], WorkingCopy]
) -> Iterator[TestSession]:
    try:
        sandbox = Sandbox.unsafe() if request.param is Level.NONE else Sandbox.detect(request.param)
    except SandboxUnavailable as lacking:
        pytest.skip(str(lacking))
    with TestSession(sandbox, tree_of(FILES), pytest_args=("-p", "no:hypothesispytest")) as session:
        assert session.baseline().failing == (NODES[0],)
        yield session


def patched(body: str) -> dict[str, str]:
    return {"lib.py": FILES["lib.py"].replace("return 41", body)}


def test_trial_and_verdict(session: TestSession) -> None:
    wrong, right = session.trial(patched("return 40"), NODES), session.trial(patched("return 42"), NODES)
    assert (wrong.passed, wrong.way) == (False, Way.SWAP)
    assert (right.passed, right.way) == (True, Way.SWAP)
    verdict = session.confirm(patched("return 42"))
    assert verdict.passed
    assert ("without a sandbox" in verdict.summary()) is (verdict.level is Level.NONE)


def test_daemon_of_a_candidate_is_ended(session: TestSession) -> None:
    daemon = session.trial(patched(DAEMON), NODES)
    assert daemon.passed  # the daemon itself breaks no test
    looking = "import subprocess\n    return 42 if 'sleep(300)' not in os.popen('cat /proc/*/cmdline').read() else 0"
    assert session.trial(patched(looking), NODES).passed

"""Candidates that misbehave: each is a failed trial, and the next candidate is judged as if nothing had been."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from sandbox.contract import Limits
from sandbox.testing.report import Way
from sandbox.testing.session import TestSession

LIB = """
import os, signal, subprocess, sys, threading, time
from pathlib import Path


def answer(question):
    return 41


def other(question):
    return question
"""
FILES = {
    "lib.py": LIB,
    "tests/test_lib.py": """
        import lib

        def test_answer(): assert lib.answer("?") == 42
        def test_other(): assert lib.other(3) == 3
    """,
}
NODES = ["tests/test_lib.py::test_answer", "tests/test_lib.py::test_other"]
BAD = {
    "endless loop": "while True: pass",
    "endless loop that ignores signals": (
        "for number in range(1, 32):\n        try: signal.signal(number, signal.SIG_IGN)\n"
        "        except OSError: pass\n    while True: pass"
    ),
    "sleep": "time.sleep(100)",
    "flood of output": "while True: print('x' * 10000)",
    "flood past the capture": "while True: os.write(1, b'x' * 10000)",
    "fork bomb": "while True:\n        try: os.fork()\n        except OSError: pass",
    "fork bomb in new sessions": "while True:\n        try: os.fork() or os.setsid()\n        except OSError: pass",
    "daemon that holds the pipes": (
        "if not os.fork():\n        os.setsid()\n        if not os.fork(): time.sleep(100)\n    return 41"
    ),
    "segmentation fault": "os.kill(os.getpid(), signal.SIGSEGV)",
    "clean exit": "os._exit(0)",
    "kill of the server": "os.kill(os.getppid(), signal.SIGKILL); time.sleep(100)",
    "kill of everything": "os.kill(-1, signal.SIGKILL); time.sleep(100)",
    "deep recursion": "return answer(question)",
    "memory": "hoard = []\n    while True: hoard.append(bytearray(50_000_000))",
    "many threads": "while True: threading.Thread(target=time.sleep, args=(100,), daemon=True).start()",
    "closed descriptors": "os.closerange(0, 256)",
    "tests rewritten": "Path('tests/test_lib.py').write_text('')",
    "itself rewritten": "Path('lib.py').write_text('def answer(q): return 42')",
}


@pytest.fixture(scope="module")
def session(open_session: Callable[..., TestSession]) -> Iterator[TestSession]:
    session = open_session(FILES, limits=Limits(processes=40))
    assert session.baseline().failing == (NODES[0],)
    yield session


def patched(body: str) -> dict[str, str]:
    return {"lib.py": LIB.lstrip("\n").replace("return 41", body)}


@pytest.mark.parametrize("body", BAD.values(), ids=BAD.keys())
def test_bad_candidate_fails_and_harms_none(session: TestSession, body: str) -> None:
    bad = session.trial(patched(body), NODES)
    assert not bad.passed
    good = session.trial(patched("return 42"), NODES)
    assert (good.passed, good.way) == (True, Way.SWAP)
    assert not session.trial(patched("return 43"), NODES).passed


def test_loop_is_told_as_such(session: TestSession) -> None:
    trial = session.trial(patched("while True: pass"), NODES)
    assert trial.timed_out
    assert trial.failed_at == NODES[0]


def test_loop_in_a_test_that_used_to_pass(session: TestSession) -> None:
    files = {"lib.py": LIB.lstrip("\n").replace("return 41", "return 42").replace("return question", "while 1: pass")}
    trial = session.trial(files, NODES)
    assert trial.timed_out
    assert trial.failed_at == NODES[1]


@pytest.mark.parametrize("body", ["while True: pass", "os._exit(0)", "os.kill(os.getpid(), signal.SIGSEGV)"])
def test_bad_patch_is_not_proved(session: TestSession, body: str) -> None:
    verdict = session.prove(patched(body))
    assert not verdict.passed
    assert NODES[0] in verdict.problem


def test_failing_test_comes_first(session: TestSession) -> None:
    trial = session.trial(patched("return 43"), list(reversed(NODES)))
    assert list(trial.outcomes) == [NODES[0]]


def test_paths_outside_are_refused(session: TestSession) -> None:
    for path in ("../lib.py", "/etc/passwd", ""):
        with pytest.raises(ValueError, match="inside"):
            session.trial({path: ""}, NODES)


def test_skipped_or_lost_tests_are_not_proved(open_session: Callable[..., TestSession]) -> None:
    """What decides at import which tests there are can take some away; the verdict counts them."""
    session = open_session(
        {
            "lib.py": "CASES = [1, 2, 3]\n\ndef double(n):\n    return n + n if n > 1 else 3\n",
            "test_lib.py": """
                import lib, pytest

                @pytest.mark.parametrize("n", lib.CASES)
                def test_n(n): assert lib.double(n) == 2 * n
                @pytest.mark.skipif(len(lib.CASES) < 3, reason="few")
                def test_len(): pass
            """,
        }
    )
    session.baseline()
    fewer = session.prove({"lib.py": "CASES = [2, 3]\n\ndef double(n):\n    return n + n\n"})
    assert not fewer.passed
    assert "did not run" in fewer.problem
    same = session.prove({"lib.py": "CASES = [1, 2, 3]\n\ndef double(n):\n    return n + n\n"})
    assert same.passed

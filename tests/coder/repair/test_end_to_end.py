"""A small project with a slip, repaired without a model in the real sandbox."""

from __future__ import annotations

from pathlib import Path

from coder import events
from coder.patch import apply_edits
from coder.repair.context import RepairContext
from coder.repair.search import search
from sandbox.jail import Sandbox
from sandbox.testing.report import Outcome
from sandbox.testing.session import TestSession
from sandbox.working_copy import WorkingCopy

FILES = {
    "shop/__init__.py": "",
    "shop/prices.py": (
        "RATE = 19\n\n\ndef tax(cents):\n    return cents * RATE // 100\n\n\n"
        "def cheapest(prices):\n    best = None\n    for price in prices:\n"
        "        if best is None or price > best:\n            best = price\n    return best\n"
    ),
    "tests/test_prices.py": (
        "from shop.prices import cheapest, tax\n\n\n"
        "def test_tax():\n    assert tax(200) == 38\n\n\n"
        "def test_one():\n    assert cheapest([7]) == 7\n    assert cheapest([]) is None\n\n\n"
        "def test_cheapest():\n    assert cheapest([3, 1, 2]) == 1\n"
    ),
}


def test_a_slip_is_found_repaired_and_proved(tmp_path: Path) -> None:
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    seen: list[events.Event] = []
    with WorkingCopy.of(tmp_path, list(FILES)) as tree, TestSession(Sandbox.detect(), tree) as session:
        baseline = session.baseline()
        assert [baseline.tests[node].outcome for node in baseline.failing] == [Outcome.FAILED]
        context = RepairContext(session, baseline, FILES, baseline.failing, timeout_s=300, repeats=1)
        (proved,) = search(context, seen.append)
    fixed = apply_edits(FILES["shop/prices.py"], proved.proposal.edits)
    assert proved.files == {"shop/prices.py": fixed}
    names: dict[str, object] = {}
    exec(fixed, names)
    assert names["cheapest"]([9, 4, 6, 4]) == 4  # type: ignore[operator]
    assert (proved.verdict.passed, len(proved.verdict.fixed), len(proved.verdict.still_passing)) == (True, 1, 2)
    localized = next(event for event in seen if isinstance(event, events.Localized))
    assert localized.suspects[0].function == "cheapest"
    assert (tmp_path / "shop/prices.py").read_text() == FILES["shop/prices.py"]

from __future__ import annotations

from coder.patch import Edit, Proposal, Span
from coder.repair.candidate import Base, Candidate
from coder.repair.progress import Progress
from coder.repair.steps import ALIKE, SECONDS, Failing, Steps
from tests.coder.repair.helpers import region_of

TEXT = "def f(a, b):\n    c = a\n    return a - b\n"
FURTHER = Progress(0, 5, False, (3,))
FAILURE = Failing(FURTHER, FURTHER.inside, "TypeError", "no")


def candidate(base: Base, old: str, new: str) -> Candidate:
    start = base.sources["module.py"].text.index(old)
    edit = Edit(Span("module.py", start, start + len(old)), new)
    return Candidate(base, Proposal((edit,), {}, "operand", -1.0, "note"), 1.0)


def base_of(text: str, depth: int = 0) -> Base:
    return Base({"module.py": region_of(text).source}, depth)


def test_a_second_edit_that_comes_further_is_tried_with_all_that_led_to_its_failure() -> None:
    steps, start = Steps(), base_of(TEXT)
    first, other = (candidate(start, "c = a", f"c = {name}") for name in ("b", "f"))
    base = base_of(first.files["module.py"], 1)
    assert not steps.known(first, FAILURE)
    steps.first(first, FAILURE, base, FURTHER)
    assert steps.known(other, FAILURE)
    second = candidate(base, "a - b", "a + b")
    (found,) = steps.second(second, Progress(1, 0, False))
    assert found.files["module.py"] == "def f(a, b):\n    c = f\n    return a + b\n"
    assert list(steps.second(second, FURTHER)) == []
    assert list(steps.second(candidate(start, "a - b", "a"), Progress(1, 0, False))) == []


def test_so_many_are_remembered_and_moved() -> None:
    steps, start = Steps(), base_of(TEXT)
    first = candidate(start, "c = a", "c = b")
    base = base_of(first.files["module.py"], 1)
    steps.first(first, FAILURE, base, FURTHER)
    for number in range(2 * ALIKE):
        assert steps.known(candidate(start, "c = a", f"c = {number}"), FAILURE)
    second = candidate(base, "a - b", "a + b")
    found = [len(list(steps.second(second, Progress(1, 0, False)))) for _ in range(SECONDS + 1)]
    assert found == [ALIKE - 1] * SECONDS + [0]

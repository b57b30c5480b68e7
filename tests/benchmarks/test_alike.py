from __future__ import annotations

from benchmarks.alike import alike

REFERENCE = "def largest(items):\n    return max(items)\n"
TEST = "def check(f):\n    assert f([1, 5, 2]) == 5\n    assert f([-1, -3]) == -1\n\ncheck(largest)\n"


def difference(body: str) -> str:
    return alike(f"def largest(items):\n    {body}\n", REFERENCE, TEST, "largest", seed=0)


def test_the_same_behaviour_in_other_words_is_alike() -> None:
    assert difference("return sorted(items)[-1]") == ""


def test_a_patch_that_only_fits_the_tests_is_found_out() -> None:
    found = difference("return 5 if 5 in items else -1")
    assert found.startswith("largest(")


def test_a_version_that_never_returns_differs() -> None:
    body = "while len(items) == 3: pass\n    return max(items)"
    assert difference(body).startswith("largest(")


def test_inputs_that_the_reference_does_not_take_do_not_count() -> None:
    assert difference("return max(items) if items else 'nothing'") == ""

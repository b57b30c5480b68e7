from __future__ import annotations

import pytest

from coder.exit_status import ExitStatus
from coder.failure import Failure
from coder.verbs.asked import Wish

FILES = {
    "src/cart.py": "class Cart:\n    def total(self):\n        pass\n\n\ndef total(xs):\n    pass\n",
    "src/dates.py": "if True:\n    def parse_date(text):\n        def inner():\n            pass\n",
    "broken.py": "def total(:\n",
}


def test_one_is_found_by_name_file_module_or_class(project) -> None:
    found = project(FILES).find
    assert found(Wish("complete", "parse_date")).where == "src/dates.py:2"
    assert found(Wish("complete", "inner")).qualified == "parse_date.inner"
    for path in "src/cart.py", "cart.py", "./cart.py", "src.cart", "cart":
        assert found(Wish("complete", "total", path)).qualified == "total"
    assert (
        found(Wish("complete", "Cart.total")).where == found(Wish("complete", "total", "Cart")).where == "src/cart.py:2"
    )
    assert found(Wish("rename", "Cart")).qualified == "Cart"


@pytest.mark.parametrize(
    ("wish", "message", "hint"),
    [
        (Wish("complete", "total"), "2 are called total: Cart.total (src/cart.py:2), total (src/cart.py:6)",
         'Say which, for example: coder do "complete the function Cart.total in src/cart.py"'),
        (Wish("complete", "parse_dat"), "no function is called parse_dat",
         'Perhaps: coder do "complete the function parse_date in src/dates.py"'),
        (Wish("complete", "zebra", "dates.py"), "no function in src/dates.py is called zebra", "is there: parse_date"),
        (Wish("complete", "caching"), "no function is called caching", "for a stronger model: --endpoint URL"),
        (Wish("complete", "Cart"), "no function is called Cart", ""),
        (Wish("complete", "total", "cards.py"), "no Python file of this project is called cards.py", "Near to"),
        (Wish("complete", "total", "broken.py"), "broken.py does not parse", "Mend the syntax first."),
    ],
)  # fmt: skip
def test_what_was_found_instead_is_said_with_what_to_type_next(project, wish, message, hint) -> None:
    with pytest.raises(Failure) as failed:
        project(FILES).find(wish)
    assert failed.value.status is ExitStatus.USAGE
    assert message in failed.value.message and hint in failed.value.hint


def test_two_that_no_words_tell_apart(project) -> None:
    twice = project({"a.py": "def f():\n    pass\n\n\ndef f():\n    pass\n"})
    with pytest.raises(Failure, match=r"2 are called f: f \(a.py:1\), f \(a.py:5\)"):
        twice.find(Wish("complete", "f", "a.py"))

"""The comparison of orders tells a search that broke from one that found nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks import ranking
from coder.exit_status import ExitStatus


class Planted:
    """A bug whose package is an empty folder."""

    id, package = "planted", "nothing"

    def lay(self, folder: Path) -> Path:
        folder.mkdir()
        return folder


def ends_with(status: ExitStatus) -> Any:
    def coder(arguments: list[str], environment: Any) -> ExitStatus:
        print("the reason", file=environment.stdout)
        return status

    return coder


def test_a_search_that_breaks_is_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranking, "coder", ends_with(ExitStatus.INTERNAL_ERROR))
    with pytest.raises(RuntimeError, match="planted: the reason"):
        ranking.measure(Planted(), 10)
    monkeypatch.setattr(ranking, "coder", ends_with(ExitStatus.TESTS_NOT_RUN))
    assert ranking.measure(Planted(), 10) == ranking.Row("planted", 0, None, None)

from __future__ import annotations

import pytest

from lsp import completion


@pytest.fixture
def patience(monkeypatch):
    """Answers are given whole, however long they take."""
    monkeypatch.setattr(completion, "SOON", 60.0)

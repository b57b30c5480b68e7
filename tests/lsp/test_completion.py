"""What the completions know, and when they write: in the cases that a user meets only with large or slow things."""

from __future__ import annotations

from lsprotocol import types

from lsp.completion import Completions
from lsp.documents import Documents
from lsp.names import unresolved
from lsp.settings import Settings
from lsp.worker import Worker
from lsp.workspace import Workspace


def test_what_stands_far_above_is_no_unknown_name():
    documents = Documents()
    lines = ["import numpy as np\n", *(f"value_{number} = {number}\n" for number in range(3000)), "later = 1\n"]
    document = documents.open(types.TextDocumentItem("untitled:a", "python", 1, "".join(lines)))
    worker = Worker()
    situation = Completions(documents, Workspace(), worker, Settings).situate(document, (1500, 0))
    worker.close()
    assert "numpy" not in situation.before and "later" not in situation.after
    assert unresolved(situation, "x = np.zeros(value_7 + later)") == []
    assert unresolved(situation, "x = pd.zeros(value_7)") == ["pd"]

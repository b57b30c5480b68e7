from __future__ import annotations

import pytest

from coder.patch import apply_edits, sha256
from coder.verbs.project import Project


@pytest.fixture
def project():
    """A project of texts by path."""
    return lambda files: Project(files, {path: sha256(text.encode()) for path, text in files.items()})


@pytest.fixture
def after():
    """The files as a proposal leaves them."""

    def apply(project, proposal):
        texts = dict(project.files)
        for path in proposal.paths:
            texts[path] = apply_edits(texts[path], [edit for edit in proposal.edits if edit.span.path == path])
        return texts

    return apply

"""The real parts of an engine, where nothing was put in their place."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coder import events
from coder.config import Settings
from coder.exit_status import ExitStatus
from coder.failure import Failure
from coder.repository import Repository

if TYPE_CHECKING:
    from coder.repair.context import Proved, RepairContext
    from sandbox.jail import Sandbox
    from sandbox.testing.report import Tester
    from sandbox.working_copy import WorkingCopy


def find_sandbox(sandboxed: bool) -> Sandbox:
    """The strongest jail that works here, or, not `sandboxed`, none at all. Raises Failure with NO_SANDBOX."""
    from sandbox.contract import SandboxUnavailable
    from sandbox.jail import Sandbox

    if not sandboxed:
        return Sandbox.unsafe()
    try:
        return Sandbox.detect()
    except SandboxUnavailable as error:
        raise Failure(ExitStatus.NO_SANDBOX, str(error)) from error


def make_tester(
    sandbox: Sandbox, tree: WorkingCopy, repository: Repository, settings: Settings, python: Path, allow_tests: bool
) -> Tester:
    """What runs the tests of `tree`: the command of the settings, or pytest under `python`."""
    from sandbox.contract import MIB, Limits
    from sandbox.testing.command import CommandSession
    from sandbox.testing.session import TestSession
    from sandbox.testing.toolchains import node_modules

    limits = Limits(memory=settings.memory_mb * MIB)
    root = repository.root
    if not settings.test_command:
        return TestSession(sandbox, tree, python, settings.pytest_args, limits, origin=root, allow_tests=allow_tests)
    found = node_modules(tree.root, root)
    linked = {path: place for path, place in found.items() if not repository.rules.concealed(path, True)}
    return CommandSession(
        sandbox, tree, settings.test_command, limits, allow_tests=allow_tests, python=python, linked=linked
    )


def open_model(settings: Settings) -> tuple[Any, Any]:
    """The model that the settings name, and its tokenizer. Raises Failure with MODEL_FAILED."""
    from model.library import open_model

    try:
        return open_model(settings.model, settings.precision)
    except Exception as error:
        raise Failure(
            ExitStatus.MODEL_FAILED,
            f"the model {settings.model} cannot be used: {error}",
            "See `coder model`. `coder fix` can search without one: --no-model.",
        ) from error


def search(context: RepairContext, listener: events.Listener) -> Sequence[Proved]:
    """See `coder.repair.search`."""
    from coder.repair.search import search

    return search(context, listener)

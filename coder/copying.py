"""The copy of a project that its tests run on."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Callable

from coder.exit_status import ExitStatus
from coder.failure import Failure, from_os_error
from coder.repository import Repository
from coder.repository.repository import MANY_FILES
from sandbox.contract import MIB, Limits
from sandbox.working_copy import WorkingCopy

_NAMED = 3


def copied(repository: Repository, notice: Callable[[str], None]) -> WorkingCopy:
    """A copy of what the tests need; whoever asks closes it. A long wait is told to `notice`.

    Raises Failure: with TESTS_NOT_RUN where it could not fit in a sandbox, before anything is copied.
    """
    names = repository.runtime_files
    _check_size(repository)
    if len(names) > MANY_FILES:
        notice(f"copying {len(names):,} files; name folders that no test needs in .coderignore to save time")
    try:
        return WorkingCopy.of(repository.root, names)
    except OSError as error:
        raise from_os_error(error, "copy the project") from error


def _check_size(repository: Repository) -> None:
    """Bytes alone: what else can be too much shows only where the sandbox is filled."""
    sizes: Counter[str] = Counter()
    for name in repository.runtime_files:
        try:
            status = os.lstat(repository.root / name)
        except OSError:
            continue
        if stat.S_ISREG(status.st_mode):
            folder, below, _ = name.partition("/")
            sizes[folder + below] += status.st_size
    limit = Limits().tree
    if sizes.total() > limit:
        largest = ", ".join(f"{name} ({size // MIB:,} MiB)" for name, size in sizes.most_common(_NAMED))
        raise Failure(
            ExitStatus.TESTS_NOT_RUN,
            f"the project does not fit in the sandbox: its files take {sizes.total() // MIB:,} of {limit // MIB:,} MiB",
            f"Name folders that no test needs in a .coderignore file. The largest here: {largest}.",
        )

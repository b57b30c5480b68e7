"""Git, hardened: the one module that calls it. A repository's own configuration is hostile until proved otherwise:
no file monitor, no external diff, no odd transports, no variables of a surrounding git process."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from coder.exit_status import ExitStatus
from coder.failure import Failure

_SAFE = ("-c", "core.fsmonitor=false", "-c", "protocol.ext.allow=never", "-c", "core.pager=cat", "--no-pager")
_NO_HOOKS = ("-c", f"core.hooksPath={os.devnull}")
_ENVIRONMENT = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C.UTF-8"}
_KEPT = ("GIT_AUTHOR_", "GIT_COMMITTER_", "GIT_PYTHON_")


def work_tree(root: Path) -> Path | None:
    """The top of the git repository that `root` is in, by its `.git` alone; None outside of one."""
    return next((folder for folder in (root, *root.parents) if (folder / ".git").exists()), None)


class Git:
    """The git repository that holds a project. Paths are relative to the project's root, which may be a subfolder."""

    def __init__(self, root: Path) -> None:
        for name in [name for name in os.environ if name.startswith("GIT_") and not name.startswith(_KEPT)]:
            del os.environ[name]
        os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")
        import git

        self._errors = (git.GitError, OSError)
        self._command = git.Git(str(root))

    @classmethod
    def open(cls, root: Path) -> Git | None:
        """None when `root` is in no git repository, git is not installed, or git does not trust who owns it."""
        if work_tree(root) is None:
            return None
        repository = cls(root)
        try:
            inside = repository._run("rev-parse", "--is-inside-work-tree") == "true"
        except repository._errors:
            return None
        return repository if inside else None

    def tracked(self) -> tuple[str, ...]:
        """Files under the root that git knows, also those that an ignore rule names."""
        return tuple(path for path in self._run("ls-files", "-z", "--cached").split("\0") if path)

    def excludes(self) -> Path:
        """Where the user keeps ignore rules for all repositories; there need be nothing."""
        with suppress(*self._errors):
            # The user's word alone: a repository could name any file of the machine.
            return Path(self._run("config", "--global", "--includes", "--path", "--get", "core.excludesFile"))
        base = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
        return Path(base, "git", "ignore")

    def modified(self, paths: Sequence[str]) -> tuple[str, ...]:
        """Those of `paths` that differ from the last commit, untracked ones among them."""
        listed = self._run("status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", "--", *paths)
        prefix = self._run("rev-parse", "--show-prefix")
        return tuple(line[3:].removeprefix(prefix) for line in listed.split("\0") if line)

    def commit(self, paths: Sequence[str], message: str) -> str:
        """Commits just these files as they are now, with the user's hooks and identity. Returns the short hash.

        Raises Failure when git refuses, with git's reason.
        """
        try:
            self._run("add", "--", *paths, hooks=True)
            self._run("commit", "--quiet", "--only", f"--message={message}", "--", *paths, hooks=True)
            return self._run("rev-parse", "--short", "HEAD")
        except self._errors as error:
            reason = str(getattr(error, "stderr", "") or error).strip()
            raise Failure(
                ExitStatus.INTERNAL_ERROR,
                f"the files are written, but git did not commit them: {reason}",
                "Commit by hand, or take the change back with `coder undo`.",
            ) from error

    def _run(self, command: str, *arguments: str, hooks: bool = False) -> str:
        options = _SAFE if hooks else (*_SAFE, *_NO_HOOKS)
        return str(self._command.execute(["git", *options, command, *arguments], env=dict(_ENVIRONMENT)))

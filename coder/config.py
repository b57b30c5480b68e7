"""Settings and where each comes from: built in, the user's config.toml, the project's coder.toml once it is trusted,
the command line. Later ones win.

No file can take the sandbox away: that is typed, each time, or not done.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from coder.exit_status import ExitStatus
from coder.failure import Failure
from coder.repository.gate import PathGate, Refused
from coder.trust import Standing, Trust, covered_files

USER_FILE = "config.toml"
PROJECT_FILE = "coder.toml"
DEFAULT, COMMAND_LINE = "default", "command line"


def _setting(default: Any, help: str) -> Any:
    return field(default=default, metadata={"help": help})


@dataclass(frozen=True)
class Settings:
    """All settings. `sources` says for each where it comes from; "default" for those that it lacks."""

    model: str = _setting("sprig", "model that writes and ranks, by name or path")
    precision: str = _setting("int8", "precision of the embedded model: int8 or fp32")
    endpoint: str = _setting("", "URL of an OpenAI-compatible server to use instead of the embedded model")
    python: str = _setting("", "interpreter that runs the tests; empty to find the project's own")
    test_command: str = _setting("", "command that runs the tests, judged by its exit status; empty for pytest")
    pytest_args: tuple[str, ...] = _setting((), "arguments that pytest gets in every run")
    timeout: float = _setting(120.0, "seconds that a search for a patch may take")
    max_candidates: int = _setting(20_000, "candidates that a search may try")
    memory_mb: int = _setting(2048, "memory of a sandbox, in MiB")
    sources: Mapping[str, str] = field(default_factory=dict)

    def source(self, name: str) -> str:
        return self.sources.get(name, DEFAULT)

    def updated(self, values: Mapping[str, Any], source: str) -> Settings:
        """With `values` in place of what was there; None leaves a setting alone.

        Raises Failure for a name that does not exist and for a value of the wrong kind.
        """
        clean = {name: _checked(name, value, source) for name, value in values.items() if value is not None}
        return replace(self, **clean, sources={**self.sources, **dict.fromkeys(clean, source)})


def names() -> list[str]:
    return [setting.name for setting in fields(Settings) if setting.name != "sources"]


def help_of(name: str) -> str:
    return str(next(setting for setting in fields(Settings) if setting.name == name).metadata["help"])


def load(
    config: Path, trust: Trust, root: Path | None, notice: Callable[[str], None] = lambda message: None
) -> Settings:
    """The settings for the project at `root` (None for none), without the command line's. A settings file of the
    project that is no regular file counts as absent, as it does for trust, and `notice` is told.

    Raises Failure with UNTRUSTED when the project has a settings file and is not trusted.
    """
    settings = Settings()
    user = config / USER_FILE
    try:
        settings = settings.updated(_parse(user.read_bytes(), user), str(user))
    except FileNotFoundError:
        pass
    if root is None:
        return settings
    try:
        settings_file = PathGate(root).read(PROJECT_FILE)
    except FileNotFoundError:
        return settings
    except Refused as refused:
        notice(f"{root / PROJECT_FILE} is left out: {refused.reason}")
        return settings
    standing = trust.standing(root, {**covered_files(root), PROJECT_FILE: settings_file})
    if standing is not Standing.TRUSTED:
        raise Failure(
            ExitStatus.UNTRUSTED,
            f"{root / PROJECT_FILE} sets things, and this project is {standing.value}",
            "Look at the file, then run `coder trust`.",
        )
    return settings.updated(_parse(settings_file.data, root / PROJECT_FILE), str(root / PROJECT_FILE))


def _parse(data: bytes, path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(data.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Failure(ExitStatus.USAGE, f"{path} is not valid TOML: {error}") from None


def _checked(name: str, value: Any, source: str) -> Any:
    if name not in names():
        raise Failure(ExitStatus.USAGE, f"unknown setting {name!r} in {source}", "`coder config` lists all settings.")
    kind = type(getattr(Settings(), name))
    if kind is float and type(value) is int:
        value = float(value)
    if kind is tuple and isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        value = tuple(value)
    if type(value) is not kind or (kind in (int, float) and value <= 0):
        wanted = {
            tuple: "a list of strings",
            float: "a positive number",
            int: "a positive whole number",
            str: "a string",
        }
        raise Failure(ExitStatus.USAGE, f"setting {name!r} in {source} must be {wanted[kind]}, not {value!r}")
    return value

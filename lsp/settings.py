"""What a user may set, in the editor's section `coder`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

MULTILINE = ("auto", "always", "never")
PRECISIONS = ("int8", "fp32")


@dataclass(frozen=True)
class Settings:
    """model: name or folder; precision: of the embedded model. threshold: how sure the model must be of what is shown
    (geometric mean of its tokens' probabilities), 0 to 1. multiline: whether a completion may have several lines.
    max_tokens: of one completion. read_repository: whether the workspace is read in the background. debounce_ms: rest
    after a keystroke before the model is asked."""

    model: str = "smollm2"
    precision: str = "int8"
    threshold: float = 0.45
    multiline: str = "auto"
    max_tokens: int = 64
    read_repository: bool = True
    debounce_ms: int = 0

    def updated(self, values: Mapping[str, Any] | None) -> tuple[Settings, list[str]]:
        """With what a client sent in place of what was there, and a complaint for each value that makes no sense."""
        clean: dict[str, Any] = {}
        complaints = []
        for name, (key, valid) in _CLIENT_NAMES.items():
            value = (values or {}).get(name)
            if value is None:
                continue
            if valid(value):
                clean[key] = type(getattr(self, key))(value)
            else:
                complaints.append(f"the setting coder.{name} cannot be {value!r}; it stays {getattr(self, key)!r}")
        return replace(self, **clean), complaints


def _whole(low: int, high: int) -> Any:
    return lambda value: type(value) in (int, float) and value == int(value) and low <= value <= high


_CLIENT_NAMES: dict[str, tuple[str, Any]] = {
    "model": ("model", lambda value: isinstance(value, str) and value != ""),
    "precision": ("precision", lambda value: value in PRECISIONS),
    "threshold": ("threshold", lambda value: type(value) in (int, float) and 0 <= value <= 1),
    "multiline": ("multiline", lambda value: value in MULTILINE),
    "maxTokens": ("max_tokens", _whole(1, 512)),
    "readRepository": ("read_repository", lambda value: type(value) is bool),
    "debounceMs": ("debounce_ms", _whole(0, 5000)),
}

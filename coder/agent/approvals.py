"""When to ask, apart from what the jail allows; and what was answered, for exactly that, in that project.

An approval names a kind ("run", "server", "tool"), the project's real path, and the hash of everything that matters:
all words of a command, a server's whole definition, a call with its arguments. Change one of them and it is asked anew.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from coder.atomic import System, replace_file
from coder.exit_status import ExitStatus
from coder.failure import Failure
from coder.ledger import private_folder
from coder.patch import sha256

DAYS = 30
"""An approval holds that long."""


class Ask(StrEnum):
    """When the user is asked. A server's first start is always asked for: it runs outside of the jail."""

    never = "never"
    outside = "outside"
    """Before what acts outside of the jail: calls of MCP tools."""
    always = "always"
    """Before each command, too."""


@dataclass(frozen=True)
class Request:
    """Something to be approved. `shown` is how people see it; `subject` is what is hashed, as plain JSON."""

    kind: str
    shown: str
    subject: Any

    @property
    def hash(self) -> str:
        return sha256(json.dumps([self.kind, self.subject], sort_keys=True).encode())


@dataclass(frozen=True)
class Answer:
    """`lasting`: for the next time too. `reason` goes back to the model when the answer is no."""

    allowed: bool
    lasting: bool = False
    reason: str = ""


Asker = Callable[[Request], Answer]


def nobody(request: Request) -> Answer:
    """The asker where nobody is there."""
    return Answer(False, reason="nobody is there to approve it")


class Approvals:
    """Decides, asks where it must, and remembers. Raises OSError, or Failure when what is stored cannot be read."""

    def __init__(self, state: Path, root: Path, policy: Ask, asker: Asker = nobody) -> None:
        self.path = state / "approvals.json"
        self.root, self.policy, self.asker = str(root), policy, asker

    def __call__(self, request: Request) -> Answer:
        if not self._asks(request.kind):
            return Answer(True)
        stored = self._load()
        until = stored.get(self.root, {}).get(request.hash, 0.0)
        if until > time.time():
            return Answer(True, lasting=True)
        answer = self.asker(request)
        if answer.allowed and answer.lasting:
            here = {**stored.get(self.root, {}), request.hash: time.time() + DAYS * 86_400}
            self._store({**stored, self.root: here})
        return answer

    def _asks(self, kind: str) -> bool:
        if kind == "server":
            return True
        return self.policy is Ask.always or (self.policy is Ask.outside and kind == "tool")

    def _load(self) -> dict[str, dict[str, float]]:
        try:
            stored: dict[str, dict[str, float]] = json.loads(self.path.read_text("utf-8"))
            return stored
        except FileNotFoundError:
            return {}
        except ValueError:
            hint = "Delete it; you will be asked again."
            raise Failure(ExitStatus.INTERNAL_ERROR, f"{self.path} is damaged", hint) from None

    def _store(self, stored: Mapping[str, Mapping[str, float]]) -> None:
        private_folder(self.path.parent)
        now = time.time()
        kept = {root: {key: until for key, until in here.items() if until > now} for root, here in stored.items()}
        replace_file(System(), self.path, json.dumps(kept, indent=1).encode())

"""Which model a task talks to: a server, or a local checkpoint that was taught to chat."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from coder.config import DEFAULT, Settings
from coder.exit_status import ExitStatus
from coder.failure import Failure

if TYPE_CHECKING:
    from model.chat import ChatModel

_LONGEST_SILENCE_S = 120.0


@dataclass(frozen=True)
class Chosen:
    """A model, its name for people, and how many characters of a conversation it should be shown."""

    chat: ChatModel
    name: str
    room: int


def choose(settings: Settings, variables: Mapping[str, str], seconds: float) -> Chosen | None:
    """What the settings and the user's own variables name; None where that is only the embedded default.

    Raises Failure with MODEL_FAILED.
    """
    from model.chat import ChatError

    named = "" if settings.source("model") == DEFAULT else settings.model
    try:
        if settings.endpoint or variables.get("CODER_ENDPOINT"):
            from model.endpoint import Endpoint

            endpoint = Endpoint.from_environment(variables, settings.endpoint, named)
            silence = min(_LONGEST_SILENCE_S, max(seconds, 1.0))
            endpoint = replace(endpoint, repairs=1, read_s=silence)
            return Chosen(endpoint, f"{endpoint.model} at {endpoint.url}", 300_000)
        if not named:
            return None
        from model.library import open_model
        from model.local_chat import LocalChat

        return Chosen(LocalChat(*open_model(named, settings.precision)), named, 24_000)
    except (ChatError, ValueError, OSError, RuntimeError) as error:
        raise Failure(
            ExitStatus.MODEL_FAILED, str(error), "Check --endpoint and --model, or `coder model list`."
        ) from error

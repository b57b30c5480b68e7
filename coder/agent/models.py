"""Which model a task talks to: a server, or a local checkpoint that was taught to chat."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from coder.config import DEFAULT, Settings
from coder.endpoint import endpoint_named, open_endpoint
from coder.exit_status import ExitStatus
from coder.failure import Failure

if TYPE_CHECKING:
    from model.chat import ChatModel


@dataclass(frozen=True)
class Chosen:
    """A model, its name for people, and how many characters of a conversation it should be shown. `small`: its calls
    are worked out of the request where that spells them out."""

    chat: ChatModel
    name: str
    room: int
    small: bool = False


def choose(settings: Settings, variables: Mapping[str, str], seconds: float) -> Chosen | None:
    """What the settings and the user's own variables name; None where that is only the embedded default. A server may
    be silent for `seconds` at most. Raises Failure with MODEL_FAILED."""
    if endpoint_named(settings, variables):
        endpoint = replace(open_endpoint(settings, variables, seconds), repairs=1)
        return Chosen(endpoint, endpoint.name, 300_000)
    if settings.source("model") == DEFAULT:
        return None
    from model.chat import ChatError
    from model.library import open_model
    from model.local_chat import LocalChat

    try:
        return Chosen(LocalChat(*open_model(settings.model, settings.precision)), settings.model, 24_000, small=True)
    except (ChatError, ValueError, OSError, RuntimeError) as error:
        raise Failure(ExitStatus.MODEL_FAILED, str(error), "Check --model, or `coder model list`.") from error

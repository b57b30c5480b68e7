"""The server that the settings or the user's own variables name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from coder.config import DEFAULT, Settings
from coder.exit_status import ExitStatus
from coder.failure import Failure

if TYPE_CHECKING:
    from model.endpoint import Endpoint


def endpoint_named(settings: Settings, variables: Mapping[str, str]) -> bool:
    """Whether a server is named at all. None is asked."""
    return bool(settings.endpoint or variables.get("CODER_ENDPOINT"))


def open_endpoint(settings: Settings, variables: Mapping[str, str], silence_s: float) -> Endpoint:
    """The server and the model on it; asked for its first model where none is named. It may be silent for `silence_s`
    seconds, and no longer than any may. Raises Failure with MODEL_FAILED."""
    from model.chat import ChatError
    from model.endpoint import READ_S, Endpoint

    named = "" if settings.source("model") == DEFAULT else settings.model
    read_s = max(1.0, min(READ_S, silence_s))
    try:
        return Endpoint.from_environment(variables, settings.endpoint, named, read_s)
    except (ChatError, ValueError, OSError) as error:
        raise Failure(ExitStatus.MODEL_FAILED, str(error), "Check --endpoint and --model.") from error

"""Loading the local model for a command, and what to say when it cannot be had."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from coder.config import COMMAND_LINE, Settings, load
from coder.exit_status import ExitStatus
from coder.failure import Failure
from coder.trust import Trust

if TYPE_CHECKING:
    from coder.environment import Environment

Model = Annotated[
    str | None, typer.Option("--model", metavar="NAME", help="Name, folder, or owner/model on the Hugging Face hub.")
]
Precision = Annotated[str | None, typer.Option(metavar="PRECISION", help="int8 or fp32.")]


def user_settings(environment: Environment, **typed: Any) -> Settings:
    """The user's own settings, without any project's, and what was typed."""
    return load(environment.config_dir, Trust(environment.state_dir), None).updated(typed, COMMAND_LINE)


def load_model(environment: Environment, settings: Settings) -> tuple[Any, Any]:
    """The model and tokenizer that the settings name. Raises Failure with MODEL_FAILED."""
    if "load_model" in environment.parts:
        return environment.parts["load_model"]()
    from model.library import open_model
    from model.weights.catalogue import ModelUnavailable

    if environment.interactive:
        environment.tell(f"loading {settings.model} …")
    try:
        return open_model(settings.model, settings.precision)
    except (ModelUnavailable, ValueError, OSError) as error:
        message = f"the model {settings.model} cannot be used: {error}"
        raise Failure(ExitStatus.MODEL_FAILED, message, "`coder model list` shows all.") from error

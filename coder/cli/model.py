"""`coder model`: list, pull, use, info, bench."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coder.cli.local_model import Model, Precision, load_model, user_settings
from coder.exit_status import ExitStatus
from coder.failure import Failure

if TYPE_CHECKING:
    from coder.environment import Environment

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Fetch, list and inspect models.")
Name = Annotated[str, typer.Argument(help="Name, folder, or owner/model on the Hugging Face hub.")]


@app.command("list")
def list_models(
    context: typer.Context,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """List the models that are known by name, which are here already, and which one is in use."""
    from model.library import NAMES
    from model.weights import catalogue

    environment: Environment = context.obj
    used = user_settings(environment).model
    rows = [{"name": name, "here": _is_here(name), "used": name == used} for name in NAMES]
    if used not in NAMES:
        rows.append({"name": used, "here": True, "used": True})
    if as_json:
        print(json.dumps({"models": rows, "cache": str(catalogue.cache_folder())}))
        return
    for row in rows:
        print(f"{'*' if row['used'] else ' '} {row['name']:<24} {'here' if row['here'] else 'fetched on first use'}")
    environment.tell(
        f"weights are kept in {catalogue.cache_folder()}; a local folder or owner/model works as a name too"
    )


@app.command()
def pull(context: typer.Context, name: Name) -> None:
    """Fetch a model's weights now, so that the first use needs no network."""
    environment: Environment = context.obj
    load_model(environment, user_settings(environment, model=name))
    environment.tell(f"{name} is ready")


@app.command()
def use(context: typer.Context, name: Name) -> None:
    """Make a model the default: writes `model` into your own config.toml."""
    environment: Environment = context.obj
    from coder.atomic import System, replace_file
    from coder.config import USER_FILE

    load_model(environment, user_settings(environment, model=name))
    path = environment.config_dir / USER_FILE
    text = path.read_text("utf-8") if path.exists() else ""
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(System(), path, with_setting(text, "model", name).encode(), 0o644)
    environment.tell(f"{name} is the default now ({path})")


@app.command()
def info(
    context: typer.Context,
    model: Model = None,
    precision: Precision = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Show what a model is: its kind, sizes, vocabulary, and what it can do here."""
    environment: Environment = context.obj
    settings = user_settings(environment, model=model, precision=precision)
    network, tokenizer = load_model(environment, settings)
    from model.decoding.draft_verify import Foreseeing, OnePass

    facts: dict[str, Any] = {"name": settings.model, "precision": settings.precision, "kind": type(network).__name__}
    config = getattr(getattr(network, "trunk", network), "config", None)
    facts |= {
        name: value
        for name, value in (vars(config).items() if config is not None else ())
        if isinstance(value, int | float | str) and not isinstance(value, bool)
    }
    special = getattr(tokenizer, "special", {})
    facts["chat"] = "ChatML" if "<|im_start|>" in special else "no template"
    facts["drafts for itself"] = (
        "in the verifying pass" if isinstance(network, (OnePass, Foreseeing)) else "in a pass of its own"
    )
    if as_json:
        print(json.dumps(facts))
        return
    for name, value in facts.items():
        environment.write(f"{name.replace('_', ' '):<20} {value}\n")


@app.command()
def bench(
    context: typer.Context,
    model: Model = None,
    precision: Precision = None,
    tokens: Annotated[int, typer.Option(help="Tokens to read and to write.")] = 128,
    repeats: Annotated[int, typer.Option(help="Runs of each; the median counts.")] = 3,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Measure this machine: reading, milliseconds by width of a pass, and writing with each decoder."""
    environment: Environment = context.obj
    network, tokenizer = load_model(environment, user_settings(environment, model=model, precision=precision))
    from model.speed import measure

    figures = measure(network, tokenizer, tokens, repeats)
    if as_json:
        print(json.dumps({name: round(value, 3) for name, value in figures.items()}))
        return
    for name, value in figures.items():
        print(f"{name:<24} {value:10.1f}")
    environment.tell("writing is repetitive text: what draft_verify gains on yours depends on how much of it repeats")


def _is_here(name: str) -> bool:
    from model.library import SPRIG
    from model.weights import catalogue

    return catalogue.is_here("smollm2" if name == SPRIG else name)


def with_setting(text: str, name: str, value: str) -> str:
    """TOML `text` with the top-level string `name` set to `value`; everything else stays as it is.

    Raises Failure for text that is not TOML.
    """
    import tomllib

    line = f"{name} = {json.dumps(value, ensure_ascii=False)}"
    lines = text.splitlines()
    top = next((at for at, one in enumerate(lines) if one.lstrip().startswith("[")), len(lines))
    found = next((at for at in range(top) if re.match(rf"\s*{name}\s*=", lines[at])), None)
    if found is None:
        lines.insert(0, line)
    else:
        lines[found] = line
    result = "\n".join(lines) + "\n"
    try:
        if tomllib.loads(result)[name] == value:
            return result
    except tomllib.TOMLDecodeError:
        pass
    raise Failure(ExitStatus.USAGE, "your config.toml cannot be changed safely", f"Write this line into it: {line}")

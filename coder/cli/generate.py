"""`coder generate`."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import replace
from enum import Enum, StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coder.cli.local_model import Model, Precision, load_model, user_settings
from coder.exit_status import ExitStatus
from coder.failure import Failure

if TYPE_CHECKING:
    from coder.environment import Environment
    from model.decoding.request import Event, Finished


class DecoderName(StrEnum):
    ar = "ar"
    diffusion = "diffusion"
    draft_verify = "draft_verify"
    full_canvas = "full_canvas"
    uniform_noise = "uniform_noise"


def generate(
    context: typer.Context,
    prompt: Annotated[str | None, typer.Option(metavar="TEXT", help="What to continue; else stdin.")] = None,
    model: Model = None,
    precision: Precision = None,
    decoder: Annotated[DecoderName, typer.Option(help="How tokens are chosen.")] = DecoderName.draft_verify,
    chat: Annotated[bool, typer.Option("--chat", help="The prompt is a message to answer.")] = False,
    suffix: Annotated[str | None, typer.Option(metavar="TEXT", help="What comes after the gap to fill.")] = None,
    schema: Annotated[Path | None, typer.Option(metavar="FILE", help="Write JSON of this JSON schema.")] = None,
    copy_from: Annotated[
        list[Path] | None, typer.Option(metavar="FILE", help="A text that the output resembles: faster, same output.")
    ] = None,
    max_tokens: Annotated[int, typer.Option(metavar="N", help="Tokens to write at most.")] = 256,
    temperature: Annotated[float, typer.Option(help="0 always takes the likeliest token.")] = 0.0,
    top_p: Annotated[float, typer.Option(help="Draw from the likeliest tokens that hold this probability.")] = 1.0,
    seed: Annotated[int, typer.Option(help="Same seed, same text.")] = 0,
    stop: Annotated[list[str] | None, typer.Option(metavar="TEXT", help="End before this; may be given again.")] = None,
    threshold: Annotated[
        float | None,
        typer.Option(help="Diffusion: fix what is at least this sure (default: the model's, or 0.9)."),
    ] = None,
    block: Annotated[
        int | None, typer.Option(help="Diffusion: tokens of a block (default: the model's, or 32).")
    ] = None,
    watch: Annotated[bool, typer.Option("--watch", help="Show blocks while they fill in.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Events as JSON lines on stdout.")] = False,
) -> None:
    """Write text or code with a local model.

    The text goes to stdout, figures to stderr. draft_verify writes what ar writes, faster: to the letter with smollm2
    and sprig in int8. In fp32, on a GPU, with Clover and Qwen3.5, passes of another width sum in another order, so
    where two tokens are all but equally likely the texts may part.

    Examples: `coder generate --prompt "def add(a, b):" --max-tokens 40` continues;
    `coder generate --chat --prompt "Explain git rebase"` answers;
    `coder generate --decoder diffusion --watch < start.py` shows blocks filling in.
    """
    environment: Environment = context.obj
    text = environment.stdin.read() if prompt is None else prompt
    if not text:
        raise Failure(ExitStatus.USAGE, "the prompt is empty", "Give --prompt TEXT, or text on stdin.")
    settings = user_settings(environment, model=model, precision=precision)
    network, tokenizer = load_model(environment, settings)

    from model.chat import ChatError, Message
    from model.chat_template import ChatML
    from model.decoding import diffusion, gap, infill
    from model.decoding.grammar import Grammar, GrammarError
    from model.decoding.names import DECODERS
    from model.decoding.request import Generation

    try:
        ids = ChatML(tokenizer).render([Message("user", text)], ()) if chat else tokenizer.encode(text)
        request = Generation(
            prompt=ids,
            max_tokens=max_tokens,
            stop=tuple(stop or ()),
            ends=(tokenizer.special["<|im_end|>"],) if chat else (),
            temperature=temperature,
            top_p=top_p,
            seed=seed,
            grammar=Grammar.json_schema(tokenizer, _schema(environment.cwd / schema)) if schema else None,
            sources=tuple(tokenizer.encode(_read(environment.cwd / path)) for path in copy_from or ()),
        )
        denoising = diffusion.Denoising.of(network)
        typed: dict[str, Any] = {"block": block, "threshold": threshold}
        denoising = replace(denoising, **{name: value for name, value in typed.items() if value is not None})
        if suffix is not None:
            infilling = infill.Infilling(denoising=denoising)
            events = gap.generate(network, tokenizer, request, text, suffix, infilling)
        elif decoder is DecoderName.diffusion:
            events = partial(diffusion.generate, denoising=denoising)(network, tokenizer, request)
        else:
            events = DECODERS[decoder.value](network, tokenizer, request)
        _show(environment, tokenizer, events, watch, as_json)
    except (GrammarError, ChatError, ValueError) as error:
        raise Failure(ExitStatus.USAGE, str(error)) from error


def _show(environment: Environment, tokenizer: Any, events: Iterator[Event], watch: bool, as_json: bool) -> None:
    from model.decoding.request import Denoised, Finished, Settled

    begun = time.perf_counter()
    watching = _Watching(environment, tokenizer) if watch and not as_json else None
    written: list[str] = []
    try:
        for event in events:
            if as_json:
                seconds = round(time.perf_counter() - begun, 4)
                environment.write(json.dumps(_as_json(event, seconds), ensure_ascii=False) + "\n")
            elif isinstance(event, Finished):
                if watching:
                    watching.stop()
                    environment.write("".join(written))
                environment.write("\n")
                environment.tell(_figures(event, time.perf_counter() - begun))
            elif watching:
                watching.take(event)
                written.append(event.text if isinstance(event, Settled) else "")
            elif not isinstance(event, Denoised):
                environment.write(event.text)
    finally:
        if watching:
            watching.stop()


class _Watching:
    """The live display on stderr."""

    def __init__(self, environment: Environment, tokenizer: Any) -> None:
        from rich.live import Live

        from coder.cli.block_view import BlockView

        self._view = BlockView(tokenizer)
        self._live = Live(self._view, console=environment.console, transient=True, refresh_per_second=20)
        self._live.start()

    def take(self, event: Event) -> None:
        self._view.take(event)
        self._live.update(self._view)

    def stop(self) -> None:
        self._live.stop()


def _as_json(event: Event, seconds: float) -> dict[str, Any]:
    from dataclasses import asdict

    fields = {name: value.value if isinstance(value, Enum) else value for name, value in asdict(event).items()}
    return {"event": type(event).__name__.lower(), "seconds": seconds, **fields}


def _figures(done: Finished, seconds: float) -> str:
    per_pass = f", {done.tokens / done.passes:.2f} tokens a pass" if done.passes else ""
    drafts = f", {done.accepted} of {done.drafted} drafts stood" if done.drafted else ""
    ended = {"length": " (cut off by --max-tokens)", "cancelled": " (cancelled)"}.get(done.reason.value, "")
    closing = " (closed early to fit --max-tokens)" if done.closed else ""
    rate = done.tokens / seconds if seconds else 0.0
    return f"{done.tokens} tokens in {seconds:.2f} s: {rate:.0f} tokens/s{per_pass}{drafts}{ended}{closing}"


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Failure(ExitStatus.USAGE, f"cannot read {path}: {error}") from error


def _schema(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(_read(path))
    except json.JSONDecodeError as error:
        raise Failure(ExitStatus.USAGE, f"{path} is not valid JSON: {error}") from error
    if not isinstance(value, dict):
        raise Failure(ExitStatus.USAGE, f"{path} is not a JSON schema: it must hold an object")
    return value

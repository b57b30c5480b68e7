"""`coder memory`: show, build, clear."""

from __future__ import annotations

import json
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coder.cli.display import plain
from coder.cli.local_model import Model, Precision, load_model
from coder.cli.memory_map import heat_map
from coder.cli.options import HERE, Project, settings_for
from coder.exit_status import ExitStatus
from coder.reading_plan import LIMIT
from coder.targets import some

if TYPE_CHECKING:
    from coder.environment import Environment

app = typer.Typer(add_completion=False, help="Show, build and clear what models have read of your projects.")
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object.")]


@app.callback(invoke_without_command=True)
def show(context: typer.Context, as_json: AsJson = False) -> None:
    """Show what is stored: files, tokens, bytes, age; and draw what the newest memory of this project holds."""
    if context.invoked_subcommand is not None:
        return
    from coder.reading import BUDGET, open_store

    environment: Environment = context.obj
    store = open_store(environment.state_dir)
    rows = [_row(entry) for entry in store.entries()]
    if as_json:
        environment.stdout.write(
            json.dumps({"folder": str(store.directory), "budget": BUDGET, "memories": [_plain(row) for row in rows]})
            + "\n"
        )
        return
    if not rows:
        environment.tell("nothing has been read yet: `coder memory build` reads this project")
        return
    _list(environment, rows)
    here = next((row for row in rows if row["root"] == str(environment.cwd.resolve())), None)
    if here is not None:
        drawn = heat_map(here["files"], environment.output.width)
        if drawn is not None:
            environment.output.print(drawn)
    used = sum(row["bytes"] for row in rows)
    environment.tell(f"{_size(used)} of {_size(BUDGET)} in {store.directory}; the least recently used goes first")


@app.command()
def build(
    context: typer.Context,
    path: Project = HERE,
    model: Model = None,
    precision: Precision = None,
    limit: Annotated[
        int, typer.Option(min=1000, help="Characters of source to read; what matters most is kept.")
    ] = LIMIT,
    as_json: AsJson = False,
) -> None:
    """Read a project into the model's memory, so that other commands and the editor go on from there.

    Only what is new or changed is read. Ctrl-C stops it; what was read is kept.
    """
    from coder.engine import Engine
    from coder.repository import Repository

    environment: Environment = context.obj
    repository = Repository.open(environment.cwd / path)
    settings = settings_for(environment, repository.root, may_ask=not as_json).updated(
        {"model": model, "precision": precision}, "command line"
    )
    engine = Engine(repository, settings, environment.state_dir, Path())
    loaded = load_model(environment, settings)
    begin = time.monotonic()
    with _stopped(engine.cancel), _bar(environment) as progress:
        read = engine.read(loaded=loaded, progress=progress, limit=limit)
    fresh = read.tokens - read.resumed_tokens
    if as_json:
        facts = {
            "complete": read.complete,
            "files": len(read.files),
            "tokens": read.tokens,
            "resumed_files": read.resumed,
            "resumed_tokens": read.resumed_tokens,
            "read_tokens": fresh,
            "seconds": round(time.monotonic() - begin, 3),
        }
        environment.stdout.write(json.dumps(facts) + "\n")
    else:
        environment.tell(
            f"{len(read.files)} files, {read.tokens:,} tokens: {read.resumed_tokens:,} were known, {fresh:,} read"
            if read.files
            else "there is nothing here to read"
        )
    if not read.complete:
        raise typer.Exit(ExitStatus.INTERRUPTED)


@app.command()
def clear(context: typer.Context, as_json: AsJson = False) -> None:
    """Delete all that is stored. It can be read again."""
    from coder.reading import open_store

    environment: Environment = context.obj
    freed = open_store(environment.state_dir).clear()
    if as_json:
        environment.stdout.write(json.dumps({"freed": freed}) + "\n")
    else:
        environment.tell(f"{_size(freed)} freed")


def _row(entry: Any) -> dict[str, Any]:
    """What is known of a stored memory; `stale` names its files that have changed since, None where the project is
    gone."""
    from coder.failure import Failure
    from coder.reading import files_of, stale
    from coder.repository import Repository

    files = files_of(entry.notes)
    root = entry.notes.get("root", "")
    try:
        changed = stale(Repository.open(Path(root)), files) if root else None
    except Failure:
        changed = None
    return {
        "root": root,
        "model": entry.model_id,
        "files": files,
        "tokens": entry.position,
        "bytes": entry.bytes,
        "age_s": max(0, round(time.time() - entry.used)),
        "stale": changed,
    }


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    files = [{"path": file.path, "tokens": file.tokens, "norms": list(file.norms)} for file in row["files"]]
    return row | {"files": files}


def _list(environment: Environment, rows: list[dict[str, Any]]) -> None:
    """A line for each project, and under it one for each of its memories, the latest first."""
    for root in dict.fromkeys(row["root"] for row in rows):
        environment.output.print(plain(root) or "unknown project", style="bold", markup=False)
        for row in (row for row in rows if row["root"] == root):
            changed = row["stale"]
            now = "all as it is now" if changed == [] else f"changed since: {some(changed)}" if changed else "gone"
            figures = f"{len(row['files']):>5} files {row['tokens']:>9,} tokens {_size(row['bytes']):>10}"
            used = f"used {_age(row['age_s']):>6} ago"
            environment.output.print(plain(f"  {row['model']:<24} {figures}  {used}  {now}"), markup=False)


def _size(count: int) -> str:
    return f"{count / 2**30:.1f} GiB" if count >= 2**30 else f"{count / 2**20:.1f} MiB"


def _age(seconds: int) -> str:
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= length:
            return f"{seconds // length} {unit}"
    return f"{seconds} s"


@contextmanager
def _stopped(cancel: threading.Event) -> Iterator[None]:
    """The first Ctrl-C, or request to end, asks the reading to stop and keep what it has; a second one ends the
    program."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    def stop(number: int, frame: Any) -> None:
        restore()
        cancel.set()

    for number in before:
        signal.signal(number, stop)
    try:
        yield
    finally:
        restore()


@contextmanager
def _bar(environment: Environment) -> Iterator[Any]:
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("reading"),
        BarColumn(),
        TextColumn("{task.completed:,.0f}/{task.total:,.0f} tokens"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[path]}", markup=False),
    )
    with Progress(*columns, console=environment.console, transient=True, disable=not environment.interactive) as bar:
        task = bar.add_task("reading", total=1, path="")

        def progress(now: Any) -> None:
            bar.update(task, completed=now.tokens, total=max(now.all_tokens, 1), path=now.path)

        yield progress

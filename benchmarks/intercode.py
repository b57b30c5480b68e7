"""Shell questions: how often the answer does what the reference command does, and what its confidence is worth.

    python -m benchmarks.intercode --data DATA/intercode_bash/fs_3.jsonl
    python -m benchmarks.intercode --aside 110    # for tuning: questions of NL2Bash that are no examples then

The tasks are questions with a reference command (InterCode-Bash, Yang et al. 2023, arXiv:2306.14898; MIT). For each a
file tree is grown on which the reference visibly acts and three mutants of it do something else (`intercode_trees`);
tasks without such a tree, and those that depend on the clock, the host or the disk, are left out by name. An answer is
right when its command changes the same files in the same way and prints the same lines, up to white space, and up to
their order where the reference does not sort. Compared: `coder.shell`, and the same model asked plainly (one chat
message, greedy, its first command taken). The tool sees the question and the tree, never the reference. What is known
of a task goes to `--out`, one line of JSON each; what stands there is not asked again.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import math
import re
import tarfile
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from benchmarks.intercode_trees.grow import grow
from benchmarks.intercode_trees.heldout import PLACE, set_aside, shares
from benchmarks.intercode_trees.mutate import mutants
from benchmarks.tables import save
from coder.shell.confidence import confidence
from coder.shell.examples import Index
from coder.shell.tree import Tree
from coder.shell.trial import Outcome, Trials

_EDGES = (0.0, 0.2, 0.35, 0.5, 0.7, 1.0)
_SEEDS = 6
_MUTANTS = 3
_OUTSIDE = re.compile(
    r"(?:^|[|;(`]\s*|xargs |-exec )(?:hostname|date|uptime|df|du|ps|pstree|top|who|whoami|id|uname|ifconfig|ip|ping"
    r"|free|mount|which|cal|last|w|echo \$\w+)\b|\$\$|/etc|/var|/proc|/usr|/home|~|\$HOME|\$PATH"
    r"|-[amc]min|-[ac]time|-newermt"
    r"|(?<![\w.\"'*/])/(?=\s|$)"
)


@dataclass(frozen=True)
class Task:
    """`place`: where the file tree lies, as its words have it."""

    name: str
    query: str
    gold: str
    place: str


@dataclass(frozen=True)
class Result:
    """`left_out` says why, or nothing. `says`: the command of each way of asking; `right`: whether it does what the
    reference does. `given`: whether the best guess was given as the answer. `evidence`: for the best guess, from
    which its confidence is computed when the table is made."""

    name: str
    query: str
    gold: str
    left_out: str = ""
    says: dict[str, str] = field(default_factory=dict)
    right: dict[str, bool] = field(default_factory=dict)
    given: bool = False
    evidence: dict[str, float] = field(default_factory=dict)
    seconds: float = 0.0


def tasks(path: Path) -> Iterator[Task]:
    """All tasks of a file are on one tree: the folder that their references name most. Where a reference names it
    without the slash before it, the same tree is meant."""
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    named = Counter(name for row in rows for name in re.findall(r"(?<![\w/.~])/\w+", row["gold"]))
    place = named.most_common(1)[0][0]
    for at, row in enumerate(rows):
        gold = re.sub(rf"(?<![\w/.]){place[1:]}(?=/)", place, row["gold"])
        yield Task(f"{path.stem}:{at}", row["query"], gold, place)


def aside(count: int) -> tuple[list[Task], Index]:
    """Questions of NL2Bash as tasks, and the worked examples without them."""

    def fit(command: str) -> bool:
        return not _OUTSIDE.search(command) and len(mutants(command, PLACE)) >= _MUTANTS

    pairs, index = set_aside(count, fit)
    return [Task(f"aside:{at}", *pair, PLACE) for at, pair in enumerate(pairs)], index


def judged(task: Task, root: Path, sandbox: object) -> tuple[Trials, Outcome] | str:
    """The tree under `root` and what the reference does on it, or why the task is left out."""
    if match := _OUTSIDE.search(task.gold):
        return f"depends on the machine or lies outside the tree ({match[0]})"
    wrong = mutants(task.gold, task.place)
    if len(wrong) < _MUTANTS:
        return "its reference command has no three mutants"
    reason = ""
    for seed in range(_SEEDS):
        where = root / str(seed)
        where.mkdir(parents=True)
        grow(task.query, task.gold, task.place, where, seed)
        trials = Trials(sandbox, Tree.read(where), Path(task.place))  # type: ignore[arg-type]
        outcomes = trials.run([task.gold, task.gold, *wrong[:11]])
        gold, again, rest = outcomes[0], outcomes[1], outcomes[2:]
        idle = gold is None or not (gold.changes or gold.stdout.strip() not in ("", "0"))
        if gold is None or again is None or idle or not same(task.gold, gold, again):
            reason = "its reference command does nothing visible here, or not twice the same"
            if gold is not None and re.search(r"command not found|No such file", gold.stderr):
                reason = f"its reference command does not run here: {gold.stderr.splitlines()[0][:80]}"
        elif sum(1 for one in rest if one is not None and not same(task.gold, gold, one)) < _MUTANTS:
            reason = "no tree tells its reference command from three mutants"
        else:
            return trials, gold
        trials.close()
    return reason


def same(reference: str, gold: Outcome, other: Outcome | None) -> bool:
    if other is None:
        return False
    ordered = bool(re.search(r"\bsort\b|\bls\b(?!.*find)", reference))
    return _comparable(gold, ordered) == _comparable(other, ordered)


def _comparable(outcome: Outcome, ordered: bool) -> tuple[object, ...]:
    lines, changes = outcome.effect(ordered)
    return lines, tuple((*change[:4], _unpacked(change[4])) for change in changes)  # type: ignore[attr-defined]


def _unpacked(content: bytes | None) -> object:
    """An archive by the files in it, compressed data by what was compressed: both also hold the time."""
    if content is None:
        return None
    try:
        with tarfile.open(fileobj=io.BytesIO(content)) as archive:
            return sorted(member.name for member in archive)
    except (tarfile.TarError, EOFError, OSError):
        pass
    try:
        return gzip.decompress(content)
    except (OSError, EOFError):
        return content


def plain(query: str, model: object, tokenizer: object) -> str:
    """The model's own answer to the bare question."""
    from model.chat import ChatOptions, Message
    from model.local_chat import LocalChat

    asked = f"Write one bash command for this task. Answer with the command only.\n\n{query}"
    chat = LocalChat(model, tokenizer)  # type: ignore[arg-type]
    events = chat.reply([Message("user", asked)], (), ChatOptions(max_tokens=96))
    text = "".join(getattr(event, "text", "") for event in events)
    block = re.search(r"```(?:\w+\n)?\s*(.+?)(?:```|$)", text, re.DOTALL)
    lines = [line.strip() for line in (block[1] if block else text).splitlines()]
    line = next((line for line in lines if line and not line.startswith("#")), "")
    return line.strip("`").removeprefix("$ ")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--data", type=Path)
    source.add_argument("--aside", type=int, metavar="N", help="N questions of NL2Bash, for tuning")
    parser.add_argument("--out", type=Path, default=Path("intercode.jsonl"))
    parser.add_argument("--no-model", action="store_true", help="rank without the model; no plain prompt")
    parser.add_argument("--save", action="store_true", help="keep the tables for the README")
    parser.add_argument("--seconds", type=float, default=math.inf, help="stop asking after this; run again to go on")
    arguments = parser.parse_args()

    from sandbox.jail import Sandbox

    sandbox, index = Sandbox.detect(), None
    if arguments.aside:
        chosen, index = aside(arguments.aside)
    else:
        chosen = list(tasks(arguments.data))
    lines = arguments.out.read_text("utf-8").splitlines() if arguments.out.exists() else []
    rows = [json.loads(line) for line in lines]
    results = {row["name"]: Result(**row) for row in rows if "given" in row or row["left_out"]}  # others: asked again
    loaded = None
    if not arguments.no_model:
        from model.weights.catalogue import load

        loaded = load("smollm2", "int8")
    ends = time.monotonic() + arguments.seconds
    with arguments.out.open("a", encoding="utf-8") as out:
        for task in chosen:
            if task.name not in results and time.monotonic() < ends:
                results[task.name] = evaluate(task, sandbox, index, loaded)
                line = json.dumps(asdict(results[task.name]))
                out.write(line + "\n")
                out.flush()
                print(line, flush=True)
    report([results[task.name] for task in chosen if task.name in results], len(chosen), arguments)


def evaluate(task: Task, sandbox: object, index: Index | None, loaded: tuple[object, object] | None) -> Result:
    from coder.shell.ask import Parts, ask

    with tempfile.TemporaryDirectory() as folder:
        tree = judged(task, Path(folder), sandbox)
        if isinstance(tree, str):
            return Result(task.name, task.query, task.gold, tree)
        trials, gold = tree
        with trials:
            begun = time.monotonic()
            model = None if loaded is None else lambda: loaded
            parts = Parts(sandbox, model, Path(task.place), index=index)  # type: ignore[arg-type]
            answer = ask(task.query, trials.tree, parts)
            seconds = time.monotonic() - begun
            says = {"best guess": answer.guess}
            if loaded is not None and index is None:
                says["plain prompt"] = plain(task.query, *loaded)
            right = {way: same(task.gold, gold, one) for way, one in zip(says, trials.run(list(says.values())))}
    given = bool(answer.command)
    return Result(task.name, task.query, task.gold, "", says, right, given, dict(answer.evidence), seconds)


def _row(way: str, right: int, count: int, given: int) -> tuple[str, ...]:
    share, kept = f"{right / max(count, 1):.0%}", f"{right / given:.0%}" if given else ""
    return way, f"{right} of {count}", share, str(given), kept


def report(every: list[Result], of: int, arguments: argparse.Namespace) -> None:
    for result in every:
        if result.left_out:
            print(f"left out {result.name}: {result.left_out}")
    results = [result for result in every if not result.left_out]
    sure = [(confidence(result.evidence), result.right["best guess"]) for result in results if result.evidence]
    given = [result.right["best guess"] for result in results if result.given]
    rows = [_row("answer", sum(given), len(results), len(given))]
    for way in results[0].says if results else []:
        right, said = sum(result.right[way] for result in results), sum(bool(result.says[way]) for result in results)
        rows.append(_row(way, right, len(results), said))
    table = [(one, str(count), f"{mean:.2f}", f"{right:.0%}") for one, count, mean, right in shares(sure, _EDGES)]
    print("\n".join("  ".join(row) for row in [*rows, *table]))
    if arguments.save:
        name = arguments.data.stem if arguments.data else "nl2bash"
        left_out = len(every) - len(results)
        note = (
            f"Shell questions ({name}), n={len(results)}: {len(every)} of {of} looked at, {left_out} of them left out"
        )
        note += " by name and reason" + (", without the language model." if arguments.no_model else ".")
        command = (
            f"python -m benchmarks.intercode {'--data ' + name + '.jsonl' if arguments.data else '--aside'} --save"
        )
        suffix = "" if arguments.data else "_aside"
        save(
            f"intercode{suffix}",
            ("asked", "same effect and output", "share", "given", "right of those"),
            rows,
            note,
            command,
        )
        columns = ("confidence", "answers", "mean", "right")
        save(f"intercode_confidence{suffix}", columns, table, note, command)


if __name__ == "__main__":
    main()

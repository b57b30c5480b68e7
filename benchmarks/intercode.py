"""Shell questions: how often the answer does what the reference command does.

    python -m benchmarks.intercode --data shared/data/intercode_bash/fs_3.jsonl

The tasks are questions with a reference command (InterCode-Bash, Yang et al. 2023, arXiv:2306.14898; MIT). For each a
file tree is grown on which the reference visibly acts and three mutants of it do something else (`intercode_trees`);
tasks without such a tree, and those that depend on the clock, the host or the disk, are left out by name. An answer is
right when its command changes the same files in the same way and prints the same lines, up to white space, and up to
their order where the reference does not sort. Compared: `coder.shell`, and the same model asked plainly (one chat
message, greedy, its first command taken). The tool sees the question and the tree, never the reference.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import re
import tarfile
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.intercode_trees.grow import grow
from benchmarks.intercode_trees.mutate import mutants
from benchmarks.tables import save
from coder.shell.tree import Tree
from coder.shell.trial import Outcome, Trials

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
    """`says`: the command of each way of asking; `right`: whether it does what the reference does."""

    name: str
    query: str
    gold: str
    says: dict[str, str]
    right: dict[str, bool]
    seconds: float


def tasks(path: Path) -> Iterator[Task]:
    """All tasks of a file are on one tree: the folder that their references name most. Where a reference names it
    without the slash before it, the same tree is meant."""
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    named = Counter(name for row in rows for name in re.findall(r"(?<![\w/.~])/\w+", row["gold"]))
    place = named.most_common(1)[0][0]
    for at, row in enumerate(rows):
        gold = re.sub(rf"(?<![\w/.]){place[1:]}(?=/)", place, row["gold"])
        yield Task(f"{path.stem}:{at}", row["query"], gold, place)


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
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--no-model", action="store_true", help="rank without the model; no plain prompt")
    parser.add_argument("--save", action="store_true", help="keep the table for the README")
    parser.add_argument("--part", default="0/1", help="I/N: every Nth task, from the Ith on")
    arguments = parser.parse_args()

    from coder.shell.ask import Parts, ask
    from sandbox.jail import Sandbox

    first, every = map(int, arguments.part.split("/"))
    sandbox = Sandbox.detect()
    loaded = None
    if not arguments.no_model:
        from model.weights.catalogue import load

        loaded = load("smollm2", "int8")
    results: list[Result] = []
    left_out: dict[str, str] = {}
    for task in list(tasks(arguments.data))[first::every]:
        with tempfile.TemporaryDirectory() as folder:
            tree = judged(task, Path(folder), sandbox)
            if isinstance(tree, str):
                left_out[task.name] = tree
                continue
            trials, gold = tree
            begun = time.monotonic()
            answer = ask(task.query, trials.tree, Parts(sandbox=sandbox, model=loaded, place=Path(task.place)))
            seconds = time.monotonic() - begun
            says = {"coder": answer.command, "best guess": answer.command or answer.guess}
            if loaded is not None:
                says["plain prompt"] = plain(task.query, *loaded)
            outcomes = trials.run(list(says.values()))
            right = {way: same(task.gold, gold, outcome) for way, outcome in zip(says, outcomes)}
            results.append(Result(task.name, task.query, task.gold, says, right, seconds))
            print(json.dumps(asdict(results[-1])), flush=True)
            trials.close()
    report(results, left_out, arguments)


def report(results: list[Result], left_out: dict[str, str], arguments: argparse.Namespace) -> None:
    for name, reason in left_out.items():
        print(f"left out {name}: {reason}")
    ways = list(results[0].says) if results else []
    rows = []
    for way in ways:
        count = sum(result.right[way] for result in results)
        silent = sum(not result.says[way] for result in results)
        rows.append((way, f"{count} of {len(results)}", f"{count / len(results):.0%}", str(silent)))
        print(*rows[-1])
    if arguments.out:
        arguments.out.write_text(
            json.dumps({"left_out": left_out, "results": [asdict(one) for one in results]}, indent=1)
        )
    if arguments.save:
        note = f"InterCode-Bash questions of {arguments.data.stem}, n={len(results)}; {len(left_out)} left out."
        command = f"python -m benchmarks.intercode --data {arguments.data.name} --save"
        save("intercode", ("asked", "same effect and output", "share", "no answer"), rows, note, command)


if __name__ == "__main__":
    main()

"""Infilling by the trunk, by Sprig's preview, and by both: `python -m benchmarks.infill FILE`.

FILE is `single_line` or `random_span_light` of human-eval-infilling (JSON lines: task_id, prompt, suffix,
canonical_solution, test, entry_point). `--phase 0` takes the tasks of HumanEval ids ≡ 0 mod 4, for tuning; 2, the
default, those to report. What was done is kept in `--store` and not done again; the table counts all of it.

The trunk writes samples from the left and cuts them where a line ends (single lines) or anywhere (spans); the preview
writes blocks of masks with both sides in view; jointly, each token is chosen by both. One judge for all ways: the
trunk's likelihood of the text together with the right side. Length found: nothing is known about the middle; given: the
number of its tokens is. A task takes about a quarter of a minute of one core.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from benchmarks.tables import save
from model.decoding import autoregressive, infill
from model.decoding.healing import cut_back
from model.decoding.infill import Infilling
from model.decoding.request import Event, Generation, text_of
from model.decoding.rewrite import rewrite
from model.library import open_model
from model.scoring import Scorer

WAYS = ("trunk", "preview", "jointly", "all together")
RIGHT = 24  # tokens of the right side that the judge reads
LENGTHS = (2, 3, 4, 6, 8, 11, 15, 20)
LONGEST = 24
JUDGED = 3  # lengths that are written out


def passes(task: dict[str, Any], middle: str) -> bool:
    """Runs the task's own test in a process with bounds on time and memory."""
    program = f"{task['prompt']}{middle}{task['suffix']}\n{task['test']}\ncheck({task['entry_point']})\n"

    def bound() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (5, 5))
        resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))

    with tempfile.TemporaryDirectory() as folder:
        try:
            done = subprocess.run(
                [sys.executable, "-I", "-c", program], cwd=folder, capture_output=True, timeout=20, preexec_fn=bound
            )
        except subprocess.TimeoutExpired:
            return False
    return done.returncode == 0


def chosen(path: Path, phase: int, limit: int | None) -> list[dict[str, Any]]:
    """Tasks of one residue, spread over the problems where there is a limit."""
    tasks = [json.loads(line) for line in path.read_text().splitlines()]
    number = re.compile(r"HumanEval/(\d+)")
    kept = [task for task in tasks if int(number.search(task["task_id"]).group(1)) % 4 == phase]  # type: ignore[union-attr]
    return kept if limit is None else kept[:: max(1, len(kept) // limit)][:limit]


@dataclass(frozen=True)
class Candidate:
    """A text for the gap, its tokens, and ln p(text + right side | left side)."""

    text: str
    tokens: int
    logprob: float

    @property
    def worth(self) -> float:
        return infill.worth(self.logprob, self.tokens)


class Filler:
    """Candidates for one gap, by way. `line`: the middle is a whole line, and the right side begins with its end."""

    def __init__(self, model: Any, tokenizer: Any, task: dict[str, Any], line: bool) -> None:
        self.model, self.tokenizer, self.line = model, tokenizer, line
        self.prefix, self.suffix = task["prompt"], ("\n" if line else "") + task["suffix"]
        kept, self.forced = cut_back(self.prefix)
        self.prompt = tokenizer.encode(kept)
        self.right = tokenizer.encode(self.suffix)[: Infilling().suffix]
        middle = task["canonical_solution"].removesuffix("\n") if line else task["canonical_solution"]
        self.length = len(tokenizer.encode(self.forced + middle))  # for the ways with the length given alone

    def trunk(self, given: bool) -> list[str]:
        if self.line:
            texts = [one.text for one in rewrite(self.model.trunk, self.tokenizer, self.prefix, self.suffix, 8, 64)]
            fitting = [text for text in texts if len(self.tokenizer.encode(self.forced + text)) == self.length]
            return (fitting or texts) if given else texts
        texts = []
        for seed in range(2):
            request = self._request(self.length if given else LONGEST, 0.8 * seed, seed)
            whole = self._written(autoregressive.generate(self.model, self.tokenizer, request))
            ids = self.tokenizer.encode(whole)
            texts += [self.tokenizer.decode(ids[:cut]) for cut in range(len(ids) if given else 1, len(ids) + 1)]
        return texts

    def blocks(self, given: bool, jointly: bool) -> list[str]:
        texts = []
        for length in (self.length,) if given else self._likely_lengths:
            one = Infilling((length,), judged=1, jointly=jointly)
            texts.append(
                self._written(infill.generate(self.model, self.tokenizer, self._request(length), self.right, one))
            )
        return texts

    @cached_property
    def _state(self) -> Any:
        return self.model.commit(self.prompt[:-1], self.model.start(), rows=slice(0, 0))[1]

    @cached_property
    def _likely_lengths(self) -> list[int]:
        _, state = self.model.commit(self.prompt[-1:], self._state, rows=slice(0, 0))
        return infill.rank_lengths(self.model, state, LENGTHS, self.right, infill.usual_confidence)[:JUDGED]

    def _request(self, tokens: int, temperature: float = 0.0, seed: int = 0) -> Generation:
        return Generation(
            self.prompt[-1:], max_tokens=tokens, begin=self.forced.encode(),
            stop=("\n",) if self.line and not self.forced.startswith("\n") else (),
            temperature=temperature, seed=seed, start=self._state,
        )  # fmt: skip

    def _written(self, events: Iterator[Event]) -> str:
        text = text_of(events)[0].removeprefix(self.forced)
        return text.partition("\n")[0] if self.line else text

    def judged(self, texts: Sequence[str]) -> list[Candidate]:
        """Best first: by the trunk's likelihood together with the right side, and what is given back for length."""
        right = self.tokenizer.decode(self.tokenizer.encode(self.suffix)[:RIGHT])
        unique = [text for text in dict.fromkeys(texts) if text.strip() or not self.line]
        scores = Scorer(self.model.trunk, self.tokenizer).spans(self.prefix, unique, right)
        counts = [len(self.tokenizer.encode(text)) for text in unique]
        return sorted(map(Candidate, unique, counts, scores), key=lambda one: -one.worth)

    def answers(self) -> dict[str, list[Candidate]]:
        """Judged candidates of every way, by "way, length found" and "way, length given"."""
        found = {}
        for given in (False, True):
            ways = {
                "trunk": self.trunk(given),
                "preview": self.blocks(given, jointly=False),
                "jointly": self.blocks(given, jointly=True),
            }
            ways["all together"] = [text for texts in ways.values() for text in texts]
            judged = self.judged(ways["all together"])
            for way, texts in ways.items():
                found[f"{way}, length {'given' if given else 'found'}"] = [one for one in judged if one.text in texts]
        return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--phase", type=int, choices=(0, 2), default=2)
    parser.add_argument("--limit", type=int)
    parser.add_argument("--precision", default="int8")
    parser.add_argument("--seconds", type=float, default=240, help="begin no further task after so long")
    parser.add_argument("--store", type=Path)
    options = parser.parse_args()
    began = time.monotonic()
    kind = "single_line" if options.file.stem.startswith("single_line") else "random_span_light"
    store = options.store or Path(f"runs/infill_{kind}_{options.phase}.jsonl")
    store.parent.mkdir(parents=True, exist_ok=True)
    done = (
        {row["id"]: row["right"] for row in map(json.loads, store.read_text().splitlines())} if store.exists() else {}
    )
    model, tokenizer = open_model("sprig", options.precision)
    tasks = chosen(options.file, options.phase, options.limit)
    for task in tasks:
        if task["task_id"] in done or time.monotonic() - began > options.seconds:
            continue
        answers = Filler(model, tokenizer, task, kind == "single_line").answers()
        ends = "\n" if kind == "single_line" else ""
        first = {way: found[0].text if found else "" for way, found in answers.items()}
        checked = {text: passes(task, text + ends) for text in set(first.values())}
        done[task["task_id"]] = right = {way: checked[text] for way, text in first.items()}
        kept = {way: [asdict(one) for one in found] for way, found in answers.items()}
        with store.open("a") as log:
            log.write(json.dumps({"id": task["task_id"], "right": right, "answers": kept}) + "\n")
        print(task["task_id"], {way: int(one) for way, one in right.items()}, flush=True)
    counted = [done[task["task_id"]] for task in tasks if task["task_id"] in done]
    share = partial(shares, counted)
    rows = [(way, *share(f"{way}, length found"), *share(f"{way}, length given")) for way in WAYS]
    for row in rows:
        print(row)
    note = (
        f"human-eval-infilling, {kind}, ids ≡ {options.phase} mod 4, n = {len(counted)} of {len(tasks)}; "
        f"{options.precision}; right: the task's own test passes. The trunk's likelihood judges in every way."
    )
    name = f"infill-{kind.replace('_', '-')}" + ("" if options.phase == 2 else "-tuning")
    columns = ("writes", "right, length found", "share", "right, length given", "share")
    save(name, columns, rows, note, f"python -m benchmarks.infill {kind}_even.jsonl --phase {options.phase}")


def shares(counted: Sequence[dict[str, bool]], way: str) -> tuple[str, str]:
    right = sum(one[way] for one in counted)
    return str(right), f"{right / max(len(counted), 1):.0%}"


if __name__ == "__main__":
    main()

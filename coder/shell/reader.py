"""The language model reads the proposed commands after worked examples, and writes one of its own.

Its own is decoded greedily, under a grammar in which only programs and options of this machine exist.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from coder.shell import compose
from coder.shell.adapt import Candidate
from coder.shell.features import inner_programs
from coder.shell.manual import Manual
from coder.shell.propose import Proposal, Question, worth
from coder.shell.syntax import ShellSyntaxError, parse

SHOTS = 4
READ = 16  # proposals that are read; the rest keep their order behind them
TOKENS = 40
READING = 0.02  # weight of a nat, tuned on the first file system of InterCode


def prompt(question: Question) -> str:
    """The nearest examples, nearest last, and the question; what follows is its command."""
    seen: dict[str, str] = {}
    for near in question.near:
        if len(near.example.command) < 160:
            seen.setdefault(near.example.command, near.example.sentence)
    shots = list(seen.items())[:SHOTS][::-1]
    return "".join(f"# {sentence}\n{command}\n\n" for command, sentence in shots) + f"# {question.sentence}\n"


def reread(
    question: Question, proposals: Sequence[Proposal], model: Any, tokenizer: Any, manual: Manual
) -> list[Proposal]:
    """The proposals with the model's own among them, best first. Deterministic."""
    from model.scoring import Scorer

    own = [one for one in write(question, proposals, model, tokenizer, manual) if manual.possible(one.command)]
    known = {one.command for one in proposals}
    read = [*proposals[:READ], *(one for one in own if one.command not in known)]
    if not read:
        return list(proposals)
    scores = Scorer(model, tokenizer).spans(prompt(question), [one.command for one in read], "\n")
    moved = [replace(one, worth=one.worth + READING * score) for one, score in zip(read, scores)]
    floor = min((one.worth for one in moved), default=0.0)
    rest = [replace(one, worth=min(one.worth, floor)) for one in proposals[READ:]]
    return sorted(moved, key=lambda one: -one.worth) + rest


def write(
    question: Question, proposals: Sequence[Proposal], model: Any, tokenizer: Any, manual: Manual
) -> list[Proposal]:
    """The model's own command, with the programs of the proposals; empty where it wrote none."""
    from model.decoding import autoregressive
    from model.decoding.grammar import Grammar, GrammarError
    from model.decoding.request import Generation, text_of

    if not question.near:
        return []
    try:
        grammar = Grammar.lark(tokenizer, lark(_programs(proposals), manual))
        request = Generation(tokenizer.encode(prompt(question)), max_tokens=TOKENS, grammar=grammar)
        text = text_of(autoregressive.generate(model, tokenizer, request))[0].strip()
        parse(text)
    except (GrammarError, ShellSyntaxError):
        return []
    nearest = question.near[0]
    missed = sum(1 for one in question.literals if not compose.mentions(text, one))
    candidate = Candidate(text, 0.7 * nearest.likeness, missed, 0, nearest.example)
    return [Proposal(candidate, worth(question, candidate))]


def _programs(proposals: Sequence[Proposal]) -> list[str]:
    names: dict[str, None] = {}
    for one in proposals[:READ]:
        for command in parse(one.command).commands:
            names[command.program or ""] = None
            names.update((name, None) for name, _ in inner_programs(command))
    return [name for name in names if re.fullmatch(r"[\w-]+", name)][:12]


def lark(programs: Sequence[str], manual: Manual) -> str:
    """A grammar of pipelines of these programs, each with its own options and any words that are no options."""
    rules = ['start: command (" | " command){0,3} "\\n"']
    rules.append("command: " + " | ".join(f"p{at}" for at in range(len(programs))))
    for at, program in enumerate(programs):
        options = [name for name in manual.page(program).options if re.fullmatch(r"-[\w-]+", name)]
        letters = "".join(sorted({name[1] for name in options if len(name) == 2}))
        choices = ["WORD", "QUOTED"]
        if program == "find":
            choices += ['"\\\\;"', '"{}"', '"!"', '"\\\\("', '"\\\\)"']
        if options:
            choices.append("(" + " | ".join(f'"{name}"' for name in sorted(options)) + ")")
        if letters and program != "find":
            choices.append(f"F{at}")
            rules.append(f"F{at}: /-[{letters}]{{1,4}}[0-9]{{0,4}}/")
        elif not options:
            choices.append("ANYFLAG")
        if program in ("head", "tail"):
            choices.append("NUMBER")
        rules.append(f'p{at}: "{program}" (" " ({" | ".join(choices)})){{0,7}}')
    rules += [
        "WORD: /[A-Za-z0-9_.\\/*$%+{}][A-Za-z0-9_.\\/*$%+,:={}-]*/",
        "QUOTED: /'[^'\\n]{1,60}'|\"[^\"\\n`\\\\]{1,60}\"/",
        "ANYFLAG: /--?[A-Za-z][A-Za-z-]*/",
        "NUMBER: /-[0-9]{1,5}/",
    ]
    return "\n".join(rules)

"""Malformed and right tool calls on function-calling questions: with the grammar, with the grammar and values that are
taken from the question, and without.

    python -m benchmarks.tool_calls --data DATA/bfcl --remainder 2

The data are questions of BFCL v4 with function schemas and accepted answers (gorilla, Apache-2.0); a figure made from
them is one of this subset, not of BFCL. A call is demanded wherever one is accepted: with the grammar the answer can be
nothing else (and "grounded" admits only the calls that are worked out of the question, or else values that it holds),
without it the answer is opened with the sign that begins a call and the model goes on freely. An answer is malformed
when it was cut off, is not JSON, names no given function, or does not match that function's schema. Right is meant as
in BFCL's check of syntax trees, written anew here. One line of JSON per answer goes to `--out`; what stands there is
not asked again.
"""

from __future__ import annotations

import argparse
import itertools
import json
import re
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.tables import save
from model.chat import ChatOptions, Message, Tool, ToolCall, whole
from model.chat_template import CALL_BEGIN, CALL_END, ChatML, spell_calls
from model.decoding.names import DECODERS
from model.decoding.request import Event, Finished, Generation, Reason, text_of
from model.local_chat import LocalChat
from model.schema import closed, mismatch

_WAYS = ("on", "grounded", "off")
_TYPES = {"dict": "object", "float": "number", "tuple": "array"}


@dataclass(frozen=True)
class Question:
    id: str
    category: str
    messages: tuple[Message, ...]
    tools: tuple[Tool, ...]
    accepted: Sequence[Mapping[str, Any]] | None  # None: no function helps


@dataclass(frozen=True)
class Result:
    """`malformed` says what is wrong; empty where nothing is. `right` is None for malformed answers."""

    id: str
    category: str
    decoder: str
    grammar: str
    malformed: str
    right: bool | None
    tokens: int
    passes: int
    seconds: float
    answer: str


def questions(folder: Path, remainder: int, limit: int | None) -> Iterator[Question]:
    """Those whose number is `remainder` modulo 4; `limit` of each category."""
    for path in sorted(folder.glob("*.jsonl")):
        category = path.stem.removesuffix("_even")
        rows = (json.loads(line) for line in path.read_text("utf-8").splitlines())
        chosen = (row for row in rows if int(re.findall(r"\d+", row["id"])[0]) % 4 == remainder)
        for row in itertools.islice(chosen, limit):
            messages = tuple(Message(turn["role"], turn["content"]) for turn in row["question"][0])
            tools = tuple(
                Tool(function["name"], function.get("description", ""), as_schema(function["parameters"]))
                for function in row["function"]
            )
            yield Question(row["id"], category, messages, tools, row["possible_answer"])


def as_schema(value: Any) -> Any:
    """BFCL's type names in JSON schema's words."""
    if isinstance(value, list):
        return [as_schema(item) for item in value]
    if not isinstance(value, dict):
        return value
    fixed = {key: item if key in ("enum", "default") else as_schema(item) for key, item in value.items()}
    if isinstance(fixed.get("type"), str):
        fixed["type"] = _TYPES.get(fixed["type"], fixed["type"])
        if fixed["type"] == "any":
            del fixed["type"]
    return fixed


class Asker:
    """Asks one model with changing decoders. The prompt of a question is read once for all of them."""

    def __init__(self, model: Any, tokenizer: Any) -> None:
        self._chat = LocalChat(model, tokenizer, self._decode)
        self._decoder = DECODERS["ar"]
        self._done = Finished(Reason.CANCELLED, 0, 0)

    def ask(self, question: Question, decoder: str, grammar: str, max_tokens: int) -> Result:
        self._decoder = DECODERS[decoder]
        self._chat.state_after(self._prompt(question), threading.Event())
        began = time.monotonic()
        if grammar == "off":
            text, calls, wrong = self._freely(question, max_tokens)
        else:
            text, calls, wrong = self._with_grammar(question, max_tokens, grammar == "grounded")
        seconds = round(time.monotonic() - began, 3)
        wrong = wrong or next((found for call in calls if (found := _unfit(call, question.tools))), "")
        right = not calls if question.accepted is None else matches(calls, question.accepted)
        counts = self._done.tokens, self._done.passes
        judged = None if wrong else right
        return Result(question.id, question.category, decoder, grammar, wrong, judged, *counts, seconds, text)

    def _prompt(self, question: Question) -> list[int]:
        return ChatML(self._chat.tokenizer).render(question.messages, question.tools)

    def _decode(self, model: Any, tokenizer: Any, request: Generation) -> Iterator[Event]:
        for event in self._decoder(model, tokenizer, request):
            if isinstance(event, Finished):
                self._done = event
            yield event

    def _with_grammar(self, question: Question, max_tokens: int, grounded: bool) -> tuple[str, list[ToolCall], str]:
        demanded = question.accepted is not None
        choice = "required" if demanded else "auto"
        options = ChatOptions(max_tokens=max_tokens, tool_choice=choice, grounded=grounded)
        reply = whole(self._chat.reply(question.messages, question.tools, options))
        wrong = "cut off" if demanded and reply.done.reason != "tool_calls" else ""
        return reply.text + spell_calls(reply.tool_calls), list(reply.tool_calls), wrong

    def _freely(self, question: Question, max_tokens: int) -> tuple[str, list[ToolCall], str]:
        tokenizer = self._chat.tokenizer
        opening = CALL_BEGIN if question.accepted is not None else ""
        prompt = [*self._prompt(question), *tokenizer.encode(opening)]
        request = Generation(
            prompt=prompt[-1:],
            max_tokens=max_tokens,
            stop=(CALL_END,),
            ends=(ChatML(tokenizer).end,),
            sources=(prompt,),
            start=self._chat.state_after(prompt[:-1], threading.Event()),
        )
        written, done = text_of(self._decode(self._chat.model, tokenizer, request))
        _, begun, rest = (opening + written).partition(CALL_BEGIN)
        calls, wrong = parse(rest) if begun else ([], "")
        return opening + written, calls, "cut off" if begun and done.reason is Reason.LENGTH else wrong


def parse(text: str) -> tuple[list[ToolCall], str]:
    """Calls in what follows the sign that begins them, and what is wrong with it. One call alone needs no list."""
    try:
        listed = json.loads(text)
    except ValueError as error:
        return [], f"not JSON: {error}"
    listed = listed if isinstance(listed, list) else [listed]
    if not listed or not all(
        isinstance(one, dict) and isinstance(one.get("name"), str) and isinstance(one.get("arguments"), dict)
        for one in listed
    ):
        return [], "not a list of calls"
    return [ToolCall(one["name"], one["arguments"]) for one in listed], ""


def _unfit(call: ToolCall, tools: Sequence[Tool]) -> str:
    known = {tool.name: tool for tool in tools}
    if call.name not in known:
        return f"no function {call.name!r}"
    return mismatch(call.arguments, closed(dict(known[call.name].parameters))) or ""


def matches(calls: Sequence[ToolCall], accepted: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the calls are the accepted ones, in any order."""
    if len(calls) != len(accepted):
        return False
    left = list(accepted)
    for call in calls:
        fitting = (one for one in left if call.name in one and _arguments_match(call.arguments, one[call.name]))
        found = next(fitting, None)
        if found is None:
            return False
        left.remove(found)
    return True


def _arguments_match(given: Mapping[str, Any], accepted: Mapping[str, Sequence[Any]]) -> bool:
    """`accepted` lists for each parameter the values that will do; "" among them: it may be left out."""
    if given.keys() - accepted.keys():
        return False
    return all(
        any(_same(given[name], value) for value in values) if name in given else "" in values
        for name, values in accepted.items()
    )


def _same(given: Any, value: Any) -> bool:
    if isinstance(given, str) and isinstance(value, str):
        return _plain(given) == _plain(value)
    if isinstance(given, bool) or isinstance(value, bool):
        return given is value
    if isinstance(given, int | float) and isinstance(value, int | float):
        return given == value
    if isinstance(given, list) and isinstance(value, list):
        return len(given) == len(value) and all(map(_same, given, value))
    if isinstance(given, Mapping) and isinstance(value, Mapping):
        return _arguments_match(given, {key: one if isinstance(one, list) else [one] for key, one in value.items()})
    return given == value


def _plain(text: str) -> str:
    return re.sub(r"[ ,./\-_*^]", "", text).lower().replace("'", '"')


def summary(results: Sequence[Result]) -> tuple[list[str], list[list[str]]]:
    """Columns and rows: malformed answers and right ones by decoder, grammar and category."""
    categories = sorted({result.category for result in results})
    rows = []
    for decoder, grammar in sorted({(result.decoder, result.grammar) for result in results}):
        group = [result for result in results if (result.decoder, result.grammar) == (decoder, grammar)]
        malformed = sum(bool(result.malformed) for result in group)
        row = [decoder, grammar, str(len(group)), f"{malformed} ({malformed / len(group):.1%})"]
        for category in categories:
            of = [result for result in group if result.category == category]
            row.append(f"{sum(result.right is True for result in of)}/{len(of)}" if of else "")
        tokens, passes = sum(result.tokens for result in group), sum(result.passes for result in group)
        rows.append([*row, f"{tokens / max(passes, 1):.2f}"])
    return ["decoder", "grammar", "n", "malformed", *(f"right: {one}" for one in categories), "tokens a pass"], rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--remainder", type=int, default=2, help="ids ≡ this mod 4; 0: tuning, no table; 2: report")
    parser.add_argument("--limit", type=int, help="questions of each category")
    parser.add_argument("--decoders", nargs="+", default=["ar", "diffusion", "draft_verify"], choices=list(DECODERS))
    parser.add_argument("--grammar", nargs="+", default=["on", "off"], choices=_WAYS)
    parser.add_argument("--model", default="smollm2")
    parser.add_argument("--precision", default="int8")
    parser.add_argument("--max-tokens", type=int, default=160)
    parser.add_argument("--out", type=Path, default=Path("tool_calls.jsonl"))
    parser.add_argument("--seconds", type=float, help="stop asking after this; another run goes on from --out")
    options = parser.parse_args()

    from model.weights.catalogue import load

    asker = Asker(*load(options.model, precision=options.precision))
    lines = options.out.read_text("utf-8").splitlines() if options.out.exists() else []
    results = [Result(**json.loads(line)) for line in lines]
    seen = {(result.id, result.decoder, result.grammar) for result in results}
    ends = time.monotonic() + (options.seconds or float("inf"))
    chosen = list(questions(options.data, options.remainder, options.limit))
    with options.out.open("a", encoding="utf-8") as out:
        for question in chosen:
            for decoder, grammar in itertools.product(options.decoders, options.grammar):
                if (question.id, decoder, grammar) in seen or time.monotonic() > ends:
                    continue
                result = asker.ask(question, decoder, grammar, options.max_tokens)
                out.write(json.dumps(asdict(result), ensure_ascii=False) + "\n")
                out.flush()
                results.append(result)
                print(f"{result.id:<32} {decoder:<13} {grammar:<4} {result.malformed or result.right}", flush=True)
    wanted = {question.id for question in chosen}
    columns, rows = summary([result for result in results if result.id in wanted])
    print("\n".join("  ".join(row) for row in [columns, *rows]))
    note = (
        f"{len(chosen)} BFCL questions with ids ≡ {options.remainder} mod 4 (a subset of BFCL v4, not BFCL), "
        f"{options.model} in {options.precision}, greedy, at most {options.max_tokens} tokens; cut off is malformed."
    )
    if options.remainder == 2:
        command = f"python -m benchmarks.tool_calls --data DATA/bfcl --max-tokens {options.max_tokens}"
        limit = f" --limit {options.limit}" if options.limit else ""
        ways = f" --decoders {' '.join(options.decoders)} --grammar {' '.join(options.grammar)}"
        save("tool_calls", columns, rows, note, f"{command}{limit}{ways}")


if __name__ == "__main__":
    main()

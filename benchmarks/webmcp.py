"""Tools that web pages offer (WebMCP): the share of expected calls that a model makes.

    python -m benchmarks.webmcp --data DATA/webmcp --endpoint http://127.0.0.1:8000/v1
    python -m benchmarks.webmcp --data DATA/webmcp --model smollm2

The cases are conversations from GoogleChromeLabs/webmcp-tools (Apache-2.0), in folders that carry a schema. The page's
tools are offered as they stand, the conversation so far is replayed, and the model answers until it has made as many
calls as are expected, or makes none: a call that is as expected gets "done" back, so that a sequence can go on. The
judge is the list of expected calls, in order, arguments and all; where a case expects none, making none is right.
One line of JSON per case goes to `--out`.
"""

from __future__ import annotations

import argparse
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.tables import save
from model.chat import ChatError, ChatModel, ChatOptions, Message, Tool, ToolCall, whole
from model.schema import mismatch

_TODAY = "You are an assistant on a web page. Today is Monday, 2026-01-19."  # what the cases' relative dates count from


@dataclass(frozen=True)
class Case:
    """`expected` is empty where no tool helps."""

    page: str
    name: str
    messages: tuple[Message, ...]
    expected: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True)
class Result:
    """`made` of `expected` calls were made in order; `right`: all of them, and no other."""

    page: str
    name: str
    expected: int
    made: int
    right: bool
    calls: list[Mapping[str, Any]]
    problem: str = ""


def load(folder: Path, half: str) -> Iterator[tuple[list[Tool], list[Case]]]:
    """Tools and cases of each page that carries a schema; of each, the first or the second half of the cases."""
    for path in sorted(folder.glob("*/schema.json")):
        tools = [
            Tool(one["name"], one.get("description", ""), one.get("inputSchema") or {"type": "object"})
            for one in json.loads(path.read_text("utf-8"))["tools"]
        ]
        rows = json.loads((path.parent / "evals.json").read_text("utf-8"))
        middle = math.ceil(len(rows) / 2)
        chosen = {"first": rows[:middle], "second": rows[middle:], "all": rows}[half]
        yield tools, [_case(path.parent.name, number, row) for number, row in enumerate(chosen)]


def _case(page: str, number: int, row: Mapping[str, Any]) -> Case:
    messages = [Message("system", _TODAY)]
    messages += [message for at, turn in enumerate(row["messages"]) for message in _message(turn, at)]
    expected = tuple(row["expectedCall"] or ())
    return Case(page, row.get("name") or f"case {number}", tuple(messages), expected)


def _message(turn: Mapping[str, Any], at: int) -> Iterator[Message]:
    """A turn in our words. A response answers the call that stands before it."""
    match turn["type"]:
        case "functioncall":
            yield Message("assistant", "", (ToolCall(turn["name"], turn["arguments"], f"c{at}"),))
        case "functionresponse":
            yield Message("tool", json.dumps(turn["response"], ensure_ascii=False), (), f"c{at - 1}")
        case _:
            yield Message("user" if turn["role"] == "user" else "assistant", turn["content"])


def evaluate(model: ChatModel, tools: Sequence[Tool], case: Case, options: ChatOptions) -> Result:
    """One case. What the model cannot answer at all counts as no call."""
    turns, calls, problem = list(case.messages), [], ""
    while len(calls) < max(len(case.expected), 1):
        try:
            reply = whole(iter(model.reply(turns, tools, options)))
        except ChatError as error:
            problem = str(error)
            break
        if not reply.tool_calls:
            break
        calls += reply.tool_calls
        turns.append(Message("assistant", reply.text, reply.tool_calls))
        turns += [Message("tool", "done", (), call.id) for call in reply.tool_calls]
        if not all(fits(call, wanted) for call, wanted in zip(calls, case.expected)):
            break
    made = 0
    while made < min(len(calls), len(case.expected)) and fits(calls[made], case.expected[made]):
        made += 1
    right = made == len(case.expected) == len(calls) and not problem
    told = [{"name": call.name, "arguments": dict(call.arguments)} for call in calls]
    return Result(case.page, case.name, len(case.expected), made, right, told, problem)


def fits(call: ToolCall, expected: Mapping[str, Any]) -> bool:
    """Whether the call is the expected one; arguments may be given in any order."""
    return call.name == expected["functionName"] and matches(dict(call.arguments), expected.get("arguments") or {})


_MATCHERS: dict[str, Callable[[Any, Any], bool]] = {
    "$contains": lambda given, wanted: wanted in given if isinstance(given, str | list) else False,
    "$pattern": lambda given, wanted: isinstance(given, str) and re.search(wanted, given) is not None,
    "$gt": lambda given, wanted: isinstance(given, int | float) and given > wanted,
    "$gte": lambda given, wanted: isinstance(given, int | float) and given >= wanted,
    "$lt": lambda given, wanted: isinstance(given, int | float) and given < wanted,
    "$lte": lambda given, wanted: isinstance(given, int | float) and given <= wanted,
    "$any": lambda given, wanted: True,
    "$type": lambda given, wanted: mismatch(given, {"type": wanted}) is None,
}


def matches(given: Any, wanted: Any) -> bool:
    """`wanted` is a value, or an object of matchers such as {"$contains": text}; numbers match by value."""
    if isinstance(wanted, Mapping):
        if wanted and all(key.startswith("$") for key in wanted):
            return all(key in _MATCHERS and _MATCHERS[key](given, value) for key, value in wanted.items())
        return (
            isinstance(given, Mapping)
            and given.keys() == wanted.keys()
            and all(matches(given[key], value) for key, value in wanted.items())
        )
    if isinstance(wanted, list):
        return isinstance(given, list) and len(given) == len(wanted) and all(map(matches, given, wanted))
    if isinstance(given, bool) or isinstance(wanted, bool):
        return given is wanted
    return bool(given == wanted)


def summary(results: Sequence[Result]) -> tuple[list[str], list[list[str]]]:
    """Columns and rows: by page, and in all."""
    rows = []
    for page in [*sorted({result.page for result in results}), "all"]:
        of = [result for result in results if page in (result.page, "all")]
        expected, made = sum(result.expected for result in of), sum(result.made for result in of)
        share = f"{made}/{expected} ({made / expected:.0%})" if expected else "0/0"
        rows.append([page, str(len(of)), share, f"{sum(result.right for result in of)}/{len(of)}"])
    return ["page", "conversations", "expected calls made", "conversations right"], rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--half", choices=["first", "second", "all"], default="second", help="first: for tuning")
    parser.add_argument("--endpoint", default="", help="OpenAI-compatible server; else a local model")
    parser.add_argument("--model", default="", help="the server's model, or a local one (smollm2)")
    parser.add_argument("--precision", default="int8")
    parser.add_argument("--max-tokens", type=int, default=256)
    parser.add_argument("--grounded", action="store_true", help="a local model takes values from the conversation")
    parser.add_argument("--limit", type=int, help="conversations of each page")
    parser.add_argument("--out", type=Path, default=Path("webmcp.jsonl"))
    parser.add_argument("--save", action="store_true", help="keep the table for the README")
    options = parser.parse_args()

    name = options.model or "smollm2"
    if options.endpoint:
        from model.endpoint import Endpoint

        model: ChatModel = Endpoint.from_environment(url=options.endpoint, model=options.model)
        name = options.model or "the server's first model"
    else:
        from model.library import open_model
        from model.local_chat import LocalChat

        model = LocalChat(*open_model(name, options.precision))
    asked = ChatOptions(max_tokens=options.max_tokens, grounded=options.grounded)
    results = []
    with options.out.open("w", encoding="utf-8") as out:
        for tools, cases in load(options.data, options.half):
            for case in cases[: options.limit]:
                result = evaluate(model, tools, case, asked)
                results.append(result)
                out.write(json.dumps(asdict(result), ensure_ascii=False) + "\n")
                out.flush()
                print(f"{result.page:<14} {result.made}/{result.expected} {result.name}", flush=True)
    columns, rows = summary(results)
    print("\n".join("  ".join(row) for row in [columns, *rows]))
    half = {"first": "first half", "second": "second half", "all": "all"}[options.half]
    ways = f"{name}, greedy" + (", values from the conversation" if options.grounded else "")
    note = f"WebMCP conversations ({half} of each page that carries a schema, n={len(results)}), {ways}."
    if options.save:
        grounded = " --grounded" if options.grounded else ""
        save("webmcp", columns, rows, note, f"python -m benchmarks.webmcp --data DATA/webmcp{grounded} --save")


if __name__ == "__main__":
    main()

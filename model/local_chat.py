"""A BlockModel as a ChatModel, where it has a chat template, and as a completer.

Tool calls and JSON are decoded under a grammar, so none is malformed.
"""

from __future__ import annotations

import json
import threading
import uuid
from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from model.calling.narrow import planned_tools
from model.chat import ChatError, ChatEvent, ChatOptions, Done, Message, Text, Thinking, Tool, ToolCall
from model.chat_template import CALL_BEGIN, CALL_END, THINK_BEGIN, THINK_END, ChatML
from model.decoding import draft_verify, gap
from model.decoding.grammar import Grammar, GrammarError
from model.decoding.request import Cancel, Decoder, Finished, Generation, Reason, Settled, read
from model.grounding import grounded
from model.llama import trunk_of
from model.protocol import BlockModel, Tokenizer
from model.schema import calls_schema

_KEPT = 4  # conversations whose states are remembered
E = TypeVar("E")


class LocalChat:
    """Answers one request at a time; others wait for their turn. States of the last conversations are kept, so a turn
    reads only what is new."""

    def __init__(
        self,
        model: BlockModel[Any],
        tokenizer: Tokenizer,
        decoder: Decoder = draft_verify.generate,
        template: ChatML | None = None,
        forget: bool = True,
    ) -> None:
        """A model without a chat template can complete, not reply. `forget`: what a bounded window cannot hold loses
        its beginning; else it is refused (ChatError)."""
        self.model = model
        self.tokenizer = tokenizer
        self._decoder = decoder
        self._template = template
        self._forget = forget
        self._begin: Any = None  # what conversations begin from: None for the model's start
        self._turn = threading.Lock()
        self._read: list[tuple[list[int], Any]] = []  # ids and the state that has read them, the latest last

    def begin_from(self, state: Any) -> None:
        """Conversations begin behind what this state of the model has read."""
        self._begin, self._read = state, []

    def reply(
        self, messages: Sequence[Message], tools: Sequence[Tool] = (), options: ChatOptions | None = None
    ) -> Generator[ChatEvent, None, None]:
        """See `ChatModel`. Raises ChatError, also where `max_tokens` cannot hold the shortest well-formed answer."""
        options = options or ChatOptions()
        self._template = self._template or ChatML(self.tokenizer)
        offered = offered_tools(tools, options)
        try:
            prompt = self._template.render(messages, offered)
            grammar = self._grammar(offered, messages, options)
        except GrammarError as error:
            raise ChatError(f"the schema cannot be followed: {error}") from error
        except RecursionError as error:
            raise ChatError("the schema cannot be followed: it goes too deep") from error
        yield from self._when_free(self._answer(prompt, grammar, bool(offered), options), options)

    def complete(
        self, prompt: str, suffix: str = "", options: ChatOptions | None = None
    ) -> Generator[Text | Done, None, None]:
        """Continues `prompt`, or writes what stands between it and `suffix`. Raises ChatError."""
        options = options or ChatOptions()
        ids = self.tokenizer.encode(prompt)
        if not ids:
            raise ChatError("the prompt is empty")
        yield from self._when_free(self._continue(ids, prompt, suffix, options), options)

    def _when_free(self, events: Iterator[E], options: ChatOptions) -> Generator[E | Done, None, None]:
        """`events` once the model is free."""
        while not self._turn.acquire(timeout=0.05):
            if options.cancel.is_set():
                yield Done("cancelled")
                return
        try:
            yield from events
        except GrammarError as error:
            raise ChatError(str(error)) from error
        finally:
            self._turn.release()

    def _continue(self, ids: list[int], prompt: str, suffix: str, options: ChatOptions) -> Iterator[Text | Done]:
        options = self._within(len(ids), options)
        request = self._request(ids, options, options.max_tokens, options.stop, None)
        if suffix:
            events = gap.generate(self.model, self.tokenizer, request, prompt, suffix)
        else:
            events = self._decoder(self.model, self.tokenizer, request)
        for event in events:
            if isinstance(event, Settled) and event.text:
                yield Text(event.text)
            elif isinstance(event, Finished):
                yield Done(event.reason.value, len(ids), event.tokens)

    def _within(self, prompt: int, options: ChatOptions) -> ChatOptions:
        """`options` with an answer that the model's window holds beside the prompt, where it must keep them all. Raises
        ChatError, in the API's own words, where the prompt alone fills it."""
        trunk = trunk_of(self.model)
        if self._forget or trunk is None:
            return options
        limit = trunk.limit - (trunk.config.begin_id is not None)
        left = limit - prompt - options.thinking
        if left < 1:
            raise ChatError(
                f"This model's maximum context length is {limit} tokens. However, your prompt has {prompt} tokens. "
                "Please reduce its length."
            )
        return replace(options, max_tokens=min(options.max_tokens, left))

    def _grammar(self, tools: Sequence[Tool], messages: Sequence[Message], options: ChatOptions) -> Grammar | None:
        if options.schema is not None:
            return Grammar.json_schema(self.tokenizer, options.schema)
        if not tools:
            return None
        planned = planned_tools(tools, messages, options) if options.grounded else []
        while planned:  # as many as there is room for
            grammar = self._of_calls(calls_schema(planned, True, each=True), True)
            if grammar.holds(options.max_tokens):
                return grammar
            planned.pop()
        demanded = options.tool_choice != "auto"
        if options.grounded and demanded:
            tools = grounded(tools, messages)
        return self._of_calls(calls_schema(tools, options.parallel), demanded)

    def _of_calls(self, schema: dict[str, Any], demanded: bool) -> Grammar:
        """The grammar of an answer with a list of calls, or, where none is demanded, of text."""
        schema |= {"x-guidance": {"whitespace_flexible": False, "lenient": True}}
        calls = f"calls: %json {json.dumps(schema)}\n"
        if not demanded:
            head = f'start: TEXT | call calls "{CALL_END}"\nTEXT: /(.|\\n)*/\ncall[lazy]: TEXT "{CALL_BEGIN}"\n'
        else:
            head = f'start: "{CALL_BEGIN}" calls "{CALL_END}"\n'
        return Grammar.lark(self.tokenizer, "%llguidance {}\n" + head + calls)

    def _answer(
        self, prompt: list[int], grammar: Grammar | None, tools: bool, options: ChatOptions
    ) -> Iterator[ChatEvent]:
        length = len(prompt)
        options = self._within(length, options)
        if options.thinking:
            prompt = yield from self._think(prompt, options)
        request = self._request(prompt, options, options.max_tokens, options.stop, grammar)
        answer = _Answer(tools)
        for event in self._decoder(self.model, self.tokenizer, request):
            if isinstance(event, Settled):
                if text := answer.push(event.text):
                    yield Text(text)
            elif isinstance(event, Finished):
                calls = answer.calls() if event.reason is not Reason.CANCELLED else []
                if rest := answer.rest():
                    yield Text(rest)
                yield from calls
                reason = "tool_calls" if calls else event.reason.value
                yield Done(reason, length, len(prompt) - length + event.tokens)

    def _think(self, prompt: list[int], options: ChatOptions) -> Generator[Thinking, None, list[int]]:
        """Yields the reasoning; returns the prompt with it, closed."""
        prompt = [*prompt, *self.tokenizer.encode(THINK_BEGIN + "\n")]
        request = self._request(prompt, options, options.thinking, (THINK_END,), None)
        thought: list[str] = []
        for event in self._decoder(self.model, self.tokenizer, request):
            if isinstance(event, Settled) and event.text:
                thought.append(event.text)
                yield Thinking(event.text)
        return [*prompt, *self.tokenizer.encode("".join(thought).rstrip() + f"\n{THINK_END}\n\n")]

    def _request(
        self, prompt: list[int], options: ChatOptions, limit: int, stop: tuple[str, ...], grammar: Grammar | None
    ) -> Generation:
        return Generation(
            prompt=prompt[-1:],
            max_tokens=limit,
            stop=stop,
            ends=(self._template.end,) if self._template else (),
            temperature=options.temperature,
            top_p=options.top_p,
            seed=options.seed,
            grammar=grammar,
            sources=(prompt,),
            start=self.state_after(prompt[:-1], options.cancel),
            cancel=options.cancel,
        )

    def state_after(self, ids: list[int], cancel: Cancel) -> Any:
        """The state after `ids`, from the longest remembered beginning of them; None when cancelled."""
        known, state = max(
            (entry for entry in self._read if ids[: len(entry[0])] == entry[0]),
            key=lambda entry: len(entry[0]),
            default=([], self.model.start() if self._begin is None else self._begin),
        )
        state = read(self.model, ids[len(known) :], state, cancel)
        if state is not None:
            kept = [entry for entry in self._read if entry[0] != ids]
            self._read = [*kept, (ids, state)][-_KEPT:]
        return state


def offered_tools(tools: Sequence[Tool], options: ChatOptions) -> list[Tool]:
    """The tools that may be called under these options. Raises ChatError for a choice that is not among them."""
    if options.schema is not None or options.tool_choice == "none":
        return []
    if options.tool_choice in ("auto", "required"):
        if options.tool_choice == "required" and not tools:
            raise ChatError("a tool call is required but no tool is given")
        return list(tools)
    chosen = [tool for tool in tools if tool.name == options.tool_choice]
    if not chosen:
        raise ChatError(f"tool_choice names {options.tool_choice!r}, which is not among the tools")
    return chosen


class _Answer:
    """Divides what the model writes into text and a list of calls."""

    def __init__(self, tools: bool) -> None:
        self._tools = tools
        self._held = ""
        self._call = False

    def push(self, text: str) -> str:
        """Text that is certainly not part of a call."""
        self._held += text
        if self._call or not self._tools:
            certain = "" if self._call else self._held
            self._held = self._held if self._call else ""
            return certain
        before, found, after = self._held.partition(CALL_BEGIN)
        if found:
            self._call, self._held = True, after
            return before
        keep = next((n for n in range(len(CALL_BEGIN) - 1, 0, -1) if self._held.endswith(CALL_BEGIN[:n])), 0)
        certain, self._held = self._held[: len(self._held) - keep], self._held[len(self._held) - keep :]
        return certain

    def rest(self) -> str:
        """Text that was held back because it might have begun a call."""
        return "" if self._call else self._held

    def calls(self) -> list[ToolCall]:
        if not self._call:
            return []
        listed = json.loads(self._held.removesuffix(CALL_END))
        return [ToolCall(one["name"], one["arguments"], f"call_{uuid.uuid4().hex[:16]}") for one in listed]

"""A client for any OpenAI-compatible server: SGLang, vLLM, LMDeploy, llama.cpp, hosted ones.

Nothing is assumed beyond streaming chat completions. A server that refuses schemas is asked again in words, and
whatever comes back is checked here: calls and JSON that leave this module are well formed, or ChatError is raised.
Imports no torch.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import httpx

from model.chat import ChatError, ChatEvent, ChatOptions, Done, Malformed, Message, Text, Thinking, Tool
from model.wire import (
    Draft,
    choice_field,
    function_field,
    message_fields,
    pieces,
    said,
    sampling_fields,
    seconds,
    words,
)

URL_VARIABLE, MODEL_VARIABLE, KEY_VARIABLE = "CODER_ENDPOINT", "CODER_ENDPOINT_MODEL", "CODER_ENDPOINT_KEY"
_TRY_AGAIN = frozenset({408, 409, 429, 500, 502, 503, 504})
_LISTING_S = 15.0
_LONGEST_WAIT_S = 30.0
READ_S = 120.0
"""The longest silence of a server, in seconds, where no other is asked for."""


class Refused(ChatError):
    """The server does not take this request (HTTP 400 or 422), whatever the retries."""


@dataclass(frozen=True)
class Endpoint:
    """A server and one of its models, as a ChatModel.

    url: up to and with `/v1`. key: sent as a bearer token, never shown. read_s: longest silence between two pieces.
    retries: of requests that failed before the first piece came, with growing pauses; repairs: how often a malformed
    answer is sent back with what is wrong with it.
    """

    url: str
    model: str
    key: str = field(default="", repr=False)
    connect_s: float = 10.0
    read_s: float = READ_S
    retries: int = 3
    repairs: int = 2
    pause_s: float = 0.5

    @classmethod
    def from_environment(
        cls, variables: Mapping[str, str] = os.environ, url: str = "", model: str = "", read_s: float = READ_S
    ) -> Endpoint:
        """From CODER_ENDPOINT, CODER_ENDPOINT_MODEL and CODER_ENDPOINT_KEY where the arguments are empty; asks the
        server for its first model where none is named. Raises ChatError."""
        url = url or variables.get(URL_VARIABLE, "")
        if not url.startswith(("http://", "https://")):
            raise ChatError(
                f"no endpoint: set {URL_VARIABLE} to an OpenAI-compatible URL such as http://127.0.0.1:8000/v1"
            )
        key = variables.get(KEY_VARIABLE, "")
        endpoint = cls(url.rstrip("/"), model or variables.get(MODEL_VARIABLE, ""), key, read_s=read_s)
        if endpoint.model:
            return endpoint
        # No work is done for a list: a server that takes long over it is not waited for as for an answer.
        names = replace(endpoint, read_s=min(read_s, _LISTING_S), retries=1).models()
        if not names:
            raise ChatError(f"{url} serves no model: set {MODEL_VARIABLE}")
        return replace(endpoint, model=names[0])

    @property
    def name(self) -> str:
        """The model and where it is, for people."""
        return f"{self.model} at {self.url}"

    def models(self) -> list[str]:
        """Ids of the models that the server lists. Raises ChatError."""
        for piece in self._request("GET", "/models", None, ChatOptions()):
            listed = piece.get("data")
            models = listed if isinstance(listed, list) else []
            return [str(one["id"]) for one in models if isinstance(one, dict) and "id" in one]
        return []

    def reply(
        self, messages: Sequence[Message], tools: Sequence[Tool] = (), options: ChatOptions | None = None
    ) -> Iterator[ChatEvent]:
        """See `ChatModel`. Answers under a schema come in one piece, once they are known to match it."""
        options = options or ChatOptions()
        turns = list(messages)
        for attempt in range(self.repairs + 1):
            draft = Draft()
            for piece in self._answer(turns, tools, options):
                for event in draft.push(piece):
                    if isinstance(event, Thinking) or options.schema is None:
                        yield event
            if options.cancel.is_set():
                yield Done("cancelled", *draft.usage)
                return
            calls, wrong = draft.checked(tools, options)
            if wrong is None:
                if options.schema is not None:
                    yield Text(draft.json_text())
                yield from calls
                yield Done("tool_calls" if calls else draft.reason, *draft.usage)
                return
            if attempt < self.repairs:
                turns += [
                    Message("assistant", draft.text + draft.spelled_calls()),
                    Message("user", f"That answer is malformed: {wrong}. Give the whole answer again, well formed."),
                ]
        raise Malformed(f"{self.name} answered in a malformed way {self.repairs + 1} times: {wrong}")

    def _answer(
        self, turns: Sequence[Message], tools: Sequence[Tool], options: ChatOptions
    ) -> Iterator[Mapping[str, Any]]:
        """Pieces of one answer; asks in words where the server has no schemas."""
        body: dict[str, Any] = {"model": self.model, "stream": True, **sampling_fields(options)}
        body["messages"] = [message_fields(turn) for turn in turns]
        if tools and options.schema is None and options.tool_choice != "none":
            body["tools"] = [{"type": "function", "function": function_field(tool)} for tool in tools]
            body["tool_choice"] = choice_field(options.tool_choice)
            if not options.parallel:
                body["parallel_tool_calls"] = False
        if options.schema is None:
            yield from self._request("POST", "/chat/completions", body, options)
            return
        shape = {"name": "answer", "schema": dict(options.schema), "strict": True}
        try:
            strict = body | {"response_format": {"type": "json_schema", "json_schema": shape}}
            yield from self._request("POST", "/chat/completions", strict, options)
        except Refused:
            asked = f"Answer with nothing but JSON that matches this JSON schema:\n{json.dumps(dict(options.schema))}"
            body["messages"] = [{"role": "system", "content": asked}, *body["messages"]]
            yield from self._request("POST", "/chat/completions", body, options)

    def _request(
        self, method: str, path: str, body: Mapping[str, Any] | None, options: ChatOptions
    ) -> Iterator[Mapping[str, Any]]:
        """Objects of the answer: those of the event stream, or the one of a plain response."""
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        timeout = httpx.Timeout(self.read_s, connect=self.connect_s)
        with httpx.Client(timeout=timeout, headers=headers) as client:
            for attempt in range(self.retries + 1):
                begun = False
                try:
                    with client.stream(method, self.url + path, json=body) as response:
                        if response.status_code == 200:
                            for piece in pieces(response):
                                if options.cancel.is_set():
                                    return
                                if piece:
                                    begun = True
                                    yield piece
                            return
                        response.read()
                        problem = self._problem(response)
                        if response.status_code not in _TRY_AGAIN:
                            raise problem
                        wait = seconds(response.headers.get("retry-after"))
                except httpx.HTTPError as error:
                    problem = ChatError(f"cannot reach {self.url}: {words(error)}. Is the server running?")
                    if begun:
                        raise ChatError(f"{self.url} broke off in the middle of the answer: {words(error)}") from error
                    wait = None
                pause = self.pause_s * 2**attempt * random.uniform(0.75, 1.25) if wait is None else wait
                if attempt == self.retries or options.cancel.wait(min(pause, _LONGEST_WAIT_S)):
                    raise problem

    def _problem(self, response: httpx.Response) -> ChatError:
        reason = said(response)
        match response.status_code:
            case 401 | 403:
                return ChatError(f"{self.url} refused the key ({reason}). Set {KEY_VARIABLE} to one that it accepts.")
            case 404:
                return ChatError(f"{self.url} does not know the path or the model {self.model!r} ({reason}).")
            case 400 | 422:
                return Refused(f"{self.url} refused the request: {reason}")
            case status:
                return ChatError(f"{self.url} answered with HTTP {status}: {reason}")

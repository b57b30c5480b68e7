"""The served API, driven by the stock `openai` client and by raw requests, in front of small models."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import httpx
import openai
import pytest
import uvicorn

from coder.serve.app import build
from model.chat import ChatOptions, Message, Tool, whole
from model.endpoint import Endpoint
from model.local_chat import LocalChat
from model.schema import closed, mismatch
from tests.model.toy import ChatByteTokenizer, ToyModel

WEATHER = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer", "minimum": 1, "maximum": 7}},
    "required": ["city", "days"],
}
TOOLS = [{"type": "function", "function": {"name": "weather", "description": "Forecast", "parameters": WEATHER}}]
ASK = [{"role": "user", "content": "Graz?"}]


class Endless(ToyModel):
    """Never ends by itself, and takes its time."""

    def commit(self, tokens, state, *, rows=None):
        time.sleep(0.005)
        logits_TV, after = super().commit(tokens, state, rows=rows)
        logits_TV[:, 256:] = -1e9
        return logits_TV, after


@contextmanager
def serving(model: ToyModel, token: str = "") -> Iterator[str]:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        app = build(LocalChat(model, ChatByteTokenizer()), "toy", token)
        server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off", timeout_graceful_shutdown=1))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        server.should_exit = True
        thread.join(10)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving(ToyModel(vocabulary=259, seed=1)) as address:
        yield address


@pytest.fixture(scope="module")
def client(url: str) -> openai.OpenAI:
    return openai.OpenAI(base_url=url, api_key="none", max_retries=0)


def test_models(client) -> None:
    assert [model.id for model in client.models.list()] == ["toy"]
    assert client.models.retrieve("toy").owned_by == "coder"
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("other")


def test_chat_whole_and_streamed_say_the_same(client) -> None:
    asked = {"model": "toy", "messages": ASK, "max_tokens": 30, "temperature": 0.7, "seed": 5}
    reply = client.chat.completions.create(**asked)
    assert reply.choices[0].finish_reason in ("stop", "length")
    assert 0 < reply.usage.completion_tokens <= 30 and reply.usage.prompt_tokens > 5
    pieces = list(client.chat.completions.create(**asked, stream=True, stream_options={"include_usage": True}))
    text = "".join(piece.choices[0].delta.content or "" for piece in pieces if piece.choices)
    assert text == reply.choices[0].message.content and text
    assert pieces[-1].usage == reply.usage


@pytest.mark.parametrize("choice", ["required", {"type": "function", "function": {"name": "weather"}}])
def test_tool_calls(client, choice) -> None:
    asked = {
        "model": "toy",
        "messages": ASK,
        "tools": TOOLS,
        "tool_choice": choice,
        "max_tokens": 120,
        "temperature": 0,
    }
    reply = client.chat.completions.create(**asked).choices[0]
    assert reply.finish_reason == "tool_calls"
    call = reply.message.tool_calls[0]
    assert call.function.name == "weather"
    assert mismatch(json.loads(call.function.arguments), closed(WEATHER)) is None
    streamed = [
        part
        for piece in client.chat.completions.create(**asked, stream=True)
        for part in piece.choices[0].delta.tool_calls or ()
    ]
    assert streamed[0].function.arguments == call.function.arguments
    history = [*ASK, reply.message, {"role": "tool", "tool_call_id": call.id, "content": "rain"}]
    again = client.chat.completions.create(model="toy", messages=history, tools=TOOLS, max_tokens=150)
    assert again.choices[0].finish_reason in ("stop", "length", "tool_calls")


def test_json_schema(client) -> None:
    shape = {"type": "json_schema", "json_schema": {"name": "w", "schema": closed(WEATHER), "strict": True}}
    reply = client.chat.completions.create(model="toy", messages=ASK, response_format=shape, max_tokens=40)
    assert mismatch(json.loads(reply.choices[0].message.content), closed(WEATHER)) is None
    reply = client.chat.completions.create(
        model="toy", messages=ASK, response_format={"type": "json_object"}, max_tokens=12
    )
    assert isinstance(json.loads(reply.choices[0].message.content), dict)
    reply = client.chat.completions.create(
        model="toy",
        messages=ASK,
        response_format={"type": "json_object"},
        tools=TOOLS,
        tool_choice="none",
        max_tokens=12,
    )
    assert isinstance(json.loads(reply.choices[0].message.content), dict)


def test_completions_and_suffix(client) -> None:
    plain = client.completions.create(model="toy", prompt="abc", max_tokens=9, temperature=0)
    assert plain.usage.completion_tokens <= 9
    streamed = client.completions.create(model="toy", prompt="abc", max_tokens=9, temperature=0, stream=True)
    assert "".join(piece.choices[0].text for piece in streamed) == plain.choices[0].text
    middle = client.completions.create(model="toy", prompt="def f(", suffix="):", max_tokens=12, temperature=0)
    assert 0 < middle.usage.completion_tokens <= 12


@pytest.mark.parametrize(
    ("change", "blamed"),
    [
        ({"messages": []}, "messages"),
        ({"messages": [{"role": "robot", "content": "x"}]}, "messages"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]}, "messages"),
        ({"temperature": 9}, "temperature"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"n": 2}, "n"),
        ({"logprobs": True}, "logprobs"),
        ({"tool_choice": {"type": "function", "function": {"name": "gone"}}}, "tool_choice"),
        ({"response_format": {"type": "xml"}}, "response_format"),
        ({"response_format": {"type": "json_object"}, "tools": TOOLS}, "response_format"),
        ({"frequency_penalty": 0.5}, "frequency_penalty"),
    ],
)
def test_what_cannot_be_done_is_refused_by_name(url, change, blamed) -> None:
    answer = httpx.post(f"{url}/chat/completions", json={"model": "toy", "messages": ASK, **change})
    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == blamed


def test_impossible_schemas_are_refused_in_both_ways(url) -> None:
    shape = {"type": "json_schema", "json_schema": {"name": "w", "schema": {"type": "array", "uniqueItems": True}}}
    for stream in (False, True):
        body = {"messages": ASK, "response_format": shape, "stream": stream}
        answer = httpx.post(f"{url}/chat/completions", json=body)
        assert answer.status_code == 400 and "uniqueItems" in answer.json()["error"]["message"]
    tight = {"messages": ASK, "tools": TOOLS, "tool_choice": "required", "max_tokens": 5}
    assert "max_tokens is 5" in httpx.post(f"{url}/chat/completions", json=tight).json()["error"]["message"]


def test_bodies_that_are_not_requests(url) -> None:
    for content in (b"", b"{", b"[]", b"[" * 100_000, b"\xff"):
        assert httpx.post(f"{url}/chat/completions", content=content).status_code == 400
    assert httpx.get(f"{url}/embeddings").status_code == 404
    assert httpx.get(f"{url}/chat/completions").status_code == 404


def test_web_pages_and_foreign_names_stay_out(url) -> None:
    assert httpx.get(f"{url}/models", headers={"origin": "https://example.org"}).status_code == 403
    assert httpx.get(f"{url}/models", headers={"host": "example.org"}).status_code == 403
    assert httpx.get(f"{url}/models", headers={"host": "localhost:1"}).status_code == 200


def test_a_token_is_asked_for() -> None:
    with serving(ToyModel(vocabulary=259), token="sesame") as address:
        for headers in ({}, {"authorization": "Bearer wrong"}, {"authorization": "sesam"}):
            assert httpx.get(f"{address}/models", headers=headers).status_code == 401
        assert [model.id for model in openai.OpenAI(base_url=address, api_key="sesame").models.list()] == ["toy"]


@pytest.mark.parametrize("stream", [False, True])
def test_a_client_that_goes_away_frees_the_model(stream) -> None:
    model = Endless(vocabulary=259, seed=2)
    body = {"messages": ASK, "max_tokens": 1_000_000, "temperature": 1, "seed": 1, "stream": stream}
    with serving(model) as address, httpx.Client(base_url=address) as leaving:
        try:
            with leaving.stream("POST", "/chat/completions", json=body, timeout=1.5) as answer:
                assert stream and answer.status_code == 200
                next(answer.iter_text())
        except httpx.ReadTimeout:
            assert not stream
        assert model.passes > 0
        short = {"messages": ASK, "max_tokens": 2, "temperature": 0}
        assert httpx.post(f"{address}/chat/completions", json=short, timeout=60).status_code == 200
        passes = model.passes
        time.sleep(0.2)
        assert model.passes == passes


def test_many_wait_while_a_stream_goes_on() -> None:
    """More than there are threads: each gets its answer in turn, and who leaves the line holds up nobody."""
    model = Endless(vocabulary=259, seed=3)
    long = {"messages": ASK, "max_tokens": 300, "temperature": 1, "seed": 1, "stream": True}
    short = {"messages": ASK, "max_tokens": 2, "temperature": 0}
    unbounded = httpx.Limits(max_connections=None)
    with (
        serving(model) as address,
        httpx.Client(base_url=address, timeout=60, limits=unbounded) as client,
        ThreadPoolExecutor(61) as pool,
        client.stream("POST", "/chat/completions", json=long) as answer,
    ):
        lines = answer.iter_lines()
        assert next(lines).startswith("data:")
        waiting = [pool.submit(client.post, "/chat/completions", json=short) for _ in range(60)]
        leaving = pool.submit(client.post, "/chat/completions", json=short, timeout=0.2)
        assert isinstance(leaving.exception(), httpx.ReadTimeout)
        assert [line for line in lines if line][-1] == "data: [DONE]"
        assert [one.result().status_code for one in waiting] == [200] * 60


def test_our_own_client_and_our_own_server(url) -> None:
    endpoint = Endpoint.from_environment({"CODER_ENDPOINT": url})
    assert endpoint.model == "toy"
    options = ChatOptions(max_tokens=120, tool_choice="required")
    reply = whole(endpoint.reply([Message("user", "Graz?")], [Tool("weather", "", closed(WEATHER))], options))
    assert reply.tool_calls[0].name == "weather" and reply.done.reason == "tool_calls"

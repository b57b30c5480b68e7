"""The client against a real HTTP server that follows a script."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from model.chat import ChatError, ChatOptions, Message, Text, Thinking, Tool, ToolCall, whole
from model.endpoint import Endpoint

ASK = [Message("user", "hello")]
CLOCK = Tool("clock", "", {"type": "object", "properties": {"zone": {"type": "string"}}, "required": ["zone"]})


class Script(BaseHTTPRequestHandler):
    """Answers each request with the next of `answers`: (status, headers, body bytes) or a function of the request."""

    answers: list[Any]
    seen: list[dict[str, Any]]

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length", 0))
        body = json.loads(self.rfile.read(length)) if length else {}
        self.seen.append({"path": self.path, "body": body, "key": self.headers.get("authorization")})
        status, headers, data = self.answers.pop(0)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if headers.get("x-cut"):
            self.send_header("content-length", str(len(data) + 100))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST

    def log_message(self, *_: Any) -> None:
        pass


def stream(*deltas: dict[str, Any], finish: str = "stop", done: bool = True) -> tuple[int, dict[str, str], bytes]:
    pieces = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    pieces.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    pieces.append({"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3}})
    lines = [": a comment", *(f"data: {json.dumps(piece)}\n" for piece in pieces)] + (
        ["data: [DONE]\n"] if done else []
    )
    return 200, {"content-type": "text/event-stream; charset=utf-8"}, "\n".join(lines).encode()


def call(name: str, arguments: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """A call in two pieces, as servers send it."""
    half = len(arguments) // 2
    first = {"index": 0, "id": "c1", "function": {"name": name, "arguments": arguments[:half]}}
    return {"tool_calls": [first]}, {"tool_calls": [{"index": 0, "function": {"arguments": arguments[half:]}}]}


def failure(status: int, message: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
    return status, {"content-type": "application/json", **headers}, json.dumps({"error": {"message": message}}).encode()


@pytest.fixture
def server() -> Iterator[tuple[Endpoint, type[Script]]]:
    script = type("OneScript", (Script,), {"answers": [], "seen": []})
    http = ThreadingHTTPServer(("127.0.0.1", 0), script)
    threading.Thread(target=http.serve_forever, args=(0.01,), daemon=True).start()
    yield Endpoint(f"http://127.0.0.1:{http.server_port}/v1", "m", key="sesame", pause_s=0.01), script
    http.shutdown()
    http.server_close()


def test_streams_text_and_reasoning(server) -> None:
    endpoint, script = server
    script.answers.append(stream({"reasoning_content": "hm"}, {"content": "Hel"}, {"content": "lo"}))
    events = list(endpoint.reply(ASK, (), ChatOptions(stop=("x",), temperature=0.5, seed=3)))
    assert events[:3] == [Thinking("hm"), Text("Hel"), Text("lo")]
    assert events[3].reason == "stop" and events[3].prompt_tokens == 7
    sent = script.seen[0]
    assert sent["path"] == "/v1/chat/completions" and sent["key"] == "Bearer sesame"
    assert sent["body"]["stream"] is True and sent["body"]["stop"] == ["x"] and sent["body"]["seed"] == 3
    assert "sesame" not in repr(endpoint)


def test_plain_response_without_streaming(server) -> None:
    endpoint, script = server
    body = {"choices": [{"message": {"role": "assistant", "content": "all at once"}, "finish_reason": "length"}]}
    script.answers.append((200, {"content-type": "application/json"}, json.dumps(body).encode()))
    reply = whole(endpoint.reply(ASK))
    assert reply.text == "all at once" and reply.done.reason == "length"


def test_tool_calls_in_pieces(server) -> None:
    endpoint, script = server
    script.answers.append(stream(*call("clock", '{"zone": "CET"}'), finish="tool_calls"))
    history = [
        *ASK,
        Message("assistant", "", (ToolCall("clock", {"zone": "UTC"}, "c0"),)),
        Message("tool", "1", (), "c0"),
    ]
    reply = whole(endpoint.reply(history, [CLOCK], ChatOptions(tool_choice="clock")))
    assert reply.tool_calls == (ToolCall("clock", {"zone": "CET"}, "c1"),)
    assert reply.done.reason == "tool_calls"
    body = script.seen[0]["body"]
    assert body["tools"][0]["function"]["name"] == "clock"
    assert body["tool_choice"] == {"type": "function", "function": {"name": "clock"}}
    assert json.loads(body["messages"][1]["tool_calls"][0]["function"]["arguments"]) == {"zone": "UTC"}
    assert body["messages"][2]["tool_call_id"] == "c0"


@pytest.mark.parametrize(
    ("bad", "complaint"),
    [
        (("clock", '{"zone": "C'), "not valid JSON"),
        (("watch", '{"zone": "CET"}'), "no tool called 'watch'"),
        (("clock", '{"zone": 5}'), "is not of type 'string'"),
        (("clock", "[1]"), "not a JSON object"),
    ],
)
def test_malformed_calls_go_back_and_never_come_out(server, bad, complaint) -> None:
    endpoint, script = server
    script.answers += [stream(*call(*bad)), stream(*call("clock", '{"zone": "CET"}'))]
    reply = whole(endpoint.reply(ASK, [CLOCK]))
    assert [one.arguments for one in reply.tool_calls] == [{"zone": "CET"}]
    assert complaint in script.seen[1]["body"]["messages"][-1]["content"]
    script.answers += [stream(*call(*bad))] * 3
    with pytest.raises(ChatError, match="malformed"):
        whole(endpoint.reply(ASK, [CLOCK]))


def test_a_stream_that_ends_before_the_answer_is_an_error(server) -> None:
    endpoint, script = server
    headers = {"content-type": "text/event-stream"}
    half = b'data: {"choices": [{"delta": {"content": "half"}}]}\n'
    script.answers.append((200, headers, half))
    with pytest.raises(ChatError, match="broke off"):
        whole(endpoint.reply(ASK))
    script.answers += [(200, headers, b""), (200, headers, b"data: "), stream({"content": "whole"})]
    assert whole(endpoint.reply(ASK)).text == "whole", "nothing had come, so it was asked again"
    script.answers += [(200, headers, half + b"data: [DONE]\n"), stream({"content": "half"}, done=False)]
    assert [whole(endpoint.reply(ASK)).text for _ in range(2)] == ["half", "half"], "one sign of the end will do"


@pytest.mark.parametrize(
    ("bad", "options", "complaint"),
    [
        (call("watch", "{}"), ChatOptions(tool_choice="clock"), "tool_choice is 'clock'"),
        (call("clock", '{"zone": "CET"}'), ChatOptions(tool_choice="none"), "tool_choice is 'none'"),
        (
            [{"tool_calls": [{"index": at, "function": {"name": "watch", "arguments": "{}"}}]} for at in range(2)],
            ChatOptions(parallel=False),
            "one at a time",
        ),
    ],
)
def test_calls_that_were_not_allowed_go_back(server, bad, options, complaint) -> None:
    endpoint, script = server
    good = {"content": "no call"} if options.tool_choice == "none" else call("clock", '{"zone": "CET"}')
    script.answers += [stream(*bad), stream(*(good if isinstance(good, tuple) else (good,)))]
    reply = whole(endpoint.reply(ASK, [CLOCK, Tool("watch")], options))
    assert [one.name for one in reply.tool_calls] == ([] if options.tool_choice == "none" else ["clock"])
    assert complaint in script.seen[1]["body"]["messages"][-1]["content"]
    assert script.seen[0]["body"].get("parallel_tool_calls") is (None if options.parallel else False)


def test_schema_is_asked_for_in_words_where_the_server_refuses_it(server) -> None:
    endpoint, script = server
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    script.answers += [failure(400, "no structured output"), stream({"content": '```json\n{"a": 1}\n```'})]
    events = list(endpoint.reply(ASK, (), ChatOptions(schema=schema)))
    assert events[0] == Text('{"a": 1}')
    assert script.seen[0]["body"]["response_format"]["json_schema"]["schema"] == schema
    assert "response_format" not in script.seen[1]["body"]
    script.answers += [stream({"content": '{"a": "x"}'}), stream({"content": '{"a": 2}'})]
    assert whole(endpoint.reply(ASK, (), ChatOptions(schema=schema))).text == '{"a": 2}'


def test_overload_is_tried_again_and_refusal_is_not(server) -> None:
    endpoint, script = server
    script.answers += [
        failure(503, "busy"),
        failure(429, "slow down", **{"retry-after": "0"}),
        stream({"content": "ok"}),
    ]
    assert whole(endpoint.reply(ASK)).text == "ok" and len(script.seen) == 3
    script.seen.clear()
    script.answers.append(failure(401, "bad key"))
    with pytest.raises(ChatError, match="CODER_ENDPOINT_KEY"):
        whole(endpoint.reply(ASK))
    assert len(script.seen) == 1
    script.answers += [failure(500, "broken")] * 4
    with pytest.raises(ChatError, match="HTTP 500: broken"):
        whole(endpoint.reply(ASK))
    assert len(script.seen) == 5


def test_a_broken_stream_is_an_error_and_not_an_answer(server) -> None:
    endpoint, script = server
    status, headers, data = stream({"content": "half"}, done=False)
    script.answers.append((status, headers | {"x-cut": "1"}, data))
    with pytest.raises(ChatError, match="broke off"):
        whole(endpoint.reply(ASK))
    script.answers.append((200, {"content-type": "text/html"}, b"<html>login</html>"))
    with pytest.raises(ChatError, match="not an OpenAI-style"):
        whole(endpoint.reply(ASK))
    script.answers.append(
        (200, {"content-type": "text/event-stream"}, b'data: {"error": {"message": "out of memory"}}\n')
    )
    with pytest.raises(ChatError, match="out of memory"):
        whole(endpoint.reply(ASK))


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=http.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{http.server_port}/v1"
    finally:
        http.shutdown()
        http.server_close()


@pytest.fixture
def silent() -> Iterator[str]:
    """The URL of a server that takes requests and says nothing."""
    release = threading.Event()

    class Silent(Script):
        def do_POST(self) -> None:
            release.wait(10)

        do_GET = do_POST

    with serving(Silent) as url:
        yield url
        release.set()


def test_silence_ends(silent) -> None:
    with pytest.raises(ChatError, match="ReadTimeout"):
        whole(Endpoint(silent, "m", read_s=0.1, retries=0).reply(ASK))


def test_a_silent_server_is_not_waited_for_as_for_an_answer(silent) -> None:
    begun = time.monotonic()
    with pytest.raises(ChatError, match="ReadTimeout"):
        Endpoint.from_environment({"CODER_ENDPOINT": silent}, read_s=0.2)
    assert time.monotonic() - begun < 3
    made = Endpoint.from_environment({"CODER_ENDPOINT": silent, "CODER_ENDPOINT_MODEL": "m"}, read_s=0.2)
    assert (made.read_s, made.model) == (0.2, "m")


def test_cancel_while_a_server_only_keeps_the_connection_alive() -> None:
    class Chatty(Script):
        def do_POST(self) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            with suppress(OSError):
                for _ in range(100):
                    self.wfile.write(b": still here\n\n")
                    time.sleep(0.05)

    options = ChatOptions()
    with serving(Chatty) as url:
        begun = time.monotonic()
        threading.Timer(0.3, options.cancel.set).start()
        (done,) = Endpoint(url, "m", read_s=1.0).reply(ASK, (), options)
        assert done.reason == "cancelled" and time.monotonic() - begun < 3


def test_cancel_while_waiting_to_try_again(server) -> None:
    endpoint, script = server
    script.answers += [failure(503, "busy", **{"retry-after": "20"})] * 2
    options, begun = ChatOptions(), time.monotonic()
    threading.Timer(0.3, options.cancel.set).start()
    with pytest.raises(ChatError, match="busy"):
        whole(endpoint.reply(ASK, (), options))
    assert time.monotonic() - begun < 10 and len(script.seen) == 1


def test_no_server() -> None:
    with pytest.raises(ChatError, match="Is the server running"):
        whole(Endpoint("http://127.0.0.1:9/v1", "m", retries=1, pause_s=0.01).reply(ASK))


def test_from_the_environment(server) -> None:
    endpoint, script = server
    listing = json.dumps({"data": [{"id": "first"}, {"id": "second"}]}).encode()
    script.answers.append((200, {"content-type": "application/json"}, listing))
    made = Endpoint.from_environment({"CODER_ENDPOINT": endpoint.url, "CODER_ENDPOINT_KEY": "k"})
    assert (made.model, made.key) == ("first", "k")
    with pytest.raises(ChatError, match="CODER_ENDPOINT"):
        Endpoint.from_environment({})


def test_cancel_between_pieces(server) -> None:
    endpoint, script = server
    script.answers.append(stream({"content": "a"}, {"content": "b"}))
    options = ChatOptions()
    events = endpoint.reply(ASK, (), options)
    assert next(events) == Text("a")
    options.cancel.set()
    assert [type(event).__name__ for event in events] == ["Done"]

"""The client against llama.cpp's own server, on the embedded weights.

`llama-cpp-python[server]` must be there, in this environment or in that of the interpreter that LLAMA_CPP_PYTHON names.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from model.chat import ChatError, ChatOptions, Message, Tool, whole
from model.endpoint import Endpoint
from model.schema import closed, mismatch

pytestmark = pytest.mark.slow
ASK = [Message("user", "Say hello to Ada.")]


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Endpoint]:
    python = os.environ.get("LLAMA_CPP_PYTHON", sys.executable)
    if subprocess.run([python, "-c", "import llama_cpp.server"], capture_output=True).returncode != 0:
        pytest.skip(f"{python} has no llama-cpp-python[server]")
    from model.weights.catalogue import fetch

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [python, "-m", "llama_cpp.server", "--model", str(fetch("smollm2")), "--port", str(port)]
    command += ["--n_ctx", "2048", "--chat_format", "chatml-function-calling"]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    endpoint = Endpoint(f"http://127.0.0.1:{port}/v1", "any", retries=0)
    try:
        for _ in range(240):
            try:
                endpoint.models()
                break
            except ChatError:
                assert server.poll() is None, "the server ended by itself"
                time.sleep(0.25)
        yield endpoint
    finally:
        server.terminate()
        server.wait(10)


def test_streams_text(endpoint) -> None:
    reply = whole(endpoint.reply(ASK, (), ChatOptions(max_tokens=24)))
    assert reply.text.strip() and reply.done.reason in ("stop", "length")


def test_calls_are_well_formed_or_refused(endpoint) -> None:
    schema = closed({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]})
    try:
        reply = whole(endpoint.reply(ASK, [Tool("greet", "Greets", schema)], ChatOptions(tool_choice="greet")))
    except ChatError as error:
        assert "malformed" in str(error)
    else:
        assert all(mismatch(call.arguments, schema) is None for call in reply.tool_calls) and reply.tool_calls

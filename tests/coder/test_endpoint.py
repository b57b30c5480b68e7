"""The server that the settings or the user's variables name."""

from __future__ import annotations

import socket
import time

import pytest

from coder.config import Settings
from coder.endpoint import open_endpoint
from coder.exit_status import ExitStatus
from coder.failure import Failure


@pytest.mark.parametrize(("silence_s", "read_s"), [(5.0, 5.0), (1e6, 120.0), (0.1, 1.0)])
def test_a_server_may_be_silent_as_long_as_the_command_allows(silence_s, read_s) -> None:
    variables = {"CODER_ENDPOINT": "http://127.0.0.1:9/v1", "CODER_ENDPOINT_MODEL": "m"}
    endpoint = open_endpoint(Settings(), variables, silence_s)
    assert (endpoint.model, endpoint.read_s) == ("m", read_s)


def test_a_server_that_is_asked_for_its_models_may_not_be_silent_for_longer() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:  # the kernel takes connections, and nobody answers
        begun = time.monotonic()
        with pytest.raises(Failure) as failure:
            open_endpoint(Settings(), {"CODER_ENDPOINT": f"http://127.0.0.1:{silent.getsockname()[1]}/v1"}, 1.0)
    assert failure.value.status is ExitStatus.MODEL_FAILED and time.monotonic() - begun < 10

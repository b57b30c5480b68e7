"""Calls of tools that others offer."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from coder.agent.approvals import Answer
from coder.agent.observation import Observation, Standing
from coder.agent.toolbox import Toolbox
from model.chat import Tool, ToolCall


class Slow:
    """Takes as long as it may."""

    def __init__(self, **schema: Any) -> None:
        self.tool = Tool("slow", "", schema)
        self.given: list[float] = []

    def request(self, arguments: Any) -> None:
        return None

    def call(self, arguments: Any, seconds: float) -> Observation:
        self.given.append(seconds)
        return Observation(Standing.DONE, "")


def made(external: Slow, left_s: float) -> Observation:
    toolbox = Toolbox(SimpleNamespace(), lambda request: Answer(True), lambda nodes: None, lambda: left_s, [external])
    return toolbox(ToolCall("slow", {}))


def test_no_call_may_take_all_that_is_left() -> None:
    slow = Slow()
    assert all(made(slow, left_s).standing is Standing.DONE for left_s in (1000.0, 7.0, 0.0))
    assert slow.given == [120.0, 7.0, 1.0]


def test_a_schema_that_is_wrong_is_told_and_nothing_is_called() -> None:
    endless = Slow(**{"$ref": "#"})
    observation = made(endless, 9.0)
    assert observation.standing is Standing.REFUSED and "the schema itself is wrong" in observation.text
    assert not endless.given

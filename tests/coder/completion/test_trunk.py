"""The real model behind a completion."""

from __future__ import annotations

from coder.completion.gates import judge
from coder.completion.knowledge import Knowledge
from coder.completion.prompt import prompt_of
from coder.completion.situation import Lines, Situation
from coder.completion.stopping import extent_of
from coder.completion.writer import Writer
from tests.lsp.parrot import never

ABOVE = """class Stack:
    def __init__(self):
        self.items = []

    def push(self, item):
        self.items.append(item)

    def pop(self):
        return self.items.po"""


def write(writer, before):
    situation = Situation("u", "stack.py", "python", before, "\n")
    lines = before.splitlines(keepends=True)
    prompt = prompt_of(situation, lines, len(lines) - 1)
    return writer.write(prompt, situation, extent_of(situation, Lines.ONE), 24, never()), situation


def test_a_word_is_ended_inside_a_token_and_known_drafts_change_nothing(trunk):
    model, tokenizer = trunk
    draft, situation = write(Writer(model, tokenizer, Knowledge()), ABOVE)
    assert draft.text == "p()" and draft.whole
    assert judge(draft, situation, 0.45).text == "p()"
    assert draft.confidence() > 0.5


def test_what_the_repository_says_is_written(trunk):
    model, tokenizer = trunk
    before = "import config\n\n\ndef start():\n    settings = config.load_from_environ"
    alone, _ = write(Writer(model, tokenizer, Knowledge()), before)
    knowledge = Knowledge()
    knowledge.add("other.py", tokenizer.encode("settings = config.load_from_environment_or_quit(strict=7)\n" * 3))
    knowledge.build()
    informed, _ = write(Writer(model, tokenizer, knowledge), before)
    assert informed.text == "ment_or_quit(strict=7)"
    assert alone.text != informed.text


def test_the_end_of_the_text_above_says_nothing_about_this_place(trunk):
    model, tokenizer = trunk
    heard = []

    class Spy(Knowledge):
        def find(self, context):
            heard.append(super().find(context))
            return heard[-1]

    write(Writer(model, tokenizer, Spy()), "first = make(1)\nsecond = build(2)\n    ")
    assert heard[0] is None

"""Under a grammar every decoder writes a whole text of the grammar, whatever the model and however small the budget."""

from __future__ import annotations

import json
import re

import pytest

from model.decoding import blockwise
from model.decoding.blockwise import Filling
from model.decoding.diffusion import Denoising
from model.decoding.diffusion import generate as diffuse
from model.decoding.grammar import Grammar, GrammarError
from model.decoding.infill import Infilling
from model.decoding.infill import generate as fill
from model.decoding.names import DECODERS
from model.decoding.request import Generation, Reason, text_of
from model.schema import closed, mismatch
from tests.model.toy import ByteTokenizer, ChatByteTokenizer, ScriptedModel, ToyModel

TOKENIZER = ByteTokenizer()
SCHEMA = closed(
    {
        "type": "object",
        "properties": {
            "name": {"type": "string", "minLength": 2},
            "kind": {"enum": ["alpha", "beta"]},
            "values": {"type": "array", "items": {"type": "number"}, "minItems": 1},
            "more": {"type": "object", "properties": {"deep": {"type": ["string", "null"]}}},
        },
        "required": ["name", "kind", "values"],
    }
)
SHORTEST = len('{"name":"aa","kind":"alpha","values":[0]}')
RECURSIVE = {
    "$ref": "#/$defs/node",
    "$defs": {
        "node": {
            "type": "object",
            "properties": {
                "value": {"type": "integer"},
                "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
            },
            "required": ["value", "children"],
            "additionalProperties": False,
        }
    },
}


@pytest.mark.parametrize("name", DECODERS)
@pytest.mark.parametrize("schema", [SCHEMA, RECURSIVE])
def test_always_whole(name, schema) -> None:
    grammar = Grammar.json_schema(TOKENIZER, schema)
    closed_early = 0
    for seed in range(2):
        for limit in (SHORTEST, SHORTEST + 1, 80):
            for temperature in (0.0, 1.0):
                request = Generation(
                    prompt=[1, 2], max_tokens=limit, temperature=temperature, seed=seed, grammar=grammar
                )
                text, done = text_of(DECODERS[name](ToyModel(seed=seed), TOKENIZER, request))
                assert mismatch(json.loads(text), schema) is None
                assert done.tokens <= limit
                closed_early += done.closed
    assert closed_early > 0  # the budget was felt


def test_the_model_decides_where_the_grammar_does_not() -> None:
    said = '{"name":"Ada","kind":"beta","values":[1,2.5],"more":{"deep":null}}'
    for name, decoder in DECODERS.items():
        request = Generation(prompt=[1], max_tokens=100, grammar=Grammar.json_schema(TOKENIZER, SCHEMA))
        text, done = text_of(decoder(ScriptedModel(TOKENIZER.encode(said), 1), TOKENIZER, request))
        assert text == said, name
        assert done.reason is Reason.STOP and not done.closed


def test_forced_tokens_are_drafts() -> None:
    grammar = Grammar.json_schema(TOKENIZER, SCHEMA)
    request = Generation(prompt=[1], max_tokens=60, grammar=grammar)
    *_, done = DECODERS["draft_verify"](ToyModel(), TOKENIZER, request)
    assert done.accepted > 15 and done.passes < done.tokens - 10


def test_too_small_a_budget_is_said_before_anything_is_written() -> None:
    request = Generation(prompt=[1], max_tokens=SHORTEST - 6, grammar=Grammar.json_schema(TOKENIZER, SCHEMA))
    with pytest.raises(GrammarError, match="shortest text found"):
        next(DECODERS["ar"](ToyModel(), TOKENIZER, request))


def test_what_cannot_be_enforced_is_refused() -> None:
    schema = {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}
    with pytest.raises(GrammarError, match="uniqueItems"):
        Grammar.json_schema(TOKENIZER, schema)
    with pytest.raises(GrammarError):
        Grammar.lark(TOKENIZER, "start: nowhere")


@pytest.mark.parametrize("pattern", ["(ab|cde)*x", "[a-z]{5}", "[0-9]+-[0-9]+", "(a|b)*c{3,}(d|e)*f"])
def test_regular_expressions(pattern) -> None:
    grammar = Grammar.lark(TOKENIZER, f"start: /{pattern}/")
    for limit in (12, 30):
        request = Generation(prompt=[1], max_tokens=limit, temperature=1.0, grammar=grammar)
        text, _ = text_of(DECODERS["draft_verify"](ToyModel(), TOKENIZER, request))
        assert re.fullmatch(pattern, text)


def test_stop_strings_cannot_cut_a_grammar_open() -> None:
    grammar = Grammar.json_schema(TOKENIZER, SCHEMA)
    request = Generation(prompt=[1], max_tokens=80, stop=('"', "}"), grammar=grammar)
    json.loads(text_of(DECODERS["ar"](ToyModel(), TOKENIZER, request))[0])


def test_diffusion_settles_forced_text_in_one_pass() -> None:
    grammar = Grammar.json_schema(TOKENIZER, {"const": {"a": [1, 2, 3]}})
    request = Generation(prompt=[1], max_tokens=40, grammar=grammar)
    text, done = text_of(diffuse(ToyModel(), TOKENIZER, request, Denoising(32)))
    assert json.loads(text) == {"a": [1, 2, 3]} and done.passes == 1


def test_infill_under_a_grammar() -> None:
    grammar = Grammar.lark(TOKENIZER, "start: /[0-9]{1,6}/")
    request = Generation(prompt=[1, 2], max_tokens=10, grammar=grammar)
    text, _ = text_of(fill(ToyModel(), TOKENIZER, request, [3, 4], Infilling(lengths=(2, 4, 6))))
    assert re.fullmatch(r"[0-9]{1,6}", text)


@pytest.mark.parametrize("jointly", [False, True])
def test_lengths_that_hold_no_text_of_the_grammar_are_left_out(jointly) -> None:
    grammar = Grammar.lark(TOKENIZER, "start: /[0-9]{4,6}/")
    request = Generation(prompt=[1, 2], max_tokens=10, grammar=grammar)
    for lengths in ((1, 2, 4, 6), (1, 2)):
        text, _ = text_of(fill(ToyModel(), TOKENIZER, request, [3, 4], Infilling(lengths=lengths, jointly=jointly)))
        assert re.fullmatch(r"[0-9]{4,6}", text)
    with pytest.raises(GrammarError, match="shortest"):
        list(fill(ToyModel(), TOKENIZER, Generation(prompt=[1], max_tokens=3, grammar=grammar), [3]))


@pytest.mark.parametrize("refused", [0, 2])
@pytest.mark.parametrize("seed", range(3))
def test_one_grammar_holds_over_all_blocks(refused, seed) -> None:
    """Also where a block did not pass and was written again."""
    seen: list[str] = []

    def gate(text: str) -> bool:
        seen.append(text)
        return len(seen) != refused

    grammar = Grammar.json_schema(TOKENIZER, SCHEMA)
    request = Generation(prompt=[1, 2], max_tokens=80, seed=seed, grammar=grammar)
    events = list(blockwise.generate(ToyModel(seed=seed), TOKENIZER, request, [3], gate, Filling((9, 60), 16)))
    text = blockwise.written_text(iter(events))
    assert text is not None and mismatch(json.loads(text), SCHEMA) is None
    assert sum(isinstance(event, blockwise.BlockEnd) for event in events) > 1


def test_a_token_outside_the_grammar_is_an_error_and_not_a_wrong_text() -> None:
    guide = Grammar.lark(TOKENIZER, 'start: "abc"').guide(5)
    guide.advance(ord("a"))
    with pytest.raises(GrammarError):
        guide.advance(ord("x"))


@pytest.mark.parametrize("name", DECODERS)
def test_every_end_ends_a_whole_text_and_no_other(name) -> None:
    tokenizer, turn = ChatByteTokenizer(), 258
    words = Grammar.lark(tokenizer, "start: /[a-z]*/")
    model = ScriptedModel([*tokenizer.encode("abc"), turn], 1, vocabulary=259)
    request = Generation(prompt=[1], max_tokens=40, ends=(turn,), grammar=words)
    text, done = text_of(DECODERS[name](model, tokenizer, request))
    assert (text, done.reason, done.tokens) == ("abc", Reason.STOP, 3)
    cut = ScriptedModel([*tokenizer.encode('{"name":"A'), turn], 1, vocabulary=259)
    request = Generation(prompt=[1], max_tokens=80, ends=(turn,), grammar=Grammar.json_schema(tokenizer, SCHEMA))
    text, _ = text_of(DECODERS[name](cut, tokenizer, request))
    assert mismatch(json.loads(text), SCHEMA) is None


def test_a_tokenizer_may_know_several_ends() -> None:
    tokenizer = ChatByteTokenizer()
    tokenizer.ends = (256, 258)
    for grammar in (None, Grammar.lark(tokenizer, "start: /[a-z]*/")):
        model = ScriptedModel([*tokenizer.encode("abc"), 258], 1, vocabulary=259)
        text, done = text_of(DECODERS["ar"](model, tokenizer, Generation(prompt=[1], max_tokens=40, grammar=grammar)))
        assert (text, done.reason) == ("abc", Reason.STOP)

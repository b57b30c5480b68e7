from __future__ import annotations

from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F

from model.llama import LlamaModel
from model.scoring import Scorer
from model.tokenizer import BytePairTokenizer
from tests.model.tiny_llama import CONFIG, tiny_llama

Trunk = tuple[LlamaModel, BytePairTokenizer]

PREFIX = "def area(width, height):\n    return "
SUFFIX = "\n\n\nprint(area(2, 3))\n"


@pytest.fixture(scope="module", params=[CONFIG.begin_id, None], ids=["begun", "not begun"])
def exact(trunk: Trunk, request: pytest.FixtureRequest) -> Trunk:
    """A random fp32 model under the real tokenizer: sums agree to many digits, which int8 rounding would hide. With a
    begin token and without."""
    config = replace(CONFIG, vocabulary=trunk[1].vocabulary, begin_id=request.param)
    return tiny_llama(config=config), trunk[1]


def _plain(trunk: Trunk, text: str) -> tuple[list[int], list[float]]:
    """ln p of each token, by one commit and nothing else."""
    model, tokenizer = trunk
    ids = tokenizer.encode(text)
    start = model.start()
    logits, _ = model.commit(ids, start)
    logs = F.log_softmax(torch.cat([model.next_logits(start)[None], logits[:-1]]), -1)
    return ids, logs.gather(1, torch.tensor(ids)[:, None])[:, 0].tolist()


def test_surprise_is_that_of_a_plain_pass(exact: Trunk) -> None:
    text = PREFIX + "width * height" + SUFFIX
    found = Scorer(*exact).surprise(text)
    _, expected = _plain(exact, text)
    assert [one.nats for one in found] == pytest.approx([-value for value in expected], abs=1e-3)
    assert "".join(text[one.start : one.end] for one in found) == text
    assert Scorer(*exact).surprise("") == []


def test_spans_are_sums_over_the_joined_text(exact: Trunk) -> None:
    model, tokenizer = exact
    middles = ["width * height", "width + height", "height", "", "(width * height)"]
    found = Scorer(model, tokenizer).spans(PREFIX, middles, SUFFIX)
    for middle, value in zip(middles, found):
        _, logs = _plain(exact, PREFIX + middle + SUFFIX)
        ranges = tokenizer.offsets(PREFIX + middle + SUFFIX)[1]
        expected = sum(log for log, (_, end) in zip(logs, ranges) if end > len(PREFIX))
        assert value == pytest.approx(expected, abs=1e-2)
    assert Scorer(model, tokenizer).spans(PREFIX, [], SUFFIX) == []


def test_an_empty_prefix_is_the_beginning_of_a_document(exact: Trunk) -> None:
    used, middles = Scorer(*exact), ["import os", "x = 1", ""]
    used.spans(PREFIX, ["width"], SUFFIX)
    found = used.spans("", middles, SUFFIX)
    assert found == pytest.approx([sum(_plain(exact, middle + SUFFIX)[1]) for middle in middles], abs=1e-2)
    assert used.spans("", [""], "") == [0.0]


def test_texts_longer_than_the_window_are_scored_as_they_are_read(trunk: Trunk) -> None:
    tokenizer = trunk[1]
    config = replace(CONFIG, vocabulary=tokenizer.vocabulary)
    short = tiny_llama(config=config, window=64, stride=16), tokenizer
    middles = ["width * height", "width + " * 60 + "height", "height"]
    for prefix in ("", PREFIX):
        found, expected = Scorer(*short).spans(prefix, middles, SUFFIX), []
        for middle in middles:
            text = prefix + middle + SUFFIX
            logs, ends = _plain(short, text)[1], [end for _, end in tokenizer.offsets(text)[1]]
            expected.append(sum(log for log, end in zip(logs, ends) if end > len(prefix)))
        assert found == pytest.approx(expected, abs=1e-1)
    assert len(Scorer(*short).spans(PREFIX * 40, middles, SUFFIX)) == 3


def test_an_earlier_reading_changes_no_score(exact: Trunk) -> None:
    used = Scorer(*exact)
    used.spans("def area(width, height, depth):\n    return ", ["width"], SUFFIX)
    used.spans(PREFIX + "max(", ["width"], SUFFIX)
    fresh = Scorer(*exact)
    assert used.spans(PREFIX, ["width"], SUFFIX) == pytest.approx(fresh.spans(PREFIX, ["width"], SUFFIX), abs=1e-2)


def test_first_tokens_judge_alternatives_where_they_stand(exact: Trunk) -> None:
    text = PREFIX + "width * height" + SUFFIX
    at = [text.index("width *"), text.index("*"), len(text)]
    names, signs, end = Scorer(*exact).first_tokens(text, at)
    ids, logs = _plain(exact, text)
    star = next(index for index, token in enumerate(ids) if exact[1].decode([token]) == " *")
    assert signs("* height") == pytest.approx(logs[star], abs=1e-3)
    assert names("width * 2") == names("width") != names("%")
    assert end("") == 0.0 and end("print") < 0.0


def test_the_model_prefers_what_makes_sense(trunk: Trunk) -> None:
    middles = ["width * height", "width + width", "height", "%"]
    found = Scorer(*trunk).spans(PREFIX, middles, SUFFIX)
    assert found[0] == max(found)
    (names,) = Scorer(*trunk).first_tokens(PREFIX + "width * height", [len(PREFIX)])
    assert names("width") > names("depth") > names("%")

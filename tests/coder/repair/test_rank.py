from __future__ import annotations

from coder.patch import Edit, Proposal, Span
from coder.repair import rank
from coder.repair.candidate import Base, Candidate, Pool
from coder.repair.edits import propose
from coder.repair.rank import Reader, Weights, score
from tests.coder.repair.fakes import FakeScorer
from tests.coder.repair.helpers import region_of

TEXT = "def f(a, b):\n    c = a\n    return a - b\n"


def candidates(text: str = TEXT) -> list[Candidate]:
    region = region_of(text)
    base = Base({"module.py": region.source})
    return [Candidate(base, proposal, 1.0) for proposal in propose(region)]


def test_what_the_model_likes_comes_first_once_it_has_read_it() -> None:
    found = candidates()
    Reader(FakeScorer("a % b")).read(found)
    best = max(found, key=lambda candidate: candidate.score)
    assert best.files["module.py"] == TEXT.replace("a - b", "a % b")
    assert best.likelihood == rank.MOST
    assert all(candidate.exact for candidate in found)


def test_the_cheap_score_asks_for_the_first_token_of_the_change() -> None:
    found = candidates()
    scorer = FakeScorer("% b")
    Reader(scorer).skim(found)
    assert scorer.passes == 1
    liked = [candidate for candidate in found if candidate.likelihood > 0]
    assert TEXT.replace("a - b", "a % b") in {candidate.files["module.py"] for candidate in liked}
    assert not any(candidate.exact for candidate in found)


def test_a_long_file_is_skimmed_in_windows_the_likeliest_first() -> None:
    functions = [f"def f{number}(a, b):\n    return a - b\n" for number in range(400)]
    region = region_of("\n".join(functions), name="f390")
    base = Base({"module.py": region.source})
    late = [Candidate(base, proposal, 1.0, score=1.0) for proposal in propose(region)]
    early_region = region_of("\n".join(functions), name="f2")
    early = [Candidate(base, proposal, 1.0) for proposal in propose(early_region)]
    windows = Reader(FakeScorer("")).windows(early + late)
    assert [set(window) for window in windows] == [set(late), set(early)]


def test_candidates_of_the_same_lines_share_one_pass() -> None:
    found = [candidate for candidate in candidates() if candidate.proposal.origin == "binary operator"]
    scorer = FakeScorer("")
    Reader(scorer).read(found)
    assert scorer.passes == 2  # the line as it is, and all that may stand there
    assert scorer.prefixes[-1] == "def f(a, b):\n    c = a\n"


def test_a_longer_text_is_not_less_likely_for_its_length_alone() -> None:
    found = candidates()
    Reader(FakeScorer("no text holds this")).read(found)
    lengths = {len(candidate.files["module.py"]): candidate.likelihood for candidate in found}
    assert lengths[len(TEXT)] == 0.0
    assert all((likelihood > 0) == (length > len(TEXT)) for length, likelihood in lengths.items() if likelihood)


def test_a_cancelled_reader_reads_nothing() -> None:
    scorer = FakeScorer("a % b")
    Reader(scorer, cancelled=lambda: True).read(candidates())
    assert scorer.passes == 0


def test_the_score_weighs_its_parts() -> None:
    base = Base({}, handicap=2.0)
    candidate = Candidate(base, Proposal((), prior=-3.0), suspicion=1.0, likelihood=4.0, exact=True)
    assert score(candidate, Weights(likelihood=0.5, cheap=9.0, prior=2.0, suspicion=7.0)) == 2.0 - 6.0 - 2.0
    candidate.exact = False
    assert score(candidate, Weights(likelihood=0.5, cheap=0.25, prior=1.0)) == 1.0 - 3.0 - 2.0
    candidate.cost = 3.0
    assert score(candidate, Weights(likelihood=0.5, cheap=0.25, prior=1.0)) == 1.0 - 3.0 - 2.0 - 3.0
    candidate.suspicion = 0.1
    assert score(candidate) < score(Candidate(base, candidate.proposal, 1.0, 4.0))


def test_the_pool_hands_out_the_best_and_doubts_what_was_not_read() -> None:
    found = candidates()
    pool = Pool(found[0].base.sources)
    read, rough = found[0], found[1]
    read.exact, read.score, rough.score = True, 0.0, 0.5
    pool.add([rough, read])
    assert pool.best() is read
    rough.score = 2.0
    pool.add([rough])
    assert pool.best() is rough


def test_a_candidate_moves_to_the_place_of_its_new_score() -> None:
    found = candidates()[:3]
    pool = Pool(found[0].base.sources)
    pool.add(found)
    for value, candidate in enumerate(found):
        candidate.score = float(value)
    pool.add(found)
    assert len(pool) == 3
    assert [pool.best() for _ in range(4)] == [found[2], found[1], found[0], None]


def test_the_unread_of_the_best_line_stay_in_the_pool_until_they_are_taken() -> None:
    every = candidates()
    here = [candidate for candidate in every if candidate.hunk[2] == 3][:4]
    elsewhere = next(candidate for candidate in every if candidate.hunk[2] == 2)
    elsewhere.score = -0.5
    pool = Pool(here[0].base.sources)
    for value, candidate in enumerate(here):
        candidate.score = -float(value)
    pool.add([*here, elsewhere])
    assert pool.unread(2, among=3) == here[:2]
    here[0].exact = True
    pool.add(here[:1])
    assert pool.unread(2, among=3) == [elsewhere]
    assert pool.unread(2, among=1) == []
    assert pool.best() is here[0]
    assert pool.unread(1, among=1) == [elsewhere]


def test_the_pool_hands_out_each_program_once() -> None:
    found = candidates()
    pool = Pool(found[0].base.sources)
    twin = Candidate(found[0].base, found[0].proposal, 1.0)
    pool.add([found[0], twin])
    assert pool.best() is found[0]
    assert pool.best() is None
    assert len(pool) == 0


def test_a_line_of_the_changed_file_is_known_by_the_line_that_it_was() -> None:
    region = region_of("a = 1\nb = 2\nc = 3\nd = 4\n")
    text = region.source.text
    insert = Edit(Span("module.py", text.index("b"), text.index("b")), "x = 0\ny = 0\n")
    join = Edit(Span("module.py", text.index("c"), text.index("d")), "")
    changed = Candidate(Base({"module.py": region.source}), Proposal((insert, join), {}, "", 0.0, ""), 1.0)
    assert changed.files["module.py"] == "a = 1\nx = 0\ny = 0\nb = 2\nd = 4\n"
    assert [changed.line_before("module.py", line) for line in range(1, 6)] == [1, 2, 2, 2, 4]
    assert changed.line_before("other.py", 9) == 9

"""The parts behind a completion: snapshots, the worker, the cache that follows typing, knowledge, reading, settings."""

from __future__ import annotations

import threading
import time
from concurrent.futures import wait

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coder.completion.knowledge import Knowledge
from coder.completion.prompt import BUDGET, anchors, prompt_of
from coder.completion.situation import Situation
from coder.completion.snapshots import BLOCK, Snapshots
from coder.completion.writer import Writer
from coder.repository import Repository
from lsp import following
from lsp.following import SIZE, Following, typed_since
from lsp.reading import Reading
from lsp.settings import Settings
from lsp.tokens_kept import TokensKept
from lsp.worker import Urgency, Worker
from lsp.workspace import Workspace
from tests.lsp.parrot import Parrot, never
from tests.model.toy import ByteTokenizer, ToyModel


def situation(before: str, after: str = "") -> Situation:
    return Situation("file:///a.py", "a.py", "python", before, after)


# -- snapshots ---------------------------------------------------------------------------------------------------------


def test_moving_the_cursor_costs_only_what_was_not_read():
    model = Parrot("")
    snapshots = Snapshots(model)
    text = bytes(range(97, 123)) * 40
    for upto, fresh in ((900, 900), (1000, 100), (300, 0), (950, 0), (1000, 0)):
        before = model.read
        assert snapshots.read(list(text[:upto]), never()) == text[:upto]
        assert model.read - before <= max(fresh, 650 if upto == 950 else 0)
    assert len(snapshots) < 4000


def test_a_model_that_cannot_go_back_is_restored_at_a_block(monkeypatch):
    model = ToyModel()
    snapshots = Snapshots(model)
    text = [letter % 200 for letter in range(3 * BLOCK)]
    assert snapshots.read(text, never()) == tuple(text)
    read = []
    commit = model.commit
    monkeypatch.setattr(
        model, "commit", lambda ids, state, **more: (read.append(len(ids)), commit(ids, state, **more))[1]
    )
    changed = [*text[: 2 * BLOCK + 10], 7, 7]
    assert snapshots.read(changed, never()) == tuple(changed)
    assert sum(read) == 12


def test_a_cancelled_reading_is_gone_on_with():
    model = Parrot("")
    snapshots = Snapshots(model)
    flag = threading.Event()
    flag.set()
    assert snapshots.read([97] * 600, flag) is None
    assert snapshots.read([97] * 600, never()) == b"a" * 600
    snapshots = Snapshots(model, tokens=1000)
    for letter in b"abcd":
        snapshots.read([letter] * 600, never())
    assert len(snapshots) <= 1000


def test_what_is_taken_over_twice_is_kept_once():
    snapshots = Snapshots(Parrot(""))
    for _ in range(2):
        snapshots.adopt((1, 2, 3), [(3, "after three")])
    assert len(snapshots) == 3
    assert snapshots.read([1, 2, 3], never()) == "after three"


# -- worker ------------------------------------------------------------------------------------------------------------


def test_who_waits_comes_first_and_ends_a_guess():
    worker = Worker()
    order = []

    def guess(cancel):
        cancel.wait(10)
        order.append("guess")

    ahead = worker.submit(guess, Urgency.AHEAD)
    while worker._running is not ahead:
        time.sleep(0.001)
    idle = worker.submit(lambda cancel: order.append("idle"), Urgency.IDLE)
    now = worker.submit(lambda cancel: order.append("now"))
    wait([ahead.future, idle.future, now.future], 10)
    assert order == ["guess", "now", "idle"]
    worker.close()


def test_a_job_cancelled_in_the_queue_never_runs_and_errors_stay_in_their_job():
    worker = Worker()
    gate = threading.Event()
    first = worker.submit(lambda cancel: gate.wait(10))
    second = worker.submit(lambda cancel: pytest.fail("it ran"))
    second.cancel.set()
    third = worker.submit(lambda cancel: 1 / 0)
    gate.set()
    assert first.future.result(10) and second.future.result(10) is None
    assert isinstance(third.future.exception(10), ZeroDivisionError)
    worker.close()
    assert worker.submit(lambda cancel: 1).future.result(10) is None


# -- following ---------------------------------------------------------------------------------------------------------


def test_a_known_completion_follows_what_is_typed():
    following = Following()
    following.put(situation("x = "), "foo(bar)")
    assert following.get(situation("x = ")) == "foo(bar)"
    assert following.get(situation("x = foo(")) == "bar)"
    assert following.get(situation("x = fu")) is None
    assert following.get(situation("y = foo(")) is None
    assert following.get(situation("x = foo(bar)")) is None
    following.put(situation("silent"), "")
    assert following.get(situation("silent")) == ""
    long = "line\n" * 1000
    following.put(situation(long + "x"), "yz")
    assert following.get(situation(long + "xy")) == "z"
    for number in range(2 * SIZE):
        following.put(situation(str(number)), "text")
    assert len(following) == SIZE


def test_what_the_editor_closed_is_not_closed_again():
    following = Following()
    following.put(situation("x = "), "foo(bar)")
    assert following.get(situation("x = foo(", ")")) == "bar"
    following.put(situation("y = ", "\nrest\n"), "foo(bar, 'baz')")
    assert following.get(situation("y = foo(", ")\nrest\n")) == "bar, 'baz'"
    assert following.get(situation("y = foo(bar, '", "')\nrest\n")) == "baz"
    assert following.get(situation("y = foo(", "\nrest\n")) == "bar, 'baz')"
    assert following.get(situation("y = foo(", ")\nother\n")) is None
    assert following.get(situation("y = foo(", " + 1\nrest\n")) is None
    following.put(situation("z = "), "foo(bar) + baz")
    assert following.get(situation("z = foo(", ")")) is None
    following.put(situation("if "), "foo(bar)\n    more")
    assert following.get(situation("if foo(", ")")) == "bar"


@given(st.text("ab", max_size=12), st.text("ab", max_size=14))
def test_what_was_typed_is_the_shortest_end_before_which_both_agree(old, new):
    agree, longest = 3, 4

    def at(count: int) -> bool:
        rest = new[: len(new) - count]
        return old.endswith(rest[-agree:]) if len(rest) >= agree else rest == old

    count = next((count for count in range(min(len(new), longest) + 1) if at(count)), None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(following, "_AGREE", agree)
        patch.setattr(following, "_LONGEST", longest)
        assert typed_since(old, new) == (None if count is None else new[len(new) - count :])


# -- prompt ------------------------------------------------------------------------------------------------------------


def test_the_prompt_begins_at_the_same_line_for_many_cursor_lines():
    lines = ["import os\n", *(f"value_{number} = {number} * 3  # some text\n" for number in range(2000))]
    starts = [anchors(lines, line)[0] for line in range(1000, 1100)]
    assert len(set(starts)) <= 8
    assert all(sum(map(len, lines[start:line])) <= BUDGET for start, line in zip(starts, range(1000, 1100)))
    prompt = prompt_of(situation("".join(lines[:1000]) + "val"), lines, 1000)
    assert prompt.head == "# a.py\nimport os\n"
    assert prompt.body.endswith("some text\nval")
    assert prompt_of(situation("im"), ["im"], 0).text == "# a.py\nim"


def test_of_a_long_line_only_the_end_is_read_and_it_begins_at_one_place_for_many_letters():
    line = "ab" * 10_100
    prompt, further = (prompt_of(situation(text), ["above\n", text], 1) for text in (line, line + "cd"))
    assert BUDGET / 2 <= len(prompt.body) <= BUDGET
    assert further.body == prompt.body + "cd"
    assert prompt.shorter == ()


def test_moving_up_reads_little():
    lines = [f"value_{number} = {number} * 3  # some text\n" for number in range(2000)]
    model = Parrot("")
    writer = Writer(model, ByteTokenizer(), Knowledge())
    writer.read(prompt_of(situation("".join(lines[:1000])), lines, 1000), never())
    before = model.read
    for line in range(995, 975, -1):
        writer.read(prompt_of(situation("".join(lines[:line])), lines, line), never())
    assert before > BUDGET / 2
    assert model.read - before < 200


# -- knowledge and reading ---------------------------------------------------------------------------------------------


def test_the_edited_place_is_left_out_and_the_nearest_match_wins():
    encode = ByteTokenizer().encode
    knowledge = Knowledge()
    knowledge.add("a.py", encode("value = compute(old)\n"))
    knowledge.add("b.py", encode("value = compute(far)\n"))
    assert knowledge.leave_out("a.py") is False
    knowledge.build()
    knowledge.open("a.py", encode("value = compute(old)\n"))
    knowledge.focus("a.py", ("", ""), encode)
    match = knowledge.find(encode("value = compute("))
    assert match is not None and match.tokens.tolist() == [ord("f")]
    knowledge.focus("a.py", ("value = compute(near)\n", ""), encode)
    match = knowledge.find(encode("value = compute("))
    assert match is not None and match.tokens.tolist() == [ord("n")]
    assert knowledge.close("a.py"), "the next build takes it in"


def test_what_is_gone_is_forgotten_with_all_that_lay_in_it():
    knowledge = Knowledge()
    for name in ("/p/a.py", "/p/pkg/b.py", "/p/pkg/deep/c.py", "/p/pkg.py"):
        knowledge.add(name, [1, 2])
    assert not knowledge.forget(set())
    assert not knowledge.forget({"/p/other", "/p/pk"})
    assert knowledge.forget({"/p/pkg", "/p/a.py"})
    assert len(knowledge) == 2


def test_reading_keeps_to_the_rules_gives_way_and_is_resumed(tmp_path):
    project = tmp_path / "project"
    project.mkdir()
    (project / "a.py").write_text("import ours.part\nx = 1\n")
    (project / ".gitignore").write_text("hidden.py\n")
    (project / "hidden.py").write_text("secret = 1\n")
    (project / ".env").write_text("TOKEN=1\n")
    (project / "picture.png").write_bytes(b"\x89")
    encoded: list[str] = []

    class Counting(ByteTokenizer):
        def encode(self, text):
            encoded.append(text)
            return super().encode(text)

    def read():
        busy = iter([True, True, False, False, False, False, False])
        done: list[int | None] = []
        kept = TokensKept(tmp_path / "kept", "name")
        reading = Reading(Knowledge(), Counting(), lambda: next(busy, False), kept)
        repository = Repository(project)
        reading.start([repository], [(repository, "a.py")], done.append)
        assert reading._thread is not None
        reading._thread.join(20)
        assert done == [1]
        return reading

    assert {"a", "ours"} <= read().modules
    assert encoded == ["import ours.part\nx = 1\n"]
    read()
    assert len(encoded) == 1
    (tmp_path / "kept").joinpath(next(path.name for path in (tmp_path / "kept").iterdir())).write_bytes(b"torn")
    read()
    assert len(encoded) == 2


def test_a_reading_that_breaks_does_not_say_how_many_files_it_read(tmp_path):
    class Broken:
        def encode(self, text: str) -> list[int]:
            raise RuntimeError

    (tmp_path / "a.py").write_text("x = 1\n")
    done: list[int | None] = []
    reading = Reading(Knowledge(), Broken(), lambda: False)
    reading.start([Repository(tmp_path)], [], done.append)
    assert reading._thread is not None
    reading._thread.join(20)
    assert done == [None]


def read_through(reading, *repositories):
    done: list[int | None] = []
    reading.start(repositories, [], done.append)
    reading._thread.join(20)
    return done


def test_what_changes_afterwards_is_read_again_and_not_kept(tmp_path):
    project = tmp_path / "project"
    (project / "pkg").mkdir(parents=True)
    (project / "a.py").write_text("x = 1\n")
    (project / "pkg" / "b.py").write_text("y = 1\n")
    knowledge, kept, repository = Knowledge(), TokensKept(tmp_path / "kept", "name"), Repository(project)
    reading = Reading(knowledge, ByteTokenizer(), lambda: False, kept)
    assert read_through(reading, repository) == [2]
    for number in range(20):
        (project / "a.py").write_text(f"x = {number:03}\n")
        reading.again(repository, "a.py")
    assert len(kept._used) == 2, "no version but the first"
    assert len(knowledge) == len("x = 019\n") + len("y = 1\n")
    (project / "data.json").write_text("{}")
    reading.again(repository, "data.json")
    (project / "a.py").write_text("z\n")
    assert not reading.take_over([(repository, "a.py")], set()), "too little to build the index again"
    assert len(knowledge) == len("z\n") + len("y = 1\n")
    assert reading.take_over([], {f"{repository.root}/pkg"})
    assert len(knowledge) == len("z\n")


def test_a_folder_that_is_too_large_is_complained_of(tmp_path, monkeypatch):
    monkeypatch.setattr("coder.repository.repository.TOO_MANY_FILES", 1)
    for name in ("large", "small"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.py").write_text("x = 1\n")
    (tmp_path / "large" / "b.py").write_text("x = 1\n")
    reading = Reading(Knowledge(), ByteTokenizer(), lambda: False)
    assert read_through(reading, Repository(tmp_path / "large"), Repository(tmp_path / "small")) == [1]
    (failure,) = reading.complaints
    assert "large holds more than" in failure.message and ".coderignore" in failure.hint


def test_a_link_out_of_the_workspace_is_not_of_it(tmp_path):
    (tmp_path / "project").mkdir()
    (tmp_path / "outside.py").write_text("x = 1\n")
    (tmp_path / "project" / "link.py").symlink_to(tmp_path / "outside.py")
    workspace = Workspace()
    assert workspace.set_folders([(tmp_path / "project").as_uri(), (tmp_path / "missing").as_uri()]) != []
    assert not workspace.admits((tmp_path / "project" / "link.py").as_uri())
    assert workspace.admits((tmp_path / "project" / "a.py").as_uri())
    assert workspace.admits("untitled:Untitled-1")
    assert not workspace.admits("https://example.org/a.py")


# -- settings ----------------------------------------------------------------------------------------------------------


def test_settings_that_make_no_sense_are_named_and_left():
    settings, complaints = Settings().updated({"threshold": 2, "multiline": "never", "maxTokens": 5.0, "model": ""})
    assert settings == Settings(multiline="never", max_tokens=5)
    assert [complaint.split()[2] for complaint in complaints] == ["coder.model", "coder.threshold"]
    assert Settings().updated(None) == (Settings(), [])

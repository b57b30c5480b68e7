from __future__ import annotations

import errno
import subprocess
import sys

import pytest

from coder.exit_status import ExitStatus
from coder.failure import Failure
from coder.patch import Version
from sandbox.jailed import JailBroken
from sandbox.testing.report import TestsNotRun
from tests.coder.cli.harness import FakeTester, fake_search, report

OLD, NEW = b"def clamp(x):\r\n    return min(x, 0)\r\n", b"def clamp(x):\r\n    return max(x, 0)\r\n"
DIFF = "--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n def clamp(x):\r\n-    return min(x, 0)\r\n+    return max(x, 0)\r\n"
PROOF = "1 failing test now passes, 1 other still passes, confirmed twice in a fresh sandbox"


def test_nobody_to_ask_shows_the_diff_and_changes_nothing(coder, project):
    done = coder("fix")
    assert (done.status, done.stdout) == (ExitStatus.NOT_APPLIED, DIFF)
    assert PROOF in done.stderr and "--apply" in done.stderr
    assert "correct" not in (done.stdout + done.stderr).lower()
    assert (project / "a.py").read_bytes() == OLD
    assert coder.tester.closed


def test_the_diff_on_stdout_is_a_patch(coder, project):
    done = coder("fix", "--dry-run")
    assert done.status == ExitStatus.NOT_APPLIED
    subprocess.run(["git", "apply", "-"], input=done.stdout.encode(), cwd=project, check=True)
    assert (project / "a.py").read_bytes() == NEW


def test_apply_undo_redo_log(coder, project):
    done = coder("fix", "--apply")
    assert done.status == ExitStatus.DONE and (project / "a.py").read_bytes() == NEW
    assert "applied to a.py" in done.stderr and "coder undo" in done.stderr
    assert "`min` → `max` in clamp" in coder("log").stdout
    assert coder("undo", "--dry-run").stdout.splitlines()[-1].startswith("+    return min")
    assert coder("undo").status == ExitStatus.DONE and (project / "a.py").read_bytes() == OLD
    assert coder("redo").status == ExitStatus.DONE and (project / "a.py").read_bytes() == NEW
    (project / "a.py").write_text("mine\n")
    refused = coder("undo")
    assert refused.status == ExitStatus.CONFLICT and "a.py" in refused.stderr
    assert (project / "a.py").read_text() == "mine\n"


def test_undo_and_log_from_a_folder_within_the_project(coder, project):
    coder("fix", "--apply")
    coder.project = project / "sub"
    coder.project.mkdir()
    done = coder("log")
    assert "`min` → `max` in clamp" in done.stdout and f"in {project}:" in done.stderr
    assert coder("log", "--json").stderr == ""
    assert coder("undo", "--dry-run").stdout.splitlines()[-1].startswith("+    return min")
    done = coder("undo")
    assert done.status == ExitStatus.DONE and f"in {project}:" in done.stderr
    assert (project / "a.py").read_bytes() == OLD
    assert coder("redo", "..").status == ExitStatus.DONE and (project / "a.py").read_bytes() == NEW


def test_undo_where_nothing_was_changed_leaves_no_trace(coder, project):
    (project / "sub").mkdir()
    for path in ".", "sub", "nowhere":
        assert coder("undo", path).status == ExitStatus.CONFLICT
    assert not (coder.home / "state" / "journal").exists()


@pytest.mark.parametrize(
    "answers, status, content",
    [("a\n", 0, NEW), ("s\n", 5, OLD), ("q\n", 5, OLD), ("what\n\nA\n", 0, NEW), ("", 5, OLD)],
)
def test_interactive_choice(coder, project, answers, status, content):
    done = coder("fix", answers=answers)
    assert (done.status, (project / "a.py").read_bytes()) == (status, content)
    assert "[a]pply / [s]kip / [q]uit" in done.stderr


def test_of_several_patches_the_second_can_be_chosen(coder, project):
    coder.parts["search"] = fake_search(("min", "max"), ("0", "1"))
    done = coder("fix", "--all", answers="s\na\n")
    assert done.status == 0 and "proved (2 of 2)" in done.stderr
    assert b"min(x, 1)" in (project / "a.py").read_bytes()


def test_json_lines(coder):
    done = coder("fix", "--json", "--apply")
    types = [event["type"] for event in done.events]
    assert types == [
        "start", "tested", "tested", "test_run", "localized", "candidate", "candidate", "candidate", "patch", "applied",
        "result",
    ]  # fmt: skip
    result = done.events[-1]
    assert (result["status"], result["exit_code"], result["candidates"], result["patches"]) == ("done", 0, 3, 1)
    assert done.events[-3]["diff"] == DIFF and done.events[-3]["proof"] == PROOF
    assert done.stderr == ""


def test_json_never_asks_and_ends_with_a_result_also_in_failure(coder):
    done = coder("fix", "--json", answers="a\n")
    assert [event["type"] for event in done.events][-2:] == ["rejected", "result"]
    assert done.events[-1]["exit_code"] == done.status == ExitStatus.NOT_APPLIED
    coder.tester = FakeTester([report("test_a.py::test_two", "passed")])
    done = coder("fix", "--json")
    assert done.events[-1]["status"] == "nothing_failing" and done.status == ExitStatus.NOTHING_FAILING


def test_tokens_are_taken_out_of_json(coder):
    coder.tester = FakeTester([report("test_a.py::test_one[ghp_" + "a1" * 18 + "]")])
    assert "ghp_" not in coder("fix", "--json").stdout


def test_json_ends_with_a_result_whatever_happens(coder):
    coder.parts["search"] = lambda context, listener: 1 / 0
    done = coder("fix", "--json")
    assert done.events[-1]["exit_code"] == done.status == ExitStatus.INTERNAL_ERROR
    assert "ZeroDivisionError" in done.events[-1]["message"] and "ZeroDivisionError" in done.stderr
    again = coder("do", "fix the failing tests", "--json")
    assert again.status == ExitStatus.INTERNAL_ERROR
    assert [event["type"] for event in again.events].count("result") == 1

    def full(context, listener):
        raise OSError(errno.ENOSPC, "No space left on device")

    coder.parts["search"] = full
    done = coder("fix", "--json")
    assert done.events[-1]["exit_code"] == done.status == ExitStatus.INTERNAL_ERROR
    assert "the disk is full" in done.events[-1]["message"] and "the disk is full" in done.stderr


@pytest.mark.parametrize("options", [["--nonsense"], ["--timeout", "soon"], ["--timeout", "-1"], ["none"]])
def test_json_ends_with_a_result_for_wrong_arguments_too(coder, options):
    done = coder("fix", "--json", *options)
    assert [event["status"] for event in done.events] == ["usage"]
    assert done.events[0]["exit_code"] == done.status == ExitStatus.USAGE and done.events[0]["message"]


def test_json_never_asks_for_trust(coder, project):
    (project / "coder.toml").write_text("timeout = 7\n")
    for words in ["fix"], ["do", "fix the failing tests"]:
        done = coder(*words, "--json", answers="y\n")
        assert [event["status"] for event in done.events] == ["untrusted"]
        assert done.status == ExitStatus.UNTRUSTED and done.stderr == ""
    assert coder("trust", "--check").status == ExitStatus.UNTRUSTED


@pytest.fixture
def git(project):
    """Runs git in the project, with an identity."""

    def run(*arguments):
        identity = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
        done = subprocess.run(["git", *identity, *arguments], cwd=project, check=True, capture_output=True, text=True)
        return done.stdout

    return run


@pytest.fixture
def committed(git):
    """The project as the first commit of a repository."""
    git("init", "-q")
    git("config", "user.name", "n")
    git("config", "user.email", "e@example.org")
    git("add", ".")
    git("commit", "-qm", "first")


def test_commit(coder, git, committed):
    assert coder("fix", "--apply").status == 0
    assert git("log", "--format=%s") == "first\n"
    coder("undo")
    assert coder("fix", "--apply", "--commit").status == 0
    assert git("log", "--format=%s") == "Fix: `min` → `max` in clamp\nfirst\n"
    assert PROOF in git("log", "-1", "--format=%b")


def test_that_there_is_nothing_to_commit_to_is_known_before_the_search(coder):
    searched = []
    coder.parts["search"] = lambda context, listener: searched.append(context) or []
    done = coder("fix", "--apply", "--commit")
    assert done.status == ExitStatus.USAGE and "no git repository" in done.stderr and not searched
    assert coder("fix", "--dry-run", "--commit").status == ExitStatus.NOT_REPAIRED and searched


def test_a_commit_that_would_take_the_users_own_changes_along_is_a_conflict(coder, project, git, committed):
    (project / "a.py").write_bytes(OLD + b"# mine\r\n")
    done = coder("fix", "--apply", "--commit")
    assert done.status == ExitStatus.CONFLICT and "a.py had changes of your own" in done.stderr
    assert (project / "a.py").read_bytes() == OLD + b"# mine\r\n" and "+    return max(x, 0)" in done.stdout
    assert "no changes yet" in coder("log").stderr
    told = coder("fix", "--apply", "--commit", "--json").events
    assert [event["type"] for event in told][-2:] == ["patch", "result"] and told[-1]["status"] == "conflict"
    assert git("log", "--format=%s") == "first\n"


def test_what_was_written_is_told_also_where_git_refuses_the_commit(coder, project, git, committed):
    hook = project / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    done = coder("fix", "--apply", "--commit", "--json")
    applied, result = done.events[-2:]
    assert (applied["type"], applied["paths"], applied["commit"]) == ("applied", ["a.py"], "")
    assert result["exit_code"] == done.status == ExitStatus.INTERNAL_ERROR and "did not commit" in result["message"]
    assert (project / "a.py").read_bytes() == NEW and git("log", "--format=%s") == "first\n"
    assert coder("undo").status == 0 and (project / "a.py").read_bytes() == OLD


def test_a_file_edited_during_the_search_is_a_conflict(coder, project):
    search = coder.parts["search"]

    def slow(context, listener):
        (project / "a.py").write_text("mine\n")
        return search(context, listener)

    coder.parts["search"] = slow
    done = coder("fix", "--apply")
    assert done.status == ExitStatus.CONFLICT and (project / "a.py").read_text() == "mine\n"


@pytest.mark.parametrize(
    "reports, status, message",
    [
        ([report("t.py::a", "passed")], 3, "no test fails here"),
        ([report("t.py::a", flaky=True)], 3, "flaky, so they count for nothing: t.py::a"),
        ([report("t.py", "error", collected=False, missing_module="numpy")], 8, "does not have: numpy"),
        ([report("t.py::a", needs_network=True)], 8, "need the network"),
        ([report("t.py", "error", collected=False, error="SyntaxError", message="x\nbad")], 4, "SyntaxError: bad"),
    ],
)  # fmt: skip
def test_what_the_tests_say_before_the_search(coder, reports, status, message):
    coder.tester = FakeTester(reports)
    coder.parts["search"] = fake_search()
    done = coder("fix")
    assert done.status == status
    assert message in done.stderr


def test_tests_that_a_patch_cannot_help_are_left_out_of_the_targets(coder):
    seen = []
    coder.parts["search"] = lambda context, listener: seen.append(context.targets) or []
    names = [report("t.py::a", needs_network=True), report("u.py", "error", missing_module="x"), report("t.py::b")]
    coder.tester = FakeTester(names)
    assert coder("fix").status == ExitStatus.NOT_REPAIRED
    assert seen == [("t.py::b",)]


def test_where_only_files_of_tests_would_help_it_says_how(coder):
    coder.parts["search"] = fake_search()
    coder.tester = FakeTester([report("sums.py::test_a", lines={"sums.py": frozenset({1, 2})})], ("sums.py",))
    assert "With --allow-test-edits" in coder("fix").stderr
    assert "With --allow-test-edits" not in coder("fix", "--allow-test-edits").stderr
    coder.tester.reports[0].lines["code.py"] = frozenset({7})
    assert "With --allow-test-edits" not in coder("fix").stderr


def test_a_module_of_the_project_that_is_missing_is_a_fault_like_any_other(coder, project):
    (project / "pkg").mkdir()
    (project / "pkg/__init__.py").write_text("")
    coder.parts["search"] = fake_search()
    coder.tester = FakeTester([report("t.py", "error", collected=False, missing_module="pkg.helpr")])
    assert coder("fix").status == ExitStatus.NOT_REPAIRED


@pytest.mark.parametrize(
    "wanted, targets",
    [
        (["t.py"], ("t.py::a", "t.py::C::b[1]")),
        (["t.py::C"], ("t.py::C::b[1]",)),
        (["t.py::C::b"], ("t.py::C::b[1]",)),
        (["sub/"], ("sub/u.py::a",)),
        (["t.py::a", "sub"], ("t.py::a", "sub/u.py::a")),
        (["./t.py::a", "sub/../sub/u.py"], ("t.py::a", "sub/u.py::a")),
    ],
)
def test_chosen_tests(coder, wanted, targets):
    seen = []
    coder.parts["search"] = lambda context, listener: seen.append(context.targets) or []
    coder.tester = FakeTester([report(node) for node in ("t.py::a", "t.py::C::b[1]", "sub/u.py::a", "tt.py::a")])
    coder("fix", *(word for name in wanted for word in ("--test", name)))
    assert seen == [targets]


def test_a_test_by_its_whole_path(coder, project):
    seen = []
    coder.parts["search"] = lambda context, listener: seen.append(context.targets) or []
    coder("fix", "--test", f"{project}/test_a.py::test_one")
    assert seen == [("test_a.py::test_one",)]


def test_a_module_that_lies_outside_of_the_project_is_not_called_missing_alone(coder, project, tmp_path):
    environment, sibling = tmp_path / "venv", tmp_path / "sibling"
    for folder in environment / "bin", environment / "lib/python3.12/site-packages", sibling / "other":
        folder.mkdir(parents=True)
    (environment / "bin/python").symlink_to(sys.executable)
    (environment / "lib/python3.12/site-packages/other.pth").write_text(f"{sibling}\n")
    coder.tester = FakeTester([report("t.py", "error", collected=False, missing_module="other")])
    done = coder("fix", "--python", str(environment))
    assert done.status == ExitStatus.TESTS_NOT_RUN
    assert f"editable form from {sibling}/other" in done.stderr and "Install them there" not in done.stderr


def test_a_test_that_does_not_exist(coder):
    for names in ["nowhere.py"], ["test_a.py", "nowhere.py"], ["test_a.py::test_none"]:
        done = coder("fix", *(word for name in names for word in ("--test", name)))
        assert done.status == ExitStatus.USAGE
        assert f"no test is named {names[-1]}" in done.stderr and "tests/test_cart.py" in done.stderr
    outside = coder("fix", "--test", "../test_a.py")
    assert outside.status == ExitStatus.USAGE and "is not in" in outside.stderr
    passing = coder("fix", "--test", "test_a.py::test_two")
    assert passing.status == ExitStatus.NOTHING_FAILING and "no failing test is named" in passing.stderr


@pytest.mark.parametrize(
    "options, said",
    [(["--test", "test_a.py"], "tests can be named for pytest"), (["--", "-x"], "what follows `--` is for pytest")],
)
def test_what_only_pytest_understands_is_refused_for_another_command(coder, options, said):
    done = coder("fix", "--test-cmd", "make check", *options)
    assert done.status == ExitStatus.USAGE and said in done.stderr and "`make check` decides" in done.stderr
    (coder.home / "config").mkdir(parents=True)
    (coder.home / "config/config.toml").write_text('test_command = "make all"\n')
    done = coder("fix", *options)
    assert done.status == ExitStatus.USAGE and "`make all` decides" in done.stderr


def test_limits_and_arguments_reach_the_engine(coder):
    seen = []
    coder.parts["search"] = lambda context, listener: seen.append(context) or fake_search()(context, listener)
    done = coder("fix", "--timeout", "7", "--max-candidates", "9", "--all", "--no-model", "--allow-test-edits")
    (context,) = seen
    assert (context.timeout_s, context.max_candidates, context.find_all) == (7.0, 9, True)
    assert context.load_model is None and context.allow_tests
    assert done.status == ExitStatus.NOT_REPAIRED and "--timeout" in done.stderr


def test_pytest_arguments_come_after_two_dashes(coder, monkeypatch):
    seen = []
    make = coder.parts.pop("make_tester")

    def make_tester(sandbox, tree, repository, settings, python, allow_tests):
        seen.append(settings.pytest_args)
        return make(sandbox, tree, None)

    monkeypatch.setattr("coder.parts.make_tester", make_tester)
    assert coder("fix", "--dry-run", "--", "-x", "-k", "one").status == ExitStatus.NOT_APPLIED
    assert seen == [("-x", "-k", "one")]


def test_failures_of_the_parts(coder):
    def refuse(sandboxed):
        raise Failure(ExitStatus.NO_SANDBOX, "no sandbox works on this machine", "install bubblewrap")

    def broken(nodes=(), progress=None):
        raise TestsNotRun("pytest found no tests here")

    def no_model(context, listener):
        context.load_model()

    coder.parts["search"] = no_model
    coder.parts["load_model"] = lambda: (_ for _ in ()).throw(Failure(ExitStatus.MODEL_FAILED, "no weights"))
    assert coder("fix").status == ExitStatus.MODEL_FAILED
    coder.tester.baseline = broken
    done = coder("fix")
    assert done.status == ExitStatus.TESTS_NOT_RUN and "found no tests" in done.stderr
    coder.parts["find_sandbox"] = refuse
    done = coder("fix")
    assert done.status == ExitStatus.NO_SANDBOX and "install bubblewrap" in done.stderr


def test_a_sandbox_that_breaks_is_told_and_no_bug(coder):
    def broken(*arguments, **named):
        raise JailBroken("the files do not fit in the sandbox: name folders that no test needs in .coderignore")

    coder.parts["search"] = broken
    in_the_search = coder("fix")
    coder.tester.baseline = broken
    for done in in_the_search, coder("fix"):
        assert done.status == ExitStatus.TESTS_NOT_RUN and ".coderignore" in done.stderr
        assert "bug" not in done.stderr
    assert coder.tester.closed


def test_interruption_and_bugs(coder, project):
    def interrupt(context, listener):
        raise KeyboardInterrupt

    coder.parts["search"] = interrupt
    done = coder("fix")
    assert done.status == ExitStatus.INTERRUPTED and "interrupted" in done.stderr
    assert coder.tester.closed and (project / "a.py").read_bytes() == OLD
    assert coder("fix", "--json").events[-1]["exit_code"] == ExitStatus.INTERRUPTED
    coder.parts["search"] = lambda context, listener: 1 / 0
    done = coder("fix")
    assert done.status == ExitStatus.INTERNAL_ERROR and "ZeroDivisionError" in done.stderr


def test_a_full_disk_while_copying(coder, monkeypatch):
    from sandbox.working_copy import WorkingCopy

    def full(root, files):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(WorkingCopy, "of", full)
    done = coder("fix")
    assert done.status == ExitStatus.INTERNAL_ERROR and "could not copy the project: the disk is full" in done.stderr


def test_usage(coder, tmp_path):
    assert coder("fix", str(tmp_path / "none")).status == ExitStatus.USAGE
    assert coder("fix", "--timeout", "-1").status == ExitStatus.USAGE
    assert coder("fix", "--nonsense").status == ExitStatus.USAGE
    assert coder("fxi").status == ExitStatus.USAGE
    assert coder("fix", "--python", "nowhere").status == ExitStatus.USAGE


def test_the_next_command_recovers_an_interrupted_change(coder, project):
    from coder.journal import Journal
    from coder.patch import Change
    from tests.coder.faults import Counting, Crash

    change = Change("a.py", Version(OLD, (project / "a.py").stat().st_mode & 0o777), Version(NEW, 0o644))
    rehearsal = Counting()
    journal = Journal(project, coder.home / "rehearsal", rehearsal)
    journal.apply([change], "")
    calls = rehearsal.count
    journal.undo()
    with pytest.raises(Crash):
        Journal(project, coder.home / "state", Counting(calls - 8, "crash")).apply([change], "")
    done = coder("config")
    assert "an interrupted change" in done.stderr
    assert coder("config").stderr.count("interrupted") == 0

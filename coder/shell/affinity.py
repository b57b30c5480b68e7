"""How well what a command does goes with what a question says, learned from the worked examples.

One logistic regression per feature of a command (a program, an option, a pair in a pipeline) over the terms of the
sentence.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np

from coder.shell.features import features

DATA = Path(__file__).with_name("data") / "affinity.npz"


class Affinity:
    """`terms` (V) and `names` (F) of features; `weights` [V, F] and `bias` [F]."""

    def __init__(self, terms: Sequence[str], names: Sequence[str], weights_VF: np.ndarray, bias_F: np.ndarray) -> None:
        self._terms = {term: at for at, term in enumerate(terms)}
        self._names = {name: at for at, name in enumerate(names)}
        self._weights_VF, self._bias_F = weights_VF, bias_F

    @classmethod
    def load(cls, path: Path = DATA) -> Affinity:
        with np.load(path, allow_pickle=False) as data:
            weights_VF = data["weights"].astype(np.float32) * data["scale"].astype(np.float32)
            return cls(data["terms"].tolist(), data["names"].tolist(), weights_VF, data["bias"].astype(np.float32))

    def judge(self, asked: Collection[str]) -> Judge:
        rows = [self._terms[term] for term in set(asked) if term in self._terms]
        logits_F = self._bias_F + self._weights_VF[rows].sum(0)
        return Judge(self._names, logits_F)


class Judge:
    """Scores commands for one question by how much of what it probably asks for they do, and how little else."""

    def __init__(self, names: dict[str, int], logits_F: np.ndarray) -> None:
        self._names = names
        self._probability_F = 1 / (1 + np.exp(-logits_F))

    def score(self, command: str) -> float:
        """The expected overlap (as Dice's coefficient) of the command's features with those that are asked for."""
        found = features(command)
        at = [self._names[name] for name in found if name in self._names]
        total = len(found) + float(self._probability_F.sum())
        return 2 * float(self._probability_F[at].sum()) / total if found else 0.0

    def likeliest(self, count: int) -> list[str]:
        order = np.argsort(-self._probability_F)[:count]
        by_place = {at: name for name, at in self._names.items()}
        return [by_place[int(at)] for at in order]


@lru_cache(maxsize=1)
def shipped() -> Affinity:
    return Affinity.load()

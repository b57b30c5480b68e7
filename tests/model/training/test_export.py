from __future__ import annotations

import json

from model.training.export import read_log, validated


def test_the_figures_are_those_of_the_weights_that_ship(tmp_path):
    """A run that goes on after its best step, and one that was begun anew in the same folder."""
    lines = [
        {"validation": {"conditioned": 9.0}, "step": 40, "minutes": 1},
        {"step": 60, "minutes": 2, "blind": 1.0, "conditioned": 1.0, "accepted": 0.5},
        {"validation": {"conditioned": 2.0}, "step": 40, "minutes": 3},
        {"validation": {"conditioned": 3.0}, "step": 80, "minutes": 4},
    ]
    log = tmp_path / "log.jsonl"
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    training, validation = read_log(log)
    assert [line["step"] for line in training] == [60]
    assert validated(validation, 40) == {"conditioned": 2.0}
    assert validated(validation, 60) is None

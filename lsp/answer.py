"""One completion from beginning to end: written as far as the model knows how to go on, and judged."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from typing import Any

from coder.completion.gates import Shown, judge
from coder.completion.prompt import Prompt
from coder.completion.situation import Situation
from coder.completion.stopping import Extent
from coder.completion.writer import Draft, Writer
from lsp.settings import Settings

_log = logging.getLogger(__name__)
FLOOR = 0.25  # of the threshold: a token less likely than that ends a completion


def answer(
    writer: Writer,
    prompt: Prompt,
    situation: Situation,
    extent: Extent,
    settings: Settings,
    modules: Collection[str],
    cancel: Any,
    heard: Callable[[Draft], None] = lambda draft: None,
    variant: int = 0,
) -> Shown | None:
    """What may be shown in a situation; None where cancelled or where there is nothing to go on from. `modules`: those
    that imports may name; `heard` and `variant`: as for `Writer.write`."""
    floor = settings.threshold * FLOOR
    draft = writer.write(prompt, situation, extent, settings.max_tokens, cancel, heard, variant, floor)
    if draft is None:
        return None
    shown = judge(draft, situation, settings.threshold, modules)
    if not shown.text:
        _log.debug("nothing shown: %s (confidence %.2f)", shown.reason, draft.confidence())
    return shown

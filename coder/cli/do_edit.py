"""`coder do` with the embedded default, for an edit: what it comes to, and whether that is applied."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coder.events import Rejected
from coder.exit_status import ExitStatus

if TYPE_CHECKING:
    from coder.cli.task_run import Runner
    from coder.verbs.asked import Wish


def edited(runner: Runner, wish: Wish) -> ExitStatus:
    """Raises Failure."""
    from coder.agent.verb import apply, edit

    environment, wishes = runner.environment, runner.wishes
    somebody = environment.interactive and not wishes.as_json
    if somebody:
        environment.tell("trying it on a copy …")
    found = edit(runner.engine, wish, wishes.limits.seconds)
    if wishes.applies is None and somebody:
        reason = "" if environment.ask("Apply it?", {"a": "apply", "d": "drop"}) == "a" else "declined"
    elif wishes.applies:
        reason = found.objection
    else:
        reason = "only shown, as asked" if wishes.applies is False else "nobody was there to ask"
    if not reason:
        apply(runner.engine, found)
        runner.finish(ExitStatus.DONE, found.tests)
        return ExitStatus.DONE
    runner.listener(Rejected(reason))
    if not wishes.as_json:
        environment.tell(f"not applied ({reason}): your files are as they were")
    runner.finish(ExitStatus.NOT_APPLIED, reason)
    return ExitStatus.NOT_APPLIED

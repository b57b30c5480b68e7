"""Which failing tests a repair is for, and what is told of the first run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from coder.exit_status import ExitStatus
from coder.failure import Failure
from coder.named_tests import selected, unknown

if TYPE_CHECKING:
    from sandbox.testing.report import Baseline

_NAMED = 3


def targets_of(
    baseline: Baseline,
    wanted: Sequence[str],
    files: Sequence[str],
    python: Path,
    notice: Callable[[str], None],
    advice: str = "",
    any_file: bool = True,
) -> tuple[str, ...]:
    """The failing tests, among those `wanted` (all when empty), that a patch could repair. `files` are the project's;
    what keeps a test out is told to `notice`, with `advice` on modules that are missing, if there is any, and where
    `any_file` may not be edited, that the tests run no code but their own. Raises Failure, with the reason, when there
    are no targets, or none of a name that is wanted."""
    if baseline.flaky:
        notice(f"flaky, so they count for nothing: {some(baseline.flaky)}")
    if failure := unknown(baseline, wanted):
        raise failure
    failing = [node for node in baseline.failing if not wanted or selected(baseline.tests[node], wanted)]
    if not failing:
        message = "no test fails here"
        if wanted:
            message = f"no failing test is named {' or '.join(wanted)}"
        elif baseline.flaky:
            message = "no test fails each time it is run"
        raise Failure(ExitStatus.NOTHING_FAILING, message)
    modules = [module for module in baseline.missing_modules if not _is_own(module, files)]
    beyond = [node for node in failing if baseline.tests[node].missing_module in modules]
    if beyond:
        notice(f"{python} lacks {', '.join(modules)}: {some(beyond)} cannot run{advice and '; '}{advice}")
    network = [node for node in failing if baseline.tests[node].needs_network]
    if network:
        notice(f"these need the network, which the sandbox does not have: {some(network)}")
    targets = tuple(node for node in failing if node not in beyond and node not in network)
    if not targets and beyond:
        raise Failure(
            ExitStatus.TESTS_NOT_RUN,
            f"the tests need modules that {python} does not have: {', '.join(modules)}",
            advice or "Install them there, or name the interpreter that has them with --python.",
        )
    if not targets:
        raise Failure(
            ExitStatus.TESTS_NOT_RUN,
            "all failing tests need the network, which the sandbox does not have",
            "Choose others with --test, or run them in the open with --no-sandbox if you trust this code.",
        )
    for node in targets:
        test = baseline.tests[node]
        if not test.collected:
            notice(f"{node} cannot be collected: {test.error}: {(test.message.splitlines() or [''])[-1]}")
    ran = {path for node in targets for path in baseline.tests[node].lines}
    if not any_file and ran and ran <= set(baseline.test_files):
        held = "the failing tests run no code outside of the files that hold them, and those are not repaired"
        notice(f"{held}: {some(sorted(ran))}. With --allow-test-edits they are")
    return targets


def _is_own(module: str, files: Sequence[str]) -> bool:
    """Whether the project itself should provide this module: then its absence is a fault like any other."""
    top = module.partition(".")[0]
    names = (f"{top}.py", f"{top}/", f"src/{top}.py", f"src/{top}/")
    return "." in module and any(path.startswith(names) for path in files)


def some(names: Sequence[str]) -> str:
    """The first few of the names, and how many more there are."""
    rest = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {rest} more" if rest > 0 else "")

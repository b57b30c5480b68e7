"""`coder doctor`."""

from __future__ import annotations

import json
import platform
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coder.exit_status import ExitStatus

if TYPE_CHECKING:
    from coder.environment import Environment
    from sandbox.doctor import Report


def doctor(
    context: typer.Context,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as one JSON object.")] = False,
) -> None:
    """Check the installation: which sandbox works here, and whether a dozen escapes from it are contained.

    Exit status 0 when all is well, 6 when there is no sandbox or an escape succeeded.
    """
    from sandbox.doctor import examine_machine

    environment = context.obj
    if not as_json:
        environment.tell("looking for a sandbox and trying to escape from it …")
    report = examine_machine()
    if as_json:
        print(json.dumps(_as_json(report)))
    else:
        _show(report, environment)
    if not report.sound:
        raise typer.Exit(ExitStatus.NO_SANDBOX)


def _show(report: Report, environment: Environment) -> None:
    facts = {"Python": f"{platform.python_version()} ({sys.executable})", "kernel": platform.release()}
    if report.level is not None:
        facts |= {"sandbox": report.level.value, "backend": report.backend}
    lines = [f"{name:<14}{value}" for name, value in (facts | report.facts).items()]
    for finding in report.findings:
        verdict = (
            f"ESCAPED  {finding.name}: {', '.join(finding.leaks)}" if finding.leaks else f"held     {finding.name}"
        )
        lines.append(f"  {verdict}")
    lines += [f"  note     {restriction}" for restriction in report.restrictions]
    print("\n".join(lines))
    if report.problem:
        environment.tell(report.problem)
    elif report.escapes:
        environment.tell(
            f"{len(report.escapes)} of {len(report.findings)} escapes succeeded: do not run untrusted code"
        )
    else:
        environment.tell(f"all {len(report.findings)} escapes that were tried were contained")


def _as_json(report: Report) -> dict[str, Any]:
    return {
        "sound": report.sound,
        "level": report.level.name if report.level else None,
        "backend": report.backend,
        "facts": report.facts,
        "escapes": [
            {"number": finding.number, "name": finding.name, "contained": not finding.leaks, "leaks": finding.leaks}
            for finding in report.findings
        ],
        "restrictions": report.restrictions,
        "problem": report.problem,
    }

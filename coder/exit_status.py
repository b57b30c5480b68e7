"""One exit status for the whole program; docs/exit_codes.md explains each."""

from enum import IntEnum


class ExitStatus(IntEnum):
    DONE = 0
    INTERNAL_ERROR = 1
    USAGE = 2
    NOTHING_FAILING = 3
    NOT_REPAIRED = 4
    NOT_APPLIED = 5
    NO_SANDBOX = 6
    UNTRUSTED = 7
    TESTS_NOT_RUN = 8
    MODEL_FAILED = 9
    CONFLICT = 10
    NOT_FINISHED = 11
    INTERRUPTED = 130

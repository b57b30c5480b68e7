"""Terminal tasks: the conversation with a model, its tools, approvals, the log, and the one diff at the end.

A task never touches the user's files: it works on a copy, commands run in the jail, and what comes out is a diff that
is made here from the copy's regular files.
"""

from coder.agent.route import Kind, route

__all__ = ["Kind", "route"]

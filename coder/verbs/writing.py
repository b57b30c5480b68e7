"""What the model writes of a function: a body where there is none, another body, a docstring.

A model of this size follows no instruction, it goes on with a text. So the text is made such that what is asked for
comes next: behind the function as it is, a comment says how the same function follows, and the model writes that.
"""

from __future__ import annotations

import ast
import builtins
import re
import textwrap
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from coder.exit_status import ExitStatus
from coder.failure import Failure
from coder.patch import Proposal, apply_edits
from coder.verbs.asked import Wish
from coder.verbs.project import Found, Project
from sandbox.trees import parse

if TYPE_CHECKING:
    from coder.completion.functions import Stub
    from coder.completion.knowledge import Knowledge
    from coder.completion.writer import Writer

DRAFTS = 6
"""Texts that the model is asked for, at most; the first is the likeliest, the others are sampled."""
_LEARNED = 500_000  # characters of the project that lend their words to a new body
_LONGEST = 100  # characters of a docstring
_SAYS_NOTHING = frozenset("the a an this is of function method def class docstring".split())
_USES = re.compile(r"\b(?:uses?|using)\s+`?([^\W\d][\w.]*)`?(?:\(\))?(?=\s*(?:[,;]|$|(?:and|instead|for|to|in)\b))")


def write(project: Project, wish: Wish, load: Callable[[], tuple[Any, Any]], cancel: Any) -> Iterator[Proposal]:
    """Different proposals that parse, the likeliest first; none where the model writes nothing that may be shown.
    `load` gives the model and its tokenizer. Raises Failure with USAGE where the function is not such that it can be
    done."""
    found = project.find(wish)
    author = Author(project, found, wish.goal, cache(load), cancel)
    make = {"complete": author.completed, "rewrite": author.rewritten, "describe": author.described}[wish.verb]
    seen: set[str] = set()
    for proposal in make():
        text = apply_edits(found.source.text, proposal.edits)
        if text not in seen and _parses(text):
            yield proposal
        seen.add(text)


@dataclass
class Author:
    """The model at work on one function."""

    project: Project
    found: Found
    goal: str
    load: Callable[[], tuple[Any, Any]]
    cancel: Any

    def completed(self) -> Iterator[Proposal]:
        """With a body in place of a stub."""
        from coder.completion.body import parted
        from coder.completion.functions import stub_at

        found = self.found
        stub = stub_at(found.source.text, found.start)
        if stub is None:
            again = f'coder do "rewrite the function {found.qualified} in {found.source.path}"'
            raise self._unfit("has a body already, or none on lines of its own", f"To have it written anew: {again}")
        before, after = parted(found.source.text, stub)
        before += f"# {self.goal}\n{stub.indentation}" if self.goal else ""
        for body in self._bodies(before, after, stub, self._words()):
            yield found.proposal(self.project, stub.start, stub.end, body, f"write the body of {found.qualified}")

    def rewritten(self) -> Iterator[Proposal]:
        """With another body that uses what the goal says it is to use."""
        from coder.completion.functions import Stub
        from coder.completion.knowledge import Nothing

        source, node = self.found.source, self.found.node
        if not self.found.body:
            raise self._unfit(
                "has no body to rewrite", f'To have one written: coder do "complete {self.found.qualified}"'
            )
        top, end = self._top(self.found.body), source.span(node)[1]
        indentation = source.indentation_of(source.line_of(top))
        stub = Stub(node.name, top + len(indentation), end, indentation)
        before = self._again(f"rewritten {self.goal}".strip(), top) + indentation
        old, wanted = _shape(self.found.body), self._wanted()
        for body in self._bodies(before, source.text[end:].replace("\r\n", "\n"), stub, Nothing()):
            new = parse(textwrap.dedent(indentation + body)).body
            if _shape(new) != old and wanted <= _names(new):
                yield self.found.proposal(self.project, stub.start, end, body, f"rewrite {self.found.qualified}")

    def described(self) -> Iterator[Proposal]:
        """With a docstring of one line."""
        if len(self.found.body) < len(self.found.node.body):
            raise self._unfit("has a docstring already", "Change it by hand.")
        top = self._top(self.found.body)
        indentation = self.found.source.indentation_of(self.found.source.line_of(top))
        lines = self._lines(self._again("with a docstring", top) + indentation)
        for line in [_quoted(self.goal)] if self.goal else lines:
            text = f'{indentation}"""{line}"""\n'
            yield self.found.proposal(self.project, top, top, text, f"describe {self.found.qualified}")

    # -- parts ---------------------------------------------------------------------------------------------------------

    def _bodies(self, before: str, after: str, stub: Stub, knowledge: Knowledge) -> Iterator[str]:
        from coder.completion.body import write_body
        from coder.completion.names import modules_of
        from coder.completion.situation import Situation

        writer, path = self._writer(knowledge), self.found.source.path
        situation = Situation("", path, "python", before, after, path)
        modules = set[str]().union(*(modules_of(*file) for file in self.project.files.items()))
        for variant in range(DRAFTS):
            body = write_body(writer, situation, stub, modules, self.cancel, variant)
            if body and _parses(textwrap.dedent(stub.indentation + body.lstrip())):
                yield body

    def _lines(self, before: str) -> Iterator[str]:
        """First lines of docstrings behind a text."""
        from coder.completion.knowledge import Nothing
        from coder.completion.prompt import prompt_behind
        from coder.completion.situation import Situation
        from coder.completion.stopping import Extent

        writer, path = self._writer(Nothing()), self.found.source.path
        situation = Situation("", path, "python", f'{before}"""', "", path)
        prompt = prompt_behind(situation)
        for variant in range(DRAFTS):
            draft = writer.write(prompt, situation, Extent(False), _LONGEST // 2, self.cancel, variant=variant)
            line = "" if draft is None else draft.text.partition('"""')[0].strip().rstrip(".")
            words = set(re.findall(r"[a-z]+", line.lower()))
            if len(line) < _LONGEST and words - _SAYS_NOTHING - set(self.found.node.name.lower().split("_")):
                yield line + "."

    def _again(self, how: str, upto: int) -> str:
        """The file to the end of the function, and from its first line on again, up to an offset in it."""
        source, node = self.found.source, self.found.node
        margin = source.indentation_of(node.lineno)
        text = f"{source.text[: source.span(node)[1]]}\n\n{margin}# The same, {how}.\n"
        return (text + source.text[source.line_start(node.lineno) : upto]).replace("\r\n", "\n")

    def _top(self, body: Sequence[ast.stmt]) -> int:
        """Where the line of the first of some statements begins. Raises Failure where that is the line of the `def`."""
        decorators = getattr(body[0], "decorator_list", [])
        top = self.found.source.line_start(min(one.lineno for one in (body[0], *decorators)))
        if top <= self.found.start:
            raise self._unfit("stands on one line", "Give its body a line of its own first.")
        return top

    def _wanted(self) -> set[str]:
        """The names that the goal says are to be used, where they are known ones."""
        known = _names([self.found.source.tree]) | set(dir(builtins))
        return {name.rpartition(".")[2] for name in _USES.findall(self.goal) if name.partition(".")[0] in known}

    def _words(self) -> Knowledge:
        """What the other files say, those first that mention the function."""
        from coder.completion.knowledge import Knowledge

        knowledge, left = Knowledge(), _LEARNED
        tokenizer = self.load()[1]
        others = {path: text for path, text in self.project.files.items() if path != self.found.source.path}
        for path in sorted(others, key=lambda path: self.found.node.name not in others[path]):
            left -= len(others[path])
            if left >= 0:
                knowledge.add(path, tokenizer.encode(others[path].replace("\r\n", "\n")))
        knowledge.build()
        return knowledge

    def _writer(self, knowledge: Knowledge) -> Writer:
        from coder.completion.writer import Writer

        return Writer(*self.load(), knowledge)

    def _unfit(self, why: str, hint: str) -> Failure:
        return Failure(ExitStatus.USAGE, f"{self.found.qualified} ({self.found.where}) {why}", hint)


def _shape(body: Sequence[ast.stmt]) -> str:
    return ast.dump(ast.Module(list(body), []))


def _names(trees: Sequence[ast.AST]) -> set[str]:
    """All names in them: read, set, defined, imported, and of attributes."""
    nodes = [node for tree in trees for node in ast.walk(tree)]
    return {getattr(node, kind, "") for node in nodes for kind in ("id", "attr", "name")}


def _quoted(text: str) -> str:
    """A text as it is written between three quotes."""
    text = text.replace("\\", "\\\\")
    return text.replace('"', '\\"') if '"""' in text or text.endswith('"') else text


def _parses(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return False
    return True

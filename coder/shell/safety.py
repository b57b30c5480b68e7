"""What a command may do, told by parsing it: only reads, changes files inside, or must not be run at all.

Fails closed: a program, a form of the shell or a place that is not known to be harmless refuses the whole command. The
jail holds whatever this judgement misses; this judgement is for what is applied outside of it, and for what people see.
"""

from __future__ import annotations

import itertools
import os
import re
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from coder.shell.features import inner_programs
from coder.shell.syntax import Command, Redirect, Script, ShellSyntaxError, Word, parse


class Effect(Enum):
    READS = "only reads"
    WRITES = "changes files inside the project"
    REFUSED = "is not run"


@dataclass(frozen=True)
class Safety:
    """`reason` says in words why it is refused; empty otherwise."""

    effect: Effect
    reason: str = ""


READERS = frozenset(
    "[ awk base64 basename bzcat cat cd cksum cmp column comm cut date diff dirname du echo egrep expand expr false "
    "fgrep file find fmt fold gawk grep head hexdump hostname id iconv join jq ls mawk md5sum nl numfmt od paste pr "
    "printf pwd read readlink realpath rev sed seq sha1sum sha224sum sha256sum sha512sum sort stat strings "
    "sum tac tail test tr true tsort type uname unexpand uniq wc which whoami xargs xxd xzcat yes zcat zgrep let "
    "local".split()
)
WRITERS = frozenset(
    "bunzip2 bzip2 chmod cp csplit gunzip gzip install ln mkdir mktemp mv patch rename rm rmdir rsync split tar tee "
    "touch truncate unlink unxz unzip xz zip dd".split()
)
_FORBIDDEN = {
    "sudo": "it asks for another user's rights", "su": "it asks for another user's rights",
    **dict.fromkeys("curl wget ssh scp sftp nc ncat telnet ftp ping dig host nslookup".split(), "it uses the network"),
}  # fmt: skip
_HARMLESS_KINDS = frozenset(
    "program command command_name word string raw_string string_content concatenation pipeline list number "
    "file_redirect redirected_statement file_descriptor simple_expansion expansion variable_name "
    "special_variable_name command_substitution process_substitution subshell negated_command variable_assignment "
    "for_statement while_statement do_group if_statement else_clause elif_clause test_command compound_statement "
    "unary_expression binary_expression test_operator brace_expression ansi_c_string arithmetic_expansion regex "
    "parenthesized_expression comment extglob_pattern subscript array herestring_redirect heredoc_body".split()
)
_DEVICES = {"/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/zero", "/dev/urandom"}
_OWN_VARIABLES = {"1", "@", "0", "#", "?", "PWD", "HOME", "IFS", "RANDOM"}
_SPLITS = re.compile(r"""\b(?:system|getline|popen)\b|\|\s*["&]|\bload\b""")

_ADDRESS = r"(?:\d+|\$|/(?:\\.|[^/\\])*/I?)"
_SED = re.compile(
    rf"(?:[\s;{{}}]*(?:{_ADDRESS}(?:,\s*(?:\+?\d+|{_ADDRESS}))?\s*!?\s*)?"
    r"(?:[sy](?P<d>[^\w\s\\])(?:(?:\\.|(?!(?P=d))[^\\])*(?P=d)){2}[gpIi\d]*"
    r"|[dpqQnNgGhHxD=](?=[\s;}]|$)|[aic]\\?[^\n]*))*[\s;}]*",
    re.DOTALL,
)  # plain edits: substitution, deletion, printing, inserted text; neither `e` nor `w` nor `r`


def classify(command: str, root: Path) -> Safety:
    """`root`: the folder in which the command would run; all that it names must be inside."""
    try:
        script = parse(command)
    except ShellSyntaxError as error:
        return Safety(Effect.REFUSED, str(error))
    odd = {kind for kind in script.kinds if kind.isidentifier() and len(kind) > 2 and "_" in kind} - _HARMLESS_KINDS
    if odd:
        return Safety(Effect.REFUSED, f"it uses a form of the shell that is not judged here ({sorted(odd)[0]})")
    if re.search(r"(?<![&>|])&(?![&>\d])", _unquoted(command)):
        return Safety(Effect.REFUSED, "it leaves something running in the background")
    effects = [_command(one, root) for one in script.commands] + [_redirect(one, root) for one in script.redirects]
    for found in effects:
        if found.effect is Effect.REFUSED:
            return found
    if any(found.effect is Effect.WRITES for found in effects):
        unknown = script.variables - _OWN_VARIABLES - _read_names(script)
        if unknown:
            return Safety(Effect.REFUSED, f"it writes, and what ${sorted(unknown)[0]} holds is not known")
        return Safety(Effect.WRITES)
    return Safety(Effect.READS)


def _read_names(script: Script) -> set[str]:
    return {word.text for one in script.commands if one.program == "read" for word in one.words}


def _unquoted(command: str) -> str:
    return re.sub(r"'[^']*'|\"(?:\\.|[^\"])*\"|\\.", "_", command)


def _command(command: Command, root: Path) -> Safety:
    if command.program is None:
        return Safety(Effect.REFUSED, "which program it runs is only known when it runs")
    inner = list(inner_programs(command))
    name = _program(command.program)
    if name in ("bash", "sh"):
        return _nested(command.words, root)
    verdict = _named(name, command.words, root)
    for inner_name, at in inner:
        if verdict.effect is Effect.REFUSED:
            return verdict
        end = next((i for i in range(at, len(command.words)) if command.words[i].text in ("\\;", ";", "+")), None)
        words = command.words[at + 1 : end]
        program = _program(inner_name)
        found = _nested(words, root) if program in ("bash", "sh") else _named(program, words, root)
        verdict = found if found.effect is not Effect.READS else verdict
    return verdict


def _program(name: str) -> str:
    folder, _, base = name.rpartition("/")
    return base if folder in ("/bin", "/usr/bin", "/usr/local/bin") else name


def _nested(words: tuple[Word, ...], root: Path) -> Safety:
    """`bash -c 'script' …`"""
    if len(words) < 2 or words[0].text != "-c" or words[1].value is None:
        return Safety(Effect.REFUSED, "it runs a shell whose script cannot be read here")
    return classify(words[1].value, root)


def _named(name: str, words: tuple[Word, ...], root: Path) -> Safety:
    if name in _FORBIDDEN:
        return Safety(Effect.REFUSED, f"`{name}`: {_FORBIDDEN[name]}")
    if name not in READERS and name not in WRITERS:
        return Safety(Effect.REFUSED, f"what `{name}` does is not judged here")
    for word in _places(name, words):
        if reason := _outside(word, root):
            return Safety(Effect.REFUSED, reason)
    texts = [word.text for word in words]
    values = [word.value or "" for word in words]
    writes = name in WRITERS
    if name == "find":
        writes = any(text in ("-delete", "-fprint", "-fprintf", "-fls", "-fprint0") for text in texts)
    elif name in ("awk", "gawk", "mawk", "sed"):
        program = "\n".join(values)
        if any(word.value is None and re.search(r"\$\(|`|<\(", word.text) for word in words) or _SPLITS.search(program):
            return Safety(Effect.REFUSED, f"the {name} program may run other programs")
        in_place = any(re.match(r"-[a-zA-Z]*i|--in-place", text) for text in texts)
        if name == "sed" and not _edits_only(words):
            return Safety(Effect.REFUSED, "the sed program is not one of plain edits: it may run or write something")
        writes = (name == "sed" and in_place) or (name != "sed" and bool(re.search(r"print[^;}]*>", program)))
    elif name == "sort":
        writes = any(text.startswith(("-o", "--output")) for text in texts)
        if any(text.startswith("--compress-program") for text in texts):
            return Safety(Effect.REFUSED, "sort would run another program")
    elif name == "tar":
        if any(re.match(r"--(to-com|checkpoint-a|use-comp|rsh|rmt|info|new-vol)|-I", text) for text in texts):
            return Safety(Effect.REFUSED, "tar would run another program")
        if any(re.match(r"-P|-[a-zA-Z]*P|--absolute", text) for text in texts):
            return Safety(Effect.REFUSED, "tar would write outside the project")
    elif name == "rm" and any(value.rstrip("/*") in ("", ".", "..", str(root)) for value in values if value):
        if any(re.match(r"-[a-zA-Z]*[rR]|--recursive", text) for text in texts):
            return Safety(Effect.REFUSED, "it removes the whole project")
    elif name in ("rsync", "zip", "split") and any(re.match(r"-e|--rsh|-T|--filter|-TT", text) for text in texts):
        return Safety(Effect.REFUSED, f"{name} would run another program")
    elif name in ("date", "hostname") and any(text.startswith(("-s", "--set", "-F")) for text in texts):
        return Safety(Effect.REFUSED, "it changes the machine's settings")
    return Safety(Effect.WRITES if writes else Effect.READS)


def _edits_only(words: tuple[Word, ...]) -> bool:
    plain = [word for word in words if not word.text.startswith("-")]
    given = [after for word, after in itertools.pairwise(words) if word.text in ("-e", "--expression")]
    if any(re.match(r"-\w*f|--file|-\w+e$|--expression=", word.text) for word in words):
        return False
    return all(_SED.fullmatch(word.value if word.value is not None else word.text[1:-1]) for word in given or plain[:1])


def _places(name: str, words: tuple[Word, ...]) -> list[Word]:
    """The words that may name files: not the texts of echo, nor the pattern or program that comes first."""
    if name in ("echo", "printf", "tr"):
        return []
    if name not in ("awk", "gawk", "mawk", "sed", "grep", "egrep", "fgrep", "zgrep"):
        return list(words)
    plain = [word for word in words if not word.text.startswith("-")]
    given = any(word.text in ("-e", "-f", "--file", "--regexp") for word in words)
    return plain if given else plain[1:]


def _redirect(redirect: Redirect, root: Path) -> Safety:
    if redirect.operator.startswith("<") or (redirect.operator.endswith("&") and redirect.target.text.isdigit()):
        reason = _outside(redirect.target, root) if redirect.operator == "<" else ""
        return Safety(Effect.REFUSED, reason) if reason else Safety(Effect.READS)
    if redirect.target.value in _DEVICES or redirect.target.text.isdigit():
        return Safety(Effect.READS)
    reason = _outside(redirect.target, root)
    return Safety(Effect.REFUSED, reason) if reason else Safety(Effect.WRITES)


def _outside(word: Word, root: Path) -> str:
    """Why the word may name a place outside `root`; empty if it does not."""
    text = word.value if word.value is not None else word.text.strip("\"'")
    if "=" in text and text.startswith("-"):
        text = text.split("=", 1)[1]
    if text.startswith("~"):
        return f"{text} is outside the project"
    if text.startswith("/") and text not in _DEVICES:
        inside = Path(os.path.normpath(text))
        if not inside.is_relative_to(root) and re.match(r"/[\w.]", text + "."):
            return f"{text} is outside the project" if text != "/" else "/ is outside the project"
    if ".." in text.split("/") and not Path(os.path.normpath(root / text)).is_relative_to(root):
        return f"{text} is outside the project"
    return ""

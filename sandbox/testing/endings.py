"""What ends a program at once or runs others, by language: a command that is judged by its exit status can be fooled
by it, and a repair needs it as good as never."""

from __future__ import annotations

import re

_SCRIPT = (
    r"\bprocess\s*\.\s*(?:exit|reallyExit|abort|kill|exitCode|on|once|binding|dlopen|emit|mainModule)\b|\bprocess\s*\[|"
    r"\bchild_process\b|\brequire\s*\(|\bimport\s*\(|\beval\s*\(|\bFunction\s*\(|\b__proto__\b|\bprototype\b|"
    r"\bconsole\s*\.\s*assert\s*=|\bglobalThis\b|\bDeno\s*\.\s*exit\b|\bSymbol\s*\.\s*toPrimitive\b"
)
_NATIVE = (
    r"\b_?_?exit\s*\(|\b_Exit\b|\bquick_exit\b|\babort\s*\(|\bexec[lv]p?e?\s*\(|\bsystem\s*\(|\bsignal\s*\(|"
    r"\blongjmp\b|\b__attribute__\b|\batexit\b|\basm\b|#\s*(?:define|include|pragma)\b"
)
_FORMS = {
    "[cm]?[jt]sx?": _SCRIPT,
    "go": r"\bos\s*\.\s*Exit\b|\bruntime\s*\.\s*Goexit\b|\bsyscall\b|\bunsafe\b|\bexec\s*\.\s*Command\b|^import\b",
    "rs": r"\bprocess\s*::\s*(?:exit|abort|Command)\b|\bunsafe\b|\bcatch_unwind\b|\bset_hook\b",
    "java": r"\bSystem\s*\.\s*exit\b|\bRuntime\b|\bhalt\s*\(|\bProcessBuilder\b|\breflect\b|^import\b",
    "c|h|cc|cpp|cxx|hpp|hh": _NATIVE,
    "sh|bash": r"\bexit\b|\btrap\b|\bkill\b|\bexec\b",
}
_BY_NAME = [(re.compile(rf".*\.(?:{name})"), re.compile(form, re.MULTILINE)) for name, form in _FORMS.items()]


# Tests that Rust keeps beside the code: up to the brace that ends them at the same depth.
_INLINE_TESTS = re.compile(r"^([ \t]*)#\[(?:cfg\(test\)|(?:\w+::)*test)\][\s\S]*?^\1\}", re.MULTILINE)


def found(path: str, text: str) -> list[str]:
    """Each such place in the text of a file, and each test inside it, as it is written there.

    Empty for a language that is not known.
    """
    inline = _INLINE_TESTS.finditer(text) if path.endswith(".rs") else ()
    tests = [f"a test inside of it, as `{' '.join(match[0].split())}`" for match in inline]
    for name, form in _BY_NAME:
        if name.fullmatch(path):
            return [f"`{' '.join(match[0].split())}`" for match in form.finditer(text)] + tests
    return []

"""What must not be read, copied or printed, whatever asks: files that hold secrets, and tokens inside text."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

MARK = "[redacted]"
"""What stands in a secret's place."""

_FILES = (
    ".env", ".env.*", "*.env", ".envrc", ".netrc", "_netrc", ".pgpass", ".my.cnf", ".npmrc", ".pypirc", ".htpasswd",
    ".git-credentials", ".dockercfg", "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "*.ppk", "*.kdbx", "*.jks",
    "*.keystore", "credentials", "credentials.json", "client_secret*.json", "service-account*.json",
    "secrets.yml", "secrets.yaml", "secrets.json", "secrets.toml", "*.tfstate", "*.tfvars", "*.ovpn",
)  # fmt: skip
_FOLDERS = frozenset({".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker"})
_HARMLESS = ("*.example", "*.sample", "*.template", "*.dist", "*.pub")
_CERTIFICATES = ("*.pem", "*.key", "*.p12", "*.pfx", "*.crt", "*.der")
_TEST_FOLDERS = frozenset({"test", "tests", "testing", "fixtures", "testdata"})

_TOKENS = re.compile(
    r"""
    -----BEGIN\ [A-Z ]*PRIVATE\ KEY-----.*?-----END\ [A-Z ]*PRIVATE\ KEY-----
    | \b(?:AKIA|ASIA)[0-9A-Z]{16}\b
    | \bgh[pousr]_[A-Za-z0-9]{36,}\b | \bgithub_pat_[A-Za-z0-9_]{40,}\b | \bglpat-[A-Za-z0-9_-]{20,}
    | \bsk-[A-Za-z0-9_-]{20,} | \bhf_[A-Za-z0-9]{30,}\b | \bxox[abprs]-[A-Za-z0-9-]{10,} | \bnpm_[A-Za-z0-9]{36}\b
    | \bpypi-[A-Za-z0-9_-]{50,} | \bAIza[0-9A-Za-z_-]{35}
    | \beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}
    """,
    re.VERBOSE | re.DOTALL,
)


def is_secret(path: str) -> bool:
    """Whether the name of the file at `path` (posix, relative) says that it holds secrets.

    Keys and certificates in a test folder are test data: the tests need them.
    """
    *folders, name = path.casefold().split("/")
    if not _FOLDERS.isdisjoint(folders):
        return True
    if any(fnmatchcase(name, pattern) for pattern in _HARMLESS):
        return False
    if any(fnmatchcase(name, pattern) for pattern in _CERTIFICATES):
        return _TEST_FOLDERS.isdisjoint(folders)
    return any(fnmatchcase(name, pattern) for pattern in _FILES)


def redact(text: str, keep_lines: bool = False) -> str:
    """`text` with everything that looks like an access token or a private key taken out. With `keep_lines` what follows
    stays on its line."""
    return _TOKENS.sub(lambda found: MARK + "\n" * found.group().count("\n") if keep_lines else MARK, text)

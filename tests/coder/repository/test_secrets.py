from __future__ import annotations

import pytest

from coder.repository.secrets import is_secret, redact


@pytest.mark.parametrize(
    "path", [".env", "a/.ENV", "x/.env.local", "id_rsa", "deep/id_ed25519", "certs/a.pem", ".aws/x", "k.kdbx"]
)
def test_secret(path):
    assert is_secret(path)


@pytest.mark.parametrize(
    "path", ["env.py", ".env.example", "environment.md", "tests/ca.pem", "id_rsa.pub", "credentials.py", "key.py"]
)
def test_not_secret(path):
    assert not is_secret(path)


@pytest.mark.parametrize(
    "token",
    ["AKIA" + "A1B2" * 4, "ghp_" + "a1" * 18, "sk-" + "x9" * 20, "hf_" + "Ab" * 17,
     "-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----"],
)  # fmt: skip
def test_redact(token):
    assert redact(f"before {token} after") == "before [redacted] after"


def test_lines_can_be_kept():
    key = "-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----"
    assert redact(f"a {key} b\nc", keep_lines=True) == "a [redacted]\n\n b\nc"


def test_ordinary_text_stays():
    text = "sk-short, risk-averse, AKIA, def ghp_x(): pass, 0123456789abcdef0123456789abcdef"
    assert redact(text) == text

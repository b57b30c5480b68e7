"""What is taken out of a text, and what is left in it."""

from __future__ import annotations

import pytest

from coder.agent.redact import Redactor

VARIABLES = {
    "MY_TOKEN": "hunter2hunter2",
    "PATH": "/usr/bin",
    "SHORT_TOKEN": "abc",
    "GIT_AUTHOR_NAME": "Ada Lovelace",
    "HTTP_AUTHORIZATION": "Custom 0123456789",
}


@pytest.fixture(scope="module")
def redact():
    return Redactor(VARIABLES)


@pytest.mark.parametrize(
    ("text", "kept", "gone"),
    [
        ("it is hunter2hunter2 here", "it is", "hunter2hunter2"),
        ("sends Custom 0123456789 along", "sends", "0123456789"),
        ('api_key = "abcdefgh1234"', "api_key", "abcdefgh1234"),
        ('"auth": "dXNlcjpwYXNz"', '"auth"', "dXNlcjpwYXNz"),
        ("postgres://me:secretpass@host/db", "postgres://me:", "secretpass"),
        ("AKIAABCDEFGHIJKLMNOP", "", "AKIAABCDEFGHIJKLMNOP"),
        # variables, wherever in a line they stand
        ("export DB_PASSWORD=correcthorse", "export DB_PASSWORD=", "correcthorse"),
        ("12\tDB_PASSWORD=correcthorse", "12\tDB_PASSWORD=", "correcthorse"),
        ("deploy.txt:12: DB_PASSWORD=correcthorse", "deploy.txt:12: DB_PASSWORD=", "correcthorse"),
        ('"Env": ["DB_PASSWORD=correcthorse"]', '"Env": ["DB_PASSWORD=', "correcthorse"),
        ("docker run -e API_TOKEN=abcd.efgh.ijkl image", "image", "abcd.efgh.ijkl"),
        ("DB_PASSWORD = correcthorse", "DB_PASSWORD = ", "correcthorse"),
        # settings
        ("password: hunter3hunter3", "password: ", "hunter3hunter3"),
        ("  12\t  password: hunter3hunter3", "password: ", "hunter3hunter3"),
        ("app.yml:3: db_password: hunter3hunter3 # ours", "# ours", "hunter3hunter3"),
        ("password = s3cretword", "password = ", "s3cretword"),
        ("client-secret=abcdef123456", "client-secret=", "abcdef123456"),
        ("apiKey: abcdef123456", "apiKey: ", "abcdef123456"),
        ("POSTGRES_PASSWORD: c0rrecthorse", "POSTGRES_PASSWORD: ", "c0rrecthorse"),
        ("curl --token=abcdef123456 host", "host", "abcdef123456"),
        ('curl -H "Authorization: Bearer abcdef123456"', "Authorization: Bearer ", "abcdef123456"),
    ],
)
def test_a_secret_goes_and_what_is_around_it_stays(redact, text, kept, gone) -> None:
    assert kept in redact(text) and gone not in redact(text)
    assert redact(redact(text)) == redact(text)


@pytest.mark.parametrize(
    "text",
    [
        "token = tokenizer.encode(text)",
        "token = next_token",
        "token: AccessToken",
        "  12\t_TOKENS = re.compile(",
        "TOKEN = get_token2(name)",
        "SECRET_KEY = DEFAULT_SECRET_KEY",
        "connect(PASSWORD=OTHER_PASSWORD, retries=3)",
        "if TOKEN == expected:",
        "if TOKEN==expectedvalue:",
        "Token::Punctuation1",
        "def f(password: str = ''):",
        "f(token=abcdef123456)",
        "password: required",
        "max_tokens: 1000000000",
        "tokenizer: bert-base-uncased-2",
        "tokenizer_name = 'bert-base-uncased'",
        "secretName: my-tls-secret-2",
        "GIT_AUTHOR_NAME=SomebodyElse1",
        'author = "somebody1"',
        "author: somebody-12345",
        "Ada Lovelace wrote it",
        "token: see https://example.org/a1b2c3d4",
        "TOKEN=$OTHER_VALUE_1",
        "password:\n12345678\n",
        "this is /usr/bin here",
    ],
)
def test_what_is_no_secret_stays(redact, text) -> None:
    assert redact(text) == text

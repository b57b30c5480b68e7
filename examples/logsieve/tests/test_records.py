import pytest

from logsieve import Record, read
from logsieve.records import parse


def test_parse():
    assert parse("GET /users/17 200 12.5ms") == Record("GET", "/users/17", 200, 12.5)


def test_time_may_be_missing():
    assert parse("GET /health 204 -").milliseconds is None


@pytest.mark.parametrize("status, failed", [(200, False), (404, False), (499, False), (500, True), (503, True)])
def test_failed(status, failed):
    assert Record("GET", "/", status, 1.0).failed is failed


def test_read_skips_blank_lines():
    assert len(list(read(["GET / 200 1ms\n", "\n", "GET / 200 2ms\n"]))) == 2

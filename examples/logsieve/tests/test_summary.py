from logsieve import read, summarise
from logsieve.table import table

LOG = """\
GET /users/1 200 10ms
GET /users/2 200 30ms
GET /users/3 500 20ms
POST /users 201 40ms
"""


def test_groups_by_route():
    summaries = summarise(read(LOG.splitlines()))
    assert [(summary.route, summary.requests) for summary in summaries] == [("GET /users/:id", 3), ("POST /users", 1)]


def test_error_rate_and_times():
    users = summarise(read(LOG.splitlines()))[0]
    assert round(users.error_rate, 3) == 0.333
    assert users.mean == 20
    assert users.p95 == 29


def test_route_without_times():
    (health,) = summarise(read(["GET /health 204 -"]))
    assert health.mean is None
    assert health.p95 is None


def test_table():
    assert table(summarise(read(LOG.splitlines()))).splitlines() == [
        "route           requests  errors  mean    p95",
        "GET /users/:id  3         33.3%   20.0ms  29.0ms",
        "POST /users     1         0.0%    40.0ms  40.0ms",
    ]

import pytest

from logsieve.routes import route_of


@pytest.mark.parametrize(
    "path, route",
    [
        ("/", "/"),
        ("/users", "/users"),
        ("/users/17", "/users/:id"),
        ("/users/17/orders/3", "/users/:id/orders/:id"),
        ("/files/0123456789abcdef", "/files/:token"),
        ("/files/abc", "/files/abc"),
        ("/search?q=17", "/search"),
    ],
)
def test_route_of(path, route):
    assert route_of(path) == route

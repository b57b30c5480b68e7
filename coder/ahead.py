"""A slow load begun before its result is needed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

T = TypeVar("T")


class Ahead(Generic[T]):
    """Loads once, in a thread of its own when it was started early, and gives the result, or raises what went wrong,
    whenever it is called. Leaving it waits for a load that has begun: a program must not end in the midst of one."""

    def __init__(self, load: Callable[[], T]) -> None:
        self._load = load
        self._result: Future[T] = Future()
        self._lock = threading.Lock()
        self._begun = False

    def start(self) -> None:
        with self._lock:
            if not self._begun:
                self._begun = True
                threading.Thread(target=self._run, name="loading", daemon=True).start()

    def __enter__(self) -> Ahead[T]:
        return self

    def __exit__(self, *error: object) -> None:
        if self._begun:
            self._result.exception()

    def __call__(self) -> T:
        self.start()
        return self._result.result()

    def _run(self) -> None:
        try:
            self._result.set_result(self._load())
        except BaseException as error:
            self._result.set_exception(error)

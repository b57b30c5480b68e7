"""Work in the background that may wait: done a moment after it was asked for, once for all who asked meanwhile, and not
while somebody waits for the model."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

_log = logging.getLogger(__name__)
DELAY = 0.5  # seconds between the first asking and the work
_LOOK = 0.02  # seconds between two looks at whether somebody waits


class Soon:
    """One piece of work, in a thread of its own while there is something to do. What is asked for while it runs is done
    after it."""

    def __init__(self, work: Callable[[], None], busy: Callable[[], bool], name: str) -> None:
        self._work = work
        self._busy = busy
        self._name = name
        self._changing = threading.Lock()
        self._asked = self._running = False
        self._stopped = threading.Event()

    def ask(self) -> None:
        """From any thread. Does nothing once it was stopped."""
        with self._changing:
            self._asked = True
            if self._running or self._stopped.is_set():
                return
            self._running = True
        threading.Thread(target=self._run, name=self._name, daemon=True).start()

    def stop(self) -> None:
        """Nothing is begun any more; what is under way ends by itself."""
        self._stopped.set()

    def _run(self) -> None:
        while True:
            self._stopped.wait(DELAY)
            while self._busy() and not self._stopped.wait(_LOOK):
                pass
            with self._changing:
                self._asked = False
            if not self._stopped.is_set():
                self._do()
            with self._changing:
                if not self._asked or self._stopped.is_set():
                    self._running = False
                    return

    def _do(self) -> None:
        try:
            self._work()
        except Exception as error:
            _log.warning("%s ended early: %s", self._name, type(error).__name__)

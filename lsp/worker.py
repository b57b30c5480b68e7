"""The one thread that uses the model. Completions come before everything else; work in the background gives way."""

from __future__ import annotations

import heapq
import itertools
import threading
from collections.abc import Callable
from concurrent.futures import Future
from enum import IntEnum
from typing import Any


class Urgency(IntEnum):
    """NOW: somebody waits. AHEAD: a guess at what is wanted next. IDLE: whenever nothing else is to do."""

    NOW = 0
    AHEAD = 1
    IDLE = 2


class Job:
    """A piece of work: its future (of None where it was cancelled before it began), and the flag that ends it early,
    which any thread may raise."""

    def __init__(self, work: Callable[[threading.Event], Any], urgency: Urgency) -> None:
        self.work = work
        self.urgency = urgency
        self.cancel = threading.Event()
        self.future: Future[Any] = Future()


class Worker:
    """Runs jobs one after the other, the most urgent first. A job that somebody waits for cancels a running guess."""

    def __init__(self) -> None:
        self._queue: list[tuple[int, int, Job]] = []
        self._count = itertools.count()
        self._wakes = threading.Condition()
        self._running: Job | None = None
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="model", daemon=True)
        self._thread.start()

    def submit(self, work: Callable[[threading.Event], Any], urgency: Urgency = Urgency.NOW) -> Job:
        """Queues a function of the job's cancel flag."""
        job = Job(work, urgency)
        with self._wakes:
            if self._closed:
                job.future.set_result(None)
                return job
            heapq.heappush(self._queue, (urgency, next(self._count), job))
            running = self._running
            if urgency is Urgency.NOW and running is not None and running.urgency is not Urgency.NOW:
                running.cancel.set()
            self._wakes.notify()
        return job

    @property
    def busy(self) -> bool:
        """Whether somebody waits for the model."""
        running = self._running
        return any(urgency is Urgency.NOW for urgency, _, _ in list(self._queue)) or (
            running is not None and running.urgency is Urgency.NOW
        )

    def close(self) -> None:
        """Cancels everything. Returns at once; the thread ends at its next look at the flag."""
        with self._wakes:
            self._closed = True
            for _, _, job in self._queue:
                job.cancel.set()
                job.future.set_result(None)
            self._queue.clear()
            if self._running is not None:
                self._running.cancel.set()
            self._wakes.notify()

    def _run(self) -> None:
        while True:
            with self._wakes:
                self._wakes.wait_for(lambda: self._queue or self._closed)
                if self._closed:
                    return
                job = heapq.heappop(self._queue)[2]
                self._running = job
            if job.cancel.is_set():
                job.future.set_result(None)
            else:
                try:
                    job.future.set_result(job.work(job.cancel))
                except BaseException as error:
                    job.future.set_exception(error)
            with self._wakes:
                self._running = None

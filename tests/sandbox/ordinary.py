"""Runs inside the jail: tries each need, prints a line for each."""

import asyncio
import getpass
import multiprocessing
import os
import pty
import pwd
import shutil
import socket
import sqlite3
import ssl
import subprocess
import tempfile
import threading
import zoneinfo
from multiprocessing import shared_memory


def square(number):
    return number * number


def need_temporary_files():
    with tempfile.NamedTemporaryFile() as handle:
        handle.write(b"x")


def need_localhost():
    assert socket.getaddrinfo("localhost", 80)


def need_pools():
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(square, [1, 2]) == [1, 4]


def need_spawned_pools():
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert pool.map(square, [1, 2]) == [1, 4]


def need_managers():
    with multiprocessing.Manager() as manager:
        shared = manager.dict()
        shared[1] = 2
        assert shared[1] == 2


def need_threads():
    threads = [threading.Thread(target=square, args=(1,)) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def need_subprocesses():
    assert subprocess.check_output(["sh", "-c", "echo hi"]) == b"hi\n"


def loopback(family, host):
    with socket.socket(family) as listener:
        listener.bind((host, 0))
        listener.listen()
        with socket.create_connection(listener.getsockname()[:2]) as client:
            client.send(b"x")
            assert listener.accept()[0].recv(1) == b"x"


def need_loopback_v4():
    loopback(socket.AF_INET, "127.0.0.1")


def need_loopback_v6():
    loopback(socket.AF_INET6, "::1")


def need_unix_sockets():
    with socket.socket(socket.AF_UNIX) as listener, socket.socket(socket.AF_UNIX) as client:
        listener.bind("socket")
        listener.listen()
        client.connect("socket")


def need_event_loops():
    assert asyncio.run(asyncio.sleep(0, 5)) == 5


def need_sqlite():
    with sqlite3.connect("a.db") as database:
        database.execute("create table t(x)")
        database.execute("insert into t values(1)")


def need_terminals():
    pid, terminal = pty.fork()
    if not pid:
        os.execvp("tty", ["tty"])
    assert b"/dev/pts" in os.read(terminal, 100)
    os.waitpid(pid, 0)


def need_git():
    who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q", "."], ["add", "ordinary.py"], [*who, "commit", "-qm", "x"]):
        subprocess.run(["git", *words], check=True, capture_output=True)


def need_users():
    assert getpass.getuser()
    assert pwd.getpwuid(os.getuid())


def need_home():
    with open(os.path.expanduser("~/x"), "w") as handle:
        handle.write("x")


def need_copying():
    shutil.copy2("ordinary.py", "copied.py")
    shutil.copytree(".", os.environ["TMPDIR"] + "/copied", ignore=shutil.ignore_patterns("socket", "pipe"))


def need_pipes():
    os.mkfifo("pipe")


def need_shared_memory():
    block = shared_memory.SharedMemory(create=True, size=100)
    block.close()
    block.unlink()


def need_modes():
    os.close(os.open("mode", os.O_CREAT))
    os.chmod("mode", 0o600)
    assert os.stat("mode").st_mode & 0o777 == 0o600


def need_certificates():
    ssl.create_default_context()


def need_time_zones():
    zoneinfo.ZoneInfo("Europe/Rome")


def need_processors():
    assert os.cpu_count()


if __name__ == "__main__":
    for name, need in list(globals().items()):
        if name.startswith("need_"):
            try:
                need()
                result = "works"
            except Exception as failure:
                result = repr(failure)
            print(name.removeprefix("need_"), result, flush=True)

"""Runs inside the jail: each command of a list on a fresh copy of the tree; says what it printed and changed.

Argument: the name of a file, in the current directory, with a JSON object {"commands", "modes", "seconds", "bytes"}.
Prints one JSON line a command. It is started as a plain script with the standard library alone.
"""

import base64
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile


def picture(root: str) -> dict:
    """Path -> (kind and permissions, size, time of change, target of a link)."""
    found = {}
    for folder, names, files in os.walk(root):
        for name in names + files:
            path = os.path.join(folder, name)
            status = os.lstat(path)
            link = os.readlink(path) if stat.S_ISLNK(status.st_mode) else None
            size = status.st_size if stat.S_ISREG(status.st_mode) else 0
            time = status.st_mtime_ns if stat.S_ISREG(status.st_mode) else 0
            found[os.path.relpath(path, root)] = (status.st_mode, size, time, link)
    return found


def dress(root: str, modes: dict) -> None:
    """Folders that hold nothing, permissions and times, as the user's tree has them; innermost first."""
    for path in sorted(modes, key=len):
        if not os.path.lexists(os.path.join(root, path)):
            os.makedirs(os.path.join(root, path), exist_ok=True)
    for path in sorted(modes, key=len, reverse=True):
        mode, time = modes[path]
        full = os.path.join(root, path)
        os.utime(full, ns=(time, time))
        os.chmod(full, mode)


def content(path: str, mode: int, bound: int) -> object:
    if not stat.S_ISREG(mode):
        return None
    os.chmod(path, stat.S_IMODE(mode) | 0o400)
    with open(path, "rb") as file:
        data = file.read(bound + 1)
    os.chmod(path, stat.S_IMODE(mode))
    return base64.b64encode(data).decode() if len(data) <= bound else None


def run(command: str, seconds: float, bound: int, where: str) -> tuple:
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(
            ["bash", "--noprofile", "--norc", "-c", command],
            stdin=subprocess.DEVNULL, stdout=out, stderr=err, cwd=where, start_new_session=True,
        )  # fmt: skip
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            code = None
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
        texts = []
        for stream in (out, err):
            stream.seek(0)
            texts.append(stream.read(bound).decode("utf-8", "replace"))
    return code, texts[0], texts[1]


def main() -> None:
    with open(sys.argv[1]) as file:
        task = json.load(file)
    os.unlink(sys.argv[1])
    where = os.getcwd()
    dress(where, task["modes"])
    store = os.path.join(tempfile.mkdtemp(), "tree")
    shutil.copytree(where, store, symlinks=True)
    before = picture(where)
    for command in task["commands"]:
        code, out, err = run(command, task["seconds"], task["bytes"], where)
        after = picture(where)
        changed = [path for path in {**before, **after} if before.get(path) != after.get(path)]
        files = {}
        for path in sorted(changed)[:1000]:
            full = os.path.join(where, path)
            mode, _, _, link = after.get(path, (0, 0, 0, None))
            files[path] = [mode, link, content(full, mode, task["bytes"]) if path in after else None]
        print(json.dumps([code, out, err, files, len(changed)]), flush=True)
        if changed:
            subprocess.run(["chmod", "-R", "u+rwX", where], stderr=subprocess.DEVNULL, check=False)
            for name in os.listdir(where):
                path = os.path.join(where, name)
                if os.path.isdir(path) and not os.path.islink(path):
                    shutil.rmtree(path, ignore_errors=True)
                else:
                    os.unlink(path)
            shutil.copytree(store, where, symlinks=True, dirs_exist_ok=True)


main()

"""Paths to routes: numbers and long hexadecimal parts become placeholders."""

import re

NUMBER = re.compile(r"\d+")
TOKEN = re.compile(r"[0-9a-f]{12,}")


def route_of(path: str) -> str:
    path, _, _ = path.partition("?")
    parts = []
    for part in path.split("/"):
        if NUMBER.fullmatch(part):
            parts.append(":id")
        elif TOKEN.fullmatch(part):
            parts.append(":token")
        else:
            parts.append(part)
    return "/".join(parts) or "/"

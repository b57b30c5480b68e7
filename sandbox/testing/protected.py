"""Which files decide what the tests say. A patch may not touch them unless the user allows it."""

from __future__ import annotations

import re
from pathlib import PurePosixPath


def words(text: str) -> frozenset[str]:
    """A set written as a paragraph."""
    return frozenset(text.split())


_FOLDERS = words(
    """
    test tests testdata __tests__ __mocks__ spec specs e2e cypress .github .gitlab .circleci .buildkite .husky
    .git
    """
)
_NAMES = words(
    """
    conftest.py pytest.ini .pytest.ini pytest.toml .pytest.toml tox.ini tox.toml setup.cfg pyproject.toml
    noxfile.py tasks.py sitecustomize.py usercustomize.py .coveragerc makefile justfile taskfile.yml
    .gitlab-ci.yml .travis.yml appveyor.yml .appveyor.yml azure-pipelines.yml jenkinsfile dockerfile
    package.json package-lock.json yarn.lock pnpm-lock.yaml tsconfig.json deno.json bunfig.toml cargo.toml
    build.gradle pom.xml go.mod rakefile gemfile phpunit.xml .mocharc.js .mocharc.json
    """
)
_PATTERNS = re.compile(
    r"test_.*\.py|.*_tests?\.(py|go|rb|exs|cc|cpp|rs)|tests?\.py|"
    r"((.*[-_])?tests?|test[-_].*)\.([cm]?[jt]sx?|c|cc|cpp|cxx|rs|java|kt)|.*\.(test|spec)\.[cm]?[jt]sx?|.*tests?\.(java|kt|cs)|"
    r"(jest|vitest|karma|playwright|cypress|babel|rollup|vite|webpack)\.(config|conf)\.[cm]?[jt]s(on)?|"
    r"requirements.*\.txt|.*\.pth|.*\.egg-info|.*\.snap"
)
# Java's way of writing `test_`.
_CASED = re.compile(r"Tests?[A-Z].*\.(java|kt|cs|swift)")


def is_protected(path: str) -> bool:
    """Whether the file at `path` (posix, relative to the root) is a test, or configures how tests are run."""
    place = PurePosixPath(path)
    folders = {part.casefold() for part in place.parts[:-1]}
    name = place.name.casefold()
    return bool(folders & _FOLDERS) or name in _NAMES or any((_PATTERNS.fullmatch(name), _CASED.fullmatch(place.name)))

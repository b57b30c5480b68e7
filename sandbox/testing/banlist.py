"""The words of the static gate: what a change may not newly bring in. `honesty` says how they are looked for."""

from __future__ import annotations

import re

from sandbox.testing.protected import words

BANNED_MODULES = words("""
    pytest _pytest py unittest mock nose doctest hypothesis inspect gc ctypes _ctypes signal atexit builtins
    __builtin__ importlib imp pkgutil runpy zipimport site sysconfig code codeop dis marshal pickle _pickle
    trace traceback tracemalloc linecache faulthandler pdb bdb types weakref threading _thread multiprocessing
    concurrent subprocess pty fcntl mmap resource posix nt _posixsubprocess socket select selectors ptrace cffi
    forbiddenfruit wrapt pluggy coverage bltns
""")
HARMLESS_MODULES = words("""
    __future__ abc argparse array base64 binascii bisect calendar cmath collections colorsys contextlib copy csv
    dataclasses datetime decimal difflib enum errno fnmatch fractions functools glob graphlib hashlib heapq hmac
    html io itertools json keyword locale logging math numbers operator pathlib posixpath pprint queue random re
    reprlib secrets shlex shutil statistics string stringprep struct tempfile textwrap time typing
    typing_extensions unicodedata urllib uuid zlib zoneinfo
""")
# What may newly be used of modules that also hold the keys to the process.
LIMITED = {
    "os": words("""
    path sep altsep linesep pathsep curdir pardir extsep name fspath fsencode fsdecode listdir scandir
    walk makedirs mkdir PathLike stat environ getenv strerror devnull DirEntry
"""),
    "sys": words("""
    maxsize version_info platform byteorder stdout stderr stdin argv float_info int_info getsizeof
    maxunicode getrecursionlimit setrecursionlimit intern getdefaultencoding getfilesystemencoding executable
    version
"""),
}
MAKERS = words("""
    make_dataclass new_class methodcaller reload __import__ getattr_static get_type_hints ForwardRef dictConfig
    fileConfig
""")
# Functions that get attributes by name: called with names that can be read, they are the same as the attributes.
LOOKUPS = words("getattr attrgetter get_field")
METACLASSES = words("ABCMeta EnumMeta EnumType")
# What describes a field of a data class, and the options that may take it out of comparisons.
FIELDS = words("field attrib ib")
EQUALITY = words("eq cmp")
BANNED_NAMES = MAKERS | words("""
    exec eval compile globals locals vars setattr delattr breakpoint exit quit __build_class__ __builtins__
    __loader__ __spec__
""")
FAKING_METHODS = words("""
    __eq__ __ne__ __lt__ __le__ __gt__ __ge__ __hash__ __bool__ __contains__ __instancecheck__ __subclasscheck__
    __subclasshook__ __getattr__ __getattribute__ __del__ __reduce__ __reduce_ex__ __prepare__ __mro_entries__
    __set_name__ __init_subclass__ __class__ __array_ufunc__ __array_function__ __iter_subclasses__
""")
COMPARISONS = words("""
    __eq__ __ne__ __lt__ __le__ __gt__ __ge__ __bool__ __contains__ __instancecheck__
""")
PLAIN_DUNDERS = words("""
    __name__ __qualname__ __doc__ __module__ __init__ __new__ __class__ __len__ __iter__ __next__ __enter__
    __exit__ __aenter__ __aexit__ __aiter__ __anext__ __call__ __str__ __repr__ __format__ __getitem__
    __setitem__ __delitem__ __contains__ __add__ __sub__ __mul__ __truediv__ __floordiv__ __mod__ __pow__
    __neg__ __abs__ __and__ __or__ __xor__ __eq__ __ne__ __lt__ __le__ __gt__ __ge__ __hash__ __bool__ __int__
    __float__ __index__ __post_init__ __copy__ __deepcopy__ __reversed__ __version__ __all__ __file__ __cause__
    __context__ __missing__ __set__ __get__ __slots__ __annotations__ __members__
""")
FRAME_NAMES = words("""
    f_back f_locals f_globals f_builtins f_code f_trace tb_frame tb_next gi_frame gi_code cr_frame cr_code
    ag_frame ag_code co_code co_consts func_globals func_code mro_entries
""")
SNIFFED = re.compile(
    r"(?i:pytest|conftest|unittest)|\bCI\b|TOX_ENV|GITHUB_ACTIONS|COVERAGE_|_getframe|/proc/|\btest_\w+|"
    # The sandbox: its folders, its variables, what runs the tests in it.
    r"/jail\b|/tmp/home\b|\b_coder_\w+|PYTHONNOUSERSITE|GIT_CONFIG_NOSYSTEM|PYTHONDONTWRITEBYTECODE|"
    # A format that reaches into a module.
    r"\{[\w.\[\]]*\._*(?:os|sys)\b|"
    r"__(?!main__|init__|all__|version__|name__)\w+__"
)
HIDDEN = re.compile("[\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")

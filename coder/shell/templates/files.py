"""What is done with one file or two as a whole: copies, links, archives, sizes, times, permissions, names."""

from __future__ import annotations

_MAKE = "creat|mak|build|generat"
_SHOW = "show|display|print|get|find|what|output|list|report|determin|check"
_TREE = "director|folder|recursiv|tree"
_PACK = "creat|mak|archiv|pack|compress|put|bundl|tar\\b"
_OPEN = "extract|unpack|untar|decompress|uncompress|unzip|restor|open"

ROWS: tuple[tuple[str, str, str], ...] = (
    # copies
    (f"cop(?:y|ies) !{_TREE}|all", "a.txt to b.txt", "cp a.txt b.txt"),
    ("cop(?:y|ies) preserv|keep attribut|permission|time|mode", "a.txt to b.txt", "cp -p a.txt b.txt"),
    ("cop(?:y|ies) overwrit not|without|don't|never", "a.txt to b.txt", "cp -n a.txt b.txt"),
    ("cop(?:y|ies) newer|updat", "a.txt to b.txt", "cp -u a.txt b.txt"),
    ("cop(?:y|ies) verbos", "a.txt to b.txt", "cp -v a.txt b.txt"),
    (f"cop(?:y|ies) {_TREE}|everything|all", "x/y to z/w", "cp -r x/y z/w"),
    ("cop(?:y|ies) content|inside|everything", "x/y to z/w", "cp -r x/y/. z/w"),
    (f"cop(?:y|ies) {_TREE}|all preserv|archiv|attribut", "x/y to z/w", "cp -a x/y z/w"),
    ("back.?up|safety !archiv|tar|zip", "a.txt", "cp a.txt a.txt.bak"),
    # moves and removals
    ("mov|renam !all|every|extension|files", "a.txt to b.txt", "mv a.txt b.txt"),
    (f"mov|renam {_TREE}", "x/y to z/w", "mv x/y z/w"),
    ("mov|renam overwrit not|without|don't|never", "a.txt to b.txt", "mv -n a.txt b.txt"),
    ("delet|remov|eras file !lines?|all|from|empty|contain|char|word|in\\b", "a.txt", "rm a.txt"),
    (f"delet|remov|eras {_TREE}|everything !empty|files|all", "x/y", "rm -r x/y"),
    ("delet|remov empty director|folder", "x/y", "rmdir x/y"),
    # links
    (f"symbolic|symlink|soft link|symlink|{_MAKE}|point to\\b", "b.txt to a.txt", "ln -s a.txt b.txt"),
    (f"symbolic|symlink|soft link|symlink|{_MAKE} as\\b", "a.txt as b.txt", "ln -s a.txt b.txt"),
    (f"hard link|{_MAKE}", "b.txt to a.txt", "ln a.txt b.txt"),
    ("target|point|where|lead|resolv link|symlink", "x/y", "readlink x/y"),
    # new files and folders
    (f"{_MAKE} director|folder !files|link|archiv|cop|tar|zip", "x/y", "mkdir -p x/y"),
    (f"{_MAKE} director|folder !files|link|archiv|cop|tar|zip", "'foo'", "mkdir -p foo"),
    (f"{_MAKE}|touch empty|new|blank file", "a.txt", "touch a.txt"),
    ("updat|touch|chang|set time|timestamp|date", "a.txt", "touch a.txt"),
    ("same|cop(?:y|ies) time|timestamp|date", "a.txt b.txt", "touch -r a.txt b.txt"),
    (f"{_MAKE}|writ|sav|put text|string|content|with|contain", "'foo' to a.txt", "echo 'foo' > a.txt"),
    # permissions
    (f"execut {_MAKE}|set|add|giv|permission", "a.sh", "chmod +x a.sh"),
    ("permission|chmod|mode chang|set|giv|chmod|to\\b", "permissions 644 a.txt", "chmod 644 a.txt"),
    (f"permission|chmod|mode {_TREE}", "permissions 644 x/y", "chmod -R 644 x/y"),
    (f"permission|mode {_SHOW} !chang|set|giv|octal|numer", "a.txt", "ls -l a.txt"),
    ("permission|mode octal|numer|number !chang|set|giv", "a.txt", "stat -c %a a.txt"),
    ("owner|own !chang|set|group", "a.txt", "stat -c %U a.txt"),
    ("group !chang|set|by\\b", "a.txt", "stat -c %G a.txt"),
    # sizes
    (f"size file|bytes|of\\b !{_TREE}|files|disk|human|sort", "a.txt", "stat -c %s a.txt"),
    (f"size file|bytes|of\\b !{_TREE}|files|disk|human|sort", "a.txt", "wc -c < a.txt"),
    ("size human|readable", "a.txt", "ls -lh a.txt"),
    ("disk|space|usage|size|used director|folder|usage|total", "./", "du -sh ."),
    ("disk|space|usage|size|used each|every|all|sub", "./", "du -h --max-depth=1 ."),
    ("disk|space|usage|size|used sort|largest|biggest", "./", "du -h . | sort -h"),
    # times and kinds
    ("modif|last|chang time|date|when !older|newer|set|touch|updat", "a.txt", "stat -c %y a.txt"),
    ("access time|date|when !set|touch|updat", "a.txt", "stat -c %x a.txt"),
    ("inode", "a.txt", "stat -c %i a.txt"),
    ("hard links|link|count", "a.txt", "stat -c %h a.txt"),
    ("detail|information|status|metadata|stat\\b !long", "a.txt", "stat a.txt"),
    ("type|kind file|what", "a.txt", "file a.txt"),
    ("mime|encod|charset", "a.txt", "file -i a.txt"),
    # names
    ("base.?name|file.?name|name only|just|base|path|without|extract|strip|part", "x/a.txt", "basename x/a.txt"),
    ("director|folder|parent|dirname only|just|part|path|extract|strip|name", "x/a.txt", "dirname x/a.txt"),
    ("absolut|full|real|canonical path", "a.txt", "realpath a.txt"),
    ("resolv|follow|canonical link|symlink", "a.txt", "readlink -f a.txt"),
    # archives
    (f"{_PACK} tar|archiv|ball !{_OPEN}|gz|compress|bz|zip", "x/y to a.tar", "tar -cf a.tar x/y"),
    (f"{_PACK} gz|compress|tgz|tar !{_OPEN}", "x/y to a.tar.gz", "tar -czf a.tar.gz x/y"),
    (f"{_PACK} bz !{_OPEN}", "x/y to a.tar.bz2", "tar -cjf a.tar.bz2 x/y"),
    (f"{_PACK}|zip zip !{_OPEN}|gz|list", "x/y to a.zip", "zip -r a.zip x/y"),
    (f"{_OPEN} tar|archiv|tgz|ball !into|zip", "a.tar", "tar -xf a.tar"),
    (f"{_OPEN} tar|archiv|tgz|ball into|to\\b|in\\b !zip", "a.tar to x/y", "tar -xf a.tar -C x/y"),
    (f"{_SHOW}|view content|files|list tar|archiv|tgz|ball !zip|extract", "a.tar", "tar -tf a.tar"),
    (f"{_OPEN} zip !into|gz", "a.zip", "unzip a.zip"),
    (f"{_OPEN} zip into|to\\b|in\\b !gz", "a.zip to x/y", "unzip a.zip -d x/y"),
    (f"{_SHOW}|view content|files|list zip !gz|extract", "a.zip", "unzip -l a.zip"),
    (f"gzip|compress !{_OPEN}|tar|archiv|zip.file|keep|content|lines|{_TREE}", "a.txt", "gzip a.txt"),
    (f"gzip|compress keep|original !{_OPEN}", "a.txt", "gzip -k a.txt"),
    ("bzip2? !decompress|uncompress", "a.txt", "bzip2 a.txt"),
    (f"{_OPEN}|gunzip gz|gunzip|gzip !tar", "a.gz", "gunzip a.gz"),
    (f"{_SHOW}|view|read|content compress|gz", "a.gz", "zcat a.gz"),
    ("count|number|how.many lines? compress|gz", "a.gz", "zcat a.gz | wc -l"),
    ("search|contain|match|lines? compress|gz", "'foo' a.gz", "zgrep 'foo' a.gz"),
    # pieces
    ("split lines?", "100 a.txt", "split -l 100 a.txt"),
    ("split size|bytes|mb|kb|each|of\\b", "10M a.txt", "split -b 10M a.txt"),
    ("split parts|pieces|chunks|equal !lines", "4 a.txt", "split -n 4 a.txt"),
    # listings
    ("list|show|display all|hidden|dot !recursiv|files.under", "./", "ls -A ."),
    ("list|sort|order time|date|newest|recent|modif !older|ago|days", "./", "ls -lt ."),
    ("list|sort|order size|largest|biggest !than|recursiv", "./", "ls -lS ."),
    ("newest|latest|most.recent file", "./", "ls -t . | head -n 1"),
    ("oldest file", "./", "ls -tr . | head -n 1"),
    ("newest|latest|most.recent files", "5 ./", "ls -t . | head -n 5"),
    ("largest|biggest files", "5 ./", "ls -S . | head -n 5"),
    ("only|just director|folders", "./", "ls -d ./*/"),
    # files named in a file, numbers, dates
    ("listed|whose.names|names.in|named.in delet|remov", "a.txt", "xargs rm < a.txt"),
    ("listed|whose.names|names.in|named.in count|number lines?", "a.txt", "xargs wc -l < a.txt"),
    ("listed|whose.names|names.in|named.in cop(?:y|ies)", "a.txt to x/y", "xargs -a a.txt cp -t x/y"),
    (f"listed|whose.names|names.in|named.in director|folder {_MAKE}", "a.txt", "xargs mkdir -p < a.txt"),
    ("numbers|sequence|count from|between|sequence to|through|and", "1 10", "seq 1 10"),
    ("date|today current|today|now !file|modif|older|newer|chang|access", "", "date"),
    ("date|today yyyy|iso|year-month !file|modif", "", "date +%F"),
    ("epoch|unix|seconds.since time|epoch|1970 !file|modif", "", "date +%s"),
)  # fmt: skip

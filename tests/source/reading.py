"""Reading C source: files, comments and strings taken out, statements at file scope, rows of tables."""
import functools
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
CSRC = ROOT / "csrc"
PLAIN_ROOMS = ("base", "ops", "program", "random", "math", "vm")

# What each room may include besides itself. The arrows of the house point from left to right:
#   base, ops, graph, features, rewrite    base, ops, program, vm    random, math before vm    graph, program before lower
# `program` knows the table of distributions (random/stream.h), which knows nothing but base.
ARROWS = {
    "base": set(),
    "ops": {"base"},
    "graph": {"base", "ops"},
    "features": {"base", "ops", "graph"},
    "rewrite": {"base", "ops", "graph", "features"},
    "random": {"base", "math"},
    "math": {"base", "ops"},
    "program": {"base", "ops", "random"},
    "vm": {"base", "ops", "program", "random", "math"},
    "lower": {"base", "ops", "graph", "program", "random"},
    "bind": {"base", "ops", "graph", "features", "rewrite", "random", "math", "program", "vm", "lower"},
}


def sources(*suffixes):
    """All files of csrc with one of the suffixes, sorted."""
    return sorted(p for p in CSRC.glob("*/*") if p.suffix in suffixes)


def room(path):
    return path.parent.name


def name(path):
    return path.relative_to(ROOT).as_posix()


_TOKENS = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def _blank(match):
    text = match.group(0)
    if text[0] == '"':
        return '""'
    if text[0] == "'":
        return "' '"
    return " " + "\n" * text.count("\n")


@functools.lru_cache(maxsize=None)
def code(path):
    """The text with comments and the insides of strings blanked, lines kept in place."""
    return _TOKENS.sub(_blank, path.read_text(encoding="utf-8"))


def includes(path):
    """What the file includes: (line, text between the quotes or brackets, whether it is quoted)."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        match = re.match(r'\s*#\s*include\s+(["<])([^">]+)[">]', line)
        if match:
            yield number, match.group(2), match.group(1) == '"'


def without_directives(text):
    """The text without preprocessor lines (and their continuations), lines kept in place."""
    return re.sub(r"(?m)^[ \t]*#(?:[^\n\\]|\\[^\n])*(?:\\\n(?:[^\n\\]|\\[^\n])*)*", lambda m: "\n" * m.group(0).count("\n"), text)


def scopes(text):
    """Statements with the depth of braces at which they stand: (line, depth, statement up to its ; or {).

    What follows the brace of a type's definition is told with the definition's head: `typedef struct A { A;`.
    """
    depth, start, line = 0, 0, 1
    begun, heads, prefix = None, [], ""
    for i, char in enumerate(text):
        if char == "\n":
            line += 1
        if begun is None and not char.isspace() and char not in "{};":
            begun, start = line, i
        if char in "{};":
            statement = prefix + " ".join(text[start:i].split()) + char if begun is not None else ""
            if begun is not None:
                yield begun, depth, statement
            begun, prefix = None, ""
            if char == "{":
                heads.append(statement)
                depth += 1
            elif char == "}":
                head = heads.pop() if heads else ""
                prefix = head + " " if re.match(r"(?:typedef |static |const )*(?:struct|union|enum)\b[^(=]*$", head) else ""
                depth -= 1


def rows(path):
    """The rows of a table: (macro, list of its arguments as written)."""
    text = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.S)
    for match in re.finditer(r"^([A-Z_]+)\(", text, re.M):
        yield match.group(1), _arguments(text, match.end())


def _arguments(text, i):
    arguments, current, depth, quoted = [], "", 0, False
    while True:
        char = text[i]
        if quoted:
            current += char
            if char == "\\":
                i += 1
                current += text[i]
            quoted = char != '"'
        elif char == '"':
            current += char
            quoted = True
        elif char == "," and depth == 0:
            arguments.append(current.strip())
            current = ""
        elif char == ")" and depth == 0:
            return arguments + [current.strip()]
        else:
            depth += {"(": 1, ")": -1}.get(char, 0)
            current += char
        i += 1

"""The C keeps the rules of the house: arrows between rooms, one place for memory, no hidden state, documented tables."""
import re
import shutil
import subprocess

import pytest

from tests.source import reading

SOURCES = reading.sources(".c", ".h", ".inc")
TABLES = reading.sources(".def")


def listed(problems):
    return "\n" + "\n".join(problems)


def test_the_source_was_found():
    assert len(SOURCES) > 30 and len(TABLES) >= 6
    assert {reading.room(p) for p in SOURCES} == set(reading.ARROWS)


def test_no_include_points_against_the_arrows():
    problems = []
    for path in SOURCES + TABLES:
        for line, target, _ in reading.includes(path):
            other = target.split("/")[0]
            if "/" in target and other in reading.ARROWS and other != reading.room(path) and other not in reading.ARROWS[reading.room(path)]:
                problems.append(f"{reading.name(path)}:{line}: {reading.room(path)} must not know {other}")
    assert not problems, listed(problems)


def test_includes_name_the_room_that_the_header_is_in():
    problems = []
    for path in SOURCES:
        for line, target, is_quoted in reading.includes(path):
            if is_quoted and not (reading.CSRC / target).exists() and (path.parent / target).exists():
                problems.append(f'{reading.name(path)}:{line}: write "{reading.room(path)}/{target}"')
    assert not problems, listed(problems)


def test_plain_rooms_know_neither_python_nor_numpy():
    problems = []
    for path in SOURCES:
        if reading.room(path) not in reading.PLAIN_ROOMS:
            continue
        problems += [f"{reading.name(path)}:{line}: includes {target}" for line, target, _ in reading.includes(path)
                     if target in ("Python.h", "structmember.h") or target.startswith("numpy/")]
        problems += [f"{reading.name(path)}: uses {word}" for word in re.findall(r"\bPy(?:_|Object|Mem_|Err_|Array_)\w*", reading.code(path))]
    assert not problems, listed(problems)


def test_numpys_headers_are_used_in_bind_and_lower_alone():
    problems = [f"{reading.name(path)}:{line}" for path in SOURCES if reading.room(path) not in ("bind", "lower")
                for line, target, _ in reading.includes(path) if target.startswith("numpy/")]
    assert not problems, listed(problems)


def calls(path, names):
    """Calls of functions by name, not as fields: (line, name)."""
    for number, line in enumerate(reading.code(path).splitlines(), 1):
        for match in re.finditer(r"(?<![\w.>])(" + names + r")\s*\(", line):
            yield number, match.group(1)


def test_all_memory_comes_from_one_place():
    names = r"malloc|calloc|realloc|free|aligned_alloc|posix_memalign|strdup|strndup|PyMem_\w+|PyObject_Malloc|PyObject_Calloc|PyObject_Realloc"
    problems = [f"{reading.name(path)}:{line}: {call}" for path in SOURCES if reading.name(path) != "csrc/base/mem.c"
                for line, call in calls(path, names)]
    assert not problems, listed(problems)


def test_no_call_that_does_not_know_the_room_it_writes_to():
    names = r"strcpy|strcat|sprintf|vsprintf|gets|alloca|strncpy|strncat|strtok|setjmp|longjmp|system"
    problems = [f"{reading.name(path)}:{line}: {call}" for path in SOURCES for line, call in calls(path, names)]
    assert not problems, listed(problems)


# Tables that Python's interface takes by pointers to non-const; nobody here writes to them.
_PYTHON_TABLES = re.compile(r"^(?:static )?(?:PyMethodDef|PyGetSetDef|PyMemberDef|PyType_Slot|PyType_Spec|PyModuleDef|PyModuleDef_Slot|PyStructSequence_\w+) "
                            r"|^static char \*\w+\[\] ?=")


def is_variable(statement):
    """Whether a statement at file scope, or a static one in a function, declares a variable."""
    head = statement.split("=")[0]
    if statement.startswith(("typedef", "extern", "_Static_assert")):
        return False
    if re.fullmatch(r"(?:struct|union|enum)(?: \w+)? ?(?:\{ ?)?;?", statement):
        return False  # a type by itself
    if statement.endswith("{") and "=" not in statement:
        return False  # a function's head, or a type's
    is_function_pointer = re.search(r"\(\*\s*(?:const )?\w+(?:\[\w*\])*\)\s*\(", head) is not None
    return "=" in statement or is_function_pointer or "(" not in head


def is_constant(statement):
    """Whether the declared variable itself is const: `const int x`, `const char *const names[]`."""
    head = statement.split("=")[0]
    if "*" in head:
        return re.search(r"\*\s*const\b[^*]*$", head) is not None
    return re.search(r"\bconst\b", head) is not None


def mutable_variables(path):
    text = reading.without_directives(reading.code(path))
    for line, depth, statement in reading.scopes(text):
        if depth > 0 and not statement.startswith("static "):
            continue
        if not is_variable(statement) or is_constant(statement) or _PYTHON_TABLES.match(statement):
            continue
        if re.match(r"^[A-Z_]+\(", statement) or statement in ("}", ";"):
            continue  # a macro that declares
        yield line, statement


def test_there_is_no_hidden_state():
    # The fault counter, the count of blocks and the spare ones belong to the process, as malloc does; so does the choice of the CPU's level.
    of_the_process = ("csrc/base/mem.c", "csrc/math/level.c")
    problems = [f"{reading.name(path)}:{line}: {statement}" for path in reading.sources(".c", ".inc") if reading.name(path) not in of_the_process
                for line, statement in mutable_variables(path)]
    assert not problems, listed(problems)


@pytest.mark.parametrize("text, hidden", [
    ("static int count;", True),
    ("static int count = 0;", True),
    ("static const char *names[3] = {0};", True),
    ("int (*hook)(void);", True),
    ("void f(void) { static int n; }", True),
    ("static const char *const names[3] = {0};", False),
    ("static const int n = 1;", False),
    ("static int f(int a);", False),
    ("static int f(int a) { int b = a; return b; }", False),
    ("typedef struct A { int b; } A;", False),
    ("enum { A = 1, B };", False),
    ("struct A { int b; };", False),
    ("static struct A { int b; } a;", True),
    ("static char *keywords[] = {0};", False),
    ("_Static_assert(1 <= 2, \"\");", False),
    ("static PyMethodDef methods[] = {0};", False),
    ("static const int (*const rules[])(int) = {0};", False),
    ("static const Rule rules[N] = {0};", False),
])
def test_hidden_state_is_told_from_constants(text, hidden, tmp_path):
    path = tmp_path / "a.c"
    path.write_text(text)
    assert bool(list(mutable_variables(path))) == hidden


def test_every_table_says_what_its_columns_mean():
    problems = []
    for path in TABLES:
        text = path.read_text(encoding="utf-8")
        macros = {macro for macro, _ in reading.rows(path)}
        opening = text[:text.find("*/")] if text.startswith("/*") else ""
        problems += [f"{reading.name(path)}: the opening comment does not show {macro}(...)" for macro in macros if f"{macro}(" not in opening]
        if not macros:
            problems.append(f"{reading.name(path)}: has no rows")
    assert not problems, listed(problems)


# Rows whose exception says all there is to say; columns that speak for themselves; rows that repeat another.
_WORDLESS = {"STATUS": {"OK", "NO_MEMORY", "INTERRUPTED"}, "DTYPE": None, "AGAIN": None}


def test_every_row_is_documented():
    problems = []
    for path in TABLES:
        for macro, arguments in reading.rows(path):
            excused = _WORDLESS.get(macro, set())
            if excused is None or arguments[0] in excused:
                continue
            if not re.fullmatch(r'(?:"[^"]+"\s*)+', arguments[-1].replace('\\"', "'")):
                problems.append(f"{reading.name(path)}: {arguments[0]} does not end with what it means")
    assert not problems, listed(problems)


def test_rows_are_listed_once():
    problems = []
    for path in TABLES:
        seen = set()
        for macro, arguments in reading.rows(path):
            if (macro, arguments[0]) in seen:
                problems.append(f"{reading.name(path)}: {arguments[0]} comes twice")
            seen.add((macro, arguments[0]))
    assert not problems, listed(problems)


def test_every_file_opens_with_what_it_is_for():
    problems = []
    for path in SOURCES + TABLES:
        text = path.read_text(encoding="utf-8")
        opening = text[:text.find("*/")] if text.startswith("/*") else ""
        if len(opening) < 40:
            problems.append(f"{reading.name(path)}: no opening comment")
    assert not problems, listed(problems)


def test_no_file_exceeds_1200_lines():
    problems = [f"{reading.name(path)}: {n} lines" for path in SOURCES for n in [len(path.read_text(encoding="utf-8").splitlines())] if n > 1200]
    assert not problems, listed(problems)


# A dispatch loop may jump to the general case of an instruction from its quick ones.
DISPATCH_LABELS = {"csrc/vm/vm.c": {"draw", "other"}}


def test_labels_are_the_one_exit_of_a_function():
    problems = []
    for path in SOURCES:
        for number, line in enumerate(reading.code(path).splitlines(), 1):
            match = re.match(r"\s*(\w+):\s*$", line)
            if match and match.group(1) not in {"fail", "done", "default"} | DISPATCH_LABELS.get(reading.name(path), set()):
                problems.append(f"{reading.name(path)}:{number}: label {match.group(1)}")
    assert not problems, listed(problems)


# Dispatch whose cases are flat and alike, which is easier to read in one piece.
LONG_FUNCTIONS = {"csrc/vm/vm.c": {"run_other", "run_pass"}}


def test_functions_fit_on_a_screen():
    lizard = pytest.importorskip("lizard")
    problems = []
    for path in reading.sources(".c"):
        for function in lizard.analyze_file.analyze_source_code(str(path), path.read_text(encoding="utf-8")).function_list:
            length = function.end_line - function.start_line + 1
            if length > 60 and function.name not in LONG_FUNCTIONS.get(reading.name(path), ()):
                problems.append(f"{reading.name(path)}:{function.start_line}: {function.name} has {length} lines")
    assert not problems, listed(problems)


def test_the_extension_exports_its_entry_alone():
    core = pytest.importorskip("pyscan._core")
    nm = shutil.which("nm")
    if nm is None:
        pytest.skip("needs nm")
    done = subprocess.run([nm, "-D", "--defined-only", core.__file__], capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip("nm cannot read the module: " + done.stderr)
    symbols = {line.split()[-1] for line in done.stdout.splitlines() if line.split()}
    # Sanitized builds carry the sanitizer's own marks; a linker may add the ends of sections.
    ours = {s for s in symbols if not re.match(r"_*(?:asan|ubsan|tsan|odr_asan|sancov)|_(?:init|fini|edata|end)$|__bss_start$", s)}
    assert ours == {"PyInit__core"}

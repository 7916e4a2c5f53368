"""Builds the extension module pyscan._core from csrc/ (the rest of the metadata is in pyproject.toml).

Environment variables: PYSCAN_WERROR=1 makes warnings errors; PYSCAN_SANITIZE=address,undefined builds with sanitizers;
PYSCAN_TEST_BUILD=1 adds the checks of test builds (graph verifier and program checker at every step).
"""
import os
import re
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from glob import glob

import numpy
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

here = os.path.dirname(os.path.abspath(__file__))
sources = sorted(os.path.relpath(p, here) for p in glob(os.path.join(here, "csrc", "*", "*.c")))
depends = sorted(os.path.relpath(p, here) for ext in ("h", "def", "inc") for p in glob(os.path.join(here, "csrc", "*", "*." + ext)))

if int(numpy.__version__.split(".")[0]) < 2:
    sys.exit(f"pyscan is built with NumPy 2 or later (and then runs with 1.26 too); this is NumPy {numpy.__version__}")

compile_args, link_args, macros = [], [], [("PYSCAN_NUMPY_VERSION", f'"{numpy.__version__}"')]
if sys.platform != "win32":
    # A tape's cells are small functions that jump to each other: where they begin in a line of the cache makes up to a fifth of a loop's time.
    compile_args = [
        "-std=c11", "-O3", "-falign-functions=64", "-fvisibility=hidden", "-ffp-contract=off", "-fno-math-errno", "-fno-strict-aliasing",
        "-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Wstrict-prototypes", "-Wno-unused-parameter",
        "-isystem", numpy.get_include(), "-isystem", sysconfig.get_path("include"),
    ]
    if os.environ.get("PYSCAN_WERROR"):
        compile_args.append("-Werror")
    if os.environ.get("PYSCAN_SANITIZE"):
        flags = ["-fsanitize=" + os.environ["PYSCAN_SANITIZE"], "-fno-omit-frame-pointer", "-g", "-O1"]
        compile_args += flags
        link_args += flags[:1]
        if "undefined" in os.environ["PYSCAN_SANITIZE"]:
            compile_args.append("-fno-sanitize-recover=undefined")
if os.environ.get("PYSCAN_TEST_BUILD"):
    macros.append(("PYSCAN_TEST_BUILD", "1"))

# NumPy's static library of distributions, for what the running NumPy does not give or gives otherwise (csrc/bind/npyrandom.c).
numpy_library = os.path.join(os.path.dirname(numpy.__file__), "random", "lib", "libnpyrandom.a")
if sys.platform != "win32" and os.path.exists(numpy_library):
    macros.append(("PYSCAN_HAVE_NPYRANDOM", "1"))
    link_args += ["-Wl,-exported_symbol,_PyInit__core"] if sys.platform == "darwin" else ["-Wl,--exclude-libs,ALL"]
else:
    numpy_library = None


def list_library(folder):
    """Writes npyrandom.inc: the functions that the table of distributions asks for and the library has. True when it is new."""
    with open(os.path.join(here, "csrc", "random", "dists.def")) as file:
        asked = set(re.findall(r'"(random_\w+)"', file.read()))
    with open(numpy_library, "rb") as file:
        found = set(re.findall(rb"(?<!\w)_?(random_\w+)\0", file.read()))
    text = "".join(f"NPYRANDOM({name})\n" for name in sorted(asked) if name.encode() in found)
    path = os.path.join(folder, "npyrandom.inc")
    if os.path.exists(path) and open(path).read() == text:
        return False
    with open(path, "w") as file:
        file.write(text)
    return True


def newest(paths):
    return max((os.path.getmtime(path) for path in paths), default=0.0)


class BuildChanged(build_ext):
    """Compiles files side by side, and only those that are newer than their object; a newer header or a changed command line
    renews all. (setuptools compiles one after the other, and all when anything has changed.)"""

    def build_extension(self, ext):
        compiler, stamp = self.compiler, os.path.join(self.build_temp, "command.txt")
        command = repr((compile_args, macros, sys.version_info[:2], [os.environ.get(name) for name in ("CC", "CPPFLAGS", "CFLAGS", "LDSHARED", "LDFLAGS")]))
        os.makedirs(self.build_temp, exist_ok=True)
        old = open(stamp).read() if os.path.exists(stamp) else ""
        fresh = self.force or old != command
        if numpy_library is not None:
            ext.include_dirs.append(self.build_temp)
            ext.extra_objects.append(numpy_library)
            fresh = list_library(self.build_temp) or fresh
        headers = newest([*depends, os.path.join(here, "setup.py")])

        def compile_changed(sources, output_dir=None, macros=None, include_dirs=None, debug=0, extra_preargs=None, extra_postargs=None,
                            depends=None):
            _, objects, extra, options, build = compiler._setup_compile(output_dir, macros, include_dirs, sources, depends, extra_postargs)
            arguments = compiler._get_cc_args(options, debug, extra_preargs)

            def one(target):
                source, ext = build[target]
                if fresh or not os.path.exists(target) or os.path.getmtime(target) < max(headers, os.path.getmtime(source)):
                    compiler._compile(target, source, ext, arguments, extra, options)
            with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
                list(pool.map(one, [target for target in objects if target in build]))
            return objects

        compiler.compile = compile_changed
        super().build_extension(ext)
        with open(stamp, "w") as file:
            file.write(command)


setup(
    license="BSD-3-Clause",  # here, since setuptools has changed its mind about the form in pyproject.toml
    cmdclass={"build_ext": BuildChanged},
    ext_modules=[
        Extension(
            "pyscan._core", sources, include_dirs=[os.path.join(here, "csrc")], depends=depends, define_macros=macros,
            extra_compile_args=compile_args, extra_link_args=link_args, libraries=["m"] if sys.platform != "win32" else [],
        )
    ]
)

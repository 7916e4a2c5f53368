"""Builds the extension module pyscan._core from csrc/ (the rest of the metadata is in pyproject.toml).

Environment variables: PYSCAN_WERROR=1 makes warnings errors; PYSCAN_SANITIZE=address,undefined builds with sanitizers;
PYSCAN_TEST_BUILD=1 adds the checks of test builds (graph verifier and program checker at every step).
"""
import os
import sys
import sysconfig
from glob import glob

import numpy
from setuptools import Extension, setup

here = os.path.dirname(os.path.abspath(__file__))
sources = sorted(os.path.relpath(p, here) for p in glob(os.path.join(here, "csrc", "*", "*.c")))
depends = sorted(os.path.relpath(p, here) for ext in ("h", "def", "inc") for p in glob(os.path.join(here, "csrc", "*", "*." + ext)))

compile_args, link_args, macros = [], [], []
if sys.platform != "win32":
    compile_args = [
        "-std=c11", "-O2", "-fvisibility=hidden", "-ffp-contract=off", "-fno-math-errno", "-fno-strict-aliasing",
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

setup(
    ext_modules=[
        Extension(
            "pyscan._core", sources, include_dirs=[os.path.join(here, "csrc")], depends=depends, define_macros=macros,
            extra_compile_args=compile_args, extra_link_args=link_args, libraries=["m"] if sys.platform != "win32" else [],
        )
    ]
)

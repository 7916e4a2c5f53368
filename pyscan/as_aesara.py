"""Importing this module makes `import aesara` give pyscan, from then on and in this process alone.

    pytest -p pyscan.as_aesara ...

runs a test suite that way; in a notebook, `pyscan.install_as("aesara")` does the same. An Aesara that is installed is not touched,
and must not have been imported before.

Relies on: names. Relied on by: nothing.
"""
from pyscan.names import install_as

install_as("aesara")

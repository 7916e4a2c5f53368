"""Runs the script beside this file, unchanged, and then calls the function that it compiled."""
import pathlib
import runpy

fn = runpy.run_path(str(pathlib.Path(__file__).with_name("issue.py")))["fn"]
print()
print(fn())

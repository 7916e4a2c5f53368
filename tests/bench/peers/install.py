"""Makes the environments of the peers: `python tests/bench/peers/install.py [PEER...]`; what can't be made is told and left out."""
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT))

from tests.bench.peers.systems import SYSTEMS  # noqa: E402

FOLDER = ROOT / "build" / "peers"


def python_of(name):
    """The interpreter of a peer's environment."""
    return FOLDER / name.lower() / "bin" / "python"


def find_pythons(versions):
    """Interpreters of these versions that are on the path and start, in this order."""
    for version in versions:
        for command in (f"python{version}", sys.executable):
            found = shutil.which(command)
            told = found and subprocess.run([found, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], capture_output=True, text=True)
            if told and told.returncode == 0 and told.stdout.strip() == version:
                yield found
                break


def install(name):
    """None, or why the peer could not be installed."""
    system, reason = SYSTEMS[name], f"no Python {' or '.join(SYSTEMS[name].pythons)} was found on the path"
    for python in find_pythons(system.pythons):
        shutil.rmtree(FOLDER / name.lower(), ignore_errors=True)
        for command in ([python, "-m", "venv", str(FOLDER / name.lower())], [str(python_of(name)), "-m", "pip", "install", "--quiet", *system.needs]):
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode != 0:
                lines = (done.stderr or done.stdout).strip().splitlines()
                reason = f"{python}: {lines[-1] if lines else 'no reason told'}"
                break
        else:
            return None
    shutil.rmtree(FOLDER / name.lower(), ignore_errors=True)
    return reason


def main(names):
    for name in names or [name for name, system in SYSTEMS.items() if system.needs]:
        reason = install(name)
        print(f"{name}: installed in {python_of(name).parents[1]}" if reason is None else f"{name}: not installed. {reason}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])

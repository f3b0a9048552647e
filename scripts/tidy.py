"""clang-tidy over the sources of a build: tidy.py BUILD_DIR [FILES...], run by lint.sh.

Most of clang-tidy's time goes to the headers a source includes, so sources of one folder with one set of flags are read as one text, which
takes a fifth of the time. A text in which anything is found (or whose sources clash) is looked at again source by source: only that is told.
A source that passed is not looked at again until it, a header or .clang-tidy changes."""
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CACHE = ROOT / ".cache/tidy"
TOGETHER = 12
NOT_FOR_CLANG = {"harness/emulate/runtime/report.cpp"}  # <backtrace.h> is GCC's own
# What a source defines at its left margin: two sources that define the same name are not read together.
DEFINED = re.compile(r"^(?:(?:struct|class|enum class) (\w+)|(?!using|namespace|return)\w[^\n(=;#]*?[ &*](\w+)(?:\(| =|\{|\[))", re.MULTILINE)


def sources() -> list[str]:
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *(f"{folder}/*.{end}" for folder in ("agent", "harness", "tests")
                            for end in ("cpp", "h"))], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    return [file for file in listed if (ROOT / file).exists()]


def commands(build: Path) -> dict[str, tuple[str, ...]]:
    """Each source's flags, without the compiler, its launcher and what is written where."""
    found: dict[str, tuple[str, ...]] = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        words = shlex.split(entry["command"])
        flags = words[next(i for i, word in enumerate(words) if word.startswith("-")):words.index("-o")]
        found.setdefault(os.path.relpath(entry["file"], ROOT), tuple(flags))
    return found


def stamp(shared: str, file: str) -> Path:
    return CACHE / hashlib.sha256(shared.encode() + (ROOT / file).read_bytes()).hexdigest()[:32]


def together(files: list[str], flags: dict[str, tuple[str, ...]]) -> list[list[str]]:
    """Sources to be read as one: of one folder, with the same flags, without a name in common. Alone: a program's main, which stands outside our
    namespaces, and what has settings of its own."""
    groups: list[tuple[object, set[str], list[str]]] = []
    for file in files:
        kind = (os.path.dirname(file), flags[file])
        names = {a or b for a, b in DEFINED.findall((ROOT / file).read_text())}
        if "main" in names or (ROOT / file).with_name(".clang-tidy").exists():
            groups.append((None, names, [file]))
            continue
        for other, taken, members in groups:
            if other == kind and len(members) < TOGETHER and not taken & names:
                taken |= names
                members.append(file)
                break
        else:
            groups.append((kind, names, [file]))
    return sorted((members for _, _, members in groups), key=len, reverse=True)


def clean(text: Path, flags: tuple[str, ...]) -> tuple[bool, str]:
    done = subprocess.run(["clang-tidy-14", "--quiet", str(text), "--", *flags], cwd=ROOT, capture_output=True, text=True)
    said = [line for line in done.stderr.splitlines() if not re.search(r"warnings? generated|^Suppressed|^Use -header", line)]
    return done.returncode == 0, done.stdout + "".join(line + "\n" for line in said)


def look_at(files: list[str], flags: tuple[str, ...], shared: str) -> bool:
    if len(files) > 1:
        text = CACHE / f"{stamp(shared, files[0]).name}.cpp"
        text.write_text("".join(f'#include "{ROOT / file}"  // NOLINT(bugprone-suspicious-include)\n' for file in files))
        passed, _ = clean(text, flags)
        text.unlink()
        if not passed:
            return all([look_at([file], flags, shared) for file in files])
    else:
        passed, said = clean(ROOT / files[0], flags)
        sys.stdout.write(said)
    if passed:
        for file in files:
            stamp(shared, file).touch()
    return passed


def main() -> int:
    build, known = Path(sys.argv[1]), sources()
    flags = commands(build)
    CACHE.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256((ROOT / ".clang-tidy").read_bytes())
    for file in known:
        if file.endswith(".h"):
            digest.update((ROOT / file).read_bytes())
    shared = digest.hexdigest()[:16]
    asked = sys.argv[2:] or [file for file in known if file.endswith(".cpp") and not file.startswith("tests/")]
    files = [file for file in asked if file in flags and file not in NOT_FOR_CLANG and not stamp(shared, file).exists()]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        passed = list(pool.map(lambda group: look_at(group, flags[group[0]], shared), together(files, flags)))
    if all(passed):
        print(f"lint: clang-tidy: {len(asked)} sources clean")
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())

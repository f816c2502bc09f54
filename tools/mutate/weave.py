"""Draws mutants, and writes a copy of the tree with all the drawn ones woven in: each chosen at run time (mutant.h)."""
import concurrent.futures
import filecmp
import hashlib
import json
import os
import random
import shutil
import subprocess
from pathlib import Path

import points

HERE = Path(__file__).resolve().parent
# Rooms of the tree by their folders. Sub-folders belong to them, but those that are a room of their own. Only C is mutated.
FOLDERS = {
    "plan": ("src/plan",), "agents": ("src/agents",), "run": ("src/pool", "src/run"),
    "frame": ("src/frame", "src/herds", "src/snapshot", "src/world"), "base": ("src/base",),
    "journal": ("src/journal",), "lua": ("src/lua",), "replay": ("src/record", "src/replay"),
    "observe": ("src/observe",), "api": ("src/api",),
    "service": ("src/service",), "supervise": ("src/service/supervise",), "zones": ("src/service/zones",),
    "tools/muster": ("tools/muster", "tools/program", "tools/lab"),
}
DEFINES = ["-D_GNU_SOURCE", '-DMUSTER_VERSION="0"', '-DMUSTER_MODULES_FOLDER="/"', '-DMUSTER_SCRIPTS_FOLDER="/"',
           "-DMUSTER_HAS_CTL", "-DMUSTER_HAS_ZONES"]
LUA_NAMES = ("lua5.4", "lua-5.4", "lua54")  # as in CMakeLists.txt


def lua_includes():
    for name in LUA_NAMES:
        asked = subprocess.run(["pkg-config", "--cflags-only-I", name], capture_output=True, text=True, check=False)
        if asked.returncode == 0:
            return asked.stdout.split()
    return []


def folder_of(file):
    """The room of a file: that with the longest folder that it lies in; None: it is of no room."""
    rooms = [(len(path), name) for name, paths in FOLDERS.items() for path in paths if file.startswith(f"{path}/")]
    return max(rooms)[1] if rooms else None


class Sources:
    """The tree, what can be mutated in it, and what a compiler says of single mutants; remembered in `work`."""

    def __init__(self, root, work, jobs):
        self.root, self.work, self.jobs = Path(root), Path(work), jobs
        self.compiler = os.environ.get("CC", "cc")
        self.flags = ["-std=gnu17", *DEFINES, f"-I{root}/include", f"-I{root}/src", *lua_includes(),
                      *(f"-I{path}" for path in [*sorted(self.root.glob("bench/*")), self.root / "tools/program",
                                                 self.root / "tests/examples"] if path.is_dir())]
        self.memory_path = self.work / "memory.json"
        self.memory = json.loads(self.memory_path.read_text()) if self.memory_path.exists() else {}
        headers = [sorted(self.root.glob(f"{part}/**/*.h")) for part in ("src", "include", "tools", "bench", "tests/examples")]
        self.context = self.hash_of([*sum(headers, []), HERE / "points.py"])[:16]

    @staticmethod
    def hash_of(paths):
        digest = hashlib.sha256()
        for path in paths:
            digest.update(path.read_bytes())
        return digest.hexdigest()

    def files_of(self, folder):
        paths = {path for room in FOLDERS[folder] for path in (self.root / room).rglob("*.[ch]")}
        return sorted(file for file in (str(path.relative_to(self.root)) for path in paths) if folder_of(file) == folder)

    def key(self, file, *rest):
        return ":".join([file, self.hash_of([self.root / file])[:16], self.context, *rest])

    def remember(self):
        """For the next run; what was found with other headers is of no use to it."""
        current = {key: value for key, value in self.memory.items() if f":{self.context}" in key}
        self.memory_path.write_text(json.dumps(current))

    # ----------------------------------------------------------------------------------------------------- finding

    def find(self, files):
        """All mutants of the files, by file."""
        missing = [file for file in files if self.key(file) not in self.memory]
        with concurrent.futures.ProcessPoolExecutor(self.jobs) as pool:
            found = pool.map(points.find, [str(self.root)] * len(missing), missing, [self.flags] * len(missing))
            for file, mutants in zip(missing, found):
                self.memory[self.key(file)] = [list(vars(mutant).values()) for mutant in mutants]
        self.remember()
        return {file: [points.Mutant(*values) for values in self.memory[self.key(file)]] for file in files}

    # ----------------------------------------------------------------------------------------------------- drawing

    def draw(self, candidates, seed, count, refused):
        """`count` of the candidates, or all of them where count is 0, in an order of which each mutant knows its own place:
        a change of the sources brings its own mutants in, and leaves the others that were drawn. Those that do not
        compile, or become the same machine code, are not drawn but counted in `refused`."""
        order = sorted(candidates, key=lambda mutant: mutant.place(seed))
        drawn = []
        while order and (not count or len(drawn) < count):
            batch = order[:count - len(drawn)] if count else order
            order = order[len(batch):]
            for mutant, verdict in zip(batch, self.judge(batch)):
                if verdict == "fine":
                    drawn.append(mutant)
                else:
                    refused[verdict] = refused.get(verdict, 0) + 1
        return drawn

    def judge(self, mutants):
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            verdicts = list(pool.map(self.judge_one, mutants))
            fine = [mutant for mutant, verdict in zip(mutants, verdicts) if verdict == "fine"]
            by_file = [[m for m in fine if m.file == file] for file in sorted({m.file for m in fine})]
            spoilt = {m.id for ms in pool.map(self.cannot_be_woven, by_file) for m in ms}
        for mutant in mutants:
            if mutant.id in spoilt:
                self.memory[self.key(mutant.file, mutant.id)] = "does not compile"
        self.remember()
        return ["does not compile" if m.id in spoilt else verdict for m, verdict in zip(mutants, verdicts)]

    def judge_one(self, mutant):
        key = self.key(mutant.file, mutant.id)
        if key not in self.memory:
            self.memory[key] = self.compare(mutant)
        return self.memory[key]

    def compare(self, mutant):
        """Whether a mutant compiles, and to other code than the original."""
        text = points.read(self.root / mutant.file)
        changed = text[:mutant.start] + (f"({mutant.becomes})" if mutant.becomes else ";") + text[mutant.end:]
        code = self.compile(mutant.file, changed)
        if code is None:
            return "does not compile"
        original_key = self.key(mutant.file, "code")
        if original_key not in self.memory:
            self.memory[original_key] = self.compile(mutant.file, text)
        return "same machine code" if code == self.memory[original_key] else "fine"

    def cannot_be_woven(self, mutants):
        """Those of a file's mutants with which it does not compile once they are woven in."""
        key = self.key(mutants[0].file, "woven", hashlib.sha256(" ".join(m.id for m in mutants).encode()).hexdigest())
        if key not in self.memory:
            text = points.read(self.root / mutants[0].file)

            def compiles(some):
                return self.compile(some[0].file, weave(text, list(enumerate(some, 1))), "-fsyntax-only") is not None

            self.memory[key] = [] if compiles(mutants) else [m.id for m in mutants if not compiles([m])]
        return [m for m in mutants if m.id in self.memory[key]]

    def compile(self, file, text, level="-O1"):
        """A hash of the object code, "" without any, or None where it does not compile. What is static is kept, so that
        headers have code."""
        folder = self.work / "compile"
        folder.mkdir(exist_ok=True)
        output = folder / f"{os.getpid()}-{random.getrandbits(64):x}.o"
        command = [self.compiler, *self.flags, level, "-w", "-g0", "-fwrapv", "-frandom-seed=0", "-fkeep-static-functions",
                   "-fkeep-inline-functions",
                   f"-iquote{self.root / os.path.dirname(file)}", "-include", HERE / "mutant.h", "-x", "c", "-c", "-", "-o", output]
        result = subprocess.run(command, input=text.encode("latin-1"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                check=False)
        if result.returncode:
            return None
        code = self.hash_of([output]) if output.exists() else ""
        output.unlink(missing_ok=True)
        return code


# ------------------------------------------------------------------------------------------------------------- weaving


def weave(text, numbered):
    """The text with each of the (number, mutant) woven in. Intervals of mutants nest, as the expressions do."""
    pieces, at = [], 0
    numbered = sorted(numbered, key=lambda pair: (pair[1].start, -pair[1].end, bool(pair[1].becomes), pair[0]))
    while numbered:
        outer = numbered[0][1]
        same = [pair for pair in numbered if (pair[1].start, pair[1].end) == (outer.start, outer.end)]
        inner = [pair for pair in numbered if pair not in same and pair[1].start < outer.end]
        numbered = [pair for pair in numbered if pair not in same and pair not in inner]
        pieces.append(text[at:outer.start])
        pieces.append(weave_one(text, outer.start, outer.end, same, inner))
        at = outer.end
    pieces.append(text[at:])
    return "".join(pieces)


def weave_one(text, start, end, same, inner):
    moved = [(number, shift(mutant, -start)) for number, mutant in inner]
    woven = weave(text[start:end], moved)
    for number, mutant in same:
        plain = points.flat(mutant.was)
        if mutant.form == "statement":
            woven = f"{{ if (!mutant_is({number})) {{ {woven} }} }}"
        elif mutant.form == "assignment":
            left, right = split_assignment(plain)
            woven = (f"{{ if (!mutant_is({number})) {{ if (mutants_seen && ({left}) != ({right})) "
                     f"mutant_differs({number}); {woven} }} }}")
        elif mutant.form == "compared":
            woven = (f"(mutant_is({number}) ? ({mutant.becomes}) : ((void)(mutants_seen && ({plain}) != ({mutant.becomes}) "
                     f"&& mutant_differs({number})), {woven}))")
        else:
            woven = f"(mutant_is({number}) ? ({mutant.becomes}) : ({woven}))"
    return woven


def shift(mutant, by):
    return points.Mutant(**{**vars(mutant), "start": mutant.start + by, "end": mutant.end + by})


def split_assignment(statement):
    """The sides of the first `=` outside brackets."""
    depth = 0
    for at, letter in enumerate(statement):
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(letter, 0)
        if letter == "=" and depth == 0:
            return statement[:at], statement[at + 1:].rstrip("; ")
    raise ValueError(f"no assignment: {statement}")


def write_tree(root, tree, drawn):
    """Copies what git knows of root to tree, with the drawn mutants woven in as numbers 1, 2, ... Files that stay as they
    are keep their time, so that they are not compiled again."""
    listed = subprocess.run(["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "."],
                            capture_output=True, check=False)
    if listed.returncode == 0:
        files = [name for name in listed.stdout.decode().split("\0") if name]
    else:  # no repository: everything
        files = [str(path.relative_to(root)) for path in Path(root).rglob("*") if "build" not in path.parts]
    by_file = {}
    for number, mutant in enumerate(drawn, 1):
        by_file.setdefault(mutant.file, []).append((number, mutant))
    for file in files:
        write_file(Path(root) / file, Path(tree) / file, by_file.get(file))
    wanted = set(files)
    for path in list(Path(tree).rglob("*")):
        if path.is_file() and str(path.relative_to(tree)) not in wanted:
            path.unlink()


def write_file(source, target, numbered):
    if not source.is_file():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    if numbered:
        text = weave(points.read(source), numbered)
        if not target.exists() or points.read(target) != text:
            target.write_text(text, encoding="latin-1", newline="")
    elif not target.exists() or not filecmp.cmp(source, target, shallow=False):
        shutil.copy(source, target)

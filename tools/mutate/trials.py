"""Builds a tree with mutants, learns which test reaches which, and tries each mutant on the tests that reach it."""
import concurrent.futures
import hashlib
import json
import math
import os
import re
import resource
import shutil
import signal
import struct
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
MUTANTS_MAX = 16384  # as in mutant.h
COUNTS = struct.Struct("QQ")
PROCESSORS = len(os.sched_getaffinity(0))
# A test with a mutant is given up, and the mutant counts as killed, after so long, after doing nothing for so long, with so
# much memory, or when the mutant was reached so often: bounds that no sound run comes near.
PATIENCE_S, PATIENCE_TIMES, IDLE_S = 60, 20, 30
RECORD_PATIENCE_S = 600
MEMORY_MAX_BYTES = 6 << 30
REACHED_MORE, REACHED_TIMES = 50_000_000, 100
EXPLORED_SCHEDULES = 20_000


# The tests of a folder, by how their names begin: the first that a file's path begins with.
OWN_TESTS = (
    ("src/lua/", ("scripts/",)), ("src/record/", ("world/record", "tools/replay")), ("src/replay/", ("world/record", "tools/replay")),
    ("src/observe/", ("observe/", "world/explain", "world/trace", "world/view")), ("src/service/zones/", ("zones/", "service/zone")),
    ("src/service/", ("service/",)), ("tools/", ("tools/", "service/ctl", "service/top", "zones/ctl")),
    *((f"src/{name}/", (f"{name}/",)) for name in ("agents", "base", "journal", "plan", "pool", "run")),
    ("", ("world/",)),
)


class BuildFailed(Exception):
    pass


# --------------------------------------------------------------------------------------------------------------- build


def quietly(command, **more):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, **more)
    if result.returncode:
        raise BuildFailed(f"{' '.join(map(str, command))}\n{result.stdout.decode(errors='replace')[-4000:]}")
    return result.stdout.decode(errors="replace")


def build(work, jobs, explored):
    """Builds the tree; returns the folder of the tests and the program of the explorer, or None where there is none, or
    nothing for it to find."""
    tree, runtime, header = work / "tree", work / "mutant.o", work / "mutant.h"
    if not header.exists() or header.read_bytes() != (HERE / "mutant.h").read_bytes():
        shutil.copy(HERE / "mutant.h", header)  # what every source depends on has the time of its last change
    quietly([os.environ.get("CC", "cc"), "-O1", "-fPIC", "-c", HERE / "mutant.c", "-o", runtime])
    options = [
        "-G", "Ninja", f"-DCMAKE_C_FLAGS=-w -fwrapv -include {header}", f"-DCMAKE_EXE_LINKER_FLAGS={runtime}",
        f"-DCMAKE_SHARED_LINKER_FLAGS={runtime}", f"-DCMAKE_MODULE_LINKER_FLAGS={runtime}",
    ]
    debug = work / "debug"
    quietly(["cmake", "-S", tree, "-B", debug, "-DCMAKE_BUILD_TYPE=Debug", *options])
    quietly(["cmake", "--build", debug, "--parallel", str(jobs), "--", "--quiet"])
    if not explored or not (tree / "tests/explore/CMakeLists.txt").exists():
        return debug, None
    release = work / "release"
    quietly(["cmake", "-S", tree, "-B", release, "-DCMAKE_BUILD_TYPE=Release", *options])
    quietly(["cmake", "--build", release, "--parallel", str(jobs), "--target", "explore", "--", "--quiet"])
    return debug, release / "tests/explore/explore"


# --------------------------------------------------------------------------------------------------------------- tests


@dataclass
class Unit:
    """What is run on its own: one test of a program of Criterion's, one case of the explorer, or one test of ctest."""
    name: str
    command: list
    environment: dict
    folder: str
    hash: str = ""
    seconds: float = 0.0
    seen: dict = field(default_factory=dict)  # number of a mutant: (times reached, times it would have differed)


# What judges the sources' text, builds Muster anew, looks at a page by a browser, or counts each access to memory, those of
# mutants as well, has nothing to say of them.
NOT_ASKED = re.compile(
    r"^(abi/|docs/|headers/|installation|layout/|mutate/|packages/|proof/|readme/|seldom/|service/page|tidy/|tools/bench_lines)")


def find_units(debug, explorer, tools):
    """`tools`: where tools/setup puts programs of the tests."""
    described = json.loads(quietly(["ctest", "--test-dir", debug, "--show-only=json-v1"]))
    units = []
    for test in described["tests"]:
        if NOT_ASKED.match(test["name"]):
            continue
        properties = {entry["name"]: entry["value"] for entry in test.get("properties", [])}
        environment = dict(entry.split("=", 1) for entry in properties.get("ENVIRONMENT", []))
        for change in properties.get("ENVIRONMENT_MODIFICATION", []):
            name, value = change.split("=", 1)
            if value.startswith("path_list_append:"):
                environment[name] = f"{os.environ.get(name, '')}:{tools}"  # instead of that of the copy, which has none
        whole = Unit(test["name"], test["command"], environment, properties.get("WORKING_DIRECTORY", str(debug)))
        whole.hash = hash_of(whole)
        units += split(whole)
    if explorer:
        for case in quietly([explorer, "--list"]).split():
            unit = Unit(f"explore/{case}", [str(explorer), "--case", case, "--schedules", str(EXPLORED_SCHEDULES)], {}, "/")
            unit.hash = hash_of(unit)
            units.append(unit)
    return units


def hash_of(unit):
    """Of what decides how the unit ends. PATH does not: whoever runs this has another one."""
    digest = hashlib.sha256()
    for word in [*unit.command, *(value for name, value in unit.environment.items() if name != "PATH")]:
        digest.update(word.encode())
        if os.path.isfile(word):
            digest.update(Path(word).read_bytes())
    return digest.hexdigest()[:16]


def split(whole):
    """The tests of a program of Criterion's one by one."""
    program, *arguments = whole.command
    if not program.endswith(("_test", "_tests")) or (arguments and arguments[0] != "--filter"):
        return [whole]
    own = re.fullmatch(r"@\((.*)\)/\*", arguments[1])[1].split("|") if arguments else None  # of a room's program
    listed = quietly([program, "--list", "--ascii"], env={**os.environ, **whole.environment}, cwd=whole.folder)
    units, suite = [], None
    for line in listed.splitlines():
        if match := re.match(r"(\w+): \d+ tests?", line):
            suite = match[1]
        elif (match := re.match(r"\W+(\w+)$", line)) and (own is None or suite in own):
            name = f"{suite}/{match[1]}"
            units.append(Unit(f"{whole.name}:{name}", [program, "--filter", name, "--ascii"], whole.environment,
                              whole.folder, whole.hash))
    return units or [whole]


# ----------------------------------------------------------------------------------------------------------------- run


def members_of(mark):
    """The processes with the mark in their environment, in any group; their pages, and their ticks of CPU time."""
    members, pages, ticks = [], 0, 0
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            if mark not in Path(f"/proc/{entry}/environ").read_bytes():
                continue
            fields = Path(f"/proc/{entry}/stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        members.append(int(entry))
        pages += int(fields[21])
        ticks += sum(map(int, fields[11:15]))
    return members, pages * os.sysconf("SC_PAGE_SIZE"), ticks


def end_members(mark):
    """Until none is left: the one that is killed last may have begun another."""
    while members := members_of(mark)[0]:
        for member in members:
            try:
                os.kill(member, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.01)


def limit_process():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    most = resource.getrlimit(resource.RLIMIT_FSIZE)[1]  # it stays: tests of full disks set and lift the limit themselves
    resource.setrlimit(resource.RLIMIT_FSIZE, (4 << 30 if most == resource.RLIM_INFINITY else most, most))


class Watch:
    """Says when a test is to be given up. Its time passes slower on a busy machine."""

    def __init__(self, mark, patience_s):
        self.mark, self.patience_s = mark, patience_s
        self.passed_s = self.idle_s = 0.0
        self.ticks, self.looked = 0, time.monotonic()

    def look(self):
        now = time.monotonic()
        step_s = (now - self.looked) / max(1.0, os.getloadavg()[0] / PROCESSORS)
        self.looked = now
        _, memory, ticks = members_of(self.mark)
        self.idle_s = 0.0 if ticks != self.ticks else self.idle_s + step_s
        self.passed_s += step_s
        self.ticks = ticks
        if memory > MEMORY_MAX_BYTES:
            return "grew"
        return "hung" if self.passed_s > self.patience_s or self.idle_s > IDLE_S else None


def run(unit, environment, patience_s):
    """"passed", "failed", "hung" or "grew"; and the seconds."""
    scratch = tempfile.mkdtemp(prefix="mutate-")
    mark = f"MUSTER_MUTANT_RUN={os.path.basename(scratch)}"
    begin, watch = time.monotonic(), Watch(mark.encode(), patience_s)
    process = subprocess.Popen(unit.command, cwd=unit.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, start_new_session=True, preexec_fn=limit_process,
                               env={**os.environ, **unit.environment, **environment, "TMPDIR": scratch,
                                    **dict([mark.split("=")])})
    outcome = None
    while outcome is None:
        try:
            outcome = "passed" if process.wait(timeout=1) == 0 else "failed"
        except subprocess.TimeoutExpired:
            outcome = watch.look()
    seconds = time.monotonic() - begin
    end_members(watch.mark)
    process.wait()
    shutil.rmtree(scratch, ignore_errors=True)
    return outcome, seconds


def in_parallel(function, items, jobs):
    pool = concurrent.futures.ThreadPoolExecutor(jobs)
    try:
        list(pool.map(function, items))
    finally:
        pool.shutdown(cancel_futures=True)  # when it is interrupted, what has not begun does not


# ------------------------------------------------------------------------------------------------------------ coverage


def record(unit, drawn_count):
    """Runs a unit without a mutant and notes which it reaches. False when it fails twice."""
    for _ in range(2):
        with tempfile.NamedTemporaryFile(prefix="mutants-") as file:
            file.truncate(MUTANTS_MAX * COUNTS.size)
            outcome, unit.seconds = run(unit, {"MUSTER_MUTANTS_SEEN": file.name}, RECORD_PATIENCE_S)
            counts = Path(file.name).read_bytes()
        if outcome == "passed":
            pairs = COUNTS.iter_unpack(counts[:(drawn_count + 1) * COUNTS.size])
            unit.seen = {number: pair for number, pair in enumerate(pairs) if pair[0]}
            return True
    return False


def record_all(units, drawn_count, memory, jobs, progress):
    """Coverage of all units; what is known of the same programs is not run again. Returns those that pass."""
    lock, done, passing = threading.Lock(), [0], []

    def one(unit):
        key = f"{unit.name} {unit.hash}"
        with lock:
            known = memory.get(key)
        if known is not None:
            passes, unit.seconds, seen = known
            unit.seen = {int(number): tuple(pair) for number, pair in seen.items()}
        else:
            passes = record(unit, drawn_count)
        with lock:
            memory[key] = (passes, unit.seconds, unit.seen)
            if passes:
                passing.append(unit)
            done[0] += 1
            progress(done[0], len(units), unit, passes)

    in_parallel(one, sorted(units, key=lambda unit: unit.name), jobs)
    return passing


# -------------------------------------------------------------------------------------------------------------- trials


@dataclass
class Trial:
    number: int
    mutant: object
    reached: int = 0  # tests that reach it
    differing: int = 0  # of these, in how many it would have made a difference where it stands
    outcome: str = "survived"  # or "killed"
    how: str = ""  # "failed", "hung" or "grew"
    killer: str = ""  # the unit's name
    seconds: float = 0.0

    def relevant(self, units):
        """The units that can tell it from the original, those of its own folder and then the fastest first."""
        reaching = [unit for unit in units if self.number in unit.seen]
        self.reached = len(reaching)
        compared = self.mutant.form in ("compared", "assignment")
        relevant = [unit for unit in reaching if not compared or unit.seen[self.number][1]]
        self.differing = len(relevant)
        own = next(tests for path, tests in OWN_TESTS if self.mutant.file.startswith(path))
        return sorted(relevant, key=lambda unit: (not unit.name.startswith(own), unit.seconds))


def ask(unit, trial):
    """One unit about one mutant. A failure must come twice in three runs: once may be a busy machine's doing."""
    most = unit.seen[trial.number][0] * REACHED_TIMES + REACHED_MORE
    environment = {"MUSTER_MUTANT": str(trial.number), "MUSTER_MUTANT_LIMIT": str(most)}
    patience_s = PATIENCE_S + PATIENCE_TIMES * unit.seconds
    failures = 0
    for _ in range(3):
        outcome, seconds = run(unit, environment, patience_s)
        trial.seconds += seconds
        if outcome in ("hung", "grew"):
            return outcome
        failures += outcome == "failed"
        if failures == 2 or (outcome == "passed" and failures == 0):
            return outcome
    return "passed"


def try_one(trial, units, memory, seconds, lock):
    left_s = seconds or math.inf
    for unit in trial.relevant(units):
        key = f"{trial.mutant.id} {unit.name} {unit.hash}"
        with lock:
            outcome = memory.get(key)
        if outcome is None and unit.seconds > left_s:
            continue
        if outcome is None:
            outcome = ask(unit, trial)
        with lock:
            memory[key] = outcome
        left_s -= unit.seconds
        if outcome != "passed":
            trial.outcome, trial.how, trial.killer = "killed", outcome, unit.name
            return


def try_all(trials, units, memory, seconds, jobs, progress):
    lock, done = threading.Lock(), [0]

    def one(trial):
        try_one(trial, units, memory, seconds, lock)
        with lock:
            done[0] += 1
            progress(done[0], len(trials), trial)

    in_parallel(one, trials, jobs)

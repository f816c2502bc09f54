"""layout_test.py ROOT LIBRARY LAYOUT COMPILER - reaches every field of every public struct from Python, through what
layout.json says, and lets C read it by its name; compares all defaults; and runs a world in planner mode from Python
alone."""

import ctypes
import json
import os
import subprocess
import sys
import tempfile

from binding import Binding

ROOT, LIBRARY, LAYOUT, COMPILER = sys.argv[1:]
sys.path.insert(0, os.path.join(ROOT, "tools", "layout"))
import interface

failures = []


def check(holds, what):
    if not holds:
        failures.append(what)
        print(what)


# ---------------------------------------------------------------------------------------------------- what C says

# How a field's value is written depends on its type as C knows it, not as the layout tells it.
PRINT = r"""
#include <stdio.h>
static void whole(char *out, int negative, unsigned long long value) {
  snprintf(out, 64, negative ? "%lld" : "%llu", value);
}
static void real(char *out, double value) { snprintf(out, 64, "%.17g", value); }
static void address(char *out, const void *value) { snprintf(out, 64, "%llu", (unsigned long long)(size_t)value); }
#define WHOLE(x) _Generic((x), float: 0, double: 0, default: (x))
#define REAL(x) _Generic((x), float: (x), double: (x), default: 0)
#define IS_REAL(x) _Generic((x), float: 1, double: 1, default: 0)
#define NUMBER(out, x) \
  do { if (IS_REAL(x)) real(out, REAL(x)); else whole(out, WHOLE(x) < 0, (unsigned long long)WHOLE(x)); } while (0)
"""


def is_pointer(told):
    return told["kind"] in ("pointer", "function")


def write_wrapper(binding):
    """A function for each struct's default that is inline, and one for each field, that writes what it reads."""
    text = [interface.including(ROOT), PRINT]
    for name, told in binding.layout["structs"].items():
        if "." in name:
            continue
        if told.get("default"):
            text.append(f"void default_{name}({name} *out) {{ *out = {told['default']}(); }}")
        text.append(f"void show_{name}(const {name} *of, int field, char *out) {{ switch (field) {{")
        for i, (path, _, leaf) in enumerate(binding.leaves(name)):
            does = f"address(out, (const void *)of->{path})" if is_pointer(leaf) else f"NUMBER(out, of->{path})"
            text.append(f"case {i}: {does}; break;")
        text.append("} }")
    return "\n".join(text)


def compile_wrapper(binding, work):
    source, library = os.path.join(work, "wrapper.c"), os.path.join(work, "wrapper.so")
    with open(source, "w", encoding="utf-8") as file:
        file.write(write_wrapper(binding))
    interface.run([COMPILER, "-std=gnu17", "-w", "-shared", "-fPIC", "-I", os.path.join(ROOT, "include"), source, LIBRARY,
                   f"-Wl,-rpath,{os.path.dirname(LIBRARY)}", "-o", library])
    return ctypes.CDLL(library)


def told_by_c(wrapper, name, value, field):
    out = ctypes.create_string_buffer(64)
    getattr(wrapper, f"show_{name}")(ctypes.byref(value), field, out)
    return out.value.decode()


# ------------------------------------------------------------------------------------------------------ fields

LIMITS = {"u8": 0xF1, "u16": 0xF123, "u32": 0xF1234567, "u64": 0xF123456789ABCDEF, "i8": -5, "i16": -5000,
          "i32": -50000000, "i64": -5 << 40, "f32": -1.5, "f64": -0.1, "bool": 1, "char": 65}


def value_for(told, number):
    """A value that no other field has, where its type has room for that, and that tells its type from others."""
    kind = told["kind"]
    if is_pointer(told):
        return 0x7F0000000000 + number
    if kind == "enum":
        return 1 + number % 200
    if kind in ("f32", "f64"):
        return LIMITS[kind] - number
    if kind in ("u16", "u32", "u64"):
        return LIMITS[kind] - number
    return LIMITS[kind]


def place(binding, value, offset, told):
    """The field as Python reaches it."""
    type_ = ctypes.c_void_p if is_pointer(told) else binding.type_of(told)
    return type_.from_buffer(value, offset)


def as_text(told, given):
    return f"{given:.17g}" if told["kind"] in ("f32", "f64") else str(int(given or 0))


def set_fields(binding, wrapper, name):
    """Every field is set from Python and read by C. Returns the fields that C reads otherwise."""
    value, wrong = binding.structs[name](), []
    for number, (_, offset, told) in enumerate(binding.leaves(name)):
        place(binding, value, offset, told).value = value_for(told, number)
    for number, (path, offset, told) in enumerate(binding.leaves(name)):
        expected = as_text(told, place(binding, value, offset, told).value)
        if expected != as_text(told, value_for(told, number)) or expected != told_by_c(wrapper, name, value, number):
            wrong.append(f"{name}.{path}: Python set {expected}, C reads {told_by_c(wrapper, name, value, number)}")
    return wrong


def attributes(binding, name):
    """The class's attributes lie where the layout says, too."""
    class_ = binding.structs[name]
    check(ctypes.sizeof(class_) == binding.layout["structs"][name]["bytes"], f"{name}: its size in Python")
    for field in binding.layout["structs"][name]["fields"]:
        check(getattr(class_, field["name"]).offset == field["offset"], f"{name}.{field['name']}: its place in Python")


def test_fields(binding, wrapper):
    fields = 0
    for name in binding.structs:
        attributes(binding, name)
        if "." not in name:
            for wrong in set_fields(binding, wrapper, name):
                check(False, wrong)
            fields += sum(1 for _ in binding.leaves(name))
    check(fields > 100, f"only {fields} fields were found")
    return fields


def test_defaults(binding, wrapper):
    count = 0
    for name, told in binding.layout["structs"].items():
        if not told.get("default"):
            continue
        given, in_c = binding.default(binding.structs[name], wrapper), binding.structs[name]()
        getattr(wrapper, f"default_{name}")(ctypes.byref(in_c))
        check(given.size == told["bytes"], f"{name}: its default has the size {given.size}")
        for number, (path, offset, leaf) in enumerate(binding.leaves(name)):
            here, there = as_text(leaf, place(binding, given, offset, leaf).value), told_by_c(wrapper, name, in_c, number)
            check(here == there, f"{name}.{path}: its default is {here} in Python, {there} in C")
        count += 1
    check(count > 10, f"only {count} defaults were found")
    return count


# The test must see a layout that is not C's.
def test_planted(binding, wrapper, layout):
    def plant(change, what):
        wrong = json.loads(json.dumps(layout))
        name = next(name for name, told in wrong["structs"].items() if told["sized"] and "." not in name and
                    sum(field["kind"] == "u32" for field in told["fields"]) > 2)
        change([field for field in wrong["structs"][name]["fields"] if field["kind"] == "u32"])
        check(set_fields(Binding(wrong), wrapper, name), f"{name}: {what} was planted into the layout, and not seen")

    def swap(fields):
        fields[1]["offset"], fields[2]["offset"] = fields[2]["offset"], fields[1]["offset"]

    plant(swap, "two fields swapped")
    plant(lambda fields: fields[1].update(kind="f32"), "a float in place of a number")
    plant(lambda fields: fields[1].update(kind="i32"), "a sign")


# ------------------------------------------------------------------------------------------------ a world, planned

AGENTS, FRAMES, FRAME_NS = 100, 10, 100_000_000


def test_world(binding, wrapper):
    """A hundred agents, ten frames: planned by the library, run here, reported."""
    m, reference = binding, ctypes.byref
    world_def = m.set(m.default(m.taken("world_create", 0), wrapper), planner_workers=1, agents_max=AGENTS)
    world = m.world_create(reference(world_def))
    check(world, f"no world: {m.last_error()}")
    if not world:
        return
    bots = m.set(m.default(m.taken("type_register", 1), wrapper), period_ns=FRAME_NS, period_max_ns=FRAME_NS)
    type_ = m.type_register(world, reference(bots))
    npc = m.set(m.default(m.taken("agent_spawn", 1), wrapper), type=type_)
    for number in range(AGENTS):
        m.set(npc, user=number + 1, x=float(number))
        check(any(bytes(m.agent_spawn(world, reference(npc)))), f"agent {number}: {m.last_error()}")

    frame, summary = m.taken("plan", 1)(), m.default(m.taken("plan", 4), wrapper)
    entries, results = (m.taken("plan", 2) * AGENTS)(), (m.taken("plan_report", 1) * AGENTS)()
    finished = next(value for enum in m.layout["enums"].values() for name, value in enum["values"].items()
                    if name.endswith("PLAN_FINISHED"))
    runs = dict.fromkeys(range(1, AGENTS + 1), 0)
    for number in range(1, FRAMES + 1):
        m.set(frame, sim_now_ns=number * FRAME_NS, budget_ns=50_000_000)
        result = m.plan(world, reference(frame), entries, AGENTS, reference(summary))
        check(result == 0, f"frame {number} was not planned: {m.last_error()}")
        for entry, done in zip(entries[:summary.count], results):
            runs[entry.user] += 1
            m.set(done, agent=entry.agent, outcome=finished, cost_ns=1000)
        check(m.plan_report(world, results, summary.count) == 0, f"frame {number} was not reported: {m.last_error()}")
    m.world_destroy(world)
    # Each agent is due in each frame but for the first ones, over which new agents are spread.
    check(min(runs.values()) >= FRAMES - 2, f"an agent of {AGENTS} ran {min(runs.values())} times in {FRAMES} frames")


def main():
    with open(LAYOUT, encoding="utf-8") as file:
        layout = json.load(file)
    binding = Binding(layout, LIBRARY)
    with tempfile.TemporaryDirectory() as work:
        wrapper = compile_wrapper(binding, work)
        fields, defaults = test_fields(binding, wrapper), test_defaults(binding, wrapper)
        test_planted(binding, wrapper, layout)
        test_world(binding, wrapper)
    print(f"{fields} fields of {len(layout['structs'])} structs, {defaults} defaults, a world of {AGENTS} agents")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

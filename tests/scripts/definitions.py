"""Compares the definitions for the Lua language server (tools/lua/muster.lua) with what the library offers: all of it, and
nothing else. What stands in the table `muster` the library itself tells; the names of fields are those that its sources
read, and it is asked about each that is defined.

    definitions.py MUSTER SOURCE [DEFINITIONS]
"""
import pathlib
import re
import subprocess
import sys
import tempfile

program, source = sys.argv[1], pathlib.Path(sys.argv[2])
definitions = pathlib.Path(sys.argv[3] if len(sys.argv) > 3 else source / "tools/lua/muster.lua").read_text()
failures = []


def compare(what, defined, offered, least):
    if len(offered) < least:
        failures.append(f"{what}: only {len(offered)} were found: {sorted(offered)}")
    for name in sorted(set(offered) - set(defined)):
        failures.append(f"{what}: '{name}' is not defined")
    for name in sorted(set(defined) - set(offered)):
        failures.append(f"{what}: '{name}' is defined, and not offered")
    if len(defined) != len(set(defined)):
        failures.append(f"{what}: a name is defined twice")


def fields_of(name):
    """The names of a class's fields."""
    block = re.search(rf"^---@class muster\.{name}\n((?:---.*\n)*)", definitions, re.M)
    if not block:
        failures.append(f"there is no class {name}")
        return []
    return re.findall(r"^---@field (\w+) ", block[1], re.M)


def run(text):
    """What is said of a script."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "asked.lua")
        path.write_text(text)
        done = subprocess.run([program, "run", str(path), "--frames", "1", "--no-pace", "--virtual"], check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return done.stdout


def section(file, begin, end):
    """The text between two others, each of which stands there once from there on."""
    text = (source / "src/lua" / file).read_text()
    start = text.index(begin)
    return text[start:text.index(end, start)]


def rows(table):
    return re.findall(r'[A-Z]+\("(\w+)"', section("types.c", f"static const type_field {table}[]", "{0}}"))


# What the language reads: it must be Lua.
said = run(f"local function definitions()\nlocal muster\n{definitions}\nend\nmuster.type {{ name = 'a' }}")
if re.search(r"asked\.lua:\d+: ", said):
    failures.append(f"the definitions are no Lua: {said}")

said = run("for name, value in pairs(muster) do print('offers', name, type(value)) end muster.type { name = 'a' }")
functions = re.findall(r"^function muster\.(\w+)\(", definitions, re.M)
compare("muster", functions, set(re.findall(r"offers\s+(\w+)\s+function", said)), 18)

compare("type", fields_of("TypeOptions"), rows("type_fields"), 20)
compare("levels", fields_of("Levels"), rows("level_fields"), 2)
compare("messages", fields_of("Messages"), rows("message_fields"), 4)
compare("overruns", fields_of("Overruns"), rows("overrun_fields"), 2)
compare("set", fields_of("Set"), rows("set_fields"), 9)
for what, owner, function, least in (("world", "WorldOptions", "host_define", 6), ("observe", "ObserverOptions", "host_observe", 5)):
    known = section("host.c", f"int {function}(", "\n}")
    known = known[known.index("known[] = {"):]
    compare(what, fields_of(owner), re.findall(r'"(\w+)"', known[:known.index("}")]), least)
own = section("calls.c", "own_fields[] = {", "NULL")
methods = section("types.c", "role_methods[METHOD_FIRST_SET] = {", "}")
compare("self", fields_of("Type"), re.findall(r'"(\w+)"', own + methods) + ["name"], 16)

# The library knows each: a value that none of them may be is another mistake than an unknown field.
wrong = "setmetatable({}, {})"
for owner, form in (("TypeOptions", "muster.type {{ {} = {} }}"), ("Levels", "muster.type {{ levels = {{ {} = {} }} }}"),
                    ("Messages", "muster.type {{ messages = {{ {} = {} }} }}"),
                    ("Overruns", "muster.type {{ overruns = {{ {} = {} }} }}"),
                    ("Set", "muster.type {{ sets = {{ {{ {} = {} }} }} }}"),
                    ("WorldOptions", "muster.world {{ {} = {} }}")):
    for name in fields_of(owner):
        if "there is no such field" in run(form.format(name, wrong)):
            failures.append(f"{owner}.{name}: the library does not know it")
    if "there is no such field" not in run(form.format("mistake", wrong)):
        failures.append(f"{owner}: an unknown field is not refused")

# Each says what it is: the manual has all of them, too.
manual = (source / "tools/docs/scripts.md").read_text()
for name in functions:
    if f"muster.{name}" not in manual:
        failures.append(f"muster.{name}: the manual does not have it")
for name in fields_of("TypeOptions") + fields_of("Messages") + fields_of("Set") + fields_of("WorldOptions"):
    if not re.search(rf"\b{name}\b", manual):
        failures.append(f"{name}: the manual does not have it")

print("\n".join(failures) or "all is defined")
sys.exit(bool(failures))

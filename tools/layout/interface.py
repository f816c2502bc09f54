"""What the public headers declare, read by a compiler: functions, structs, enums and constants. Nothing here knows any of
them by name: whatever include/muster/*.h declares with a name that begins with muster_ or MUSTER_ is found.

clang's syntax tree says what there is; tools/layout/layout has a compiled program say where it lies."""

import json
import os
import re
import subprocess
import sys
import tempfile

CLANG = os.environ.get("CLANG", "clang")
OPTIONS = ["-std=c17", "-Xclang", "-ast-dump=json", "-fsyntax-only"]


def fail(text):
    sys.exit(f"{os.path.basename(sys.argv[0])}: {text}")


def run(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode:
        fail(f"'{' '.join(command)}' failed:\n{done.stderr[:4000]}")
    return done.stdout


class Place:
    """Where a declaration stands: the header and the line in it. Within a macro's text, where the macro is used."""

    def __init__(self, file, line):
        self.file, self.line = file, line


class Field:
    def __init__(self, name, type_, path):
        self.name, self.type, self.path = name, type_, path  # path: as offsetof() takes it


class Record:
    def __init__(self, name, tag, root):
        self.name, self.tag, self.fields = name, tag, []
        self.root = root  # the named struct that it lies in, and the path there: itself and ""
        self.place = None

    def is_sized(self):
        return bool(self.fields) and self.fields[0].name == "size" and self.fields[0].type.strip() in (
            "uint32_t", "unsigned int", "size_t")


class Function:
    def __init__(self, name, returns, parameters, exported, inline, variadic, place):
        self.name, self.returns, self.parameters = name, returns, parameters  # parameters: (name, type)
        self.exported, self.inline, self.variadic, self.place = exported, inline, variadic, place


def headers_of(root):
    """The public headers, as #include names them."""
    folder = os.path.join(root, "include", "muster")
    return ["muster/" + name for name in sorted(os.listdir(folder)) if name.endswith(".h")]


def including(root):
    return "".join(f"#include <{header}>\n" for header in headers_of(root))


class Interface:
    def __init__(self, root):
        self.root = root
        self.include = os.path.join(root, "include")
        self.functions, self.records, self.enums, self.typedefs = {}, {}, {}, {}
        self.loose = {}  # enumerators of enums without a name
        with tempfile.TemporaryDirectory() as work:
            self.source = os.path.join(work, "all.c")
            with open(self.source, "w", encoding="utf-8") as file:
                file.write(including(root))
            tree = json.loads(run([CLANG, *OPTIONS, "-I", self.include, self.source]))
            macros = run([CLANG, "-std=c17", "-dM", "-E", "-I", self.include, self.source])
        self._file, self._line = None, 0
        self._mark(tree)
        for node in tree["inner"]:
            self._declaration(node)
        self.macros = re.findall(r"^#define (MUSTER_\w+) (\S.*)$", macros, re.M)

    # clang leaves out file and line where they are those of the place it told before.
    def _mark(self, node):
        if isinstance(node, list):
            for child in node:
                self._mark(child)
        elif isinstance(node, dict):
            if "offset" in node and "tokLen" in node:
                self._file = node.get("file", self._file)
                self._line = node.get("line", self._line)
                node["at"] = Place(self._file, self._line)
            for key, child in list(node.items()):
                if key not in ("at", "includedFrom"):
                    self._mark(child)

    def _declaration(self, node):
        name, kind = node.get("name", ""), node["kind"]
        if kind == "FunctionDecl" and name.startswith("muster_"):
            self._function(node)
        elif kind == "RecordDecl" and name.startswith("muster_") and node.get("completeDefinition"):
            self._record(node, name, (name, ""))
        elif kind == "EnumDecl":
            self._enum(node, name)
        elif kind == "TypedefDecl" and name.startswith("muster_"):
            self.typedefs[name] = node["type"].get("desugaredQualType", node["type"]["qualType"])

    def _function(self, node):
        inner = node.get("inner", [])
        place = node["loc"].get("expansionLoc", node["loc"])["at"]
        returns = node["type"]["qualType"].split("(")[0].strip()
        parameters = [(child.get("name", f"a{i}"), child["type"]["qualType"])
                      for i, child in enumerate(c for c in inner if c["kind"] == "ParmVarDecl")]
        exported = any(child["kind"] == "VisibilityAttr" for child in inner)
        before = self.functions.get(node["name"])
        self.functions[node["name"]] = Function(
            node["name"], returns, parameters, exported or bool(before and before.exported),
            node.get("storageClass") == "static", node.get("variadic", False), before.place if before else place)

    def _record(self, node, name, root):
        record = Record(name, node.get("tagUsed", "struct"), root)
        record.place = node["loc"].get("expansionLoc", node["loc"]).get("at")
        if not root[1]:
            self.records[name] = record
        self._fields(node, record, root)
        return record

    def _fields(self, node, record, root):
        unnamed = None
        for child in node.get("inner", []):
            if child["kind"] == "RecordDecl" and child.get("completeDefinition"):
                unnamed = child
            elif child["kind"] == "FieldDecl":
                self._field(child, record, root, unnamed)
                unnamed = None

    # A struct without a name is told as <struct>.<field>; the fields of one that has no field either are its parent's.
    def _field(self, node, record, root, unnamed):
        if node.get("isBitfield"):
            fail(f"{record.name}.{node.get('name')}: a bit-field has no place that another language could use")
        if unnamed and not node.get("name"):
            self._fields(unnamed, record, root)
            return
        path = f"{root[1]}.{node['name']}".lstrip(".")
        type_ = node["type"]["qualType"]
        if unnamed and ("unnamed" in type_ or "anonymous" in type_):
            inner_name = f"{record.name}.{node['name']}"
            inner = self._record(unnamed, inner_name, (root[0], path))
            self.records[inner_name] = inner
            type_ = inner_name + type_[type_.rindex(")") + 1:]
        record.fields.append(Field(node["name"], type_, path))

    def _enum(self, node, name):
        values = [child["name"] for child in node.get("inner", []) if child["kind"] == "EnumConstantDecl"]
        if name.startswith("muster_"):
            self.enums[name] = values
        elif not name and values and all(value.startswith("MUSTER_") for value in values):
            self.loose.update(dict.fromkeys(values))

    def exported(self):
        return sorted(name for name, function in self.functions.items() if function.exported)

    def constants(self, work):
        """The macros that are values: what a compiler takes as an expression."""
        names = sorted({name for name, _ in self.macros})
        source = os.path.join(work, "macros.c")
        with open(source, "w", encoding="utf-8") as file:
            file.write(including(self.root) + "void take(void);\n#line 1 \"macros\"\n")
            file.write("".join(f"void take_{name}(void) {{ __auto_type x = ({name}); (void)x; }}\n" for name in names))
        done = subprocess.run(
            [CLANG, "-std=gnu17", "-ferror-limit=0", "-fno-caret-diagnostics", "-pedantic-errors",
             "-Wno-gnu-auto-type", "-fsyntax-only", "-I", self.include, source], capture_output=True, text=True)
        refused = {int(line) for line in re.findall(r"^macros:(\d+):\d+: (?:error|note)", done.stderr, re.M)}
        return [name for i, name in enumerate(names, 1) if i not in refused]

    def opaque(self):
        """Structs that are declared and not defined: hosts hold pointers to them."""
        return sorted(name for name, to in self.typedefs.items()
                      if to == f"struct {name}" and name not in self.records)

    def defaults(self):
        """For each struct with a size: the inline function without parameters that returns it with its defaults, and the
        exported one, (struct *, size_t), that sets them; null where there is none."""
        found = {}
        for name, record in self.records.items():
            if not record.is_sized():
                continue
            returning = [f.name for f in self.functions.values() if f.returns == name and not f.parameters]
            setting = [f.name for f in self.functions.values()
                       if f.exported and f.returns == "void" and len(f.parameters) == 2
                       and f.parameters[0][1] in (f"{name} *", f"struct {name} *") and f.parameters[1][1] == "size_t"]
            found[name] = (returning[0] if returning else None, setting[0] if setting else None)
        return found

"""plants.py ROOT - plants changes into copies of the public headers: tools/abi must let additions pass, and must catch the
rest, each with a report that names what was changed. The places are found by how the headers are written, not by name."""

import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = sys.argv[1]
STRUCT = r"(typedef struct (muster_\w+) \{\n)(.*?)(\n\} \2;)"
SIZED = r"(typedef struct (muster_\w+) \{\n)( *uint32_t size;.*?)(\n\} \2;)"
UNSIZED = r"(typedef struct (muster_\w+) \{\n)((?! *uint32_t size;).*?)(\n\} \2;)"
ENUM = r"(typedef enum (muster_\w+) \{)(.*?)(\n\} \2;)"
LIMIT = r"^(#define (MUSTER_\w+_MAX) )(\d+)"
DECLARED = r"(?:^/\*(?:(?!\*/).)*\*/\n)?^MUSTER_API [^;]*?(muster_\w+)\([^;]*;\n"


class Headers:
    """A copy, and what was planted into it last."""

    def __init__(self, work):
        self.root, self.folder = work, os.path.join(work, "include", "muster")
        self.name = None

    def renew(self):
        shutil.rmtree(os.path.join(self.root, "include"), ignore_errors=True)
        shutil.copytree(os.path.join(ROOT, "include"), os.path.join(self.root, "include"))

    def change(self, pattern, by, most=1):
        """Gives `by` the matches of a pattern, at most so many, until one is changed; the struct's name is group 2."""
        left = most
        for header in sorted(os.listdir(self.folder)):
            path = os.path.join(self.folder, header)
            with open(path, encoding="utf-8") as file:
                text = file.read()

            def once(match):
                nonlocal left
                new = by(match) if left else None
                if new is None or new == match[0]:
                    return match[0]
                left -= 1
                self.name = match[match.lastindex and min(2, match.lastindex)]
                return new

            new = re.sub(pattern, once, text, flags=re.S | re.M)
            if new != text:
                with open(path, "w", encoding="utf-8") as file:
                    file.write(new)
        return left < most


def at_end(match):
    return f"{match[1]}{match[3]}\n  uint64_t planted;{match[4]}"


def behind_first(match):
    first, rest = match[3].split(";", 1)
    return f"{match[1]}{first}; uint64_t planted;{rest}{match[4]}" if ";" in rest else None


def retyped(match):
    new = re.sub(r"^  uint32_t (?!size;)(\w+);", r"  float \1;", match[3], count=1, flags=re.M)
    return f"{match[1]}{new}{match[4]}"


def retyped_and_longer(match):
    new = retyped(match)
    return new and new != match[0] and new.replace(match[4], "\n  uint64_t planted;" + match[4])


def swapped(match):
    new = re.sub(r"^(  uint32_t )(?!size;)(\w+)(;.*?^  uint32_t )(\w+);", r"\1\4\3\2;", match[3], count=1, flags=re.M | re.S)
    return f"{match[1]}{new}{match[4]}"


def other_value(match):
    new = re.sub(r"^(  MUSTER_\w+),", r"\1 = 1000,", match[3], count=1, flags=re.M)
    return f"{match[1]}{new}{match[4]}"


def one_more_value(match):
    return f"{match[1]}{match[3]}\n  , {match[2].upper()}_PLANTED = 1000{match[4]}"


def other_limit(match):
    return f"{match[1]}{int(match[3]) + 1}"


def not_const(match):
    return match[0].replace("(const ", "(", 1)


def other_parameter(match):
    return re.sub(r"\buint32_t (?=\w+[,)])", "uint64_t ", match[0], count=1)


def other_signature(match):
    new = re.sub(r"^(  void \(\*\w+\)\(.*?)\buint32_t\b", r"\1uint64_t", match[3], count=1, flags=re.M)
    return f"{match[1]}{new}{match[4]}"


# What is planted: pattern, change, how often at most, and whether it is an addition.
PLANTS = {
    "a field at the end of every struct with a size": (SIZED, at_end, 1000, True),
    "a new function": (DECLARED, lambda m: m[0] + "MUSTER_API void muster_planted(void);\n", 1, True),
    "a new struct": (DECLARED, lambda m: m[0] + "typedef struct muster_planted { int a; } muster_planted;\n", 1, True),
    "a new macro": (DECLARED, lambda m: m[0] + "#define MUSTER_PLANTED 7\n", 1, True),
    "a new value in every enum": (ENUM, one_more_value, 1000, True),
    "a function that is gone": (DECLARED, lambda m: "", 1, False),
    "a field in the middle of a struct with a size": (SIZED, behind_first, 1, False),
    "a field at the end of a struct without": (UNSIZED, at_end, 1, False),
    "a field of another type": (SIZED, retyped, 1, False),
    "the same, and a field at the end": (SIZED, retyped_and_longer, 1, False),
    "two fields swapped": (SIZED, swapped, 1, False),
    "a callback that takes something else": (STRUCT, other_signature, 1, False),
    "another value": (ENUM, other_value, 1, False),
    "a macro of another value": (LIMIT, other_limit, 1, False),
    "a parameter that is const no more": (DECLARED, not_const, 1, False),
    "a parameter of another type": (DECLARED, other_parameter, 1, False),
}


def compare(copy, *more):
    return subprocess.run([os.path.join(ROOT, "tools", "abi"), "--root", copy, *more,
                           "--kept", os.path.join(copy, "kept.abi")], capture_output=True, text=True)


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as work:
        headers = Headers(work)
        headers.renew()
        compare(work, "--renew")
        for what, (pattern, by, most, addition) in PLANTS.items():
            headers.renew()
            if not headers.change(pattern, by, most):
                print(f"{what}: the headers have no place for it")
                failed += 1
                continue
            done = compare(work)
            if done.stderr or done.returncode not in (0, 1):
                print(f"{what}, in {headers.name}: tools/abi failed: {done.stderr}")
                failed += 1
            elif addition and done.returncode:
                print(f"{what}: is an addition and was refused:\n{done.stdout}")
                failed += 1
            elif not addition and (not done.returncode or headers.name not in done.stdout):
                print(f"{what}, in {headers.name}: was not caught, or not named:\n{done.stdout}")
                failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

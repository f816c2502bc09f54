"""What a Markdown document says to change in a program: which definition or line a block replaces, or stands above or below."""
import re
from dataclasses import dataclass

INTRODUCTION = re.compile(r"\b(Replace|Put this above|Put this below) `([^`]+)` in `([\w./-]+)`[^`]*:$")


@dataclass
class Edit:
    line: int  # of the document
    action: str
    anchor: str  # a definition, as its head ends ("graze", "struct sheep", "sheep:think"), or a whole line
    name: str  # of the file
    text: str
    folder: str = "."


class Refused(Exception):
    """The file has no such place, or several."""


def read_edit(line, introduction, text, folder):
    """The change that a block's introduction asks for; None when it asks for none."""
    found = INTRODUCTION.search(introduction)
    return Edit(line, found[1], found[2], found[3], text, folder) if found else None


def without_words(text):
    """The code without its comments and the contents of its strings."""
    return re.sub(r'/\*.*?\*/|"(?:\\.|[^"\\])*"', "", text, flags=re.DOTALL)


def definitions(lines):
    """The ranges of lines between the empty lines that stand outside all braces and comments."""
    begin = 0
    for at, line in enumerate([*lines, ""]):
        code = without_words("\n".join(lines[begin:at]))
        if not line.strip() and code.count("{") == code.count("}") and "/*" not in code:
            if at > begin:
                yield begin, at
            begin = at + 1


def defines(text, anchor):
    if not re.fullmatch(r"[\w .:]+", anchor):
        return False
    head = re.split(r"[({;=]", without_words(text), maxsplit=1)[0].strip()
    return re.search(r"(?:^|\W)" + re.escape(anchor) + r"(?:\[\])?$", head) is not None


def find(lines, anchor):
    """The range of the anchor, and whether it is a definition."""
    found = [(*part, True) for part in definitions(lines) if defines("\n".join(lines[slice(*part)]), anchor)]
    found = found or [(at, at + 1, False) for at, line in enumerate(lines) if line.strip() == anchor]
    if len(found) != 1:
        raise Refused(f"{len(found) or 'no'} places are `{anchor}`")
    return found[0]


def apply_edit(text, edit):
    lines = text.splitlines()
    begin, end, whole = find(lines, edit.anchor)
    block, gap = edit.text.splitlines(), [""] if whole else []
    if edit.action == "Replace":
        block = [*lines[:begin], *block, *lines[end:]]
    elif edit.action == "Put this above":
        block = [*lines[:begin], *block, *gap, *lines[begin:]]
    else:
        block = [*lines[:end], *gap, *block, *lines[end:]]
    return "\n".join(block)

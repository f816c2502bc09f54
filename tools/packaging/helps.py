"""What the programs say of themselves in --help and --help-options, for manuals and completions made of it."""
import os
import re
import subprocess

ENTRY = re.compile(r"(\S.*?)(?: {2,}(\S.*))?$")


class Entry:
    """A line of a list: an option or another word with what it means, or a sentence, which has no term."""

    def __init__(self, line):
        self.term, self.text = ENTRY.match(line).groups()
        self.text = self.text or ""

    @property
    def is_option(self):
        return self.term.startswith("-")

    @property
    def options(self):
        """The option's names, with dashes."""
        return re.findall(r"(?:^|, )(--?[a-z][a-z-]*)", self.term) if self.is_option else []

    @property
    def value(self):
        """The placeholder of its value, or nothing."""
        found = re.search(r"[a-z][ =](\S.*)$", self.term) if self.is_option and ", " not in self.term else None
        return found.group(1) if found else ""

    @property
    def word(self):
        return self.term.split()[0]


class Block:
    def __init__(self, heading):
        self.heading = heading  # text that stands by itself where there are no entries
        self.entries = []

    @property
    def has_options(self):
        return any(entry.is_option for entry in self.entries)


def split_entries(entries):
    """Several options in one line, divided by "; ", become entries of their own."""
    for entry in entries:
        first, *others = re.split(r"; +(?=--[a-z-]+ \S+  )", entry.text)
        entry.text = first.strip()
        yield entry
        for other in others:
            yield Entry(other)


class Help:
    """A help text: `summary`, `usage` (a list of lines), `blocks`."""

    def __init__(self, text):
        self.usage, self.blocks = [], []
        paragraph = block = None  # what a line may go on with
        for line in text.splitlines():
            if not line:
                paragraph = block = None
            elif line.startswith("usage:"):
                paragraph = "usage"
                self.usage.append(line.removeprefix("usage:").strip())
            elif paragraph == "usage":
                if line.strip().startswith("muster"):
                    self.usage.append(line.strip())
                else:
                    self.usage[-1] += " " + line.strip()
            elif not line.startswith("  "):
                if paragraph == "text" and not block.entries:
                    block.heading += " " + line
                else:
                    block = Block(line)
                    self.blocks.append(block)
                paragraph = "text"
            else:
                if block is None:
                    block = Block("")
                    self.blocks.append(block)
                if line.startswith("   ") and block.entries:
                    last = block.entries[-1]
                    last.text += (" " if last.text else "") + line.strip()
                else:
                    block.entries.append(Entry(line.strip()))
        for each in self.blocks:
            each.entries = list(split_entries(each.entries))
        self.summary = self.blocks.pop(0).heading.split(" - ", 1)[1]

    def words(self):
        """The commands, benches, papers or scenarios that may stand first, by the usage; a list of entries."""
        if not re.match(r"muster( [a-z]+)?( \[--.*\])? (COMMAND|NAME|PAPER|\[SCENARIO)", self.usage[0]):
            return []
        lists = [block for block in self.blocks if block.entries and not block.has_options]
        return lists[0].entries

    def option_entries(self):
        return [entry for block in self.blocks for entry in block.entries if entry.is_option]


def run(program, *words):
    """What a program prints, as broken into 80 columns, wherever it runs."""
    environment = {**os.environ, "COLUMNS": "80"}
    return subprocess.run([program, *words], env=environment, check=True, text=True, stdout=subprocess.PIPE).stdout


class Command:
    """A command of `muster`, by its words, such as bench scale."""

    def __init__(self, program, *words):
        self.words = words
        self.names = {}  # of options: whether a value follows
        text = run(program, *words, "--help")
        self.help = Help(text)
        for line in run(program, *words, "--help-options").split():
            name = line.rstrip("=")
            if name == "--help" or re.search(rf"(?<![a-z-]){name}(?![a-z-])", text):  # others are of another command
                self.names[name] = line.endswith("=")
        for entry in self.help.option_entries():
            for name in entry.options:
                if name.startswith("--"):
                    self.names.setdefault(name, bool(entry.value))

    def entry(self, name):
        """What the help says of an option, or None."""
        return next((entry for entry in self.help.option_entries() if name in entry.options), None)


def commands(program):
    """All commands that have options of their own: the program's, then those of bench."""
    for first in Help(run(program, "--help")).words():
        command = Command(program, first.word)
        yield command
        if first.word == "bench":
            for entry in command.help.words():
                inner = Command(program, "bench", entry.word)
                if inner.help.usage != command.help.usage:  # some have those of `muster bench`
                    yield inner


def settings(program):
    """The settings of musterd as their help says: those of a world, and those of the service."""
    worlds, service = (block for block in Help(run(program, "--help")).blocks if block.has_options and block.heading)
    own = {"--world", "--set"}
    return ([entry for entry in worlds.entries if entry.options[0] not in own], service.entries)

"""What a Markdown document says to type: its commands, each with the folder, the files and the output that the text gives."""
import os
import re
import shutil
from dataclasses import dataclass, field

import edits

SHELL_LANGUAGES = ("", "sh", "bash", "console")


@dataclass
class Command:
    line: int  # of the document
    text: str
    folder: str = "."  # below the root of the tree
    output: list = field(default_factory=list)  # the lines that it prints; empty: the document does not say
    inline: bool = False


@dataclass
class File:
    line: int
    name: str
    text: str
    folder: str = "."


@dataclass
class Excerpt:
    """Lines of what an earlier command printed."""
    line: int
    command: str  # how it begins
    lines: list


@dataclass
class Stray:
    """A block of which the text does not say what it is for."""
    line: int


@dataclass
class Block:
    line: int
    lines: list
    language: str
    introduction: str  # the paragraph before it
    output_of: str
    part_of: str  # the file of the tree that it stands in, by the mark <!-- part of: FILE -->
    follows: bool  # another block, without a word between


class Scanner:
    """Takes the blocks out of a document's lines; what is left is prose."""

    def __init__(self, lines):
        self.lines = lines
        self.at = 0
        self.blocks = []
        self.prose = [""]  # begins with an empty line, so that line numbers are indices
        self.paragraph = []
        self.words = self.words_before_block = 0  # lines of prose so far, and those in front of the last block
        self.output_of = self.part_of = ""
        while self.at < len(lines):
            self.take_line()

    def take_line(self):
        line = self.lines[self.at]
        fence = re.match(r"(```+|~~~+)\s*(\S*)", line)
        mark = re.match(r"<!-- (output|part) of: (.*) -->$", line)
        if fence:
            self.take_fenced(fence[1], fence[2])
        elif line.startswith("    ") and line.strip() and not self.prose[-1].strip() and not self.is_in_list():
            self.take_indented()
        elif mark:
            setattr(self, f"{mark[1]}_of", mark[2])
            self.skip(1)
        else:
            if line.strip():
                self.words += 1
                self.paragraph = [*self.paragraph, line] if self.prose[-1].strip() else [line]
            self.prose.append(line)
            self.at += 1

    def is_in_list(self):
        return bool(self.paragraph) and re.match(r"\s*([-*+]|\d+[.)])\s", self.paragraph[0]) is not None

    def skip(self, count):
        self.prose += [""] * count
        self.at += count

    def add(self, line, lines, language):
        follows = bool(self.blocks) and self.words == self.words_before_block
        self.blocks.append(Block(line, lines, language, " ".join(self.paragraph), self.output_of, self.part_of, follows))
        self.output_of = self.part_of = ""
        self.words_before_block = self.words

    def take_fenced(self, fence, language):
        begin = self.at + 1
        end = next((i for i in range(begin, len(self.lines)) if self.lines[i].startswith(fence)), len(self.lines))
        self.add(begin + 1, self.lines[begin:end], language)
        self.skip(end + 1 - self.at)

    def take_indented(self):
        end = self.at
        while end < len(self.lines) and (self.lines[end].startswith("    ") or not self.lines[end].strip()):
            end += 1
        while not self.lines[end - 1].strip():
            end -= 1
        self.add(self.at + 1, [line[4:] for line in self.lines[self.at:end]], "")
        self.skip(end - self.at)


def join_lines(block):
    """The lines of a block with their numbers; one that ends with a backslash goes on in the next."""
    number, text = block.line, ""
    for index, line in enumerate(block.lines):
        text += line
        if text.endswith("\\"):
            text = text[:-1]
            continue
        yield number, text
        number, text = block.line + index + 1, ""


def without_comment(text):
    return re.sub(r"(^|\s)#\s.*$", "", text).rstrip()


def read_session(block, folder):
    """The commands of a block with prompts, each with what it prints."""
    commands = []
    for number, text in join_lines(block):
        if text.startswith("$ "):
            commands.append(Command(number, without_comment(text[2:]), folder))
        elif commands:
            commands[-1].output.append(text)
    return commands


def read_block(block):
    named = re.search(r"\bfrom `([\w./-]+)`", block.introduction, re.IGNORECASE)
    folder = named[1] if named else "."
    if block.output_of:
        return [Excerpt(block.line, block.output_of, block.lines)]
    if block.part_of:
        return []
    if block.language not in SHELL_LANGUAGES:
        text = "\n".join(block.lines)
        edit = edits.read_edit(block.line, block.introduction, text, folder)
        name = re.search(r"\bas `([\w./-]+)`:?$", block.introduction)
        return [edit or (File(block.line, name[1], text, folder) if name else Stray(block.line))]
    if any(line.startswith("$ ") for line in block.lines):
        return read_session(block, folder)
    return [Command(number, without_comment(text), folder) for number, text in join_lines(block) if without_comment(text)]


def read_blocks(blocks):
    steps = []
    for block in blocks:
        if block.language == "text" and block.follows and not block.part_of and steps and isinstance(steps[-1], Command):
            steps[-1].output = block.lines
        else:
            steps += read_block(block)
    return steps


def read_spans(prose):
    """The text between single backquotes, which may go over the end of a line."""
    text = "\n".join(prose)
    for span in re.finditer(r"(?<!`)`([^`]+)`(?!`)", text):
        yield text.count("\n", 0, span.start()), " ".join(span[1].split())


def is_command(text, names, tree, ruled):
    """Several words, the first of which is a program: on the PATH, of the tree, or of a command in a block. What a
    rule leaves out is one on every machine. A request of HTTP is none, even where a program is called GET."""
    words = text.split()
    program = words[0]
    if re.match(r"[A-Z]+ /", text):
        return False
    return len(words) > 1 and (
        ruled(text) or
        os.path.basename(program) in names or shutil.which(program) is not None or
        ("/" in program and os.access(f"{tree}/{program}", os.X_OK) and os.path.isfile(f"{tree}/{program}")))


def programs_of(steps):
    return {os.path.basename(step.text.split()[0]) for step in steps if isinstance(step, Command)}


def read_documents(paths, tree, ruled=lambda text: False):
    """Of each document, by its path, the commands, files and excerpts of its blocks in their order, and then the commands
    in its sentences, whose programs may be those of another document."""
    scanners = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            scanners.append(Scanner(file.read().splitlines()))
    all_steps = [read_blocks(scanner.blocks) for scanner in scanners]
    names = set().union(*map(programs_of, all_steps))
    shown = {step.text.removeprefix("./") for steps in all_steps for step in steps if isinstance(step, Command)}
    return {path: add_sentences(steps, scanner, names, shown, tree, ruled)
            for path, steps, scanner in zip(paths, all_steps, scanners)}


def add_sentences(steps, scanner, names, shown, tree, ruled):
    for number, text in read_spans(scanner.prose):
        if is_command(text, names, tree, ruled) and text.removeprefix("./") not in shown:
            shown.add(text.removeprefix("./"))
            steps.append(Command(number, text, inline=True))
    return steps

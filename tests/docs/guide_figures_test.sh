#!/bin/bash
# What the guide's sentences say of a run stands in what the run printed: each number of two digits and more is one of a
# block of code or output, or is rounded from one. Those that are neither are here, each with its reason.
set -u
exec python3 - "${MUSTER_SOURCE_DIR:?}"/tools/docs/guide/*.md <<'END'
import re
import sys

OTHERS = {
    "3.6": "important_load, which the program does not print",
    "2.5": "an example",
    "47,000": "of one machine, which it names",
    "67,000": "of one machine, which it names",
    "12.1": "an example of an id",
}
NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?![\w])")


def value(text):
    return float(text.replace(",", ""))


def rounds_to(number, text):
    """Whether the number, with as many significant digits as the text has, is what the text says."""
    digits = len(text.replace(",", "").replace(".", "").rstrip("0") or "0")
    return float(f"{number:.{max(digits, 2) - 1}e}") == value(text)


def look(paths, others):
    shown, said, missing = set(), [], []
    for path in paths:
        code = False
        for number, line in enumerate(open(path), 1):
            if line.startswith("```"):
                code = not code
            elif code or line.startswith("    "):
                shown |= {value(word.rstrip(",")) for word in re.findall(r"\d[\d,]*(?:\.\d+)?", line)}
            else:
                said.append((path, number, re.sub(r"\]\([^)]*\)|`[^`]*`", "", line)))
    for path, number, line in said:
        for word in (word.rstrip(",") for word in NUMBER.findall(line)):
            if len(word.replace(",", "").replace(".", "").strip("0")) < 2 or word in others:
                continue
            if not any(rounds_to(one, word) for one in shown):
                missing.append(f"{path}:{number}: no block of the guide shows {word}: {line.strip()}")
    return missing


missing = look(sys.argv[1:], OTHERS)
for word in OTHERS: # so the test sees numbers that are shown nowhere
    if not look(sys.argv[1:], {other for other in OTHERS if other != word}):
        missing.append(f"{word} is shown, or no sentence of the guide says it any more: take it out of this test")
print("\n".join(missing))
sys.exit(bool(missing))
END

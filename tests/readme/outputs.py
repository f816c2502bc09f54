"""Whether a command printed what a document shows: words to the letter, and figures within what a rule allows."""
import math
import re

UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0,
         "B": 1.0, "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30, "%": 1.0, "": 1.0}
FIGURE = r"(?<![\w.])[-+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?(?: ?(?:ns|us|ms|s|min|h|B|KiB|MiB|GiB|%))?(?!\w)"
TO_THE_LETTER = None
ANY = math.inf  # figures are there, and what they are does not matter


def value_of(figure):
    number, unit = re.fullmatch(r"([-+\d,.e]*\d) ?(\D*)", figure).groups()
    return float(number.replace(",", "")) * UNITS[unit]


def is_near(figure, wanted, percent):
    one, other = value_of(figure), value_of(wanted)
    return abs(one - other) <= percent / 100 * max(abs(one), abs(other))


def pattern_of(wanted, figure):
    """A regular expression for a line in which ... stands for anything, each run of blanks for any, and each figure for
    one that `figure` finds."""
    parts = re.split(rf"({FIGURE})", wanted) if figure else [wanted]
    texts = [r"\s+".join(re.escape(word).replace(r"\.\.\.", ".*") for word in re.split(r"\s+", part))
             for part in parts[::2]]
    return f"({figure})".join(texts)


def fits_line(line, wanted, percent=TO_THE_LETTER):
    """Whether a line is the wanted one. To the letter blanks count as well; otherwise columns may be as wide as they are."""
    if percent is TO_THE_LETTER:
        return re.fullmatch(re.escape(wanted.rstrip()).replace(r"\.\.\.", ".*"), line.rstrip()) is not None
    found = re.fullmatch(pattern_of(wanted.strip(), FIGURE), line.strip())
    return found is not None and (percent == ANY or all(
        is_near(figure, other, percent) for figure, other in zip(found.groups(), re.findall(FIGURE, wanted.strip()))))


def fits(lines, wanted, percent=TO_THE_LETTER):
    """Whether these are the wanted lines, among which "..." stands for any."""
    if not wanted:
        return not lines
    if wanted[0].strip() == "...":
        return any(fits(lines[begin:], wanted[1:], percent) for begin in range(len(lines) + 1))
    return bool(lines) and fits_line(lines[0], wanted[0], percent) and fits(lines[1:], wanted[1:], percent)


def prints(output, wanted, percent=TO_THE_LETTER):
    return fits(output.strip("\n").splitlines(), "\n".join(wanted).strip("\n").splitlines(), percent)


def first_absent(output, wanted, percent=TO_THE_LETTER):
    """The first of the wanted lines that is not in the output behind the ones before it; None when all are."""
    rest = iter(output.splitlines())
    return next((line for line in wanted if line.strip() and not any(fits_line(one, line, percent) for one in rest)), None)


def has_line(output, wanted):
    """Whether one of the lines is this text, blanks at both ends aside, in which ... stands for anything."""
    return any(re.fullmatch(pattern_of(wanted.strip(), ""), line.strip()) for line in output.splitlines())

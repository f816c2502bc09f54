#!/usr/bin/env python3
"""Draws the diagrams of the guide (tools/docs/guide): one frame, the states of one agent, and the law of periods.

  diagrams.py           writes frame.svg, states.svg and periods.svg beside this file
  diagrams.py --check   says which of them differ from what it would write
"""
import math
import os
import sys
from html import escape

INK, SOFT, PAPER = "#1f2933", "#7b8794", "#ffffff"
SERIAL, SHARED, STATE = "#f2c14e", "#4e8fd0", "#e4ecf4"
BANDS = ["#1b4f8a", "#3c7fb8", "#6fa8cf", "#a3c6de", "#b9bec4"]


class Picture:
    def __init__(self, width, height, title):
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            'font-family="sans-serif" font-size="14">', f"<title>{escape(title)}</title>",
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" '
            f'orient="auto"><path d="M0 0 8 4 0 8z" fill="{INK}"/></marker></defs>',
            f'<rect width="{width}" height="{height}" fill="{PAPER}"/>'
        ]

    def box(self, x, y, width, height, fill, label="", ink=INK):
        self.parts.append(f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="4" fill="{fill}"/>')
        if label:
            self.text(x + width / 2, y + height / 2 + 5, label, "middle", ink)

    def text(self, x, y, words, anchor="start", ink=INK, size=14):
        self.parts.append(f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" fill="{ink}" font-size="{size}">'
                          f"{escape(words)}</text>")

    def path(self, steps, ink=INK, width=1.5, more=""):
        self.parts.append(f'<path d="{steps}" fill="none" stroke="{ink}" stroke-width="{width:g}" {more}/>')

    def arrow(self, steps):
        self.path(steps, more='marker-end="url(#tip)"')

    def done(self):
        return "\n".join([*self.parts, "</svg>"]) + "\n"


# ---------------------------------------------------------------------------------------------------------- one frame

# What a stage asks, its width, and whether workers help (the head of src/frame/frame.c).
STAGES = [("1 intake", "what changed?", 95, False), ("2 score", "who matters?", 95, True),
          ("3 fold", "which herds?", 90, True), ("4 fit", "how far to stretch?", 120, False),
          ("5 release", "who is due?", 95, True), ("6 rank", "in which order?", 110, False),
          ("7 run", "updates, atom by atom, until the deadline", 266, True),
          ("8 commit", "actions; what all see", 145, True)]


def draw_frame():
    picture = Picture(1205, 330, "One frame: eight stages, on four workers")
    left, top, row, x = 150, 82, 46, 150
    picture.text(20, 30, "One call of muster_frame_run(): eight stages, not to scale", size=17)
    for worker in range(4):
        label = "frame's thread" if worker == 0 else f"worker {worker}"
        picture.text(left - 14, top + worker * row + 24, label, "end", SOFT)
    for name, question, width, shared in STAGES:
        for worker in range(4 if shared else 1):
            if name == "7 run":
                draw_updates(picture, x, top + worker * row, width - 6, worker)
            else:
                picture.box(x, top + worker * row, width - 6, row - 12, SHARED if shared else SERIAL)
        picture.text(x + width / 2 - 3, top - 12, name, "middle")
        picture.text(x + width / 2 - 3, top + 4 * row + 14, question, "middle", SOFT, 12)
        x += width
    bottom = top + 4 * row
    picture.path(f"M{x + 8} {top - 34}V{bottom + 22}", "#c0392b", 2, 'stroke-dasharray="6 4"')
    picture.text(x + 4, top - 40, "end of the budget", "end", "#c0392b")
    picture.box(left, bottom + 36, 18, 14, SERIAL)
    picture.text(left + 26, bottom + 48, "on the frame's thread alone", ink=SOFT)
    picture.box(left + 260, bottom + 36, 18, 14, SHARED)
    picture.text(left + 286, bottom + 48, "workers help", ink=SOFT)
    picture.text(left + 400, bottom + 48, "In stage 7 each box is one update; an update is never run by two workers at once.",
                 ink=SOFT)
    return picture.done()


def draw_updates(picture, x, y, width, worker):
    """A worker's updates: of different length, and none begins that would not end in time."""
    lengths = [(46, 20, 33, 60, 25, 40, 34), (28, 52, 24, 38, 30, 66, 20), (60, 31, 48, 22, 44, 50),
               (22, 36, 70, 27, 52, 24, 26)][worker]
    at = x
    for length in lengths:
        picture.box(at, y, length - 3, 34, SHARED)
        at += length
    assert at <= x + width + 3


# ------------------------------------------------------------------------------------------------------ one agent's states

# As in the diagram at the head of src/agents/store.h.
STATES = {"pending": (40, 70), "waiting": (300, 70), "ready": (560, 70), "admitted": (820, 70), "acting": (560, 270),
          "quarantined": (40, 270)}
NOTES = {"pending": "spawned, has an id", "waiting": "for its period, a wake", "ready": "due; by deadline",
         "admitted": "runs in this frame", "acting": "waits for its actions", "quarantined": "not run at all"}


def draw_states():
    picture = Picture(1010, 400, "The states of one agent")
    picture.text(20, 30, "The states of one agent, and the stage that moves it along each arrow", size=17)
    for name, (x, y) in STATES.items():
        picture.box(x, y, 150, 56, STATE)
        picture.text(x + 75, y + 24, name, "middle")
        picture.text(x + 75, y + 44, NOTES[name], "middle", SOFT, 12)
    for x, stage in ((190, "1 intake"), (450, "5 release"), (710, "6 rank")):
        picture.arrow(f"M{x} 98H{x + 108}")
        picture.text(x + 54, 90, stage, "middle")
    picture.arrow("M880 126V160H650V128")
    picture.text(765, 153, "no time, or preempted", "middle")
    picture.arrow("M930 126V206H400V128")
    picture.text(690, 199, "8 commit: the update is complete", "middle")
    picture.arrow("M950 126V298H712")
    picture.text(830, 290, "no time for its actions", "middle")
    picture.arrow("M560 298H350V128")
    picture.text(455, 290, "they ran", "middle")
    picture.arrow("M320 126V298H192")
    picture.text(312, 250, "8 commit: overruns,", "end")
    picture.text(312, 268, "where the host asks", "end")
    picture.arrow("M75 270V190H310V128")
    picture.text(90, 182, "1 intake: reinstated")
    picture.text(40, 370, "A removal takes effect in stage 1, in whatever state the agent is. Its id is never given again.",
                 ink=SOFT)
    return picture.done()


# ------------------------------------------------------------------------------------------------------ the law of periods

IMPORTANCE = [1, 0.75, 0.5, 0.25, 0]
AGENTS = [150, 200, 350, 500, 50000]
WANTED_S, WISH_S, COST_S, OCTAVES = 0.05, 2.0, 1e-6, 12


def periods_at(load):
    """The period of each importance: T = clamp(mu sqrt(C / w), T_io, T_imax max(1, 2 L)), with mu so that all fits."""
    capacity = sum(AGENTS) * COST_S / WISH_S / load

    def periods(mu):
        longest = WISH_S * max(1, 2 * load)
        return [min(max(mu * math.sqrt(COST_S / 2**(OCTAVES * i)), WANTED_S), longest) for i in IMPORTANCE]

    low, high = 1e-6, 1e9
    for _ in range(200):
        middle = math.sqrt(low * high)
        demand = sum(n * COST_S / t for n, t in zip(AGENTS, periods(middle)))
        low, high = (middle, high) if demand > capacity else (low, middle)
    return periods(high)


def draw_periods():
    picture = Picture(820, 470, "The law of periods")
    left, top, width, height = 90, 60, 560, 330
    loads, spans = (0.05, 10), (0.03, 40)

    def x_of(load):
        return left + width * math.log(load / loads[0]) / math.log(loads[1] / loads[0])

    def y_of(period):
        return top + height - height * math.log(period / spans[0]) / math.log(spans[1] / spans[0])

    picture.text(20, 30, "How long an agent waits for its next update, by load and importance", size=17)
    for period, label in ((0.05, "50 ms"), (0.1, "100 ms"), (0.5, "500 ms"), (1, "1 s"), (2, "2 s"), (10, "10 s")):
        picture.path(f"M{left} {y_of(period):.1f}H{left + width}", "#d9dee3", 1)
        picture.text(left - 8, y_of(period) + 5, label, "end", SOFT)
    for load in (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10):
        picture.path(f"M{x_of(load):.1f} {top}V{top + height}", "#eef1f4", 1)
        picture.text(x_of(load), top + height + 20, f"{load:g}", "middle", SOFT)
    steps = [loads[0] * (loads[1] / loads[0])**(i / 120) for i in range(121)]
    results = [periods_at(load) for load in steps]
    for band, importance in enumerate(IMPORTANCE):
        points = " ".join(f"{x_of(load):.1f} {y_of(result[band]):.1f}" for load, result in zip(steps, results))
        picture.path(f"M{points}", BANDS[band], 3)
        picture.text(left + width + 10, y_of(results[-1][band]) + 5, f"importance {importance:g}", ink=INK)
    picture.text(left + width / 2, top + height + 44,
                 "pressure: what all would take at their longest wished periods (2 s), as a part of the budget", "middle")
    picture.text(left + width / 2, top + height + 64,
                 "51,200 agents of equal cost that want an update every 50 ms; 1,200 of them are near a player", "middle",
                 SOFT, 12)
    return picture.done()


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    folder = os.path.dirname(os.path.abspath(__file__))
    stale = 0
    for name, draw in (("frame", draw_frame), ("states", draw_states), ("periods", draw_periods)):
        path = f"{folder}/{name}.svg"
        if not sys.argv[1:]:
            with open(path, "w", encoding="utf-8") as file:
                file.write(draw())
        elif not os.path.exists(path) or open(path, encoding="utf-8").read() != draw():
            print(f"{path} is not what diagrams.py draws: run it without --check")
            stale += 1
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())

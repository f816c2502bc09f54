"""Colours as people see them: how they stand out, and how far apart they are for eyes with three, or two, kinds of
cones."""
from itertools import combinations

# Linear RGB as dichromats see it: Machado, Oliveira and Fernandes (2009), severity 1.
EYES = {
    "three": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protan": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deutan": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritan": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}


def linear(colour):
    return [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
            for value in (part / 255 for part in colour)]


def contrast(one, other):
    """By WCAG 2: 3 is enough for marks, 4.5 for text."""
    light = [sum(weight * value for weight, value in zip((0.2126, 0.7152, 0.0722), linear(colour)))
             for colour in (one, other)]
    return (max(light) + 0.05) / (min(light) + 0.05)


def lab(values):
    """CIE L*a*b* of linear RGB, white D65."""
    red, green, blue = (min(1, max(0, value)) for value in values)
    x, y, z = (0.4124 * red + 0.3576 * green + 0.1805 * blue, 0.2126 * red + 0.7152 * green + 0.0722 * blue,
               0.0193 * red + 0.1192 * green + 0.9505 * blue)
    fx, fy, fz = (value ** (1 / 3) if value > 0.008856 else 7.787 * value + 16 / 116
                  for value in (x / 0.95047, y, z / 1.08883))
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


def seen(colour, eye):
    values = linear(colour)
    return lab([sum(weight * value for weight, value in zip(row, values)) for row in EYES[eye]])


def nearest(colours, eye):
    """How far apart the two of these are that are most alike; 2 is just noticed side by side."""
    return min(sum((a - b) ** 2 for a, b in zip(seen(one, eye), seen(other, eye))) ** 0.5
               for one, other in combinations(colours, 2))

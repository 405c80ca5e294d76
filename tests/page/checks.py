# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tests of pages share: TAP, opening a page, colours."""
import re
import sys

done = 0
failed = 0


def ok(good, what, why=""):
    global done, failed
    done += 1
    failed += not good
    print("%sok %d - %s" % ("" if good else "not ", done, what))
    if not good and why != "":
        print("#   %s" % str(why)[:1000].replace("\n", "\n#   "))
    sys.stdout.flush()


def same(got, want, what):
    ok(got == want, what, "%r, not %r" % (got, want))


def near(got, want, what, tolerance=1e-9):
    good = (got is not None and want is not None and
            abs(got - want) <= tolerance * max(abs(want), 1e-12))
    ok(good, what, "%r, not %r" % (got, want))


def finish():
    """Prints the plan; returns the exit status."""
    print("1..%d" % done)
    return failed > 0


def load(b, url):
    b.messages()
    b.requests()
    b.open(url)
    return b.wait("document.documentElement.dataset.complete", 60)


def clean(b, what):
    messages = b.messages()
    ok(not messages, what + ": no message on the console", messages)
    asked = [r for r in b.requests() if not r.startswith("file:")]
    # The start page of the browser may still have been loading.
    asked = [r for r in asked if not re.match("chrome:|data:", r)]
    ok(not asked, what + ": no request to a network", asked)


def raw(b, selector):
    """The exact value of a cell or tile."""
    v = b.run("const e = document.querySelector(arguments[0]);"
              "return e && e.dataset.value", selector)
    return None if v in (None, "NaN") else float(v)


# The share of canvases that have a pixel that is not transparent.
DRAWN = """const all = [...document.querySelectorAll('.plot canvas')];
const full = c => c.width && new Uint32Array(c.getContext('2d')
    .getImageData(0, 0, c.width, c.height).data.buffer).some(p => p);
return [all.length, all.filter(full).length,
    document.querySelectorAll('.plot').length];"""

OVERFLOW = """const w = document.documentElement.clientWidth;
return [document.documentElement.scrollWidth,
    [...document.querySelectorAll('body *')].filter(e =>
        !e.closest('.wide, nav ul, .skip, .unseen') &&
        e.getBoundingClientRect().right > w + 1 &&
        getComputedStyle(e).display !== 'none')
        .map(e => e.tagName + '.' + e.className).slice(0, 5)];"""


def overflow(b, what):
    width, wide = b.run(OVERFLOW)
    ok(width <= 320 and not wide, what + ": fits into 320 pixels",
       (width, wide))


def linear(c):
    return c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4


# Machado, Oliveira and Fernandes (2009), severity 1.0.
MACHADO = {
    "protanopia": (0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216,
                   -0.003882, -0.048116, 1.051998),
    "deuteranopia": (0.367322, 0.860646, -0.227968, 0.280085, 0.672501,
                     0.047413, -0.011820, 0.042940, 0.968881),
    "tritanopia": (1.255528, -0.076749, -0.178779, -0.078411, 0.930809,
                   0.147602, 0.004733, 0.691367, 0.303900)}


def lab(rgb, matrix=None):
    r = [linear(c / 255) for c in rgb]
    if matrix:
        r = [min(max(sum(matrix[3 * i + k] * r[k] for k in range(3)), 0), 1)
             for i in range(3)]
    xyz = [sum(m * c for m, c in zip(row, r)) for row in (
        (0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722),
        (0.0193, 0.1192, 0.9505))]
    f = [(v / w) ** (1 / 3) if v / w > 0.008856 else 7.787 * v / w + 16 / 116
         for v, w in zip(xyz, (0.9505, 1, 1.089))]
    return (116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2]))


def contrast(a, b):
    def light(rgb):
        r = [linear(c / 255) for c in rgb]
        return 0.2126 * r[0] + 0.7152 * r[1] + 0.0722 * r[2]
    x, y = sorted((light(a), light(b)))
    return (y + 0.05) / (x + 0.05)

#!/usr/bin/env python3
"""Draws Signs.ttf: the two stars of judgements, which no other font of the window has. pip install fonttools"""

import math
import os

from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen

EM, MIDDLE, WIDTH = 1000, (450, 340), 900
# the inner points of a star whose sides are straight
INNER = math.cos(math.radians(72)) / math.cos(math.radians(36))


def star(pen, radius, turns):
    """Five points and five notches, clockwise or, for a hole, against the clock."""
    points = []
    for n in range(10):
        angle = math.radians(90 - 36 * n * turns)
        reach = radius * (1 if n % 2 == 0 else INNER)
        points.append((round(MIDDLE[0] + reach * math.cos(angle)), round(MIDDLE[1] + reach * math.sin(angle))))
    pen.moveTo(points[0])
    for point in points[1:]:
        pen.lineTo(point)
    pen.closePath()


def drawn(*stars):
    pen = TTGlyphPen(None)
    for radius, turns in stars:
        star(pen, radius, turns)
    return pen.glyph()


glyphs = {".notdef": drawn(), "full": drawn((430, 1)), "empty": drawn((430, 1), (310, -1))}
font = FontBuilder(EM, isTTF=True)
font.setupGlyphOrder(list(glyphs))
font.setupCharacterMap({0x2605: "full", 0x2606: "empty"})
font.setupGlyf(glyphs)
font.setupHorizontalMetrics({name: (WIDTH, 0) for name in glyphs})
font.setupHorizontalHeader(ascent=800, descent=-200)
font.setupNameTable({"familyName": "Interlinear Signs", "styleName": "Regular"})
font.setupOS2(sTypoAscender=800, usWinAscent=800, usWinDescent=200)
font.setupPost()
font.font["head"].created = font.font["head"].modified = 0
font.font.recalcTimestamp = False
font.save(os.path.join(os.path.dirname(os.path.abspath(__file__)), "Signs.ttf"))

"""How letters of other scripts are written in Latin ones: the rule of engine/data/bytes/folded_text.cpp, by which the program names
experiments."""

from __future__ import annotations

# From à, from ā, from ά, from α, from а.
_LATIN_1 = "a a a a ae a ae c e e e e i i i i d n o o o o oe - o u u u ue y th y".split()
_LATIN_EXTENDED = ("aaaaaaccccccccddddeeeeeeeeeegggggggghhhhiiiiiiiiiiiijjkkkllllllllllnnnnnnnnn"
                   "oooooooorrrrrrssssssssttttttuuuuuuuuuuuuwwyyyzzzzzzs")
_ACCENTED = "a e i i".split()
_GREEK = "a v g d e z i th i k l m n x o p r s s t y f ch ps o i y o y o".split()
_CYRILLIC = ("a b v g d e zh z i i k l m n o p r s t u f kh ts ch sh shch - y - e yu ya "
             "e e dj g e dz i i j lj nj c k i u dz").split()
_WITHOUT_SOUND = (0x44a, 0x44c)  # ъ and ь, which nothing is written for.

_SPELLED = {first + i: spelled
            for first, letters in ((0xe0, _LATIN_1), (0x100, _LATIN_EXTENDED), (0x3ac, _ACCENTED), (0x3b1, _GREEK),
                                   (0x430, _CYRILLIC))
            for i, spelled in enumerate(letters)}
_SPELLED.update({0xdf: "ss", 0x491: "g", **dict.fromkeys(_WITHOUT_SOUND, ""), **dict.fromkeys(range(0x300, 0x370), "")})

_CAPITALS = ((0xc0, 0xd6, 0x20), (0xd8, 0xde, 0x20), (0x391, 0x3a9, 0x20), (0x410, 0x42f, 0x20), (0x400, 0x40f, 0x50))


def _small(code: int) -> int:
    for first, last, distance in _CAPITALS:
        if first <= code <= last:
            return code + distance
    even = 0x100 <= code <= 0x137 or 0x14a <= code <= 0x177
    odd = 0x139 <= code <= 0x148 or 0x179 <= code <= 0x17e
    return code + (even and code % 2 == 0 or odd and code % 2 == 1)


def in_latin_letters(text: str) -> str:
    """Returns "groesse" of "größe", "tsena" of "цена"; what has no usual spelling is one '-' for each run of it."""
    out, unknown = "", False
    for letter in text:
        known = letter if letter.isascii() else _SPELLED.get(_small(ord(letter)))
        out += known if known is not None else "" if unknown else "-"
        unknown = known is None
    return out

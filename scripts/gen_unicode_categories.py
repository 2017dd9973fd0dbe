#!/usr/bin/python3
"""Writes lib/Text/UnicodeCategories.inc: where each run of one general category begins.

    scripts/gen_unicode_categories.py > lib/Text/UnicodeCategories.inc

The categories are those that patterns of tokenizers ask for (Lu, Ll, Lt, Lm, Lo, M, N,
P, S, Z); all others are C. Unicode's data come with Python.
"""

import sys
import unicodedata

KINDS = ["C", "Lu", "Ll", "Lt", "Lm", "Lo", "M", "N", "P", "S", "Z"]


def kind(code):
    category = unicodedata.category(chr(code))
    return KINDS.index(category if category in KINDS else category[0])


def main():
    print(f"// Unicode {unicodedata.unidata_version}; made by scripts/gen_unicode_categories.py.")
    print("// Each entry: the first code point of a run, times 16, plus its category.")
    runs, last = [], None
    for code in range(sys.maxunicode + 1):
        current = kind(code)
        if current != last:
            runs.append(code * 16 + current)
            last = current
    for at in range(0, len(runs), 10):
        print(" ".join(f"0x{run:x}," for run in runs[at : at + 10]))


if __name__ == "__main__":
    main()

"""How often people make each kind of slip.

The families of the twenty single-statement patterns carry their shares of CTSSB-1M (Richter and Wehrheim, "TSSB-3M:
Mining single statement bugs at massive scale", 2022; https://github.com/cedricrupb/TSSB3M). No count exists for the
others; they got round figures, together somewhat less than one half of the whole, as fixes outside the patterns are
(553 k of 966 k, most of them of several tokens, which no single edit here makes).
"""

from __future__ import annotations

SHARES: dict[str, float] = {
    # The twenty patterns.
    "identifier": 0.167,
    "operand": 0.116,
    "more arguments": 0.099,
    "function name": 0.094,
    "numeric literal": 0.080,
    "wrap in call": 0.077,
    "attribute": 0.073,
    "add method call": 0.041,
    "more specific if": 0.039,
    "elements": 0.036,
    "fewer arguments": 0.034,
    "boolean literal": 0.031,
    "attribute access": 0.024,
    "binary operator": 0.022,
    "caller": 0.019,
    "keyword argument": 0.015,
    "less specific if": 0.012,
    "unary operator": 0.010,
    "swap arguments": 0.005,
    "constant type": 0.005,
    # Outside the patterns; comparisons and boolean operators are "binary operator" there.
    "comparison": 0.040,
    "boolean operator": 0.010,
    "augmented assignment": 0.010,
    "swap operands": 0.015,
    "drop operand": 0.020,
    "parentheses": 0.010,
    "drop condition": 0.010,
    "negate": 0.015,
    "condition donor": 0.010,
    "statement keyword": 0.010,
    "exception": 0.010,
    "drop attribute": 0.010,
    "string literal": 0.040,
    "drop call": 0.020,
    "subscript": 0.030,
    "slice": 0.030,
    "add subscript": 0.015,
    "drop subscript": 0.010,
    "offset": 0.030,
    "add operand": 0.010,
    "donor expression": 0.040,
    "return value": 0.030,
    "delete statement": 0.030,
    "move statement": 0.020,
    "insert statement": 0.040,
}

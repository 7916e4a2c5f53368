"""Writes csrc/math/coefficients.h, the constants of the elementary functions, from their definitions in 1,600 bits.

    python tools/coefficients.py > csrc/math/coefficients.h

Needs mpmath. A polynomial passes through its function at the Chebyshev nodes of an interval, which is within a small factor of
the best one, and its coefficients are then rounded to doubles; the tests measure what that costs.
"""
from mpmath import cos, exp, log, lu_solve, matrix, mp, mpf, pi, sin, sqrt

mp.prec = 1600
TINY = mpf(2) ** -40  # where a quotient has no value at 0
MARGIN = mpf(2) ** -12  # the reduced argument may lie beyond its interval by the rounding of the quotient


def interpolate(f, low, high, n):
    """The n coefficients, lowest first, of the polynomial that equals f at n Chebyshev nodes of [low, high]."""
    nodes = [(low + high) / 2 + (high - low) / 2 * cos((2 * i + 1) * pi / (2 * n)) for i in range(n)]
    powers = matrix([[x**j for j in range(n)] for x in nodes])
    return list(lu_solve(powers, matrix([f(x) for x in nodes])))


def split(x, *bits):
    """Doubles that sum to x: leading ones with so many significant bits each, cut off, then what is left, rounded."""
    parts = []
    for n in bits:
        _, exponent = mp.frexp(x)
        unit = mpf(2) ** (exponent - n)
        parts.append(mp.floor(x / unit) * unit)
        x -= parts[-1]
    return [float(part) for part in [*parts, x]]


def constant(name, value, comment):
    print(f"static const double {name} = {float(value).hex()}; /* {comment} */")


def table(name, values, comment):
    rows = [", ".join(float(x).hex() for x in values[i:i + 4]) for i in range(0, len(values), 4)]
    print(f"/* {comment} */\nstatic const double {name}[{len(values)}] = {{\n    " + ",\n    ".join(rows) + ",\n};")


def exponentials():
    ln2 = log(mpf(2))
    half = ln2 / 2 + MARGIN
    high, low = split(ln2, 42)
    constant("inverse_ln2", 1 / ln2, "1 / log(2)")
    constant("ln2_high", high, "log(2) to 42 bits: its product with an exponent is exact")
    constant("ln2_low", low, "log(2) - ln2_high")
    head, tail = split(ln2, 26)
    constant("ln2_head", head, "log(2) to 26 bits, a factor of exact products")
    constant("ln2_tail", tail, "log(2) - ln2_head")
    table("exp_series", interpolate(lambda r: (exp(r) - 1 - r) / r**2, -half, half, 10), "(exp(r) - 1 - r) / r^2 for |r| <= log(2)/2")
    table("exp_tail", interpolate(lambda r: (exp(r) - 1 - r - r * r / 2) / r**3, -half, half, 10), "(exp(r) - 1 - r - r^2/2) / r^3 for |r| <= log(2)/2")


def logarithms():
    s = (sqrt(mpf(2)) - 1) / (sqrt(mpf(2)) + 1) + MARGIN

    def tail(z):
        root = sqrt(z)
        return ((log((1 + root) / (1 - root)) - 2 * root) / root) / z
    table("log_tail", interpolate(tail, TINY, s * s, 7), "(log((1 + s) / (1 - s)) - 2 s) / s^3 in z = s^2, where (1 + s) / (1 - s) is between sqrt(1/2) and sqrt(2)")
    head, rest = split(1 / log(mpf(2)), 26)
    constant("inverse_ln2_head", head, "1 / log(2) to 26 bits")
    constant("inverse_ln2_tail", rest, "1 / log(2) - inverse_ln2_head")
    constant("inverse_ln10", 1 / log(mpf(10)), "1 / log(10)")
    head, rest = split(1 / log(mpf(10)), 26)
    constant("inverse_ln10_head", head, "1 / log(10) to 26 bits")
    constant("inverse_ln10_tail", rest, "1 / log(10) - inverse_ln10_head")
    high, low = split(log(mpf(2)) / log(mpf(10)), 42)
    constant("log10_2_high", high, "log10(2) to 42 bits")
    constant("log10_2_low", low, "log10(2) - log10_2_high")


def waves():
    first, second, third = split(pi / 2, 33, 33)
    constant("two_over_pi", 2 / pi, "2 / pi")
    constant("half_pi_1", first, "pi / 2 to 33 bits: its product with a number of quarters below 2^20 is exact")
    constant("half_pi_2", second, "the next 33 bits")
    constant("half_pi_3", third, "and the rest")
    constant("half_pi", pi / 2, "pi / 2")
    head, tail = split(pi / 2, 26)
    constant("half_pi_head", head, "pi / 2 to 26 bits")
    constant("half_pi_tail", tail, "pi / 2 - half_pi_head")
    end = (pi / 4 + MARGIN) ** 2
    table("sine_tail", interpolate(lambda z: (1 - sin(sqrt(z)) / sqrt(z)) / z, TINY, end, 7), "(r - sin(r)) / r^3 in z = r^2, for |r| <= pi/4")
    table("cosine_tail", interpolate(lambda z: (cos(sqrt(z)) - 1 + z / 2) / z**2, TINY, end, 6), "(cos(r) - 1 + r^2/2) / r^4 in z = r^2")
    words = [int(mp.floor(2 / pi * mpf(2) ** (64 * i))) % 2**64 for i in range(20)]
    print("/* 2 / pi in words of 64 bits, of which the first stands before the point. */")
    rows = [", ".join(f"UINT64_C({word:#018x})" for word in words[i:i + 4]) for i in range(0, len(words), 4)]
    print(f"static const uint64_t two_over_pi_words[{len(words)}] = {{\n    " + ",\n    ".join(rows) + ",\n};")


if __name__ == "__main__":
    print("/* Constants of the elementary functions. Written by tools/coefficients.py, which says what each is; not to be edited.\n"
          " *\n * Relies on: nothing. Relied on by: elementary.h, elementary_rare.c. */")
    print("#ifndef PYSCAN_MATH_COEFFICIENTS_H\n#define PYSCAN_MATH_COEFFICIENTS_H\n\n#include <stdint.h>\n")
    exponentials()
    logarithms()
    waves()
    print("\n#endif")

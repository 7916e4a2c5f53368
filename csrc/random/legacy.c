/* The samplers of numpy.random.RandomState: Gaussians by Marsaglia's polar method, the rest from them and from uniforms.
 *
 * NEP 19 freezes the stream of RandomState, so every rounding counts: each expression is computed in the order in which it
 * stands here. bind uses a function only after its draws and states were the object's own in each regime of the
 * distribution (selfcheck.c). Where Generator and RandomState share a function, the running NumPy's is taken.
 * Relies on: stream.h, mt19937.h, the C library. Relied on by: see legacy.h. */
#include "random/legacy.h"

#include <math.h>
#include <string.h>

#include "base/names.h"

static const double pi = 3.14159265358979323846;

/* ---- uniform numbers ----
 * Those of a Mersenne twister are drawn ahead, more each time, but never beyond its key: so what was not used is taken back
 * by counting, and a key is made anew where it would be without. */

enum { FIRST_AHEAD = 8, MOST_AHEAD = MT19937_WORDS / 2 };

void legacy_start(LegacyGen *gen, const Stream *stream, bool is_fill)
{
    gen->bitgen = *stream->bitgen;
    gen->gauss = stream->gauss;
    gen->next = gen->end = gen->ahead;
    gen->n_ahead = is_fill && stream->kind == STREAM_MT19937 ? FIRST_AHEAD : 0;
}

void legacy_stop(LegacyGen *gen)
{
    if (gen->next < gen->end) {
        mt19937_take_back(gen->bitgen.state, gen->end - gen->next);
    }
}

static int64_t least_of(int64_t a, int64_t b) { return a < b ? a : b; }

static double draw_more(LegacyGen *gen)
{
    int64_t n = gen->n_ahead == 0 ? 0 : least_of(mt19937_n_ahead(gen->bitgen.state), gen->n_ahead);
    uint64_t words[MOST_AHEAD];

    if (n == 0) {
        return gen->bitgen.next_double(gen->bitgen.state);
    }
    mt19937_doubles(gen->bitgen.state, words, n);
    for (int64_t i = 0; i < n; i++) {
        gen->ahead[i] = (double)(int64_t)(words[i] >> 11) * 0x1p-53;
    }
    gen->n_ahead = least_of(4 * gen->n_ahead, MOST_AHEAD);
    gen->next = gen->ahead + 1;
    gen->end = gen->ahead + n;
    return gen->ahead[0];
}

static double draw_unit(BitGen *bitgen)
{
    LegacyGen *gen = (LegacyGen *)(void *)bitgen;

    return gen->next < gen->end ? *gen->next++ : draw_more(gen);
}

/* ---- Gaussians ---- */

/* One of a pair: the other is kept, and comes next. A point is drawn in the unit circle, whose direction is that of a
 * pair of Gaussians and whose squared distance from the centre gives their length. */
static double draw_gauss(BitGen *bitgen)
{
    Gauss *kept = ((LegacyGen *)(void *)bitgen)->gauss;
    double x, y, square, factor;

    if (kept->has_value) {
        double value = kept->value;

        *kept = (Gauss){0, 0.0};
        return value;
    }
    do {
        x = 2.0 * draw_unit(bitgen) - 1.0;
        y = 2.0 * draw_unit(bitgen) - 1.0;
        square = x * x + y * y;
    } while (square >= 1.0 || square == 0.0);
    factor = sqrt(-2.0 * log(square) / square);
    kept->has_value = 1;
    kept->value = factor * x;
    return factor * y;
}

static double draw_normal(BitGen *bitgen, double loc, double scale) { return loc + scale * draw_gauss(bitgen); }

static double draw_lognormal(BitGen *bitgen, double mean, double sigma) { return exp(draw_normal(bitgen, mean, sigma)); }

static double draw_standard_cauchy(BitGen *bitgen)
{
    double above = draw_gauss(bitgen);

    return above / draw_gauss(bitgen);
}

/* ---- exponentials and their powers ---- */

static double draw_standard_exponential(BitGen *bitgen) { return -log(1.0 - draw_unit(bitgen)); }

static double draw_exponential(BitGen *bitgen, double scale) { return scale * draw_standard_exponential(bitgen); }

static double draw_weibull(BitGen *bitgen, double shape)
{
    return shape == 0.0 ? 0.0 : pow(draw_standard_exponential(bitgen), 1.0 / shape);
}

static double draw_power(BitGen *bitgen, double a) { return pow(1.0 - exp(-draw_standard_exponential(bitgen)), 1.0 / a); }

static double draw_pareto(BitGen *bitgen, double a) { return exp(draw_standard_exponential(bitgen) / a) - 1.0; }

static double draw_rayleigh(BitGen *bitgen, double scale) { return scale * sqrt(-2.0 * log1p(-draw_unit(bitgen))); }

/* ---- gammas ---- */

/* A shape below 1, by rejection from a density of two pieces, a power and an exponential (Ahrens and Dieter). */
static double draw_small_gamma(BitGen *bitgen, double shape)
{
    for (;;) {
        double u = draw_unit(bitgen), bound = draw_standard_exponential(bitgen);

        if (u <= 1.0 - shape) {
            double x = pow(u, 1.0 / shape);

            if (x <= bound) {
                return x;
            }
        } else {
            double y = -log((1.0 - u) / shape), x = pow(1.0 - shape + shape * y, 1.0 / shape);

            if (x <= bound + y) {
                return x;
            }
        }
    }
}

/* A shape above 1, by the cube of a Gaussian (Marsaglia and Tsang): most are accepted by the squeeze, without a logarithm. */
static double draw_large_gamma(BitGen *bitgen, double shape)
{
    double b = shape - 1.0 / 3.0, c = 1.0 / sqrt(9.0 * b);

    for (;;) {
        double x, v, u;

        do {
            x = draw_gauss(bitgen);
            v = 1.0 + c * x;
        } while (v <= 0.0);
        v = v * v * v;
        u = draw_unit(bitgen);
        if (u < 1.0 - 0.0331 * (x * x) * (x * x) || log(u) < 0.5 * x * x + b * (1.0 - v + log(v))) {
            return b * v;
        }
    }
}

static double draw_standard_gamma(BitGen *bitgen, double shape)
{
    if (shape == 1.0) {
        return draw_standard_exponential(bitgen);
    }
    if (shape == 0.0) {
        return 0.0;
    }
    return shape < 1.0 ? draw_small_gamma(bitgen, shape) : draw_large_gamma(bitgen, shape);
}

static double draw_gamma(BitGen *bitgen, double shape, double scale) { return scale * draw_standard_gamma(bitgen, shape); }

static double draw_chisquare(BitGen *bitgen, double df) { return 2.0 * draw_standard_gamma(bitgen, df / 2.0); }

static double draw_f(BitGen *bitgen, double df_above, double df_below)
{
    double above = draw_chisquare(bitgen, df_above) * df_below;

    return above / (draw_chisquare(bitgen, df_below) * df_above);
}

static double draw_standard_t(BitGen *bitgen, double df)
{
    double above = draw_gauss(bitgen), below = draw_standard_gamma(bitgen, df / 2.0);

    return sqrt(df / 2.0) * above / sqrt(below);
}

/* x / (x + y) from the logarithms of both. */
static double divide_tiny_powers(double log_x, double log_y)
{
    double most = log_x > log_y ? log_x : log_y;

    log_x -= most;
    log_y -= most;
    return exp(log_x - log(exp(log_x) + exp(log_y)));
}

/* Both shapes at most 1: powers of two uniforms, accepted when their sum is at most 1 (Johnk); by logarithms where both
 * powers are too small for doubles. */
static double draw_small_beta(BitGen *bitgen, double a, double b)
{
    for (;;) {
        double u = draw_unit(bitgen), v = draw_unit(bitgen), x = pow(u, 1.0 / a), y = pow(v, 1.0 / b), sum = x + y;

        if (sum <= 1.0 && u + v > 0.0) {
            return sum > 0.0 ? x / sum : divide_tiny_powers(log(u) / a, log(v) / b);
        }
    }
}

static double draw_beta(BitGen *bitgen, double a, double b)
{
    double x, y;

    if (a <= 1.0 && b <= 1.0) {
        return draw_small_beta(bitgen, a, b);
    }
    x = draw_standard_gamma(bitgen, a);
    y = draw_standard_gamma(bitgen, b);
    return x / (x + y);
}

/* ---- others of the reals ---- */

/* The inverse Gaussian: the smaller root of a quadratic in a squared Gaussian, or its reflection (Michael, Schucany, Haas). */
static double draw_wald(BitGen *bitgen, double mean, double scale)
{
    double half = mean / (2.0 * scale), y = draw_gauss(bitgen), x;

    y = mean * y * y;
    x = mean + half * (y - sqrt(4.0 * scale * y + y * y));
    return draw_unit(bitgen) <= mean / (mean + x) ? x : mean * mean / x;
}

/* The cosine of an angle around 0 by rejection from a wrapped Cauchy law (Best and Fisher). */
static double draw_cosine(BitGen *bitgen, double kappa)
{
    double s;

    if (kappa < 1e-5) {
        s = 1.0 / kappa + kappa; /* the first terms of a series: what follows would cancel */
    } else {
        double r = 1.0 + sqrt(1.0 + 4.0 * kappa * kappa), rho = (r - sqrt(2.0 * r)) / (2.0 * kappa);

        s = (1.0 + rho * rho) / (2.0 * rho);
    }
    if (!(s > 1.0)) {
        return 1.0; /* so concentrated that all angles round to 0; RandomState's own method never ends here */
    }
    for (;;) {
        double z = cos(pi * draw_unit(bitgen)), w = (1.0 + s * z) / (s + z), y = kappa * (s - w), v = draw_unit(bitgen);

        if (y * (2.0 - y) - v >= 0.0 || log(y / v) + 1.0 - y >= 0.0) {
            return w;
        }
    }
}

static double draw_vonmises(BitGen *bitgen, double mu, double kappa)
{
    double angle, turned;

    if (isnan(kappa)) {
        return kappa;
    }
    if (kappa < 1e-8) {
        return pi * (2.0 * draw_unit(bitgen) - 1.0);
    }
    angle = acos(draw_cosine(bitgen, kappa));
    angle = draw_unit(bitgen) < 0.5 ? -angle + mu : angle + mu;
    turned = fmod(fabs(angle) + pi, 2.0 * pi) - pi;
    return angle < 0.0 ? -turned : turned;
}

/* ---- the integers ---- */

/* A real that was rounded, as NumPy converts it: what no int64 holds gives the least one, as on x86. */
static int64_t as_integer(double x) { return x >= -9.2233720368547758e18 && x < 9.2233720368547758e18 ? (int64_t)x : INT64_MIN; }

/* Trials up to the first success: probabilities summed from the first on where few are expected, else by inversion. */
static int64_t draw_geometric(BitGen *bitgen, double p)
{
    double sum = p, product = p, u;
    int64_t n = 1;

    if (p < 0.333333333333333333333333) {
        return as_integer(ceil(log(1.0 - draw_unit(bitgen)) / log(1.0 - p)));
    }
    for (u = draw_unit(bitgen); u > sum; n++) {
        product *= 1.0 - p;
        sum += product;
    }
    return n;
}

/* By rejection from a continuous power law (Devroye). */
static int64_t draw_zipf(BitGen *bitgen, double a)
{
    double power = a - 1.0, b = pow(2.0, power);

    if (isinf(b)) {
        return 1; /* all the others together are below the least double; RandomState's own method never ends here */
    }
    for (;;) {
        double u = 1.0 - draw_unit(bitgen), v = draw_unit(bitgen), x = floor(pow(u, -1.0 / power)), t;

        if (x > 9.2233720368547758e18 || x < 1.0) {
            continue;
        }
        t = pow(1.0 + 1.0 / x, power);
        if (v * x * (t - 1.0) / (b - 1.0) <= t / b) {
            return as_integer(x);
        }
    }
}

/* ---- binomial ---- */

enum { MOST_MASSES = 26 };

/* What both algorithms work out from n and p (at most 0.5) before they draw; kept in the stream's BinomialMemo. */
typedef struct BinomialSetup {
    int64_t n;
    double p, q;
    union {
        struct { /* for inversion, which starts again beyond that many */
            int64_t bound;
            int64_t n_masses; /* the first probabilities, from no success on, as far as they were needed so far */
            double masses[MOST_MASSES];
        };
        struct { /* of the hat over the density (BTPE) */
            int64_t mode;
            double p1, centre, left, right, c, slope_left, slope_right, p2, p3, p4;
        };
    };
} BinomialSetup;
_Static_assert(sizeof(BinomialSetup) <= sizeof(BinomialMemo), "a memo has room for our setup");

static void set_up_inversion(BinomialSetup *setup)
{
    double mean = (double)setup->n * setup->p, most = mean + 10.0 * sqrt(mean * setup->q + 1.0);

    setup->masses[0] = exp((double)setup->n * log(setup->q));
    setup->n_masses = 1;
    setup->bound = (int64_t)((double)setup->n < most ? (double)setup->n : most);
}

/* The probability of x successes from that of x - 1. */
static double find_mass(BinomialSetup *setup, int64_t x, double mass)
{
    mass = ((double)(setup->n - x + 1) * setup->p * mass) / ((double)x * setup->q);
    if (x < MOST_MASSES) {
        setup->masses[x] = mass;
        setup->n_masses = x + 1;
    }
    return mass;
}

/* Sums probabilities from no success on, until they reach a uniform number. */
static int64_t draw_by_inversion(BitGen *bitgen, BinomialSetup *setup)
{
    double mass = setup->masses[0], u = draw_unit(bitgen);
    int64_t x = 0;

    while (u > mass) {
        x++;
        if (x > setup->bound) {
            x = 0;
            mass = setup->masses[0];
            u = draw_unit(bitgen);
        } else {
            u -= mass;
            mass = x < setup->n_masses ? setup->masses[x] : find_mass(setup, x, mass);
        }
    }
    return x;
}

/* BTPE (Kachitvichyanukul and Schmeiser): a triangle over the centre, parallelograms beside it, exponential tails. */
static void set_up_hat(BinomialSetup *setup)
{
    double n = (double)setup->n, p = setup->p, q = setup->q, peak = n * p + p, m, slope;

    setup->mode = (int64_t)floor(peak);
    m = (double)setup->mode;
    setup->p1 = floor(2.195 * sqrt(n * p * q) - 4.6 * q) + 0.5;
    setup->centre = m + 0.5;
    setup->left = setup->centre - setup->p1;
    setup->right = setup->centre + setup->p1;
    setup->c = 0.134 + 20.5 / (15.3 + m);
    slope = (peak - setup->left) / (peak - setup->left * p);
    setup->slope_left = slope * (1.0 + slope / 2.0);
    slope = (setup->right - peak) / (setup->right * q);
    setup->slope_right = slope * (1.0 + slope / 2.0);
    setup->p2 = setup->p1 * (1.0 + 2.0 * setup->c);
    setup->p3 = setup->p2 + setup->c / setup->slope_left;
    setup->p4 = setup->p3 + setup->c / setup->slope_right;
}

/* A point under the hat, beside the triangle: its place y, and *v its height relative to the hat. False: draw again. */
static bool place_beside(const BinomialSetup *setup, double u, double *v, int64_t *y)
{
    if (u <= setup->p2) {
        double x = setup->left + (u - setup->p1) / setup->c;

        *v = *v * setup->c + 1.0 - fabs((double)setup->mode - x + 0.5) / setup->p1;
        *y = (int64_t)floor(x);
        return *v <= 1.0;
    }
    if (u <= setup->p3) {
        *y = as_integer(floor(setup->left + log(*v) / setup->slope_left));
        if (*y < 0 || *v == 0.0) {
            return false;
        }
        *v = *v * (u - setup->p2) * setup->slope_left;
        return true;
    }
    *y = as_integer(floor(setup->right - log(*v) / setup->slope_right));
    if (*y > setup->n || *v == 0.0) {
        return false;
    }
    *v = *v * (u - setup->p3) * setup->slope_right;
    return true;
}

/* What Stirling's formula leaves over for one of the four factorials. */
static double stirling_rest(double x)
{
    double square = x * x;

    return (13680. - (462. - (132. - (99. - 140. / square) / square) / square) / square) / x / 166320.;
}

/* Whether v is below the density at y relative to that at the mode: by the quotients between them when they are near, else
 * by bounds on the logarithm, and only between these by Stirling's formula. RandomState squares the distance and adds to
 * n in int64, where it may wrap round for n above 2^60; so it does here. */
static bool is_below_density(const BinomialSetup *setup, double v, int64_t y)
{
    double p = setup->p, q = setup->q, variance = (double)setup->n * p * q, ratio = p / q;
    uint64_t n = (uint64_t)setup->n, distance = (uint64_t)(y < setup->mode ? setup->mode - y : y - setup->mode);
    double k = (double)distance, rest, around, log_v, x, f, z, w;

    if (!(distance > 20 && k < variance / 2.0 - 1.0)) {
        double above = ratio * (double)(int64_t)(n + 1), density = 1.0;

        for (int64_t i = setup->mode + 1; i <= y; i++) {
            density *= above / (double)i - ratio;
        }
        for (int64_t i = y + 1; i <= setup->mode; i++) {
            density /= above / (double)i - ratio;
        }
        return v <= density;
    }
    rest = (k / variance) * ((k * (k / 3.0 + 0.625) + 0.16666666666666666) / variance + 0.5);
    around = (double)(int64_t)(0 - distance * distance) / (2.0 * variance);
    log_v = log(v);
    if (log_v < around - rest) {
        return true;
    }
    if (log_v > around + rest) {
        return false;
    }
    x = (double)(y + 1);
    f = (double)(setup->mode + 1);
    z = (double)(int64_t)(n + 1 - (uint64_t)setup->mode);
    w = (double)(int64_t)(n - (uint64_t)y + 1);
    return log_v <= setup->centre * log(f / x) + ((double)(setup->n - setup->mode) + 0.5) * log(z / w) + (double)(y - setup->mode) * log(w * p / (x * q))
        + stirling_rest(f) + stirling_rest(z) + stirling_rest(x) + stirling_rest(w);
}

static int64_t draw_by_hat(BitGen *bitgen, const BinomialSetup *setup)
{
    for (;;) {
        double u = draw_unit(bitgen) * setup->p4, v = draw_unit(bitgen);
        int64_t y;

        if (u <= setup->p1) {
            return (int64_t)floor(setup->centre - setup->p1 * v + u);
        }
        if (place_beside(setup, u, &v, &y) && is_below_density(setup, v, y)) {
            return y;
        }
    }
}

static int64_t draw_binomial(BitGen *bitgen, double p, int64_t n, void *memo)
{
    BinomialSetup *setup = memo;
    double rare = p <= 0.5 ? p : 1.0 - p;
    bool is_few = rare * (double)n <= 30.0;
    int64_t y;

    if (setup->n != n || setup->p != rare || setup->q == 0.0) {
        *setup = (BinomialSetup){.n = n, .p = rare, .q = 1.0 - rare};
        if (is_few) {
            set_up_inversion(setup);
        } else {
            set_up_hat(setup);
        }
    }
    y = is_few ? draw_by_inversion(bitgen, setup) : draw_by_hat(bitgen, setup);
    return p <= 0.5 ? y : n - y;
}

/* ---- the table ---- */

typedef struct LegacyRow {
    const char *symbol;
    void (*function)(void); /* NULL: RandomState calls NumPy's function itself */
} LegacyRow;

#define OWN(NAME) {"random_" #NAME, (void (*)(void))draw_##NAME}
#define NUMPYS(NAME) {"random_" #NAME, NULL}
static const LegacyRow rows[] = {
    OWN(normal), OWN(lognormal), OWN(standard_cauchy), {"random_standard_normal", (void (*)(void))draw_gauss},
    OWN(standard_exponential), OWN(exponential), OWN(weibull), OWN(power), OWN(pareto), OWN(rayleigh),
    OWN(standard_gamma), OWN(gamma), OWN(chisquare), OWN(f), OWN(standard_t), OWN(beta), OWN(wald), OWN(vonmises),
    OWN(geometric), OWN(zipf), OWN(binomial),
    NUMPYS(uniform), NUMPYS(standard_uniform), NUMPYS(laplace), NUMPYS(logistic), NUMPYS(gumbel), NUMPYS(triangular),
    NUMPYS(poisson), NUMPYS(bounded_uint64),
};
#undef OWN
#undef NUMPYS

void *legacy_find(const char *symbol, void *numpys)
{
    int i = names_find(symbol, &rows[0].symbol, (int)(sizeof rows / sizeof rows[0]), sizeof rows[0]);

    return i < 0 ? NULL : rows[i].function == NULL ? numpys : (void *)rows[i].function;
}

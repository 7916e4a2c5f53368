/* A made-up generator and made-up distribution functions. Relied on by: test_random.c, test_fuzz.c. */
#include "rig.h"

#include <stddef.h>
#include <string.h>

uint64_t rig_uint64(void *state)
{
    Mix *mix = state;
    uint64_t z = (*mix->word += 0x9E3779B97F4A7C15u);

    mix->n_words++;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static uint32_t rig_uint32(void *state) { return (uint32_t)rig_uint64(state); }

double rig_double(void *state) { return (double)(rig_uint64(state) >> 11) * (1.0 / 9007199254740992.0); }

double rig_d_d(BitGen *bitgen, double a) { return a + bitgen->next_double(bitgen->state); }

double rig_d_dd(BitGen *bitgen, double a, double b) { return a + b * bitgen->next_double(bitgen->state); }

static double rig_d_ddd(BitGen *bitgen, double a, double b, double c) { return rig_d_dd(bitgen, a, b) + c; }

double rig_standard(BitGen *bitgen) { return bitgen->next_double(bitgen->state) - 0.5; }

int64_t rig_l_d(BitGen *bitgen, double a)
{
    double x = a * bitgen->next_double(bitgen->state);

    return x <= 1000.0 ? (int64_t)x : 1000;
}

static int64_t rig_l_dd(BitGen *bitgen, double a, double b) { return rig_l_d(bitgen, a) + (b > 0.5); }

static int64_t rig_l_lll(BitGen *bitgen, int64_t a, int64_t b, int64_t c)
{
    return (int64_t)((bitgen->next_uint64(bitgen->state) ^ (uint64_t)a ^ (uint64_t)b ^ (uint64_t)c) % 1000);
}

uint64_t rig_bounded(BitGen *bitgen, uint64_t low, uint64_t range, uint64_t mask, bool is_masked)
{
    return is_masked || mask != 0 ? 0 : low + (range == 0 ? 0 : bitgen->next_uint64(bitgen->state) % (range + 1));
}

uint64_t rig_interval(BitGen *bitgen, uint64_t last) { return rig_bounded(bitgen, 0, last, 0, false); }

int64_t rig_binomial(BitGen *bitgen, double p, int64_t n, void *memo)
{
    ((BinomialMemo *)memo)->words[0] += 1.0;
    if (n == 0 || p == 0.0) {
        return 0; /* as NumPy's does: without a number */
    }
    return (n < 1000 ? (int64_t)(p * (double)n) : 1000) + (int64_t)(bitgen->next_uint64(bitgen->state) & 1);
}

/* In place of a ufunc's loop: halves the first argument. */
static void rig_halve(char **args, const intptr_t *dimensions, const intptr_t *steps, void *data)
{
    intptr_t result = data == NULL ? 1 : 2; /* of two arguments, when there are data */

    for (intptr_t i = 0; i < dimensions[0]; i++) {
        *(double *)(void *)(args[result] + i * steps[result]) = 0.5 * *(double *)(void *)(args[0] + i * steps[0]);
    }
}

static NumpyLoop rig_unary = {rig_halve, NULL}, rig_binary = {rig_halve, &rig_binary};

static double rig_inverse(double a, double b, int skip_dispatch) { return a + b + skip_dispatch; }

/* The function for each step of dists.def. */
#define RIG_D_D rig_d_d
#define RIG_D_DD rig_d_dd
#define RIG_D_DDD rig_d_ddd
#define RIG_L_D rig_l_d
#define RIG_L_DD rig_l_dd
#define RIG_L_LLL rig_l_lll
#define RIG_UNIFORM rig_d_dd
#define RIG_INTEGERS rig_bounded
#define RIG_BINOMIAL rig_binomial
#define RIG_BERNOULLI rig_binomial
#define RIG_T rig_d_d
#define RIG_CAUCHY &rig_unary
#define RIG_HALFCAUCHY &rig_unary
#define RIG_GUMBEL &rig_unary
#define RIG_PARETO &rig_binary
#define RIG_BETA_BINOMIAL rig_d_dd
#define RIG_INVGAMMA rig_inverse
#define RIG_TRUNCEXPON &rig_unary
#define RIG_GENGAMMA rig_d_d
#define RIG_HALFNORMAL rig_standard
#define RIG_CATEGORICAL NULL
#define RIG_METHOD NULL
#define RIG_POSITIONS rig_bounded
#define RIG_PERMUTATION rig_interval
#define RIG_DIRICHLET rig_d_d
#define RIG_MULTINOMIAL rig_binomial
#define RIG_NORMALS rig_standard

void rig_set_up(Rig *rig)
{
    memset(rig, 0, sizeof *rig);
    rig->mix.word = &rig->mix.own;
    rig->mix.own = 42;
    rig->bitgen = (BitGen){&rig->mix, rig_uint64, rig_uint32, rig_double, rig_uint64};
    rig->layout = (StreamLayout){.n_bytes = sizeof(Mix), .n_pointers = 1, .pointers = {offsetof(Mix, word)}};
    rig->stream.bitgen = &rig->bitgen;
    rig->stream.layout = &rig->layout;
#define DIST(NAME, name, source, kinds, ndim_supp, dtype, params, step, ...) rig->dists.functions[DIST_##NAME][0] = (void *)RIG_##step;
#include "random/dists.def"
#undef DIST
    rig->dists.functions[DIST_BETA_BINOMIAL][1] = (void *)rig_binomial;
    rig->dists.functions[DIST_TRUNCEXPON][1] = &rig_unary;
    rig->dists.functions[DIST_GENGAMMA][1] = &rig_binary;
}

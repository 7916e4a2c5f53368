/* Times filled draws for bench_random.py, which builds this with csrc/random and csrc/base as a library: pyscan's fill and
 * NumPy's, in turns, into one buffer.
 *
 * Relies on: random. Relied on by: bench_random.py. */
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "math/level.h"
#include "random/draw.h"
#include "random/fast.h"

#define EXPORT __attribute__((visibility("default")))

/* What is compared: a distribution with scalar parameters. */
typedef struct Race {
    const char *name;
    const char *shape;    /* of NumPy's function: FILL, FILL_BOUNDED for fills of its own, or NULL: the row's step */
    void *ours, *theirs;  /* NumPy's functions: behind our draws, and what is raced against */
    BitGen *bitgen;
    int64_t n_bytes, n_pointers; /* of its words, which begin with that many pointers into them */
    double doubles[3];           /* parameter i of a draw is number i here or there, as its kind says */
    int64_t integers[3];
} Race;

/* NumPy's side. A distribution without a fill is a loop over its function. */
typedef void (*Theirs)(const Race *race, char *out, int64_t n);

static void theirs_FILL(const Race *race, char *out, int64_t n)
{
    ((void (*)(BitGen *, intptr_t, double *))race->theirs)(race->bitgen, n, (double *)(void *)out);
}

static void theirs_FILL_BOUNDED(const Race *race, char *out, int64_t n)
{
    void (*fill)(BitGen *, uint64_t, uint64_t, intptr_t, bool, uint64_t *) = (void (*)(BitGen *, uint64_t, uint64_t, intptr_t, bool, uint64_t *))race->theirs;

    fill(race->bitgen, (uint64_t)race->integers[0], (uint64_t)race->integers[1] - 1 - (uint64_t)race->integers[0], n, false, (uint64_t *)(void *)out);
}

#define THEIRS(SHAPE, type, signature, call)                             \
    static void theirs_##SHAPE(const Race *race, char *out, int64_t n)   \
    {                                                                    \
        type(*function) signature = (type(*) signature)race->theirs;     \
        BinomialMemo memo = {{0}};                                       \
        BitGen *bitgen = race->bitgen;                                   \
        const double a = race->doubles[0], b = race->doubles[1], c = race->doubles[2];        \
        const int64_t p = race->integers[0], q = race->integers[1], r = race->integers[2];    \
                                                                         \
        (void)a, (void)b, (void)c, (void)p, (void)q, (void)r, (void)memo;\
        for (int64_t i = 0; i < n; i++) {                                \
            ((type *)(void *)out)[i] = call;                             \
        }                                                                \
    }

THEIRS(D_D, double, (BitGen *, double), function(bitgen, a))
THEIRS(D_DD, double, (BitGen *, double, double), function(bitgen, a, b))
THEIRS(D_DDD, double, (BitGen *, double, double, double), function(bitgen, a, b, c))
THEIRS(L_DD, int64_t, (BitGen *, double, double), function(bitgen, a, b))
THEIRS(L_LLL, int64_t, (BitGen *, int64_t, int64_t, int64_t), function(bitgen, p, q, r))
THEIRS(T, double, (BitGen *, double), function(bitgen, a) * c + b)
THEIRS(L_D, int64_t, (BitGen *, double), function(bitgen, a))
THEIRS(BINOMIAL, int64_t, (BitGen *, double, int64_t, void *), function(bitgen, b, p, &memo))
THEIRS(BERNOULLI, int64_t, (BitGen *, double, int64_t, void *), function(bitgen, a, 1, &memo))
THEIRS(HALFNORMAL, double, (BitGen *), __builtin_fabs(function(bitgen)) * b + a)

static const struct { const char *shape; Theirs run; } all_theirs[] = {
    {"FILL", theirs_FILL}, {"FILL_BOUNDED", theirs_FILL_BOUNDED}, {"D_D", theirs_D_D}, {"D_DD", theirs_D_DD},
    {"D_DDD", theirs_D_DDD}, {"L_DD", theirs_L_DD}, {"L_LLL", theirs_L_LLL}, {"T", theirs_T},
    {"L_D", theirs_L_D}, {"BINOMIAL", theirs_BINOMIAL}, {"BERNOULLI", theirs_BERNOULLI}, {"HALFNORMAL", theirs_HALFNORMAL},
};

static const char *const steps[N_DISTS] = {
#define DIST(NAME, name, source, kinds, ndim_supp, dtype, params, step, ...) #step,
#include "random/dists.def"
#undef DIST
};

static double now(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static Fast fast;

EXPORT int timer_start(const char *level, void *normal, void *exponential)
{
    fast_learn(&fast, DIST_NORMAL, normal);
    fast_learn(&fast, DIST_EXPONENTIAL, exponential);
    return level_choose(level);
}

/* The least nanoseconds a draw of each side in rounds of n draws: ours, theirs. 0, or -1 for what cannot be raced. */
EXPORT int timer_race(const Race *race, int64_t n, int rounds, double *least)
{
    const int dist = dist_from_name(race->name);
    const StreamLayout layout = {.n_bytes = (size_t)race->n_bytes, .n_pointers = (int)race->n_pointers, .pointers = {0, sizeof(void *)}};
    Stream stream = {.bitgen = race->bitgen, .layout = &layout};
    Dists dists = {.fast = &fast};
    const char *params[DRAW_MAX_PARAMS];
    char *out = mem_alloc((size_t)n * 8);
    const char *shape = race->shape != NULL || dist < 0 ? race->shape : steps[dist];
    Theirs theirs = NULL;
    Status status;

    for (size_t i = 0; shape != NULL && i < sizeof all_theirs / sizeof *all_theirs; i++) {
        theirs = strcmp(all_theirs[i].shape, shape) == 0 ? all_theirs[i].run : theirs;
    }
    if (dist < 0 || theirs == NULL || out == NULL || fast_find_kind(&stream.kind, race->bitgen, &layout, &status) < 0) {
        mem_free(out);
        return -1;
    }
    memset(dists.fast_kinds, STREAM_ALL_KINDS, sizeof dists.fast_kinds);
    dists.functions[dist][0] = race->ours;
    for (int i = 0; i < DRAW_MAX_PARAMS; i++) {
        bool is_integer = i < dist_n_params(dist) && dist_param_kind(dist, i) == 'l';
        params[i] = i == DRAW_MAX_PARAMS - 1 ? params[0] : is_integer ? (const char *)&race->integers[i] : (const char *)&race->doubles[i];
    }
    least[0] = least[1] = 1e300;
    for (int round = 0; round < rounds; round++) {
        double start = now(), middle, end;

        if (draw_many(&dists, dist, &stream, out, n, params, &status) < 0) {
            mem_free(out);
            return -1;
        }
        middle = now();
        theirs(race, out, n);
        end = now();
        least[0] = middle - start < least[0] ? middle - start : least[0];
        least[1] = end - middle < least[1] ? end - middle : least[1];
    }
    least[0] /= (double)n;
    least[1] /= (double)n;
    mem_free(out);
    return 0;
}

/* Tests of the fast paths without NumPy: made-up ziggurats, whose tables must be found, and made-up bit generators that are
 * PCG64 or almost. That the numbers are NumPy's is tests/parity's. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/mem.h"
#include "math/level.h"
#include "random/fast.h"
#include "random/pcg64.h"
#include "rig.h"
#include "test.h"

/* ---- ziggurats ---- */

static uint64_t limit_of(uint64_t index, int n_bits) { return index == 1 ? 0 : ((uint64_t)1 << n_bits) - index * 1000003 - (index == 7); }
static double width_of(uint64_t index) { return ldexp(1.0 + (double)index / 300.0, -52); }

/* What the function of the normal does with a refused word: it tries doubles until one is small. */
static double refuse(BitGen *bitgen, double x)
{
    double u;

    do {
        u = bitgen->next_double(bitgen->state);
    } while (u > 0.5);
    return x + u;
}

static double made_up_normal(BitGen *bitgen, double loc, double scale)
{
    uint64_t word = bitgen->next_uint64(bitgen->state), index = word & 0xFF, whole = word >> 9 & 0xFFFFFFFFFFFFFu;
    double x = (double)whole * width_of(index);

    x = (word >> 8 & 1) != 0 ? -x : x;
    return loc + scale * (whole < limit_of(index, 52) ? x : refuse(bitgen, x));
}

static double made_up_exponential(BitGen *bitgen, double scale)
{
    uint64_t word = bitgen->next_uint64(bitgen->state) >> 3, index = word & 0xFF, whole = word >> 8;
    double x = (double)whole * width_of(index);

    return scale * (whole < limit_of(index, 53) ? x : refuse(bitgen, x));
}

/* Ziggurats under true densities. Layers from the second on have wedges; the first one's numbers beyond its limit are the tail's. */
static double density_normal(double x) { return exp(-0.5 * x * x); }
static double density_exponential(double x) { return exp(-x); }
static double end_of(uint64_t index) { return index == 0 ? 3.7 : 0.0142 * (double)index; }
static uint64_t limit_before(uint64_t index, int n_bits)
{
    return index == 0 ? (uint64_t)9 << (n_bits - 4) : (uint64_t)(end_of(index - 1) * (index > 1) / end_of(index) * ldexp(1.0, n_bits));
}

/* wrong: what is added to the height of layer 9. */
static double draw_by_wedges(BitGen *bitgen, double (*density)(double), int n_bits, double wrong)
{
    for (;;) {
        uint64_t word = bitgen->next_uint64(bitgen->state), index = n_bits == 52 ? word & 0xFF : word >> 3 & 0xFF;
        uint64_t whole = n_bits == 52 ? word >> 9 & 0xFFFFFFFFFFFFFu : word >> 11;
        double size = (double)whole * ldexp(end_of(index), -n_bits), x = n_bits == 52 && (word >> 8 & 1) != 0 ? -size : size;

        if (whole < limit_before(index, n_bits)) {
            return x;
        }
        if (index == 0) {
            return refuse(bitgen, x);
        }
        double bottom = density(end_of(index)) + (index == 9 ? wrong : 0.0);
        double top = (index == 1 ? 1.0 : density(end_of(index - 1))) + (index == 10 ? wrong : 0.0);

        if (bottom + (top - bottom) * bitgen->next_double(bitgen->state) < density(size)) {
            return x;
        }
    }
}

static double normal_with_wedges(BitGen *bitgen, double loc, double scale) { return loc + scale * draw_by_wedges(bitgen, density_normal, 52, 0.0); }
static double normal_with_wrong_height(BitGen *bitgen, double loc, double scale) { return loc + scale * draw_by_wedges(bitgen, density_normal, 52, 1e-9); }
static double exponential_with_wedges(BitGen *bitgen, double scale) { return scale * draw_by_wedges(bitgen, density_exponential, 53, 0.0); }

/* Functions of other forms. */
static double of_halves(BitGen *bitgen, double loc, double scale) { return loc + scale * (double)bitgen->next_uint32(bitgen->state); }
static double of_one_sign(BitGen *bitgen, double loc, double scale) { return fabs(made_up_normal(bitgen, loc, scale)); }
static double of_another_bit(BitGen *bitgen, double loc, double scale)
{
    double x = made_up_normal(bitgen, loc, scale);

    return fabs(x) > 1.8 ? nextafter(x, 0.0) : x;
}

static void tables_are_read_out_of_functions(void)
{
    Fast *fast = mem_calloc(1, sizeof *fast);

    fast_learn(fast, DIST_NORMAL, (void *)made_up_normal);
    fast_learn(fast, DIST_EXPONENTIAL, (void *)made_up_exponential);
    CHECK(fast->has_normal && fast->has_exponential);
    for (uint64_t i = 0; i < 256; i++) {
        CHECK(fast->normal[i].limit == limit_of(i, 52) && fast->exponential[i].limit == limit_of(i, 53));
        CHECK(fast->normal[i].width == width_of(i) && fast->exponential[i].width == width_of(i));
        CHECK(isnan(fast->normal_wedges[i].rise) && isnan(fast->exponential_wedges[i].rise));
    }
    mem_free(fast);
}

static void wedges_are_known_where_the_function_decides_by_the_density(void)
{
    Fast *fast = mem_calloc(1, sizeof *fast);

    fast_learn(fast, DIST_NORMAL, (void *)normal_with_wedges);
    fast_learn(fast, DIST_EXPONENTIAL, (void *)exponential_with_wedges);
    CHECK(fast->has_normal && fast->has_exponential && isnan(fast->normal_wedges[0].rise) && isnan(fast->exponential_wedges[0].rise));
    for (uint64_t i = 1; i < 256; i++) {
        CHECK(fast->normal_wedges[i].rise > 0.0 && fast->exponential_wedges[i].rise > 0.0);
        CHECK(fast->normal_wedges[i].end == end_of(i) && fast->exponential_wedges[i].bottom == density_exponential(end_of(i)));
    }
    fast_learn(fast, DIST_NORMAL, (void *)normal_with_wrong_height);
    for (uint64_t i = 0; i < 256; i++) {
        CHECK(isnan(fast->normal_wedges[i].rise) == (i == 0 || i == 9 || i == 10));
    }
    mem_free(fast);
}

static void functions_of_another_form_have_no_table(void)
{
    Fast *fast = mem_calloc(1, sizeof *fast);

    fast_learn(fast, DIST_NORMAL, NULL);
    fast_learn(fast, DIST_EXPONENTIAL, NULL);
    CHECK(!fast->has_normal && !fast->has_exponential);
    fast_learn(fast, DIST_NORMAL, (void *)of_halves);
    CHECK(!fast->has_normal);
    fast_learn(fast, DIST_NORMAL, (void *)of_one_sign);
    CHECK(!fast->has_normal);
    fast_learn(fast, DIST_NORMAL, (void *)of_another_bit);
    CHECK(!fast->has_normal);
    mem_free(fast);
}

#ifdef RANDOM_HAS_INLINED

/* ---- bit generators ---- */

/* The words as NumPy has them. */
typedef struct Pcg {
    PcgHead head;
    uint64_t words[4];
} Pcg;

/* A step at a time, in the words */
static uint64_t next_of(Pcg *pcg, bool is_dxsm)
{
    Word128 state = WORD128(pcg->words[1], pcg->words[0]), increment = WORD128(pcg->words[3], pcg->words[2]), next;
    uint64_t high = (uint64_t)(state >> 64), word;

    if (is_dxsm) {
        high ^= high >> 32;
        high *= 0xDA942042E4DD58B5u;
        high ^= high >> 48;
        word = high * ((uint64_t)state | 1);
        next = state * 0xDA942042E4DD58B5u + increment;
    } else {
        next = state * WORD128(2549297995355413924u, 4865540595714422341u) + increment;
        word = (uint64_t)(next >> 64) ^ (uint64_t)next;
        for (unsigned i = 0; i < (unsigned)(next >> 122); i++) {
            word = word >> 1 | word << 63;
        }
    }
    pcg->words[0] = (uint64_t)next;
    pcg->words[1] = (uint64_t)(next >> 64);
    return word;
}

static uint32_t half_of(Pcg *pcg, bool is_dxsm)
{
    uint64_t word;

    if (pcg->head.kept.is_there) {
        pcg->head.kept.is_there = 0;
        return pcg->head.kept.half;
    }
    word = next_of(pcg, is_dxsm);
    pcg->head.kept.is_there = 1;
    pcg->head.kept.half = (uint32_t)(word >> 32);
    return (uint32_t)word;
}

static uint64_t xslrr_uint64(void *state) { return next_of(state, false); }
static uint64_t dxsm_uint64(void *state) { return next_of(state, true); }
static uint32_t xslrr_uint32(void *state) { return half_of(state, false); }
static uint32_t dxsm_uint32(void *state) { return half_of(state, true); }
static double xslrr_double(void *state) { return (double)(next_of(state, false) >> 11) / 9007199254740992.0; }
static double dxsm_double(void *state) { return (double)(next_of(state, true) >> 11) / 9007199254740992.0; }

static uint32_t forgetful_uint32(void *state) { return (uint32_t)next_of(state, false); }
static double coarse_double(void *state) { return (double)(next_of(state, false) >> 12) / 4503599627370496.0; }

static const StreamLayout pcg_layout = {.n_bytes = sizeof(Pcg), .n_pointers = 1, .pointers = {0}};

/* A generator of each kind and NumPy's functions, made up; made for each test. */
typedef struct Set {
    Pcg pcg;
    BitGen bitgen;
    Stream stream;
    Dists dists;
    Fast fast;
} Set;

/* From these functions for the ziggurats' distributions. */
static void set_learn(Set *set, void *normal, void *exponential)
{
    set->dists.functions[DIST_NORMAL][0] = normal;
    set->dists.functions[DIST_EXPONENTIAL][0] = exponential;
    fast_learn(&set->fast, DIST_NORMAL, normal);
    fast_learn(&set->fast, DIST_EXPONENTIAL, exponential);
}

static Set *set_new(StreamKind kind)
{
    Set *set = mem_calloc(1, sizeof *set);
    Rig rig;

    rig_set_up(&rig);
    set->pcg = (Pcg){{set->pcg.words, {0, 0}}, {0x853C49E6748FEA9Bu, 0x0123456789ABCDEFu, 0xDA3E39CB94B95BDBu, 0xFEDCBA9876543210u}};
    set->bitgen = kind == STREAM_PCG64DXSM ? (BitGen){&set->pcg, dxsm_uint64, dxsm_uint32, dxsm_double, dxsm_uint64}
                                           : (BitGen){&set->pcg, xslrr_uint64, xslrr_uint32, xslrr_double, xslrr_uint64};
    set->stream.bitgen = &set->bitgen;
    set->stream.layout = &pcg_layout;
    set->stream.kind = kind;
    set->dists = rig.dists;
    set_learn(set, (void *)made_up_normal, (void *)made_up_exponential);
    set->dists.fast = &set->fast;
    memset(set->dists.fast_kinds, STREAM_ALL_KINDS, sizeof set->dists.fast_kinds);
    return set;
}

/* N_STREAM_KINDS where there is no answer. */
static StreamKind find_kind(const BitGen *bitgen, const StreamLayout *layout)
{
    StreamKind kind = N_STREAM_KINDS;
    Status status;

    status_clear(&status);
    CHECK((fast_find_kind(&kind, bitgen, layout, &status) == 0) == (status.code == STATUS_OK));
    CHECK(status.code == STATUS_OK || status.code == STATUS_NO_MEMORY);
    return kind;
}

static void a_bit_generator_is_of_a_kind_when_it_draws_as_the_inlined_code(void)
{
    Set *set = set_new(STREAM_PCG64), *other = set_new(STREAM_PCG64DXSM);
    Pcg before = set->pcg;
    StreamLayout without_pointer = pcg_layout;

    CHECK(find_kind(&set->bitgen, &pcg_layout) == STREAM_PCG64);
    CHECK(memcmp(&before, &set->pcg, sizeof before) == 0);
    CHECK(find_kind(&other->bitgen, &pcg_layout) == STREAM_PCG64DXSM);
    set->pcg.head.kept.is_there = 1;
    set->pcg.head.kept.half = 77;
    CHECK(find_kind(&set->bitgen, &pcg_layout) == STREAM_PCG64 && set->pcg.head.kept.half == 77);
    without_pointer.n_pointers = 0;
    CHECK(find_kind(&set->bitgen, &without_pointer) == STREAM_CALLED);
    set->bitgen.next_uint32 = forgetful_uint32;
    CHECK(find_kind(&set->bitgen, &pcg_layout) == STREAM_CALLED);
    set->bitgen.next_uint32 = xslrr_uint32;
    set->bitgen.next_double = coarse_double;
    CHECK(find_kind(&set->bitgen, &pcg_layout) == STREAM_CALLED);
    mem_free(set);
    mem_free(other);
}

static void without_memory_the_kind_of_a_bit_generator_is_not_known(void)
{
    Set *set = set_new(STREAM_PCG64);

    for (int i = 1; i <= 4; i++) {
        mem_fault_arm(i, 1);
        CHECK(find_kind(&set->bitgen, &pcg_layout) == N_STREAM_KINDS);
        CHECK(mem_fault_disarm() == 1);
    }
    CHECK(find_kind(&set->bitgen, &pcg_layout) == STREAM_PCG64);
    mem_free(set);
}

/* ---- draws ---- */

typedef struct Case {
    int dist;
    double a, b;
    int64_t low, high;
} Case;

static const Case cases[] = {
    {DIST_NORMAL, -1.5, 2.5, 0, 0},
    {DIST_EXPONENTIAL, 0.75, 0, 0, 0},
    {DIST_UNIFORM, -3.0, 5.5, 0, 0},
    {DIST_INTEGERS, 0, 0, -3, 7},
    {DIST_INTEGERS, 0, 0, 0, (int64_t)1 << 31 | 1},
    {DIST_INTEGERS, 0, 0, 5, ((int64_t)1 << 32) + 5},
    {DIST_INTEGERS, 0, 0, 0, ((int64_t)1 << 32) + 1},
    {DIST_INTEGERS, 0, 0, INT64_MIN / 2, INT64_MAX / 2 + 3},
    {DIST_INTEGERS, 0, 0, INT64_MIN, INT64_MAX},
};

/* Lemire's method by half words and words, as the random_bounded_uint64 of NumPy has it. */
static uint64_t bounded(BitGen *bitgen, uint64_t low, uint64_t range, uint64_t mask, bool is_masked)
{
    Word128 n_values = (Word128)range + 1, product;
    unsigned n_bits = range <= UINT32_MAX ? 32 : 64;
    Word128 one = (Word128)1 << n_bits;

    if (range == 0) {
        return low;
    }
    do {
        product = (n_bits == 32 ? bitgen->next_uint32(bitgen->state) : bitgen->next_uint64(bitgen->state)) * n_values;
    } while (product % one < one % n_values);
    return low + (uint64_t)(product >> n_bits);
}

/* Fills of random lengths, single draws between them, a half word left over now and then: as the functions draw. */
static void check_case(const Case *what, StreamKind kind, bool with_half, bool has_wedges)
{
    enum { MOST = 700 };
    Set *fast = set_new(kind), *plain = set_new(kind);
    bool is_integer = dist_param_kind(what->dist, 0) == 'l';
    const char *const params[2] = {is_integer ? (const char *)&what->low : (const char *)&what->a, is_integer ? (const char *)&what->high : (const char *)&what->b};
    uint64_t ours[MOST], theirs[MOST];
    Rig lengths;
    Status status;

    rig_set_up(&lengths);
    if (has_wedges) {
        set_learn(fast, (void *)normal_with_wedges, (void *)exponential_with_wedges);
        set_learn(plain, (void *)normal_with_wedges, (void *)exponential_with_wedges);
    }
    plain->dists.functions[DIST_INTEGERS][0] = fast->dists.functions[DIST_INTEGERS][0] = (void *)bounded;
    CHECK((fast_one(&fast->dists, what->dist, &fast->stream) != NULL) == (kind != STREAM_CALLED) && fast_fill(&fast->dists, what->dist, &fast->stream) != NULL);
    fast->dists.fast_kinds[what->dist] = 1u << kind;
    plain->dists.fast_kinds[what->dist] = STREAM_ALL_KINDS & ~(1u << kind);
    CHECK(fast_one(&plain->dists, what->dist, &plain->stream) == NULL && fast_fill(&plain->dists, what->dist, &plain->stream) == NULL);
    for (int round = 0; round < 40; round++) {
        int64_t n = (int64_t)(rig_uint64(&lengths.mix) % (round % 2 == 0 ? MOST : 20));
        FastOne one = fast_one(&fast->dists, what->dist, &fast->stream);

        if (with_half && round % 3 == 0) {
            CHECK(fast->bitgen.next_uint32(&fast->pcg) == plain->bitgen.next_uint32(&plain->pcg));
        }
        CHECK(draw_many(&fast->dists, what->dist, &fast->stream, (char *)ours, n, params, &status) == 0);
        CHECK(draw_many(&plain->dists, what->dist, &plain->stream, (char *)theirs, n, params, &status) == 0);
        CHECK(memcmp(ours, theirs, (size_t)n * 8) == 0);
        CHECK(memcmp(fast->pcg.words, plain->pcg.words, sizeof fast->pcg.words) == 0);
        CHECK(fast->pcg.head.kept.is_there == plain->pcg.head.kept.is_there && fast->pcg.head.kept.half == plain->pcg.head.kept.half);
        for (int i = 0; one != NULL && i < 20; i++) {
            bool is_drawn = one(&fast->fast, &fast->bitgen, (char *)&ours[0], params[0], params[dist_n_params(what->dist) - 1]);

            if (is_drawn) {
                CHECK(draw_one(&plain->dists, what->dist, &plain->stream, (char *)&theirs[0], params, &status) == 0 && ours[0] == theirs[0]);
            } else {
                CHECK(draw_one(&fast->dists, what->dist, &fast->stream, (char *)&ours[0], params, &status) == 0);
                CHECK(draw_one(&plain->dists, what->dist, &plain->stream, (char *)&theirs[0], params, &status) == 0);
            }
        }
        CHECK(memcmp(fast->pcg.words, plain->pcg.words, sizeof fast->pcg.words) == 0);
    }
    mem_free(fast);
    mem_free(plain);
}

static void fast_paths_draw_as_the_functions_at_every_level(void)
{
    for (int level = 0; level < N_LEVELS; level++) {
        if (level_choose(level_name(level)) < 0) {
            continue; /* not here */
        }
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            for (int kind = 0; kind <= STREAM_PCG64DXSM; kind++) {
                check_case(&cases[i], (StreamKind)kind, false, false);
                check_case(&cases[i], (StreamKind)kind, true, false);
                check_case(&cases[i], (StreamKind)kind, true, true);
            }
        }
    }
    CHECK(level_choose(level_name(LEVEL_BASELINE)) == 0);
}

static void parameters_that_are_not_plain_are_left_to_the_functions(void)
{
    static const Case odd[] = {
        {DIST_NORMAL, 0, 0.0, 0, 0}, {DIST_NORMAL, 0, NAN, 0, 0}, {DIST_NORMAL, 0, INFINITY, 0, 0}, {DIST_EXPONENTIAL, 0.0, 0, 0, 0},
        {DIST_UNIFORM, 2.0, 2.0, 0, 0}, {DIST_INTEGERS, 0, 0, 4, 5},
    };

    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        Set *set = set_new(STREAM_PCG64);
        Pcg before = set->pcg;
        bool is_integer = odd[i].dist == DIST_INTEGERS;
        const char *a = is_integer ? (const char *)&odd[i].low : (const char *)&odd[i].a, *b = is_integer ? (const char *)&odd[i].high : (const char *)&odd[i].b;
        double x;

        b = odd[i].dist == DIST_EXPONENTIAL ? a : b;
        CHECK(!fast_one(&set->dists, odd[i].dist, &set->stream)(&set->fast, &set->bitgen, (char *)&x, a, b));
        CHECK(memcmp(&before, &set->pcg, sizeof before) == 0);
        mem_free(set);
    }
}

#endif

const Test tests_fast[] = {
    TEST(tables_are_read_out_of_functions),
    TEST(wedges_are_known_where_the_function_decides_by_the_density),
    TEST(functions_of_another_form_have_no_table),
#ifdef RANDOM_HAS_INLINED
    TEST(a_bit_generator_is_of_a_kind_when_it_draws_as_the_inlined_code),
    TEST(without_memory_the_kind_of_a_bit_generator_is_not_known),
    TEST(fast_paths_draw_as_the_functions_at_every_level),
    TEST(parameters_that_are_not_plain_are_left_to_the_functions),
#endif
    {NULL, NULL},
};

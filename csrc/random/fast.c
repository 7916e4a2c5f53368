/* Learning what fast paths need, single draws by them, and whether there is one.
 *
 * Relies on: fast_words.h, wedges.h, words.h, fast.def, fast_kind.inc. Relied on by: draw.c, vm, bind. */
#include "random/fast.h"

#include <stddef.h>
#include <string.h>

#include "random/fast_words.h"
#include "random/wedges.h"
#include "random/words.h"

/* ---- reading a ziggurat ---- */

/* The state of a counterfeit bit generator: a word of our choice, then others that end whatever loop they are asked in. */
typedef struct Counterfeit {
    uint64_t first, next;
    double second; /* what comes as the second number, if a double is asked for; below 0: what the word gives */
    int n_words;   /* given so far */
} Counterfeit;

/* What a word and a double count together. */
enum { REFUSED_AND_TAKEN = 3 };

static uint64_t give_word(void *state)
{
    Counterfeit *self = state;
    uint64_t z = (self->next += 0x9E3779B97F4A7C15u); /* Steele, Lea and Flood's splitmix */

    if (self->n_words++ == 0) {
        return self->first;
    }
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* A word that is not asked for as a whole one counts twice: then the known form does not hold. */
static uint32_t give_half(void *state)
{
    ((Counterfeit *)state)->n_words++;
    return (uint32_t)give_word(state);
}

static double give_double(void *state)
{
    Counterfeit *self = state;
    double x = (double)(give_word(state) >> 11) * 0x1p-53;

    if (self->n_words++ == 2 && self->second >= 0.0) {
        x = self->second;
    }
    return x;
}

/* A distribution's function, and what its words are. */
typedef struct Reader Reader;
struct Reader {
    double (*draw)(const Reader *self, BitGen *bitgen);
    void *function;
    uint64_t (*word)(uint64_t index, uint64_t whole); /* the word of that index and whole number */
    uint64_t n_wholes;                                /* whole numbers are below this */
    bool (*make)(const Layer *table, uint64_t word, double *x);
    double (*above_end)(double end, double x);        /* wedges.h */
};

/* How many words the function takes of a generator that gives these first. */
static int count_words(const Reader *reader, uint64_t word, double second, double *x)
{
    Counterfeit state = {.first = word, .next = word, .second = second};
    BitGen bitgen = {&state, give_word, give_half, give_double, give_word};

    *x = reader->draw(reader, &bitgen);
    return state.n_words;
}

/* What it makes of a word: false when it asks for a second one. */
static bool read_word(const Reader *reader, uint64_t word, double *x) { return count_words(reader, word, -1.0, x) == 1; }

static bool is_good(const Reader *reader, uint64_t index, uint64_t whole)
{
    double x;

    return read_word(reader, reader->word(index, whole), &x);
}

/* The first whole number that is refused; they are refused from one on. Looked for in growing steps about the guess, which
 * is better than 0, and then by bisection. */
static uint64_t find_limit(const Reader *reader, uint64_t index, uint64_t guess)
{
    uint64_t good = 0, refused = reader->n_wholes;

    if (!is_good(reader, index, 0)) {
        return 0;
    }
    for (uint64_t step = 1, at = guess; at > good && at < refused; step *= 2) {
        if (is_good(reader, index, at)) {
            good = at;
            at += step;
        } else {
            refused = at;
            at = at > step ? at - step : 0;
        }
        if (good > 0 && refused < reader->n_wholes) {
            break;
        }
    }
    while (refused - good > 1) {
        uint64_t middle = good + (refused - good) / 2;

        if (is_good(reader, index, middle)) {
            good = middle;
        } else {
            refused = middle;
        }
    }
    return refused;
}

/* Whether the table gives what the function gives, on words all over, of which most are good. */
static bool is_learned(const Reader *reader, const Layer *table)
{
    Counterfeit words = {.n_words = 1};
    int n_good = 0;

    for (int i = 0; i < 4096; i++) {
        uint64_t word = give_word(&words);
        double theirs, ours;
        bool is_good = read_word(reader, word, &theirs);

        if (reader->make(table, word, &ours) != is_good || (is_good && memcmp(&ours, &theirs, sizeof ours) != 0)) {
            return false;
        }
        n_good += is_good;
    }
    return n_good > 2048;
}

/* In a ziggurat a layer's numbers are good up to the end of the next narrower one, its neighbour: a guess at its limit. */
static uint64_t guess_limit(const Reader *reader, const Layer *table, uint64_t index, double width)
{
    double guess = index > 0 && width > 0.0 ? table[index - 1].width / width * (double)reader->n_wholes : 0.0;

    return guess > 0.0 && guess < (double)reader->n_wholes ? (uint64_t)guess : 0;
}

/* The width of a layer all of whose words are refused, by one that is taken as its second number is 0; 0.0 if none is. */
static double read_refused_width(const Reader *reader, uint64_t index)
{
    const uint64_t middle = reader->n_wholes / 2;
    double x;

    return count_words(reader, reader->word(index, middle), 0.0, &x) == REFUSED_AND_TAKEN ? x / (double)middle : 0.0;
}

/* Whether NumPy's function takes the number of a refused word, rather than draw again, where the uniform number is just below
 * the curve, and does not where it is just above. */
static bool is_curve_at(const Reader *reader, const Layer *table, const Wedge *wedge, uint64_t index, double part)
{
    const uint64_t limit = table[index].limit, word = reader->word(index, limit + (uint64_t)(part * (double)(reader->n_wholes - limit)));
    double x, found;

    (void)reader->make(table, word, &x);
    for (int side = -1; side <= 1; side += 2) {
        const double height = wedge->bottom * exp(reader->above_end(wedge->end, x)) + side * 0.5 * WEDGE_HEIGHT_ERROR;
        const double u = (height - wedge->bottom) / wedge->rise;

        if (!(u >= 0.0 && u < 1.0) || (count_words(reader, word, u, &found) == REFUSED_AND_TAKEN) != (side < 0)) {
            return false;
        }
        if (side < 0 && memcmp(&found, &x, sizeof x) != 0) {
            return false;
        }
    }
    return true;
}

/* The wedges that are known: of layers whose widths follow from each other, and whose heights at two places are those of the
 * density. A height is so at every place, being a straight line between two. */
static void learn_wedges(const Reader *reader, const Layer *table, Wedge *wedges)
{
    double neighbour_end = 0.0;

    wedges[0] = (Wedge){NAN, NAN, NAN};
    for (uint64_t index = 1; index < 256; index++) {
        const double end = table[index].width * (double)reader->n_wholes, t = reader->above_end(end, neighbour_end);
        const double bottom = exp(-reader->above_end(end, 0.0));
        const Wedge wedge = {end, bottom, bottom * expm1(t)};
        const bool is_known = t > 0.0 && t < WEDGE_MAX_T && is_curve_at(reader, table, &wedge, index, 0.25) &&
                              is_curve_at(reader, table, &wedge, index, 0.75);

        wedges[index] = is_known ? wedge : wedges[0];
        neighbour_end = end;
    }
}

/* False: the function is no such ziggurat. */
static bool learn_table(const Reader *reader, Layer *table, Wedge *wedges)
{
    for (uint64_t index = 0; index < 256; index++) {
        double width = 0.0;
        bool has_width = read_word(reader, reader->word(index, 1), &width);

        table[index].limit = find_limit(reader, index, guess_limit(reader, table, index, width));
        table[index].width = has_width && table[index].limit > 1 ? width : read_refused_width(reader, index);
    }
    if (!is_learned(reader, table)) {
        return false;
    }
    learn_wedges(reader, table, wedges);
    return true;
}

static uint64_t word_NORMAL(uint64_t index, uint64_t whole) { return index | whole << 9; }
static uint64_t word_EXPONENTIAL(uint64_t index, uint64_t whole) { return index << 3 | whole << 11; }

static double draw_standard_normal(const Reader *self, BitGen *bitgen)
{
    return ((double (*)(BitGen *, double, double))self->function)(bitgen, -0.0, 1.0); /* -0.0 + x keeps a zero's sign */
}

static double draw_standard_exponential(const Reader *self, BitGen *bitgen)
{
    return ((double (*)(BitGen *, double))self->function)(bitgen, 1.0);
}

void fast_learn(Fast *fast, int table, void *function)
{
    const Reader normal_reader = {draw_standard_normal, function, word_NORMAL, (uint64_t)1 << 52, make_NORMAL, above_end_NORMAL};
    const Reader exponential_reader = {draw_standard_exponential, function, word_EXPONENTIAL, (uint64_t)1 << 53, make_EXPONENTIAL, above_end_EXPONENTIAL};

    if (table == DIST_NORMAL) {
        fast->has_normal = function != NULL && learn_table(&normal_reader, fast->normal, fast->normal_wedges);
    } else {
        fast->has_exponential = function != NULL && learn_table(&exponential_reader, fast->exponential, fast->exponential_wedges);
    }
}

/* ---- single draws ---- */

/* `value` of low and high, by whatever draws halves and wholes. */
#define DRAW_INTEGER(next_half, next_whole)                                                 \
    {                                                                                       \
        const uint64_t n_values = high - low;                                               \
                                                                                            \
        if (n_values <= most_half_values) {                                                 \
            uint64_t product = (next_half) * n_values;                                      \
                                                                                            \
            if (UNLIKELY((uint32_t)product < n_values)) {                                   \
                const uint64_t n_refused = find_refused_halves(n_values);                   \
                                                                                            \
                while ((uint32_t)product < n_refused) {                                     \
                    product = (next_half) * n_values;                                       \
                }                                                                           \
            }                                                                               \
            value = low + (product >> 32);                                                  \
        } else {                                                                            \
            uint64_t low_half, high_half = multiply_wholes(next_whole, n_values, &low_half);\
                                                                                            \
            if (UNLIKELY(low_half < n_values)) {                                            \
                const uint64_t n_refused = find_refused_wholes(n_values);                   \
                                                                                            \
                while (low_half < n_refused) {                                              \
                    high_half = multiply_wholes(next_whole, n_values, &low_half);           \
                }                                                                           \
            }                                                                               \
            value = low + high_half;                                                        \
        }                                                                                   \
    }

#ifdef RANDOM_HAS_INLINED

#define STATE PcgHead

#define KIND(name) of_pcg64_##name
#define PEEK(head) pcg64_word(pcg64_lane(pcg_read_state(head), pcg_read_increment(head)))
#define STEP(head) pcg_write_state(head, pcg_read_state(head) * MULTIPLIER_pcg64 + pcg_read_increment(head))
#include "random/fast_kind.inc"
#undef KIND
#undef PEEK
#undef STEP

#define KIND(name) of_pcg64dxsm_##name
#define PEEK(head) pcg64dxsm_word(pcg64dxsm_lane(pcg_read_state(head), pcg_read_increment(head)))
#define STEP(head) pcg_write_state(head, pcg_read_state(head) * MULTIPLIER_pcg64dxsm + pcg_read_increment(head))
#include "random/fast_kind.inc"
#undef KIND
#undef PEEK
#undef STEP
#undef STATE

#define STATE Sfc64
#define KIND(name) of_sfc64_##name
#define PEEK(state) sfc64_word(state)
#define STEP(state) sfc64_step(state)
#include "random/fast_kind.inc"

/* A Mersenne twister has no single draws of its own; its words are drawn many at once, here over several keys. */
static bool of_mt19937_draws_alike(BitGen *called, void *own_state)
{
    enum { N = 250 };
    Mt19937 *state = own_state;
    uint64_t words[N];
    double x;

    for (int round = 0; round < 4; round++) {
        words_draw(STREAM_MT19937, state, words, N);
        for (int i = 0; i < N; i++) {
            if (called->next_uint64(called->state) != words[i]) {
                return false;
            }
        }
        if (called->next_uint32(called->state) != mt19937_half(state)) {
            return false;
        }
        words_draw_doubles(STREAM_MT19937, state, words, N);
        for (int i = 0; i < N; i++) {
            (void)make_DOUBLE(NULL, words[i], &x);
            if (called->next_double(called->state) != x) {
                return false;
            }
        }
    }
    return true;
}

/* ---- kinds ---- */

/* Whether words laid out so may be a PCG64's: they begin with a head that points to the 128-bit numbers among them. */
static bool has_head(const char *words, const StreamLayout *layout)
{
    PcgHead head;
    size_t at;

    if (layout->n_pointers != 1 || layout->pointers[0] != offsetof(PcgHead, words) || layout->n_bytes < sizeof head + PCG_WORDS_BYTES) {
        return false;
    }
    memcpy(&head, words, sizeof head);
    at = (size_t)((const char *)head.words - words);
    return at >= sizeof head && at <= layout->n_bytes - PCG_WORDS_BYTES && at % sizeof(uint64_t) == 0;
}

static bool has_sfc64(const char *words, const StreamLayout *layout) { return layout->n_pointers == 0 && layout->n_bytes >= sizeof(Sfc64); }
static bool has_mt19937(const char *words, const StreamLayout *layout) { return layout->n_pointers == 0 && layout->n_bytes >= sizeof(Mt19937); }

/* Of each kind: whether words may be of it, whether draws inline are those of a bit generator, and single draws or NULL. */
static const struct Kind {
    bool (*fits)(const char *words, const StreamLayout *layout);
    bool (*draws_alike)(BitGen *called, void *own_state);
    const FastOne *ones;
} kinds[N_STREAM_KINDS] = {
    [STREAM_PCG64] = {has_head, of_pcg64_draws_alike, of_pcg64_ones},
    [STREAM_PCG64DXSM] = {has_head, of_pcg64dxsm_draws_alike, of_pcg64dxsm_ones},
    [STREAM_SFC64] = {has_sfc64, of_sfc64_draws_alike, of_sfc64_ones},
    [STREAM_MT19937] = {has_mt19937, of_mt19937_draws_alike, NULL},
};

/* Whether draws inline give the same numbers and leave the same words as draws of the bit generator: 1 or 0, or -1 and
 * a status. */
static int is_kind(const struct Kind *kind, Stream *called, Stream *inlined, const Stream *original, Status *status)
{
    bool is_alike;

    if (stream_copy(called, original, status) < 0 || stream_copy(inlined, original, status) < 0) {
        return -1;
    }
    is_alike = kind->draws_alike(called->bitgen, inlined->bitgen->state);
    return is_alike && stream_stands_at(called, inlined);
}

int fast_find_kind(StreamKind *kind, const BitGen *bitgen, const StreamLayout *layout, Status *status)
{
    BitGen own = *bitgen;
    const Stream original = {.bitgen = &own, .layout = layout};
    Stream *called = stream_new(), *inlined = stream_new();
    StreamKind found = STREAM_CALLED;
    int result = -1;

    if (called == NULL || inlined == NULL) {
        status_fail(status, STATUS_NO_MEMORY);
        goto done;
    }
    for (int candidate = STREAM_CALLED + 1; candidate < N_STREAM_KINDS; candidate++) {
        int is_found = kinds[candidate].fits(bitgen->state, layout) ? is_kind(&kinds[candidate], called, inlined, &original, status) : 0;

        if (is_found < 0) {
            goto done;
        }
        found = is_found ? (StreamKind)candidate : found;
    }
    *kind = found;
    result = 0;
done:
    stream_free(called);
    stream_free(inlined);
    return result;
}

#else /* no arithmetic of 128 bits: all are called */

int fast_find_kind(StreamKind *kind, const BitGen *bitgen, const StreamLayout *layout, Status *status)
{
    *kind = STREAM_CALLED;
    return 0;
}

#endif

/* ---- the choice ---- */

bool fast_is_there(int dist)
{
    static const bool is_there[N_DISTS] = {
#define FAST(NAME, ...) [DIST_##NAME] = true,
#include "random/fast.def"
#undef FAST
    };

    return is_there[dist];
}

int fast_table(int dist)
{
    switch (dist) {
#define TABLE_OF_NORMAL DIST_NORMAL
#define TABLE_OF_EXPONENTIAL DIST_EXPONENTIAL
#define TABLE_OF_DOUBLE -1
#define TABLE_OF_OPEN -1
#define TABLE_OF_INTEGERS -1
#define FAST(NAME, words, ...) \
    case DIST_##NAME:          \
        return TABLE_OF_##words;
#include "random/fast.def"
#undef FAST
    default:
        return -1;
    }
}

bool fast_may(const Dists *dists, int dist, StreamKind kind) { return dists->fast_kinds[dist] >> kind & 1 && fast_is_usable(dists, dist); }

bool fast_is_usable(const Dists *dists, int dist)
{
    const Fast *fast = dists->fast;
    int table = fast_table(dist);

    return fast != NULL && fast_is_there(dist) && (table != DIST_NORMAL || fast->has_normal) && (table != DIST_EXPONENTIAL || fast->has_exponential);
}

/* ---- draws in two parts ---- */

int fast_standard(int dist)
{
    switch (dist) {
#define STANDARD_OF_NORMAL DIST_NORMAL
#define STANDARD_OF_EXPONENTIAL DIST_EXPONENTIAL
#define STANDARD_OF_DOUBLE DIST_UNIFORM
#define STANDARD_OF_OPEN -1     /* more numbers than one, now and then */
#define STANDARD_OF_INTEGERS -1
#define STANDARD_STRAIGHT(words) STANDARD_OF_##words
#define STANDARD_MOVED(words) STANDARD_OF_##words
#define STANDARD_SCALED(words) STANDARD_OF_##words
#define STANDARD_STRETCHED(words) STANDARD_OF_##words
#define STANDARD_CALLS(words) STANDARD_OF_##words
#define STANDARD_WHOLE(words) -1 /* other numbers for other parameters */
#define FAST(NAME, words, form, ...) \
    case DIST_##NAME:                \
        return STANDARD_##form(words);
#include "random/fast.def"
#undef FAST
    case DIST_CATEGORICAL:
        return DIST_UNIFORM;
    default:
        return -1;
    }
}

const double *fast_standard_params(int standard)
{
    static const double normal[] = {-0.0, 1.0}, exponential[] = {1.0}, uniform[] = {0.0, 1.0}; /* -0.0 + x keeps a zero's sign */

    return standard == DIST_NORMAL ? normal : standard == DIST_EXPONENTIAL ? exponential : uniform;
}

bool fast_may_finish(const Dists *dists, int dist, const Stream *stream)
{
    int standard = fast_standard(dist);

    if (standard < 0 || !dists_have(dists, standard) || !dists_have(dists, dist)) {
        return false;
    }
#ifdef PYSCAN_TEST_BUILD
    if (dists->spoilt[dist] || dists->spoilt[standard]) {
        return false; /* what is spoilt is in draw.c */
    }
#endif
    return dist == DIST_CATEGORICAL || fast_may(dists, dist, stream->kind);
}

#define VALUE(NAME)                                                                                   \
    static bool finish_##NAME(const char *at_x, char *dst, const char *at_a, const char *at_b)        \
    {                                                                                                 \
        const double a = read_double(at_a), b = read_double(at_b);                                    \
        double x = read_double(at_x);                                                                 \
                                                                                                      \
        if (UNLIKELY(!is_plain_##NAME(a, b))) {                                                       \
            return false;                                                                             \
        }                                                                                             \
        x = value_##NAME(x, a, b);                                                                    \
        memcpy(dst, &x, sizeof x);                                                                    \
        return true;                                                                                  \
    }
#define FAST(NAME, ...) VALUE(NAME) /* of INTEGERS and WHOLE rows: not used */
#include "random/fast.def"
#undef FAST

FastValue fast_value(int dist)
{
    static const FastValue values[N_DISTS] = {
#define FAST(NAME, ...) [DIST_##NAME] = finish_##NAME,
#include "random/fast.def"
#undef FAST
    };

    return values[dist];
}

/* ---- single draws and fills ---- */

FastOne fast_one(const Dists *dists, int dist, const Stream *stream)
{
#ifdef RANDOM_HAS_INLINED
    const FastOne *ones = kinds[stream->kind].ones;

    return fast_may(dists, dist, stream->kind) && ones != NULL ? ones[dist] : NULL;
#else
    return NULL;
#endif
}

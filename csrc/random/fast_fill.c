/* Filled draws by fast paths: tiles of words, then what is made of them.
 *
 * Words are drawn ahead for the kinds that have inline code, never more than will be used: every number that is still
 * to be drawn takes one word at least (of bounded integers, half a word). A word that the ziggurat refuses and its wedge does
 * not decide goes to NumPy's function with those behind it, through a counterfeit bit generator that hands them out. So no
 * state is ever put back. All other bit generators are called for each word, as NumPy's own fills do. Relies on:
 * fast_words.h, wedges.h, layers.h, words.h, fast.def. Relied on by: draw.c. */
#include "random/fast_words.h"
#include "random/layers.h"
#include "random/wedges.h"
#include "random/words.h"

enum { TILE = 256, TILE_IN_PLACE = 1024 };

static const int64_t no_strides[DRAW_MAX_PARAMS] = {0};

#ifdef RANDOM_HAS_INLINED
#define DRAW_AHEAD(words, n) words_draw(job->kind, job->source->bitgen->state, words, n)
#define DRAW_STRETCHED_AHEAD(form, words, n)                                                         \
    {                                                                                                \
        const Stretch stretch = {LOW_OF_##form, RANGE_OF_##form};                                    \
                                                                                                     \
        words_draw_doubles(job->kind, job->source->bitgen->state, words, n);                         \
        words_stretch(&stretch, words, n);                                                           \
    }
#else
#define DRAW_AHEAD(words, n) ((void)(words), (void)(n)) /* no stream is of such a kind */
#define DRAW_STRETCHED_AHEAD(form, words, n) DRAW_AHEAD(words, n)
#define words_double_of(kind, word) (word)
#endif

/* Words that were drawn and not yet used, and the bit generator that they are of. */
typedef struct Ahead {
    BitGen *real;
    StreamKind kind;
    const uint64_t *next, *end;
    uint64_t words[TILE];
} Ahead;

static uint64_t give_word(void *state)
{
    Ahead *ahead = state;

    return ahead->next < ahead->end ? *ahead->next++ : ahead->real->next_uint64(ahead->real->state);
}

/* Only words drawn ahead are there when a double is asked for: one that was called for is asked for as it is (fast_learn). */
static double give_double(void *state)
{
    Ahead *ahead = state;
    double x;

    if (ahead->next == ahead->end) {
        return ahead->real->next_double(ahead->real->state);
    }
    (void)make_DOUBLE(NULL, words_double_of(ahead->kind, *ahead->next++), &x);
    return x;
}

/* The ziggurats' functions ask for no half words; were one to, the first use would find that numbers differ. */
static uint32_t give_half(void *state)
{
    Ahead *ahead = state;

    return ahead->real->next_uint32(ahead->real->state);
}

/* Where NumPy's function has drawn in a tile, and what. */
typedef struct Left {
    const double *first; /* of the tile */
    int n;
    int16_t at[TILE];
    double values[TILE];
} Left;

/* What a fill of doubles works with. */
typedef struct Job {
    const Layer *table;
    const Wedge *wedges;
    StreamKind kind;
    const DrawSource *source;
    DrawStep step;
    const char *const *params;
    double a, b;
    Left *left; /* NULL: not asked for */
} Job;

/* What NumPy's function draws from: a counterfeit bit generator that hands out the words that are ahead. */
typedef struct Handed {
    Ahead ahead;
    BitGen counterfeit;
    DrawSource source;
} Handed;

static void start_handed(Handed *handed, const Job *job)
{
    handed->ahead.real = job->source->bitgen;
    handed->ahead.kind = job->kind;
    handed->ahead.next = handed->ahead.end = handed->ahead.words;
    handed->counterfeit = (BitGen){&handed->ahead, give_word, give_half, give_double, give_word};
    handed->source = *job->source;
    handed->source.bitgen = &handed->counterfeit;
}

/* NumPy's function draws from the words that are ahead on, the first of which was refused. The steps of fast.def's rows
 * cannot fail. */
static void draw_left(const Job *job, const Handed *handed, double *out)
{
    (void)job->step(&handed->source, job->params, no_strides, (char *)out, 1);
    if (job->left != NULL) {
        job->left->at[job->left->n] = (int16_t)(out - job->left->first);
        job->left->values[job->left->n++] = *out;
    }
}

/* What the word that was refused, the next one ahead, gives with the one behind it; where that is decided, both are used. */
#define JUDGE(WORDS)                                                                                \
    static ALWAYS_INLINE Verdict judge_##WORDS(const Job *job, Ahead *ahead, double *x)             \
    {                                                                                               \
        const Wedge *wedge = &job->wedges[index_##WORDS(ahead->next[0])];                           \
        Verdict verdict;                                                                            \
        double u;                                                                                   \
                                                                                                    \
        if (ahead->end - ahead->next < 2) {                                                         \
            return VERDICT_LEFT;                                                                    \
        }                                                                                           \
        (void)make_##WORDS(job->table, ahead->next[0], x);                                          \
        (void)make_DOUBLE(NULL, words_double_of(job->kind, ahead->next[1]), &u);                    \
        verdict = wedge_judge(wedge, above_end_##WORDS(wedge->end, *x), u);                         \
        ahead->next += verdict == VERDICT_LEFT ? 0 : 2;                                             \
        return verdict;                                                                             \
    }

JUDGE(NORMAL)
JUDGE(EXPONENTIAL)

/* What the words become in a row of that form, before FINISH: low + range * x, which is x itself of -0.0 and 1, of a zero too. */
#define LOW_OF_MOVED job->a
#define RANGE_OF_MOVED job->b
#define LOW_OF_SCALED -0.0
#define RANGE_OF_SCALED job->a
#define LOW_OF_STRETCHED job->a
#define RANGE_OF_STRETCHED (job->b - job->a)
#define LOW_OF_STRAIGHT -0.0
#define RANGE_OF_STRAIGHT 1.0
#define LOW_OF_CALLS LOW_OF_STRAIGHT
#define RANGE_OF_CALLS RANGE_OF_STRAIGHT
#define LOW_OF_WHOLE LOW_OF_STRAIGHT
#define RANGE_OF_WHOLE RANGE_OF_STRAIGHT
#define FINISH_MOVED(NAME, n)
#define FINISH_SCALED(NAME, n)
#define FINISH_CALLS(NAME, n)
#define FINISH_WHOLE(NAME, n)
#define FINISH_STRAIGHT(NAME, n)                                                                    \
    for (int64_t j = 0; j < (n); j++) {                                                             \
        out[j] = straight_##NAME(out[j], job->a, job->b);                                           \
    }

/* n numbers of a row from words drawn ahead, before values that call the C library. */
#define PASS_AHEAD(NAME, WORDS, form)                                                               \
    static void pass_ahead_##NAME(const Job *job, double *out, int64_t n)                           \
    {                                                                                               \
        Handed handed;                                                                              \
        Ahead *const ahead = &handed.ahead;                                                         \
                                                                                                    \
        start_handed(&handed, job);                                                                 \
        for (int64_t n_words, n_good; n > 0; out += n_good, n -= n_good) {                          \
            n_words = ahead->end - ahead->next;                                                     \
            if (n_words == 0) {                                                                     \
                n_words = n < TILE ? n : TILE;                                                      \
                DRAW_AHEAD(ahead->words, n_words);                                                  \
                ahead->next = ahead->words;                                                         \
                ahead->end = ahead->words + n_words;                                                \
            }                                                                                       \
            n_good = layers_##WORDS(job->table, LOW_OF_##form, RANGE_OF_##form, ahead->next, out, n_words); \
            FINISH_##form(NAME, n_good)                                                             \
            ahead->next += n_good;                                                                  \
            if (n_good < n_words) {                                                                 \
                double x;                                                                           \
                Verdict verdict = judge_##WORDS(job, ahead, &x);                                    \
                                                                                                    \
                if (verdict == VERDICT_TAKEN) {                                                     \
                    out[n_good++] = straight_##NAME(x, job->a, job->b);                             \
                } else if (verdict == VERDICT_LEFT) {                                               \
                    draw_left(job, &handed, out + n_good++);                                        \
                }                                                                                   \
            }                                                                                       \
        }                                                                                           \
    }

/* The same from words that are called for. */
#define PASS_CALLED_WORDS(NAME, WORDS)                                                              \
    static void pass_called_##NAME(const Job *job, double *out, int64_t n)                          \
    {                                                                                               \
        uint64_t (*next)(void *) = job->source->bitgen->next_uint64;                                \
        void *state = job->source->bitgen->state;                                                   \
        Handed handed;                                                                              \
        const Layer *table = job->table;                                                            \
        const double a = job->a, b = job->b;                                                        \
                                                                                                    \
        start_handed(&handed, job);                                                                 \
        for (int64_t i = 0; i < n; i++) {                                                           \
            uint64_t word = next(state);                                                            \
            double x;                                                                               \
                                                                                                    \
            if (UNLIKELY(!make_##WORDS(table, word, &x))) {                                         \
                handed.ahead.words[0] = word;                                                       \
                handed.ahead.next = handed.ahead.words;                                             \
                handed.ahead.end = handed.ahead.words + 1;                                          \
                draw_left(job, &handed, out + i);                                                   \
            } else {                                                                                \
                out[i] = straight_##NAME(x, a, b);                                                  \
            }                                                                                       \
        }                                                                                           \
    }

#define PASS_CALLED_DOUBLES(NAME)                                                                   \
    static void pass_called_##NAME(const Job *job, double *out, int64_t n)                          \
    {                                                                                               \
        double (*next)(void *) = job->source->bitgen->next_double;                                  \
        void *state = job->source->bitgen->state;                                                   \
        const double a = job->a, b = job->b;                                                        \
                                                                                                    \
        for (int64_t i = 0; i < n; i++) {                                                           \
            out[i] = straight_##NAME(next(state), a, b);                                            \
        }                                                                                           \
    }

/* n doubles from words that stand in their places; no word is refused. */
#define PASS_AHEAD_DOUBLES(NAME, form)                                                              \
    static void pass_ahead_##NAME(const Job *job, double *out, int64_t n)                           \
    {                                                                                               \
        for (int64_t n_tile; n > 0; n -= n_tile, out += n_tile) {                                   \
            n_tile = n < TILE_IN_PLACE ? n : TILE_IN_PLACE;                                         \
            DRAW_STRETCHED_AHEAD(form, (uint64_t *)(void *)out, n_tile);                            \
        }                                                                                           \
    }

/* The same again while they are 0. */
static int64_t drop_zeros(double *out, int64_t n)
{
    int64_t n_good = 0;

    for (int64_t i = 0; i < n; i++) {
        out[n_good] = out[i];
        n_good += out[i] != 0.0;
    }
    return n_good;
}

#define PASS_OPEN(NAME, how)                                                                        \
    static void pass_open_##how##_##NAME(const Job *job, double *out, int64_t n)                    \
    {                                                                                               \
        while (n > 0) {                                                                             \
            int64_t n_good;                                                                         \
                                                                                                    \
            pass_##how##_##NAME(job, out, n);                                                       \
            n_good = drop_zeros(out, n);                                                            \
            out += n_good;                                                                          \
            n -= n_good;                                                                            \
        }                                                                                           \
    }

#define PASS_STRAIGHT(NAME) pass(&job, to, n);
#define PASS_MOVED PASS_STRAIGHT
#define PASS_SCALED PASS_STRAIGHT
#define PASS_STRETCHED PASS_STRAIGHT
#define PASS_WHOLE PASS_CALLS

/* A tile at a time: first the words, then the values of them, then what NumPy's function drew back in its place. */
#define PASS_CALLS(NAME)                                                                            \
    for (int64_t n_tile; n > 0; n -= n_tile, to += n_tile) {                                        \
        Left left;                                                                                  \
                                                                                                    \
        n_tile = n < TILE ? n : TILE;                                                               \
        left.n = 0;                                                                                 \
        left.first = to;                                                                            \
        job.left = &left;                                                                           \
        pass(&job, to, n_tile);                                                                     \
        for (int64_t i = 0; i < n_tile; i++) {                                                      \
            to[i] = value_##NAME(to[i], job.a, job.b);                                              \
        }                                                                                           \
        for (int i = 0; i < left.n; i++) {                                                          \
            to[left.at[i]] = left.values[i];                                                        \
        }                                                                                           \
    }

#define FILL_DOUBLES(NAME, WORDS, form) FILL_BY(NAME, WORDS, form, pass_called_##NAME, pass_ahead_##NAME)
#define FILL_BY(NAME, WORDS, form, called, ahead)                                                   \
    static bool fill_##NAME(const Fast *fast, StreamKind kind, const DrawSource *source, DrawStep step,     \
                            const char *const *params, char *out, int64_t n)                        \
    {                                                                                               \
        Job job = {table_##WORDS(fast), wedges_##WORDS(fast), kind, source, step, params, read_double(params[0]), read_double(params[1]), NULL}; \
        void (*pass)(const Job *, double *, int64_t) = kind == STREAM_CALLED ? called : ahead;      \
        double *to = (double *)(void *)out;                                                         \
                                                                                                    \
        if (!is_plain_##NAME(job.a, job.b)) {                                                       \
            return false;                                                                           \
        }                                                                                           \
        PASS_##form(NAME)                                                                           \
        return true;                                                                                \
    }

#define FILL_NORMAL(NAME, form) PASS_CALLED_WORDS(NAME, NORMAL) PASS_AHEAD(NAME, NORMAL, form) FILL_DOUBLES(NAME, NORMAL, form)
#define FILL_EXPONENTIAL(NAME, form) PASS_CALLED_WORDS(NAME, EXPONENTIAL) PASS_AHEAD(NAME, EXPONENTIAL, form) FILL_DOUBLES(NAME, EXPONENTIAL, form)
#define FILL_DOUBLE(NAME, form) PASS_CALLED_DOUBLES(NAME) PASS_AHEAD_DOUBLES(NAME, form) FILL_DOUBLES(NAME, DOUBLE, form)
#define FILL_OPEN(NAME, form)                                                                       \
    PASS_CALLED_DOUBLES(NAME) PASS_AHEAD_DOUBLES(NAME, form) PASS_OPEN(NAME, called) PASS_OPEN(NAME, ahead)    \
    FILL_BY(NAME, OPEN, form, pass_open_called_##NAME, pass_open_ahead_##NAME)

/* ---- bounded integers ----
 * A refused word only means the next one. Where few are, a branch asks, or a whole tile is made as if there were none; where
 * many are, every value is written, and the place moves on if its word was good: no branch depends on the words. */

/* Products that are made before any of them is stored. */
enum { AT_ONCE = 4 };
/* Refused is less than one word in so many. */
enum { REFUSED_ARE_FEW = 4096 };

static void fill_called_halves(const BitGen *bitgen, uint64_t low, uint64_t n_values, uint64_t *out, int64_t n)
{
    const uint64_t n_refused = find_refused_halves(n_values);
    uint32_t (*next)(void *) = bitgen->next_uint32;
    void *state = bitgen->state;

    if (n_values == most_half_values) {
        for (int64_t i = 0; i < n; i++) {
            out[i] = low + next(state);
        }
    } else if (n_refused < ((uint64_t)1 << 32) / REFUSED_ARE_FEW) {
        for (int64_t i = 0; i < n; i++) {
            uint64_t product = next(state) * n_values;

            while (UNLIKELY((uint32_t)product < n_refused)) {
                product = next(state) * n_values;
            }
            out[i] = low + (product >> 32);
        }
    } else {
        for (int64_t i = 0; i < n;) {
            uint64_t product = next(state) * n_values;

            out[i] = low + (product >> 32);
            i += (uint32_t)product >= n_refused;
        }
    }
}

static void fill_called_wholes(const BitGen *bitgen, uint64_t low, uint64_t n_values, uint64_t *out, int64_t n)
{
    const uint64_t n_refused = find_refused_wholes(n_values);
    uint64_t (*next)(void *) = bitgen->next_uint64;
    void *state = bitgen->state;
    uint64_t low_half;

    if (n_refused < UINT64_MAX / REFUSED_ARE_FEW) {
        for (int64_t i = 0; i < n; i++) {
            uint64_t value = multiply_wholes(next(state), n_values, &low_half);

            while (UNLIKELY(low_half < n_refused)) {
                value = multiply_wholes(next(state), n_values, &low_half);
            }
            out[i] = low + value;
        }
    } else {
        for (int64_t i = 0; i < n;) {
            out[i] = low + multiply_wholes(next(state), n_values, &low_half);
            i += low_half >= n_refused;
        }
    }
}

#ifdef RANDOM_HAS_INLINED

/* The values of both halves of n words, as if none were refused, and whether none is. Vectors multiply numbers of 32 bits. */
static bool scale_halves(const uint64_t *words, int64_t n_words, uint64_t low, uint32_t n_values, uint64_t n_refused, uint64_t *out)
{
    uint64_t refused = 0;

    for (int64_t j = 0; j < n_words; j++) {
        uint64_t first = (words[j] & 0xFFFFFFFF) * n_values, second = (words[j] >> 32) * n_values;

        out[2 * j] = low + (first >> 32);
        out[2 * j + 1] = low + (second >> 32);
        refused |= ((first & 0xFFFFFFFF) - n_refused) | ((second & 0xFFFFFFFF) - n_refused); /* the uppermost bit, if one is */
    }
    return refused >> 63 == 0;
}

static void move_halves(const uint64_t *words, int64_t n_words, uint64_t low, uint64_t *out)
{
    for (int64_t j = 0; j < n_words; j++) {
        out[2 * j] = low + (words[j] & 0xFFFFFFFF);
        out[2 * j + 1] = low + (words[j] >> 32);
    }
}

/* The values of n words' halves, the lower one first, or as many as are good; how many. */
static int64_t make_from_halves(const uint64_t *words, int64_t n_words, uint64_t low, uint64_t n_values, uint64_t n_refused, uint64_t *out)
{
    int64_t i = 0;

    if (n_values == most_half_values) {
        move_halves(words, n_words, low, out);
        return 2 * n_words;
    }
    if (n_refused < ((uint64_t)1 << 32) / REFUSED_ARE_FEW && scale_halves(words, n_words, low, (uint32_t)n_values, n_refused, out)) {
        return 2 * n_words;
    }
    for (int64_t j = 0; j < n_words; j++) {
        uint64_t first = (uint32_t)words[j] * n_values, second = (words[j] >> 32) * n_values;

        out[i] = low + (first >> 32);
        i += (uint32_t)first >= n_refused;
        out[i] = low + (second >> 32);
        i += (uint32_t)second >= n_refused;
    }
    return i;
}

/* The same of whole words. */
static int64_t make_from_wholes(const uint64_t *words, int64_t n_words, uint64_t low, uint64_t n_values, uint64_t n_refused, uint64_t *out)
{
    const Scale scale = {low, n_values, n_refused};
    uint64_t low_half;
    int64_t i = 0, j = 0;

    if (n_refused < UINT64_MAX / REFUSED_ARE_FEW && words_scale(&scale, words, out, n_words)) {
        return n_words;
    }
    /* A CPU may hold a load back until it knows where the stores before it go, which depends on the words. Measured: 2.6 ns a
     * number, where one by one took 2.3 or 5.8. */
    for (; j + AT_ONCE <= n_words; j += AT_ONCE) {
        uint64_t values[AT_ONCE];
        bool is_good[AT_ONCE];

        for (int k = 0; k < AT_ONCE; k++) {
            values[k] = low + multiply_wholes(words[j + k], n_values, &low_half);
            is_good[k] = low_half >= n_refused;
        }
        for (int k = 0; k < AT_ONCE; k++) {
            out[i] = values[k];
            i += is_good[k];
        }
    }
    for (; j < n_words; j++) {
        out[i] = low + multiply_wholes(words[j], n_values, &low_half);
        i += low_half >= n_refused;
    }
    return i;
}

/* Returns how many were filled: all but what a half word must be taken from a word for. The half that the last word would
 * have left over is the one that was used last, as if half words had been asked for. */
static int64_t fill_ahead_halves(StreamKind kind, void *state, uint64_t low, uint64_t n_values, uint64_t *out, int64_t n)
{
    const uint64_t n_refused = find_refused_halves(n_values);
    uint64_t words[TILE];
    int64_t i = 0;

    while (n - i >= 2) {
        int64_t n_words = (n - i) / 2 < TILE ? (n - i) / 2 : TILE;

        words_draw(kind, state, words, n_words);
        i += make_from_halves(words, n_words, low, n_values, n_refused, out + i);
        words_kept_half(kind, state)->half = (uint32_t)(words[n_words - 1] >> 32);
    }
    return i;
}

static void fill_ahead_wholes(StreamKind kind, void *state, uint64_t low, uint64_t n_values, uint64_t *out, int64_t n)
{
    const uint64_t n_refused = find_refused_wholes(n_values);
    uint64_t words[TILE];

    for (int64_t i = 0; i < n;) {
        int64_t n_words = n - i < TILE ? n - i : TILE;

        words_draw(kind, state, words, n_words);
        i += make_from_wholes(words, n_words, low, n_values, n_refused, out + i);
    }
}

static void fill_halves(StreamKind kind, const BitGen *bitgen, uint64_t low, uint64_t n_values, uint64_t *out, int64_t n)
{
    const KeptHalf *kept = kind == STREAM_CALLED ? NULL : words_kept_half(kind, bitgen->state);

    if (kept != NULL) {
        while (n > 0 && kept->is_there) { /* until a number has taken it */
            fill_called_halves(bitgen, low, n_values, out++, 1);
            n--;
        }
        if (n > 1) {
            int64_t n_filled = fill_ahead_halves(kind, bitgen->state, low, n_values, out, n);

            out += n_filled;
            n -= n_filled;
        }
    }
    fill_called_halves(bitgen, low, n_values, out, n);
}

static void fill_wholes(StreamKind kind, const BitGen *bitgen, uint64_t low, uint64_t n_values, uint64_t *out, int64_t n)
{
    if (kind != STREAM_CALLED) {
        fill_ahead_wholes(kind, bitgen->state, low, n_values, out, n);
    } else {
        fill_called_wholes(bitgen, low, n_values, out, n);
    }
}

#else
#define fill_halves(kind, bitgen, ...) fill_called_halves(bitgen, __VA_ARGS__)
#define fill_wholes(kind, bitgen, ...) fill_called_wholes(bitgen, __VA_ARGS__)
#endif

#define FILL_INTEGERS(NAME, form)                                                                   \
    static bool fill_##NAME(const Fast *fast, StreamKind kind, const DrawSource *source, DrawStep step,     \
                            const char *const *params, char *out, int64_t n)                        \
    {                                                                                               \
        const uint64_t low = read_uint64(params[0]), high = read_uint64(params[1]);                 \
                                                                                                    \
        if (!are_bounds_plain(low, high)) {                                                         \
            return false;                                                                           \
        }                                                                                           \
        if (high - low <= most_half_values) {                                                       \
            fill_halves(kind, source->bitgen, low, high - low, (uint64_t *)(void *)out, n);         \
        } else {                                                                                    \
            fill_wholes(kind, source->bitgen, low, high - low, (uint64_t *)(void *)out, n);         \
        }                                                                                           \
        return true;                                                                                \
    }

/* ---- the table ---- */

#define FAST(NAME, words, form, ...) FILL_##words(NAME, form)
#include "random/fast.def"
#undef FAST

FastFill fast_fill(const Dists *dists, int dist, const Stream *stream)
{
    static const FastFill fills[N_DISTS] = {
#define FAST(NAME, ...) [DIST_##NAME] = fill_##NAME,
#include "random/fast.def"
#undef FAST
    };

    return fast_may(dists, dist, stream->kind) ? fills[dist] : NULL;
}

/* Generators as plain C: NumPy's bit generator contract, how a state is copied, and the exact draws.
 *
 * The distribution functions themselves are those of the running NumPy: bind looks them up and hands them over in a
 * Dists table. Relies on: base. Relied on by: program, vm, lower (numbers of distributions), bind. */
#ifndef PYSCAN_RANDOM_STREAM_H
#define PYSCAN_RANDOM_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "base/status.h"

/* NumPy's bitgen_t, declared here because NumPy's own header needs Python.h. */
typedef struct BitGen {
    void *state;
    uint64_t (*next_uint64)(void *state);
    uint32_t (*next_uint32)(void *state);
    double (*next_double)(void *state);
    uint64_t (*next_raw)(void *state);
} BitGen;

/* How the words of one class of bit generator are copied: n_bytes from `state`, of which the words at `pointers`
 * (byte offsets) point into the same region and move with it. Verified by bind against `.state` before it is used. */
enum { STREAM_MAX_POINTERS = 8 };
typedef struct StreamLayout {
    size_t n_bytes;
    int n_pointers;
    uint32_t pointers[STREAM_MAX_POINTERS];
} StreamLayout;

/* Bit generators whose words are drawn inline (pcg64.h, sfc64.h, mt19937.h); all others are called by their pointers. */
typedef enum StreamKind { STREAM_CALLED, STREAM_PCG64, STREAM_PCG64DXSM, STREAM_SFC64, STREAM_MT19937, N_STREAM_KINDS } StreamKind;
enum { STREAM_ALL_KINDS = (1 << N_STREAM_KINDS) - 1 };

/* The half word that draws of 32 bits leave over, as the states of NumPy's generators of 64 bits have it. */
typedef struct KeptHalf {
    int32_t is_there;
    uint32_t half; /* stays as it is when it was used */
} KeptHalf;

/* NumPy's binomial_t is smaller than this; zeroed means "nothing remembered". */
typedef struct BinomialMemo { double words[32]; } BinomialMemo;

/* What numpy.random.RandomState keeps besides its bit generator: the second Gaussian of the last pair, until it is asked
 * for. These are the words in the object itself, whose place bind verifies before it points to them. */
typedef struct Gauss {
    int has_value; /* 0 or 1 */
    double value;
} Gauss;

typedef struct Stream {
    BitGen *bitgen;             /* what draws go through: the generator's own, or &own */
    const StreamLayout *layout; /* NULL: copies go through the host */
    BitGen own;                 /* for a copy: the class's functions over `memory` */
    char *memory;               /* owned room for a copy's words, which are at own.state; or NULL */
    size_t memory_bytes;
    void *host;                 /* the host's handle on the Python generator that it stands for, or NULL */
    Gauss *gauss;               /* of a RandomState: the object's own, or &own_gauss; NULL: a Generator's stream */
    Gauss own_gauss;
    StreamKind kind;            /* of the bit generator, as bind found it */
    bool by_method;             /* draws must go through the generator's own methods (a subclass, unknown functions) */
    BinomialMemo binomial;
} Stream;

Stream *stream_new(void);           /* owned, empty, or NULL */
void stream_free(Stream *stream);
/* Makes dst draw on from src's present state, in memory of its own; dst's old memory is reused. Needs src->layout. */
int stream_copy(Stream *dst, const Stream *src, Status *status);
/* Puts dst where src stands. Both have one layout, and both are of RandomStates or neither is. */
void stream_put(Stream *dst, const Stream *src);
/* Whether both have the same words, each with pointers into its own memory. They have one layout, and are no RandomStates. */
bool stream_stands_at(const Stream *a, const Stream *b);
/* Copies the words between memory of one layout: snapshot, restore, write-back. */
void stream_copy_words(const StreamLayout *layout, char *dst, const char *src);

typedef enum Dist {
#define DIST(NAME, ...) DIST_##NAME,
#include "random/dists.def"
#undef DIST
    N_DISTS
} Dist;

#ifdef PYSCAN_TEST_BUILD
/* What tests do to a distribution's draws in draw.c, to see that it is found out: a bit for each form and for each fault. */
typedef unsigned char Spoil;
enum { SPOIL_SINGLE = 1, SPOIL_FILLED = 2, SPOIL_WORD = 4, SPOIL_VALUE = 8 };
#endif

/* What a symbol "numpy.…" stands for: the loop of NumPy's ufunc of that name over doubles. It gives the bits that NumPy's own
 * arrays get on this CPU, which the C library's function need not. */
typedef struct NumpyLoop {
    void (*loop)(char **args, const intptr_t *dimensions, const intptr_t *steps, void *data);
    void *data;
} NumpyLoop;

/* How each distribution is drawn: by NumPy's functions (NULL: not found), or by the generator's method where these were
 * not found to draw the same. Whatever draws natively asks dists_have first; whatever draws by inlined code instead of the
 * functions asks fast_kinds too. bind decides at the first use of a distribution, and of a kind. */
typedef struct Dists {
    void *functions[N_DISTS][2];
    bool use_method[N_DISTS];
    unsigned char fast_kinds[N_DISTS]; /* on which inlined code was compared (1 << StreamKind); on others only through `functions` */
    const struct Fast *fast; /* lent: what fast paths need (fast.h); NULL: there are none */
#ifdef PYSCAN_TEST_BUILD
    Spoil spoilt[N_DISTS];
#endif
} Dists;

/* Lookups in dists.def, which says what the columns mean. */
const char *dist_name(int dist);
int dist_from_name(const char *name); /* -1 when there is none */
int dist_n_params(int dist);              /* of a draw */
int dist_n_node_params(int dist);         /* of the node: the first of them, perhaps all */
char dist_rounding(int dist);             /* the letter 's', 'r' or 'w' for the draw's parameter that the node has not; else 0 */
char dist_param_kind(int dist, int i);    /* a letter of the column `kinds` */
DType dist_param_dtype(int dist, int i);  /* what a draw takes */
bool dist_takes(int dist, int i, DType dtype, int ndim); /* whether parameter i of a draw may be of that dtype and rank */
int dist_param_ndim(int dist, int i);     /* rank of the parameter of one draw */
int dist_node_ndim(int dist, int i);      /* the same of the node's parameter: its entry in ndims_params */
int dist_batch_ndim(int dist, int i, int ndim); /* how many axes of a parameter of that rank count draws */
bool dist_has_batches(int dist);          /* n draws filled are n single ones: whether parameters may have more axes */
int dist_ndim_supp(int dist);
int dist_support_param(int dist);         /* the parameter that says how long a draw is, for a support of rank 1; else -1 */
char dist_result_kind(int dist);          /* 'd' or 'l' */
const char *dist_dtype(int dist);         /* "floatX" or "int64"; NULL: that of the array in which positions are drawn */
bool dist_takes_size(int dist);           /* false: it is taken and ignored */
const char *dist_params(int dist);        /* names and defaults, as a Python signature has them */
void dist_param_name(int dist, int i, char *name, size_t n_bytes); /* alone; a parameter that the node has not goes by the last one's */
bool dist_is_native(int dist);            /* there is code of ours; others are drawn by the generator's method alone */
bool dist_is_composed(int dist);          /* ours over NumPy's draws, not one Generator method */
const char *dist_method(int dist);        /* a Python expression of np, rng, size and the parameters' names */
bool dist_is_legacy(int dist);            /* whether its steps are those of a RandomState, too, by other functions */
bool dist_is_of(int dist, bool random_states); /* whether RandomStates have it, or Generators */
const char *dist_regimes(int dist);       /* parameters for each branch of the algorithm, as Python text */
const char *dist_doc(int dist);
const char *dist_symbol(int dist, int i); /* what to look up for Dists.functions[dist][i], i of 0 and 1; "" for none */
/* Whether all that the distribution needs was found, and it may be used; else it must be drawn by the generator's methods. */
bool dists_have(const Dists *dists, int dist);
/* The same for this stream, which may be a RandomState's (false) or one that is drawn by its generator's methods alone. */
bool dists_have_for(const Dists *dists, const Stream *stream, int dist);

#endif

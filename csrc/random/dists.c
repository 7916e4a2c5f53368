/* Lookups in the table of distributions.
 *
 * Relies on: dists.def. Relied on by: program (checker, listing), vm, lower, bind. */
#include <string.h>

#include "base/names.h"
#include "random/stream.h"

typedef enum Source { SOURCE_NUMPY, SOURCE_COMPOSED } Source;

typedef enum Legacy { LEGACY_METHOD, LEGACY_STREAM, LEGACY_NONE, LEGACY_ONLY } Legacy;

typedef struct DistRow {
    const char *name;
    Source source;
    const char *kinds;
    int ndim_supp;
    const char *dtype, *params, *step, *symbols[2], *method;
    Legacy legacy;
    const char *regimes, *doc;
} DistRow;

static const DistRow rows[N_DISTS] = {
#define DIST(NAME, name, source, kinds, ndim_supp, dtype, params, step, symbol, symbol2, checker, checks, words, method, \
             legacy, regimes, doc) \
    {name, SOURCE_##source, kinds, ndim_supp, dtype, params, #step, {symbol, symbol2}, method, LEGACY_##legacy, regimes, doc},
#include "random/dists.def"
#undef DIST
};

const char *dist_name(int dist) { return rows[dist].name; }

int dist_from_name(const char *name) { return names_find(name, &rows[0].name, N_DISTS, sizeof rows[0]); }

int dist_n_params(int dist) { return (int)strlen(rows[dist].kinds); }

char dist_rounding(int dist)
{
    char last = rows[dist].kinds[dist_n_params(dist) - 1];

    return last == 's' || last == 'r' || last == 'w' ? last : '\0';
}

int dist_n_node_params(int dist) { return dist_n_params(dist) - (dist_rounding(dist) != '\0'); }

char dist_param_kind(int dist, int i) { return rows[dist].kinds[i]; }

/* What the letters of `kinds` mean. */
static const struct Kind {
    char letter;
    DType dtype;
    int ndim, node_ndim;
    bool has_batch;
} kinds[] = {
    {'d', DTYPE_FLOAT64, 0, 0, true}, {'l', DTYPE_INT64, 0, 0, true}, {'v', DTYPE_FLOAT64, 1, 1, true}, {'m', DTYPE_FLOAT64, 2, 2, true},
    {'n', DTYPE_INT64, 0, 1, false},  {'o', DTYPE_FLOAT64, 1, 1, false}, {'b', DTYPE_BOOL, 0, 0, false},
    {'s', DTYPE_INT64, 0, 0, true},   {'r', DTYPE_INT64, 0, 0, true},   {'w', DTYPE_INT64, 0, 0, true},
};

static const struct Kind *find_kind(int dist, int i)
{
    const struct Kind *kind = kinds;

    while (kind->letter != rows[dist].kinds[i]) {
        kind++;
    }
    return kind;
}

DType dist_param_dtype(int dist, int i) { return find_kind(dist, i)->dtype; }

bool dist_takes(int dist, int i, DType dtype, int ndim)
{
    const struct Kind *kind = find_kind(dist, i);

    if (kind->letter == 'o') {
        return ndim == 1 ? dtype == DTYPE_FLOAT32 || dtype == DTYPE_FLOAT64 : ndim == 0 && dtype == DTYPE_INT64;
    }
    return dtype == kind->dtype && (kind->has_batch ? ndim >= kind->ndim : ndim == kind->ndim);
}

int dist_param_ndim(int dist, int i) { return find_kind(dist, i)->ndim; }

int dist_node_ndim(int dist, int i) { return find_kind(dist, i)->node_ndim; }

int dist_batch_ndim(int dist, int i, int ndim)
{
    const struct Kind *kind = find_kind(dist, i);

    return kind->has_batch && ndim > kind->ndim ? ndim - kind->ndim : 0;
}

bool dist_has_batches(int dist)
{
    return rows[dist].kinds[0] != 'n';
}

int dist_ndim_supp(int dist) { return rows[dist].ndim_supp; }

int dist_support_param(int dist)
{
    for (int i = 0; rows[dist].ndim_supp > 0 && i < dist_n_params(dist); i++) {
        if (find_kind(dist, i)->node_ndim == 1) {
            return i;
        }
    }
    return -1;
}

char dist_result_kind(int dist) { return rows[dist].dtype[0] == 'f' ? 'd' : 'l'; }

const char *dist_dtype(int dist) { return strcmp(rows[dist].dtype, "None") == 0 ? NULL : rows[dist].dtype; }

bool dist_takes_size(int dist)
{
    int support = dist_support_param(dist);

    return support < 0 || find_kind(dist, support)->letter != 'n';
}

const char *dist_params(int dist) { return rows[dist].params; }

void dist_param_name(int dist, int i, char *name, size_t n_bytes)
{
    const char *from = rows[dist].params, *comma;
    size_t length;

    while (i-- > 0 && (comma = strchr(from, ',')) != NULL) {
        from = comma + 2;
    }
    length = strcspn(from, "=,");
    length = length < n_bytes ? length : n_bytes - 1;
    memcpy(name, from, length);
    name[length] = '\0';
}

bool dist_is_composed(int dist) { return rows[dist].source == SOURCE_COMPOSED; }

const char *dist_method(int dist) { return rows[dist].method; }

bool dist_is_legacy(int dist) { return rows[dist].legacy == LEGACY_STREAM; }

bool dist_is_of(int dist, bool random_states) { return rows[dist].legacy != (random_states ? LEGACY_NONE : LEGACY_ONLY); }

const char *dist_regimes(int dist) { return rows[dist].regimes; }

const char *dist_doc(int dist) { return rows[dist].doc; }

const char *dist_symbol(int dist, int i) { return rows[dist].symbols[i]; }

bool dist_is_native(int dist) { return strcmp(rows[dist].step, "METHOD") != 0; }

bool dists_have(const Dists *dists, int dist)
{
    for (int i = 0; i < 2; i++) {
        if (rows[dist].symbols[i][0] != '\0' && dists->functions[dist][i] == NULL) {
            return false;
        }
    }
    return dist_is_native(dist) && !dists->use_method[dist];
}

bool dists_have_for(const Dists *dists, const Stream *stream, int dist)
{
    return !stream->by_method && stream->gauss == NULL && dists_have(dists, dist);
}

/* Lookups in the table of distributions.
 *
 * Relies on: dists.def. Relied on by: program (checker, listing), vm, lower, bind. */
#include <string.h>

#include "random/stream.h"

typedef enum Source { SOURCE_NUMPY, SOURCE_COMPOSED } Source;

typedef struct DistRow {
    const char *name;
    Source source;
    const char *kinds;
    int ndim_supp;
    const char *dtype, *params, *symbols[2], *method, *regimes, *doc;
} DistRow;

static const DistRow rows[N_DISTS] = {
#define DIST(NAME, name, source, kinds, ndim_supp, dtype, params, step, symbol, symbol2, checker, checks, words, method, \
             legacy, regimes, doc) \
    {name, SOURCE_##source, kinds, ndim_supp, dtype, params, {symbol, symbol2}, method, regimes, doc},
#include "random/dists.def"
#undef DIST
};

const char *dist_name(int dist) { return rows[dist].name; }

int dist_from_name(const char *name)
{
    for (int i = 0; i < N_DISTS; i++) {
        if (strcmp(rows[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

int dist_n_params(int dist) { return (int)strlen(rows[dist].kinds); }

char dist_param_kind(int dist, int i) { return rows[dist].kinds[i]; }

int dist_param_ndim(int dist, int i) { return rows[dist].kinds[i] == 'v' ? 1 : 0; }

int dist_ndim_supp(int dist) { return rows[dist].ndim_supp; }

char dist_result_kind(int dist) { return rows[dist].dtype[0] == 'f' ? 'd' : 'l'; }

const char *dist_dtype(int dist) { return rows[dist].dtype; }

const char *dist_params(int dist) { return rows[dist].params; }

bool dist_is_composed(int dist) { return rows[dist].source == SOURCE_COMPOSED; }

const char *dist_method(int dist) { return rows[dist].method; }

const char *dist_regimes(int dist) { return rows[dist].regimes; }

const char *dist_doc(int dist) { return rows[dist].doc; }

const char *dist_symbol(int dist, int i) { return rows[dist].symbols[i]; }

bool dists_have(const Dists *dists, int dist)
{
    for (int i = 0; i < 2; i++) {
        if (rows[dist].symbols[i][0] != '\0' && dists->functions[dist][i] == NULL) {
            return false;
        }
    }
    return !dists->use_method[dist];
}

bool dists_have_for(const Dists *dists, const Stream *stream, int dist)
{
    return !stream->by_method && stream->gauss == NULL && dists_have(dists, dist);
}

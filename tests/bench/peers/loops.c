/* The workloads as one would write them in C over NumPy's library of distributions: the usual speed limit of one core.
 *
 * c.py builds this as a shared library and hands over the bit generator of a NumPy Generator. */
#include <math.h>
#include <stdint.h>

#include "numpy/random/bitgen.h"
#include "numpy/random/distributions.h"

void draws(bitgen_t *rng, int64_t n_steps, double *out)
{
    for (int64_t t = 0; t < n_steps; t++) out[t] = random_normal(rng, 0.0, 1.0);
}

void ar1(bitgen_t *rng, int64_t n_steps, double *out)
{
    double x = 1.0;

    for (int64_t t = 0; t < n_steps; t++) {
        x = 0.9 * x + random_normal(rng, 0.0, 0.1);
        out[t] = x;
    }
}

void stochvol(bitgen_t *rng, int64_t n_steps, double *variances, double *returns)
{
    double h = -1.0;

    for (int64_t t = 0; t < n_steps; t++) {
        h = 0.97 * (h + 1.0) - 1.0 + 0.2 * random_standard_normal(rng);
        variances[t] = h;
        returns[t] = exp(0.5 * h) * random_standard_normal(rng);
    }
}

void gbm(bitgen_t *rng, int64_t n_steps, int64_t n_paths, double *out)
{
    const double shift = (0.05 - 0.5 * 0.2 * 0.2) / 252, width = 0.2 * sqrt(1.0 / 252);

    for (int64_t i = 0; i < n_steps * n_paths; i++) {
        double before = i < n_paths ? 100.0 : out[i - n_paths];
        out[i] = before * exp(shift + width * random_standard_normal(rng));
    }
}

void sir(bitgen_t *rng, int64_t n_steps, int64_t *susceptible, int64_t *infected)
{
    binomial_t infections = {0}, recoveries = {0};
    int64_t s = 99990, i = 10;

    for (int64_t t = 0; t < n_steps; t++) {
        int64_t caught = random_binomial(rng, 1.0 - exp(-0.3 * (double)i / 100000.0), s, &infections);
        int64_t healed = random_binomial(rng, 0.1, i, &recoveries);
        susceptible[t] = s -= caught;
        infected[t] = i += caught - healed;
    }
}

void lds(bitgen_t *rng, int64_t n_steps, int64_t size, const double *turn, const double *factor, const double *start, double *out)
{
    const double *x = start;
    double noise[64];

    for (int64_t t = 0; t < n_steps; t++, x = out, out += size) {
        for (int64_t i = 0; i < size; i++) noise[i] = random_standard_normal(rng);
        for (int64_t i = 0; i < size; i++) {
            double sum = 0.0;
            for (int64_t j = 0; j < size; j++) sum += turn[i * size + j] * x[j] + factor[i * size + j] * noise[j];
            out[i] = sum;
        }
    }
}

void hmm(bitgen_t *rng, int64_t n_steps, const double *rows, const double *means, int64_t *states, double *seen)
{
    int64_t z = 0;

    for (int64_t t = 0; t < n_steps; t++) {
        double u = random_standard_uniform(rng), reached = rows[3 * z];
        int64_t next = 0;

        while (next < 2 && u >= reached) reached += rows[3 * z + ++next];
        states[t] = z = next;
        seen[t] = means[z] + random_standard_normal(rng);
    }
}

void metropolis(bitgen_t *rng, int64_t n_steps, int64_t size, double *path, double *densities)
{
    double x[64] = {0}, density = 0.0;

    for (int64_t t = 0; t < n_steps; t++) {
        double *proposal = path + t * size, squares = 0.0;

        for (int64_t i = 0; i < size; i++) {
            proposal[i] = x[i] + 0.5 * random_standard_normal(rng);
            squares += proposal[i] * proposal[i];
        }
        if (log(random_standard_uniform(rng)) < -0.5 * squares - density) {
            density = -0.5 * squares;
            for (int64_t i = 0; i < size; i++) x[i] = proposal[i];
        } else {
            for (int64_t i = 0; i < size; i++) proposal[i] = x[i];
        }
        densities[t] = density;
    }
}

void logistic(int64_t n_steps, double *out)
{
    double x = 0.3;

    for (int64_t t = 0; t < n_steps; t++) {
        x = 3.7 * x * (1.0 - x);
        out[t] = x;
    }
}

void power(int64_t n_steps, int64_t size, const double *base, double *out)
{
    for (int64_t i = 0; i < size; i++) {
        double product = 1.0;
        for (int64_t t = 0; t < n_steps; t++) product *= base[i];
        out[i] = product;
    }
}

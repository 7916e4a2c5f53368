/* Tests of the room random with a made-up generator and made-up distribution functions: what is called, in which order,
 * with which arguments; what is refused before anything is drawn. That the numbers are NumPy's is tests/parity's. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "random/draw.h"
#include "rig.h"
#include "test.h"

static Array array_of(const void *data, DType dtype, int ndim, const int64_t *shape)
{
    Array array = {.data = (char *)(uintptr_t)data, .ndim = ndim, .dtype = dtype};

    for (int i = 0; i < ndim; i++) {
        array.shape[i] = shape[i];
    }
    array_set_contiguous_strides(&array);
    return array;
}

static Array scalar_of(const double *value) { return array_of(value, DTYPE_FLOAT64, 0, NULL); }

static const DrawPoll no_poll = {0};

/* ---- the table ---- */

static void every_distribution_is_found_and_says_what_it_needs(void)
{
    for (int i = 0; i < N_DISTS; i++) {
        CHECK(dist_from_name(dist_name(i)) == i);
        CHECK(dist_n_params(i) >= 1 && dist_n_params(i) <= DRAW_MAX_PARAMS);
        CHECK(strcmp(dist_dtype(i) == NULL ? "int64" : dist_dtype(i), dist_result_kind(i) == 'd' ? "floatX" : "int64") == 0);
        CHECK(strlen(dist_doc(i)) > 0 && strlen(dist_method(i)) > 0);
    }
    CHECK(dist_from_name("none") == -1);
    CHECK(dist_param_ndim(DIST_CATEGORICAL, 0) == 1 && dist_param_ndim(DIST_NORMAL, 1) == 0);
}

static void each_parameter_of_a_draw_has_a_name_those_that_its_node_has_not_too(void)
{
    char name[32];

    for (int dist = 0; dist < N_DISTS; dist++) {
        for (int i = 0; i < dist_n_params(dist); i++) {
            dist_param_name(dist, i, name, sizeof name);
            CHECK(name[0] != '\0' && strstr(dist_params(dist), name) != NULL);
        }
    }
    dist_param_name(DIST_GAMMA, 1, name, sizeof name);
    CHECK(strcmp(name, "scale") == 0);
}

static void a_distribution_is_had_when_all_its_symbols_were_found(void)
{
    Rig rig;

    rig_set_up(&rig);
    rig.dists.functions[DIST_BETA][0] = NULL;
    CHECK(dists_have(&rig.dists, DIST_NORMAL) && !dists_have(&rig.dists, DIST_BETA));
    CHECK(dists_have(&rig.dists, DIST_CATEGORICAL)); /* needs none */
    rig.dists.use_method[DIST_CATEGORICAL] = true;
    CHECK(!dists_have(&rig.dists, DIST_CATEGORICAL) && dists_have(&rig.dists, DIST_NORMAL));
}

/* ---- streams ---- */

static void a_copied_stream_goes_on_alike_in_memory_of_its_own(void)
{
    Rig rig;
    Stream *copy = stream_new();
    Status status;
    uint64_t first;

    rig_set_up(&rig);
    (void)rig_uint64(&rig.mix);
    CHECK(stream_copy(copy, &rig.stream, &status) == 0);
    CHECK(copy->bitgen == &copy->own && copy->own.state != &rig.mix);
    first = copy->bitgen->next_uint64(copy->bitgen->state);
    CHECK(rig.mix.n_words == 1 && first == rig_uint64(&rig.mix));
    /* A copy of a copy, onto memory that is there already. */
    CHECK(stream_copy(copy, &rig.stream, &status) == 0);
    CHECK(stream_copy(copy, copy, &status) == 0);
    CHECK(copy->bitgen->next_uint64(copy->bitgen->state) == rig_uint64(&rig.mix));
    stream_free(copy);
    stream_free(NULL);
}

static void a_copy_that_was_pointed_elsewhere_since_has_room_for_larger_words(void)
{
    char words[4096] = {1};
    StreamLayout large = {.n_bytes = sizeof words};
    Rig rig;
    Stream *copy = stream_new(), source = {.layout = &large};
    Status status;

    rig_set_up(&rig);
    CHECK(stream_copy(copy, &rig.stream, &status) == 0);
    source.own = *rig.stream.bitgen;
    source.own.state = words;
    source.bitgen = &source.own;
    copy->bitgen = source.bitgen; /* as bind points a stream at another object */
    copy->layout = &large;
    CHECK(stream_copy(copy, &source, &status) == 0);
    CHECK(copy->memory_bytes >= sizeof words && memcmp(copy->own.state, words, sizeof words) == 0);
    stream_free(copy);
}

static void a_copy_has_a_second_gaussian_of_its_own(void)
{
    Rig rig;
    Gauss gauss = {1, 0.25};
    Stream *copy = stream_new(), *other = stream_new();
    Status status;

    rig_set_up(&rig);
    CHECK(stream_copy(copy, &rig.stream, &status) == 0 && copy->gauss == NULL);
    rig.stream.gauss = &gauss;
    CHECK(stream_copy(copy, &rig.stream, &status) == 0 && copy->gauss == &copy->own_gauss && copy->gauss->value == 0.25);
    *copy->gauss = (Gauss){0, 0.0};
    CHECK(gauss.has_value == 1);
    CHECK(stream_copy(other, copy, &status) == 0 && other->gauss->has_value == 0);
    other->gauss->has_value = 1;
    other->gauss->value = 0.5;
    stream_put(&rig.stream, other);
    CHECK(gauss.has_value == 1 && gauss.value == 0.5);
    stream_free(copy);
    stream_free(other);
}

static void a_copy_without_memory_leaves_the_stream_as_it_was(void)
{
    Rig rig;
    Stream *copy = stream_new();
    Status status;

    rig_set_up(&rig);
    mem_fault_arm(1, 1);
    CHECK(stream_copy(copy, &rig.stream, &status) == -1 && status.code == STATUS_NO_MEMORY);
    CHECK(mem_fault_disarm() == 1 && copy->memory == NULL && copy->bitgen == NULL);
    stream_free(copy);
}

static void words_are_restored_with_their_inner_pointers(void)
{
    Rig rig;
    Mix saved;

    rig_set_up(&rig);
    stream_copy_words(&rig.layout, (char *)&saved, (const char *)&rig.mix);
    CHECK(saved.word == &saved.own);
    uint64_t first = rig_uint64(&rig.mix);
    stream_copy_words(&rig.layout, (char *)&rig.mix, (const char *)&saved);
    CHECK(rig.mix.word == &rig.mix.own && rig_uint64(&rig.mix) == first);
}

/* ---- draws ---- */

static void a_fill_draws_in_c_order_with_broadcast_parameters(void)
{
    Rig rig, twin;
    double low[3] = {0, 10, 20}, scale[2] = {1, 2}, out[2][3];
    Array params[2] = {array_of(low, DTYPE_FLOAT64, 1, (int64_t[]){3}), array_of(scale, DTYPE_FLOAT64, 2, (int64_t[]){2, 1})};
    Array dst = array_of(out, DTYPE_FLOAT64, 2, (int64_t[]){2, 3});
    Status status;

    rig_set_up(&rig);
    rig_set_up(&twin);
    CHECK(draw_fill(&rig.dists, DIST_NORMAL, &rig.stream, &dst, params, no_poll, &status) == 0);
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 3; j++) {
            CHECK(out[i][j] == rig_d_dd(&twin.bitgen, low[j], scale[i]));
        }
    }
    CHECK(rig.mix.own == twin.mix.own);
}

static void parameters_may_run_backwards(void)
{
    Rig rig, twin;
    double low[3] = {0, 10, 20}, scale = 1, out[3];
    Array params[2] = {array_of(low + 2, DTYPE_FLOAT64, 1, (int64_t[]){3}), scalar_of(&scale)}, dst = array_of(out, DTYPE_FLOAT64, 1, (int64_t[]){3});
    Status status;

    rig_set_up(&rig);
    rig_set_up(&twin);
    params[0].strides[0] = -8;
    CHECK(draw_fill(&rig.dists, DIST_NORMAL, &rig.stream, &dst, params, no_poll, &status) == 0);
    for (int j = 0; j < 3; j++) {
        CHECK(out[j] == rig_d_dd(&twin.bitgen, low[2 - j], 1));
    }
}

static void one_draw_equals_a_fill_of_one(void)
{
    Rig rig, twin;
    double a = 1.5, b = 2.5, one, filled;
    const char *const at[2] = {(const char *)&a, (const char *)&b};
    Array params[2] = {scalar_of(&a), scalar_of(&b)}, dst = scalar_of(&filled);
    Status status;
    const int dists[] = {DIST_NORMAL, DIST_UNIFORM, DIST_GAMMA, DIST_HALFNORMAL};

    for (size_t i = 0; i < sizeof dists / sizeof *dists; i++) {
        rig_set_up(&rig);
        rig_set_up(&twin);
        CHECK(draw_one(&rig.dists, dists[i], &rig.stream, (char *)&one, at, &status) == 0);
        CHECK(draw_fill(&twin.dists, dists[i], &twin.stream, &dst, params, no_poll, &status) == 0);
        CHECK(one == filled && rig.mix.own == twin.mix.own && rig.mix.n_words == 1);
    }
}

static void many_draws_equal_that_number_of_single_ones(void)
{
    Rig rig, twin;
    double a = 1.5, b = 2.5, one, many[7];
    const char *const at[2] = {(const char *)&a, (const char *)&b};
    Status status;
    const int dists[] = {DIST_NORMAL, DIST_EXPONENTIAL, DIST_UNIFORM, DIST_HALFNORMAL};

    for (size_t i = 0; i < sizeof dists / sizeof *dists; i++) {
        rig_set_up(&rig);
        rig_set_up(&twin);
        CHECK(draw_many(&rig.dists, dists[i], &rig.stream, (char *)many, 7, at, &status) == 0);
        for (int j = 0; j < 7; j++) {
            CHECK(draw_one(&twin.dists, dists[i], &twin.stream, (char *)&one, at, &status) == 0 && one == many[j]);
        }
        CHECK(rig.mix.own == twin.mix.own && rig.mix.n_words == 7);
    }
}

static void many_draws_check_their_parameters_unless_there_are_none(void)
{
    Rig rig;
    double a = 0, b = -1, many[3];
    const char *const at[2] = {(const char *)&a, (const char *)&b};
    Status status;

    rig_set_up(&rig);
    status_clear(&status);
    CHECK(draw_many(&rig.dists, DIST_NORMAL, &rig.stream, (char *)many, 0, at, &status) == 0);
    CHECK(draw_many(&rig.dists, DIST_NORMAL, &rig.stream, (char *)many, 3, at, &status) == -1 && status.code == STATUS_DOMAIN);
    CHECK(rig.mix.n_words == 0);
}

static void uniform_hands_over_low_and_range_and_halfnormal_scales_the_absolute_value(void)
{
    Rig rig, twin;
    double a = -1.0, b = 3.0, one;
    const char *const at[2] = {(const char *)&a, (const char *)&b};
    Status status;

    rig_set_up(&rig);
    rig_set_up(&twin);
    CHECK(draw_one(&rig.dists, DIST_UNIFORM, &rig.stream, (char *)&one, at, &status) == 0);
    CHECK(one == rig_d_dd(&twin.bitgen, -1.0, 4.0));
    CHECK(draw_one(&rig.dists, DIST_HALFNORMAL, &rig.stream, (char *)&one, at, &status) == 0);
    CHECK(one == fabs(rig_standard(&twin.bitgen)) * 3.0 - 1.0);
}

static void integers_take_the_whole_range_of_int64(void)
{
    Rig rig, twin;
    int64_t low = INT64_MIN, high = INT64_MAX, one;
    const char *const at[2] = {(const char *)&low, (const char *)&high};
    Status status;

    rig_set_up(&rig);
    rig_set_up(&twin);
    CHECK(draw_one(&rig.dists, DIST_INTEGERS, &rig.stream, (char *)&one, at, &status) == 0);
    CHECK((uint64_t)one == rig_bounded(&twin.bitgen, (uint64_t)low, UINT64_MAX - 1, 0, false));
}

static void binomial_remembers_in_the_stream_and_gets_p_before_n(void)
{
    Rig rig, twin;
    int64_t n = 100, one;
    double p = 0.25;
    BinomialMemo memo = {{0}};
    const char *const at[2] = {(const char *)&n, (const char *)&p}, *const at_p[1] = {(const char *)&p};
    Status status;

    rig_set_up(&rig);
    rig_set_up(&twin);
    CHECK(draw_one(&rig.dists, DIST_BINOMIAL, &rig.stream, (char *)&one, at, &status) == 0);
    CHECK(one == rig_binomial(&twin.bitgen, 0.25, 100, &memo));
    CHECK(draw_one(&rig.dists, DIST_BERNOULLI, &rig.stream, (char *)&one, at_p, &status) == 0);
    CHECK(one == rig_binomial(&twin.bitgen, 0.25, 1, &memo));
    CHECK(rig.stream.binomial.words[0] == 2.0);
}

static int64_t draw_one_category(const double *p, int64_t n)
{
    Rig rig;
    int64_t out = -1;
    Array param = array_of(p, DTYPE_FLOAT64, 1, (int64_t[]){n}), dst = array_of(&out, DTYPE_INT64, 0, NULL);
    Status status;

    rig_set_up(&rig);
    CHECK(draw_fill(&rig.dists, DIST_CATEGORICAL, &rig.stream, &dst, &param, no_poll, &status) == 0);
    CHECK(rig.mix.n_words == 1);
    return out;
}

static void a_category_is_the_first_whose_running_sum_is_not_below_the_uniform_number(void)
{
    Rig twin;
    double u;

    rig_set_up(&twin);
    u = rig_double(&twin.mix); /* the number that each draw below gets */
    CHECK(draw_one_category((double[]){u, 1 - u}, 2) == 0);
    CHECK(draw_one_category((double[]){u / 2, 1 - u / 2}, 2) == 1);
    CHECK(draw_one_category((double[]){u / 4, u / 4, u / 4}, 3) == 3); /* beyond the last: not rejected, as NumPy has it */
    CHECK(draw_one_category((double[]){u / 2, NAN, 1}, 3) == 1);
    CHECK(draw_one_category(NULL, 0) == 0);
    /* Sums 2u, u/2, 2u, u/2: bisection looks at the third, goes left, looks at the second, stays right of it. */
    CHECK(draw_one_category((double[]){2 * u, -1.5 * u, 1.5 * u, -1.5 * u}, 4) == 2);
}

static void categories_have_a_row_for_each_element_of_the_batch(void)
{
    Rig rig;
    double p[2][3] = {{1, 0, 0}, {0, 0, 1}};
    int64_t out[3][2];
    Array param = array_of(p, DTYPE_FLOAT64, 2, (int64_t[]){2, 3}), dst = array_of(out, DTYPE_INT64, 2, (int64_t[]){3, 2});
    Status status;

    rig_set_up(&rig);
    CHECK(draw_fill(&rig.dists, DIST_CATEGORICAL, &rig.stream, &dst, &param, no_poll, &status) == 0);
    for (int i = 0; i < 3; i++) {
        CHECK(out[i][0] == 0 && out[i][1] == 2);
    }
}

/* ---- refusals ---- */

/* Draws an element for scalar parameters a and b, or two where `is_array`; compares what is refused. */
static void expect_text(int dist, double a, double b, bool is_array, StatusCode code, const char *text)
{
    Rig rig;
    double values[2] = {a, b}, out[2] = {0, 0};
    int64_t integers[2] = {(int64_t)(a == a ? a : 0), (int64_t)(b == b ? b : 0)};
    Array params[2], dst = array_of(out, DTYPE_FLOAT64, is_array ? 1 : 0, (int64_t[]){2});
    Status status;

    rig_set_up(&rig);
    status_clear(&status);
    for (int i = 0; i < dist_n_params(dist); i++) {
        bool is_integer = dist_param_kind(dist, i) == 'l';
        params[i] = array_of(is_integer ? (void *)&integers[i] : (void *)&values[i], is_integer ? DTYPE_INT64 : DTYPE_FLOAT64, is_array ? 1 : 0, (int64_t[]){1});
    }
    CHECK(draw_fill(&rig.dists, dist, &rig.stream, &dst, params, no_poll, &status) == (code == STATUS_OK ? 0 : -1));
    CHECK(status.code == code);
    CHECK_TEXT(status.text, text);
    CHECK(code == STATUS_OK || rig.mix.n_words == 0);
}

static void parameters_are_refused_with_numpys_words(void)
{
    expect_text(DIST_NORMAL, 0, -1, false, STATUS_DOMAIN, "scale < 0");
    expect_text(DIST_NORMAL, 0, -0.0, true, STATUS_DOMAIN, "scale < 0");
    expect_text(DIST_NORMAL, NAN, NAN, false, STATUS_OK, "");
    expect_text(DIST_UNIFORM, 1, 0, false, STATUS_DOMAIN, "high - low < 0");
    expect_text(DIST_UNIFORM, 0, INFINITY, false, STATUS_OVERFLOW, "high - low range exceeds valid bounds");
    expect_text(DIST_UNIFORM, 0, NAN, true, STATUS_OVERFLOW, "Range exceeds valid bounds");
    expect_text(DIST_POISSON, NAN, 0, false, STATUS_DOMAIN, "lam < 0 or lam is NaN");
    expect_text(DIST_POISSON, NAN, 0, true, STATUS_DOMAIN, "lam value too large");
    expect_text(DIST_POISSON, -1, 0, true, STATUS_DOMAIN, "lam < 0 or lam contains NaNs");
    expect_text(DIST_POISSON, 1e19, 0, false, STATUS_DOMAIN, "lam value too large");
    expect_text(DIST_BINOMIAL, -1, 2, false, STATUS_DOMAIN, "p < 0, p > 1 or p is NaN");
    expect_text(DIST_BINOMIAL, -1, 2, true, STATUS_DOMAIN, "p < 0, p > 1 or p contains NaNs");
    expect_text(DIST_BINOMIAL, -1, 0.5, false, STATUS_DOMAIN, "n < 0");
    expect_text(DIST_BETA, 0, 1, false, STATUS_DOMAIN, "a <= 0");
    expect_text(DIST_GEOMETRIC, 0, 0, false, STATUS_DOMAIN, "p <= 0, p > 1 or p contains NaNs");
    expect_text(DIST_CHISQUARE, 0, 0, true, STATUS_DOMAIN, "df <= 0");
    expect_text(DIST_INTEGERS, 5, 5, false, STATUS_DOMAIN, "low >= high");
    expect_text(DIST_INTEGERS, 0, 0, true, STATUS_DOMAIN, "high <= 0");
    expect_text(DIST_GAMMA, 1, -1, false, STATUS_LAW,
                "Domain error in arguments. The `scale` parameter must be positive for all distributions, and many distributions have "
                "restrictions on shape parameters. Please see the `scipy.stats.gamma` documentation for details.");
    expect_text(DIST_GAMMA, 1, 0, false, STATUS_OK, "");
}

static void a_bad_last_element_stops_the_draw_before_the_first(void)
{
    Rig rig;
    double zero = 0, scale[3] = {1, 2, -1}, out[3];
    Array params[2] = {scalar_of(&zero), array_of(scale, DTYPE_FLOAT64, 1, (int64_t[]){3})}, dst = array_of(out, DTYPE_FLOAT64, 1, (int64_t[]){3});
    Status status;

    rig_set_up(&rig);
    CHECK(draw_fill(&rig.dists, DIST_NORMAL, &rig.stream, &dst, params, no_poll, &status) == -1);
    CHECK(rig.mix.n_words == 0);
}

static void empty_draws_check_their_parameters_but_integers_do_not(void)
{
    Rig rig;
    double zero = 0, scale = -1;
    int64_t five = 5;
    Array params[2] = {scalar_of(&zero), scalar_of(&scale)}, dst = array_of(&zero, DTYPE_FLOAT64, 1, (int64_t[]){0});
    Array bounds[2] = {array_of(&five, DTYPE_INT64, 0, NULL), array_of(&five, DTYPE_INT64, 0, NULL)};
    Status status;

    rig_set_up(&rig);
    CHECK(draw_fill(&rig.dists, DIST_NORMAL, &rig.stream, &dst, params, no_poll, &status) == -1);
    CHECK(draw_fill(&rig.dists, DIST_INTEGERS, &rig.stream, &dst, bounds, no_poll, &status) == 0);
}

/* ---- interrupts ---- */

static int stop_at_third(void *self) { return ++*(int *)self == 3; }

static void a_long_fill_asks_whether_to_stop_and_stops(void)
{
    enum { N = 200000 };
    Rig rig;
    int n_asked = 0;
    double a = 0, b = 1, *out = mem_alloc(N * sizeof *out);
    Array params[2] = {scalar_of(&a), scalar_of(&b)}, dst = array_of(out, DTYPE_FLOAT64, 2, (int64_t[]){N / 2, 2});
    Status status;

    rig_set_up(&rig);
    CHECK(draw_fill(&rig.dists, DIST_NORMAL, &rig.stream, &dst, params, (DrawPoll){.ask = stop_at_third, .self = &n_asked}, &status) == -1);
    CHECK(status.code == STATUS_INTERRUPTED && n_asked == 3 && rig.mix.n_words > 0 && rig.mix.n_words < N / 2);
    mem_free(out);
}

const Test tests_random[] = {
    TEST(every_distribution_is_found_and_says_what_it_needs),
    TEST(each_parameter_of_a_draw_has_a_name_those_that_its_node_has_not_too),
    TEST(a_distribution_is_had_when_all_its_symbols_were_found),
    TEST(a_copied_stream_goes_on_alike_in_memory_of_its_own),
    TEST(a_copy_that_was_pointed_elsewhere_since_has_room_for_larger_words),
    TEST(a_copy_has_a_second_gaussian_of_its_own),
    TEST(a_copy_without_memory_leaves_the_stream_as_it_was),
    TEST(words_are_restored_with_their_inner_pointers),
    TEST(a_fill_draws_in_c_order_with_broadcast_parameters),
    TEST(parameters_may_run_backwards),
    TEST(one_draw_equals_a_fill_of_one),
    TEST(many_draws_equal_that_number_of_single_ones),
    TEST(many_draws_check_their_parameters_unless_there_are_none),
    TEST(uniform_hands_over_low_and_range_and_halfnormal_scales_the_absolute_value),
    TEST(integers_take_the_whole_range_of_int64),
    TEST(binomial_remembers_in_the_stream_and_gets_p_before_n),
    TEST(a_category_is_the_first_whose_running_sum_is_not_below_the_uniform_number),
    TEST(categories_have_a_row_for_each_element_of_the_batch),
    TEST(parameters_are_refused_with_numpys_words),
    TEST(a_bad_last_element_stops_the_draw_before_the_first),
    TEST(empty_draws_check_their_parameters_but_integers_do_not),
    TEST(a_long_fill_asks_whether_to_stop_and_stops),
    {NULL, NULL},
};

/* Tests of the room base: allocation and its faults, buffers and their holders, copies between arrays, failures as data. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "base/status.h"
#include "test.h"

static void an_armed_fault_fails_the_chosen_allocations_and_counts_them(void)
{
    void *first, *second, *third, *fourth;

    mem_fault_arm(2, 2);
    first = mem_alloc(10);
    second = mem_alloc(10);
    third = mem_calloc(2, 5);
    fourth = mem_alloc(10);
    CHECK(first != NULL && second == NULL && third == NULL && fourth != NULL);
    CHECK(mem_fault_disarm() == 2);
    CHECK(mem_fault_disarm() == 0);
    mem_free(first);
    mem_free(fourth);
}

#ifdef __SANITIZE_ADDRESS__
enum { KEEPS_SPARES = 0 };
#else
enum { KEEPS_SPARES = 1 };
#endif

static void a_big_block_serves_the_next_of_its_size(void)
{
    const size_t n = MEM_BIG_BYTES + 4096;
    int64_t n_alive = mem_blocks_alive();
    char *first = mem_alloc_sized(n), *second = mem_alloc_sized(n), *other, *again;

    CHECK(first != NULL && second != NULL && first != second && (uintptr_t)first % 64 == 0);
    mem_free_sized(first, n);
    CHECK(mem_blocks_alive() == n_alive + 1 && mem_spare_bytes() >= (int64_t)(KEEPS_SPARES * n));
    other = mem_alloc_sized(n + 64);
    again = mem_alloc_sized(n);
    CHECK(other != first && (again == first || !KEEPS_SPARES) && mem_blocks_alive() == n_alive + 3);
    memset(again, 7, n);
    memset(other, 8, n + 64);
    CHECK(again[0] == 7 && again[n - 1] == 7);
    mem_free_sized(again, n);
    mem_free_sized(other, n + 64);
    mem_free_sized(second, n);
    mem_fault_arm(1, 1);
    CHECK(mem_alloc_sized(n) == NULL && mem_fault_disarm() == 1 && mem_blocks_alive() == n_alive);
}

static void spare_blocks_are_few_bytes(void)
{
    enum { N = 12 };
    void *blocks[N];

    for (size_t i = 0; i < N; i++) {
        blocks[i] = mem_alloc_sized((i + 1) * MEM_SPARE_BYTES / (N / 2));
        CHECK(blocks[i] != NULL);
    }
    for (size_t i = 0; i < N; i++) {
        mem_free_sized(blocks[i], (i + 1) * MEM_SPARE_BYTES / (N / 2));
        CHECK(mem_spare_bytes() >= 0 && mem_spare_bytes() <= MEM_SPARE_BYTES);
    }
    mem_free_sized(NULL, MEM_SPARE_BYTES);
}

static void *take_and_free_big_blocks(void *number)
{
    intptr_t n_wrong = 0;

    for (size_t i = 0; i < 400; i++) {
        size_t n = MEM_BIG_BYTES + i % 6 * 64;
        char *block = mem_alloc_sized(n);

        memset(block, *(char *)number, 64);
        block[n - 1] = *(char *)number;
        for (int j = 0; j < 64; j++) {
            n_wrong += block[j] != *(char *)number;
        }
        n_wrong += block[n - 1] != *(char *)number;
        mem_free_sized(block, n);
    }
    return (void *)n_wrong;
}

static void a_spare_block_serves_one_thread(void)
{
    pthread_t threads[4];
    char numbers[4] = {1, 2, 3, 4};

    for (int i = 0; i < 4; i++) {
        CHECK(pthread_create(&threads[i], NULL, take_and_free_big_blocks, &numbers[i]) == 0);
    }
    for (int i = 0; i < 4; i++) {
        void *n_wrong;

        CHECK(pthread_join(threads[i], &n_wrong) == 0 && n_wrong == NULL);
    }
    CHECK(mem_spare_bytes() <= MEM_SPARE_BYTES);
}

static void a_failed_resize_leaves_the_old_block(void)
{
    int *list = mem_calloc(4, sizeof *list);

    list[3] = 7;
    mem_fault_arm(1, 1);
    CHECK(mem_resize(list, 100, sizeof *list) == NULL);
    CHECK(mem_fault_disarm() == 1);
    CHECK(list[3] == 7);
    list = mem_resize(list, 100, sizeof *list);
    CHECK(list != NULL && list[3] == 7);
    mem_free(list);
}

static void a_product_that_does_not_fit_is_refused(void)
{
    size_t product = 5;

    CHECK(mem_mul(SIZE_MAX / 2, 3, &product) == -1 && product == 5);
    CHECK(mem_mul(0, SIZE_MAX, &product) == 0 && product == 0);
    CHECK(mem_calloc(SIZE_MAX / 2, 3) == NULL);
    CHECK(mem_resize(NULL, SIZE_MAX, 2) == NULL);
}

static void large_blocks_are_aligned_and_empty_ones_are_valid(void)
{
    for (size_t n = 64; n < 5000; n = n * 2 + 1) {
        void *block = mem_alloc(n);
        CHECK((uintptr_t)block % 64 == 0);
        mem_free(block);
    }
    void *empty = mem_alloc(0);
    CHECK(empty != NULL);
    mem_free(empty);
    mem_free(NULL);
}

static void count_release(void *foreign) { ++*(int *)foreign; }

static void a_buffer_goes_with_its_last_holder(void)
{
    int n_released = 0;
    char memory[16];
    Buffer *buffer = buffer_wrap(memory, sizeof memory, count_release, &n_released);

    CHECK(!buffer_is_exclusive(buffer)); /* the memory is not ours */
    CHECK(buffer_ref(buffer) == buffer);
    buffer_unref(buffer);
    CHECK(n_released == 0);
    buffer_unref(buffer);
    CHECK(n_released == 1);
    CHECK(buffer_ref(NULL) == NULL);
    buffer_unref(NULL);
}

static void a_buffer_with_one_holder_is_exclusive(void)
{
    Buffer *buffer = buffer_new(100);

    CHECK(buffer_is_exclusive(buffer) && buffer->n_bytes == 100 && (uintptr_t)buffer->data % 64 == 0);
    (void)buffer_ref(buffer);
    CHECK(!buffer_is_exclusive(buffer));
    buffer_unref(buffer);
    CHECK(buffer_is_exclusive(buffer));
    buffer_unref(buffer);
    CHECK(buffer_new(SIZE_MAX) == NULL);
}

static void *hold_and_let_go(void *argument)
{
    Buffer *buffer = argument;

    for (int i = 0; i < 2000; i++) {
        buffer_unref(buffer_ref(buffer));
    }
    buffer_unref(buffer);
    return NULL;
}

static void holders_in_threads_release_once(void)
{
    enum { N_THREADS = 4 };
    int n_released = 0;
    pthread_t threads[N_THREADS];
    Buffer *buffer = buffer_wrap(NULL, 0, count_release, &n_released);

    for (int i = 0; i < N_THREADS; i++) {
        CHECK(pthread_create(&threads[i], NULL, hold_and_let_go, buffer_ref(buffer)) == 0);
    }
    buffer_unref(buffer);
    for (int i = 0; i < N_THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    CHECK(n_released == 1);
}

/* An array over memory of the caller's with C-order strides. */
static Array array_of(void *data, DType dtype, int ndim, const int64_t *shape)
{
    Array array = {.data = data, .ndim = ndim, .dtype = dtype};

    for (int i = 0; i < ndim; i++) {
        array.shape[i] = shape[i];
    }
    array_set_contiguous_strides(&array);
    return array;
}

static void a_copy_broadcasts_and_follows_strides(void)
{
    double row[3] = {1, 2, 3}, grid[2][3], turned[3][2];
    Array from = array_of(row, DTYPE_FLOAT64, 1, (int64_t[]){3});
    Array to = array_of(grid, DTYPE_FLOAT64, 2, (int64_t[]){2, 3});
    Array back = array_of(turned, DTYPE_FLOAT64, 2, (int64_t[]){2, 3});

    CHECK(array_copy(&to, &from) == 0);
    CHECK(grid[0][0] == 1 && grid[0][2] == 3 && grid[1][0] == 1 && grid[1][2] == 3);
    grid[1][1] = 9;
    back.strides[0] = 8;
    back.strides[1] = 16;
    CHECK(array_copy(&back, &to) == 0);
    CHECK(turned[0][0] == 1 && turned[2][0] == 3 && turned[1][1] == 9 && turned[2][1] == 3);
}

static void a_copy_works_for_items_of_every_size(void)
{
    for (int dtype = 0; dtype < N_DTYPES; dtype++) {
        size_t item = (size_t)dtype_bytes((DType)dtype);
        unsigned char from[6 * 16], to[6 * 16];
        Array a = array_of(from, (DType)dtype, 1, (int64_t[]){3}), b = array_of(to, (DType)dtype, 1, (int64_t[]){3});

        for (size_t i = 0; i < sizeof from; i++) {
            from[i] = (unsigned char)i;
        }
        a.strides[0] = 2 * (int64_t)item;
        CHECK(array_copy(&b, &a) == 0);
        for (size_t i = 0; i < 3 * item; i++) {
            CHECK(to[i] == from[i / item * 2 * item + i % item]);
        }
    }
}

static void a_copy_onto_itself_shifted_or_reversed_is_as_if_from_a_copy(void)
{
    int64_t values[6] = {0, 1, 2, 3, 4, 5};
    Array all = array_of(values, DTYPE_INT64, 1, (int64_t[]){6}), reversed = all;
    Array to = array_of(values + 1, DTYPE_INT64, 1, (int64_t[]){5}), from = array_of(values, DTYPE_INT64, 1, (int64_t[]){5});

    CHECK(array_copy(&to, &from) == 0);
    CHECK(values[0] == 0 && values[1] == 0 && values[5] == 4);
    reversed.data = (char *)(values + 5);
    reversed.strides[0] = -8;
    CHECK(array_copy(&all, &reversed) == 0);
    CHECK(values[0] == 4 && values[1] == 3 && values[5] == 0);
    mem_fault_arm(1, 1);
    CHECK(array_copy(&all, &reversed) == -1);
    CHECK(mem_fault_disarm() == 1);
    CHECK(values[0] == 4 && values[5] == 0);
}

static void empty_arrays_and_scalars_copy(void)
{
    double a = 5, b = 0;
    Array from = array_of(&a, DTYPE_FLOAT64, 0, NULL), to = array_of(&b, DTYPE_FLOAT64, 0, NULL);
    Array none = array_of(NULL, DTYPE_FLOAT64, 2, (int64_t[]){0, 3});

    CHECK(array_copy(&to, &from) == 0 && b == 5);
    CHECK(array_copy(&none, &none) == 0);
    CHECK(array_is_contiguous(&none) && array_size(&none) == 0 && array_size(&from) == 1);
}

static void the_bytes_of_a_shape_are_checked(void)
{
    size_t n_bytes = 1;

    CHECK(array_bytes(2, (int64_t[]){3, 4}, DTYPE_FLOAT32, &n_bytes) == 0 && n_bytes == 48);
    CHECK(array_bytes(2, (int64_t[]){0, 4}, DTYPE_FLOAT32, &n_bytes) == 0 && n_bytes == 0);
    CHECK(array_bytes(2, (int64_t[]){INT64_MAX / 2, 4}, DTYPE_INT8, &n_bytes) == -1);
    CHECK(array_bytes(3, (int64_t[]){INT64_MAX / 2, 4, 0}, DTYPE_INT8, &n_bytes) == -1); /* its strides do not fit */
    CHECK(array_bytes(1, (int64_t[]){INT64_MAX}, DTYPE_INT8, &n_bytes) == 0 && n_bytes == (size_t)INT64_MAX);
}

static void a_long_text_is_cut_between_characters(void)
{
    Status status;
    char text[400];

    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    memcpy(text + STATUS_TEXT_BYTES - 2, "\xc3\xa9", 2); /* one character of two bytes across the end */
    CHECK(status_fail_text(&status, STATUS_DOMAIN, text) == -1);
    CHECK(status.code == STATUS_DOMAIN && strlen(status.text) == STATUS_TEXT_BYTES - 2);
    CHECK(status_fail_text(&status, STATUS_OVERFLOW, status.text) == -1);
    CHECK(status.code == STATUS_OVERFLOW && strlen(status.text) == STATUS_TEXT_BYTES - 2);
}

static void a_failure_holds_what_it_was_given_and_nothing_older(void)
{
    Status status;

    CHECK(status_fail_shapes(&status, STATUS_DOT_SHAPE, 2, (int64_t[]){2, 3}, 1, (int64_t[]){4}) == -1);
    CHECK(status.ndim_a == 2 && status.shape_a[1] == 3 && status.ndim_b == 1 && status.shape_b[0] == 4);
    CHECK(status_fail_numbers(&status, STATUS_INDEX, 7, 3, 0, 0) == -1);
    CHECK(status.a == 7 && status.b == 3 && status.ndim_a == 0 && status.node == -1);
    CHECK(strcmp(status_exception(STATUS_INDEX), "IndexError") == 0 && strcmp(status_name(STATUS_INDEX), "INDEX") == 0);
    status_clear(&status);
    CHECK(status.code == STATUS_OK && status.a == 0);
}

const Test tests_base[] = {
    TEST(an_armed_fault_fails_the_chosen_allocations_and_counts_them),
    TEST(a_big_block_serves_the_next_of_its_size),
    TEST(spare_blocks_are_few_bytes),
    TEST(a_spare_block_serves_one_thread),
    TEST(a_failed_resize_leaves_the_old_block),
    TEST(a_product_that_does_not_fit_is_refused),
    TEST(large_blocks_are_aligned_and_empty_ones_are_valid),
    TEST(a_buffer_goes_with_its_last_holder),
    TEST(a_buffer_with_one_holder_is_exclusive),
    TEST(holders_in_threads_release_once),
    TEST(a_copy_broadcasts_and_follows_strides),
    TEST(a_copy_works_for_items_of_every_size),
    TEST(a_copy_onto_itself_shifted_or_reversed_is_as_if_from_a_copy),
    TEST(empty_arrays_and_scalars_copy),
    TEST(the_bytes_of_a_shape_are_checked),
    TEST(a_long_text_is_cut_between_characters),
    TEST(a_failure_holds_what_it_was_given_and_nothing_older),
    {NULL, NULL},
};

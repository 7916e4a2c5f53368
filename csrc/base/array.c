/* Element types, counted buffers, and copies between strided arrays.
 *
 * Relies on: dtypes.def, mem. Relied on by: program, vm, random, lower, bind. */
#include "base/array.h"

#include <string.h>

#include "base/mem.h"
#include "base/names.h"

typedef struct DTypeRow {
    const char *name;
    int64_t n_bytes;
    char kind;
} DTypeRow;

static const DTypeRow dtypes[N_DTYPES] = {
#define DTYPE(NAME, text, c_type, bytes, kind) {text, bytes, kind},
#include "base/dtypes.def"
#undef DTYPE
};

#define DTYPE(NAME, text, c_type, bytes, kind) _Static_assert(sizeof(c_type) == (bytes), "size of " text);
#include "base/dtypes.def"
#undef DTYPE

int64_t dtype_bytes(DType dtype) { return dtypes[dtype].n_bytes; }

const char *dtype_name(DType dtype) { return dtypes[dtype].name; }

char dtype_kind(DType dtype) { return dtypes[dtype].kind; }

int dtype_from_name(const char *name) { return names_find(name, &dtypes[0].name, N_DTYPES, sizeof dtypes[0]); }

/* The data of a buffer of ours follows its header in one block; the offset keeps it aligned as mem_alloc aligns. */
enum { BUFFER_DATA_OFFSET = 64 };
_Static_assert(sizeof(Buffer) <= BUFFER_DATA_OFFSET, "a buffer's header fits before its data");

Buffer *buffer_new(size_t n_bytes)
{
    Buffer *buffer;

    if (n_bytes > SIZE_MAX - BUFFER_DATA_OFFSET) {
        return NULL;
    }
    buffer = mem_alloc_sized(BUFFER_DATA_OFFSET + n_bytes);
    if (buffer == NULL) {
        return NULL;
    }
    atomic_init(&buffer->refs, 1);
    buffer->n_bytes = n_bytes;
    buffer->data = (char *)buffer + BUFFER_DATA_OFFSET;
    buffer->release = NULL;
    buffer->foreign = NULL;
    return buffer;
}

Buffer *buffer_wrap(char *data, size_t n_bytes, void (*release)(void *), void *foreign)
{
    Buffer *buffer = mem_alloc(sizeof *buffer);

    if (buffer == NULL) {
        return NULL;
    }
    atomic_init(&buffer->refs, 1);
    buffer->n_bytes = n_bytes;
    buffer->data = data;
    buffer->release = release;
    buffer->foreign = foreign;
    return buffer;
}

Buffer *buffer_ref(Buffer *buffer)
{
    if (buffer != NULL) {
        atomic_fetch_add_explicit(&buffer->refs, 1, memory_order_relaxed);
    }
    return buffer;
}

void buffer_unref(Buffer *buffer)
{
    /* The last holder must see what the others wrote before they let go. */
    if (buffer == NULL || atomic_fetch_sub_explicit(&buffer->refs, 1, memory_order_acq_rel) > 1) {
        return;
    }
    if (buffer->release != NULL) {
        buffer->release(buffer->foreign);
        mem_free(buffer);
    } else {
        mem_free_sized(buffer, BUFFER_DATA_OFFSET + buffer->n_bytes);
    }
}

bool buffer_is_exclusive(const Buffer *buffer)
{
    return buffer->release == NULL && atomic_load_explicit(&buffer->refs, memory_order_acquire) == 1;
}

void buffer_keep_or_drop(Buffer **buffer, size_t *keep_bytes)
{
    if (*buffer != NULL && buffer_is_exclusive(*buffer) && (*buffer)->n_bytes <= *keep_bytes) {
        *keep_bytes -= (*buffer)->n_bytes;
        return;
    }
    buffer_unref(*buffer);
    *buffer = NULL;
}

int64_t array_size(const Array *array)
{
    int64_t n = 1;

    for (int i = 0; i < array->ndim; i++) {
        n *= array->shape[i];
    }
    return n;
}

bool array_is_contiguous(const Array *array)
{
    int64_t stride = dtype_bytes(array->dtype);

    if (array_size(array) == 0) {
        return true;
    }
    for (int i = array->ndim - 1; i >= 0; i--) {
        if (array->shape[i] != 1 && array->strides[i] != stride) {
            return false;
        }
        stride *= array->shape[i];
    }
    return true;
}

bool array_same_shape(const Array *a, const Array *b)
{
    if (a->ndim != b->ndim) {
        return false;
    }
    for (int i = 0; i < a->ndim; i++) {
        if (a->shape[i] != b->shape[i]) {
            return false;
        }
    }
    return true;
}

void array_set_contiguous_strides(Array *array)
{
    int64_t stride = dtype_bytes(array->dtype);

    for (int i = array->ndim - 1; i >= 0; i--) {
        array->strides[i] = stride;
        stride *= array->shape[i] > 0 ? array->shape[i] : 1;
    }
}

int array_bytes(int ndim, const int64_t *shape, DType dtype, size_t *n_bytes)
{
    size_t product = (size_t)dtype_bytes(dtype), others = product;

    /* Axes of length 0 make the whole empty, but the product of the others must fit too: strides are made of it. */
    for (int i = 0; i < ndim; i++) {
        if (shape[i] != 0 && mem_mul(others, (size_t)shape[i], &others) < 0) {
            return -1;
        }
        product = shape[i] == 0 ? 0 : product;
    }
    if (others > (size_t)PTRDIFF_MAX) {
        return -1;
    }
    *n_bytes = product == 0 ? 0 : others;
    return 0;
}

/* Copying. Both sides are walked with dst's shape; src's strides are 0 along the axes that it broadcasts. */

typedef struct CopyPlan {
    int ndim;
    int64_t shape[ARRAY_MAX_NDIM], to[ARRAY_MAX_NDIM], from[ARRAY_MAX_NDIM];
} CopyPlan;

/* Axes of length 1 are dropped, and neighbours that walk memory as one axis are joined. */
static void plan_copy(CopyPlan *plan, const Array *dst, const Array *src)
{
    int skip = dst->ndim - src->ndim;

    plan->ndim = 0;
    for (int i = 0; i < dst->ndim; i++) {
        int64_t to = dst->strides[i], length = dst->shape[i];
        int64_t from = i < skip || src->shape[i - skip] == 1 ? 0 : src->strides[i - skip];
        int last = plan->ndim - 1;

        if (length == 1) {
            continue;
        }
        if (last >= 0 && plan->to[last] == to * length && plan->from[last] == from * length) {
            plan->shape[last] *= length;
        } else {
            plan->shape[++last] = length;
            plan->ndim++;
        }
        plan->to[last] = to;
        plan->from[last] = from;
    }
}

/* One run of n elements; memcpy of a constant size becomes one move and does not ask for alignment. */
static void copy_run(char *to, int64_t to_stride, const char *from, int64_t from_stride, int64_t n, int64_t item)
{
    if (to_stride == item && from_stride == item) {
        memcpy(to, from, (size_t)(n * item));
        return;
    }
#define COPY_ITEMS(bytes)                                            \
    case bytes:                                                      \
        for (int64_t i = 0; i < n; i++) {                            \
            memcpy(to + i * to_stride, from + i * from_stride, bytes); \
        }                                                            \
        break
    switch (item) {
        COPY_ITEMS(1);
        COPY_ITEMS(2);
        COPY_ITEMS(4);
        COPY_ITEMS(8);
        COPY_ITEMS(16);
    default:
        break;
    }
#undef COPY_ITEMS
}

static void run_copy(const CopyPlan *plan, char *to, const char *from, int64_t item)
{
    int64_t index[ARRAY_MAX_NDIM] = {0};
    int outer = plan->ndim - 1;

    if (plan->ndim == 0) {
        copy_run(to, item, from, item, 1, item);
        return;
    }
    for (;;) {
        int axis = outer - 1;

        copy_run(to, plan->to[outer], from, plan->from[outer], plan->shape[outer], item);
        while (axis >= 0 && ++index[axis] == plan->shape[axis]) {
            to -= (plan->shape[axis] - 1) * plan->to[axis];
            from -= (plan->shape[axis] - 1) * plan->from[axis];
            index[axis--] = 0;
        }
        if (axis < 0) {
            return;
        }
        to += plan->to[axis];
        from += plan->from[axis];
    }
}

/* First byte and one past the last byte that a non-empty array touches. */
static void find_extent(const Array *array, uintptr_t *first, uintptr_t *end)
{
    int64_t low = 0, high = dtype_bytes(array->dtype);

    for (int i = 0; i < array->ndim; i++) {
        int64_t reach = (array->shape[i] - 1) * array->strides[i];
        if (reach < 0) {
            low += reach;
        } else {
            high += reach;
        }
    }
    *first = (uintptr_t)array->data + (uintptr_t)low;
    *end = (uintptr_t)array->data + (uintptr_t)high;
}

static bool arrays_meet(const Array *a, const Array *b)
{
    uintptr_t first_a, end_a, first_b, end_b;

    find_extent(a, &first_a, &end_a);
    find_extent(b, &first_b, &end_b);
    return first_a < end_b && first_b < end_a;
}

/* Copies src aside first, so that no element is overwritten before it is read. */
static int copy_aside(Array *dst, const Array *src)
{
    Array aside = *src;
    CopyPlan plan;
    size_t n_bytes;
    int result = -1;

    aside.data = NULL;
    array_set_contiguous_strides(&aside);
    if (array_bytes(src->ndim, src->shape, src->dtype, &n_bytes) == 0 && (aside.data = mem_alloc(n_bytes)) != NULL) {
        plan_copy(&plan, &aside, src);
        run_copy(&plan, aside.data, src->data, dtype_bytes(src->dtype));
        plan_copy(&plan, dst, &aside);
        run_copy(&plan, dst->data, aside.data, dtype_bytes(dst->dtype));
        result = 0;
    }
    mem_free(aside.data);
    return result;
}

int array_copy(Array *dst, const Array *src)
{
    CopyPlan plan;
    int64_t item = dtype_bytes(dst->dtype);

    if (array_size(dst) == 0) {
        return 0;
    }
    plan_copy(&plan, dst, src);
    if (plan.ndim == 0 || (plan.ndim == 1 && plan.to[0] == item && plan.from[0] == item)) {
        memmove(dst->data, src->data, (size_t)((plan.ndim == 0 ? 1 : plan.shape[0]) * item));
        return 0;
    }
    if (arrays_meet(dst, src)) {
        return copy_aside(dst, src);
    }
    run_copy(&plan, dst->data, src->data, item);
    return 0;
}

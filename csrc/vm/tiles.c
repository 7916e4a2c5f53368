/* Running loops tile by tile.
 *
 * A body becomes a list of kernel calls on places; a place is what a value of the body has in a tile: where its elements
 * are now, and how far apart. After those of values come the places of results' rows, one for each writer.
 * Relies on: tiles.h. Relied on by: loop.c. */
#include "vm/tiles.h"

#include <stddef.h>

#include "base/mem.h"

enum {
    TILE_BYTES = 3 << 13, /* all that a tile works on, within a small first cache */
    TILE_MIN = 128,       /* elements: fewer cost more in calls than the cache saves */
    TILE_MAX = 2048,
    STAGGER_BYTES = 64    /* between rows of a tile, so that they don't all begin at the same place of a page */
};

typedef enum PlaceKind {
    PLACE_UNUSED,
    PLACE_FIXED, /* no step changes it */
    PLACE_ROW,   /* a row of a sequence */
    PLACE_TAP,   /* an earlier row of a state */
    PLACE_MADE,  /* computed in the step */
    PLACE_OUT    /* the row of a result that a step writes */
} PlaceKind;

typedef struct Place {
    uint8_t kind;
    int32_t writer;                     /* TAP, OUT: whose row; MADE: in whose row it is computed, or -1 */
    int32_t root;                       /* a view: of which place's memory; else its own number */
    int64_t item_bytes;
    int64_t first;                      /* TAP, OUT: the row of step 0 */
    int64_t step_bytes;                 /* ROW */
    char *data;                         /* FIXED: of the array; ROW: of that of step 0; MADE: of the tile */
    int64_t offset;                     /* FIXED, ROW, TAP and OUT: where the tile begins */
    int64_t shape[ARRAY_MAX_NDIM];      /* of the value, made as long as the result's by 1s in front */
    int64_t strides[ARRAY_MAX_NDIM];    /* along the axes of the walk; of MADE, 0 or not */
} Place;

/* The rows of one writer by time: past rows first. A tile holds those that are not kept. */
typedef struct TileRows {
    char *kept;
    int64_t stride, n_all, n_kept, past;
    char *own;             /* past + 1 rows of the tile */
    int64_t own_stride;
    bool is_past_copied;   /* the past rows are read in the tile, since results are written over them too early */
    bool is_last_only;     /* of the rows kept nobody reads any but the last: others are made in the tile alone */
} TileRows;

typedef struct TileCall {
    MapKernel kernel;
    int32_t n_args, args[SWEEP_MAX_ARGS];
} TileCall;

struct Tiles {
    int32_t n_calls, n_places, n_moving, n_writers;
    TileCall *calls;
    RepeatKernel repeat; /* of the one call, if its steps can be run at once where their rows are not kept; else NULL */
    bool is_repeat_second; /* the carried operand is the call's second */
    Place *places;
    int32_t *moving;     /* places that a step moves */
    char **at;           /* by place: its elements in this tile and step */
    int64_t *inner;      /* by place: how far they are apart */
    TileRows *rows;      /* by writer */
    int64_t *slot_bytes; /* by storage slot of the body: of an element, 0 when tiles don't use it; then where it begins */
    Buffer *memory;      /* held: what tiles hold of their own */
    int ndim;            /* of the walk */
    int64_t shape[ARRAY_MAX_NDIM], n_tile;
};

/* ---- once for a loop ---- */

static void add_call(Tiles *tiles, MapKernel kernel, int32_t n_args, const int32_t *args)
{
    TileCall *call = &tiles->calls[tiles->n_calls++];

    call->kernel = kernel;
    call->n_args = n_args;
    memcpy(call->args, args, (size_t)n_args * sizeof *args);
}

/* Sums and products of more than two: two, then the result so far and one more. */
static void add_map(Tiles *tiles, const Step *step)
{
    int32_t n = step->instr->n_src, n_in = step->instr->opcode == I_CAST ? 1 : scalar_n_in(step->instr->fn), n_first = n_in >= 0 ? n_in : 2;
    int32_t args[SWEEP_MAX_ARGS], dst = step->dst[0];

    memcpy(args, step->src, (size_t)n_first * sizeof *args);
    args[n_first] = dst;
    add_call(tiles, step->kernel, n_first + 1, args);
    for (int32_t i = n_first; i < n; i++) {
        add_call(tiles, step->kernel, 3, (const int32_t[]){dst, step->src[i], dst});
    }
}

static bool is_elementwise(const Step *step)
{
    const Instr *instr = step->instr;

    switch (instr->opcode) {
    case I_MAP:
        return !scalar_can_raise(instr->fn, (DType)instr->dtype) && instr->n_src < (scalar_n_in(instr->fn) < 0 ? 64 : SWEEP_MAX_ARGS)
               && instr->n_src >= (scalar_n_in(instr->fn) < 0 ? 2 : 1);
    case I_CAST:
    case I_TRANSPOSE:
        return true;
    default:
        return false;
    }
}

static bool is_all_elementwise(const LoopFrame *loop_frame)
{
    const Value *values = loop_frame->loop->body->values;

    if (loop_frame->until != NULL || loop_frame->has_carries || loop_frame->n_writers == 0) {
        return false;
    }
    for (const Step *step = loop_frame->body->each; step->code != STEP_END; step++) {
        if (!is_elementwise(step)) {
            return false;
        }
    }
    for (int32_t i = 0; i < loop_frame->n_writers; i++) {
        int32_t value = loop_frame->writers[i].inner_out;
        if (loop_frame->writers[i].is_scalar || values[value].ndim != values[loop_frame->writers[0].inner_out].ndim) {
            return false;
        }
    }
    return loop_frame->loop->n_states > 0;
}

/* The kernel calls of a step's instructions, then copies into rows of results that are not computed there. */
static void add_calls(Tiles *tiles, const LoopFrame *loop_frame)
{
    const Program *body = loop_frame->loop->body;
    int32_t n_values = body->n_values;

    for (const Step *step = loop_frame->body->each; step->code != STEP_END; step++) {
        Place *place = &tiles->places[step->dst[0]];

        if (step->instr->opcode == I_TRANSPOSE) {
            *place = tiles->places[step->src[0]];
        } else {
            add_map(tiles, step);
            place->kind = PLACE_MADE;
        }
    }
    for (int32_t i = 0; i < loop_frame->n_writers; i++) {
        int32_t value = loop_frame->writers[i].inner_out;
        Place *place = &tiles->places[value];

        tiles->places[n_values + i] = (Place){
            .kind = PLACE_OUT, .writer = i, .root = n_values + i, .item_bytes = place->item_bytes, .first = loop_frame->writers[i].past};
        if (place->kind == PLACE_MADE && place->root == value && place->writer < 0) {
            place->writer = i;
        } else {
            int dtype = body->values[value].dtype;
            add_call(tiles, math_cast(dtype, dtype), 2, (const int32_t[]){value, n_values + i});
        }
    }
}

static void start_places(Tiles *tiles, const LoopFrame *loop_frame)
{
    const Loop *loop = loop_frame->loop;
    const Value *values = loop->body->values;

    for (int32_t i = 0; i < loop->body->n_values; i++) {
        bool is_data = values[i].value_class <= VALUE_ARRAY;
        tiles->places[i] = (Place){.kind = PLACE_FIXED, .writer = -1, .root = i, .item_bytes = is_data ? dtype_bytes((DType)values[i].dtype) : 0};
    }
    for (int32_t i = 0; i < loop->n_sequences; i++) {
        tiles->places[loop->sequences[i].inner].kind = PLACE_ROW;
    }
    for (int32_t i = 0; i < loop->n_states; i++) {
        for (int32_t j = 0; j < loop->states[i].n_taps; j++) {
            const LoopTap *tap = &loop->taps[loop->states[i].first_tap + j];
            Place *place = &tiles->places[tap->inner];

            place->kind = PLACE_TAP;
            place->writer = loop->n_paths + i;
            place->first = loop->states[i].past + tap->tap;
        }
    }
}

/* What no call and no result reads has no place. */
static void drop_unused(Tiles *tiles, int32_t n_values)
{
    bool *is_used = (bool *)tiles->inner; /* not needed yet, and wider */

    memset(is_used, 0, (size_t)tiles->n_places * sizeof *is_used);
    for (int32_t i = 0; i < tiles->n_calls; i++) {
        for (int32_t j = 0; j < tiles->calls[i].n_args; j++) {
            is_used[tiles->calls[i].args[j]] = true;
            is_used[tiles->places[tiles->calls[i].args[j]].root] = true;
        }
    }
    for (int32_t i = 0; i < n_values; i++) {
        tiles->places[i].kind = is_used[i] ? tiles->places[i].kind : PLACE_UNUSED;
    }
}

/* Rows of results first, since values computed there follow them. */
static void find_moving(Tiles *tiles)
{
    for (int32_t i = tiles->n_places - 1; i >= 0; i--) {
        const Place *place = &tiles->places[i];
        bool is_in_row = place->kind == PLACE_MADE && tiles->places[place->root].writer >= 0;

        if (place->kind == PLACE_OUT || place->kind == PLACE_TAP || place->kind == PLACE_ROW || is_in_row) {
            tiles->moving[tiles->n_moving++] = i;
        }
    }
}

/* A body of one operation on its last result and something fixed. */
static void find_repeat(Tiles *tiles, const LoopFrame *loop_frame)
{
    const Step *step = loop_frame->body->each;
    const TileCall *call = tiles->calls;
    const Place *from[2];

    if (tiles->n_calls != 1 || call->n_args != 3 || step->instr->opcode != I_MAP || step[1].code != STEP_END || tiles->n_writers != 1) {
        return;
    }
    for (int i = 0; i < 2; i++) {
        from[i] = &tiles->places[call->args[i]];
    }
    tiles->is_repeat_second = from[1]->kind == PLACE_TAP;
    if (from[tiles->is_repeat_second]->kind == PLACE_TAP && from[!tiles->is_repeat_second]->kind == PLACE_FIXED
        && from[tiles->is_repeat_second]->first == loop_frame->writers[0].past - 1) {
        tiles->repeat = math_repeat(step->instr->fn, step->instr->dtype);
    }
}

static int32_t count_calls(const LoopFrame *loop_frame)
{
    int32_t n = loop_frame->n_writers;

    for (const Step *step = loop_frame->body->each; step->code != STEP_END; step++) {
        n += step->instr->n_src;
    }
    return n;
}

int tiles_new(Tiles **result, const LoopFrame *loop_frame)
{
    const Program *body = loop_frame->loop->body;
    Tiles *tiles;
    size_t n_places = (size_t)body->n_values + (size_t)loop_frame->n_writers;

    *result = NULL;
    if (!is_all_elementwise(loop_frame)) {
        return 0;
    }
    if ((tiles = mem_calloc(1, sizeof *tiles)) == NULL) {
        return -1;
    }
    *result = tiles;
    tiles->n_places = (int32_t)n_places;
    tiles->n_writers = loop_frame->n_writers;
    if ((tiles->calls = mem_calloc((size_t)count_calls(loop_frame) + 1, sizeof(TileCall))) == NULL
        || (tiles->places = mem_calloc(n_places, sizeof(Place))) == NULL
        || (tiles->moving = mem_calloc(n_places, sizeof(int32_t))) == NULL
        || (tiles->at = mem_calloc(n_places, sizeof(char *))) == NULL
        || (tiles->inner = mem_calloc(n_places, sizeof(int64_t))) == NULL
        || (tiles->rows = mem_calloc((size_t)loop_frame->n_writers, sizeof(TileRows))) == NULL
        || (tiles->slot_bytes = mem_calloc((size_t)body->n_storage + 1, sizeof(int64_t))) == NULL) {
        return -1;
    }
    start_places(tiles, loop_frame);
    add_calls(tiles, loop_frame);
    drop_unused(tiles, body->n_values);
    find_moving(tiles);
    find_repeat(tiles, loop_frame);
    for (int32_t i = 0; i < loop_frame->n_writers; i++) {
        tiles->rows[i].is_last_only = program_reads_last_row(loop_frame->around->program, loop_frame->writers[i].outer_out);
    }
    return 0;
}

void tiles_free(Tiles *tiles)
{
    if (tiles == NULL) {
        return;
    }
    buffer_unref(tiles->memory);
    mem_free(tiles->calls);
    mem_free(tiles->places);
    mem_free(tiles->moving);
    mem_free(tiles->at);
    mem_free(tiles->inner);
    mem_free(tiles->rows);
    mem_free(tiles->slot_bytes);
    mem_free(tiles);
}

void tiles_reset(Tiles *tiles, size_t *keep_bytes)
{
    if (tiles != NULL) {
        buffer_keep_or_drop(&tiles->memory, keep_bytes);
    }
}

/* ---- shapes of a call ---- */

/* Takes over an array's shape and strides, aligned at the last of ndim axes. False when it has more. */
static bool show_array(Place *place, const Array *array, int ndim)
{
    int skip = ndim - array->ndim;

    if (skip < 0) {
        return false;
    }
    for (int i = 0; i < ndim; i++) {
        place->shape[i] = i < skip ? 1 : array->shape[i - skip];
        place->strides[i] = i < skip || place->shape[i] == 1 ? 0 : array->strides[i - skip];
    }
    place->data = array->data;
    return true;
}

/* A value that was there before the step. */
static bool place_value(LoopFrame *loop_frame, int32_t value, int ndim)
{
    Array view;

    return show_array(&loop_frame->tiles->places[value], frame_operand(loop_frame->body, value, &view), ndim);
}

/* A view of what moves or is computed must leave each element in its tile: axes longer than 1 stay the same distance from
 * the last. */
static bool place_view(LoopFrame *loop_frame, const Step *step, int ndim)
{
    const int64_t *axes = instr_aux(loop_frame->loop->body, step->instr);
    const Place *source = &loop_frame->tiles->places[step->src[0]];
    Place *place = &loop_frame->tiles->places[step->dst[0]];
    int n = step->instr->n_aux, n_source = loop_frame->loop->body->values[step->src[0]].ndim, skip = ndim - n_source;
    bool is_bound = source->kind != PLACE_FIXED && source->kind != PLACE_ROW;
    uint32_t used = 0;

    if (n > ndim || skip < 0) {
        return false;
    }
    place->data = source->data;
    place->step_bytes = source->step_bytes;
    for (int i = 0; i < ndim; i++) {
        int64_t axis = i < ndim - n ? -1 : axes[i - (ndim - n)];
        int64_t from = axis < 0 ? 0 : axis + skip;

        place->shape[i] = axis < 0 ? 1 : source->shape[from];
        place->strides[i] = axis < 0 ? 0 : source->strides[from];
        used |= axis < 0 ? 0 : UINT32_C(1) << axis;
        if (is_bound && place->shape[i] != 1 && from != i) {
            return false;
        }
    }
    for (int i = 0; i < n_source; i++) {
        if ((used >> i & 1) == 0 && source->shape[i + skip] != 1) {
            return false;
        }
    }
    return true;
}

/* The shape of what a step computes; its strides tell whether an axis is broadcast. */
static bool place_made(LoopFrame *loop_frame, const Step *step, int ndim)
{
    Place *places = loop_frame->tiles->places, *place = &places[step->dst[0]];
    int64_t stride = 1;

    for (int i = 0; i < ndim; i++) {
        place->shape[i] = 1;
        for (int32_t j = 0; j < step->instr->n_src; j++) {
            int64_t length = places[step->src[j]].shape[i];

            if (length != 1 && place->shape[i] != 1 && length != place->shape[i]) {
                return false;
            }
            place->shape[i] = length == 1 ? place->shape[i] : length;
        }
    }
    for (int i = ndim - 1; i >= 0; i--) {
        place->strides[i] = place->shape[i] == 1 ? 0 : stride;
        stride *= place->shape[i];
    }
    return true;
}

/* Values in an order in which shapes are known. */
static bool place_values(LoopFrame *loop_frame, int ndim)
{
    Tiles *tiles = loop_frame->tiles;
    const Loop *loop = loop_frame->loop;

    for (int32_t i = 0; i < loop->n_sequences; i++) {
        tiles->places[loop->sequences[i].inner].step_bytes = loop_frame->tracks[i].stride;
    }
    for (int32_t i = 0; i < loop->body->n_values; i++) {
        const Place *place = &tiles->places[i];
        bool is_given = place->root == i && (place->kind == PLACE_FIXED || place->kind == PLACE_ROW || place->kind == PLACE_TAP);

        if (is_given && !place_value(loop_frame, i, ndim)) {
            return false;
        }
    }
    for (const Step *step = loop_frame->body->each; step->code != STEP_END; step++) {
        bool is_view = step->instr->opcode == I_TRANSPOSE;

        if (tiles->places[step->dst[0]].kind == PLACE_UNUSED) {
            continue;
        }
        if (!(is_view ? place_view(loop_frame, step, ndim) : place_made(loop_frame, step, ndim))) {
            return false;
        }
    }
    return true;
}

static bool is_within(const Place *place, const Place *whole, int ndim, bool is_same)
{
    for (int i = 0; i < ndim; i++) {
        if (place->shape[i] != whole->shape[i] && (is_same || place->shape[i] != 1)) {
            return false;
        }
    }
    return true;
}

static const Place *find_whole(const LoopFrame *loop_frame) { return &loop_frame->tiles->places[loop_frame->writers[0].inner_out]; }

static bool are_results_whole(const LoopFrame *loop_frame, int ndim)
{
    const Place *whole = find_whole(loop_frame);

    for (int32_t i = 0; i < loop_frame->n_writers; i++) {
        const Writer *writer = &loop_frame->writers[i];
        bool is_known = i >= loop_frame->loop->n_paths;

        if (!is_within(&loop_frame->tiles->places[writer->inner_out], whole, ndim, true)
            || (is_known && memcmp(writer->shape.shape, whole->shape, (size_t)ndim * sizeof(int64_t)) != 0)) {
            return false;
        }
    }
    return true;
}

bool tiles_can_run(LoopFrame *loop_frame, const VmHost *host)
{
    const Tiles *tiles = loop_frame->tiles;
    int ndim;

    if (tiles == NULL || host->block_steps <= 0 || loop_frame->is_whole || loop_frame->n_steps < 2) {
        return false;
    }
    ndim = loop_frame->loop->body->values[loop_frame->writers[0].inner_out].ndim;
    if (!place_values(loop_frame, ndim) || !are_results_whole(loop_frame, ndim)) {
        return false;
    }
    for (int i = 0; i < ndim; i++) {
        if (find_whole(loop_frame)->shape[i] == 0) {
            return false;
        }
    }
    for (int32_t i = 0; i < loop_frame->loop->body->n_values; i++) {
        if (tiles->places[i].kind != PLACE_UNUSED && !is_within(&tiles->places[i], find_whole(loop_frame), ndim, false)) {
            return false;
        }
    }
    return true;
}

/* ---- the walk over tiles ---- */

/* Buffers of paths, and where the rows of all results go. */
static int set_rows(LoopFrame *loop_frame, int ndim, Run *run)
{
    Tiles *tiles = loop_frame->tiles;
    Array row = {.ndim = ndim};

    memcpy(row.shape, find_whole(loop_frame)->shape, (size_t)ndim * sizeof(int64_t));
    for (int32_t i = 0; i < loop_frame->n_writers; i++) {
        Writer *writer = &loop_frame->writers[i];
        Place *out = &tiles->places[loop_frame->loop->body->n_values + i];
        int64_t n_all = writer->past + loop_frame->n_steps;

        if (!writer->is_ready && loop_set_array_path(loop_frame, writer, &row, run) < 0) {
            return -1;
        }
        (void)show_array(out, &writer->shape, ndim);
        tiles->rows[i] = (TileRows){.kept = loop_frame->around->arrays[writer->outer_out]->data, .stride = writer->stride, .n_all = n_all,
            .n_kept = writer->n_rows, .past = writer->past, .is_past_copied = n_all > writer->n_rows && loop_frame->n_steps <= writer->n_rows,
            .is_last_only = tiles->rows[i].is_last_only};
    }
    return 0;
}

static bool can_join(const Tiles *tiles, int outer, int inner)
{
    for (int32_t i = 0; i < tiles->n_places; i++) {
        const Place *place = &tiles->places[i];
        if (place->kind != PLACE_UNUSED && place->strides[outer] != place->strides[inner] * tiles->shape[inner]) {
            return false;
        }
    }
    return true;
}

static void copy_axis(Tiles *tiles, int to, int from)
{
    tiles->shape[to] = tiles->shape[from];
    for (int32_t i = 0; i < tiles->n_places; i++) {
        tiles->places[i].strides[to] = tiles->places[i].strides[from];
    }
}

/* Drops axes of length 1 and joins neighbours, as a sweep does; at least one axis is left. */
static void join_axes(Tiles *tiles, const Place *whole, int ndim)
{
    int n = 0;

    memcpy(tiles->shape, whole->shape, (size_t)ndim * sizeof(int64_t));
    for (int i = 0; i < ndim; i++) {
        if (tiles->shape[i] == 1) {
            continue;
        }
        if (n > 0 && can_join(tiles, n - 1, i)) {
            int64_t length = tiles->shape[n - 1];
            copy_axis(tiles, n - 1, i);
            tiles->shape[n - 1] *= length;
        } else {
            copy_axis(tiles, n++, i);
        }
    }
    tiles->ndim = n == 0 ? 1 : n;
}

static void swap(int64_t *a, int64_t *b)
{
    int64_t kept = *a;

    *a = *b;
    *b = kept;
}

/* The longest axis goes last, if the last is short. */
static void move_longest_last(Tiles *tiles)
{
    int last = tiles->ndim - 1, longest = last;

    for (int i = 0; i < last; i++) {
        longest = tiles->shape[i] > tiles->shape[longest] ? i : longest;
    }
    if (tiles->shape[last] >= TILE_MIN || tiles->shape[longest] < 4 * tiles->shape[last]) {
        return;
    }
    for (int32_t i = 0; i < tiles->n_places; i++) {
        swap(&tiles->places[i].strides[last], &tiles->places[i].strides[longest]);
    }
    swap(&tiles->shape[last], &tiles->shape[longest]);
}

static bool has_own(const Place *place, int32_t number) { return place->kind == PLACE_MADE && place->root == number && place->writer < 0; }

/* Bytes that an element of a tile takes in all, and in each storage slot. */
static int64_t count_bytes(LoopFrame *loop_frame)
{
    Tiles *tiles = loop_frame->tiles;
    const Program *body = loop_frame->loop->body;
    int64_t n_bytes = 0;

    memset(tiles->slot_bytes, 0, (size_t)body->n_storage * sizeof(int64_t));
    for (int32_t i = 0; i < tiles->n_places; i++) {
        const Place *place = &tiles->places[i];

        if (place->kind == PLACE_FIXED || place->kind == PLACE_ROW) {
            n_bytes += place->strides[tiles->ndim - 1] != 0 ? place->item_bytes : 0;
        } else if (place->kind == PLACE_OUT) {
            n_bytes += place->item_bytes * (tiles->rows[place->writer].past + 1);
        } else if (has_own(place, i) && body->values[i].storage >= 0) {
            int64_t *slot = &tiles->slot_bytes[body->values[i].storage];
            n_bytes += place->item_bytes > *slot ? place->item_bytes - *slot : 0;
            *slot = place->item_bytes > *slot ? place->item_bytes : *slot;
        }
    }
    return n_bytes;
}

/* Tiles of nearly the same length. */
static void choose_length(LoopFrame *loop_frame)
{
    Tiles *tiles = loop_frame->tiles;
    int64_t n = tiles->shape[tiles->ndim - 1], longest = TILE_BYTES / (count_bytes(loop_frame) + 1), n_tiles;

    longest = longest < TILE_MIN ? TILE_MIN : longest > TILE_MAX ? TILE_MAX : longest;
    n_tiles = (n + longest - 1) / longest;
    tiles->n_tile = ((n + n_tiles - 1) / n_tiles + 15) / 16 * 16;
}

static int64_t row_bytes(const Tiles *tiles, int64_t item_bytes) { return (tiles->n_tile * item_bytes + 63) / 64 * 64 + STAGGER_BYTES; }

/* The memory of a tile: storage slots, then rows that are not kept. */
static int lay_out(LoopFrame *loop_frame, Run *run)
{
    Tiles *tiles = loop_frame->tiles;
    const Program *body = loop_frame->loop->body;
    int64_t n_bytes = 0, next = 0;

    for (int32_t i = 0; i < body->n_storage; i++) {
        n_bytes += tiles->slot_bytes[i] > 0 ? row_bytes(tiles, tiles->slot_bytes[i]) : 0;
    }
    for (int32_t i = 0; i < loop_frame->n_writers; i++) {
        n_bytes += (tiles->rows[i].past + 1) * row_bytes(tiles, loop_frame->writers[i].item_bytes);
    }
    if (tiles->memory == NULL || tiles->memory->n_bytes < (size_t)n_bytes) {
        buffer_unref(tiles->memory);
        tiles->memory = buffer_new((size_t)n_bytes);
        run->counters->allocations++;
        if (tiles->memory == NULL) {
            return status_fail(run->status, STATUS_NO_MEMORY);
        }
    }
    for (int32_t i = 0; i < body->n_storage; i++) {
        int64_t length = tiles->slot_bytes[i] > 0 ? row_bytes(tiles, tiles->slot_bytes[i]) : 0;
        tiles->slot_bytes[i] = next;
        next += length;
    }
    for (int32_t i = 0; i < loop_frame->n_writers; i++) {
        tiles->rows[i].own = tiles->memory->data + next;
        tiles->rows[i].own_stride = row_bytes(tiles, loop_frame->writers[i].item_bytes);
        next += (tiles->rows[i].past + 1) * tiles->rows[i].own_stride;
    }
    for (int32_t i = 0; i < body->n_values; i++) {
        int32_t slot = body->values[i].storage;
        if (has_own(&tiles->places[i], i)) {
            tiles->places[i].data = slot >= 0 ? tiles->memory->data + tiles->slot_bytes[slot] : loop_frame->body->registers[i].bytes;
        }
    }
    return 0;
}

/* The row of a writer in this tile, by time. */
static void show_row(Tiles *tiles, int32_t number, int64_t time)
{
    const Place *place = &tiles->places[number];
    const TileRows *rows = &tiles->rows[place->writer];
    int64_t dropped = rows->n_all > rows->n_kept ? rows->n_all - rows->n_kept : 0, stride = place->strides[tiles->ndim - 1];

    if (time >= dropped && (!rows->is_last_only || time < rows->past || time == rows->n_all - 1)) {
        tiles->at[number] = rows->kept + (time - dropped) * rows->stride + place->offset;
        tiles->inner[number] = stride;
    } else if (time < rows->past && !rows->is_past_copied) {
        tiles->at[number] = rows->kept + time * rows->stride + place->offset;
        tiles->inner[number] = stride;
    } else {
        tiles->at[number] = rows->own + time % (rows->past + 1) * rows->own_stride;
        tiles->inner[number] = stride != 0 ? place->item_bytes : 0;
    }
}

static void move_places(Tiles *tiles, int64_t step)
{
    int32_t n_values = tiles->n_places - tiles->n_writers;

    for (int32_t i = 0; i < tiles->n_moving; i++) {
        int32_t number = tiles->moving[i];
        const Place *place = &tiles->places[number];

        if (place->kind == PLACE_ROW) {
            tiles->at[number] = place->data + step * place->step_bytes + place->offset;
        } else if (place->kind == PLACE_MADE) {
            int32_t out = n_values + tiles->places[place->root].writer;
            tiles->at[number] = tiles->at[out];
            tiles->inner[number] = place->strides[tiles->ndim - 1] != 0 ? tiles->inner[out] : 0;
        } else {
            show_row(tiles, number, place->first + step);
        }
    }
}

/* Where everything is that no step moves, in the tile that begins at `index`. */
static void start_tile(Tiles *tiles, const int64_t *index)
{
    int last = tiles->ndim - 1;

    for (int32_t i = 0; i < tiles->n_places; i++) {
        Place *place = &tiles->places[i];

        if (place->kind == PLACE_UNUSED) {
            continue;
        }
        if (place->kind == PLACE_MADE) {
            tiles->at[i] = tiles->places[place->root].data;
            tiles->inner[i] = place->strides[last] != 0 ? place->item_bytes : 0;
            continue;
        }
        place->offset = 0;
        for (int axis = 0; axis <= last; axis++) {
            place->offset += index[axis] * place->strides[axis];
        }
        tiles->at[i] = place->data + place->offset;
        tiles->inner[i] = place->strides[last];
    }
}

/* Takes past rows out of the way of results, and puts those that are kept where they belong. */
static void copy_past(const LoopFrame *loop_frame, int64_t n)
{
    Tiles *tiles = loop_frame->tiles;

    for (int32_t i = 0; i < loop_frame->n_writers; i++) {
        const TileRows *rows = &tiles->rows[i];
        int32_t number = tiles->n_places - tiles->n_writers + i;
        const Place *out = &tiles->places[number];
        int dtype = loop_frame->loop->body->values[loop_frame->writers[i].inner_out].dtype;
        MapKernel copy = math_cast(dtype, dtype);
        int64_t stride = out->strides[tiles->ndim - 1];

        for (int64_t time = 0; rows->is_past_copied && time < rows->past; time++) {
            copy(n, (char *[]){rows->kept + time * rows->stride + out->offset, rows->own + time * rows->own_stride},
                 (const int64_t[]){stride, out->item_bytes});
        }
        for (int64_t time = rows->n_all - rows->n_kept; rows->is_past_copied && time < rows->past; time++) {
            show_row(tiles, number, time);
            copy(n, (char *[]){rows->own + time * rows->own_stride, tiles->at[number]}, (const int64_t[]){out->item_bytes, stride});
        }
    }
}

/* The steps whose rows are not kept, at once, or as many of them as an interrupt may wait for. Gives their number in *n_steps. */
static int run_repeated(LoopFrame *loop_frame, int64_t n, int64_t *n_steps, Run *run)
{
    Tiles *tiles = loop_frame->tiles;
    const TileCall *call = tiles->calls;
    int carried = tiles->is_repeat_second ? 1 : 0;
    int64_t n_all = loop_frame->n_steps - (tiles->rows[0].is_last_only ? 0 : tiles->rows[0].n_kept), n_piece = 1 + 65536 / n;

    *n_steps = 0;
    while (tiles->repeat != NULL && *n_steps + 1 < n_all) {
        int64_t times = n_all - *n_steps < n_piece ? n_all - *n_steps : n_piece;
        char *args[3];
        int64_t strides[3];

        move_places(tiles, *n_steps);
        args[0] = tiles->at[call->args[carried]];
        strides[0] = tiles->inner[call->args[carried]];
        args[1] = tiles->at[call->args[!carried]];
        strides[1] = tiles->inner[call->args[!carried]];
        move_places(tiles, *n_steps + times - 1);
        args[2] = tiles->at[call->args[2]];
        strides[2] = tiles->inner[call->args[2]];
        tiles->repeat(n, times, tiles->is_repeat_second, args, strides);
        *n_steps += times;
        if (run_spend(run, times * n) < 0) {
            return -1;
        }
    }
    return 0;
}

static int run_tile(LoopFrame *loop_frame, int64_t n, Run *run)
{
    Tiles *tiles = loop_frame->tiles;
    int64_t cost = (n + 8) * tiles->n_calls, first;

    if (run_repeated(loop_frame, n, &first, run) < 0) {
        return -1;
    }
    for (int64_t step = first; step < loop_frame->n_steps; step++) {
        move_places(tiles, step);
        for (const TileCall *call = tiles->calls, *end = call + tiles->n_calls; call < end; call++) {
            char *args[SWEEP_MAX_ARGS];
            int64_t strides[SWEEP_MAX_ARGS];

            for (int32_t i = 0; i < call->n_args; i++) {
                args[i] = tiles->at[call->args[i]];
                strides[i] = tiles->inner[call->args[i]];
            }
            call->kernel(strides[call->n_args - 1] == 0 ? 1 : n, args, strides);
        }
        if (run_spend(run, cost) < 0) {
            return -1;
        }
    }
    return 0;
}

static int run_tiles(LoopFrame *loop_frame, Run *run)
{
    Tiles *tiles = loop_frame->tiles;
    int64_t index[ARRAY_MAX_NDIM] = {0};
    int last = tiles->ndim - 1, axis;

    do {
        for (index[last] = 0; index[last] < tiles->shape[last]; index[last] += tiles->n_tile) {
            int64_t n_left = tiles->shape[last] - index[last], n = n_left < tiles->n_tile ? n_left : tiles->n_tile;

            start_tile(tiles, index);
            copy_past(loop_frame, n);
            if (run_tile(loop_frame, n, run) < 0) {
                return -1;
            }
        }
        for (axis = last - 1; axis >= 0 && ++index[axis] == tiles->shape[axis]; axis--) {
            index[axis] = 0;
        }
    } while (axis >= 0);
    return 0;
}

int tiles_run(LoopFrame *loop_frame, Run *run)
{
    int ndim = loop_frame->loop->body->values[loop_frame->writers[0].inner_out].ndim;

    if (set_rows(loop_frame, ndim, run) < 0) {
        return -1;
    }
    join_axes(loop_frame->tiles, find_whole(loop_frame), ndim);
    move_longest_last(loop_frame->tiles);
    choose_length(loop_frame);
    if (lay_out(loop_frame, run) < 0 || run_tiles(loop_frame, run) < 0) {
        return -1;
    }
    loop_frame->n_done = loop_frame->n_steps;
    loop_frame->is_in_order = true;
    run->counters->tile_steps += loop_frame->n_steps;
    return 0;
}

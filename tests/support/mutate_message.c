#include "tests/support/mutate_message.h"

#include <string.h>

#include "runtime/base/arena.h"

enum { MESSAGE_MAX = 4096, WORD_MAX = 1024, CHANGE_MAX = 4 };

typedef struct Mutator {
    VfArena *arena;
    uint64_t state; /* of the random numbers */
    ProtobufCMessage *message[MESSAGE_MAX];
    char *word[WORD_MAX];
    size_t n_message, n_word;
} Mutator;

typedef const ProtobufCFieldDescriptor Field;

/* A number below `n`, which is not 0. */
static size_t pick(Mutator *m, size_t n)
{
    m->state ^= m->state << 13;
    m->state ^= m->state >> 7;
    m->state ^= m->state << 17;
    return (size_t)(m->state % n);
}

static void *at(const ProtobufCMessage *message, unsigned offset)
{
    return (char *)message + offset;
}

/* --- what there is --- */

static size_t item_size(ProtobufCType type)
{
    switch (type) {
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_MESSAGE:
        return sizeof(void *);
    case PROTOBUF_C_TYPE_BYTES:
        return sizeof(ProtobufCBinaryData);
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_DOUBLE:
        return 8;
    default:
        return 4;
    }
}

/* Number of values the field holds, and the first. A field that is one of several counts if it is
 * the one that is there. */
static size_t values_of(const ProtobufCMessage *message, Field *field, char **first)
{
    *first = at(message, field->offset);
    if (field->label == PROTOBUF_C_LABEL_REPEATED) {
        size_t n = *(size_t *)at(message, field->quantifier_offset);
        *first = *(char **)*first;
        return n;
    }
    if ((field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0)
        return *(uint32_t *)at(message, field->quantifier_offset) == field->id;
    if (field->type == PROTOBUF_C_TYPE_STRING || field->type == PROTOBUF_C_TYPE_MESSAGE)
        return *(void **)*first != NULL;
    return 1;
}

static void collect(Mutator *m, ProtobufCMessage *message)
{
    if (message == NULL || m->n_message == MESSAGE_MAX)
        return;
    m->message[m->n_message++] = message;
    for (unsigned f = 0; f < message->descriptor->n_fields; f++) {
        Field *field = &message->descriptor->fields[f];
        char *value;
        size_t n = values_of(message, field, &value);
        for (size_t i = 0; i < n; i++) {
            if (field->type == PROTOBUF_C_TYPE_MESSAGE)
                collect(m, ((ProtobufCMessage **)value)[i]);
            if (field->type == PROTOBUF_C_TYPE_STRING && m->n_word < WORD_MAX)
                m->word[m->n_word++] = ((char **)value)[i];
        }
    }
}

/* Any message of the kind of `old`; perhaps itself. */
static ProtobufCMessage *pick_alike(Mutator *m, ProtobufCMessage *old)
{
    for (int k = 0; k < 50; k++) {
        ProtobufCMessage *other = m->message[pick(m, m->n_message)];
        if (other->descriptor == old->descriptor)
            return other;
    }
    return old;
}

/* --- changes of one value --- */

static int64_t change_number(Mutator *m, int64_t old)
{
    static const int64_t number[] = {0, 1, 2, -1, 7, 16, 255, 65536, INT32_MAX, INT32_MIN,
                                     INT64_MAX, INT64_MIN, (int64_t)1 << 32, (int64_t)1 << 62};
    switch (pick(m, 4)) {
    case 0:
        return number[pick(m, sizeof number / sizeof number[0])];
    case 1:
        return (int64_t)pick(m, 30); /* data types, kinds of attributes, opsets, axes */
    case 2:
        return (int64_t)((uint64_t)old + 1);
    default:
        return (int64_t)((uint64_t)old - 1);
    }
}

static void change_bytes(Mutator *m, ProtobufCBinaryData *bytes)
{
    size_t size = pick(m, 2) == 0 ? pick(m, 2 * bytes->len + 9) : bytes->len;
    uint8_t *data = vf_arena_alloc(m->arena, size + 1);
    if (data == NULL)
        return;
    if (bytes->len > 0)
        memcpy(data, bytes->data, size < bytes->len ? size : bytes->len);
    if (size > 0)
        data[pick(m, size)] = (uint8_t)pick(m, 256);
    *bytes = (ProtobufCBinaryData){size, data};
}

static void change_word(Mutator *m, char **word)
{
    static char nothing[] = "";
    char *copy;
    if (pick(m, 4) > 0) {
        *word = pick(m, 8) == 0 ? nothing : m->word[pick(m, m->n_word)];
        return;
    }
    copy = vf_arena_string(m->arena, *word);
    if (copy != NULL && copy[0] != '\0')
        copy[pick(m, strlen(copy))] = (char)(1 + pick(m, 127));
    *word = copy == NULL ? nothing : copy;
}

static void change_value(Mutator *m, ProtobufCType type, char *value)
{
    int64_t wide;
    int32_t narrow;
    if (type == PROTOBUF_C_TYPE_STRING) {
        change_word(m, (char **)value);
    } else if (type == PROTOBUF_C_TYPE_BYTES) {
        change_bytes(m, (ProtobufCBinaryData *)value);
    } else if (type == PROTOBUF_C_TYPE_MESSAGE) {
        *(ProtobufCMessage **)value = pick_alike(m, *(ProtobufCMessage **)value);
    } else if (item_size(type) == 8) {
        memcpy(&wide, value, sizeof wide);
        wide = change_number(m, wide);
        memcpy(value, &wide, sizeof wide);
    } else {
        memcpy(&narrow, value, sizeof narrow);
        narrow = (int32_t)change_number(m, narrow);
        memcpy(value, &narrow, sizeof narrow);
    }
}

/* --- changes of a field --- */

/* Drop, double or move an element, in a copy of the list with room for one more. */
static void change_list(Mutator *m, ProtobufCMessage *message, Field *field, size_t n)
{
    size_t size = item_size(field->type), i = pick(m, n), to = pick(m, n);
    char **list = at(message, field->offset), *copy = vf_arena_alloc(m->arena, (n + 1) * size);
    if (copy == NULL)
        return;
    memcpy(copy, *list, n * size);
    switch (pick(m, 3)) {
    case 0:
        memmove(copy + i * size, copy + (i + 1) * size, (n - i - 1) * size);
        n--;
        break;
    case 1:
        memmove(copy + (to + 1) * size, copy + to * size, (n - to) * size);
        memcpy(copy + to * size, *list + i * size, size);
        n++;
        break;
    default:
        memcpy(copy + i * size, *list + to * size, size);
        memcpy(copy + to * size, *list + i * size, size);
    }
    *list = copy;
    *(size_t *)at(message, field->quantifier_offset) = n;
}

static void change_field(Mutator *m, ProtobufCMessage *message, Field *field)
{
    char *value;
    size_t n = values_of(message, field, &value);
    bool has_flag = field->label == PROTOBUF_C_LABEL_OPTIONAL && field->quantifier_offset != 0 &&
                    (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) == 0;
    if (n == 0)
        return;
    if (has_flag)
        *(protobuf_c_boolean *)at(message, field->quantifier_offset) = pick(m, 4) > 0;
    if (field->label == PROTOBUF_C_LABEL_REPEATED && pick(m, 2) == 0) {
        change_list(m, message, field, n);
    } else {
        change_value(m, field->type, value + pick(m, n) * item_size(field->type));
    }
}

/* --- the whole --- */

static void *allocate(void *arena, size_t size)
{
    return vf_arena_alloc(arena, size);
}

static void release(void *arena, void *memory)
{
    (void)arena;
    (void)memory;
}

/* Messages may come to lie within themselves when they are taken from each other: then the bytes
 * have no end. */
static bool is_deep(const ProtobufCMessage *message, int depth, int *budget)
{
    if (depth > 60 || --*budget < 0)
        return true;
    for (unsigned f = 0; f < message->descriptor->n_fields; f++) {
        Field *field = &message->descriptor->fields[f];
        char *value;
        size_t n = field->type == PROTOBUF_C_TYPE_MESSAGE ? values_of(message, field, &value) : 0;
        for (size_t i = 0; i < n; i++)
            if (is_deep(((ProtobufCMessage **)value)[i], depth + 1, budget))
                return true;
    }
    return false;
}

static size_t mutate(Mutator *m, const ProtobufCMessageDescriptor *kind, uint8_t *data, size_t size,
                     size_t max_size)
{
    ProtobufCAllocator in_arena = {allocate, release, m->arena};
    ProtobufCMessage *root = protobuf_c_message_unpack(kind, &in_arena, size, data);
    int budget = 2 * MESSAGE_MAX;
    if (root == NULL)
        return 0;
    collect(m, root);
    for (size_t k = 1 + pick(m, CHANGE_MAX); k > 0; k--) {
        ProtobufCMessage *message = m->message[pick(m, m->n_message)];
        unsigned n_field = message->descriptor->n_fields;
        if (n_field > 0)
            change_field(m, message, &message->descriptor->fields[pick(m, n_field)]);
    }
    if (is_deep(root, 0, &budget) || protobuf_c_message_get_packed_size(root) > max_size)
        return 0;
    return protobuf_c_message_pack(root, data);
}

size_t vf_mutate_message(const ProtobufCMessageDescriptor *kind, uint8_t *data, size_t size,
                         size_t max_size, unsigned seed)
{
    VfArena *arena = vf_arena_new();
    Mutator *m = arena == NULL ? NULL : VF_NEW(arena, Mutator);
    size_t n = 0;
    if (m != NULL) {
        m->arena = arena;
        m->state = seed + 0x9e3779b97f4a7c15u;
        n = mutate(m, kind, data, size, max_size);
    }
    vf_arena_free(arena);
    return n;
}

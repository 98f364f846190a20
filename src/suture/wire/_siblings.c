/* Pods of a list, read as machine code reads them: what a sibling said is not read again.

   An optional equal of what `pages` does with a line of a list in Python, line by line: the usual
   pod is made here, every other line is handed to the caller. Knows bytes, and the values that the
   caller made of an earlier pod; nothing is made up here. The equal is held to it by a test.

   INVARIANT: a line is taken only where it is ASCII without control characters, compact, and as
   API servers write it: no field that is read stands there twice or with an escape in it. What is
   passed over (managed fields, annotations, the states of containers) is walked by its quotes and
   brackets, as `podstates` does, and not looked at otherwise.
   INVARIANT: the spec of a pod is a sibling's byte for byte, but for the node's name and the names
   of its volumes, of which nothing is read; so what the sibling needs, it needs.
   INVARIANT: no byte outside of the block is read. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

enum {
    TABLE = 128,         /* LIMIT: siblings remembered; lists come by name, where 16 do as well. */
    SPEC_BYTES = 8192,   /* LIMIT: longer specs are not remembered: 1 MB in all. */
    HOLES = 48,          /* LIMIT: names of volumes in one spec, mounts included. */
    DEPTH = 128,         /* LIMIT: what is nested deeper is left to the caller. */
    BLOCK = 64,
    STAMP = 20           /* 2006-01-02T15:04:05Z */
};

typedef struct { const char *at; Py_ssize_t size; } Text;
typedef struct { const char *at, *end; } Cursor;

/* ---- passing over */

static int is_digit(char c) { return c >= '0' && c <= '9'; }

static uint64_t ones(uint64_t x)
{
    x -= (x >> 1) & 0x5555555555555555u;
    x = (x & 0x3333333333333333u) + ((x >> 2) & 0x3333333333333333u);
    x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return (x * 0x0101010101010101u) >> 56;
}

typedef struct { uint64_t quotes, slashes, opens, closes; } Marks;

static void find_marks(const char *at, Marks *marks)
{
#if defined(__SSE2__)
    const __m128i quote = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\');
    const __m128i open = _mm_set1_epi8('{'), close = _mm_set1_epi8('}');
    const __m128i bit = _mm_set1_epi8(0x20);
    marks->quotes = marks->slashes = marks->opens = marks->closes = 0;
    for (int i = 0; i < 4; i++) {
        __m128i found = _mm_loadu_si128((const __m128i *)(at + 16 * i));
        /* Brackets are braces without this bit: `[` and `{`, `]` and `}`. */
        __m128i both = _mm_or_si128(found, bit);
#define BITS(what) ((uint64_t)(uint32_t)_mm_movemask_epi8(what) << (16 * i))
        marks->quotes |= BITS(_mm_cmpeq_epi8(found, quote));
        marks->slashes |= BITS(_mm_cmpeq_epi8(found, slash));
        marks->opens |= BITS(_mm_cmpeq_epi8(both, open));
        marks->closes |= BITS(_mm_cmpeq_epi8(both, close));
#undef BITS
    }
#else
    marks->quotes = marks->slashes = marks->opens = marks->closes = 0;
    for (int i = 0; i < BLOCK; i++) {
        uint64_t bit = (uint64_t)1 << i;
        switch (at[i]) {
        case '"': marks->quotes |= bit; break;
        case '\\': marks->slashes |= bit; break;
        case '{': case '[': marks->opens |= bit; break;
        case '}': case ']': marks->closes |= bit; break;
        default: break;
        }
    }
#endif
}

/* Pass over an object or a list; 0 where it has no end, or is nested too deep. */
static int skip_nested(Cursor *in)
{
    char rest[BLOCK];
    uint64_t depth = 0, within = 0;
    int escaped = 0;
    for (const char *at = in->at; at < in->end; at += BLOCK) {
        const char *block = at;
        Marks marks;
        if (in->end - at < BLOCK) {
            memset(rest, 0, sizeof rest);
            memcpy(rest, at, (size_t)(in->end - at));
            block = rest;
        }
        find_marks(block, &marks);
        if (marks.slashes || escaped) {
            uint64_t after = escaped ? 1 : 0, left = marks.slashes;
            escaped = 0;
            while (left) {
                int i = __builtin_ctzll(left);
                left &= left - 1;
                if (after >> i & 1)
                    continue;
                if (i == BLOCK - 1)
                    escaped = 1;
                else
                    after |= (uint64_t)2 << i;
            }
            marks.quotes &= ~after;
        }
        /* Bits between an opening quote and the one that closes it. */
        uint64_t inside = marks.quotes;
        for (int shift = 1; shift < BLOCK; shift *= 2)
            inside ^= inside << shift;
        inside ^= within;
        within = (uint64_t)0 - (inside >> (BLOCK - 1));
        uint64_t opens = marks.opens & ~inside, closes = marks.closes & ~inside;
        uint64_t closed = ones(closes);
        if (depth > closed) {
            depth += ones(opens) - closed;
            if (depth > DEPTH)
                return 0;
            continue;
        }
        uint64_t both = opens | closes;
        while (both) {
            int i = __builtin_ctzll(both);
            both &= both - 1;
            if (opens >> i & 1) {
                depth++;
            } else if (--depth == 0) {
                in->at = at + i + 1;
                return 1;
            }
        }
        if (depth == 0 || depth > DEPTH)
            return 0;
    }
    return 0;
}

/* Read a text without escapes; 0 where there is none. */
static int plain_text(Cursor *in, Text *text)
{
    if (in->at >= in->end || *in->at != '"')
        return 0;
    const char *from = in->at + 1;
    const char *to = memchr(from, '"', (size_t)(in->end - from));
    if (to == NULL || memchr(from, '\\', (size_t)(to - from)) != NULL)
        return 0;
    text->at = from;
    text->size = to - from;
    in->at = to + 1;
    return 1;
}

static int skip_text(Cursor *in)
{
    for (const char *at = in->at + 1; at < in->end; at++) {
        at = memchr(at, '"', (size_t)(in->end - at));
        if (at == NULL)
            return 0;
        const char *before = at;
        while (before[-1] == '\\')
            before--;
        if ((at - before) % 2 == 0) {
            in->at = at + 1;
            return 1;
        }
    }
    return 0;
}

static int is_word(const char *at, Py_ssize_t size, const char *word)
{
    return (Py_ssize_t)strlen(word) == size && memcmp(at, word, (size_t)size) == 0;
}

static int is_number(const char *at, const char *end)
{
    if (at < end && *at == '-')
        at++;
    if (at == end || !is_digit(*at))
        return 0;
    if (*at++ == '0' && at < end && is_digit(*at))
        return 0;
    while (at < end && is_digit(*at))
        at++;
    if (at < end && *at == '.') {
        at++;
        if (at == end || !is_digit(*at))
            return 0;
        while (at < end && is_digit(*at))
            at++;
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        at++;
        if (at < end && (*at == '+' || *at == '-'))
            at++;
        if (at == end || !is_digit(*at))
            return 0;
        while (at < end && is_digit(*at))
            at++;
    }
    return at == end;
}

static int skip_value(Cursor *in)
{
    if (in->at >= in->end)
        return 0;
    if (*in->at == '{' || *in->at == '[')
        return skip_nested(in);
    if (*in->at == '"')
        return skip_text(in);
    const char *from = in->at, *at = from;
    while (at < in->end && *at != ',' && *at != '}' && *at != ']')
        at++;
    Py_ssize_t size = at - from;
    in->at = at;
    return is_word(from, size, "null") || is_word(from, size, "true")
        || is_word(from, size, "false") || is_number(from, at);
}

/* ---- members and elements */

static int open_with(Cursor *in, char brace)
{
    if (in->at >= in->end || *in->at != brace)
        return 0;
    in->at++;
    return 1;
}

/* Go on in an object or list that was opened: 1 there is one more, 0 it ended, -1 it is odd. */
static int go_on(Cursor *in, char brace, int *first)
{
    if (in->at >= in->end)
        return -1;
    if (*in->at == brace) {
        in->at++;
        return 0;
    }
    if (!*first) {
        if (*in->at != ',')
            return -1;
        in->at++;
    }
    *first = 0;
    return 1;
}

/* The same of an object, its next key read and the colon passed. */
static int next_member(Cursor *in, int *first, Text *key)
{
    int more = go_on(in, '}', first);
    if (more <= 0)
        return more;
    if (!plain_text(in, key) || in->at >= in->end || *in->at != ':')
        return -1;
    in->at++;
    return 1;
}

static int is_key(const Text *key, const char *name)
{
    return is_word(key->at, key->size, name);
}

/* Note that a field was met; 0 where it was met before. */
static int once(unsigned *seen, unsigned field)
{
    if (*seen & field)
        return 0;
    *seen |= field;
    return 1;
}

static int raw_value(Cursor *in, Text *raw)
{
    raw->at = in->at;
    if (!skip_value(in))
        return 0;
    raw->size = in->at - raw->at;
    return 1;
}

/* ---- a pod */

typedef struct {
    Text name, space, uid, version, labels, owners, node, spec;
    double created;
    int ready, finished;
} Pod;

enum { KIND = 1, META = 2, SPEC = 4, STATUS = 8 };
enum { NAME = 1, SPACE = 2, UID = 4, VERSION = 8, CREATED = 16, LABELS = 32, OWNERS = 64 };

static int two(const char *at) { return (at[0] - '0') * 10 + (at[1] - '0'); }

/* Read a time in whole seconds, UTC; 0 where it is written otherwise. */
static int read_time(Cursor *in, double *seconds)
{
    static const char form[] = "0000-00-00T00:00:00Z";
    static const int days_of[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    Text text;
    if (!plain_text(in, &text) || text.size != STAMP)
        return 0;
    const char *at = text.at;
    for (int i = 0; i < STAMP; i++)
        if (form[i] == '0' ? !is_digit(at[i]) : at[i] != form[i])
            return 0;
    int year = two(at) * 100 + two(at + 2), month = two(at + 5), day = two(at + 8);
    int hour = two(at + 11), minute = two(at + 14), second = two(at + 17);
    if (year < 1970 || month < 1 || month > 12 || day < 1)
        return 0;
    int leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    if (day > days_of[month - 1] + (leap && month == 2) || hour > 23 || minute > 59 || second > 59)
        return 0;
    int64_t before = year - 1;
    int64_t days = 365 * before + before / 4 - before / 100 + before / 400 - 719162;
    for (int i = 0; i < month - 1; i++)
        days += days_of[i] + (leap && i == 1);
    days += day - 1;
    *seconds = (double)(((days * 24 + hour) * 60 + minute) * 60 + second);
    return 1;
}

static int read_meta(Cursor *in, Pod *pod)
{
    int first = 1, more;
    unsigned seen = 0;
    Text key;
    if (!open_with(in, '{'))
        return 0;
    while ((more = next_member(in, &first, &key)) > 0) {
        int fine;
        if (is_key(&key, "name"))
            fine = once(&seen, NAME) && plain_text(in, &pod->name);
        else if (is_key(&key, "namespace"))
            fine = once(&seen, SPACE) && plain_text(in, &pod->space);
        else if (is_key(&key, "uid"))
            fine = once(&seen, UID) && plain_text(in, &pod->uid);
        else if (is_key(&key, "resourceVersion"))
            fine = once(&seen, VERSION) && plain_text(in, &pod->version);
        else if (is_key(&key, "creationTimestamp"))
            fine = once(&seen, CREATED) && read_time(in, &pod->created);
        else if (is_key(&key, "labels"))
            fine = once(&seen, LABELS) && raw_value(in, &pod->labels);
        else if (is_key(&key, "ownerReferences"))
            fine = once(&seen, OWNERS) && raw_value(in, &pod->owners);
        else if (is_key(&key, "deletionTimestamp") || is_key(&key, "finalizers"))
            fine = 0;
        else
            fine = skip_value(in);
        if (!fine)
            return 0;
    }
    unsigned all = NAME | SPACE | UID | VERSION | CREATED | LABELS | OWNERS;
    return more == 0 && seen == all && pod->name.size && pod->space.size && pod->uid.size;
}

static int read_condition(Cursor *in, Text *type, Text *status)
{
    int first = 1, more;
    unsigned seen = 0;
    Text key;
    type->size = status->size = 0;
    if (!open_with(in, '{'))
        return 0;
    while ((more = next_member(in, &first, &key)) > 0) {
        int fine;
        if (is_key(&key, "type"))
            fine = once(&seen, 1) && plain_text(in, type);
        else if (is_key(&key, "status"))
            fine = once(&seen, 2) && plain_text(in, status);
        else
            fine = skip_value(in);
        if (!fine)
            return 0;
    }
    return more == 0;
}

static int read_conditions(Cursor *in, Pod *pod)
{
    int first = 1, more, told = 0;
    if (!open_with(in, '['))
        return 0;
    while ((more = go_on(in, ']', &first)) > 0) {
        Text type, status;
        if (!read_condition(in, &type, &status))
            return 0;
        /* The first one counts. */
        if (!told && is_key(&type, "Ready")) {
            told = 1;
            pod->ready = is_key(&status, "True");
        }
    }
    return more == 0;
}

static int read_status(Cursor *in, Pod *pod)
{
    int first = 1, more;
    unsigned seen = 0;
    Text key, phase;
    if (!open_with(in, '{'))
        return 0;
    while ((more = next_member(in, &first, &key)) > 0) {
        int fine;
        if (is_key(&key, "phase")) {
            fine = once(&seen, 1) && plain_text(in, &phase);
            pod->finished = fine && (is_key(&phase, "Succeeded") || is_key(&phase, "Failed"));
        } else if (is_key(&key, "conditions")) {
            fine = once(&seen, 2) && read_conditions(in, pod);
        } else if (is_key(&key, "resourceClaimStatuses")) {
            fine = 0;
        } else {
            fine = skip_value(in);
        }
        if (!fine)
            return 0;
    }
    return more == 0;
}

/* ---- siblings */

typedef struct {
    PyObject *space, *labels, *owners, *needs; /* values, shared with the sibling */
    char *bytes;                               /* what they were read from, one after another */
    Py_ssize_t space_size, labels_size, owners_size, spec_size;
    int holes, node;                           /* `node`: which hole is the node's name */
    struct { uint16_t from, size; } hole[HOLES];
} Sibling;

static void forget(Sibling *one)
{
    Py_CLEAR(one->space);
    Py_CLEAR(one->labels);
    Py_CLEAR(one->owners);
    Py_CLEAR(one->needs);
    PyMem_Free(one->bytes);
    one->bytes = NULL;
}

static int is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '-' || c == '.';
}

/* Pass over a spec where it is a sibling's but for its holes; 0 where it is another. */
static int same_spec(const Sibling *one, Cursor *in, Pod *pod)
{
    const char *known = one->bytes + one->space_size + one->labels_size + one->owners_size;
    const char *at = in->at;
    Py_ssize_t done = 0;
    for (int i = 0; i <= one->holes; i++) {
        Py_ssize_t to = i < one->holes ? one->hole[i].from : one->spec_size;
        if (in->end - at < to - done || memcmp(at, known + done, (size_t)(to - done)) != 0)
            return 0;
        at += to - done;
        if (i == one->holes)
            break;
        const char *from = at;
        while (at < in->end && is_name(*at))
            at++;
        if (at == from)
            return 0;
        if (i == one->node) {
            pod->node.at = from;
            pod->node.size = at - from;
        }
        done = to + one->hole[i].size;
    }
    in->at = at;
    return 1;
}

static int add_hole(Sibling *one, const char *spec, const Text *text)
{
    if (one->holes == HOLES || text->size == 0)
        return 0;
    for (Py_ssize_t i = 0; i < text->size; i++)
        if (!is_name(text->at[i]))
            return 0;
    one->hole[one->holes].from = (uint16_t)(text->at - spec);
    one->hole[one->holes].size = (uint16_t)text->size;
    one->holes++;
    return 1;
}

/* Note the names in a list of volumes, or of a container's mounts. */
static int names_in(Cursor *in, Sibling *one, const char *spec)
{
    int first = 1, more;
    if (!open_with(in, '['))
        return 0;
    while ((more = go_on(in, ']', &first)) > 0) {
        int begins = 1, goes;
        Text key, text;
        if (!open_with(in, '{'))
            return 0;
        while ((goes = next_member(in, &begins, &key)) > 0) {
            /* The claim of such a volume is named after it, and after the pod. */
            if (is_key(&key, "ephemeral"))
                return 0;
            if (is_key(&key, "name")) {
                if (!plain_text(in, &text) || !add_hole(one, spec, &text))
                    return 0;
            } else if (!skip_value(in)) {
                return 0;
            }
        }
        if (goes < 0)
            return 0;
    }
    return more == 0;
}

static int mounts_in(Cursor *in, Sibling *one, const char *spec)
{
    int first = 1, more;
    if (!open_with(in, '['))
        return 0;
    while ((more = go_on(in, ']', &first)) > 0) {
        int begins = 1, goes;
        Text key;
        if (!open_with(in, '{'))
            return 0;
        while ((goes = next_member(in, &begins, &key)) > 0) {
            int fine = is_key(&key, "volumeMounts") ? names_in(in, one, spec) : skip_value(in);
            if (!fine)
                return 0;
        }
        if (goes < 0)
            return 0;
    }
    return more == 0;
}

/* Find the holes of a spec; 0 where it is not one to be remembered. */
static int find_holes(Sibling *one, const Text *spec)
{
    Cursor in = {spec->at, spec->at + spec->size};
    int first = 1, more;
    Text key, text;
    one->holes = 0;
    one->node = -1;
    if (!open_with(&in, '{'))
        return 0;
    while ((more = next_member(&in, &first, &key)) > 0) {
        int fine;
        if (is_key(&key, "nodeName")) {
            int at = one->holes;
            fine = one->node < 0 && plain_text(&in, &text) && add_hole(one, spec->at, &text);
            one->node = at;
        } else if (is_key(&key, "volumes")) {
            fine = names_in(&in, one, spec->at);
        } else if (is_key(&key, "containers") || is_key(&key, "initContainers")) {
            fine = mounts_in(&in, one, spec->at);
        } else {
            fine = skip_value(&in);
        }
        if (!fine)
            return 0;
    }
    /* A pod without a node may name another account than its template does. */
    return more == 0 && in.at == in.end && one->node >= 0;
}

/* ---- the type */

typedef struct {
    PyObject_HEAD
    PyObject *resource, *gvk, *none, *zero;
    PyObject *object, *key, *facts, *seen, *added, *read;
    PyObject *thing_name, *labels_name, *owners_name, *needs_name, *key_name, *space_name, *facts_name;
    Text kind;
    Py_ssize_t taken;
    Sibling *table;
} Siblings;

/* Where in the table the siblings of a pod have their place: one for all. */
static unsigned place_of(const Pod *pod)
{
    uint64_t mixed = 1469598103934665603u;
    for (Py_ssize_t i = 0; i < pod->space.size; i++)
        mixed = (mixed ^ (unsigned char)pod->space.at[i]) * 1099511628211u;
    /* Of the owner the uid tells, which is near the end. */
    Py_ssize_t from = pod->owners.size > 96 ? pod->owners.size - 96 : 0;
    for (Py_ssize_t i = from; i < pod->owners.size; i++)
        mixed = (mixed ^ (unsigned char)pod->owners.at[i]) * 1099511628211u;
    return (unsigned)(mixed >> 32) % TABLE;
}

static int is_of(const Sibling *one, const Pod *pod)
{
    return one->bytes != NULL && one->space_size == pod->space.size
        && one->labels_size == pod->labels.size && one->owners_size == pod->owners.size
        && memcmp(one->bytes, pod->space.at, (size_t)pod->space.size) == 0
        && memcmp(one->bytes + one->space_size, pod->labels.at, (size_t)pod->labels.size) == 0
        && memcmp(one->bytes + one->space_size + one->labels_size, pod->owners.at,
                  (size_t)pod->owners.size) == 0;
}

static const char HEAD[] = "{\"type\":\"ADDED\",\"object\":";

/* Whether there is nothing in a text but printable ASCII. */
static int is_ascii(const char *at, const char *end)
{
#if defined(__SSE2__)
    const __m128i least = _mm_set1_epi8(0x20);
    __m128i odd = _mm_setzero_si128();
    for (; end - at >= 16; at += 16)
        /* As signed bytes, those past ASCII are less too. */
        odd = _mm_or_si128(odd, _mm_cmplt_epi8(_mm_loadu_si128((const __m128i *)at), least));
    if (_mm_movemask_epi8(odd))
        return 0;
#endif
    for (; at < end; at++)
        if ((signed char)*at < 0x20)
            return 0;
    return 1;
}

/* Read a line to its end; 0 where it is not the usual pod. Its spec is compared on the way: `found`
   is the sibling that has the same, or NULL. */
static int read_pod(Siblings *self, const char *from, const char *end, Pod *pod, Sibling **found)
{
    Cursor in = {from + sizeof HEAD - 1, end};
    int first = 1, more;
    unsigned seen = 0;
    Text key, kind;
    memset(pod, 0, sizeof *pod);
    *found = NULL;
    if (end - from < (Py_ssize_t)sizeof HEAD || memcmp(from, HEAD, sizeof HEAD - 1) != 0
        || !is_ascii(from, end) || !open_with(&in, '{'))
        return 0;
    while ((more = next_member(&in, &first, &key)) > 0) {
        int fine;
        if (is_key(&key, "kind")) {
            fine = once(&seen, KIND) && plain_text(&in, &kind) && kind.size == self->kind.size
                && memcmp(kind.at, self->kind.at, (size_t)kind.size) == 0;
        } else if (is_key(&key, "metadata")) {
            fine = once(&seen, META) && read_meta(&in, pod);
        } else if (is_key(&key, "spec")) {
            /* After the metadata, which tells whose sibling it may be. */
            fine = once(&seen, SPEC) && (seen & META);
            if (fine) {
                Sibling *one = &self->table[place_of(pod)];
                pod->spec.at = in.at;
                if (is_of(one, pod) && same_spec(one, &in, pod))
                    *found = one;
                else
                    fine = skip_value(&in);
                pod->spec.size = in.at - pod->spec.at;
            }
        } else if (is_key(&key, "status")) {
            fine = once(&seen, STATUS) && read_status(&in, pod);
        } else {
            fine = skip_value(&in);
        }
        if (!fine)
            return 0;
    }
    return more == 0 && seen == (KIND | META | SPEC | STATUS) && in.end - in.at == 1
        && *in.at == '}';
}

static PyObject *text_of(const Text *text)
{
    PyObject *made = PyUnicode_New(text->size, 127);
    if (made != NULL)
        memcpy(PyUnicode_1BYTE_DATA(made), text->at, (size_t)text->size);
    return made;
}

static PyObject *make_event(Siblings *self, const Pod *pod, const Sibling *one)
{
    PyObject *made = NULL, *key = NULL, *facts = NULL;
    PyObject *name = text_of(&pod->name), *uid = text_of(&pod->uid);
    PyObject *version = text_of(&pod->version), *node = text_of(&pod->node);
    PyObject *created = PyFloat_FromDouble(pod->created);
    if (name && uid && version && node && created) {
        PyObject *of_key[] = {self->resource, one->space, name};
        PyObject *of_facts[] = {pod->ready ? Py_True : Py_False,
                                pod->finished ? Py_True : Py_False, node};
        key = PyObject_Vectorcall(self->key, of_key, 3, NULL);
        facts = PyObject_Vectorcall(self->facts, of_facts, 3, NULL);
        if (key && facts) {
            PyObject *of_thing[] = {key, uid, self->gvk, version, one->labels, one->owners,
                                    self->none, created, self->zero, facts, one->needs,
                                    self->none};
            made = PyObject_Vectorcall(self->object, of_thing, 12, NULL);
            if (made != NULL) {
                PyObject *of_event[] = {self->added, made};
                PyObject *event = PyObject_Vectorcall(self->seen, of_event, 2, NULL);
                Py_DECREF(made);
                made = event;
            }
        }
    }
    Py_XDECREF(key);
    Py_XDECREF(facts);
    Py_XDECREF(name);
    Py_XDECREF(uid);
    Py_XDECREF(version);
    Py_XDECREF(node);
    Py_XDECREF(created);
    return made;
}

/* Remember what was made of a pod, for its siblings. -1 with an error, 0 else. */
static int learn(Siblings *self, const Pod *pod, PyObject *thing)
{
    Sibling *one = &self->table[place_of(pod)];
    forget(one);
    if (pod->spec.size > SPEC_BYTES || !find_holes(one, &pod->spec))
        return 0;
    /* One of which the spec or the state could not be read has no facts. */
    PyObject *said = PyObject_GetAttr(thing, self->facts_name);
    if (said == NULL)
        return -1;
    int whole = Py_IS_TYPE(said, (PyTypeObject *)self->facts);
    Py_DECREF(said);
    if (!whole)
        return 0;
    PyObject *key = PyObject_GetAttr(thing, self->key_name);
    if (key == NULL)
        return -1;
    one->space = PyObject_GetAttr(key, self->space_name);
    Py_DECREF(key);
    one->labels = PyObject_GetAttr(thing, self->labels_name);
    one->owners = PyObject_GetAttr(thing, self->owners_name);
    one->needs = PyObject_GetAttr(thing, self->needs_name);
    one->space_size = pod->space.size;
    one->labels_size = pod->labels.size;
    one->owners_size = pod->owners.size;
    one->spec_size = pod->spec.size;
    if (one->space == NULL || one->labels == NULL || one->owners == NULL || one->needs == NULL) {
        forget(one);
        return -1;
    }
    const Text *parts[] = {&pod->space, &pod->labels, &pod->owners, &pod->spec};
    Py_ssize_t size = 0;
    for (int i = 0; i < 4; i++)
        size += parts[i]->size;
    char *at = one->bytes = PyMem_Malloc((size_t)size);
    if (at == NULL) {
        forget(one);
        PyErr_NoMemory();
        return -1;
    }
    for (int i = 0; i < 4; i++) {
        memcpy(at, parts[i]->at, (size_t)parts[i]->size);
        at += parts[i]->size;
    }
    return 0;
}

/* Have a line read by the caller, and put what it says after the rest. */
static int read_elsewhere(Siblings *self, const char *from, const char *end, const Pod *pod,
                          PyObject *into)
{
    PyObject *line = PyBytes_FromStringAndSize(from, end - from);
    if (line == NULL)
        return -1;
    PyObject *news = PyObject_CallOneArg(self->read, line);
    Py_DECREF(line);
    if (news == NULL)
        return -1;
    if (!PyList_Check(news)) {
        Py_DECREF(news);
        PyErr_SetString(PyExc_TypeError, "what a line says is a list");
        return -1;
    }
    int done = 0;
    if (pod != NULL && PyList_GET_SIZE(news) == 1) {
        PyObject *thing = PyObject_GetAttr(PyList_GET_ITEM(news, 0), self->thing_name);
        done = thing == NULL ? -1 : learn(self, pod, thing);
        Py_XDECREF(thing);
    }
    Py_ssize_t size = PyList_GET_SIZE(into);
    if (done == 0)
        done = PyList_SetSlice(into, size, size, news);
    Py_DECREF(news);
    return done;
}

/* Whether an object begins and ends where a line does, by its quotes and brackets. */
static int is_one(const char *at, const char *end)
{
    Cursor in = {at, end};
    return *at == '{' && skip_nested(&in) && in.at == end;
}

static PyObject *siblings_events(Siblings *self, PyObject *block)
{
    if (!PyBytes_CheckExact(block)) {
        PyErr_SetString(PyExc_TypeError, "a block is bytes");
        return NULL;
    }
    PyObject *found = PyList_New(0);
    const char *at = PyBytes_AS_STRING(block), *end = at + PyBytes_GET_SIZE(block);
    while (found != NULL && at < end) {
        const char *to = memchr(at, '\n', (size_t)(end - at));
        if (to == NULL)
            to = end;
        Pod pod;
        Sibling *one;
        int fine = 0, usual = read_pod(self, at, to, &pod, &one);
        if (usual && one != NULL) {
            PyObject *event = make_event(self, &pod, one);
            fine = event == NULL ? -1 : PyList_Append(found, event);
            Py_XDECREF(event);
            self->taken++;
        } else if (to > at) {
            /* A text that goes on past a line's end, or has none, is the caller's to the end. */
            if (!usual && !is_one(at, to))
                to = end;
            fine = read_elsewhere(self, at, to, usual ? &pod : NULL, found);
        }
        if (fine < 0)
            Py_CLEAR(found);
        at = to + 1;
    }
    return found;
}

static void siblings_free(Siblings *self)
{
    PyTypeObject *type = Py_TYPE(self);
    if (self->table != NULL)
        for (int i = 0; i < TABLE; i++)
            forget(&self->table[i]);
    PyMem_Free(self->table);
    PyObject **held[] = {&self->resource, &self->gvk, &self->none, &self->zero, &self->object,
                         &self->key, &self->facts, &self->seen, &self->added, &self->read, &self->thing_name,
                         &self->labels_name, &self->owners_name, &self->needs_name,
                         &self->key_name, &self->space_name, &self->facts_name};
    for (size_t i = 0; i < sizeof held / sizeof *held; i++)
        Py_CLEAR(*held[i]);
    type->tp_free((PyObject *)self);
    Py_DECREF(type);
}

static PyObject *siblings_new(PyTypeObject *type, PyObject *args, PyObject *named)
{
    PyObject *resource, *gvk, *object, *key, *facts, *seen, *added, *read, *kind;
    if (named != NULL && PyDict_GET_SIZE(named) != 0) {
        PyErr_SetString(PyExc_TypeError, "siblings take no named arguments");
        return NULL;
    }
    if (!PyArg_ParseTuple(args, "OO(OOOO)OO", &resource, &gvk, &object, &key, &facts, &seen, &added,
                          &read))
        return NULL;
    kind = PyObject_GetAttrString(gvk, "kind");
    if (kind == NULL)
        return NULL;
    Siblings *self = (Siblings *)type->tp_alloc(type, 0);
    if (self == NULL) {
        Py_DECREF(kind);
        return NULL;
    }
    self->resource = Py_NewRef(resource);
    self->gvk = Py_NewRef(gvk);
    self->object = Py_NewRef(object);
    self->key = Py_NewRef(key);
    self->facts = Py_NewRef(facts);
    self->seen = Py_NewRef(seen);
    self->added = Py_NewRef(added);
    self->read = Py_NewRef(read);
    /* The kind's text is the caller's `gvk`'s, which is kept. */
    self->kind.at = PyUnicode_AsUTF8AndSize(kind, &self->kind.size);
    Py_DECREF(kind);
    self->none = PyTuple_New(0);
    self->zero = PyFloat_FromDouble(0.0);
    self->thing_name = PyUnicode_InternFromString("thing");
    self->labels_name = PyUnicode_InternFromString("labels");
    self->owners_name = PyUnicode_InternFromString("owners");
    self->needs_name = PyUnicode_InternFromString("needs");
    self->key_name = PyUnicode_InternFromString("key");
    self->space_name = PyUnicode_InternFromString("namespace");
    self->facts_name = PyUnicode_InternFromString("facts");
    self->table = PyMem_Calloc(TABLE, sizeof(Sibling));
    if (self->table == NULL && !PyErr_Occurred())
        PyErr_NoMemory();
    if (PyErr_Occurred()) {
        Py_DECREF(self);
        return NULL;
    }
    return (PyObject *)self;
}

static PyMethodDef methods[] = {
    {"events", (PyCFunction)siblings_events, METH_O,
     "Return what a block of lines says: what `read` would say of it."},
    {NULL, NULL, 0, NULL},
};

static PyObject *siblings_taken(Siblings *self, void *unused)
{
    (void)unused;
    return PyLong_FromSsize_t(self->taken);
}

static PyGetSetDef attributes[] = {
    {"taken", (getter)siblings_taken, NULL, "How many pods were read by a sibling.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, siblings_new},
    {Py_tp_dealloc, siblings_free},
    {Py_tp_methods, methods},
    {Py_tp_getset, attributes},
    {0, NULL},
};

static PyType_Spec spec = {
    "suture.wire._siblings.Siblings", sizeof(Siblings), 0, Py_TPFLAGS_DEFAULT, slots};

static int fill(PyObject *module)
{
    PyObject *type = PyType_FromSpec(&spec);
    int done = type == NULL ? -1 : PyModule_AddObjectRef(module, "Siblings", type);
    Py_XDECREF(type);
    return done;
}

static PyModuleDef_Slot phases[] = {{Py_mod_exec, fill}, {0, NULL}};

static PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "_siblings", "Pods of a list, read by their siblings.", 0, NULL, phases,
    NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__siblings(void) { return PyModuleDef_Init(&module); }

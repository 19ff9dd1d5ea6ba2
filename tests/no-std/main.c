/* Passes one stream to the library at every split and every pair of splits, and compares the output. */

#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct memory { alignas(8) uint8_t bytes[128]; };
struct error { uint64_t valid_up_to; int32_t len; };
struct repaired { size_t read, held, written; int32_t status; };

void utf8_validator_init(struct memory *);
bool utf8_validator_push(struct memory *, const uint8_t *, size_t, struct error *);
bool utf8_validator_finish(struct memory *, struct error *);
bool utf8_count_chars(const uint8_t *, size_t, size_t *, struct error *);
void utf8_decoder_init(struct memory *);
void utf8_decoder_push(struct memory *, const uint8_t *, size_t,
                       void (*)(void *, const uint8_t *, size_t),
                       void (*)(void *, struct error), void *);
bool utf8_decoder_finish(struct memory *, struct error *);
struct repaired utf8_decoder_repair(struct memory *, const uint8_t *, size_t, uint8_t *, size_t, uint8_t);
struct repaired utf8_decoder_repair_end(struct memory *, uint8_t *, size_t, uint8_t);

enum { FULL = 1, MAX = 128 };

/* A waving hand, an FF, an encoded surrogate, a euro sign, and an incomplete one. */
static const uint8_t stream[] = "Gr\xC3\xBC\xC3\x9F" "e \xF0\x9F\x91\x8B\xFF. \xED\xA0\x80 "
                                "\xE2\x82\xAC\xE2\x82";
static const size_t len = sizeof stream - 1;
static const struct error errors[] = {{12, 1}, {15, 1}, {16, 1}, {17, 1}, {22, -1}};
static const char text[] = "Grüße 👋.  €";
static const char repair[] = "Grüße 👋\xEF\xBF\xBD. \xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD €\xEF\xBF\xBD";

static void check(bool good, const char *what) {
    if (!good) {
        printf("no_std: %s\n", what);
        exit(1);
    }
}

static bool same(struct error a, struct error b) {
    return a.valid_up_to == b.valid_up_to && a.len == b.len;
}

struct seen {
    uint8_t text[MAX];
    size_t len;
    size_t errors;
};

static void on_text(void *context, const uint8_t *piece, size_t piece_len) {
    struct seen *seen = context;
    check(seen->len + piece_len <= MAX, "too much text");
    memcpy(seen->text + seen->len, piece, piece_len);
    seen->len += piece_len;
}

static void on_error(void *context, struct error error) {
    struct seen *seen = context;
    check(seen->errors < 4 && same(error, errors[seen->errors]), "push reported a wrong error");
    seen->errors++;
}

static void validate(const size_t cuts[4]) {
    struct memory validator;
    struct error error;
    size_t found = 0;
    utf8_validator_init(&validator);
    for (int i = 0; i < 3; i++) {
        size_t at = cuts[i];
        while (!utf8_validator_push(&validator, stream + at, cuts[i + 1] - at, &error)) {
            check(found < 4 && same(error, errors[found]), "the validator reported a wrong error");
            at = error.valid_up_to + (size_t)error.len;
            found++;
        }
    }
    check(found == 4, "the validator reported too few errors");
    check(!utf8_validator_finish(&validator, &error) && same(error, errors[4]), "the incomplete end is not reported");
    check(utf8_validator_finish(&validator, &error), "the incomplete end is reported twice");
}

static void decode(const size_t cuts[4]) {
    struct memory decoder;
    struct error error;
    struct seen seen = {.len = 0};
    utf8_decoder_init(&decoder);
    for (int i = 0; i < 3; i++)
        utf8_decoder_push(&decoder, stream + cuts[i], cuts[i + 1] - cuts[i], on_text, on_error, &seen);
    check(!utf8_decoder_finish(&decoder, &error) && same(error, errors[4]), "the incomplete end is not reported");
    check(seen.errors == 4, "the decoder reported too few errors");
    check(seen.len == strlen(text) && !memcmp(seen.text, text, seen.len), "wrong text");
}

static void repair_into(const size_t cuts[4], size_t room) {
    struct memory decoder;
    struct repaired done;
    struct seen seen = {.len = 0};
    uint8_t buffer[MAX];
    utf8_decoder_init(&decoder);
    for (int i = 0; i < 3; i++) {
        size_t at = cuts[i];
        do {
            done = utf8_decoder_repair(&decoder, stream + at, cuts[i + 1] - at, buffer, room, 0);
            check(done.written <= room && done.status <= FULL, "no progress");
            on_text(&seen, buffer, done.written);
            at += done.read;
        } while (done.status == FULL);
        check(at == cuts[i + 1], "done, but not everything was read");
    }
    done = utf8_decoder_repair_end(&decoder, buffer, room, 0);
    check(done.status == 0, "the end was not written");
    on_text(&seen, buffer, done.written);
    check(seen.len == strlen(repair) && !memcmp(seen.text, repair, seen.len), "wrong repaired text");
}

static void count_chars(void) {
    struct error error;
    size_t chars;
    check(utf8_count_chars((const uint8_t *)text, strlen(text), &chars, &error) && chars == 11, "wrong count");
    check(!utf8_count_chars(stream, len, &chars, &error) && same(error, errors[0]), "no error");
}

int main(void) {
    unsigned count = 0;
    count_chars();
    for (size_t first = 0; first <= len; first++) {
        for (size_t second = first; second <= len; second++) {
            const size_t cuts[4] = {0, first, second, len};
            validate(cuts);
            decode(cuts);
            for (size_t room = 4; room <= MAX; room++)
                repair_into(cuts, room);
            count++;
        }
    }
    printf("no_std: %u ways to split %zu bytes, all equal\n", count, len);
    return 0;
}

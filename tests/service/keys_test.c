/* The requests that a world has carried out, by their keys: which are kept, and that they come back from bytes whole or
 * not at all. */
#include "room.h"
#include "service/keys.h"

/* Those that a test works with, and those that come back of them. */
static struct keys keys, back;

static void end(void) {
  keys_close(&keys), keys_close(&back);
}

TestSuite(keys, .fini = end);

enum { MORE = 100, SAVED = 5, BITS = 20000 };

static const char body[] = "{\"agent\": \"5.1\"}\n";

static key_entry make(uint64_t number) {
  key_entry entry = {.status = 201, .body_kind = KEY_BODY_JSON, .frame = number * 3, .bytes = sizeof body - 1};
  snprintf(entry.key, sizeof entry.key, "request-%lu", number);
  memset(entry.digest, (int)(number % 251), sizeof entry.digest);
  entry.body = (void *)body;
  return entry;
}

static const key_entry *finish(struct keys *of, key_entry entry) {
  cr_assert(keys_begin(of));
  return keys_finish(of, &entry);
}

static const key_entry *keep(struct keys *of, uint64_t number) {
  return finish(of, make(number));
}

static void keep_below(uint64_t count) {
  for (uint64_t i = 0; i < count; i++) keep(&keys, i);
}

static void expect_kept(const struct keys *of, uint64_t number) {
  key_entry wanted = make(number);
  const key_entry *found = keys_find(of, wanted.key);
  cr_assert_not_null(found, "%s", wanted.key);
  cr_expect_eq(found->status, 201);
  cr_expect_eq(found->frame, number * 3);
  cr_expect_eq(memcmp(found->digest, wanted.digest, sizeof wanted.digest), 0);
  cr_expect(found->bytes == sizeof body - 1 && memcmp(found->body, body, found->bytes) == 0);
}

static bool is_kept(const struct keys *of, uint64_t number) {
  return keys_find(of, make(number).key) != NULL;
}

/* ------------------------------------------------------------------------------------------------------------ table */

Test(keys, a_key_is_visible_ascii_of_some_length) {
  char longest[KEY_BYTES_MAX + 2];
  memset(longest, 'k', sizeof longest - 1);
  longest[sizeof longest - 1] = '\0';
  cr_expect(!keys_is_key(longest));
  longest[KEY_BYTES_MAX] = '\0';
  cr_expect(keys_is_key(longest) && keys_is_key("k") && keys_is_key("\"8e03978e-40d5\""));
  cr_expect(!keys_is_key("") && !keys_is_key("two words") && !keys_is_key("schlüssel") && !keys_is_key("k\x7f"));
}

Test(keys, the_last_ones_are_kept_and_the_oldest_goes) {
  cr_expect_null(keys_find(&keys, "request-1"));
  keep_below(KEYS_MAX);
  for (uint64_t i = 0; i < KEYS_MAX; i++) expect_kept(&keys, i);
  for (uint64_t i = 0; i < MORE; i++) {
    cr_expect(is_kept(&keys, i));
    keep(&keys, KEYS_MAX + i);
    cr_expect(!is_kept(&keys, i));
  }
  for (uint64_t i = MORE; i < KEYS_MAX + MORE; i++) expect_kept(&keys, i);
  keys_close(&keys);
  cr_expect(!is_kept(&keys, KEYS_MAX));
}

Test(keys, a_key_that_is_known_gets_the_new_answer) {
  keep_below(3);
  key_entry entry = make(1);
  entry.status = 404;
  keys_finish(&keys, &entry);
  cr_expect_eq(keys_find(&keys, entry.key)->status, 404);
  cr_expect_eq(keys.count, 3);
  expect_kept(&keys, 0), expect_kept(&keys, 2);
}

/* The place that one leaves is passed over, also once the ring comes to it. What is kept anew is noted anew. */
Test(keys, that_is_forgotten_is_unknown_and_may_be_kept_and_noted_anew) {
  static unsigned char note[KEYS_RECORD_MAX];
  size_t room = KEYS_NOTED_MAX, bytes;
  keep_below(4);
  keys_forget(&keys, "request-1");
  keys_forget(&keys, "request-9");
  cr_expect(!is_kept(&keys, 1));
  for (int i = 0; i < 3; i++) cr_assert_gt(keys_note(&keys, &room, note), 0);
  cr_assert_eq(keys_note(&keys, &room, note), 0);
  key_entry entry = make(2);
  keys_forget(&keys, entry.key);
  entry.status = 404;
  keys_finish(&keys, &entry);
  bytes = keys_note(&keys, &room, note);
  cr_assert(bytes > 0 && keys_take(&back, note, bytes));
  cr_expect_eq(keys_find(&back, entry.key)->status, 404);
  for (uint64_t i = 4; i < KEYS_MAX + MORE; i++) keep(&keys, i);
  for (uint64_t i = KEYS_MAX; i < KEYS_MAX + MORE; i++) expect_kept(&keys, i);
}

Test(keys, an_answer_is_held_until_it_goes_out) {
  key_entry entry = make(1);
  entry.held = true;
  finish(&keys, entry);
  keep(&keys, 2);
  cr_expect(keys_find(&keys, entry.key)->held);
  keys_hand_out(&keys, "request-2");
  keys_hand_out(&keys, "request-3"); /* it may have been forgotten */
  cr_expect(keys_find(&keys, entry.key)->held);
  keys_hand_out(&keys, entry.key);
  cr_expect(!keys_find(&keys, entry.key)->held);
}

Test(keys, of_a_long_answer_the_status_is_kept_and_words_that_say_so) {
  static char long_body[KEYS_BODY_MAX + 1];
  memset(long_body, ' ', sizeof long_body);
  key_entry entry = make(1);
  entry.body = long_body, entry.bytes = KEYS_BODY_MAX;
  cr_expect_eq(finish(&keys, entry)->bytes, KEYS_BODY_MAX);
  entry.bytes = KEYS_BODY_MAX + 1, entry.body_kind = KEY_BODY_TEXT;
  const key_entry *kept = keys_finish(&keys, &entry);
  cr_expect(kept->status == 201 && kept->body_kind == KEY_BODY_JSON);
  cr_expect(kept->bytes > 10 && memcmp(kept->body, "{\"left_out\":", 12) == 0);
}

/* ------------------------------------------------------------------------------------------------------------ bytes */

typedef struct heap {
  unsigned char *bytes;
  size_t count, most;
} heap;

static bool put(const void *bytes, size_t count, void *user) {
  heap *to = user;
  if (to->count + count > to->most) return false;
  memcpy(to->bytes + to->count, bytes, count);
  to->count += count;
  return true;
}

static heap save(void) {
  heap saved = {.most = keys_saved_bytes(&keys)};
  saved.bytes = malloc(saved.most + 1);
  cr_assert_not_null(saved.bytes);
  cr_assert(keys_save(&keys, put, &saved));
  cr_expect_eq(saved.count, saved.most, "it says how many bytes it puts");
  return saved;
}

static void free_heap(heap *saved) {
  free(saved->bytes);
}

Test(keys, what_is_saved_comes_back_with_the_ages) {
  keep_below(KEYS_MAX + MORE);
  SCOPED(free_heap) heap saved = save();
  cr_assert(keys_take(&back, saved.bytes, saved.count), "%s", muster_last_error());
  for (uint64_t i = MORE; i < KEYS_MAX + MORE; i++) expect_kept(&back, i);
  keep(&back, KEYS_MAX + MORE);
  cr_expect(!is_kept(&back, MORE) && is_kept(&back, MORE + 1), "the oldest goes first here, too");
}

Test(keys, none_are_saved_as_no_bytes) {
  SCOPED(free_heap) heap saved = save();
  cr_expect_eq(saved.count, 0);
  cr_expect(keys_take(&keys, saved.bytes, 0));
  cr_expect_null(keys.entries);
}

/* What is noted of a table, one after the other; the record of the last one is kept. */
static unsigned char record[KEYS_RECORD_MAX];

static uint32_t note_all(struct keys *from, struct keys *to) {
  uint32_t count = 0;
  size_t room = KEYS_NOTED_MAX, bytes;
  for (; (bytes = keys_note(from, &room, record)) > 0; count++)
    cr_assert(keys_take(to, record, bytes), "%s", muster_last_error());
  return count;
}

Test(keys, each_is_noted_once_and_comes_back) {
  cr_expect_eq(note_all(&keys, &back), 0);
  keep_below(SAVED);
  cr_expect_eq(note_all(&keys, &back), SAVED);
  cr_expect_eq(note_all(&keys, &back), 0);
  keep(&keys, SAVED);
  cr_expect_eq(note_all(&keys, &back), 1);
  for (uint64_t i = 0; i <= SAVED; i++) expect_kept(&back, i);
  cr_expect_eq(note_all(&back, &keys), 0, "what came back is noted already");
  keep_below(KEYS_MAX + MORE);
  cr_expect_eq(note_all(&keys, &back), KEYS_MAX, "what is forgotten is not noted");
}

Test(keys, those_that_come_back_replace_those_of_the_same_key) {
  key_entry entry = make(1);
  entry.status = 500, entry.held = true;
  finish(&keys, entry);
  note_all(&keys, &back);
  cr_expect_eq(keys_find(&back, entry.key)->status, 500);
  cr_expect(!keys_find(&back, entry.key)->held, "nobody waits for it any more");
  keys_close(&keys);
  keep(&keys, 1);
  note_all(&keys, &back);
  expect_kept(&back, 1);
  cr_expect_eq(back.count, 1);
}

/* As many as may be held at a time, each as long as may be, do not fill the notes of a frame. */
Test(keys, the_answers_that_are_noted_with_a_frame_are_bounded) {
  static char long_body[KEYS_BODY_MAX];
  size_t room = KEYS_NOTED_MAX, bytes, all = 0;
  uint32_t whole = 0, short_ones = 0;
  memset(long_body, ' ', sizeof long_body);
  cr_assert(keys_begin(&keys));
  for (uint64_t i = 0; i < KEYS_MAX; i++) {
    key_entry entry = make(i);
    memset(entry.key + strlen(entry.key), 'k', KEY_BYTES_MAX - strlen(entry.key));
    entry.body = long_body, entry.bytes = sizeof long_body;
    keys_finish(&keys, &entry);
  }
  for (; (bytes = keys_note(&keys, &room, record)) > 0; all += bytes) {
    cr_expect_leq(bytes, sizeof record);
    cr_assert(keys_take(&back, record, bytes), "%s", muster_last_error());
  }
  for (uint32_t i = 0; i < KEYS_MAX; i++) {
    whole += back.entries[i].bytes == KEYS_BODY_MAX;
    short_ones += back.entries[i].bytes < 1024 && back.entries[i].status == 201;
  }
  cr_expect_eq(whole, KEYS_NOTED_MAX / KEYS_BODY_MAX);
  cr_expect_eq(short_ones, KEYS_MAX - whole);
  cr_expect_lt(all, (size_t)8 << 20);
}

Test(keys, a_put_that_fails_ends_the_saving) {
  keep_below(SAVED);
  unsigned char room[1024];
  for (size_t most = 0; most < keys_saved_bytes(&keys); most++) {
    heap to = {.bytes = room, .most = most};
    cr_expect(!keys_save(&keys, put, &to));
  }
}

/* ---------------------------------------------------------------------------------------------------------- damage */

Test(keys, bytes_that_are_cut_are_refused_and_change_nothing) {
  keep_below(SAVED);
  SCOPED(free_heap) heap saved = save();
  size_t one = saved.count / SAVED;
  keep(&back, SAVED);
  for (size_t count = 1; count < saved.count; count++) {
    SCOPED(free_memory) unsigned char *exact = exact_copy(saved.bytes, count);
    bool taken = keys_take(&back, exact, count);
    cr_expect_eq(taken, count % one == 0, "%zu bytes", count);
    if (!taken) cr_expect(strstr(muster_last_error(), "at byte ") != NULL, "%s", muster_last_error());
    cr_expect_eq(back.count, 1 + count / one, "nothing is added of bytes that are refused");
  }
  expect_kept(&back, SAVED);
}

/* Whatever bits are wrong: nothing is read or kept that is out of bounds. A change of an answer's own bytes is no
 * business of the keys: the journal has checksums. */
Test(keys, any_bits_may_be_wrong) {
  uint64_t random = 88172645463325252u;
  uint32_t refused = 0;
  keep_below(SAVED);
  SCOPED(free_heap) heap saved = save();
  for (uint32_t turn = 0; turn < BITS; turn++) {
    back = (struct keys){0};
    size_t bit = next_random(&random) % (saved.count * 8);
    turn_bit(saved.bytes, bit);
    bool taken = keys_take(&back, saved.bytes, saved.count);
    refused += !taken;
    cr_assert(taken || back.count == 0);
    for (uint64_t i = 0; i < back.count; i++) {
      const key_entry *entry = &back.entries[i];
      cr_assert(keys_is_key(entry->key) && entry->bytes <= KEYS_BODY_MAX && entry->body_kind < KEY_BODIES);
      cr_assert(entry->status >= 200 && entry->status <= 599);
    }
    keys_close(&back);
    turn_bit(saved.bytes, bit);
  }
  cr_expect(refused > BITS / 50 && refused < BITS, "%u of %d were refused", refused, BITS);
}

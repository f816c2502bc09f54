#include "lua/outside.h"

#include "lua/safepoints.h"

#include <stdlib.h>
#include <string.h>

/* The compiled form of Lua 5.4: its head, the kinds of constants, and the instruction SETUPVAL. */
enum { DUMP_HEAD_BYTES = 31, DUMP_VERSION = 0x54, OP_SET_UPVALUE = 10, OP_MASK = 0x7f, OP_B_SHIFT = 16 };
enum { CONSTANT_INTEGER = 0x03, CONSTANT_NUMBER = 0x13, CONSTANT_SHORT_TEXT = 0x04, CONSTANT_LONG_TEXT = 0x14 };
enum { UPVALUES_MAX = 255, NESTED_MAX = 100, OUTSIDE_NAME_BYTES = 40 };

/* A compiled function that is read. */
typedef struct dump_reader {
  const unsigned char *at, *end;
  bool damaged;
  bool assigns[UPVALUES_MAX]; /* to the outermost function's upvalues */
} dump_reader;

/* Which upvalue of the outermost function each upvalue of a function is; -1 = it belongs to a function inside. */
typedef struct dump_frame {
  int outer[UPVALUES_MAX];
  bool set[UPVALUES_MAX]; /* an instruction assigns to it */
} dump_frame;

static const unsigned char *dump_skip(dump_reader *reader, size_t count) {
  const unsigned char *at = reader->at;
  if ((size_t)(reader->end - at) < count) {
    reader->damaged = true;
    return NULL;
  }
  reader->at += count;
  return at;
}

static uint8_t dump_byte(dump_reader *reader) {
  const unsigned char *at = dump_skip(reader, 1);
  return at ? *at : 0;
}

/* Seven bits a byte, the last one marked. */
static size_t dump_size(dump_reader *reader) {
  size_t size = 0;
  for (uint8_t byte = 0; !reader->damaged && !(byte & 0x80);) {
    byte = dump_byte(reader);
    size = size << 7 | (byte & 0x7f);
  }
  return size;
}

static void dump_text(dump_reader *reader) {
  size_t size = dump_size(reader);
  if (size) dump_skip(reader, size - 1);
}

static void read_code(dump_reader *reader, dump_frame *frame) {
  size_t count = dump_size(reader);
  const unsigned char *code = count < SIZE_MAX / 4 ? dump_skip(reader, 4 * count) : NULL;
  for (size_t i = 0; code && i < count; i++) {
    uint32_t instruction;
    memcpy(&instruction, code + 4 * i, sizeof instruction);
    if ((instruction & OP_MASK) == OP_SET_UPVALUE) frame->set[instruction >> OP_B_SHIFT & 0xff] = true;
  }
}

static void skip_constants(dump_reader *reader) {
  for (size_t count = dump_size(reader); count > 0 && !reader->damaged; count--) {
    uint8_t kind = dump_byte(reader);
    if (kind == CONSTANT_INTEGER || kind == CONSTANT_NUMBER) dump_skip(reader, 8);
    if (kind == CONSTANT_SHORT_TEXT || kind == CONSTANT_LONG_TEXT) dump_text(reader);
  }
}

/* Where the function's upvalues come from: from a variable of the function around it, or from one of its upvalues. */
static void read_upvalues(dump_reader *reader, dump_frame *frame, const dump_frame *around) {
  size_t count = dump_size(reader);
  for (size_t i = 0; i < count && !reader->damaged; i++) {
    bool variable = dump_byte(reader);
    uint8_t index = dump_byte(reader);
    dump_byte(reader);
    if (i >= UPVALUES_MAX) continue;
    frame->outer[i] = !around ? (int)i : variable || index >= UPVALUES_MAX ? -1 : around->outer[index];
    if (frame->set[i] && frame->outer[i] >= 0) reader->assigns[frame->outer[i]] = true;
  }
}

static void skip_debug(dump_reader *reader) {
  dump_skip(reader, dump_size(reader));
  for (size_t count = dump_size(reader); count > 0 && !reader->damaged; count--) {
    dump_size(reader);
    dump_size(reader);
  }
  for (size_t count = dump_size(reader); count > 0 && !reader->damaged; count--) {
    dump_text(reader);
    dump_size(reader);
    dump_size(reader);
  }
  for (size_t count = dump_size(reader); count > 0 && !reader->damaged; count--) dump_text(reader);
}

static void read_function(dump_reader *reader, const dump_frame *around, int depth) {
  dump_frame frame = {0};
  dump_text(reader); /* source */
  dump_size(reader); /* first and last line */
  dump_size(reader);
  dump_skip(reader, 3); /* parameters, whether they vary, stack */
  read_code(reader, &frame);
  skip_constants(reader);
  read_upvalues(reader, &frame, around);
  if (depth >= NESTED_MAX) reader->damaged = true;
  for (size_t count = dump_size(reader); count > 0 && !reader->damaged; count--)
    read_function(reader, &frame, depth + 1);
  skip_debug(reader);
}

/* What lua_dump writes. */
typedef struct dump_bytes {
  unsigned char *bytes;
  size_t count;
} dump_bytes;

static int keep_dump(lua_State *L, const void *bytes, size_t count, void *user) {
  dump_bytes *kept = user;
  unsigned char *more = realloc(kept->bytes, kept->count + count + 1);
  (void)L;
  if (!more) return 1;
  memcpy(more + kept->count, bytes, count);
  kept->bytes = more;
  kept->count += count;
  return 0;
}

/* Names the first variable that is assigned to; false when none is. */
static bool find_outside(lua_State *L, const dump_reader *reader, const char **name) {
  for (int i = 0; i < UPVALUES_MAX; i++) {
    if (!reader->assigns[i]) continue;
    *name = lua_getupvalue(L, -1, i + 1);
    if (*name) lua_pop(L, 1);
    if (!*name || !safepoints_count_with(*name)) return true;
  }
  return false;
}

void outside_check(lua_State *L) {
  dump_bytes kept = {0};
  dump_reader reader = {0};
  const char *name = NULL;
  bool known =
      lua_dump(L, keep_dump, &kept, 0) == 0 && kept.count > DUMP_HEAD_BYTES + 1 && kept.bytes[4] == DUMP_VERSION;
  if (known) {
    reader.at = kept.bytes + DUMP_HEAD_BYTES + 1; /* behind the head: the number of upvalues */
    reader.end = kept.bytes + kept.count;
    read_function(&reader, NULL, 0);
  }
  bool whole = known && !reader.damaged && reader.at == reader.end;
  free(kept.bytes);
  if (!whole) luaL_error(L, "a compiled function is not of Lua 5.4, which this was built for");
  if (!find_outside(L, &reader, &name)) return;
  lua_Debug record;
  lua_pushvalue(L, -1);
  lua_getinfo(L, ">S", &record);
  luaL_error(
      L,
      "%s:%d: this function changes '%s', a variable outside of it: what the scripts define is read-only once they "
      "are loaded; keep what changes in self",
      record.short_src, record.linedefined, name ? name : "?");
}

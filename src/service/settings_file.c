#include "service/settings_file.h"

#include "service/modules.h"
#include "service/settings_keys.h"
#include "service/settings_modules.h"

#include "base/assert.h"
#include "base/error.h"
#include "base/files.h"
#include "base/nearest.h"

#include <errno.h>
#include <fcntl.h>
#include <ini.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KEYS_MAX = 128 };

static const char not_a_line[] = "this is no [section], no `key = value`, and no comment";
static const char byte_order_mark[] = "\xef\xbb\xbf";

/* inih reports neither line numbers nor empty sections. It asks for one line, calls back when that is a key, and asks
 * for the next; so a callback is about the line that was given last, and sections are handled where lines are given. */
typedef struct file_reader {
  struct settings *settings;
  settings_complaint complain;
  void *user;
  const char *name; /* of the file */
  const char *next, *end;
  uint32_t line;
  void *section; /* the settings or a world; null = an unknown section: its keys are skipped */
  bool of_world, has_section, has_server;
  bool seen[KEYS_MAX]; /* keys of this section */
} file_reader;

static void settings_file_complain(file_reader *reader, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void settings_file_complain(file_reader *reader, const char *format, ...) {
  char where[PATH_BYTES + 16], message[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  snprintf(where, sizeof where, "%s:%u", reader->name, reader->line);
  reader->complain(where, message, reader->user);
}

/* --------------------------------------------------------------------------------------------------------- sections */

static void begin_server(file_reader *reader) {
  if (reader->has_server) settings_file_complain(reader, "[server] was there before; put its keys into one section");
  reader->has_server = true;
  reader->section = reader->settings;
}

static void settings_file_begin_world(file_reader *reader, const char *name) {
  name += strspn(name, " \t");
  if (!modules_name_is_good(name)) {
    settings_file_complain(reader, "[world %.40s]: a name has 1 to %u letters, digits, - and _", name, NAME_BYTES - 1u);
  } else if (settings_find_world(reader->settings, name)) {
    settings_file_complain(reader, "[world %s] was there before; put its keys into one section", name);
  } else {
    reader->section = settings_add_world(reader->settings, name);
    if (!reader->section) settings_file_complain(reader, "%s", muster_last_error());
  }
}

static void begin_section(file_reader *reader, const char *line) {
  char name[64];
  size_t length = strcspn(line + 1, "]");
  memset(reader->seen, 0, sizeof reader->seen);
  reader->has_section = true;
  reader->section = NULL;
  if (length >= sizeof name) {
    settings_file_complain(reader, "the name of the section is too long");
    return;
  }
  snprintf(name, sizeof name, "%.*s", (int)length, line + 1);
  reader->of_world = strncmp(name, "world ", 6) == 0 || strcmp(name, "world") == 0;
  if (reader->of_world)
    settings_file_begin_world(reader, name + 5);
  else if (strcmp(name, "server") == 0)
    begin_server(reader);
  else
    settings_file_complain(reader, "there is no section [%s]; known are [server] and [world NAME]", name);
}

/* ------------------------------------------------------------------------------------------------------------ lines */

/* Inih itself would report only the first mistake. */
static bool is_none_of_all(const char *line) {
  if (line[0] == '[') return strchr(line, ']') == NULL;
  return line[0] != '\0' && line[0] != ';' && line[0] != '#' && strpbrk(line, "=:") == NULL;
}

static void take_line(file_reader *reader, char *line, int size, const char *begin, size_t length) {
  line[0] = '\0';
  if (memchr(begin, '\0', length))
    settings_file_complain(reader, "the line has a zero byte in it; this is no text");
  else if (length >= (size_t)size)
    settings_file_complain(reader, "the line is too long; at most %d bytes are read", size - 1);
  else
    snprintf(line, (size_t)size, "%.*s", (int)length, begin);
  if (is_none_of_all(line)) {
    settings_file_complain(reader, "%s", not_a_line);
    line[0] = '\0';
  }
  if (line[0] == '[') begin_section(reader, line);
}

/* Inih would take a line that begins with a blank as a continuation of the value before it. */
static char *give_line(char *line, int size, void *user) {
  file_reader *reader = user;
  if (reader->next == reader->end) return NULL;
  const char *stop = memchr(reader->next, '\n', (size_t)(reader->end - reader->next));
  size_t length = (size_t)((stop ? stop : reader->end) - reader->next);
  const char *begin = reader->next;
  reader->next += length + (stop != NULL);
  reader->line++;
  if (reader->line == 1 && length >= 3 && memcmp(begin, byte_order_mark, 3) == 0) begin += 3, length -= 3;
  for (; length > 0 && (*begin == ' ' || *begin == '\t'); begin++) length--;
  while (length > 0 && (begin[length - 1] == ' ' || begin[length - 1] == '\t' || begin[length - 1] == '\r')) length--;
  take_line(reader, line, size, begin, length);
  return line;
}

static void settings_file_complain_unknown(file_reader *reader, const char *name) {
  const char *names[KEYS_MAX], *section = reader->of_world ? "[world NAME]" : "[server]";
  size_t count = 0;
  for (uint32_t i = 0; settings_key_at(i) && count < KEYS_MAX; i++)
    if (settings_key_at(i)->of_world == reader->of_world) names[count++] = settings_key_at(i)->field.name;
  const char *nearest = nearest_name(name, names, count);
  if (settings_key_find(!reader->of_world, name))
    settings_file_complain(reader, "there is no key '%.50s' in %s; it belongs into the other kind of section", name,
                           section);
  else if (nearest)
    settings_file_complain(reader, "there is no key '%.50s' in %s; did you mean '%s'?", name, section, nearest);
  else
    settings_file_complain(reader, "there is no key '%.50s' in %s; `musterd --help` lists them", name, section);
}

static void settings_file_take_module(file_reader *reader, const char *name, const char *value) {
  bool seen = settings_module_find(reader->section, name) != NULL;
  if (seen) settings_file_complain(reader, "'%.80s' was given before in this section", name);
  if (settings_module_set(reader->section, name, value, reader->name, reader->line))
    settings_file_complain(reader, "%.80s is '%.60s'; %s", name, value, muster_last_error());
}

static int take_key(void *user, const char *section, const char *name, const char *value) {
  file_reader *reader = user;
  (void)section;
  if (!reader->has_section) {
    settings_file_complain(reader, "'%s' stands before any section; begin one with [server] or [world NAME]", name);
    return 1;
  }
  if (!reader->section) return 1; /* the section was complained of where it began */
  if (reader->of_world && settings_is_of_module(name)) {
    settings_file_take_module(reader, name, value);
    return 1;
  }
  const settings_key *key = settings_key_find(reader->of_world, name);
  if (!key) {
    settings_file_complain_unknown(reader, name);
    return 1;
  }
  bool *seen = &reader->seen[key - settings_key_at(0)];
  ASSERT(seen < reader->seen + KEYS_MAX);
  if (*seen) settings_file_complain(reader, "'%s' was given before in this section", name);
  *seen = true;
  if (settings_key_set(key, reader->section, value))
    settings_file_complain(reader, "%s is '%.60s'; %s", name, value, muster_last_error());
  return 1;
}

void settings_read_text(struct settings *settings, const char *name, const char *text, size_t length,
                        settings_complaint complain_to, void *user) {
  file_reader reader = {
      .settings = settings, .complain = complain_to, .user = user, .name = name, .next = text, .end = text + length};
  int problem = ini_parse_stream(give_line, &reader, take_key, &reader);
  if (problem > 0) {
    reader.line = (uint32_t)problem;
    settings_file_complain(&reader, "%s", not_a_line);
  } else if (problem < 0) {
    settings_file_complain(&reader, "no memory to read it");
  }
}

/* ------------------------------------------------------------------------------------------------------------- file */

/* Null with the reason in muster_last_error(). */
static char *load_file(const char *path, size_t *length) {
  struct stat status;
  int descriptor = files_open_regular(AT_FDCWD, path, O_RDONLY, 0);
  if (descriptor < 0) return NULL;
  char *text = NULL;
  ssize_t taken = 0;
  if (fstat(descriptor, &status) != 0 || status.st_size > SETTINGS_FILE_BYTES_MAX)
    error_set(MUSTER_E_INPUT, "it has more than the %d bytes that a configuration may have", SETTINGS_FILE_BYTES_MAX);
  else if ((text = malloc((size_t)status.st_size + 1)) == NULL)
    error_set(MUSTER_E_MEMORY, "no memory to read it");
  else if ((taken = read(descriptor, text, (size_t)status.st_size)) < 0)
    error_set(MUSTER_E_SYSTEM, "cannot be read: %s", strerror(errno));
  close(descriptor);
  if (taken < 0) {
    free(text);
    text = NULL;
  }
  *length = (size_t)(taken < 0 ? 0 : taken);
  return text;
}

void settings_read_file(struct settings *settings, const char *path, settings_complaint complain_to, void *user) {
  size_t length;
  char *text = load_file(path, &length);
  if (text)
    settings_read_text(settings, path, text, length, complain_to, user);
  else
    complain_to(path, muster_last_error(), user);
  free(text);
}

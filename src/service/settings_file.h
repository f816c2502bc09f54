/* service/settings_file.h - reads settings from a text in INI form:
 *
 *     [server]
 *     socket = /run/musterd/control.sock
 *     [world main]
 *     module = wildlife    ; a comment
 */
#ifndef SERVICE_SETTINGS_FILE_H
#define SERVICE_SETTINGS_FILE_H

#include "service/settings.h"

enum { SETTINGS_FILE_BYTES_MAX = 1 << 20 };

/* Lays a text over the settings, which keep `name`; complains of every mistake with `name` and its line: sections and
 * keys that do not exist or are given twice, invalid values, and other invalid lines. Any thread. */
void settings_read_text(struct settings *settings, const char *name, const char *text, size_t length,
                        settings_complaint complain, void *user);

/* The same with the text of a file. */
void settings_read_file(struct settings *settings, const char *path, settings_complaint complain, void *user);

#endif

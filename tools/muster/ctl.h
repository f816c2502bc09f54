/* ctl.h - what the files of `muster ctl` share: where the daemon is, the requests to it, and how to show its
 * answers. */
#ifndef TOOLS_CTL_H
#define TOOLS_CTL_H

#include <muster/report.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct json_t; /* <jansson.h>, whose names are not all compatible with those of base/json.h */

typedef struct ctl_options {
  const char *socket;     /* of the daemon's control; default $MUSTER_SOCKET, or /run/musterd/control.sock */
  const char *url;        /* http://127.0.0.1:PORT instead; null = the socket */
  const char *token_file; /* its first line is the token for changes by TCP; null = none */
  const char *world;      /* null = the only one */
  const char *agent;      /* of `muster explain`; null = the first argument */
  bool json;
  bool no_retry; /* a change is sent once, whatever becomes of it */
  bool undo;     /* of drain: no longer */
} ctl_options;

/* $MUSTER_SOCKET, or where the daemon listens without it. */
const char *ctl_default_socket(void);

/* A command with its arguments, as typed. */
typedef struct ctl_call {
  const ctl_options *options;
  int count;
  char **arguments;
} ctl_call;

/* Asks the daemon. A change of a world has a key, with which it is carried out once: it is sent again, for ten seconds
 * at most, when the connection breaks, or the world's process ends before it answers. `body` is released; null = none.
 * True with the document that it answered (null when that is empty), which the caller releases; false after a
 * complaint. */
bool ctl_ask(const ctl_options *options, const char *method, const char *path, struct json_t *body,
             struct json_t **answer);

/* Asks for a document whose refusal is an answer, too, such as /readyz. As ctl_ask. */
bool ctl_look(const ctl_options *options, const char *path, struct json_t **answer);

/* Tells the daemon something with a body, of JSON when that is an object or an array, else of text, and prints what it
 * answers. Without a body it gets the document and prints it as it is. False after a complaint. */
bool ctl_tell(const ctl_options *options, const char *path, const char *body);

/* The name of the world that is meant, for a path: the given one, or the only one there is. False after a complaint. */
bool ctl_world(const ctl_options *options, char *name, size_t bytes);

enum { CTL_PATH_BYTES = 1024, CTL_ESCAPED_BYTES = 64 * 3 + 1 };

/* Replaces what is special in a part of a path, or in the value of a query, by percent signs; cut after 64 characters.
 */
const char *ctl_escape(const char *text, char out[CTL_ESCAPED_BYTES]);

/* Makes the world at this path, which is paused then, run so many frames, and waits until it has: for as long as frames
 * come, at most ten seconds or thirty frames' time without one. False after a complaint. */
bool ctl_step(const ctl_options *options, const char *path, uint64_t frames);

/* "X,Y" or "X,Y,Z" as an object; null after a complaint. */
struct json_t *ctl_read_place(const char *text);

/* The arguments NAME=VALUE from `first` on as members of the object, which is returned, or released after a complaint:
 * then null. A duration such as 250ms becomes the member NAME_ns. */
struct json_t *ctl_read_members(const ctl_call *call, int first, struct json_t *object);

/* Prints an array of objects as a table. `columns` has a word for each column: the path of its value, such as
 * frame.wall_ns, with TITLE= before it where the path does not say it in words; behind it # groups the digits of a
 * count, and ? shows the column only where a value is true. On a terminal that is too narrow for the table each row
 * becomes a block of lines. */
void ctl_show_table(const struct json_t *rows, const char *columns);

/* Prints an object line by line, in words: "frame period  33.3 ms". */
void ctl_show_object(const struct json_t *object);

/* The same by the names by which its members are set with NAME=VALUE. */
void ctl_show_members(const struct json_t *object);

/* Prints a document as it came. */
void ctl_show_json(const struct json_t *document);

/* Of the answer to GET /v1/worlds the entry of a world's process; null: it has none, since all run in one. */
const struct json_t *ctl_process_of(const struct json_t *worlds, const char *name);

enum { CTL_WORDS_BYTES = 512 };

/* Why a world does not run, of its process's entry, and what to do; "" = it runs. */
const char *ctl_words_of(const struct json_t *process, char out[CTL_WORDS_BYTES]);

/* Prints the worlds: first those that do not run, with the reason. */
void ctl_show_worlds(const struct json_t *answer);

/* Prints the zones of a cluster. Changes the answer. */
void ctl_show_zones(const struct json_t *answer);

/* Prints the nodes of a cluster, and which of them balances it. Changes the answer. */
void ctl_show_nodes(const struct json_t *answer);

/* Prints what becomes of a move, and of a drain. */
void ctl_show_move(const struct json_t *answer);
void ctl_show_drain(const struct json_t *answer);

/* Prints what became of a restart. */
void ctl_show_restart(const struct json_t *process);

/* Prints whether all worlds run, or why not. */
void ctl_show_health(const struct json_t *answer);

/* A member of an object: a count, 0 where there is none, and a copied text, "" where there is none. */
uint64_t ctl_count_of(const struct json_t *object, const char *name);
void ctl_copy_text(const struct json_t *object, const char *name, char *out, size_t bytes);

/* Reads the bands of importance of a world, as the daemon tells of them. What is not there is 0. */
void ctl_read_bands(const struct json_t *array, muster_band bands[MUSTER_BANDS]);

/* Whether a text ends so. */
bool ctl_ends(const char *text, const char *ending);

/* Runs a command; the exit status. */
int ctl_run(const ctl_call *call);

/* The commands for a help text, each with a line end. */
void ctl_show_commands(FILE *stream);

/* The help of one command, broken to the terminal's width. False: there is no such command. */
bool ctl_show_command(const char *name);

/* What it says besides usage and summary; "" of a command that does not exist. */
const char *ctl_help_of(const char *name);

/* Whether the arguments of `muster explain` mean an agent of a daemon: it is named INDEX.GENERATION, or one of the
 * options stands there that say which daemon. */
bool ctl_is_meant(int count, char *const *arguments);

/* The whole of `muster explain` then. */
int ctl_explain_command(int count, char **arguments, void (*show_explain_help)(FILE *stream));

#endif

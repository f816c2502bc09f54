/* ctl.h - what the files of `muster ctl` share: where the daemon is, what to ask it, how to show what it answers. */
#ifndef TOOLS_CTL_H
#define TOOLS_CTL_H

#include <stdbool.h>
#include <stddef.h>

struct json_t; /* <jansson.h>, whose names are not all compatible with those of base/json.h */

typedef struct ctl_options {
  const char *socket;     /* of the daemon's control; default $MUSTER_SOCKET, or /run/musterd/control.sock */
  const char *url;        /* http://127.0.0.1:PORT instead; null = the socket */
  const char *token_file; /* its first line is the token for changes by TCP; null = none */
  const char *world;      /* null = the only one */
  const char *agent;      /* of `muster explain`; null = the first argument */
  bool json, help;
} ctl_options;

/* A command with its arguments, as typed. */
typedef struct ctl_call {
  const ctl_options *options;
  int count;
  char **arguments;
} ctl_call;

/* Asks the daemon. `body` is released; null = none. True with the document that it answered (null when that is empty),
 * which the caller releases; false after a complaint. */
bool ctl_ask(const ctl_options *options, const char *method, const char *path, struct json_t *body,
             struct json_t **answer);

/* The name of the world that is meant, for a path: the given one, or the only one there is. False after a complaint. */
bool ctl_world(const ctl_options *options, char *name, size_t bytes);

/* How a value of a table is shown. */
typedef enum ctl_kind { CTL_TEXT = 0, CTL_NUMBER, CTL_COUNT, CTL_DURATION, CTL_BYTES, CTL_PLACE, CTL_LIST } ctl_kind;

typedef struct ctl_column {
  const char *title;
  const char *path; /* of the value: "frame.wall_ns" */
  ctl_kind kind;
} ctl_column;

/* Prints an array of objects, or one object, as a table; a column's last row has no title. */
void ctl_show_table(const struct json_t *rows, const ctl_column *columns);

/* Prints the scalars of an object line by line. */
void ctl_show_object(const struct json_t *object);

/* Prints a document as it came. */
void ctl_show_json(const struct json_t *document);

/* Runs a command; the exit status. */
int ctl_run(const ctl_call *call);

/* The commands for a help text, each with a line end. */
void ctl_show_commands(void);

/* The whole of `muster explain` where its arguments name a daemon. */
bool ctl_is_meant(int count, char *const *arguments);
int ctl_explain_command(int count, char **arguments);

#endif

/* muster/module.h - behaviour modules: callbacks that a scenario or a game gives to a host program to populate a world.
 *
 * A module is a set of callbacks. The programs of Muster (muster run, the service) open one, let it register its
 * agent types and spawn its agents, call it once before every frame, and let it report at the end. A module uses the
 * public headers alone. All callbacks run on the thread of the frames, between frames.
 *
 * As a shared object. A module for musterd is one file, NAME.so, that exports muster_module_get and is linked with
 * nothing of Muster: it finds the library in the program that loads it (cc -shared -fPIC walkers.c -o walkers.so). The
 * service looks for it by its bare name in the one folder that it is configured with; folder and file must belong to
 * root or to the service's user, and no other user may write them; a symbolic link is refused. Put the file there with
 * `install`, not with `cp`: an incomplete file is refused. Its code is loaded once, as a copy in memory, however many
 * worlds it populates, and stays until the service ends; data that differs between worlds belongs into the instance
 * that open() makes: one for each world. tests/examples/template_module.c is a template to copy.
 *
 * Worlds and instances. A module may populate several worlds, and several instances of modules may populate one world
 * (musterd: `module = towns:walkers guards:walkers`): each has its own settings, commands and metrics, and knows its
 * name from the options. All types of a world live together: they find each other by name (muster_type_find), read what
 * others publish, and send messages (muster_update_send, muster_agent_send; the receiver's type says
 * messages.waiting_max and messages.bytes_max), in an order that does not depend on workers. Worlds share nothing but
 * the pool: data that is to go from one world to another goes through the host.
 *
 * Crashes. musterd keeps a journal of each world (muster/journal.h): after a crash it runs the frames since the last
 * snapshot again, with before_frame and the commands that were given. What these ask of the world changes nothing then,
 * since it is in the journal. Callbacks see muster_world_is_replaying() (muster/record.h), and keep back what they do
 * outside of Muster, such as writing a file.
 *
 * Tables. A module may declare settings, commands and metrics in tables, each of which ends with a row without a name.
 * Names have at most MUSTER_MODULE_NAME_MAX lower-case letters, digits and _, and begin with a letter; a help text is
 * one line without backslashes. A module with a table that breaks a rule is refused when it is loaded.
 */
#ifndef MUSTER_MODULE_H
#define MUSTER_MODULE_H

#include <muster/muster.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MUSTER_MODULE_ABI 1u

/* Limits: rows of a table; bytes of a name, a setting's text, a command's body and its answer. */
#define MUSTER_MODULE_ROWS_MAX     32u
#define MUSTER_MODULE_NAME_MAX     40u
#define MUSTER_MODULE_TEXT_MAX     255u
#define MUSTER_MODULE_BODY_MAX     65536u
#define MUSTER_MODULE_ANSWER_MAX   1048576u
#define MUSTER_MODULE_INTEGER_MOST 9007199254740992.0 /* 2^53: a double has every whole number up to it */

/* ----------------------------------------------------------------------------------------------------- settings */

typedef enum muster_module_kind {
  MUSTER_MODULE_INTEGER = 0, /* a whole number between least and most */
  MUSTER_MODULE_REAL,        /* a number between least and most */
  MUSTER_MODULE_TEXT,        /* of least to most bytes */
  MUSTER_MODULE_SWITCH       /* yes or no */
} muster_module_kind;

/* A setting that the module has. The host checks what it was given against this row. */
typedef struct muster_module_setting {
  const char *name;
  muster_module_kind kind;
  double least, most; /* both allowed; of integers within MUSTER_MODULE_INTEGER_MOST, of texts up to _TEXT_MAX */
  const char *preset; /* the value where none is given, as text; it must be allowed, too */
  const char *help;   /* one line */
} muster_module_setting;

/* The value of a setting in force. */
typedef struct muster_module_value {
  const char *name;
  const char *text; /* as it was given, or the preset */
  double number;    /* of integers and reals; of a switch 1 = yes, 0 = no; of a text 0 */
} muster_module_value;

/* The host program's wishes to the module. */
typedef struct muster_module_options {
  uint32_t size;
  uint32_t agents;    /* wanted population; 0 = the module's own */
  uint32_t observers; /* wanted observers; 0 = the module's own */
  uint64_t seed;
  const char *path; /* a file to populate from, where the module takes one; else null */
  char up_axis;     /* 'y' or 'z': which axis of the file is height */
  uint64_t cost_ns; /* cost of one update, if the module takes_cost; 0 = the module's own */
  /* One value for each row of the module's settings, in their order. Valid during open: copy the texts to keep. */
  const muster_module_value *values;
  uint32_t value_count;
  const char *instance; /* its name among several in a world; null = it is the only one */
  const char *world;    /* the world's name, for lines of a log; null = it has none */
} muster_module_options;

MUSTER_DEFAULTS(muster_module_options);

/* For open(): the value of that name; null when the host, which may be older, gave none. Any thread. */
MUSTER_API const muster_module_value *muster_module_value_of(const muster_module_options *options, const char *name);

/* The number, or the text, of a setting; `otherwise` when the host gave none. Any thread. */
MUSTER_API double muster_module_number(const muster_module_options *options, const char *name, double otherwise);
MUSTER_API const char *muster_module_text(const muster_module_options *options, const char *name,
                                          const char *otherwise);

/* The name of the instance; "" when it is the only one. Any thread. */
MUSTER_API const char *muster_module_instance(const muster_module_options *options);

/* What the host program must know of the module before it creates the world. */
typedef struct muster_module_needs {
  uint32_t size;
  uint32_t agents;     /* population to begin with */
  uint32_t agents_max; /* room for agents that are spawned later */
  uint32_t observers;  /* observers that the module will add */
  float cell_m;        /* about the radius of its neighbour queries; 0 = no preference */
} muster_module_needs;

/* A named number of a module's report. */
typedef void (*muster_module_emit)(const char *name, double value, void *emit_user);

/* Takes a line of a module's text about a watched agent, without a line end; valid during the call. */
typedef void (*muster_module_line)(const char *text, void *line_user);

/* Takes bytes of a module's saved data; false when it cannot, and the module fails with MUSTER_E_SYSTEM. */
typedef bool (*muster_module_write)(const void *bytes, size_t count, void *write_user);

/* ---------------------------------------------------------------------------------------- commands and metrics */

/* A command that operators may give. One named `reload` is also given on SIGHUP, without a body. */
typedef struct muster_module_command {
  const char *name;
  const char *help;
} muster_module_command;

/* One command, as it was given. */
typedef struct muster_module_call {
  uint32_t size;
  const char *command;
  const char *body; /* ends with a zero, which is not counted; "" when there is none */
  size_t bytes;
  bool json; /* the body is one JSON object or array; else it is text */
} muster_module_call;

/* Takes the answer to a command, which is copied: a status of HTTP (200..299, 400..499 or 500..599) and a text, or with
 * `json` a JSON object or array. False, and nothing is taken, when the status is none of these, when there are more
 * than MUSTER_MODULE_ANSWER_MAX bytes or no memory, and when there was an answer before. */
typedef bool (*muster_module_answer)(uint32_t status, bool json, const char *text, size_t bytes, void *answer_user);

/* A number that the host shows to its metrics system. musterd names it muster_module_NAME. */
typedef enum muster_module_metric_kind {
  MUSTER_MODULE_GAUGE = 0, /* goes up and down; its name does not end in _total, _count, _sum, _bucket or _info */
  MUSTER_MODULE_COUNTER    /* only grows; its name ends in _total */
} muster_module_metric_kind;

typedef struct muster_module_metric {
  const char *name;
  muster_module_metric_kind kind;
  const char *help;
} muster_module_metric;

/* Something that goes wrong in a module's own code again and again, such as an error of a script. The texts are valid
 * during the call. */
typedef struct muster_module_problem {
  uint32_t size;
  uint32_t agents;   /* that live and failed there last; 0 when an agent was asked for */
  const char *where; /* such as "village.lua:12" */
  const char *what;  /* one line */
  uint64_t count;    /* how often, since the instance was opened or its code was reloaded */
  uint64_t last_ns;  /* simulation time of the latest one */
} muster_module_problem;

typedef void (*muster_module_tell)(const muster_module_problem *problem, void *tell_user);

typedef struct muster_module {
  uint32_t size;
  uint32_t abi;        /* MUSTER_MODULE_ABI of the header it was built with */
  const char *name;    /* as typed after `muster run` */
  const char *summary; /* one line */

  /* Reads its options and the file that they name, if any, completely: nothing is left behind on failure, and the
   * message is in muster_last_error() (set it with muster_module_fail). Stores the instance and its needs. */
  muster_result (*open)(const muster_module_options *options, void **instance, muster_module_needs *needs);
  /* Registers types, spawns agents, adds observers. */
  muster_result (*populate)(void *instance, muster_world *world);
  /* Before every frame: observers walk, the host's part of the world moves on. May be null. */
  void (*before_frame)(void *instance, muster_world *world, uint64_t sim_now_ns);
  /* Names the numbers that describe the world now. May be null. */
  void (*report)(void *instance, const muster_world *world, muster_module_emit emit, void *emit_user);
  /* Frees the instance; the world may be gone already. */
  void (*close)(void *instance);
  bool takes_cost; /* it heeds the options' cost_ns; a host refuses a cost for other modules */
  /* After the frame at `sim_now_ns`: simulation time that may pass before the next frame, beside the host's own frame
   * time, because no observer is near. `muster run` heeds it. May be null (default). */
  uint64_t (*skip_ns)(void *instance, uint64_t sim_now_ns);
  /* These two tell what one agent does, for `muster run --watch NAME`; both null (default) = no agent can be watched.
   * The first, called after populate, finds the agent of that name and describes it; MUSTER_E_ARGUMENT, with some valid
   * names in the message, when there is none. The second tells, after each frame, what happened to that agent since, in
   * order of time.
   */
  muster_result (*watch)(void *instance, muster_world *world, const char *name, muster_module_line line,
                         void *line_user);
  void (*watched)(void *instance, const muster_world *world, muster_module_line line, void *line_user);
  /* A caller outside the module, such as the control socket of the service, wants to spawn an agent of a type of the
   * module: fills in what such an agent needs in the definition (state, published state, user), which names its type
   * and place; or refuses with a message. What it points to stays valid until the next call. Changes neither instance
   * nor world: the spawn may not follow. Null (default) = only the module itself may spawn. */
  muster_result (*complete)(void *instance, const muster_world *world, muster_agent_def *def);
  /* These two let a host save the world and go on with it in another process (muster/snapshot.h); both null (default) =
   * such a world cannot be saved, which the host reports. The first writes what the instance must know of a populated
   * world besides what Muster keeps; it changes nothing, neither allocates nor locks, and may be called in a process
   * that was forked for it. The second is called on an instance that was opened with the same options, instead of
   * populate: it registers the same types in the same order, spawns no agents, adds no observers, and reads back what
   * was written; the host then loads the rest. It checks the bytes, which may be of another version of the module or of
   * other options: MUSTER_E_INPUT with the reason in the message; the host still closes the instance then. */
  muster_result (*save)(void *instance, const muster_world *world, muster_module_write write, void *write_user);
  muster_result (*resume)(void *instance, muster_world *world, const void *bytes, size_t count);
  /* Registers the types and does nothing else; the host calls it before populate, which then only spawns agents and
   * adds observers. A module that has it and neither save nor resume is saved by default: everything that must outlive
   * the process is in the states of its agents, and all that the instance needs comes from open and from this. It is
   * then called instead of populate when the host goes on with a saved world. A module that has save and resume has it
   * called before resume, too. Null (default) = populate registers the types. */
  muster_result (*register_types)(void *instance, muster_world *world);
  /* It may populate a world together with other instances: its types' names contain that of the instance or are found
   * by id, it counts only its own agents, and looks at the type of a neighbour before it reads what that publishes.
   * False (default) = a host gives it a world of its own. */
  bool shares_world;
  const muster_module_setting *settings; /* a table; null (default) = every setting is refused */
  const muster_module_command *commands; /* a table; null (default) = none */
  /* Carries out a command of the table, between two frames; may change the world as a host may. The answer may be left
   * out. What is not MUSTER_OK is a refusal, with its message: the answer is dropped. Null without commands. */
  muster_result (*command)(void *instance, muster_world *world, const muster_module_call *call,
                           muster_module_answer answer, void *answer_user);
  const muster_module_metric *metrics; /* a table; null (default) = none */
  /* Reads the metrics between two frames, some times a second: one value for each row, in their order. They are NaN
   * before, and what stays NaN is not shown. Changes nothing. Null without metrics. */
  void (*read_metrics)(void *instance, const muster_world *world, double *values);
  /* Tells what goes wrong in the module's own code: of a null agent each place, the one that failed most often first;
   * of another one where that agent failed last, with its own count, or nothing. Some times a second, and changes
   * nothing. Null (default) = it knows of nothing. */
  void (*problems)(void *instance, const muster_world *world, muster_agent agent, muster_module_tell tell,
                   void *tell_user);
} muster_module;

/* Sets muster_last_error() from a module and returns `result`. printf-style. Any thread. */
MUSTER_API muster_result muster_module_fail(muster_result result, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Every module exports one function with this signature; in a shared object it is named muster_module_get. */
typedef const muster_module *(*muster_module_get_function)(void);

#ifdef __cplusplus
}
#endif

#endif

/* service/service.h - a process that hosts worlds: which thread owns which data. It is all of musterd, or the process
 * of one world, of which the supervisor has several (service/supervise/supervisor.h).
 *
 *     loop's thread     libuv: signals, control, metrics, timers; owns `settings`, `stage` and the network
 *     frames' thread    owns pool, modules and worlds: opens them, runs their frames, serves the mailbox
 *     workers           inside frames only
 *
 * The two threads share the mailbox (service/frame_mailbox.h) and the last published data of each world. */
#ifndef SERVICE_SERVICE_H
#define SERVICE_SERVICE_H

#include "service/control_socket.h"
#include "service/flight.h"
#include "service/frame_mailbox.h"
#include "service/history.h"
#include "service/holds.h"
#include "service/journals.h"
#include "service/keys.h"
#include "service/module_parts.h"
#include "service/settings.h"
#include "service/snapshots.h"
#include "service/timings.h"
#include "service/watchdog.h"
#include "service/zones/zone.h"

#include <muster/module.h>

enum { WORLD_TYPES_MAX = 256, WORLD_LEVELS = 4, FAILURE_BYTES = 256, REINSTATE_BYTES = 224, PROBLEM_SECONDS = 10 };

/* A type of a world, as last published; the copy may be read after the world is gone. */
typedef struct published_type {
  char name[NAME_BYTES];
  muster_type_cost costs[WORLD_LEVELS];
} published_type;

/* The metrics of one instance. The module stays loaded while the service runs. */
typedef struct published_part {
  char instance[NAME_BYTES], module[NAME_BYTES];
  const muster_module *tables;
  double metrics[MODULE_VALUES_MAX];
} published_part;

/* The data of a world that the loop's thread may read without a request: copied by the frames' thread after a frame. */
typedef struct world_published {
  uint64_t frames;      /* run since the start */
  uint64_t frames_late; /* of these, begun more than a period behind their time */
  uint64_t sim_now_ns;
  journal_progress recovery;
  uint64_t budget_ns, period_ns;
  uint32_t steps_left;                   /* frames that it still runs although it is paused */
  bool paused, failed;                   /* failed: it could not be opened, or a frame failed; it runs no more frames */
  char failure[FAILURE_BYTES];           /* why it failed */
  uint64_t frame_begin_ns, frame_end_ns; /* of the last one: CLOCK_MONOTONIC; 0 = none yet */
  muster_frame_report report;
  world_timings timings; /* of all frames since the start */
  journal_published journal;
  zone_published zone;
  uint64_t changes;       /* times that anything here was renewed */
  uint64_t statistics_ns; /* CLOCK_MONOTONIC of what follows, which is renewed at most every 100 ms; 0 = none yet */
  muster_statistics statistics;
  uint32_t type_count;
  published_type types[WORLD_TYPES_MAX];
  module_problem problem; /* of the last PROBLEM_SECONDS of simulation time */
  uint32_t part_count;
  published_part parts[PARTS_MAX];
} world_published;

/* One [world NAME] of the settings. All but `published` belongs to the frames' thread; the name and `settings` do not
 * change while the service runs. */
typedef struct hosted_world {
  char name[NAME_BYTES];
  world_settings settings;     /* as it was opened; budget and rate in force are below */
  const muster_module *module; /* all modules of the world as one; null = they are not open */
  void *instance;
  module_parts parts; /* they themselves */
  muster_module_needs needs;
  module_problem problem;                  /* as measured last */
  char reinstate_command[REINSTATE_BYTES]; /* the command that operators type, shown in its log */
  muster_world *world;                     /* null = it could not be opened */
  uint64_t budget_ns, period_ns;
  uint64_t sim_now_ns; /* of the last frame */
  uint64_t due_ns;     /* CLOCK_MONOTONIC of the next frame */
  uint64_t frames, frames_late;
  bool paused, failed;
  char failure[FAILURE_BYTES];
  uint32_t steps_left; /* frames that a paused world still runs */
  struct holds holds;
  muster_journal *journal; /* null = it has none */
  world_journal kept;      /* what is known of it */
  struct keys keys;
  struct zone *zone; /* null = it is none */
  uint64_t statistics_ns;
  uv_mutex_t mutex;          /* guards: */
  world_published published; /* read with world_read_published */
  struct history history;    /* read with world_read_history */
} hosted_world;

typedef enum service_stage { SERVICE_STARTING = 0, SERVICE_RUNNING, SERVICE_STOPPING } service_stage;

struct service {
  uv_loop_t *loop;
  struct settings settings; /* loop's thread, once the frames run */
  int argument_count;       /* the command line, which a reload reads again; not owned */
  char **arguments;
  bool reloads, reload_again; /* a reload is under way; another was asked for. Loop's thread */
  service_stage stage;        /* loop's thread */
  int status;                 /* of the program, once it ends; loop's thread */
  control_socket control;
  struct http *http;       /* the server of control; loop's thread */
  struct streams *streams; /* loop's thread */
  struct maps *maps;       /* loop's thread */
  struct frame_mailbox mailbox;
  struct watchdog watchdog;
  struct snapshots snapshots;
  struct flight flight;    /* open before the threads are started */
  struct metrics *metrics; /* loop's thread */
  uv_signal_t signals[4];
  uv_timer_t patience; /* time limit for what is to stop */
  uv_thread_t frames;
  uv_async_t frames_news; /* from the frames' thread: all worlds are open, or it has ended */
  bool has_frames;        /* the thread exists; loop's thread */

  /* Frames' thread. */
  struct modules modules;
  muster_pool *pool;
  uint32_t world_count;
  hosted_world worlds[WORLDS_MAX];

  uv_mutex_t news_mutex; /* guards: */
  bool opened, ended;    /* opened: all worlds are open; ended: the thread has closed everything */
  bool unsaved;          /* there is no snapshot of the last frame */
  bool stop;             /* asked of the frames' thread */
};

/* Runs until a signal or a failure ends it; returns the program's exit status. `settings` are what settings_load made
 * of the command line, which is kept. */
int service_run(const struct settings *settings, int count, char **arguments);

/* Whether service_stop was called. Any thread. */
bool service_is_to_stop(struct service *service);

/* The world of that name, or null. Any thread: names do not change once the worlds are open. */
hosted_world *service_find_world(struct service *service, const char *name);

/* The number of the last frame, as published. Any thread. */
uint64_t world_read_frame(hosted_world *world);

/* Copies what was last published. Any thread. */
void world_read_published(hosted_world *world, world_published *copy);

/* Copies closed seconds of its history, as history_read does. Any thread. */
uint32_t world_read_history(hosted_world *world, uint64_t after, uint64_t now_ns, history_second *out);

#endif

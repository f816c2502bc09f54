/* service/settings.h - the settings of musterd: from a file (INI), and from flags, which override it.
 *
 * Settings are read and checked as a whole before anything changes; every mistake is reported with the file's name and
 * the line, or the flag, and with what to write instead. The table in settings_keys.c gives each key's meaning, range
 * and default, and whether it can change while the service runs. */
#ifndef SERVICE_SETTINGS_H
#define SERVICE_SETTINGS_H

#include <muster/common.h>

enum { WORLDS_MAX = 16, NAME_BYTES = 32, PATH_BYTES = 1024, SOCKET_BYTES = 108, HOSTS_BYTES = 512 };

/* Of the modules of a world: instances, bytes of their names, settings, and bytes of a setting's name and value. */
enum { PARTS_MAX = 8, MODULES_BYTES = 512, MODULE_SETTINGS_MAX = 64, MODULE_KEY_BYTES = 41, MODULE_TEXT_BYTES = 256 };

/* A setting of a module, as it was given: INSTANCE.KEY = VALUE. */
typedef struct module_setting {
  char instance[NAME_BYTES], name[MODULE_KEY_BYTES], text[MODULE_TEXT_BYTES];
  const char *file; /* where it stands, and in which line; null = a flag. Not owned */
  uint32_t line;
} module_setting;

/* Of zones: a rectangle, names of nodes, addresses of servers. */
enum { RECTANGLE_BYTES = 96, NODES_BYTES = 256, URLS_BYTES = 512 };

/* What the process of a world may do beyond what worlds need. */
enum { ALLOW_NOTHING = 0, ALLOW_NETWORK };

/* [world NAME] */
typedef struct world_settings {
  char name[NAME_BYTES];
  char module[MODULES_BYTES];             /* by bare names, out of the modules' folder: settings_modules.h */
  char path[PATH_BYTES];                  /* a file for the module; "" = none */
  uint32_t agents, observers, agents_max; /* 0 = the module's own */
  uint64_t seed;
  uint64_t budget_ns; /* live */
  uint64_t rate;      /* frames per 1000 seconds; live */
  bool virtual_clock;
  uint64_t capacity_ns;            /* of the virtual clock; 0 = the budget */
  bool audit;                      /* muster_world_def.audit */
  uint32_t processors;             /* for its frames, a thread each; 0 = as the server's workers say, or its share */
  uint32_t allow;                  /* ALLOW_... */
  uint64_t memory_max;             /* bytes of memory that its process may use; 0 = bounds_usual_memory() */
  uint64_t disk_max;               /* bytes that its module's files may take; 0 = bounds_usual_disk() */
  uint64_t state_max;              /* bytes that Muster's own files may take for it; 0 = bounds_usual_disk() */
  uint32_t zone;                   /* its number in the cluster's world; 0 = it is no zone */
  char rectangle[RECTANGLE_BYTES]; /* of a zone: X0 Y0 X1 Y1, metres */
  char nodes[NODES_BYTES];         /* that may run it, the first before the others; "" = each */
  uint32_t setting_count;
  module_setting settings[MODULE_SETTINGS_MAX]; /* of the modules */
} world_settings;

/* Where worlds run. */
enum { ISOLATION_PROCESS = 0, ISOLATION_NONE };

/* [server] and all worlds. Live = a reload brings it into force. */
struct settings {
  uint32_t workers;            /* 0 = one per processor; of each world, where each has a process */
  char modules[PATH_BYTES];    /* the folder of modules */
  char socket[SOCKET_BYTES];   /* the unix socket of control */
  char listen[64];             /* HOST:PORT of control by TCP; "" = none */
  bool listen_anywhere;        /* a host other than loopback is allowed */
  char token_file[PATH_BYTES]; /* live; "" = none: then TCP reads only */
  char hosts[HOSTS_BYTES];     /* live; further names allowed in Host and Origin, separated by blanks */
  uint32_t connections_max, client_connections_max;
  uint32_t header_bytes_max;
  uint32_t body_bytes_max;         /* live */
  uint64_t idle_timeout_ns;        /* live */
  char snapshot_file[PATH_BYTES];  /* "" = none */
  uint64_t snapshot_interval_ns;   /* live; 0 = on demand and at the end */
  bool journal;                    /* worlds have journals, where there is a snapshot_file */
  uint32_t journal_sync;           /* a muster_journal_sync */
  char journal_folder[PATH_BYTES]; /* where the journals lie; "" = beside snapshot_file */
  uint64_t recovery_max_ns;        /* how long a world may need to come back */
  char flight_file[PATH_BYTES];    /* "" = none */
  uint32_t crash_limit;            /* live; 0 = never quarantine */
  uint64_t crash_window_ns;        /* live; a world that crashed more than crash_limit times within it has failed */
  uint64_t stuck_kill_ns;          /* without a sign of life for so long a world's process is killed; 0 = never */
  uint64_t stop_grace_ns;          /* what has not ended so long after it was asked to is killed */
  uint32_t isolation;              /* ISOLATION_... */
  char cluster[NAME_BYTES];        /* the world that this daemon hosts zones of; "" = none */
  char node[NAME_BYTES];           /* what this daemon is called in it */
  char nats[URLS_BYTES], etcd[URLS_BYTES]; /* servers, separated by commas */
  char nats_user[NAME_BYTES], etcd_user[NAME_BYTES];
  char nats_password_file[PATH_BYTES], etcd_password_file[PATH_BYTES];
  char cluster_ca[PATH_BYTES], cluster_certificate[PATH_BYTES], cluster_key[PATH_BYTES]; /* of TLS; "" = none */
  uint64_t lease_ttl_ns; /* an owner that gives no sign for so long has lost its zone */
  bool journal_stream;   /* journals of zones go to a stream, too */
  bool balance;          /* zones move from laden nodes to others; else by hand and by drains alone */
  uint64_t border_mm;    /* agents this near a neighbour are seen there */
  uint64_t margin_mm;    /* agents cross this far beyond the border */
  uint64_t ghost_rate;   /* how often neighbours are told what they see, per 1000 seconds */
  uint32_t log_level;    /* live; a muster_log_level */
  uint32_t world_count;
  world_settings worlds[WORLDS_MAX];
};

/* Called for each mistake: what it is, what to do, and the line of a file where it is ("musterd.conf:12"); "" = in
 * none.
 */
typedef void (*settings_complaint)(const char *where, const char *message, void *user);

/* The defaults of all fields. */
void settings_default(struct settings *settings);
void settings_default_world(world_settings *world);

/* The period of a rate of frames per 1000 seconds. */
uint64_t settings_period_ns(uint64_t rate);

/* Checks that a world with that budget and period fits beside others that take `used` of the time (0..1): all together
 * may take nine tenths, so that requests find an answer. MUSTER_E_ARGUMENT with what to do. */
muster_result settings_check_pace(double used, uint64_t budget_ns, uint64_t period_ns);

/* The world of that name, or null. */
world_settings *settings_find_world(const struct settings *settings, const char *name);

/* Adds a world with the defaults; null with the reason in muster_last_error() when there are WORLDS_MAX. */
world_settings *settings_add_world(struct settings *settings, const char *name);

/* Complains of missing and contradicting settings. With `mistaken`, other mistakes were reported before; a missing
 * world may follow from these, and is not reported then. */
void settings_check(const struct settings *settings, bool mistaken, settings_complaint complain, void *user);

#endif

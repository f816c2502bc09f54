/* service/api.h - the control API of musterd: JSON over HTTP (service/http.h), under /v1. GET /v1 lists its requests.
 *
 *     GET    /v1                                  what there is
 *     GET    /v1/worlds                           all worlds that run, and the processes of all
 *     GET    /v1/worlds/W                         one: pace, last frame, sums
 *     PATCH  /v1/worlds/W                         budget_ns, hz, paused, workers, weights and policy: all or nothing
 *     POST   /v1/worlds/W/step                    {"frames"}: pauses and begins so many frames; GET /v1/worlds/W tells
 *                                               how many are left
 *     POST   /v1/worlds/W/acknowledge             what its journals have lost is known: health tells it no more
 *     POST   /v1/worlds/W/restart                 stops its process in order, if it runs, and starts it again at once:
 *                                               202 with the process; with isolation = none 409
 *     GET    /v1/worlds/W/weights                 the values in force of what PATCH sets
 *     GET    /v1/worlds/W/levels                  agents by capability level
 *     GET    /v1/worlds/W/types                   costs by level, overruns
 *     POST   /v1/worlds/W/types/T/reinstate       ends quarantine
 *     PUT    /v1/worlds/W/types/T/priority        {"priority"}, of types with sets
 *     GET    /v1/worlds/W/agents                  ?type &level &partition &min_importance &near=x,y,r &cursor &limit
 *     POST   /v1/worlds/W/agents                  [{"type", "position", ...}]: all of them or none
 *     GET    /v1/worlds/W/agents/A                one
 *     PATCH  /v1/worlds/W/agents/A                importance_floor, elasticity, visibility, ...
 *     DELETE /v1/worlds/W/agents/A                removes it at the next frame
 *     GET    /v1/worlds/W/agents/A/explain        why it runs when and how it does, in numbers and in words
 *     POST   /v1/worlds/W/agents/A/wake           now, or {"at_ns"}
 *     PUT    /v1/worlds/W/agents/A/position       {"position": {"x", "y", "z"}}
 *     POST   /v1/worlds/W/agents/A/reinstate      forgets its overruns
 *     GET    /v1/worlds/W/observers               ?cursor &limit
 *     POST   /v1/worlds/W/observers               {"position", "near_m", "far_m", "partition"}
 *     PUT    /v1/worlds/W/observers/O/position    {"position"}
 *     PUT    /v1/worlds/W/observers/O/hold        {"position"}: it stays there, even if the world would move it
 *     DELETE /v1/worlds/W/observers/O/hold        the world may move it again
 *     DELETE /v1/worlds/W/observers/O
 *     POST   /v1/worlds/W/positions               many agents at once, binary: service/bulk.h
 *     POST   /v1/worlds/W/observers/positions     the same for observers
 *     GET    /v1/worlds/W/module                  settings in force, commands and metrics of its modules
 *     POST   /v1/worlds/W/module/COMMAND          JSON or text: a command of the module; INSTANCE.COMMAND of several
 *     POST   /v1/worlds/W/restore                 a zone that the brokers have lost goes on from this node's files
 *     POST   /v1/worlds/W/move                    {"node"}: a zone is to run there: 202; any node may be asked
 *     GET    /v1/zones                            all zones of the cluster: who has them, and what is stored
 *     GET    /v1/nodes                            the nodes of the cluster: capacity, pressure, and what they run
 *     POST   /v1/drain                            {"drain"}: the node that is asked is emptied, or no longer
 *     GET    /v1/zones/map                        where the agents of all zones stand, coarsely: for the page
 *     GET    /v1/modules                          the loaded modules
 *     POST   /v1/modules                          {"module"}: loads one out of the modules' folder
 *     GET    /v1/snapshot                         the state of the snapshots
 *     POST   /v1/snapshot                         begins to write one now: 202
 *     GET    /v1/worlds/W/stream, /map, /cells, /herds    what the live page reads: service/live.h
 *     GET    /v1/worlds/W/history                 the last ten minutes, second by second: service/history.h
 *     GET    /v1/worlds/W/ranking                 the agents that stand out: service/ranking.h
 *
 * tools/docs/openapi.yaml describes all of them: parameters, bodies, answers and errors. GET /openapi.yaml is that
 * file, and a test (tests/service/openapi_test.py) compares it with the routes and calls each of them: change both
 * together.
 *
 * An agent or observer is named "INDEX.GENERATION", as lists and spawns give it; an id that is gone is answered 404,
 * even if another one has its index now; in a zone, an observer that has left it 409 "moved", and the message says to
 * which zone. Durations are nanoseconds in whole numbers, lengths are metres.
 *
 * Errors are {"error": {"code", "message", "field"}}: 400 the request is wrong (nothing was changed), 404 there is no
 * such world, type, agent or path, 405 the method, 409 it cannot be done in this state, 413 too large, 415 a wrong kind
 * of body, 422 its Idempotency-Key is that of another request (service/api_once.h), 429 too much is waiting: try again
 * in a second, 500 it ended the world's process, 503 the daemon stops, or the world's process has ended.
 *
 * A request that changes something, or reads an agent, is carried out between two frames; what it queues (spawns,
 * moves, removals, weights) takes effect at the next one. With a key (the header Idempotency-Key) a change is carried
 * out once, however often it is sent, and in a world with a journal it is answered when it is safe
 * (service/api_once.h). */
#ifndef SERVICE_API_H
#define SERVICE_API_H

#include "service/api_read.h"
#include "service/held.h"
#include "service/http.h"
#include "service/service.h"

#include "base/json.h"

/* Begins to serve at the service's control socket and, if the settings say so, by TCP. Loop's thread. */
muster_result api_open(struct service *service);

/* Makes a server of all routes that listens at a unix socket that is bound and, if the settings say so, by TCP.
 * `handle` handles all requests instead of the routes themselves; null = the routes do. Null with the reason on
 * failure. Loop's thread. */
struct http *api_serve(uv_loop_t *loop, const struct settings *settings, int descriptor,
                       void (*handle)(http_request *request), void *user);

/* Takes over changed settings: token, hosts, limits. On failure nothing changes. Loop's thread. */
muster_result api_change(struct http *http, const struct settings *settings);

/* Ends serving; after frame_mailbox_close. Null server: no-op. Loop's thread. */
void api_close(struct service *service);

/* ------------------------------------------------------------------------------ for the files that answer requests */

typedef struct api_call api_call;

/* What api_handle does with the requests of a route: the route's `order`. */
typedef struct api_order {
  void (*work)(api_call *call); /* frames' thread: answers, or complains in `problem` */
  bool (*read)(const void *body, size_t bytes, void *out, api_problem *problem); /* null = the request has no body */
  size_t input_bytes;            /* that the body or the query is read into */
  bool (*query)(api_call *call); /* reads the query. False with a problem; null = there is none */
  void (*release)(void *input);  /* frees what the input holds, also when nothing was read; may be null */
  bool at_once;                  /* the work is done on the loop's thread, which does not wait for the frames' */
  unsigned status;               /* of the answer; 0 = 200 */
  size_t room;                   /* bytes for the answer, or for each thing of a page; 0 = 4096 */
} api_order;

/* The part of a route that api_handle handles; the arguments are those of an api_order. */
#define API_ORDER(...)                                                                                                 \
  .handle = api_handle, .order = &(const api_order) {                                                                  \
    .work = __VA_ARGS__                                                                                                \
  }

/* What makes sure that a request is carried out once, and answered when its effect is safe: service/api_once.h. */
typedef struct api_once {
  char key[KEY_BYTES_MAX + 1]; /* "" = none */
  unsigned char digest[KEYS_DIGEST_BYTES];
  bool insists; /* it is carried out although it ended the process */
  bool changes; /* it changes something in its world, between two frames */
  bool holds;   /* the answer waits for: */
  held_until until;
  bool replayed;  /* the answer is that of an earlier time */
  uint64_t frame; /* with which its effect is safe, or that was the last one; 0 = none */
} api_once;

/* A request on its way over the mailbox: made and freed on the loop's thread, run on the frames' thread. */
struct api_call {
  mailbox_request posted; /* stands first */
  http_request *request;
  struct service *service;
  hosted_world *world; /* the world that the path names; null when the path names none */
  const api_order *order;
  const char *named;          /* "agent" or "observer", when the path names one; else null */
  uint32_t index, generation; /* of that one */
  bool ran;
  bool acted;      /* something may have changed, even if there is a problem */
  bool again;      /* the work is not complete: it is called again after other requests */
  unsigned status; /* of the answer */
  size_t room;     /* bytes for the answer */
  char *text;
  json_writer writer; /* of the answer, an object; begun by api_handle */
  size_t whole_bytes; /* length of `text` when the work wrote that itself as a whole document; else 0 */
  const char *type;   /* of such a document; null = JSON */
  api_problem problem;
  api_once once;
  void *input; /* the parsed request: */
  _Alignas(16) char memory[];
};

/* Handles the requests of a route by its order: reads world, agent or observer from the path, then the query and the
 * body, does the work, and answers. */
void api_handle(http_request *request);

/* The world of a path with {world}; null after a refusal. */
hosted_world *api_world(http_request *request);

/* Refuses a name that no world of the settings has, with those that there are. Loop's thread. */
void api_refuse_world(http_request *request, const struct settings *settings, const char *name);

/* Refuses a request with its problem. */
void api_refuse(http_request *request, const api_problem *problem);

/* Turns a failure of the library into the call's problem. True when there was no failure. Frames' thread. */
bool api_succeeded(api_call *call, muster_result result, const char *field);

/* The answer to a change of the agent or observer that the path names. Frames' thread. */
void api_confirm(api_call *call, muster_result result, const char *field);

typedef struct api_id {
  char text[24];
} api_id;

/* "INDEX.GENERATION". Any thread. */
api_id api_id_of(uint32_t index, uint32_t generation);

/* The type of that name; null with a problem. Frames' thread. */
muster_type api_find_type(api_call *call, const char *name);

/* Reads a whole number of the query. False with a problem; a missing one leaves `value`. */
bool api_query_count(http_request *request, const char *name, uint64_t least, uint64_t most, uint64_t *value,
                     api_problem *problem);

/* Routes that a supervisor answers itself (service/supervise/). */
#define API_RESTART "/v1/worlds/{world}/restart"
#define API_RESTORE "/v1/worlds/{world}/restore"
#define API_MOVE    "/v1/worlds/{world}/move"
#define API_ZONES   "/v1/zones"
#define API_NODES   "/v1/nodes"
#define API_DRAIN   "/v1/drain"
#define API_MAP     "/v1/zones/map"

/* The tables of routes. */
extern const http_route api_world_routes[], api_type_routes[], api_agent_routes[], api_observer_routes[],
    api_bulk_routes[], api_module_routes[], api_command_routes[], snapshot_routes[], herd_routes[], history_routes[],
    ranking_routes[];

#endif

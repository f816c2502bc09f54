/* holder_name.c - the name of this node, which one daemon has at a time: without it, it asks for no zone, tells nothing
 * and balances nothing.
 *
 *     locks    its state folder, and counts there how often a daemon has begun in it (incarnation.h)
 *     asks     etcd for the name: another has it, whose host and address all are told who ask
 *     has      it, and renews it, as long as nobody else has taken it
 *
 * A daemon that begins again in the folder of one that has died takes its name, and its zones' leases, at once. Another
 * waits until the name was not renewed for a lease's time. */
#include "service/log.h"
#include "service/zones/balancer.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <unistd.h>

enum {
  NAME_FIRST_MS = 50,
  NAME_AGAIN_MS = 500,
  NAME_PARTS = 3,
  RELEASE_MS = 1000,
  NODE_PATH_BYTES = PATH_BYTES + 8,
  NODE_TEXT_BYTES = 64
};

/* ---------------------------------------------------------------------------------------------------------- folder */

static void refuse_to_run(struct holder *holder, const char *why) {
  holder_name *name = &holder->name;
  if (strcmp(name->words, why) != 0) log_line(MUSTER_LOG_ERROR, "cluster %s: %s", holder->settings.cluster, why);
  snprintf(name->words, sizeof name->words, "%s", why);
}

/* Counts one run more; a file that says nothing is that of a new folder. False with errno. */
static bool count_run(int file, incarnation *own) {
  char text[NODE_TEXT_BYTES] = "";
  ssize_t count = pread(file, text, sizeof text - 1, 0);
  text[count > 0 ? count : 0] = '\0';
  text[strcspn(text, " \n")] = '\0';
  if (count < 0) return false;
  if (!incarnation_read(text, own)) *own = (incarnation){0};
  while (!own->folder)
    if (getrandom(&own->folder, sizeof own->folder, 0) < 0 && errno != EINTR) return false;
  own->run++;
  memset(text, ' ', sizeof text); /* over all that stood there, in one block of the disk */
  incarnation_write(*own, text);
  text[strlen(text)] = ' ';
  text[sizeof text - 1] = '\n';
  return pwrite(file, text, sizeof text, 0) == (ssize_t)sizeof text && fsync(file) == 0;
}

/* The lock ends with the process, however that ends. */
static bool lock_folder(struct holder *holder) {
  char path[NODE_PATH_BYTES], why[NAME_WORDS_BYTES];
  holder_name *name = &holder->name;
  if (name->lock >= 0) return true;
  snprintf(path, sizeof path, "%s.node", holder->settings.snapshot_file);
  int file = files_open_regular(AT_FDCWD, path, O_RDWR | O_CREAT | O_NOFOLLOW, 0600);
  bool locked = file >= 0 && flock(file, LOCK_EX | LOCK_NB) == 0;
  if (locked && count_run(file, &name->own.incarnation)) {
    name->lock = file;
    broker_set_incarnation(holder->broker, name->own.incarnation);
    return true;
  }
  if (file >= 0 && !locked && errno == EWOULDBLOCK)
    snprintf(why, sizeof why, "another daemon has the state of this one: it has locked %.160s", path);
  else
    snprintf(why, sizeof why, "%.160s: %s", path, file < 0 ? muster_last_error() : strerror(errno));
  if (file >= 0) close(file);
  refuse_to_run(holder, why);
  return false;
}

/* ------------------------------------------------------------------------------------------------------------- name */

static void name_turn(uv_timer_t *timer);

static void note_other_name(struct holder *holder, const broker_name *other) {
  char why[NAME_WORDS_BYTES];
  holder_name *name = &holder->name;
  if (name->seen_revision != other->revision) name->seen_ns = clock_boot();
  name->seen_revision = other->revision;
  bool copied = other->incarnation.folder == name->own.incarnation.folder;
  snprintf(why, sizeof why,
           "another daemon is node %s, on host %s at %s%s: this one runs no zone until that one's lease has ended",
           holder->settings.node, other->host, other->address, copied ? ", begun in a copy of this state folder" : "");
  refuse_to_run(holder, why);
}

static void have_name(struct holder *holder) {
  holder_name *name = &holder->name;
  bool had = name->has;
  name->has = true;
  name->words[0] = '\0';
  name->seen_revision = 0;
  if (had) return;
  log_line(MUSTER_LOG_INFO, "cluster %s: this is node %s, run %u of its state folder", holder->settings.cluster,
           holder->settings.node, name->own.incarnation.run);
}

/* One that has the name keeps it while etcd does not answer: nobody else can take it then. */
static void take_name_answer(muster_result result, const broker_name *other, void *user) {
  struct holder *holder = user;
  holder_name *name = &holder->name;
  name->asks = false;
  if (holder->closing) return;
  if (result == MUSTER_OK) {
    have_name(holder);
    return;
  }
  uv_timer_start(&name->timer, name_turn, NAME_AGAIN_MS, 0);
  if (result == MUSTER_E_STATE) {
    name->has = false;
    note_other_name(holder, other);
  } else if (!name->has) { /* why, the log has */
    snprintf(name->words, sizeof name->words, "whether another daemon is node %s is not known: %.160s",
             holder->settings.node, muster_last_error());
  }
}

static void fill_place(struct holder *holder) {
  broker_name *own = &holder->name.own;
  if (gethostname(own->host, sizeof own->host - 1)) own->host[0] = '\0';
  own->host[strcspn(own->host, " \t\n")] = '\0';
  if (!*own->address) snprintf(own->address, sizeof own->address, "%s", broker_address(holder->broker));
}

static void name_turn(uv_timer_t *timer) {
  struct holder *holder = timer->data;
  holder_name *name = &holder->name;
  uint64_t ttl_ns = holder->settings.lease_ttl_ns;
  bool waits = !*broker_address(holder->broker);
  if (holder->closing) return;
  uv_timer_start(timer, name_turn,
                 name->has ? ttl_ns / NAME_PARTS / 1000000
                 : waits   ? NAME_FIRST_MS
                           : NAME_AGAIN_MS,
                 0);
  if (name->asks || waits || !lock_folder(holder)) return;
  fill_place(holder);
  bool silent = name->seen_revision && clock_boot() - name->seen_ns >= ttl_ns;
  name->asks = broker_name_have(holder->broker, &name->own, silent ? name->seen_revision : 0, take_name_answer,
                                holder) == MUSTER_OK;
}

/* ------------------------------------------------------------------------------------------------------------- life */

bool names_open(struct holder *holder) {
  holder_name *name = &holder->name;
  *name = (holder_name){.lock = -1};
  if (uv_timer_init(holder->loop, &name->timer)) return false;
  name->timer.data = holder;
  snprintf(name->words, sizeof name->words, "whether another daemon is node %s is not known yet",
           holder->settings.node);
  uv_timer_start(&name->timer, name_turn, 0, 0);
  return true;
}

static void end_release(uv_timer_t *timer) {
  struct holder *holder = timer->data;
  if (holder->name.released) holder->name.released(holder);
  holder->name.released = NULL;
}

static void take_name_released(muster_result result, void *user) {
  struct holder *holder = user;
  (void)result;
  uv_timer_stop(&holder->name.timer);
  end_release(&holder->name.timer);
}

/* Behind the balancer's lease: whoever has the name next may have to lead at once. */
static void release_name(muster_result result, void *user) {
  struct holder *holder = user;
  holder_name *name = &holder->name;
  (void)result;
  if (!name->released) return;
  bool asked = name->has && holder->etcd &&
               broker_name_release(holder->broker, &name->own, take_name_released, holder) == MUSTER_OK;
  name->has = false;
  if (!asked) take_name_released(MUSTER_OK, holder);
}

void names_release(struct holder *holder, void (*released)(struct holder *holder)) {
  holder->name.released = released;
  uv_timer_start(&holder->name.timer, end_release, RELEASE_MS, 0);
  if (!holder->etcd || !balancer_release(holder->balancer, release_name, holder)) release_name(MUSTER_OK, holder);
}

void names_free(struct holder *holder) {
  if (holder->name.lock >= 0) close(holder->name.lock);
}

#include "daemon.h"

#include "room.h"

#include <ftw.h>
#include <poll.h>
#include <strings.h>
#include <sys/prctl.h>

enum { ARGUMENTS_MAX = 64, FLAGS_BYTES = 8192, PATIENCE_MS = 60000, GLANCE_MS = 20 };

static const char *path_in(const musterd *service, const char *name) {
  return formed("%s/%s", service->folder, name);
}

/* ----------------------------------------------------------------------------------------------------------- folder */

static void bind_notices(musterd *service) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "%s/notices", service->folder);
  service->notices = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  cr_assert(service->notices >= 0);
  cr_assert(bind(service->notices, (struct sockaddr *)&address, sizeof address) == 0, "bind: %s", strerror(errno));
}

void daemon_prepare(musterd *service) {
  *service = (struct musterd){.folder = "/tmp/musterd-test-XXXXXX"};
  cr_assert(mkdtemp(service->folder) != NULL);
  snprintf(service->socket, sizeof service->socket, "%.80s/control", service->folder);
  bind_notices(service);
}

void daemon_expect_deaths(void) {
  const char *given = getenv("ASAN_OPTIONS");
  setenv("ASAN_OPTIONS", formed("%s:handle_segv=0:handle_sigbus=0:handle_abort=0", given ? given : ""), 1);
  setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
}

void daemon_write(const musterd *service, const char *name, const char *text) {
  const char *path = path_in(service, name);
  FILE *file = fopen(path, "we");
  cr_assert(file != NULL, "%s: %s", path, strerror(errno));
  cr_assert(fputs(text, file) >= 0);
  cr_assert(fclose(file) == 0);
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *walk) {
  (void)status, (void)kind, (void)walk;
  return remove(path);
}

void daemon_clear(musterd *service) {
  cr_assert(service->process == 0);
  close(service->notices);
  nftw(service->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
  service->folder[0] = '\0';
}

/* ------------------------------------------------------------------------------------------------------------ start */

void daemon_expand(const musterd *service, const char *text, char *out, size_t bytes) {
  size_t length = 0;
  for (; *text; text++) {
    cr_assert(length + DAEMON_PATH_BYTES < bytes);
    if (*text == '@')
      length += (size_t)sprintf(out + length, "%s", service->folder);
    else
      out[length++] = *text;
  }
  out[length] = '\0';
}

static void split(char *words, char *arguments[ARGUMENTS_MAX]) {
  size_t count = 0;
  for (char *word = strtok(words, " "); word; word = strtok(NULL, " ")) {
    cr_assert(count < ARGUMENTS_MAX - 1);
    arguments[count++] = word;
  }
  arguments[count] = NULL;
}

static const char *from_environment(const char *name) {
  const char *value = getenv(name);
  cr_assert(value != NULL, "%s is not set: run this by ctest", name);
  return value;
}

/* In the new process: it is killed when the test ends, in whatever way. */
static void become(const char *program, char **arguments, const char *log) {
  int descriptor = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (descriptor < 0 || dup2(descriptor, STDERR_FILENO) < 0) _exit(125);
  close(descriptor);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  execv(program, arguments);
  _exit(127);
}

bool daemon_has_processes(void) {
  const char *isolation = getenv("MUSTER_TEST_ISOLATION");
  return isolation && strcmp(isolation, "process") == 0;
}

void daemon_launch(musterd *service, const char *flags) {
  char own[FLAGS_BYTES], words[FLAGS_BYTES + 256], *arguments[ARGUMENTS_MAX];
  const char *program = service->program ? service->program : from_environment("MUSTERD"),
             *modules = from_environment("MUSTER_MODULES");
  daemon_expand(service, flags, own, sizeof own);
  /* One process, unless the test or the environment asks for several: what ends it is seen by its status then. */
  const char *isolation = daemon_has_processes() ? "--isolation process" : "--isolation none";
  if (strstr(own, "--isolation")) isolation = "";
  snprintf(words, sizeof words, "musterd %s --socket %s --modules %s %s", isolation, service->socket, modules, own);
  split(words, arguments);
  setenv("NOTIFY_SOCKET", path_in(service, "notices"), 1);
  service->process = fork();
  cr_assert(service->process >= 0);
  if (service->process == 0) become(program, arguments, path_in(service, "log"));
}

static void glance(void) {
  usleep(GLANCE_MS * 1000);
}

static bool has_ended(musterd *service) {
  int ended;
  if (service->process == 0) return true;
  pid_t process = waitpid(service->process, &ended, WNOHANG);
  cr_assert(process >= 0);
  if (process == 0) return false;
  service->status = WIFEXITED(ended) ? WEXITSTATUS(ended) : -WTERMSIG(ended);
  service->process = 0;
  return true;
}

/* True when the next notice arrives in time and has the text; false when it has not, or there is none yet. */
static bool take_notice(const musterd *service, const char *wanted) {
  char notice[1024];
  struct pollfd wait = {.fd = service->notices, .events = POLLIN};
  if (poll(&wait, 1, GLANCE_MS) <= 0) return false;
  ssize_t length = recv(service->notices, notice, sizeof notice - 1, 0);
  if (length < 0) return false;
  notice[length] = '\0';
  return strstr(notice, wanted) != NULL;
}

bool daemon_await(musterd *service, const char *notice) {
  for (int waited = 0; waited < PATIENCE_MS; waited += GLANCE_MS) {
    bool ended = has_ended(service); /* what it said before is still there to be read */
    while (take_notice(service, notice)) return true;
    if (ended) return false;
  }
  cr_assert(false, "it neither says %s nor ends", notice);
  return false;
}

void daemon_start(musterd *service, const char *flags) {
  daemon_prepare(service);
  daemon_launch(service, flags);
  bool ready = daemon_await(service, "READY=1");
  if (ready) return;
  char *log = daemon_log(service);
  daemon_clear(service);
  cr_assert(ready, "it ended with %d instead of becoming ready: %s", service->status, log);
}

/* -------------------------------------------------------------------------------------------------------------- log */

char *daemon_read(const musterd *service, const char *name) {
  char *text = calloc(1, DAEMON_LOG_BYTES);
  FILE *file = fopen(path_in(service, name), "re");
  cr_assert(file != NULL && text != NULL, "%s", name);
  size_t length = fread(text, 1, DAEMON_LOG_BYTES - 1, file);
  text[length] = '\0';
  fclose(file);
  return text;
}

char *daemon_log(const musterd *service) {
  return daemon_read(service, "log");
}

void daemon_await_log(musterd *service, const char *wanted) {
  for (int waited = 0; waited < PATIENCE_MS; waited += GLANCE_MS) {
    bool ended = has_ended(service);
    SCOPED(free_memory) char *log = daemon_log(service);
    if (strstr(log, wanted)) return;
    cr_assert(!ended, "it ended without logging \"%s\": %s", wanted, log);
    glance();
  }
  cr_assert(false, "it does not log \"%s\"", wanted);
}

/* -------------------------------------------------------------------------------------------------------------- end */

int daemon_wait(musterd *service) {
  for (int waited = 0; waited < PATIENCE_MS && !has_ended(service); waited += GLANCE_MS) glance();
  cr_assert(service->process == 0, "it does not end");
  return service->status;
}

void daemon_signal(const musterd *service, int number) {
  cr_assert(service->process > 0);
  cr_assert(kill(service->process, number) == 0);
}

double daemon_metric(const musterd *service, const char *sample) {
  static daemon_reply reply;
  daemon_ask(service, "GET", "/metrics", NULL, &reply);
  cr_assert_eq(reply.status, 200, "%s", reply.body);
  return sample_in(reply.body, sample);
}

void daemon_stop(musterd *service) {
  if (service->process > 0) daemon_signal(service, SIGTERM);
  daemon_wait(service);
  SCOPED(free_memory) char *log = daemon_log(service);
  daemon_clear(service);
  cr_assert(service->status == 0, "it ended with %d: %s", service->status, log);
}

void daemon_kill(musterd *service) {
  if (service->process > 0) daemon_signal(service, SIGKILL);
  daemon_wait(service);
}

/* -------------------------------------------------------------------------------------------------------------- ask */

/* -1 with errno: nobody listens. */
static int try_to_connect(const musterd *service) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "%s", service->socket);
  int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  cr_assert(descriptor >= 0);
  if (connect(descriptor, (struct sockaddr *)&address, sizeof address) == 0) return descriptor;
  int why = errno;
  close(descriptor);
  errno = why;
  return -1;
}

int daemon_connect(const musterd *service) {
  int descriptor = try_to_connect(service);
  cr_assert(descriptor >= 0, "connect: %s", strerror(errno));
  return descriptor;
}

void daemon_drop_notices(const musterd *service) {
  char notice[1024];
  while (recv(service->notices, notice, sizeof notice, MSG_DONTWAIT) >= 0) continue;
}

bool daemon_listens(const musterd *service) {
  int descriptor = try_to_connect(service);
  if (descriptor >= 0) close(descriptor);
  return descriptor >= 0;
}

static void send_all(int descriptor, const char *bytes, size_t length) {
  while (length > 0) {
    ssize_t sent = send(descriptor, bytes, length, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return; /* refused before it was read: the answer says why */
    bytes += sent;
    length -= (size_t)sent;
  }
}

static void receive_reply(int descriptor, daemon_reply *reply) {
  size_t length = 0;
  for (ssize_t more; length < sizeof reply->text - 1; length += (size_t)more) {
    more = recv(descriptor, reply->text + length, sizeof reply->text - 1 - length, 0);
    if (more < 0 && errno == EINTR)
      more = 0;
    else if (more <= 0)
      break;
  }
  reply->text[length] = '\0';
  char *end = strstr(reply->text, "\r\n\r\n");
  reply->body = end ? end + 4 : reply->text + length;
  reply->length = (size_t)(reply->text + length - reply->body);
  if (sscanf(reply->text, "HTTP/1.%*d %d", &reply->status) != 1) reply->status = 0;
}

int daemon_begin(const musterd *service, const char *method, const char *path, const char *type, const void *body,
                 size_t length) {
  char head[2048];
  int descriptor = daemon_connect(service);
  int head_length = snprintf(
      head, sizeof head, "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n%s%s%sContent-Length: %zu\r\n\r\n",
      method, path, type ? "Content-Type: " : "", type ? type : "", type ? "\r\n" : "", length);
  cr_assert(head_length > 0 && (size_t)head_length < sizeof head);
  send_all(descriptor, head, (size_t)head_length);
  send_all(descriptor, body, length);
  return descriptor;
}

void daemon_end(int descriptor, daemon_reply *reply) {
  receive_reply(descriptor, reply);
  close(descriptor);
}

void daemon_ask_bytes(const musterd *service, const char *method, const char *path, const char *type, const void *body,
                      size_t length, daemon_reply *reply) {
  daemon_end(daemon_begin(service, method, path, type, body, length), reply);
}

int daemon_begin_once(const musterd *service, const char *method, const char *path, const char *key, const char *body) {
  char headers[512];
  bool json = !body || strchr("{[", *body);
  snprintf(headers, sizeof headers, "%s%s%s", json ? "application/json" : "text/plain",
           key ? "\r\nIdempotency-Key: " : "", key ? key : "");
  return daemon_begin(service, method, path, headers, body ? body : "", body ? strlen(body) : 0);
}

void daemon_ask_once(const musterd *service, const char *method, const char *path, const char *key, const char *body,
                     daemon_reply *reply) {
  daemon_end(daemon_begin_once(service, method, path, key, body), reply);
}

bool daemon_header(const daemon_reply *reply, const char *name, char *value, size_t bytes) {
  size_t length = strlen(name);
  for (const char *line = strstr(reply->text, "\r\n"); line && line + 2 < reply->body;
       line = strstr(line + 2, "\r\n")) {
    const char *at = line + 2;
    if (strncasecmp(at, name, length) != 0 || strncmp(at + length, ": ", 2) != 0) continue;
    snprintf(value, bytes, "%.*s", (int)strcspn(at + length + 2, "\r"), at + length + 2);
    return true;
  }
  return false;
}

void daemon_ask(const musterd *service, const char *method, const char *path, const char *body, daemon_reply *reply) {
  daemon_ask_bytes(service, method, path, body ? "application/json" : NULL, body ? body : "", body ? strlen(body) : 0,
                   reply);
}

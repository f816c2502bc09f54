#include "brokers_parts.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { TEXT_BYTES = 4096, ATTEMPTS = 5 };

bool brokers_are_installed(void) {
  return system("command -v nats-server >/dev/null && command -v etcd >/dev/null") == 0;
}

/* A port that is free now. Another process may take it first: then the broker ends, and other ports are tried. */
static uint16_t find_port(void) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  cr_assert(descriptor >= 0);
  cr_assert_eq(bind(descriptor, (struct sockaddr *)&address, sizeof address), 0);
  cr_assert_eq(getsockname(descriptor, (struct sockaddr *)&address, &length), 0);
  close(descriptor);
  return ntohs(address.sin_port);
}

void append_text(char *text, size_t bytes, const char *form, ...) {
  size_t length = strlen(text);
  va_list values;
  va_start(values, form);
  int added = vsnprintf(text + length, bytes - length, form, values);
  va_end(values);
  cr_assert(added >= 0 && length + (size_t)added < bytes);
}

/* ------------------------------------------------------------------------------------------------------ nats-server */

static void write_conf(const broker_process *broker, const char *text) {
  FILE *file = fopen(formed("%s/conf", broker->folder), "we");
  cr_assert(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void write_nats(const brokers *all, uint32_t which) {
  const broker_process *broker = &all->of[BROKERS_NATS][which];
  char text[TEXT_BYTES] = "";
  append_text(text, sizeof text,
              "server_name: n%u\nlisten: \"127.0.0.1:%u\"\nhttp: \"127.0.0.1:%u\"\n"
              "jetstream { store_dir: \"%s\", max_mem: 64MB, max_file: 1000TB%s }\n"
              "accounts {\n  MUSTER { jetstream: enabled, users: [ { user: \"%s\", password: \"%s\" } ] }\n"
              "  SYSTEM { users: [ { user: \"system\", password: \"%s-too\" } ] }\n}\nsystem_account: SYSTEM\n",
              which, broker->port, broker->web, broker->folder, all->options.leaves ? ", domain: hub" : "",
              BROKERS_USER, BROKERS_PASSWORD, BROKERS_PASSWORD);
  if (all->options.cluster) {
    append_text(text, sizeof text,
                "cluster {\n  name: tests\n  listen: \"127.0.0.1:%u\"\n  advertise: \"127.0.0.1:%u\"\n"
                "  no_advertise: true\n  routes: [",
                broker->peers, broker->advertised);
    for (uint32_t i = 0; i < all->counts[BROKERS_NATS]; i++)
      append_text(text, sizeof text, "%s\"nats://127.0.0.1:%u\"", i ? ", " : " ", all->of[BROKERS_NATS][i].advertised);
    append_text(text, sizeof text, " ]\n}\n");
  }
  if (all->options.leaves) append_text(text, sizeof text, "leafnodes { listen: \"127.0.0.1:%u\" }\n", broker->peers);
  write_conf(broker, text);
}

/* What is asked of JetStream goes on to the server, which has it: see zones.md. */
static void write_leaf(const brokers *all, uint32_t which) {
  const broker_process *broker = &all->of[BROKERS_LEAVES][which];
  char text[TEXT_BYTES] = "";
  append_text(text, sizeof text,
              "server_name: l%u\nlisten: \"127.0.0.1:%u\"\nhttp: \"127.0.0.1:%u\"\n"
              "accounts {\n  MUSTER { users: [ { user: \"%s\", password: \"%s\" } ],\n"
              "    mappings: { \"$JS.API.>\": \"$JS.hub.API.>\" } }\n"
              "  SYSTEM { users: [ { user: \"system\", password: \"%s-too\" } ] }\n}\nsystem_account: SYSTEM\n"
              "leafnodes { remotes: [ { url: \"nats-leaf://%s:%s@127.0.0.1:%u\", account: MUSTER } ] }\n",
              which, broker->port, broker->web, BROKERS_USER, BROKERS_PASSWORD, BROKERS_PASSWORD, BROKERS_USER,
              BROKERS_PASSWORD, all->of[BROKERS_NATS][which].peers);
  write_conf(broker, text);
}

/* ------------------------------------------------------------------------------------------------------------- etcd */

static void run_etcd(const brokers *all, uint32_t which) {
  const broker_process *broker = &all->of[BROKERS_ETCD][which];
  const char *name = formed("e%u", which), *data = formed("%s/data", broker->folder);
  const char *peers = formed("http://127.0.0.1:%u", broker->peers);
  const char *advertised = formed("http://127.0.0.1:%u", broker->advertised);
  char members[BROKERS_URLS_BYTES] = "";
  for (uint32_t i = 0; i < all->counts[BROKERS_ETCD]; i++)
    append_text(members, sizeof members, "%se%u=http://127.0.0.1:%u", i ? "," : "", i,
                all->of[BROKERS_ETCD][i].advertised);
  const char *const keeps[] = {all->options.short_history ? "1m" : "0", all->options.short_history ? "2" : "5",
                               all->options.short_history ? "1000" : "100000"};
  execlp("etcd", "etcd", "--auto-compaction-mode", "periodic", "--auto-compaction-retention", keeps[0], "--max-wals",
         keeps[1], "--snapshot-count", keeps[2], "--name", name, "--data-dir", data, "--listen-client-urls",
         broker->url, "--advertise-client-urls", broker->url, "--listen-peer-urls", peers,
         "--initial-advertise-peer-urls", advertised, "--initial-cluster", members, "--initial-cluster-token",
         all->folder, "--bcrypt-cost", "4", "--logger", "zap", (char *)NULL);
}

/* ------------------------------------------------------------------------------------------------ start and the end */

/* In the new process, which is killed when the test ends, in whatever way. */
static void become_broker(const brokers *all, brokers_kind kind, uint32_t which) {
  const broker_process *broker = &all->of[kind][which];
  int descriptor = open(formed("%s/log", broker->folder), O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (descriptor < 0 || dup2(descriptor, STDERR_FILENO) < 0 || dup2(descriptor, STDOUT_FILENO) < 0) _exit(125);
  close(descriptor);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (kind == BROKERS_ETCD)
    run_etcd(all, which);
  else
    execlp("nats-server", "nats-server", "-c", formed("%s/conf", broker->folder), (char *)NULL);
  _exit(127);
}

void brokers_revive(brokers *all, brokers_kind kind, uint32_t which) {
  broker_process *broker = &all->of[kind][which];
  cr_assert(broker->process == 0, "it runs");
  broker->process = fork();
  cr_assert(broker->process >= 0);
  if (broker->process == 0) become_broker(all, kind, which);
  if (all->options.between) proxy_know(&all->ways, party_of_broker(kind, which), broker->process);
}

void brokers_kill(brokers *all, brokers_kind kind, uint32_t which) {
  broker_process *broker = &all->of[kind][which];
  cr_assert(broker->process > 0, "it does not run");
  kill(broker->process, SIGKILL);
  cr_assert_eq(waitpid(broker->process, NULL, 0), broker->process);
  broker->process = 0;
  broker->is_paused = false;
}

bool brokers_runs(const brokers *all, brokers_kind kind, uint32_t which) {
  return all->of[kind][which].process > 0;
}

void brokers_pause(brokers *all, brokers_kind kind, uint32_t which) {
  siginfo_t stopped;
  cr_assert_eq(kill(all->of[kind][which].process, SIGSTOP), 0);
  cr_assert_eq(waitid(P_PID, (id_t)all->of[kind][which].process, &stopped, WSTOPPED), 0);
  all->of[kind][which].is_paused = true;
}

void brokers_resume(brokers *all, brokers_kind kind, uint32_t which) {
  cr_assert_eq(kill(all->of[kind][which].process, SIGCONT), 0);
  all->of[kind][which].is_paused = false;
}

static void prepare_broker(brokers *all, brokers_kind kind, uint32_t which) {
  static const char *const words[BROKERS_KINDS] = {"nats", "etcd", "leaf"};
  broker_process *broker = &all->of[kind][which];
  *broker = (broker_process){.port = find_port(), .peers = find_port()};
  broker->web = kind == BROKERS_ETCD ? broker->port : find_port();
  broker->advertised = all->options.between
                           ? proxy_listen(&all->ways, broker->peers, party_of_broker(kind, which), PROXY_ASK)
                           : broker->peers;
  snprintf(broker->folder, sizeof broker->folder, "%.64s/%s%u", all->folder, words[kind], which);
  snprintf(broker->url, sizeof broker->url, "%s://127.0.0.1:%u", kind == BROKERS_ETCD ? "http" : "nats", broker->port);
  append_text(all->urls[kind], BROKERS_URLS_BYTES, "%s%s", which ? "," : "", broker->url);
  cr_assert_eq(mkdir(broker->folder, 0700), 0);
}

static void clear_brokers(brokers *all) {
  for (brokers_kind kind = 0; kind < BROKERS_KINDS; kind++)
    for (uint32_t i = 0; i < all->counts[kind]; i++)
      if (all->of[kind][i].process > 0) brokers_kill(all, kind, i);
  proxy_end(&all->ways);
}

static int remove_one_of_brokers(const char *path, const struct stat *status, int kind, struct FTW *walk) {
  (void)status, (void)kind, (void)walk;
  return remove(path);
}

/* Starts them all; false when one has ended before it was ready, by whatever stood in its way. */
static bool try_brokers(brokers *all) {
  proxy_start(&all->ways);
  for (brokers_kind kind = 0; kind < BROKERS_KINDS; kind++) {
    *all->urls[kind] = '\0';
    for (uint32_t i = 0; i < all->counts[kind]; i++) prepare_broker(all, kind, i);
  }
  for (uint32_t i = 0; i < all->counts[BROKERS_NATS]; i++) write_nats(all, i);
  for (uint32_t i = 0; i < all->counts[BROKERS_LEAVES]; i++) write_leaf(all, i);
  for (brokers_kind kind = 0; kind < BROKERS_KINDS; kind++)
    for (uint32_t i = 0; i < all->counts[kind]; i++) brokers_revive(all, kind, i);
  return brokers_become_ready(all);
}

brokers *brokers_start(const brokers_options *options) {
  if (!brokers_are_installed()) SKIP_TEST("nats-server and etcd are not installed");
  brokers *all = calloc(1, sizeof *all);
  cr_assert_not_null(all);
  all->options = *options;
  all->counts[BROKERS_NATS] = options->nats;
  all->counts[BROKERS_ETCD] = options->etcd;
  all->counts[BROKERS_LEAVES] = options->leaves ? options->nats : 0;
  cr_assert(options->nats <= BROKERS_MAX && options->etcd <= BROKERS_MAX);
  for (uint32_t attempt = 0; attempt < ATTEMPTS; attempt++) {
    strcpy(all->folder, "/tmp/muster-brokers-XXXXXX");
    cr_assert_not_null(mkdtemp(all->folder));
    if (try_brokers(all)) {
      if (options->etcd && options->etcd_users) brokers_name_users(all);
      return all;
    }
    clear_brokers(all);
    nftw(all->folder, remove_one_of_brokers, 16, FTW_DEPTH | FTW_PHYS);
  }
  cr_assert(false, "brokers end before they are ready");
  return NULL;
}

void brokers_end(brokers *all) {
  clear_brokers(all);
  nftw(all->folder, remove_one_of_brokers, 16, FTW_DEPTH | FTW_PHYS);
  free(all);
}

/* The configuration of brokers that is shipped (src/service/etc): three nats-servers and three etcd members are started
 * with it, each on an address of loopback that stands for its machine. Only addresses, names and folders are edited, as
 * the files ask for. They let in whoever shows a certificate and gives a name, and nobody else. */
#include "broker_lab.h"

#include <curl/curl.h>
#include <fcntl.h>
#include <nats/nats.h>
#include <sys/prctl.h>
#include <sys/wait.h>

TestSuite(shipped, .timeout = 240);

enum { MACHINES = 3, FOLDER_BYTES = 96, LINE_BYTES = 1024, PAUSE_MS = 100, PATIENCE = 600 };

#define ETC MUSTER_SOURCE_DIR "/src/service/etc"

static char folder[FOLDER_BYTES], net[32]; /* the first three numbers of the machines' addresses */
static pid_t processes[MACHINES];

/* Runs a line of the shell, in which @ stands for the folder and ~ for the network; it must succeed. */
static void must_do(const char *line) {
  char command[LINE_BYTES * 2] = "";
  for (; *line; line++)
    append_text(command, sizeof command, "%s", *line == '@' ? folder : *line == '~' ? net : (char[]){*line, 0});
  cr_assert_eq(system(command), 0, "%s", command);
}

/* One folder for each machine, with its certificates and passwords; file `name` of what is shipped as "conf", edited.
 */
static void prepare_machines(const char *name) {
  if (!brokers_are_installed()) SKIP_TEST("nats-server and etcd are not installed");
  if (system("command -v openssl >/dev/null")) SKIP_TEST("openssl is not installed");
  strcpy(folder, "/tmp/muster-shipped-XXXXXX");
  cr_assert_not_null(mkdtemp(folder));
  snprintf(net, sizeof net, "127.%d.%d", 1 + getpid() % 250, 1 + getpid() / 250 % 250);
  must_do("DAYS=1 '" ETC "/make-certificates' @/ca ~.1,127.0.0.1 ~.2,127.0.0.1 ~.3,127.0.0.1 -- north 2>@/log");
  for (int i = 1; i <= MACHINES; i++) {
    must_do(formed("mkdir -p @/%d/muster/brokers @/%d/data && cd @/%d/muster/brokers && cp @/ca/ca.pem . && "
                   "cp @/ca/broker-~.%d.pem broker.pem && cp @/ca/broker-~.%d.key broker.key && "
                   "sed -n 's/^#     //;/^[A-Z]*_PASSWORD:/p' '" ETC "/nats-server.conf' >passwords.conf",
                   i, i, i, i, i));
    /* 10.0.0.1 where it is this machine's, and then all three */
    must_do(formed(
        "sed -e '/^ETCD_INITIAL_CLUSTER=/!{/^ETCD/s/10[.]0[.]0[.]1/~.%d/;s/^ETCD_NAME=broker1/ETCD_NAME=broker%d/}' "
        "-e 's/^ADDRESS: \"10[.]0[.]0[.]1\"/ADDRESS: \"~.%d\"/;s/^server_name: \"broker1\"/server_name: \"broker%d\"/' "
        "-e 's/10[.]0[.]0/~/g;s/127[.]0[.]0[.]1:8222/~.%d:8222/;s|/etc/muster|@/%d/muster|g' "
        "-e 's|/var/lib/[a-z/]*|@/%d/data|' '" ETC "/%s' >@/%d/conf",
        i, i, i, i, i, i, i, name, i));
  }
}

/* A certificate or a key. */
static const char *of_ca(const char *who, const char *kind) {
  return formed("%s/ca/%s.%s", folder, who, kind);
}

static void load_environment(const char *path) {
  char line[LINE_BYTES];
  FILE *file = fopen(path, "re");
  while (file && fgets(line, sizeof line, file)) {
    char *equal = strchr(line, '=');
    line[strcspn(line, "\n")] = '\0';
    if (*line == '#' || !equal) continue;
    *equal = '\0';
    setenv(line, equal + 1, 1);
  }
}

/* In the new process. */
static void become_machine(int machine, bool is_nats) {
  const char *conf = formed("%s/%d/conf", folder, machine);
  int descriptor = open(formed("%s/%d/log", folder, machine), O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (descriptor < 0 || dup2(descriptor, STDERR_FILENO) < 0 || dup2(descriptor, STDOUT_FILENO) < 0) _exit(125);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (is_nats) {
    execlp("nats-server", "nats-server", "-c", conf, (char *)NULL);
  } else {
    load_environment(conf);
    execlp("etcd", "etcd", (char *)NULL);
  }
  _exit(127);
}

static void start_machines(bool is_nats) {
  for (int i = 0; i < MACHINES; i++) {
    processes[i] = fork();
    cr_assert(processes[i] >= 0);
    if (processes[i] == 0) become_machine(i + 1, is_nats);
  }
}

static void end_machines(void) {
  for (int i = 0; i < MACHINES; i++) {
    cr_expect_eq(waitpid(processes[i], NULL, WNOHANG), 0, "machine %d has ended by itself", i + 1);
    kill(processes[i], SIGKILL);
    waitpid(processes[i], NULL, 0);
  }
  must_do("rm -r @");
}

/* ---------------------------------------------------------------------------------------------------------- musterd */

static struct lab here;

/* A broker of musterd, by the settings that zones.md gives. `password`: of NATS. */
static struct broker *open_broker(const char *password) {
  broker_settings settings = {.world = "land", .node = "north", .nats_user = "muster"};
  for (int i = 1; i <= MACHINES; i++) {
    append_text(settings.nats, sizeof settings.nats, "%stls://%s.%d:4222", i > 1 ? "," : "", net, i);
    append_text(settings.etcd, sizeof settings.etcd, "%shttps://%s.%d:2379", i > 1 ? "," : "", net, i);
  }
  snprintf(settings.nats_password_file, sizeof settings.nats_password_file, "%s/password", folder);
  snprintf(settings.tls_ca, sizeof settings.tls_ca, "%s", of_ca("ca", "pem"));
  snprintf(settings.tls_certificate, sizeof settings.tls_certificate, "%s", of_ca("node-north", "pem"));
  snprintf(settings.tls_key, sizeof settings.tls_key, "%s", of_ca("node-north", "key"));
  must_do(formed("echo %s >@/password", password));
  memset(&here, 0, sizeof here);
  cr_assert_eq(uv_loop_init(&here.loop), 0);
  return lab_open(&here, 0, &settings, false);
}

static void note_found(muster_result result, const void *bytes, size_t count, void *user) {
  cr_expect(result == MUSTER_OK && count == 4 && memcmp(bytes, "over", 4) == 0);
  *(bool *)user = true;
}

/* ------------------------------------------------------------------------------------------------------------- NATS */

typedef struct visitor {
  bool has_certificate, is_secure;
  const char *user, *password;
} visitor;

static natsStatus visit(const visitor *who, int machine, natsConnection **made) {
  natsOptions *options = NULL;
  cr_assert_eq(natsOptions_Create(&options), NATS_OK);
  cr_assert_eq(natsOptions_SetURL(options, formed("nats://%s.%d:4222", net, machine)), NATS_OK);
  natsOptions_SetTimeout(options, 5000);
  if (who->is_secure) {
    cr_assert_eq(natsOptions_SetSecure(options, true), NATS_OK);
    cr_assert_eq(natsOptions_LoadCATrustedCertificates(options, of_ca("ca", "pem")), NATS_OK);
  }
  if (who->has_certificate) {
    natsStatus loaded =
        natsOptions_LoadCertificatesChain(options, of_ca("node-north", "pem"), of_ca("node-north", "key"));
    cr_assert_eq(loaded, NATS_OK);
  }
  if (who->user) cr_assert_eq(natsOptions_SetUserInfo(options, who->user, who->password), NATS_OK);
  natsStatus status = natsConnection_Connect(made, options);
  natsOptions_Destroy(options);
  return status;
}

static void expect_forbidden(natsConnection *connection, const char *subject) {
  natsMsg *answer = NULL;
  const char *said = NULL;
  cr_expect_eq(natsConnection_RequestString(&answer, connection, subject, "{}", 1000), NATS_TIMEOUT, "%s", subject);
  natsConnection_GetLastError(connection, &said);
  cr_expect(said && strstr(said, "ermissions Violation"), "%s: %s", subject, said);
}

Test(shipped, nats_lets_in_who_shows_a_certificate_and_gives_a_name) {
  static const visitor musterd = {true, true, "muster", "ONE"};
  static const visitor others[] = {{true, true, NULL, NULL},  {true, true, "muster", "THREE"},
                                   {true, true, "", ""},      {false, true, "muster", "ONE"},
                                   {false, true, NULL, NULL}, {false, false, "muster", "ONE"}};
  natsConnection *connection = NULL;
  prepare_machines("nats-server.conf");
  for (int i = 1; i <= MACHINES; i++) {
    must_do(formed("nats-server -t -c @/%d/conf >@/log 2>&1", i));
  }
  start_machines(true);
  natsStatus status = NATS_ERR;
  for (int i = 0; i < PATIENCE && status != NATS_OK; i++) {
    if (i > 0) nats_Sleep(PAUSE_MS);
    status = visit(&musterd, 1, &connection);
  }
  cr_assert_eq(status, NATS_OK, "%s", natsStatus_GetText(status));
  struct broker *broker = open_broker("ONE");
  lab_answer kept = {0};
  bool found = false;
  LAB_AWAIT(&here, here.all[0].nats);
  cr_assert_eq(broker_keep(broker, BROKER_JOURNAL, "zone-1", (zone_place){1, 1}, 1, "over", 4, lab_done, &kept),
               MUSTER_OK);
  LAB_AWAIT(&here, kept.done);
  cr_expect_eq(kept.result, MUSTER_OK, "%s", kept.reason);
  cr_assert_eq(broker_find(broker, BROKER_JOURNAL, "zone-1", (zone_place){1, 1}, 1, note_found, &found), MUSTER_OK);
  LAB_AWAIT(&here, found);
  lab_leave(&here);
  expect_forbidden(connection, "$JS.API.STREAM.RESTORE.muster-land-journal");
  expect_forbidden(connection, "$SYS.REQ.SERVER.PING");
  natsConnection_Destroy(connection);
  for (size_t i = 0; i < COUNT_OF(others); i++) {
    connection = NULL;
    cr_expect_neq(visit(&others[i], 1 + (int)i % MACHINES, &connection), NATS_OK, "visitor %zu", i);
    natsConnection_Destroy(connection);
  }
  /* No nats_Close(): of TLS it takes down what OpenSSL takes down again at the exit, and dies there. */
  end_machines();
}

/* ------------------------------------------------------------------------------------------------------------- etcd */

static size_t drop_answer(char *bytes, size_t size, size_t count, void *user) {
  (void)bytes, (void)user;
  return size * count;
}

/* The status of HTTP; 0 = it was not let in. `who` is the certificate, null = none; `body` null = GET. */
static long ask_machine(int machine, int port, const char *who, const char *path, const char *body) {
  long status = 0;
  CURL *curl = curl_easy_init();
  curl_easy_setopt(curl, CURLOPT_URL, formed("https://%s.%d:%d%s", net, machine, port, path));
  curl_easy_setopt(curl, CURLOPT_CAINFO, of_ca("ca", "pem"));
  curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1); /* members speak gRPC over the other one */
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, 10000L);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, drop_answer);
  if (who) {
    curl_easy_setopt(curl, CURLOPT_SSLCERT, of_ca(who, "pem"));
    curl_easy_setopt(curl, CURLOPT_SSLKEY, of_ca(who, "key"));
  }
  if (body) curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
  if (curl_easy_perform(curl) == CURLE_OK) curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  curl_easy_cleanup(curl);
  return status;
}

Test(shipped, etcd_lets_in_who_shows_a_certificate_and_among_its_own_only_brokers) {
  static const char put[] = "{\"key\": \"bXVzdGVyL2E=\", \"value\": \"MQ==\"}";
  prepare_machines("etcd.default");
  start_machines(false);
  for (int machine = 1; machine <= MACHINES; machine++) {
    long status = 0;
    for (int i = 0; i < PATIENCE && status != 200; i++) {
      if (i > 0) nats_Sleep(PAUSE_MS);
      status = ask_machine(machine, 2379, "node-north", "/v3/kv/put", put);
    }
    cr_expect_eq(status, 200, "machine %d: %ld", machine, status);
    cr_expect_eq(ask_machine(machine, 2379, NULL, "/v3/kv/put", put), 0);
    cr_expect_eq(ask_machine(machine, 2380, NULL, "/version", NULL), 0);
    cr_expect_eq(ask_machine(machine, 2380, "node-north", "/version", NULL), 0);
    cr_expect_eq(ask_machine(machine, 2380, formed("broker-%s.2", net), "/version", NULL), 200);
  }
  struct broker *of_musterd = open_broker("ONE");
  LAB_AWAIT(&here, here.all[0].etcd);
  lab_answer taken = lab_take(&here, of_musterd, 1, false);
  cr_expect_eq(taken.result, MUSTER_OK, "%s", taken.reason);
  lab_leave(&here);
  end_machines();
}

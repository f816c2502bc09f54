#include "proxy.h"

#include "brokers.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum { LISTENERS_MAX = 128, LINKS_MAX = 1024, PIPE_BYTES = 1 << 16, GLANCE_MS = 20 };

typedef enum { LISTEN, KNOW, CUT, COUNT } proxy_kind;

typedef struct proxy_command {
  proxy_kind kind;
  int a, b;        /* parties; of LISTEN: to and from; of COUNT: from and to */
  uint16_t target; /* LISTEN */
  pid_t process;   /* KNOW */
  bool is_cut;     /* CUT */
} proxy_command;

typedef struct listener {
  int descriptor, to, from;
  uint16_t target;
} listener;

/* Bytes on their way in one direction. */
typedef struct pipe_bytes {
  size_t start, end;
  bool has_ended, is_told; /* the source has ended its side; the other side has been told */
  char bytes[PIPE_BYTES];
} pipe_bytes;

/* A connection: side 0 is who came, side 1 the target, which is connected to when nothing is cut. */
typedef struct route {
  int sides[2];          /* -1 = not connected yet */
  int to, from;          /* parties; from = PROXY_ASK while the process is unknown */
  uint16_t port, target; /* of side 0; of the target */
  pipe_bytes *ways[2];   /* from side 0 to 1, and back */
} route;

/* All of the process. */
static struct {
  listener listeners[LISTENERS_MAX];
  uint32_t listener_count;
  route links[LINKS_MAX];
  uint32_t link_count;
  pid_t processes[PROXY_PARTIES_MAX];
  bool cut[PROXY_PARTIES_MAX][PROXY_PARTIES_MAX];
  uint64_t passed[PROXY_PARTIES_MAX][PROXY_PARTIES_MAX]; /* bytes, from and to */
} all;

/* ---------------------------------------------------------------------------------------------------- who connects */

/* The inode of the socket of loopback with this local port; 0 = there is none. */
static unsigned long inode_of(uint16_t port) {
  FILE *table = fopen("/proc/net/tcp", "re");
  char line[256];
  unsigned long found = 0;
  while (table && !found && fgets(line, sizeof line, table)) {
    unsigned local, remote;
    unsigned long inode;
    if (sscanf(line, " %*d: %*8x:%x %*8x:%x %*x %*x:%*x %*x:%*x %*x %*u %*d %lu", &local, &remote, &inode) == 3 &&
        local == port && remote != 0)
      found = inode;
  }
  if (table) fclose(table);
  return found;
}

static bool holds(pid_t process, unsigned long inode) {
  char path[64], wanted[64], target[64];
  snprintf(path, sizeof path, "/proc/%d/fd", process);
  snprintf(wanted, sizeof wanted, "socket:[%lu]", inode);
  DIR *folder = opendir(path);
  bool found = false;
  for (struct dirent *entry; folder && !found && (entry = readdir(folder));) {
    ssize_t length = readlink(formed("%s/%s", path, entry->d_name), target, sizeof target - 1);
    if (length < 0) continue;
    target[length] = '\0';
    found = strcmp(target, wanted) == 0;
  }
  if (folder) closedir(folder);
  return found;
}

static int party_at(uint16_t port) {
  unsigned long inode = inode_of(port);
  for (int i = 0; inode && i < PROXY_PARTIES_MAX; i++)
    if (all.processes[i] > 0 && holds(all.processes[i], inode)) return i;
  return PROXY_ASK;
}

/* ------------------------------------------------------------------------------------------------------------ links */

static struct sockaddr_in loopback_at(uint16_t port) {
  struct in_addr loopback = {htonl(INADDR_LOOPBACK)};
  return (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = loopback};
}

static int connect_to(uint16_t port) {
  struct sockaddr_in address = loopback_at(port);
  int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor >= 0 && connect(descriptor, (struct sockaddr *)&address, sizeof address) < 0) {
    close(descriptor);
    return -1;
  }
  return descriptor;
}

static void drop_link(uint32_t i) {
  route *gone = &all.links[i];
  for (int side = 0; side < 2; side++) {
    if (gone->sides[side] >= 0) close(gone->sides[side]);
    free(gone->ways[side]);
  }
  *gone = all.links[--all.link_count];
}

static void accept_link(const listener *at) {
  struct sockaddr_in from;
  socklen_t length = sizeof from;
  int descriptor = accept4(at->descriptor, (struct sockaddr *)&from, &length, SOCK_CLOEXEC);
  if (descriptor < 0) return;
  route *made = &all.links[all.link_count];
  *made = (route){.sides = {descriptor, -1}, .to = at->to, .from = at->from, .target = at->target};
  made->port = ntohs(from.sin_port);
  for (int side = 0; side < 2; side++) made->ways[side] = calloc(1, sizeof(pipe_bytes));
  if (all.link_count + 1 == LINKS_MAX || !made->ways[0] || !made->ways[1]) {
    fprintf(stderr, "proxy: there are %u connections, or no memory\n", all.link_count);
    _exit(3);
  }
  setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
  all.link_count++;
}

static bool is_open(const route *link) {
  return link->from != PROXY_ASK && !all.cut[link->from][link->to];
}

/* Learns who it is and connects it, as soon as both can be; false when the target refuses. */
static bool complete_link(route *link) {
  if (link->from == PROXY_ASK) link->from = party_at(link->port);
  if (!is_open(link) || link->sides[1] >= 0) return true;
  link->sides[1] = connect_to(link->target);
  if (link->sides[1] < 0) return false;
  setsockopt(link->sides[1], IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
  return true;
}

/* What poll should wait for at one side. Who waits for a target that cannot be reached may give up, or die before it is
 * known, and come again: a thousand times in an hour. */
static short events_of(const route *link, int side) {
  const pipe_bytes *out = link->ways[side], *in = link->ways[!side];
  if (link->sides[1] < 0) return side == 0 ? POLLRDHUP : 0;
  if (!is_open(link)) return 0;
  return (short)((out->end < PIPE_BYTES && !out->has_ended ? POLLIN : 0) | (in->start < in->end ? POLLOUT : 0));
}

static bool take_in(int descriptor, pipe_bytes *way) {
  ssize_t length = recv(descriptor, way->bytes + way->end, PIPE_BYTES - way->end, MSG_DONTWAIT);
  if (length < 0) return errno == EAGAIN || errno == EINTR;
  if (length == 0) way->has_ended = true;
  way->end += (size_t)length;
  return true;
}

static bool give_out(int descriptor, pipe_bytes *way, uint64_t *passed) {
  if (way->start < way->end) {
    ssize_t length = send(descriptor, way->bytes + way->start, way->end - way->start, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (length < 0) return errno == EAGAIN || errno == EINTR;
    way->start += (size_t)length;
    *passed += (uint64_t)length;
  }
  if (way->start == way->end) {
    way->start = way->end = 0;
    if (way->has_ended && !way->is_told) shutdown(descriptor, SHUT_WR); /* fails when that side is gone already */
    way->is_told = way->has_ended;
  }
  return true;
}

/* What has passed in one direction of a connection; nothing has of one that is nobody's yet. */
static uint64_t *passed_of(const route *link, int side) {
  static uint64_t nobodys;
  if (link->from == PROXY_ASK) return &nobodys;
  return side == 0 ? &all.passed[link->from][link->to] : &all.passed[link->to][link->from];
}

/* Moves what can be moved; false when the connection is over. */
static bool move_link(route *link, const short happened[2]) {
  if (link->sides[1] < 0) return false;
  for (int side = 0; side < 2; side++)
    if (happened[side] & (POLLIN | POLLHUP | POLLERR) && link->ways[side]->end < PIPE_BYTES &&
        !link->ways[side]->has_ended && !take_in(link->sides[side], link->ways[side]))
      return false;
  for (int side = 0; side < 2; side++)
    if (!give_out(link->sides[!side], link->ways[side], passed_of(link, side))) return false;
  return !(link->ways[0]->is_told && link->ways[1]->is_told);
}

/* --------------------------------------------------------------------------------------------------------- commands */

static uint16_t listen_at(const proxy_command *command) {
  struct sockaddr_in address = loopback_at(0);
  socklen_t length = sizeof address;
  int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0 || bind(descriptor, (struct sockaddr *)&address, sizeof address) < 0 ||
      listen(descriptor, 128) < 0 || getsockname(descriptor, (struct sockaddr *)&address, &length) < 0 ||
      all.listener_count == LISTENERS_MAX)
    _exit(2);
  all.listeners[all.listener_count++] =
      (listener){.descriptor = descriptor, .to = command->a, .from = command->b, .target = command->target};
  return ntohs(address.sin_port);
}

static void obey(int commands) {
  proxy_command command;
  uint64_t answer = 0;
  if (recv(commands, &command, sizeof command, 0) != sizeof command) _exit(0); /* the test has ended */
  if (command.kind == LISTEN) answer = listen_at(&command);
  if (command.kind == KNOW) all.processes[command.a] = command.process;
  if (command.kind == CUT) all.cut[command.a][command.b] = all.cut[command.b][command.a] = command.is_cut;
  if (command.kind == COUNT) answer = all.passed[command.a][command.b];
  if (send(commands, &answer, sizeof answer, MSG_NOSIGNAL) != sizeof answer) _exit(0);
}

/* One look at everything that may have happened. */
static void serve_once(int commands) {
  static struct pollfd polled[1 + LISTENERS_MAX + 2 * LINKS_MAX];
  uint32_t count = 0, listeners = all.listener_count, links = all.link_count;
  bool is_unknown = false;
  polled[count++] = (struct pollfd){.fd = commands, .events = POLLIN};
  for (uint32_t i = 0; i < listeners; i++)
    polled[count++] = (struct pollfd){.fd = all.listeners[i].descriptor, .events = POLLIN};
  for (uint32_t i = 0; i < links; i++) {
    is_unknown |= all.links[i].from == PROXY_ASK;
    for (int side = 0; side < 2; side++) {
      short events = events_of(&all.links[i], side); /* without any, not even an end is of interest */
      polled[count++] = (struct pollfd){.fd = events ? all.links[i].sides[side] : -1, .events = events};
    }
  }
  if (poll(polled, count, is_unknown ? GLANCE_MS : -1) < 0) return;
  const struct pollfd *of_links = polled + 1 + listeners;
  for (uint32_t i = links; i-- > 0;) {
    const short happened[2] = {of_links[2 * i].revents, of_links[2 * i + 1].revents};
    if ((happened[0] || happened[1]) && !move_link(&all.links[i], happened)) drop_link(i);
  }
  for (uint32_t i = 0; i < listeners; i++)
    if (polled[1 + i].revents) accept_link(&all.listeners[i]);
  if (polled[0].revents) obey(commands);
  for (uint32_t i = all.link_count; i-- > 0;)
    if (!complete_link(&all.links[i])) drop_link(i);
}

void proxy_start(proxy *ways) {
  int ends[2];
  cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
  ways->commands = ends[0];
  ways->process = fork();
  cr_assert(ways->process >= 0);
  if (ways->process > 0) {
    close(ends[1]);
    return;
  }
  close(ends[0]);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (;;) serve_once(ends[1]);
}

static uint64_t command_proxy(const proxy *ways, const proxy_command *command) {
  uint64_t answer;
  cr_assert_eq(send(ways->commands, command, sizeof *command, MSG_NOSIGNAL), (ssize_t)sizeof *command);
  cr_assert_eq(recv(ways->commands, &answer, sizeof answer, 0), (ssize_t)sizeof answer, "the proxy has ended");
  return answer;
}

uint16_t proxy_listen(proxy *ways, uint16_t target, int to, int from) {
  return (uint16_t)command_proxy(ways, &(proxy_command){.kind = LISTEN, .a = to, .b = from, .target = target});
}

void proxy_know(proxy *ways, int party, pid_t process) {
  command_proxy(ways, &(proxy_command){.kind = KNOW, .a = party, .process = process});
}

void proxy_cut(proxy *ways, int a, int b, bool is_cut) {
  command_proxy(ways, &(proxy_command){.kind = CUT, .a = a, .b = b, .is_cut = is_cut});
}

uint64_t proxy_bytes(proxy *ways, int from, int to) {
  return command_proxy(ways, &(proxy_command){.kind = COUNT, .a = from, .b = to});
}

void proxy_end(proxy *ways) {
  close(ways->commands);
  waitpid(ways->process, NULL, 0);
}

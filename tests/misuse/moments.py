"""moments.py - what the headers say of each public function: which thread may call it, and when; held against the library.

    moments.py ROOT --driver FILE    writes a program that calls every function at every moment, each in a process and a
                                     world of its own, and prints what became of the call
    moments.py ROOT --check FILE     compares what that program printed with the words of the headers
    moments.py ROOT --table          prints the table of functions and moments, as Markdown

A function's words are those of the comment before it (of declarations without a blank line between them, before the first
of them; of what a macro declares, before the macro). One of PHRASES must be among them."""

import argparse
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", "tools", "layout"))
import interface

# When the program calls: between two frames, on the thread of the frames; in a behaviour atom, in an action, and in
# on_spawned and on_removed; and on a thread of its own while a frame runs.
MOMENTS = ["between", "atom", "action", "spawned", "removed", "thread"]
HEADS = ["between frames", "in an atom", "in an action", "in on_spawned", "in on_removed", "on another thread, in a frame"]

# What the words say: the moments at which a call is not refused for the moment. The first phrase that matches counts.
PHRASES = [
    (r"\bAny thread,? but (not inside a job|a worker of the pool)", {"between", "thread"}),
    (r"\bAny thread, but not inside atoms\b", {"between", "thread"}),
    (r"\bAny thread\b", set(MOMENTS)),
    (r"\bThread of the frames\b", {"between"}),
    (r"\bInside an atom, on_spawned or on_removed\b", {"atom", "action", "spawned", "removed"}),
    (r"\b(Action|Serial action) atoms only\b", {"action"}),
]


def comment_before(lines, line):
    """The text of the comment that ends before a line, past declarations that follow each other."""
    i = line - 2
    while i >= 0 and lines[i].strip() and not lines[i].rstrip().endswith("*/") and not lines[i].startswith("#"):
        i -= 1
    if i < 0 or not lines[i].rstrip().endswith("*/"):
        return ""
    text = []
    while i >= 0:
        text.insert(0, lines[i].strip())
        if lines[i].lstrip().startswith("/*"):
            break
        i -= 1
    return re.sub(r"\s+", " ", " ".join(re.sub(r"^/?\*+/?|\*+/$", "", part) for part in text)).strip()


def words_of(public, function):
    with open(function.place.file, encoding="utf-8") as file:
        lines = file.read().splitlines()
    words = comment_before(lines, function.place.line)
    macro = re.match(r"(\w+)\(", lines[function.place.line - 1])
    if macro and not meaning(words):
        for header in interface.headers_of(public.root):
            with open(os.path.join(public.include, header), encoding="utf-8") as file:
                lines = file.read().splitlines()
            for number, line in enumerate(lines, 1):
                if re.match(rf"#define {macro[1]}\(", line):
                    return comment_before(lines, number)
    return words


def meaning(words):
    for phrase, moments in PHRASES:
        if re.search(phrase, words):
            return moments
    return None


# --------------------------------------------------------------------------------------------------------- the driver

HEAD = r"""/* Written by tests/misuse/moments.py. */
#include "support/little_world.h"

%(include)s
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* What a call is given. */
struct prepared {
  muster_world *world;
  muster_pool *pool;
  muster_update *update; /* of the callback that runs, or that ran last */
  muster_agent agent;
  muster_type type;
  muster_observer observer;
  muster_journal *journal; /* for calls that take one */
};

/* What became of it, for the process that asks. */
static struct {
  volatile int called;
  muster_result result;
  char sentence[200];
} *outcome;

static struct prepared prepared;
static void (*call)(const struct prepared *with);
static int journals; /* whether it takes a journal */
static char journal_path[] = "/tmp/muster-moments-XXXXXX/world";
static const char *moment;
static int fill; /* what a definition leaves null */

static void *buffer(void) { return calloc(1, 1 << 18); }
static unsigned long agree(void) { return 1; }
"""

TAIL = r"""
static void ask(muster_update *update) {
  prepared.update = update;
  if (outcome->called) return;
  outcome->called = 1;
  muster_module_fail(MUSTER_OK, "-");
  call(&prepared);
  outcome->result = muster_last_result();
  snprintf(outcome->sentence, sizeof outcome->sentence, "%s", muster_last_error());
  outcome->called = 2;
}

static _Atomic int asker; /* the thread's number */

static void *ask_on_thread(void *update) {
  asker = gettid();
  ask(update);
  return NULL;
}

static pthread_t thread;

static int sleeps_in_its_call(void) {
  char path[64], state = '?';
  if (outcome->called != 1) return 0;
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", asker);
  FILE *file = fopen(path, "re");
  if (file && fscanf(file, "%*d (%*[^)]) %c", &state) != 1) state = '?';
  if (file) fclose(file);
  return state == 'S';
}

/* The frame goes on when the thread has asked, or waits for the frame itself. */
static void ask_beside(muster_update *update) {
  if (outcome->called || pthread_create(&thread, NULL, ask_on_thread, update)) return;
  for (int looks = 0, slept = 0; looks < 5000 && slept < 50 && outcome->called != 2; looks++) {
    slept = sleeps_in_its_call() ? slept + 1 : 0;
    nanosleep(&(struct timespec){0, 1000000}, NULL);
  }
}

static int is_moment(const char *name) { return !strcmp(moment, name); }

static muster_atom_result behave(muster_update *update) {
  if (is_moment("atom")) ask(update);
  if (is_moment("thread")) ask_beside(update);
  prepared.update = update;
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result act(muster_update *update) {
  if (is_moment("action")) ask(update);
  return MUSTER_ATOM_NEXT;
}

static void spawned(muster_update *update) {
  if (is_moment("spawned")) ask(update);
}

static void removed(muster_update *update) {
  if (is_moment("removed")) ask(update);
}

static void ask_once(void) {
  static const muster_atom atoms[] = {{.run = behave}, {.run = act, .role = MUSTER_ROLE_ACTION}};
  muster_world_def def = muster_world_def_default();
  def.clock.kind = MUSTER_CLOCK_VIRTUAL;
  def.zone.number = 1; /* for calls that only a zone has */
  little_world little = little_world_create(2, &def);
  muster_type_def type = actors_def(atoms, MUSTER_ACT_SERIAL, NULL);
  muster_observer_def observer = muster_observer_def_default();
  type.on_spawned = spawned;
  type.on_removed = removed;
  register_type(&little, &type);
  prepared.world = little.world;
  prepared.pool = little.pool;
  prepared.type = little.type;
  prepared.observer = muster_observer_add(little.world, &observer);
  prepared.agent = spawn_at(&little, 0);
  const muster_agent leaves = spawn_at(&little, 1);
  if (journals) {
    muster_journal_def journal = muster_journal_def_default();
    journal.path = journal_path;
    muster_journal_begin(little.world, &journal, &prepared.journal);
  }
  run_frames(&little, 2);
  if (is_moment("removed")) muster_agent_remove(little.world, leaves);
  run_frames(&little, 2);
  /* On a busy machine a frame may end before its actions. */
  for (int i = 0; i < 500 && !outcome->called && !is_moment("between"); i++) run_frame(&little);
  if (is_moment("between")) ask(prepared.update);
  if (thread) pthread_join(thread, NULL);
}

static void ask_in_child(void) {
  outcome->called = 0;
  outcome->result = MUSTER_OK;
  outcome->sentence[0] = '\0';
  const pid_t child = fork(); /* it shares the outcome, and may end before this process goes on */
  if (!child) {
    if (!freopen("/dev/null", "w", stderr)) _exit(1);
    alarm(200);
    ask_once();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
}

/* Makes the folder of journals, or removes it with what is in it. */
static void journal_folder(int wanted) {
  char folder[64], file[400];
  snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(journal_path, '/') - journal_path), journal_path);
  if (wanted && !mkdtemp(folder)) _exit(1);
  if (wanted) memcpy(journal_path, folder, strlen(folder));
  DIR *entries = wanted ? NULL : opendir(folder);
  for (struct dirent *entry; entries && (entry = readdir(entries));) {
    snprintf(file, sizeof file, "%s/%s", folder, entry->d_name);
    unlink(file);
  }
  if (entries) closedir(entries);
  if (!wanted) rmdir(folder);
}

/* A definition whose required fields were null says nothing about the moment. */
static void report(const char *function) {
  fill = 0;
  ask_in_child();
  if (outcome->result == MUSTER_E_ARGUMENT) {
    fill = 1;
    ask_in_child();
  }
  const char *became = outcome->called == 2 ? muster_result_name(outcome->result) : outcome->called ? "ended" : "never";
  printf("%s\t%s\t%s\t%s\n", function, moment, became, outcome->sentence);
  fflush(stdout);
}

int main(void) {
  static const char *moments[] = {%(moments)s};
  outcome = mmap(NULL, sizeof *outcome, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  journal_folder(1);
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
    for (size_t m = 0; m < sizeof moments / sizeof *moments; m++) {
      call = calls[i].call;
      journals = calls[i].journals;
      moment = moments[m];
      report(calls[i].name);
    }
  journal_folder(0);
  return 0;
}
"""

PREPARED = {"muster_world *": "with->world", "muster_pool *": "with->pool", "muster_update *": "with->update",
            "muster_agent": "with->agent", "muster_type": "with->type", "muster_observer": "with->observer",
            "muster_journal *": "with->journal"}
AMOUNT = "5000000000u"  # a time and a budget that are both possible


class Arguments:
    """Valid ones, by their types: what is prepared; definitions with their defaults; room for anything else."""

    def __init__(self, public):
        self.public, self.defaults, self.lines = public, public.defaults(), []

    def of(self, name, type_):
        plain = re.sub(r"\b(const|struct) ", "", type_).strip()
        if plain in PREPARED:
            return PREPARED[plain]
        if plain == "char *" and "const" in type_:
            return '"agent"'
        if plain.endswith("**"):
            return "buffer()"
        if plain.endswith(" *"):
            return self._pointer(name, plain[:-2])
        record = self.public.records.get(plain)
        if record:
            return f"({plain}){{0}}"
        if "(" in self.public.typedefs.get(plain, ""):
            return f"({plain})(void *)agree"
        return "0" if plain in self.public.enums or plain == "int" else "1"

    def _pointer(self, name, pointed):
        self.lines.append(f"  {pointed} *{name} = buffer();")
        default, init = self.defaults.get(pointed, (None, None))
        if default:
            self.lines.append(f"  *{name} = {default}();")
            for field in self.public.records[pointed].fields:
                value = "(void *)agree" if "(*" in field.type else "buffer()" if "*" in field.type else "64"
                if field.path == "path":
                    value = "journal_path"
                if "*" in field.type or field.type == "size_t":
                    self.lines.append(f"  if (fill && !{name}->{field.path}) {name}->{field.path} = {value};")
        elif f"{pointed}_init" in self.public.functions:
            more = [self.of("", type_) for _, type_ in self.public.functions[f"{pointed}_init"].parameters[1:]]
            self.lines.append(f"  {pointed}_init({', '.join([name, *more])});")
        elif f"{pointed}" in PREPARED:
            self.lines.append(f"  *{name} = {PREPARED[pointed]};")
        elif pointed in self.public.records:
            for field in self.public.records[pointed].fields:
                value = {"uint64_t": AMOUNT, "uint32_t": "1"}.get(field.type, "buffer()" if "*" in field.type else None)
                if value:
                    self.lines.append(f"  if (fill) {name}->{field.path} = {value};")
        return name


def takes_journal(public, name):
    return any(type_ == "muster_journal *" for _, type_ in public.functions[name].parameters)


def write_driver(public, path):
    text = [HEAD % {"include": interface.including(public.root)}]
    for name in public.exported():
        arguments = Arguments(public)
        given = [arguments.of(f"a{i}", type_) for i, (_, type_) in enumerate(public.functions[name].parameters)]
        text.append("\n".join([f"static void call_{name}(const struct prepared *with) {{", *arguments.lines,
                               f"  {name}({', '.join(given)});", "}\n"]))
    text.append("static const struct { const char *name; void (*call)(const struct prepared *with); int journals; } calls[] = {")
    text += [f'  {{"{name}", call_{name}, {int(takes_journal(public, name))}}},' for name in public.exported()] + ["};\n"]
    text.append(TAIL.replace("%(moments)s", ", ".join(f'"{moment}"' for moment in MOMENTS)))
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(text))


# ---------------------------------------------------------------------------------------------------------- the check

def read_outcomes(path):
    found = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            function, moment, became, sentence = line.rstrip("\n").split("\t", 3)
            found.setdefault(function, {})[moment] = (became, sentence)
    return found


def was_refused(outcomes, moment, allowed):
    """Whether a call was refused for its moment. MUSTER_E_STATE has other reasons, too: those have another sentence than at
    moments at which a call is not allowed, or the same one at every moment."""
    became, sentence = outcomes[moment]
    if became != "MUSTER_E_STATE":
        return became == "ended"
    if moment not in allowed:
        return True
    if len(set(outcomes.values())) == 1:
        return False  # for this world, at any moment
    forbidden = {outcomes[other][1] for other in MOMENTS if other not in allowed}
    return sentence in forbidden or not forbidden


def check_function(name, words, outcomes):
    allowed = meaning(words)
    if allowed is None:
        return [f"{name}: its comment says neither which thread may call it nor when"]
    wrong = []
    for moment in MOMENTS:
        became, sentence = outcomes[moment]
        refused = was_refused(outcomes, moment, allowed)
        if became == "never":
            wrong.append(f"{name}, {moment}: was never called")
        elif moment in allowed and became == "ended" and "Ends the process" in words:
            continue  # the prepared pool has a world
        elif refused and moment in allowed:
            wrong.append(f"{name}, {moment}: the words allow it, and the library refused it: {became}, {sentence}")
        elif not refused and moment not in allowed:
            wrong.append(f"{name}, {moment}: the words forbid it, and the library said {became} {sentence}")
    return wrong


def check(public, outcomes):
    wrong = []
    for name in public.exported():
        wrong += check_function(name, words_of(public, public.functions[name]), outcomes[name])
    return wrong


def planted(public, outcomes):
    """The check must see a function without words, words that forbid, and words that allow, what is not so."""
    missed = []
    name = next(n for n in public.exported() if meaning(words_of(public, public.functions[n])) == {"between"})
    for what, words in (("without words", "Reads it."), ("any thread", "Any thread."),
                        ("in actions", "Action atoms only.")):
        if not check_function(name, words, outcomes[name]):
            missed.append(f"{name} with the words '{words}' ({what}) was not seen")
    return missed


def table(public):
    print("| function | " + " | ".join(HEADS) + " |\n|---|" + "---|" * len(HEADS))
    for name in public.exported():
        allowed = meaning(words_of(public, public.functions[name])) or set()
        print(f"| `{name}` | " + " | ".join("yes" if moment in allowed else "" for moment in MOMENTS) + " |")


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("root")
    options.add_argument("--driver")
    options.add_argument("--check")
    options.add_argument("--table", action="store_true")
    given = options.parse_args()
    public = interface.Interface(given.root)
    if given.driver:
        write_driver(public, given.driver)
    if given.table:
        table(public)
    if not given.check:
        return 0
    outcomes = read_outcomes(given.check)
    wrong = check(public, outcomes) or planted(public, outcomes)
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

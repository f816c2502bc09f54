/* `muster replay`: a recorded run once more, bit for bit. */
#include "commands.h"
#include "complaint.h"
#include "options.h"
#include "run.h"

typedef struct replay_options {
  const char *json;
  const char *from; /* a journal's path; null = a file */
  uint64_t until;
  uint32_t workers;
} replay_options;

static void show_help(FILE *stream) {
  fputs("muster replay - replays what `muster run --record FILE` recorded or what a journal holds, and checks that it "
        "comes to the same\n"
        "\n"
        "usage: muster replay FILE [OPTION]...\n"
        "       muster replay --from PATH [OPTION]...\n"
        "\n"
        "  --from PATH        a journal, as `muster run --journal PATH` keeps it, or one of a crash, such as "
        "PATH-incident-1: from its snapshot to its last complete frame\n"
        "  --until FRAME      stop after that frame, warm-up included (default: the last one)\n"
        "  --workers N        the calling thread included (default: one per processor); the result is the same\n"
        "  --json FILE        the report of the recorded run for machines, all times in ns; - is standard output\n"
        "  --help\n"
        "\n"
        "Exit status: 0 = replayed bit for bit, 1 = it came to something else, or the file is none.\n",
        stream);
}

static const option_def known[] = {OPTION_WITHIN("until", COUNT, replay_options, until, 1, UINT64_MAX - 1),
                                   OPTION_WITHIN("workers", COUNT32, replay_options, workers, 1, MUSTER_WORKERS_MAX),
                                   OPTION("json", TEXT, replay_options, json),
                                   OPTION("from", TEXT, replay_options, from),
                                   {0}};

/* A journal. Returns the exit status. */
static int replay_from(const replay_options *options, int files) {
  if (files) return complain_usage("--from names a journal; give no file beside it");
  if (options->until != UINT64_MAX) return complain_usage("--until is for a record; a journal is replayed to its end");
  return run_journal_replayed(options->from, options->json,
                              options->workers ? options->workers : muster_available_processors());
}

int replay_command(int count, char **arguments) {
  static const option_reader reader = {"replay", known, show_help};
  static struct replaying replaying;
  replay_options options = {.until = UINT64_MAX};
  int status;
  if (!options_read(&reader, &options, count, arguments, &status)) return status;
  if (options.from) return replay_from(&options, count - optind);
  if (count - optind != 1) return complain_usage("give one file to replay, as `muster run --record FILE` wrote it");
  if (options.json && output_is_same(options.json, arguments[optind]))
    return complain_usage("--json would overwrite the record '%s'; give it another file", arguments[optind]);
  if (!replaying_open(&replaying, arguments[optind], options.until)) return STATUS_FAILED;
  uint64_t before = replaying.info.frames_before, last = before + replaying.info.frames;
  if (options.until <= before) {
    replaying_close(&replaying);
    return complain_usage("--until %lu is before the record: it begins with frame %lu", options.until, before + 1);
  }
  if (options.until < last) last = options.until;
  replaying.options.json = options.json;
  uint32_t workers = options.workers ? options.workers : muster_available_processors();
  status = run_replayed(&replaying, workers, last);
  replaying_close(&replaying);
  return status;
}

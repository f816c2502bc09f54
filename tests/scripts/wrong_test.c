/* What hurried authors write: each mistake ends in a sentence that says what, where and what to do, and `muster run` in
 * an exit status other than 0 unless the world does what the text says. */
#include "support/with.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A type whose methods follow, and a world of three of it, which begins in the line behind them. */
#define NPC   "local npc = muster.type { name = 'npc', period = '10ms', period_max = '10ms' }\n"
#define OTHER "local wolf = muster.type { name = 'wolf', publishes = {'hunts'} }\n"
#define MANY                                                                                                           \
  "muster.world { agents = 3, start = function(world)\n"                                                               \
  "  for i = 1, world.agents do muster.spawn('npc', {x = i, y = 0}) end\n"                                             \
  "end }\n"

/* That world whose agents think so; of a type of these fields; and one that starts so. */
#define THINKS(BODY)  NPC "function npc:think() " BODY " end\n" MANY
#define TYPED(FIELDS) "muster.type { name = 'npc', " FIELDS " }\n" MANY
#define STARTS(BODY)  NPC "muster.world { start = function() " BODY " end }\n"

typedef struct wrong_text {
  const char *text, *says;
} wrong_text;

enum { SAID_MAX = 1 << 16 };

/* Runs the text as main.lua. Returns the exit status; -1 = a signal ended it. */
static int run_text(const char *text, char said[SAID_MAX]) {
  char folder[] = "/tmp/muster-wrong-XXXXXX";
  const char *program = getenv("MUSTER");
  cr_assert(program && mkdtemp(folder), "set MUSTER to the path of the program");
  const char *path = formed("%s/main.lua", folder);
  FILE *file = fopen(path, "w");
  cr_assert(file && fputs(text, file) >= 0 && fclose(file) == 0);
  FILE *output = popen(
      formed("timeout -s KILL 100 '%s' run %s --frames 40 --warm-up 1 --no-pace --virtual 2>&1", program, path), "r");
  cr_assert_not_null(output);
  said[fread(said, 1, SAID_MAX - 1, output)] = '\0';
  int ended = pclose(output);
  unlink(path);
  rmdir(folder);
  return WIFEXITED(ended) && WEXITSTATUS(ended) < 128 ? WEXITSTATUS(ended) : -1;
}

static void wrong_texts(int wanted, const wrong_text *texts, size_t count) {
  static char said[SAID_MAX];
  for (size_t i = 0; i < count; i++) {
    int status = run_text(texts[i].text, said);
    cr_expect(status == wanted, "status %d, not %d, of\n%s\n%s", status, wanted, texts[i].text, said);
    cr_expect(strstr(said, texts[i].says) != NULL, "not said: %s\nof\n%s\n%s", texts[i].says, texts[i].text, said);
  }
}

/* Each is told, and `muster run` fails; or the world runs all the same. */
#define WRONG_TEXTS(...)    EACH_TEXT(1, __VA_ARGS__)
#define DOUBTFUL_TEXTS(...) EACH_TEXT(0, __VA_ARGS__)
#define EACH_TEXT(status, ...)                                                                                         \
  wrong_texts(status, (const wrong_text[]){__VA_ARGS__}, COUNT_OF(((const wrong_text[]){__VA_ARGS__})))

Test(wrong, methods_that_nobody_calls) {
  WRONG_TEXTS(
      {NPC "function npc:thnik() self.n = 1 end\n" MANY,
       "main.lua:2: npc has no 'thnik'; did you mean 'think'? Muster calls spawned, sense, think, act and removed"},
      {NPC "function npc:think() end\nfunction npc:spawn() self.n = 1 end\n" MANY,
       "main.lua:3: npc has no 'spawn'; did you mean 'spawned'?"},
      {NPC "npc.Think = function(self) self.n = 1 end\n" MANY, "npc has no 'Think'; did you mean 'think'?"},
      {NPC "function npc:update() self.n = 1 end\n" MANY, "npc has no 'update'; did you mean 'think'?"},
      {NPC "function npc:on_act() self.n = 1 end\n" MANY, "npc has no 'on_act'; did you mean 'act'?"},
      {NPC "local function think(self) self.n = 1 end\n" MANY,
       "main.lua:2: this 'think' belongs to no type, and nobody calls it: for type 'npc' write function TYPE:think()"},
      {"local npc = muster.type { name = 'npc', sets = {{method = 'look'}} }\n"
       "function npc:look() end\nfunction npc:think() end\n" MANY,
       "main.lua:3: Muster does not call 'think' of type 'npc', which has sets: it calls spawned, look and removed"},
      {"local npc = muster.type { name = 'npc', sets = {{method = 'look'}} }\nfunction npc:lok() end\n" MANY,
       "type 'npc': it has no method 'look', which a set names; did you mean 'lok'?"},
      {"local base = {} function base:think() end\n" NPC "setmetatable(npc, {__index = base})\n" MANY,
       "type 'npc': its table has a metatable, through which neither Muster nor its agents look: copy"},
      {NPC "npc.think = 5\n" MANY, "type 'npc': its field 'think' is no function"},
      {NPC "npc.period = '20ms'\n" MANY,
       "type 'npc': its 'period' is set behind muster.type, where it changes nothing"},
      {NPC "npc.name = 'orc'\n" MANY, "type 'npc': its 'name' was changed"});
  DOUBTFUL_TEXTS(
      {NPC "function npc:think() end\nfunction npc:gossip() end\n" MANY,
       "main.lua:3: nobody calls 'gossip' of type 'npc': Muster calls spawned, sense, think, act and removed"});
}

Test(wrong, methods_that_there_are_not) {
  WRONG_TEXTS(
      {NPC "function npc:flee() end\nfunction npc:think() self:fle() end\n" MANY,
       "main.lua:3: attempt to call a nil value (method 'fle'); npc has no 'fle'; did you mean 'flee'?"},
      {THINKS("self:hide()"), "(method 'hide'); npc has no 'hide'"},
      {NPC "function npc:flee() end\nfunction npc.think(me) if me.x then me:fle() end end\n" MANY,
       "npc has no 'fle'; did you mean 'flee'?"},
      {NPC "function npc:flee() self.n = 1 end\nfunction npc:think() flee(self) end\n" MANY,
       "(global 'flee'); it is a method of 'npc': self:flee()"},
      {NPC "function npc.think() self.n = 1 end\n" MANY, "(global 'self'); a method has a colon: function TYPE:NAME()"},
      {THINKS("slef.n = 1"), "(global 'slef'); did you mean 'self'?"},
      {THINKS("muster.mov(1, 2)"), "(field 'mov'); muster has no 'mov'; did you mean 'move'?"},
      {THINKS("mster.move(1, 2)"), "(global 'mster'); did you mean 'muster'?"},
      {THINKS("pritn(1)"), "(global 'pritn'); did you mean 'print'?"},
      {THINKS("self.x2 = math.sine(self.x)"), "math has no 'sine'; did you mean 'sin'?"},
      {NPC "function npc:spawned() self.heading = 1 end\nfunction npc:think() self.n = self.headng + 1 end\n" MANY,
       "main.lua:3: attempt to perform arithmetic on a nil value (field 'headng'); npc has no 'headng'; did you mean "
       "'heading'?"},
      {THINKS("self.n = 2 * self.elapsd"), "npc has no 'elapsd'; did you mean 'elapsed'?"},
      {NPC "function npc:think() go(self) end\nlocal function go(self) self.n = 1 end\n" MANY,
       "(global 'go'); the local 'go' stands below, in line 3: a name is known below its definition"},
      {NPC "function npc:think(dt) self.n = 2 * dt end\n" MANY,
       "(local 'dt'); methods are given self alone: self.elapsed tells the seconds since the last update"},
      {"muster.type { name = 'npc' }\nfunction npc:think() end\n" MANY,
       "main.lua:2: attempt to index a nil value (global 'npc'); the type has no variable: write local npc = "
       "muster.type"});
}

Test(wrong, misspelt_fields) {
  WRONG_TEXTS(
      {TYPED("perod = '5ms'"), "main.lua:1: muster.type.perod: there is no such field; did you mean 'period'?"},
      {TYPED("publish = {'a'}"), "there is no such field; did you mean 'publishes'?"},
      {TYPED("messages = {waiting = 4}"), "messages.waiting: there is no such field; did you mean 'waiting_max'?"},
      {TYPED("overruns = {after = 4}"), "overruns.after: there is no such field; there are: demote, quarantine"},
      {TYPED("sets = {{methd = 'look'}}"), "set.methd: there is no such field; did you mean 'method'?"},
      {TYPED("think = function(self) end"),
       "muster.type.think: there is no such field; methods stand behind muster.type: function TYPE:think() ... end"},
      {"muster.type { 'npc' }\n" MANY, "muster.type: its fields have names: write NAME = before each value"},
      {"muster.type 'npc'\n" MANY, "muster.type: give a table: muster.type { name = \"...\" }"},
      {NPC "muster.world { agents = 3, strat = function() end }\n",
       "main.lua:2: muster.world.strat: there is no such field; did you mean 'start'?"},
      {STARTS("muster.observe {x = 0, y = 0, nera = 5}"),
       "main.lua:2: muster.observe.nera: there is no such field; did you mean 'near'?"},
      {NPC "muster.world { start = function() local o = muster.observe {x = 0, y = 0}\n"
           " muster.observe {id = o, x = 1, y = 1, near = 5} end, observers = 1 }\n",
       "main.lua:3: muster.observe: with an id it moves that observer, whose near and far stay: leave them out"});
}

Test(wrong, values_of_another_kind) {
  WRONG_TEXTS(
      {TYPED("period = 100"),
       "main.lua:1: muster.type.period: give a time with its unit (ns, us, ms, s, min or h), as a string, such as "
       "\"100ms\"; it is 100"},
      {TYPED("period = '100'"), "such as \"100ms\"; it is \"100\""},
      {TYPED("slice = '1 sec'"), "muster.type.slice: give a time with its unit"},
      {TYPED("limit = true"),
       "muster.type.limit: give a time with its unit (ns, us, ms, s, min or h), as a string, such as \"100ms\"; it is "
       "true"},
      {TYPED("period = '1s', period_max = '100ms'"), "its period_max is shorter than its period"},
      {TYPED("memory = 64"), "give a size with its unit (B, KB or MB), as a string, such as \"64KB\"; it is 64"},
      {TYPED("spawns_max = '1'"), "muster.type.spawns_max: give a whole number; it is \"1\""},
      {TYPED("levels = 3"), "levels: give a table; it is 3"},
      {TYPED("publishes = 'hunts'"), "publishes: give a list of at most 16 names"},
      {TYPED("publishes = {hunts = true}"), "publishes: give a list of at most 16 names"},
      {TYPED("sets = {method = 'look'}"), "sets: give a list of tables"},
      {TYPED("messages = {wake = true}"), "messages without waiting_max are no box"},
      {TYPED("elapsed = true"), "muster.type.elapsed: true is no choice; there are: delta, events"},
      {NPC "muster.world { agents = '3', start = function() end }\n",
       "muster.world: agents: give a whole number up to 16,000,000; it is \"3\""},
      {NPC "muster.world { agents = 3, agents_max = 2, start = function() end }\n",
       "muster.world: agents_max is less than agents"},
      {NPC "muster.world { agents = 3, cell = 'wide', start = function() end }\n",
       "muster.world: cell: give a number, in metres; it is \"wide\""},
      {NPC "muster.world { agents = 3, start = 5 }\n", "muster.world: start: give a function; it is 5"},
      {THINKS("muster.set_period('100ms')"), "give a time in seconds, a number, such as 0.1"},
      {THINKS("muster.wake_at('1s')"), "give a time in seconds, a number, such as 0.1"},
      {THINKS("muster.wake_at(0.001)"), "give the time at which, such as muster.now() + 0.001"});
}

Test(wrong, positions) {
  WRONG_TEXTS(
      {STARTS("muster.spawn(npc, {10, 5})"),
       "main.lua:2: muster.spawn: a position has names for its numbers: {x = 10, y = 5}, not {10, 5}"},
      {STARTS("muster.spawn(npc)"), "muster.spawn: give a position, such as {x = 10, y = 5}"},
      {STARTS("muster.spawn(npc, 10, 5)"), "muster.spawn: give a position, such as {x = 10, y = 5}"},
      {STARTS("muster.spawn(npc, {})"),
       "muster.spawn: a position needs x and y, such as {x = 10, y = 5}: its x is nil"},
      {NPC "local spot = {x = 1, y = 2}\nmuster.world { start = function() muster.spawn(npc, {x = spot.x, y = spot.z}) "
           "end }\n",
       "main.lua:3: muster.spawn: a position needs x and y, such as {x = 10, y = 5}: its y is nil"},
      {STARTS("muster.spawn(npc, {X = 1, y = 2})"), "its x is nil, and its X is another name"},
      {STARTS("muster.spawn(npc, {x = 'east', y = 2})"), "muster.spawn: x: give a number, in metres; it is \"east\""},
      {STARTS("muster.spawn(npc, {x = 0 / 0, y = 2})"), "main.lua:2: "},
      {NPC "muster.world { start = function() muster.observe {10, 5} end, observers = 1 }\n",
       "muster.observe: a position has names for its numbers"},
      {THINKS("muster.move(self.position)"), "muster.move: give x and y, two numbers in metres: muster.move(10, 5)"},
      {THINKS("muster:move(1, 2)"), "main.lua:2: muster.move: give x and y"},
      {THINKS("muster.move(1)"), "main.lua:2: bad argument #2 to 'move' (number expected, got no value)"},
      {NPC "function npc:think()\n self.position.x = self.position.x + 1 end\n" MANY,
       "main.lua:3: self.position is a new table each time: to move, call muster.move(x, y)"},
      {THINKS("self.x = self.x + 1"), "self.x is told by Muster and cannot be set: to move, call muster.move(x, y)"},
      {STARTS("muster.spawn(npc, {x = 1, y = 2}, {x = 3})"),
       "muster.spawn: the fields of the newborn's self have no 'x', which Muster tells"});
}

Test(wrong, what_cannot_be_kept) {
  WRONG_TEXTS(
      {THINKS("self.run = function() end"),
       "main.lua:2: self.run is a function, which cannot be kept: write it as a method"},
      {THINKS("self.place = setmetatable({}, {})"), "self.place is a table with a metatable, which cannot be kept"},
      {"kinds = {wolf = {legs = 4}}\n" THINKS("self.kind = kinds.wolf"),
       "self.kind is a table of the scripts, which cannot be kept: keep its name, and look it up"},
      {THINKS("self[1] = print"), "is a function, which cannot be kept"},
      {NPC "function npc:spawned() self.goals = {{run = function() end}} end\nfunction npc:think() end\n" MANY,
       "npc: self.goals[1].run: it is a function, and cannot be kept"},
      {NPC "function npc:spawned() self.run = 1 end\nfunction npc:think() self.run = print end\n" MANY,
       "npc: self.run: it is a function, and cannot be kept"},
      {THINKS("self.seen = self.seen or {} self.seen[self.seen] = 1"), "behind a key that is a table or a function"},
      {NPC "function npc:think() end\nmuster.world { start = function(world) world.run = print\n"
           " muster.spawn(npc, {x = 0, y = 0}) end }\n",
       "muster.world: world.run: it is a function, and cannot be kept"});
}

Test(wrong, what_scripts_do_not_have) {
  WRONG_TEXTS(
      {THINKS("self.at = os.time()"),
       "main.lua:2: attempt to index a nil value (global 'os'); scripts have no 'os': muster.now() tells the time"},
      {NPC "local clock = os.clock\n" MANY,
       "main.lua:2: attempt to index a nil value (global 'os'); scripts have no 'os'"},
      {NPC "local file = io.open('npcs.txt')\n" MANY, "scripts have no 'io': scripts reach no files"},
      {THINKS("coroutine.yield()"), "scripts have no 'coroutine': each update is a coroutine already"},
      {THINKS("load('return 1')"), "scripts have no 'load': texts are compiled when they are loaded"},
      {THINKS("wait(1)"), "scripts have no 'wait': an update does not wait"},
      {NPC "math.randomseed(7)\n" MANY, "scripts have no math.randomseed: math.random needs no seed"},
      {THINKS("self.n = math.pow(2, 3)"), "scripts have no math.pow: write x ^ y"},
      {THINKS("print(string.pack('i4', 1))"), "scripts have no string.pack: scripts take no bytes apart"},
      {THINKS("print(unpack({1}))"), "scripts have no 'unpack': it is table.unpack"},
      {NPC "require 'helpers'\n" MANY,
       "main.lua:2: require: there is no script 'helpers' in the folder; there are: main"},
      {NPC "require 'main.lua'\n" MANY, "there is no script 'main.lua' in the folder; write its name without .lua"},
      {NPC "count = 0\nfunction npc:think() count = count + 1 end\n" MANY, "'count' cannot be changed"},
      {NPC "local count = 0\nfunction npc:think() count = count + 1 end\n" MANY,
       "main.lua:3: this function changes 'count', a variable outside of it"});
}

Test(wrong, other_agents) {
  WRONG_TEXTS({THINKS("for i, id in ipairs(muster.nearby(10)) do self.n = i end"),
               "muster.nearby is for a loop: for id, distance, x, y in muster.nearby(20) do"},
              {THINKS("local id = muster.nearest(10) self.n = id.x"),
               "a number has no fields: of an agent's id, local x, y = muster.position(id) tells where it is"},
              {THINKS("muster.nearest(10, wolff)"), "muster.nearest: the type is nil"},
              {NPC OTHER "function npc:think() muster.nearest(10, 'wolff') end\n" MANY,
               "there is no type 'wolff'; did you mean 'wolf'?"},
              {NPC OTHER
               "function npc:think() local id = muster.nearest(10) self.n = muster.read(id, 'hunt') end\n" MANY,
               "muster.read: no type publishes 'hunt'; did you mean 'hunts'?"},
              {THINKS("muster.publish('hungry', true)"),
               "type 'npc' publishes no 'hungry': write publishes = {\"hungry\"} into its muster.type"},
              {"local npc = muster.type { name = 'npc', publishes = {'hungry'} }\nfunction npc:think() "
               "muster.publish('hungy', 1) end\n" MANY,
               "type 'npc' publishes no 'hungy'; did you mean 'hungry'?"},
              {"local npc = muster.type { name = 'npc', publishes = {'mood'} }\nfunction npc:think() "
               "muster.publish('mood', 'bad') end\n" MANY,
               "a number, a boolean or nil can be published"},
              {THINKS("for _, what in muster.messages() do print(what) end"),
               "muster.messages: type 'npc' has no box: write messages = {waiting_max = 4} into its muster.type"},
              {THINKS("muster.send(muster.nearest(10), 'hello')"), "main.lua:2: "},
              {THINKS("muster.spawn(npc, {x = 1, y = 1})"), "main.lua:2: "},
              {NPC "function npc:act() muster.remove(self.prey) end\n" MANY, "bad argument #1 to 'remove'"});
}

Test(wrong, worlds) {
  WRONG_TEXTS(
      {NPC "muster.spawn(npc, {x = 1, y = 1})\n" MANY,
       "main.lua:2: muster.spawn: only in the methods of an agent, and in the functions of muster.world"},
      {STARTS("muster.spawn(ncp, {x = 1, y = 1})"),
       "main.lua:2: the type is nil: its name is misspelt, or it stands above its definition"},
      {STARTS("muster.spawn('ncp', {x = 1, y = 1})"), "there is no type 'ncp'; there are: npc"},
      {STARTS("muster.spawn({}, {x = 1, y = 1})"), "give what muster.type returned, or a type's name; this is a table"},
      {STARTS("muster.move(1, 2)"), "muster.move: only in the methods of an agent"},
      {"local x = 1\n", "define no type"},
      {NPC "if 1 != 2 then end\n" MANY, "main.lua:2: 'then' expected near '!'; Lua writes ~= for not equal"},
      {THINKS("self.n += 1"), "main.lua:2: syntax error near '+'; Lua has neither += nor ++: write x = x + 1"},
      {NPC "// walks\n" MANY,
       "main.lua:2: attempt to perform arithmetic on a table value; // divides: comments begin with --"},
      {NPC "function npc:think() // walks\nend\n" MANY, "near '//'; Lua's comments begin with --"},
      {THINKS("while true do end"), "main.lua:2: the update does not end here, and its agent runs no more"},
      {NPC "function npc:act() while true do end end\n" MANY, "it did not end within 20000 loops and calls"});
  DOUBTFUL_TEXTS({NPC "function npc:think() end\n", "no muster.world with a start function"},
                 {NPC "function npc:think() end\nmuster.world { agents = 3, start = function() end }\n",
                  "muster.world.start spawned nobody"});
}

Test(wrong, types_that_contradict_themselves) {
  WRONG_TEXTS(
      {"local npc = muster.type { name = 'npc', slice = '0us' }\nfunction npc:think() while true do end end\n" MANY,
       "muster.type 'npc': slice and cuts_max must be more than 0"},
      {"local npc = muster.type { name = 'npc', cuts_max = 0 }\n" MANY,
       "muster.type 'npc': slice and cuts_max must be more than 0"},
      {"local npc = muster.type { name = 'npc', levels = {importance = {0.5}} }\n" MANY,
       "levels.importance has a number for each level but the last: count is 1"},
      {"local npc = muster.type { name = 'npc', levels = {count = 9} }\n" MANY,
       "type 'npc': levels.count 9 must be 1..4"},
      {"local npc = muster.type { name = 'npc', period = '0ms' }\n" MANY,
       "type 'npc': period_ns 0 must be 100 us .. 24 h"},
      {"local npc = muster.type { name = 'npc', importance = 100 }\n" MANY, "type 'npc': importance 100 must be 0..1"},
      {"local npc = muster.type { name = 'npc', sets = {{method = 'look', period = '1s', period_updates = 3}} "
       "}\nfunction npc:look() end\n" MANY,
       "main.lua:1: set: give period or period_updates, not both"},
      {"local npc = muster.type { name = 'npc', sets = {{method = 'look', share = 0.5}} }\nfunction npc:look() "
       "end\n" MANY,
       "set.share: give a whole number; it is 0.5"},
      {"local npc = muster.type { name = 'npc', sets = {{method = 'look', role = 'see'}} }\nfunction npc:look() "
       "end\n" MANY,
       "set.role: \"see\" is no choice; there are: think, sense, act"},
      {"local npc = muster.type { name = 'npc', messages = {sends_max = 1} }\nfunction npc:think() local id = "
       "muster.nearest(9) muster.send(id, 'x') end\n" MANY,
       "message: type 'npc' has no boxes: set its messages.waiting_max"},
      {"local npc = muster.type { name = 'npc', messages = {waiting_max = 1} }\nfunction npc:think() "
       "muster.send(self.id, 'x') end\n" MANY,
       "type 'npc' may send messages.sends_max = 0 per update"},
      {"local npc = muster.type { name = 'npc', messages = {waiting_max = 1, sends_max = 1} }\nfunction npc:think() "
       "muster.send(self.id, ('x'):rep(300)) end\n" MANY,
       "muster.send: the message takes more than 256 bytes"},
      {"local npc = muster.type { name = 'npc', messages = {waiting_max = 1, sends_max = 1} }\nfunction npc:think() "
       "muster.send(self.id, print) end\n" MANY,
       "muster.send: the message is a function"});
  DOUBTFUL_TEXTS({"local npc = muster.type { name = 'npc', elapsed = 'events' }\nfunction npc:think() end\n" MANY,
                  "type 'npc' runs when it is woken (elapsed = \"events\"), and no text wakes"});
}

Test(wrong, numbers_and_loops) {
  WRONG_TEXTS(
      {THINKS("muster.spawn(npc, self.position, {t = ('x'):rep(200)})"),
       "muster.spawn: its fields take more than 120 bytes"},
      {THINKS("muster.set_period(1e-9)"), "it is in seconds, and less than a microsecond"},
      {THINKS("muster.progress(50)"), "give a share from 0 to 1"},
      {THINKS("muster.move(1e12, 0)"), "main.lua:2: position (1000000000000, 0, 0) must be finite and within +-1e9 m"},
      {NPC "function npc:think(self) self.n = 1 end\n" MANY,
       "(local 'self'); a method with a colon has self already: leave it out of the parameters"},
      {THINKS("for key, value in self do print(key, value) end"), "write in pairs(TABLE), or in ipairs(LIST)"},
      {THINKS("for id in muster.nearby do print(id) end"), "muster.nearby is for a loop"});
}

Test(wrong, words_of_other_languages) {
  WRONG_TEXTS({THINKS("self.n = '1' + 1"), "text is no number: write tonumber(text) + 1"},
              {NPC "function npc:think()\n if self.x == 1 then\n else if self.x == 2 then end\nend\n" MANY,
               "an 'else if' is an if of its own, with an end of its own: write elseif"},
              {NPC "function npc:think()\n for i = 1, 3 do if i == 2 then continue end end\nend\n" MANY,
               "main.lua:3: syntax error near 'end'; Lua has no continue"},
              {THINKS("if self.x = 1 then end"), "main.lua:2: 'then' expected near '='; == compares"});
}

Test(wrong, what_came_to_mind_later) {
  WRONG_TEXTS(
      {NPC
       "muster.world { agents = 2, start = function() for i = 1, 100 do muster.spawn(npc, {x = i, y = 0}) end end }\n",
       "muster.world says how many there may be: agents, agents_max"},
      {STARTS("for i = 1, 3 do muster.observe {x = i, y = 0} end"),
       "observers of muster.world says how many there may be"},
      {THINKS("self:think()"), "main.lua:2: not enough memory"},
      {THINKS("error({code = 1})"), "main.lua:2: a value that is no text was raised as an error"},
      {NPC "function npc:think() end\nmuster.world { start = function() muster.spawn(npc, {x = 1, y = 1}) end,\n"
           " frame = function(world) world.n = world.n + 1 end }\n",
       "muster.world.frame: main.lua:4: attempt to perform arithmetic on a nil value (field 'n')"},
      {THINKS("local t = [1, 2]"), "near '['; Lua's lists are {1, 2, 3}"},
      {THINKS("return self.x > 1 ? 1 : 2"), "near '?'; Lua writes x and y or z"},
      {NPC "function npc:think()\n var n = 1 end\n" MANY, "main.lua:3: syntax error near 'n'; Lua writes local"},
      {THINKS("this.n = 1"), "scripts have no 'this': an agent is self"},
      {THINKS("for i in range(3) do print(i) end"), "scripts have no 'range': write for i = 1, 10 do"},
      {THINKS("for i in 1, 3 do print(i) end"), "write in pairs(TABLE), or in ipairs(LIST)"},
      {NPC "muster.world({ agents = 3 }, function() end)\n", "muster.world: give a table"},
      {NPC "muster.word { agents = 3 }\n", "muster has no 'word'; did you mean 'world'?"},
      {THINKS("self.now_of = muster.now"), "self.now_of is a function, which cannot be kept"},
      {THINKS("npc.n = 1"), "'n' cannot be changed: what the scripts define is read-only"},
      {THINKS("muster.set_period(2, 1)"), "main.lua:2: "},
      {THINKS("setmetatable(self, {})"), "setmetatable: the metatable of this table is protected"},
      {"print('hello')\n", "define no type"});
  DOUBTFUL_TEXTS(
      {NPC "muster.world { agents = 3, start = begin }\nfunction begin() muster.spawn(npc, {x = 1, y = 1}) end\n",
       "muster.world has no start, or it is nil, since it stands above its definition"});
}

/* How many errors there were stands in the last line. */
Test(wrong, errors_are_counted) {
  static char said[SAID_MAX];
  cr_assert_eq(run_text(THINKS("self.n = (self.n or 0) + 1 if self.n < 4 then error('no') end"), said), 1);
  cr_assert_not_null(strstr(said, "muster: 9 errors in 1 place, of which 9: main.lua:2: no\n"), "%s", said);
  cr_assert_eq(
      run_text(
          NPC
          "function npc:think() if self.x == 1 and not self.done then\nself.done = true error('once') end end\n" MANY,
          said),
      1);
  cr_assert_not_null(strstr(said, "muster: 1 error in 1 place, of which 1: main.lua:3: once\n"), "%s", said);
}

/* What is right is not spoken of. */
Test(wrong, right_texts_are_silent) {
  static const char *const texts[] = {
      NPC "function npc:sensed() return 1 end\nfunction npc:think() self.n = self:sensed() end\n" MANY,
      NPC "function npc:actt() end\nfunction npc:think() npc.actt(self) end\n" MANY,
      NPC "function npc:thinks() end\nfunction npc:act() self['thinks'](self) end\n" MANY,
      NPC "local function think(self) self.n = 1 end\nnpc.think = think\n" MANY,
      NPC "npc.cost = 3\nfunction npc:think() self.n = npc.cost end\n" MANY,
      NPC "function npc:think() self.last = self.position self.way = {{x = 1}, 'a', true} self.way.again = self.way "
          "end\n" MANY,
      NPC "local spot = {}\nfunction spot.shift(self) self.position.x = 1 end\n"
          "function npc:think() local s = {position = {}} spot.shift(s) self.n = s.position.x end\n" MANY,
      THINKS("if os then self.n = 1 end"),
      "local npc = muster.type { name = 'npc' }\n" MANY,
      NPC OTHER "function npc:think() local id = muster.nearest(10) self.n = muster.read(id, 'hunts') end\n" MANY,
      THINKS("pcall(error, 'caught')")};
  static char said[SAID_MAX];
  for (size_t i = 0; i < COUNT_OF(texts); i++) {
    cr_expect(run_text(texts[i], said) == 0, "%s\n%s", texts[i], said);
    cr_expect(strstr(said, "muster lua:") == NULL, "%s\n%s", texts[i], said);
  }
}

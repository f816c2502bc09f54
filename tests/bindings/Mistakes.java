import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import muster.Agent;
import muster.AgentType;
import muster.Layout;
import muster.Observer;
import muster.World;

/**
 * Programs of hurried newcomers, each with one mistake: every one ends in a sentence that says where, what is wrong,
 * and what to do about it. Without an argument those that end in an exception; with "log" those that Muster only tells
 * its log of, since nothing of them is wrong by itself.
 */
public final class Mistakes {
  private static final long FRAME_NS = 50_000_000, BUDGET_NS = 1_000_000;

  /** What they have: a world with a sheep, which is due, and a player. */
  private static final class Farm implements AutoCloseable {
    final World world =
        new World(World.defaults().clockKind(Layout.Clock.VIRTUAL).limitsAgentsMax(64));
    final AgentType sheep = world.registerType("sheep", Layout.TypeDef.defaults());
    final Agent dolly = world.spawn(sheep, 1, 0, 0, 0);
    final Observer player = world.addObserver(Layout.ObserverDef.defaults());
    final Layout.PlanEntry entries = new Layout.PlanEntry(16);
    final Layout.PlanResult results = new Layout.PlanResult(16);
    final Layout.PlanSummary summary = Layout.PlanSummary.defaults();
    long now;

    Farm() {
      plan();
      world.report(results, 0);
      dolly.wake();
    }

    /** A plan, and a result for the first entry of it. */
    Layout.PlanResult plan() {
      world.plan(now += FRAME_NS, BUDGET_NS, entries, summary);
      return results.at(0).agent(dolly.id()).costNs(1000).outcome(Layout.PlanOutcome.FINISHED).moved(1).positionX(1);
    }

    @Override
    public void close() {
      world.close();
    }
  }

  private interface Program {
    void run(Farm farm) throws Exception;
  }

  private static final class Row {
    final String name, says;
    final Program program;

    Row(String name, String says, Program program) {
      this.name = name;
      this.says = says;
      this.program = program;
    }
  }

  private static final List<Row> ROWS = new ArrayList<>();

  private static void row(String name, String says, Program program) {
    ROWS.add(new Row(name, says, program));
  }

  private static Layout.TypeDef wolf() {
    return Layout.TypeDef.defaults();
  }

  private static Layout.Agent id(long value) {
    return new Layout.Agent(1).value(value);
  }

  private static Layout.NearbyQuery within(float radiusM) {
    return Layout.NearbyQuery.defaults().radiusM(radiusM);
  }

  private static void definitions() {
    row("a world of frames", "World: plannerWorkers of def is 0: begin with World.defaults()",
        farm -> new World(Layout.WorldDef.defaults()));
    row("no world", "World: def is null, and must be given", farm -> new World(null));
    row("a definition of zeros", "World.registerType: muster_type_def was not set by Layout.TypeDef.defaults()",
        farm -> farm.world.registerType("wolf", new Layout.TypeDef(1)));
    row("an observer of zeros", "World.addObserver: muster_observer_def was not set by Layout.ObserverDef.defaults()",
        farm -> farm.world.addObserver(new Layout.ObserverDef(1)));
    row("one of an array", "World.addObserver: def is an array of 3, of which only the first would count",
        farm -> farm.world.addObserver(new Layout.ObserverDef(3).at(2)));
    row("a period in milliseconds", "World.registerType: type 'wolf': period_ns 100 must be 100 us .. 24 h",
        farm -> farm.world.registerType("wolf", wolf().periodNs(100)));
    row("a mistake of a wolf with a face", "type 'wolf \ud83d\udc3a': period_ns 100 must be 100 us .. 24 h",
        farm -> farm.world.registerType("wolf \ud83d\udc3a", wolf().periodNs(100)));
    row("a negative period", "period_ns 18446744073709551615 (-1, taken for an unsigned number) must be 100 us",
        farm -> farm.world.registerType("wolf", wolf().periodNs(-1)));
    row("a callback", "World.registerType: onSpawned of def is for callbacks, which the library cannot make into Java",
        farm -> farm.world.registerType("wolf", wolf().onSpawned(4096)));
    row("no name", "World.registerType: name is null: give the type a name",
        farm -> farm.world.registerType(null, wolf()));
    row("an empty name", "World.registerType: name is empty: give the type a name",
        farm -> farm.world.registerType("", wolf()));
    row("a name twice", "World.registerType: name 'sheep' is type 1 already: keep what registerType() returned",
        farm -> farm.world.registerType("sheep", wolf()));
    row("a long name", "has 35 bytes of UTF-8: it must have 31 at most",
        farm -> farm.world.registerType("w\u00f6lfe der n\u00f6rdlichen W\u00e4lder 1234", wolf()));
    row("a name with a zero", "World.registerType: name has a zero in it",
        farm -> farm.world.registerType("wolf\0pup", wolf()));
    row("sets of none", "World.registerType: sets is empty: give one at least",
        farm -> farm.world.registerType("wolf", wolf(), new Layout.SetDef[0]));
    row("sets as an array of the library", "World.registerType: sets[0] is an array of 2, of which only the first",
        farm -> farm.world.registerType("wolf", wolf(), new Layout.SetDef(2)));
  }

  private static void agents() {
    row("a type of another world", "World.spawn: type 'sheep' is of another world: register it in this one", farm -> {
      try (Farm other = new Farm()) {
        other.world.spawn(farm.sheep, 0, 0, 0, 0);
      }
    });
    row("a type that was made up", "World.spawn: agent: type 9 is not registered",
        farm -> farm.world.spawn(9, 0, 0, 0, 0));
    row("no type", "World.spawn: type is null, and must be given", farm -> farm.world.spawn(null, 0, 0, 0, 0));
    row("an agent nowhere", "World.spawn: agent: position (",
        farm -> farm.world.spawn(farm.sheep, Double.NaN, 0, 0, 0));
    row("an agent at infinity", "Agent.move: position (inf, 0, 0) must be finite and within",
        farm -> farm.dolly.move(1 / 0.0, 0, 0));
    row("one of many nowhere", "World.moveAgents: positions.at(0) (NaN, 0.0, 0.0) must be finite and within 1e9 m",
        farm -> farm.world.moveAgents(id(farm.dolly.id()), new Layout.Position(1).x(Double.NaN), 1));
    row("one of many observers nowhere", "World.moveObservers: positions.at(0) (1.0E300, 0.0, 0.0) must be finite",
        farm -> farm.world.moveObservers(
            new Layout.Observer(1).value(farm.player.id()), new Layout.Position(1).x(1e300), 1));
    row("an agent that was removed", "Agent.wake: agent 0 (generation 1) is gone: it was removed, or never was",
        farm -> {
          farm.dolly.close();
          farm.dolly.wake();
        });
    row("an id that was made up", "Agent.read: agent 345 (generation 0) is gone: it was removed, or never was",
        farm -> new Agent(farm.world, 345).read());
    row("an agent of no world", "Agent: world is null, and must be given", farm -> new Agent(null, 1));
    row("an observer that was removed", "Observer.move: this observer is gone: close() removed it, add another",
        farm -> {
          farm.player.close();
          farm.player.close();
          farm.player.move(0, 0, 0);
        });
    row("an observer before its frame", "Observer.read: observer 1 (generation 1) begins with the next frame: run one",
        farm -> farm.world.addObserver(Layout.ObserverDef.defaults()).read());
    row("an observer that was made up", "Observer.read: observer 9 (generation 1) is gone: it was removed, or never",
        farm -> new Observer(farm.world, 1L << 32 | 9).read());
    row("far before near", "World.addObserver: observer: 0 <= near_m (25) < far_m (10)",
        farm -> farm.world.addObserver(Layout.ObserverDef.defaults().farM(10)));
    row("a negative partition", "observer: partition 4294967295 must be 0..65535",
        farm -> farm.world.addObserver(Layout.ObserverDef.defaults().partition(-1)));
    row("a factor in percent", "Agent.tune: tuning: visibility 50 must be 0..1",
        farm -> farm.dolly.tune(Layout.AgentTuning.defaults().visibility(50)));
    row("too many agents", "World.spawn: each id of agents_max = 64 is an agent's", farm -> {
      for (;;) farm.world.spawn(farm.sheep, 0, 0, 0, 0);
    });
    row("a negative period of an agent", "Agent.setPeriods: periodNs is -5: it must be 0 or more",
        farm -> farm.dolly.setPeriods(-5, 0));
    row("a wake before zero", "Agent.wakeAt: simNs is -2: it must be 0 or more", farm -> farm.dolly.wakeAt(-2));
  }

  private static void frames() {
    row("a budget of 0", "World.plan: frame: budget_ns 0 must be 10 us .. 10 s",
        farm -> farm.world.plan(2 * FRAME_NS, 0, farm.entries, farm.summary));
    row("a budget in milliseconds", "World.plan: frame: budget_ns 5 must be 10 us .. 10 s",
        farm -> farm.world.plan(2 * FRAME_NS, 5, farm.entries, farm.summary));
    row("a negative budget", "World.plan: budgetNs is -5: it must be 0 or more",
        farm -> farm.world.plan(2 * FRAME_NS, -5, farm.entries, farm.summary));
    row("time that goes back", "World.plan: frame: sim_now_ns 1 is before the last frame's 50000000",
        farm -> farm.world.plan(1, BUDGET_NS, farm.entries, farm.summary));
    row("time before zero", "World.plan: simNowNs is -1: it must be 0 or more",
        farm -> farm.world.plan(-1, BUDGET_NS, farm.entries, farm.summary));
    row("time in centuries", "World.plan: frame: sim_now_ns 9223372036854775807 is beyond 146 years",
        farm -> farm.world.plan(Long.MAX_VALUE, BUDGET_NS, farm.entries, farm.summary));
    row("no room for a plan", "World.plan: entries is null, and must be given",
        farm -> farm.world.plan(2 * FRAME_NS, BUDGET_NS, null, farm.summary));
    row("an array of nothing", "count is 0: it must be 1 ..", farm -> new Layout.PlanEntry(0));
    row("a place that is none", "index 16 of 16", farm -> farm.entries.at(16));
    row("no report", "World.plan: the last plan was not reported yet: call report() before, with what ran, or nothing",
        farm -> {
          farm.plan();
          farm.plan();
        });
    row("an update that throws", "World.plan: the last plan was not reported yet: call report() before", farm -> {
      try {
        farm.plan();
        throw new ArithmeticException();
      } catch (ArithmeticException error) {
        farm.plan();
      }
    });
    row("a report twice", "World.report: there is no plan to report about: call plan() before, and report each",
        farm -> {
          farm.plan();
          farm.world.report(farm.results, 1);
          farm.world.report(farm.results, 1);
        });
    row("an agent twice", "World.report: results[1].agent 0 (generation 1) comes for the second time: report it once",
        farm -> {
          farm.plan();
          farm.results.at(1).agent(farm.dolly.id());
          farm.world.report(farm.results, 2);
        });
    row("all results in one place", "World.report: results[1].agent 0 (generation 0) is not in the plan: report",
        farm -> {
          farm.plan();
          for (int k = 0; k < 2; k++) farm.results.agent(farm.entries.agent());
          farm.world.report(farm.results, 2);
        });
    row("results of the plan before", "World.report: results[0].agent 0 (generation 1) is not in the plan", farm -> {
      farm.plan();
      farm.world.report(farm.results, 1);
      farm.world.plan(farm.now + 1000, BUDGET_NS, farm.entries, farm.summary);
      farm.world.report(farm.results, 1);
    });
    row("no outcome", "World.report: results.at(0) has a cost or moved, but its outcome is NOT_RUN, which drops it",
        farm -> {
          farm.plan().outcome(0);
          farm.world.report(farm.results, 1);
        });
    row("an outcome that is none", "World.report: results[0].outcome 7 is unknown: must be 0..2", farm -> {
      farm.plan().outcome(7);
      farm.world.report(farm.results, 1);
    });
    row("a cost in picoseconds", "World.report: results[0].cost_ns 20000000000 must be at most 10 s", farm -> {
      farm.plan().costNs(20_000_000_000L);
      farm.world.report(farm.results, 1);
    });
    row("an update to nowhere", "World.report: results[0].position (", farm -> {
      farm.plan().positionX(Double.NaN);
      farm.world.report(farm.results, 1);
    });
    row("more results than there are", "World.report: count is 17, but results has room for 16: give a longer array",
        farm -> {
          farm.plan();
          farm.world.report(farm.results, 17);
        });
    row("fewer than none", "World.report: count is -1: it must be 0 or more", farm -> {
      farm.plan();
      farm.world.report(farm.results, -1);
    });
    row("a batch within a plan", "World.moveAgents: positions of agents: not inside a frame, which report() ends",
        farm -> {
          farm.plan();
          farm.world.moveAgents(id(1), new Layout.Position(1), 1);
        });
    row("a type within a plan", "World.registerType: type: not inside a frame, which report() ends", farm -> {
      farm.plan();
      farm.world.registerType("wolf", wolf());
    });
    row("parts without a plan", "World.parts: there is no plan whose parts they are: call plan() before",
        farm -> farm.world.parts(farm.entries, 0, new Layout.PlanPart(1)));
  }

  private static void queries() {
    int moved = Layout.ChangeKind.MOVED;
    row("a short array", "World.readPositions: count is 3, but positions has room for 1: give a longer array",
        farm -> farm.world.readPositions(new Layout.Agent(3), 3, new Layout.Position(1)));
    row("changes of no world", "World.readChanges: changes: this world keeps none; set changes_frames",
        farm -> farm.world.readChanges(moved, new World.Cursor(), new Layout.Change(1)));
    row("changes of no kind", "World.readChanges: kinds is 0, which asks for nothing: name one or several",
        farm -> farm.world.readChanges(0, new World.Cursor(), new Layout.Change(1)));
    row("changes to nowhere", "World.readChanges: changes is null, and must be given",
        farm -> farm.world.readChanges(moved, new World.Cursor(), null));
    row("neighbours without a radius", "World.nearby: radiusM of query is 0, which finds nobody: set it, in metres",
        farm -> farm.world.nearby(within(0), new Layout.NearbyAgent(1)));
    row("neighbours at no number", "World.nearby: radius_m",
        farm -> farm.world.nearby(within(Float.NaN), new Layout.NearbyAgent(1)));
    row("neighbours to nowhere", "World.nearby: found is null, and must be given",
        farm -> farm.world.nearby(within(9), null));
  }

  // ---------------------------------------------------------------------------------------------------- other threads

  /** Whoever comes second is told; the other goes on. */
  private static void planOnTwoThreads(Farm farm) throws Exception {
    AtomicReference<Exception> told = new AtomicReference<>();
    Runnable run = () -> {
      try {
        while (told.get() == null) farm.world.hash();
      } catch (RuntimeException error) {
        told.compareAndSet(null, error);
      }
    };
    Thread second = new Thread(run);
    second.start();
    run.run();
    second.join();
    throw told.get();
  }

  /** The loop of the frames ends with a sentence, or the one who closes the world has one. */
  private static void closeWhileFramesRun(Farm farm) throws Exception {
    AtomicReference<Exception> told = new AtomicReference<>();
    Thread frames = new Thread(() -> {
      try {
        for (;;) {
          farm.plan();
          farm.world.report(farm.results, 0);
        }
      } catch (RuntimeException error) {
        told.set(error);
      }
    });
    frames.start();
    while (!farm.world.isClosed()) {
      try {
        farm.world.close();
      } catch (IllegalStateException error) {
        if (!error.getMessage().contains("World.close: another thread is in World.")) throw error;
      }
    }
    frames.join();
    throw told.get();
  }

  /** Calls that any thread may make go on while worlds are closed: none of them meets memory that is gone. */
  private static void closeWhileAgentsAreAsked(Farm first) throws Exception {
    AtomicReference<Exception> told = new AtomicReference<>(), wrong = new AtomicReference<>();
    AtomicReference<Farm> farm = new AtomicReference<>(first);
    AtomicInteger rounds = new AtomicInteger(40), calls = new AtomicInteger();
    Runnable run = () -> {
      while (rounds.get() > 0) {
        try {
          Farm here = farm.get();
          while (here.dolly.exists()) calls.incrementAndGet();
          here.dolly.move(0, 0, 0);
        } catch (IllegalStateException error) {
          told.set(error);
        } catch (RuntimeException error) {
          wrong.set(error);
        }
      }
    };
    Thread[] askers = {new Thread(run), new Thread(run)};
    for (Thread asker : askers) asker.start();
    while (rounds.get() > 0) {
      int before = calls.get();
      while (wrong.get() == null && calls.get() - before < 1000) Thread.yield();
      farm.get().close();
      farm.set(new Farm());
      rounds.set(wrong.get() == null ? rounds.get() - 1 : 0);
    }
    farm.get().close();
    for (Thread asker : askers) asker.join();
    throw wrong.get() == null ? told.get() : wrong.get();
  }

  private static void ends() {
    row("a world that was closed", "World.plan: the world is closed: end all calls of it, its agents and its observers",
        farm -> {
          farm.world.close();
          farm.world.close();
          farm.plan();
        });
    row("closed within a plan", "World.report: the world is closed: end all calls of it", farm -> {
      farm.plan();
      farm.world.close();
      farm.world.report(farm.results, 1);
    });
    row("an agent of a world that is gone", "Agent.wake: the world is closed: end all calls of it", farm -> {
      farm.world.close();
      farm.dolly.close();
      farm.dolly.wake();
    });
    row("two threads", "World.hash: another thread is in World.hash of this world, whose calls come from one thread",
        Mistakes::planOnTwoThreads);
    row("closed while frames run", "the world is closed: end all calls of it", Mistakes::closeWhileFramesRun);
    row("closed while agents are asked", "the world is closed: end all calls", Mistakes::closeWhileAgentsAreAsked);
  }

  private static boolean isTold(Row row) {
    String told = "nothing: it is silent";
    try (Farm farm = new Farm()) {
      row.program.run(farm);
    } catch (Exception error) {
      told = error.getClass().getSimpleName() + ": " + error.getMessage();
    }
    boolean ends = told.contains(row.says);
    System.out.println((ends ? "" : "WRONG ") + row.name + "\n    " + told);
    return ends;
  }

  // ---------------------------------------------------------------------------------------------------------- the log

  /** Frames of 32 sheep, until the log has had time to say what it thinks. */
  private static void graze(long stepNs, int room, int moved, double apartM, int reported) {
    try (World world = new World(World.defaults().clockKind(Layout.Clock.VIRTUAL))) {
      AgentType sheep = world.registerType("sheep", Layout.TypeDef.defaults());
      for (int i = 0; i < 32; i++) world.spawn(sheep, apartM * (i + 1), 0, 0, i);
      world.addObserver(Layout.ObserverDef.defaults());
      Layout.PlanEntry entries = new Layout.PlanEntry(room);
      Layout.PlanResult results = new Layout.PlanResult(room);
      Layout.PlanSummary summary = Layout.PlanSummary.defaults();
      for (long frame = 1; frame <= 1100; frame++) {
        int count = world.plan(frame * stepNs, BUDGET_NS, entries, summary);
        for (int k = 0; k < count; k++) {
          Layout.PlanEntry entry = entries.at(k);
          results.at(k).agent(entry.agent()).costNs(entry.sliceNs()).outcome(Layout.PlanOutcome.FINISHED).moved(moved)
              .positionX(apartM * (entry.user() + 1)).positionY(moved == 0 ? 3 : 0);
        }
        world.report(results, Math.min(count, reported));
      }
    }
  }

  public static void main(String[] arguments) {
    if (arguments.length > 0) {
      System.err.println("time in milliseconds");
      graze(50, 32, 1, 1, 32);
      System.err.println("positions in centimetres");
      graze(FRAME_NS, 32, 1, 1000, 32);
      System.err.println("an array of one entry");
      graze(FRAME_NS, 1, 1, 1, 32);
      System.err.println("positions that did not move");
      graze(FRAME_NS, 32, 0, 1, 32);
      System.err.println("reports of nothing");
      graze(FRAME_NS, 32, 1, 1, 0);
      System.err.println("no mistake");
      graze(FRAME_NS, 32, 1, 1, 32);
      return;
    }
    definitions();
    agents();
    frames();
    queries();
    ends();
    int told = 0;
    for (Row row : ROWS) told += isTold(row) ? 1 : 0;
    System.out.println(told + " of " + ROWS.size() + " programs end in their sentence");
    if (told < ROWS.size()) System.exit(1);
  }
}

import muster.Agent;
import muster.AgentType;
import muster.Layout;
import muster.MusterException;
import muster.Observer;
import muster.World;

/** What the Java binding promises beyond what PlannerServer shows: refusals as exceptions, and closed objects. */
public final class Checks {
  private static int checks;

  private static void that(boolean holds, String what) {
    if (!holds) throw new AssertionError("does not hold: " + what);
    checks++;
  }

  private static void refused(int result, String word, Runnable call) {
    try {
      call.run();
    } catch (MusterException error) {
      that(error.result() == result && error.getMessage().contains(word),
          "expected " + result + " with '" + word + "', got " + error.result() + ": " + error.getMessage());
      return;
    }
    throw new AssertionError("was not refused: " + word);
  }

  private static void throwing(Class<? extends Exception> kind, String word, Runnable call) {
    try {
      call.run();
    } catch (RuntimeException error) {
      that(kind.isInstance(error) && error.getMessage().contains(word), "expected '" + word + "', got: " + error);
      return;
    }
    throw new AssertionError("did not throw: " + word);
  }

  private static World newWorld() {
    return new World(World.defaults().clockKind(Layout.Clock.VIRTUAL).limitsChangesFrames(4));
  }

  private static void definitions() {
    that(World.version().startsWith(Layout.VERSION_MAJOR + "." + Layout.VERSION_MINOR), "version " + World.version());
    refused(Layout.Result.E_ARGUMENT, "planner_workers", () -> new World(World.defaults().plannerWorkers(5000)));
    refused(Layout.Result.E_NOT_INITIALISED, "world", () -> new World(new Layout.WorldDef(1)));
    try (World world = newWorld()) {
      refused(Layout.Result.E_ARGUMENT, "period",
          () -> world.registerType("short", Layout.TypeDef.defaults().periodNs(1)));
      refused(Layout.Result.E_ARGUMENT, "type 9", () -> world.spawn(9, 0, 0, 0, 0));
      AgentType good = world.registerType("good", Layout.TypeDef.defaults());
      refused(Layout.Result.E_ARGUMENT, "position", () -> world.spawn(good, Double.NaN, 0, 0, 0));
    }
  }

  private static void frames() {
    try (World world = newWorld()) {
      AgentType type = world.registerType("type", Layout.TypeDef.defaults());
      Agent first = world.spawn(type, 1, 2, 3, 7), second = world.spawn(type, 5, 0, 0, 8);
      Observer observer = world.addObserver(Layout.ObserverDef.defaults().positionX(4));
      Layout.PlanEntry entries = new Layout.PlanEntry(8);
      Layout.PlanResult results = new Layout.PlanResult(8);
      Layout.PlanSummary summary = Layout.PlanSummary.defaults();
      world.plan(1000000, 1000000, entries, summary);
      refused(Layout.Result.E_STATE, "reported", () -> world.plan(2000000, 1000000, entries, summary));
      Layout.Agent ids = new Layout.Agent(2);
      ids.at(0).value(first.id()).at(1).value(second.id());
      Layout.Agent one = ids.at(0), other = ids.at(1);
      that(one.value() == first.id() && other.value() == second.id(), "each place stays where it is");
      Layout.Position places = new Layout.Position(2);
      places.at(0).x(10).at(1).x(20);
      refused(Layout.Result.E_STATE, "frame", () -> world.moveAgents(ids, places, 2));
      results.at(0).agent(77).outcome(Layout.PlanOutcome.FINISHED);
      refused(Layout.Result.E_ARGUMENT, "results[0].agent", () -> world.report(results, 1));
      world.report(results, 0);
      throwing(IllegalArgumentException.class, "results has room for 8", () -> world.report(results, 9));
      throwing(IndexOutOfBoundsException.class, "index 8 of 8", () -> results.at(8));
      throwing(IllegalArgumentException.class, "count is 0: it must be 1", () -> new Layout.PlanEntry(0));

      that(observer.read().positionX() == 4, "the observer is where it was put");
      that(first.read().positionZ() == 3 && first.exists(), "the agent is where it was put");
      that(world.moveAgents(ids, places, 2) == 2, "both move");
      Layout.Position read = new Layout.Position(2);
      that(world.readPositions(ids, 2, read) == 2 && read.at(1).x() == 20, "both are read");
      throwing(IllegalArgumentException.class, "positions has room for 1",
          () -> world.moveAgents(ids, new Layout.Position(1), 2));

      first.wake();
      first.move(11, 0, 0);
      int count = world.plan(4000000, 1000000, entries, summary);
      that(count == 1 && entries.at(0).user() == 7 && entries.agent() == first.id(), "the woken agent runs");
      results.at(0).agent(entries.agent()).costNs(1000).outcome(Layout.PlanOutcome.FINISHED);
      world.report(results, 1);
      that(world.readReport().completed() == 1, "the report counts it");
      that(world.readChanges(Layout.ChangeKind.MOVED, new World.Cursor(), new Layout.Change(8)) > 0, "moves are told");

      Layout.NearbyAgent found = new Layout.NearbyAgent(4);
      that(world.nearby(Layout.NearbyQuery.defaults().radiusM(100), found) == 2
              && found.at(0).neighbourAgent() == first.id(), "the nearest comes first");
      that(world.nearby(Layout.NearbyQuery.defaults().radiusM(1).positionX(5000), found) == 0, "nobody is there");
      refused(Layout.Result.E_ARGUMENT, "radius_m",
          () -> world.nearby(Layout.NearbyQuery.defaults().radiusM(Float.NaN), found));
      refused(Layout.Result.E_ARGUMENT, "position (",
          () -> world.nearby(Layout.NearbyQuery.defaults().radiusM(1).positionX(1e300), found));

      second.close();
      observer.close();
      world.plan(5000000, 1000000, entries, summary);
      world.report(results, 0);
      that(!second.exists(), "the agent is gone");
      second.close();
      observer.close();
      refused(Layout.Result.E_STALE, "agent", () -> second.read());
      that(world.moveAgents(ids, places, 2) == 1, "the one that is gone is passed over");
      that(world.hash() != 0, "there is a hash");
    }
  }

  private static Layout.SetDef everySoOften(long periodMs) {
    return Layout.SetDef.defaults().periodUpdates(0).periodNs(periodMs * 1000000);
  }

  private static void rates() {
    try (World world = newWorld()) {
      Layout.TypeDef def = Layout.TypeDef.defaults().periodNs(50000000);
      refused(Layout.Result.E_ARGUMENT, "period_ns", () -> world.registerType("bot", def, everySoOften(60)));
      AgentType type = world.registerType("bot", def, everySoOften(50), everySoOften(1000));
      that(world.registerType("plain", def).id() > type.id(), "the definition has no sets of its own");
      Agent agent = world.spawn(type, 0, 0, 0, 0);
      Layout.PlanEntry entries = new Layout.PlanEntry(2);
      Layout.PlanPart parts = new Layout.PlanPart(4);
      Layout.PlanSummary summary = Layout.PlanSummary.defaults();
      refused(Layout.Result.E_STATE, "no plan", () -> world.parts(entries, 0, parts));
      world.plan(1000000, 1000000, entries, summary);
      world.report(new Layout.PlanResult(1), 0);
      agent.wake();
      int count = world.plan(4000000, 1000000, entries, summary);
      that(world.parts(entries, count, parts) == 2, "a woken agent runs both");
      that(parts.at(1).entry() == 0 && parts.set() == 1 && parts.elapsedNs() == 3000000, "and is told the time of each");
      throwing(IllegalArgumentException.class, "entries has room for 2", () -> world.parts(entries, 3, parts));
      refused(Layout.Result.E_FULL, "capacity is 1", () -> world.parts(entries, count, new Layout.PlanPart(1)));
    }
  }

  private static void closing() {
    World world = newWorld();
    Agent agent = world.spawn(world.registerType("type", Layout.TypeDef.defaults()), 0, 0, 0, 0);
    world.close();
    world.close();
    agent.close();
    that(!agent.exists(), "an agent goes with its world");
    Layout.PlanEntry entries = new Layout.PlanEntry(1);
    Layout.Agent ids = new Layout.Agent(1);
    Layout.Position places = new Layout.Position(1);
    Observer observer = new Observer(world, 1);
    Runnable[] calls = {world::readReport, world::hash, () -> world.registerType("t", Layout.TypeDef.defaults()),
        () -> world.spawn(1, 0, 0, 0, 0), () -> world.addObserver(Layout.ObserverDef.defaults()),
        () -> world.plan(1, 1000000, entries, Layout.PlanSummary.defaults()),
        () -> world.parts(entries, 0, new Layout.PlanPart(1)), () -> world.report(new Layout.PlanResult(1), 0),
        () -> world.moveAgents(ids, places, 1), () -> world.moveObservers(new Layout.Observer(1), places, 1),
        () -> world.readPositions(ids, 1, places),
        () -> world.readChanges(Layout.ChangeKind.MOVED, new World.Cursor(), new Layout.Change(1)),
        () -> world.nearby(Layout.NearbyQuery.defaults().radiusM(1), new Layout.NearbyAgent(1)), agent::wake, agent::read,
        () -> agent.wakeAt(1), () -> agent.move(1, 2, 3), () -> agent.setPeriods(0, 0),
        () -> agent.tune(Layout.AgentTuning.defaults()), observer::read, () -> observer.move(1, 2, 3)};
    for (Runnable call : calls) throwing(IllegalStateException.class, "the world is closed", call);
  }

  /** A handle that was closed while its world goes on: each call says so, and closing once more is no error. */
  private static void closedHandles() {
    try (World world = newWorld()) {
      Agent agent = world.spawn(world.registerType("type", Layout.TypeDef.defaults()), 0, 0, 0, 0);
      Observer observer = world.addObserver(Layout.ObserverDef.defaults());
      Layout.PlanEntry entries = new Layout.PlanEntry(1);
      agent.close();
      observer.close();
      world.plan(1000000, 1000000, entries, Layout.PlanSummary.defaults());
      world.report(new Layout.PlanResult(1), 0);
      Runnable[] calls = {agent::wake, agent::read, () -> agent.wakeAt(1), () -> agent.move(1, 2, 3),
          () -> agent.setPeriods(0, 0), () -> agent.tune(Layout.AgentTuning.defaults()), observer::read,
          () -> observer.move(1, 2, 3)};
      for (Runnable call : calls) refused(Layout.Result.E_STALE, "gone", call);
    }
  }

  public static void main(String[] arguments) {
    definitions();
    frames();
    rates();
    closing();
    closedHandles();
    System.out.println(checks + " checks passed");
  }
}

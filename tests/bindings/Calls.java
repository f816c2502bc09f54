import java.util.Arrays;
import java.util.Locale;
import muster.Agent;
import muster.AgentType;
import muster.Layout;
import muster.World;

/** How many NPCs a second go through the calls of the Java binding: calls.c in Java. */
public final class Calls {
  private static final int AGENTS = 2000, ROUNDS = 200, WARM = 300;

  private final World world = new World(World.defaults().clockKind(Layout.Clock.VIRTUAL));
  private final Agent[] agents = new Agent[AGENTS];
  private final Layout.Agent ids = new Layout.Agent(AGENTS);
  private final Layout.Position places = new Layout.Position(AGENTS);
  private final Layout.PlanEntry entries = new Layout.PlanEntry(AGENTS);
  private final Layout.PlanResult results = new Layout.PlanResult(AGENTS);
  private final Layout.PlanSummary summary = Layout.PlanSummary.defaults();
  private final Layout.AgentInfo info = Layout.AgentInfo.defaults();
  private long simNs, taken;

  private static void must(boolean holds, String what) {
    if (!holds) throw new AssertionError(what);
  }

  /** All agents run, and nothing is done for them. */
  private void planAndReport() {
    int count = world.plan(simNs += 100000000, 1000000000, entries, summary);
    for (int i = 0; i < count; i++)
      results.at(i).agent(entries.at(i).agent()).positionX(places.at(i).x()).positionY(places.y()).moved(1)
          .outcome(Layout.PlanOutcome.FINISHED);
    world.report(results, count);
  }

  private void existsEach() {
    for (Agent agent : agents) taken += agent.exists() ? 1 : 0;
  }

  private void moveEach() {
    for (int i = 0; i < AGENTS; i++) agents[i].move(places.at(i).x(), places.y(), 0);
  }

  private void moveBatch() {
    must(world.moveAgents(ids, places, AGENTS) == AGENTS, "moves");
  }

  private void readEach() {
    for (Agent agent : agents) {
      agent.read(info);
      taken += (long) info.positionX();
    }
  }

  private void readBatch() {
    must(world.readPositions(ids, AGENTS, places) == AGENTS, "reads");
  }

  private void measure(String name, Runnable round) {
    double[] rates = new double[ROUNDS];
    for (int i = -WARM; i < ROUNDS; i++) {
      long begin = System.nanoTime();
      round.run();
      long end = System.nanoTime();
      if (i >= 0) rates[i] = AGENTS * 1e3 / (end - begin);
      planAndReport(); // takes what was queued
    }
    Arrays.sort(rates);
    System.out.printf(Locale.ROOT, "Java %-17s %8.2f million NPCs/s%n", name, rates[ROUNDS / 2]);
  }

  private void run() {
    AgentType type = world.registerType("type", Layout.TypeDef.defaults());
    for (int i = 0; i < AGENTS; i++) {
      places.at(i).x(i % 50).y(i / 50);
      agents[i] = world.spawn(type, i % 50, i / 50, 0, i);
      ids.at(i).value(agents[i].id());
    }
    planAndReport();
    measure("exists, each", this::existsEach);
    measure("move, each", this::moveEach);
    measure("move, batch", this::moveBatch);
    measure("read, each", this::readEach);
    measure("read, batch", this::readBatch);
    measure("plan and report", this::planAndReport);
    must(taken != 0, "nothing was read");
    world.close();
  }

  public static void main(String[] arguments) {
    new Calls().run();
  }
}

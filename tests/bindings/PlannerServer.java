import java.util.Locale;
import muster.Agent;
import muster.AgentType;
import muster.Layout;
import muster.World;

/** The server of planner_server.c in Java: what it does, and the options, are told there. */
public final class PlannerServer {
  private static final int NPCS = 2000, PLAYERS = 50, HZ = 30, CHANGES = 512;
  private static final double FIELD_M = 500, SIGHT_M = 60, SECOND_NS = 1e9;

  private final World world;
  private final AgentType hunters, rats;
  private final Agent[] agents = new Agent[NPCS]; // even ones are hunters
  private final double[] xs = new double[NPCS], ys = new double[NPCS];
  private final Layout.Observer players = new Layout.Observer(PLAYERS);
  private final Layout.Position places = new Layout.Position(PLAYERS); // of the players
  private final double[] placesX = new double[PLAYERS], placesY = new double[PLAYERS];
  private long bytes, sum; // what was sent to the clients
  private long caughtInAll, completed;
  private final World.Cursor cursor = new World.Cursor();
  private final boolean measured;

  private final Layout.PlanEntry entries = new Layout.PlanEntry(NPCS);
  private final Layout.PlanResult results = new Layout.PlanResult(NPCS);
  private final Layout.PlanSummary summary = Layout.PlanSummary.defaults();
  private final int[] caught = new int[NPCS];

  /** The library's mixer: muster/random.h. */
  private static long mix(long value) {
    value = (value ^ value >>> 30) * 0xbf58476d1ce4e5b9L;
    value = (value ^ value >>> 27) * 0x94d049bb133111ebL;
    return value ^ value >>> 31;
  }

  private static double share(long mixed) {
    return (mixed >>> 40) * (1.0 / 16777216.0);
  }

  private static double xOf(long random) {
    return share(random) * FIELD_M;
  }

  private static double yOf(long random) {
    return share(mix(random)) * FIELD_M;
  }

  private static double withinField(double x) {
    return x < 0 ? 0 : x > FIELD_M ? FIELD_M : x;
  }

  /** Players walk round squares of 20 m. */
  private void walk(double seconds) {
    for (int i = 0; i < PLAYERS; i++) {
      double way = i * 7 + seconds * 1.5;
      way -= 80 * Math.floor(way / 80);
      placesX[i] = xOf(mix(i + 1)) + (way < 20 ? way : way < 40 ? 20 : way < 60 ? 60 - way : 0);
      placesY[i] = yOf(mix(i + 1)) + (way < 20 ? 0 : way < 40 ? way - 20 : way < 60 ? 20 : 80 - way);
      places.at(i).x(placesX[i]).y(placesY[i]);
    }
  }

  // ------------------------------------------------------------------------------------------------------------ NPCs

  private void go(int i, double x, double y, double step) {
    double distance = Math.sqrt(x * x + y * y);
    double share = distance > step ? step / distance : 1;
    xs[i] = withinField(xs[i] + x * share);
    ys[i] = withinField(ys[i] + y * share);
  }

  /** The update of one NPC, over the time since its last one. Returns whether it caught a player. */
  private boolean update(int i, Layout.PlanEntry entry) {
    boolean hunter = i % 2 == 0, sees = false;
    double seconds = entry.elapsedNs() / SECOND_NS, nearest = hunter ? 1600 : 225, x = 0, y = 0;
    for (int k = 0; k < PLAYERS; k++) {
      double dx = placesX[k] - xs[i], dy = placesY[k] - ys[i];
      double square = dx * dx + dy * dy;
      if (square >= nearest) continue;
      nearest = square;
      x = dx;
      y = dy;
      sees = true;
    }
    long random = mix(entry.agent() ^ entry.nowNs());
    if (!sees) go(i, (share(random) - 0.5) * 1000, (share(mix(random)) - 0.5) * 1000, seconds);
    else if (hunter) go(i, x, y, 4 * seconds);
    else go(i, x * -1000, y * -1000, 3 * seconds);
    return hunter && nearest < 2.25;
  }

  private void spawn(int i, double x, double y) {
    agents[i] = world.spawn(i % 2 == 0 ? hunters : rats, x, y, 0, i); // i comes back in each plan entry
    xs[i] = x;
    ys[i] = y;
  }

  /** Whether the time of the plan is up. Under the virtual clock all of the plan fits. */
  private boolean isOver(long spentNs) {
    return measured && spentNs > summary.runNs();
  }

  /** One frame: Muster says which NPCs run, the server runs them, and says what came of it. */
  private void runNpcs(long simNs, long budgetNs) {
    int planned = world.plan(simNs, budgetNs, entries, summary);
    long startNs = System.nanoTime(), beginNs = startNs;
    int done = 0, count = 0;
    for (; done < planned; done++) {
      if (done > 0 && isOver(beginNs - startNs)) break;
      int i = (int) entries.at(done).user();
      if (update(i, entries)) caught[count++] = i;
      long endNs = measured ? System.nanoTime() : 0;
      results.at(done).agent(entries.agent()).costNs(measured ? endNs - beginNs : entries.sliceNs()).moved(1)
          .positionX(xs[i]).positionY(ys[i]).outcome(Layout.PlanOutcome.FINISHED);
      beginNs = endNs;
    }
    world.report(results, done);
    completed += done;
    for (int k = 0; k < count; k++) replace(caught[k], simNs);
  }

  /** A hunter that caught a player is sent away, and another one comes elsewhere. */
  private void replace(int i, long simNs) {
    long gone = agents[i].id();
    agents[i].close();
    spawn(i, xOf(mix(gone + simNs)), yOf(mix(gone + simNs)));
    caughtInAll++;
  }

  // --------------------------------------------------------------------------------------------------------- clients

  private static long bitsOf(double x, double y) {
    return (long) Float.floatToRawIntBits((float) x) << 32 | Float.floatToRawIntBits((float) y) & 0xffffffffL;
  }

  private final Layout.Change changes = new Layout.Change(CHANGES);
  private final Layout.Agent told = new Layout.Agent(CHANGES);
  private final Layout.Position positions = new Layout.Position(CHANGES);

  /** Where a server would write to connections: a record is 24 bytes. */
  private void tell(int count) {
    for (int i = 0; i < count; i++) {
      told.at(i).value(changes.at(i).agent());
      positions.at(i).x(0).y(0); // an agent that left has none
    }
    world.readPositions(told, count, positions);
    for (int i = 0; i < count; i++) {
      int kinds = changes.at(i).kinds();
      boolean left = (kinds & Layout.ChangeKind.LEFT) != 0;
      double x = positions.at(i).x(), y = positions.y();
      for (int k = 0; k < PLAYERS; k++) {
        double dx = x - placesX[k], dy = y - placesY[k];
        if (!left && dx * dx + dy * dy > SIGHT_M * SIGHT_M) continue;
        sum = mix(sum ^ k ^ told.at(i).value());
        sum = mix(sum ^ bitsOf(x, y));
        sum = mix(sum ^ ((long) kinds << 32 | changes.type()));
        bytes += 24;
      }
    }
  }

  private void tellClients() {
    int kinds = Layout.ChangeKind.MOVED | Layout.ChangeKind.SPAWNED | Layout.ChangeKind.LEFT, count;
    do {
      count = world.readChanges(kinds, cursor, changes);
      tell(count);
    } while (count == CHANGES);
  }

  // ----------------------------------------------------------------------------------------------------------- setup

  private AgentType registerType(String name, long periodNs) {
    // A part is what an update costs under the virtual clock.
    return world.registerType(name, Layout.TypeDef.defaults().periodNs(periodNs).partsPartNs(2000));
  }

  private PlannerServer(boolean measured) {
    this.measured = measured;
    world = new World(World.defaults().limitsChangesFrames(1)
                          .clockKind(measured ? Layout.Clock.WALL : Layout.Clock.VIRTUAL));
    hunters = registerType("hunter", 100000000);
    rats = registerType("rat", 200000000);
    for (int i = 0; i < NPCS; i++) spawn(i, xOf(mix(1000 + i)), yOf(mix(1000 + i)));
    walk(0);
    for (int i = 0; i < PLAYERS; i++) {
      Layout.ObserverDef player = Layout.ObserverDef.defaults().positionX(placesX[i]).positionY(placesY[i]);
      players.at(i).value(world.addObserver(player).id());
    }
  }

  private void printSecond(long second) {
    Layout.FrameReport report = world.readReport();
    int pressure = (int) (report.pressure() * 1000.0);
    System.out.printf(Locale.ROOT, "%3d s: %d NPCs, %d updates, pressure %d.%03d, %d caught, %d kB to clients%n", second,
        report.agents(), completed, pressure / 1000, pressure % 1000, caughtInAll, bytes / 1000);
  }

  private void run(long seconds, long budgetNs) {
    for (long frame = 1; frame <= seconds * HZ; frame++) {
      long simNs = frame * 1000000000 / HZ;
      walk(simNs / SECOND_NS);
      world.moveObservers(players, places, PLAYERS);
      runNpcs(simNs, budgetNs);
      tellClients();
      if (frame % HZ == 0) printSecond(frame / HZ);
    }
  }

  public static void main(String[] arguments) {
    long seconds = arguments.length > 0 ? Long.parseLong(arguments[0]) : 10;
    long budgetNs = (arguments.length > 1 ? Long.parseLong(arguments[1]) : 2000) * 1000;
    PlannerServer server = new PlannerServer(arguments.length < 3 || !arguments[2].equals("virtual"));
    try (World world = server.world) {
      server.run(seconds, budgetNs);
      System.out.printf("world %016x, clients %016x%n", world.hash(), server.sum);
    }
  }
}

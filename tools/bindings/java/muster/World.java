package muster;

import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A world whose NPCs the host runs itself (muster/planner.h), and calls for many agents at once.
 *
 * <p>Muster decides which NPCs run in a frame, and the host runs them, in Java. The library calls nothing back: a
 * callback would run on threads that the virtual machine does not know, must not throw, and costs a passage into it for
 * each NPC. What a frame hands in and out are arrays of structs in direct buffers, which the library reads and writes
 * where they lie; their accessors, in Layout, are written from the layout of the library (tools/bindings/generate).
 *
 * <p>A call that fails throws a MusterException with the library's own sentence. All calls of a world come from one
 * thread at a time, but for those about single agents and observers, which any thread may make: of others that meet,
 * the second one is refused. A world that is not closed is never freed: it belongs to the thread of the frames, and the
 * collector's is another.
 */
public final class World implements AutoCloseable {
  private static final int NAME_BYTES = 31; // of which the library would drop the rest
  private volatile long handle;
  private boolean planned; // between plan and report
  private final AtomicReference<String> busyWith = new AtomicReference<>(); // the thread of the frames' call that runs
  private final AtomicInteger visits = new AtomicInteger(); // how many of the others run
  private final Layout.Frame frame = new Layout.Frame(1);
  private final Layout.AgentColumns columns = Layout.AgentColumns.defaults();
  private final ByteBuffer cursorPlace = new Layout.Agent(1).memory;
  private final ByteBuffer countPlace = new Layout.Type(1).memory;

  /** The defaults of the library, for a host that runs NPCs on one thread. */
  public static Layout.WorldDef defaults() {
    return Layout.WorldDef.defaults().plannerWorkers(1);
  }

  public World(Layout.WorldDef def) {
    Struct.one("World", "def", def);
    def.at(0);
    if (def.size() != 0 && def.plannerWorkers() == 0)
      throw new IllegalArgumentException("World: plannerWorkers of def is 0: begin with World.defaults(), or say on "
          + "how many threads NPCs run");
    refuseCallback("World", "allocatorAllocate", def.allocatorAllocate());
    refuseCallback("World", "logWrite", def.logWrite());
    handle = Layout.Native.worldCreate(def.memory);
    if (handle == 0) throw MusterException.last("World", "");
  }

  /**
   * Frees the world with its agents and observers. Once more is a no-op. Refused while another thread plans or reports;
   * a plan that is open ends.
   */
  @Override
  public void close() {
    if (isClosed() || !beAlone("World.close", "end its loop first")) return;
    long gone = handle;
    handle = 0;
    while (visits.get() != 0) Thread.yield(); // within microseconds they are out
    if (gone != 0) Layout.Native.worldDestroy(gone);
    leaveAlone();
  }

  public boolean isClosed() {
    return handle == 0;
  }

  // ------------------------------------------------------------------------------------------------- who may call when

  /** False: another thread closes the world. */
  private boolean beAlone(String call, String advice) {
    String other = busyWith.compareAndExchange(null, call);
    if (other != null && !other.equals("World.close"))
      throw new IllegalStateException(call + ": another thread is in " + other + " of this world, whose calls come "
          + "from one thread at a time: " + advice);
    return other == null;
  }

  /** For the calls of the thread of the frames: no other of these may run. */
  long enter(String call) {
    if (!beAlone(call, "put a lock around them")) throw closed(call);
    long here = handle;
    if (here != 0) return here;
    leaveAlone();
    throw closed(call);
  }

  void leaveAlone() {
    busyWith.set(null);
  }

  /** For the calls that any thread may make at any time. */
  long visit(String call) {
    long here = visitIfAny();
    if (here != 0) return here;
    leave();
    throw closed(call);
  }

  long visitIfAny() {
    visits.incrementAndGet(); // before the handle is read: close() does both the other way round
    return handle;
  }

  void leave() {
    visits.decrementAndGet();
  }

  private static IllegalStateException closed(String call) {
    return new IllegalStateException(call + ": the world is closed: end all calls of it, its agents and its observers "
        + "before close()");
  }

  /** The version of the library that runs. */
  public static String version() {
    return Layout.Native.version();
  }

  // --------------------------------------------------------------------------------------- types, agents, observers

  private static void refuseCallback(String call, String field, long given) {
    if (given != 0)
      throw new IllegalArgumentException(call + ": " + field + " of def is for callbacks, which the library cannot "
          + "make into Java: leave it zero, and run your code between plan() and report()");
  }

  private static void refuseCallbacks(Layout.TypeDef def) {
    String call = "World.registerType";
    def.at(0);
    refuseCallback(call, "atoms", def.atoms());
    refuseCallback(call, "onSpawned", def.onSpawned());
    refuseCallback(call, "onRemoved", def.onRemoved());
    refuseCallback(call, "elapsedCatchUp", def.elapsedCatchUp());
    refuseCallback(call, "modelsCostNs", def.modelsCostNs());
    refuseCallback(call, "modelsImportance", def.modelsImportance());
    refuseCallback(call, "strandsOf", def.strandsOf());
  }

  private static byte[] nameOf(String name) {
    if (name == null || name.isEmpty())
      throw new IllegalArgumentException("World.registerType: name is " + (name == null ? "null" : "empty")
          + ": give the type a name, which reports and errors call it by");
    if (name.indexOf('\0') >= 0)
      throw new IllegalArgumentException("World.registerType: name has a zero in it, behind which nothing counts");
    byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
    if (bytes.length > NAME_BYTES)
      throw new IllegalArgumentException("World.registerType: name '" + name + "' has " + bytes.length
          + " bytes of UTF-8: it must have " + NAME_BYTES + " at most");
    return bytes;
  }

  /** Registers a type. Each has a name of its own, of at most 31 bytes of UTF-8. */
  public AgentType registerType(String name, Layout.TypeDef def) {
    byte[] bytes = nameOf(name);
    ByteBuffer text = ByteBuffer.allocateDirect(bytes.length + 1).put(bytes).put((byte) 0);
    Struct.one("World.registerType", "def", def);
    refuseCallbacks(def);
    long here = enter("World.registerType");
    try {
      int other = Layout.Native.typeFind(here, text);
      if (other != 0)
        throw new IllegalArgumentException("World.registerType: name '" + name + "' is type " + other + " already: "
            + "keep what registerType() returned, or take another name");
      def.name(Struct.addressOf(text));
      int type = Layout.Native.typeRegister(here, def.memory);
      if (type == 0) throw MusterException.last("World.registerType", "");
      return new AgentType(this, name, type);
    } finally {
      Reference.reachabilityFence(text);
      def.name(0);
      leaveAlone();
    }
  }

  /** A type with several rates: each of `sets` is one, which parts() names by its place. */
  public AgentType registerType(String name, Layout.TypeDef def, Layout.SetDef... sets) {
    Struct.one("World.registerType", "def", def);
    if (Struct.given("World.registerType", "sets", sets).length == 0)
      throw new IllegalArgumentException("World.registerType: sets is empty: give one at least, or leave it out");
    ByteBuffer all = ByteBuffer.allocateDirect(sets.length * Layout.SetDef.BYTES);
    for (int i = 0; i < sets.length; i++) {
      Struct.one("World.registerType", "sets[" + i + "]", sets[i]);
      all.put(sets[i].memory.duplicate().position(0).limit(Layout.SetDef.BYTES));
    }
    def.at(0).setsList(Struct.addressOf(all)).setsCount(sets.length);
    try {
      return registerType(name, def);
    } finally {
      Reference.reachabilityFence(all);
      def.at(0).setsList(0).setsCount(0);
    }
  }

  /**
   * Queues a new agent. `user` comes back in each of its plan entries: the place in an array of the host's.
   */
  public Agent spawn(AgentType type, double x, double y, double z, long user) {
    if (Struct.given("World.spawn", "type", type).world() != this)
      throw new IllegalArgumentException("World.spawn: " + type + " is of another world: register it in this one, too");
    return spawn(type.id(), x, y, z, user);
  }

  /** The same by the number of a type, which does not say of which world it is. */
  public Agent spawn(int type, double x, double y, double z, long user) {
    return spawn(Layout.AgentDef.defaults().type(type).positionX(x).positionY(y).positionZ(z).user(user));
  }

  public Agent spawn(Layout.AgentDef def) {
    Struct.one("World.spawn", "def", def);
    long here = visit("World.spawn");
    try {
      long id = Layout.Native.agentSpawn(here, def.memory);
      if (id == 0) throw MusterException.last("World.spawn", "");
      return new Agent(this, id);
    } finally {
      leave();
    }
  }

  public Observer addObserver(Layout.ObserverDef def) {
    Struct.one("World.addObserver", "def", def);
    long here = visit("World.addObserver");
    try {
      long id = Layout.Native.observerAdd(here, def.memory);
      if (id == 0) throw MusterException.last("World.addObserver", "");
      return new Observer(this, id);
    } finally {
      leave();
    }
  }

  // ---------------------------------------------------------------------------------------------------------- frames

  /**
   * Begins a frame: writes the updates to run into `entries`, in the order in which they are best run, and the plan as a
   * whole into `summary`. Returns how many entries.
   */
  public int plan(long simNowNs, long budgetNs, Layout.PlanEntry entries, Layout.PlanSummary summary) {
    Struct.notNegative("World.plan", "simNowNs", simNowNs);
    Struct.notNegative("World.plan", "budgetNs", budgetNs);
    Struct.given("World.plan", "entries", entries);
    Struct.one("World.plan", "summary", summary);
    long here = enter("World.plan");
    try {
      frame.simNowNs(simNowNs).budgetNs(budgetNs);
      MusterException.throwUnless(
          Layout.Native.plan(here, frame.memory, entries.memory, entries.capacity(), summary.memory), "World.plan");
      planned = true;
      return summary.at(0).count();
    } finally {
      leaveAlone();
    }
  }

  /**
   * Writes which sets the first `count` entries of the plan are to run, and what each is told; returns how many. For
   * types with several rates.
   */
  public int parts(Layout.PlanEntry entries, int count, Layout.PlanPart parts) {
    Struct.room("World.parts", "entries", entries, count);
    Struct.given("World.parts", "parts", parts);
    long here = enter("World.parts");
    try {
      MusterException.throwUnless(Layout.Native.planParts(here, entries.memory, count, parts.memory, parts.capacity(),
          countPlace), "World.parts");
      return countPlace.getInt(0);
    } finally {
      leaveAlone();
    }
  }

  /**
   * Ends the frame. What is not among the first `count` results did not run, and is planned again; nor did one whose
   * outcome is NOT_RUN, which has no cost and did not move. After an exception the frame is still open, for a better
   * report.
   */
  public void report(Layout.PlanResult results, int count) {
    Struct.room("World.report", "results", results, count);
    refuseDropped(results, count);
    long here = enter("World.report");
    try {
      MusterException.throwUnless(Layout.Native.planReport(here, results.memory, count), "World.report");
      planned = false;
    } finally {
      leaveAlone();
    }
  }

  private static void refuseDropped(Layout.PlanResult results, int count) {
    int place = results.base;
    for (int i = 0; i < count; i++) {
      results.move(i);
      if (results.outcome() == Layout.PlanOutcome.NOT_RUN && (results.costNs() != 0 || results.moved() != 0))
        throw new IllegalArgumentException("World.report: results.at(" + i + ") has a cost or moved, but its outcome "
            + "is NOT_RUN, which drops it: set outcome(Layout.PlanOutcome.FINISHED)");
    }
    results.base = place;
  }

  public Layout.FrameReport readReport() {
    Layout.FrameReport report = Layout.FrameReport.defaults();
    long here = enter("World.readReport");
    try {
      MusterException.throwUnless(Layout.Native.frameReportRead(here, report.memory), "World.readReport");
    } finally {
      leaveAlone();
    }
    return report;
  }

  /** Equal worlds have equal hashes. */
  public long hash() {
    long here = enter("World.hash");
    try {
      return counted(Layout.Native.worldHash(here), 1, "World.hash");
    } finally {
      leaveAlone();
    }
  }

  // ------------------------------------------------------------------------------------------- many agents at once

  // The calls below pass over ids that are gone and say how many were not. 0 may mean that all are gone; while a plan
  // is open it means that the call was refused.
  private long counted(long done, int count, String call) {
    if (planned && done == 0 && count > 0) throw MusterException.last(call, "");
    return done;
  }

  private static boolean isPlace(double metres) {
    return metres >= -1e9 && metres <= 1e9;
  }

  /** When not all were moved: because ids are gone, or because a position is none? */
  private static void refuseBad(String call, Layout.Position positions, int count) {
    int place = positions.base;
    for (int i = 0; i < count; i++) {
      positions.move(i);
      if (!(isPlace(positions.x()) && isPlace(positions.y()) && isPlace(positions.z())))
        throw new IllegalArgumentException(call + ": positions.at(" + i + ") (" + positions.x() + ", " + positions.y()
            + ", " + positions.z() + ") must be finite and within 1e9 m, and was passed over: the others moved");
    }
    positions.base = place;
  }

  /** Moves agents at once, between frames; returns how many were moved: all but those that are gone. */
  public int moveAgents(Layout.Agent agents, Layout.Position positions, int count) {
    Struct.room("World.moveAgents", "agents", agents, count);
    Struct.room("World.moveAgents", "positions", positions, count);
    long here = enter("World.moveAgents");
    try {
      long moved = counted(
          Layout.Native.agentsMove(here, agents.memory, positions.memory, count), count, "World.moveAgents");
      if (moved < count) refuseBad("World.moveAgents", positions, count);
      return (int) moved;
    } finally {
      leaveAlone();
    }
  }

  /** Moves observers at once, between frames; returns how many were moved. */
  public int moveObservers(Layout.Observer observers, Layout.Position positions, int count) {
    Struct.room("World.moveObservers", "observers", observers, count);
    Struct.room("World.moveObservers", "positions", positions, count);
    long here = enter("World.moveObservers");
    try {
      long moved = counted(
          Layout.Native.observersMove(here, observers.memory, positions.memory, count), count, "World.moveObservers");
      if (moved < count) refuseBad("World.moveObservers", positions, count);
      return (int) moved;
    } finally {
      leaveAlone();
    }
  }

  /** Reads the positions of agents at once; returns how many were found. Others leave their places as they are. */
  public int readPositions(Layout.Agent agents, int count, Layout.Position positions) {
    Struct.room("World.readPositions", "agents", agents, count);
    Struct.room("World.readPositions", "positions", positions, count);
    long here = enter("World.readPositions");
    try {
      columns.positions(Struct.addressOf(positions.memory));
      int found = Layout.Native.agentsRead(here, agents.memory, count, columns.memory);
      Reference.reachabilityFence(positions);
      columns.positions(0);
      return found;
    } finally {
      leaveAlone();
    }
  }

  /**
   * Writes what happened since the cursor, which begins as 0; returns how many records. When that is all there is room
   * for, the next call goes on. Needs limitsChangesFrames of the world's definition.
   */
  public int readChanges(int kinds, Cursor cursor, Layout.Change changes) {
    Struct.given("World.readChanges", "cursor", cursor);
    Struct.given("World.readChanges", "changes", changes);
    if (kinds == 0)
      throw new IllegalArgumentException("World.readChanges: kinds is 0, which asks for nothing: name one or several "
          + "of Layout.ChangeKind");
    long here = enter("World.readChanges");
    try {
      cursorPlace.putLong(0, cursor.place);
      int result = Layout.Native.frameChanges(here, kinds, cursorPlace, changes.memory, changes.capacity(), countPlace);
      cursor.place = cursorPlace.getLong(0);
      MusterException.throwUnless(result, "World.readChanges");
      return countPlace.getInt(0);
    } finally {
      leaveAlone();
    }
  }

  /** Up to where a reader of changes was told. */
  public static final class Cursor {
    long place;
  }

  /** The nearest agents around a place, nearest first; returns how many were written. */
  public int nearby(Layout.NearbyQuery query, Layout.NearbyAgent found) {
    Struct.one("World.nearby", "query", query);
    Struct.given("World.nearby", "found", found);
    if (query.at(0).radiusM() == 0 && query.size() != 0)
      throw new IllegalArgumentException("World.nearby: radiusM of query is 0, which finds nobody: set it, in metres");
    long here = enter("World.nearby");
    try {
      int count = Layout.Native.agentsNearby(here, query.memory, found.memory, found.capacity(), null);
      if (count > 0) return count;
      // 0 may also be a refusal, which leaves its result: another one is left before asking again.
      Layout.Native.agentWake(here, 0);
      count = Layout.Native.agentsNearby(here, query.memory, found.memory, found.capacity(), null);
      if (count == 0 && Layout.Native.lastResult() != Layout.Result.E_STALE)
        throw MusterException.last("World.nearby", "");
      return count;
    } finally {
      leaveAlone();
    }
  }
}

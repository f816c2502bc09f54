package muster;

import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * A world whose NPCs the host runs itself (muster/planner.h), and calls for many agents at once.
 *
 * <p>Muster decides which NPCs run in a frame, and the host runs them, in Java. The library calls nothing back: a
 * callback would run on threads that the virtual machine does not know, must not throw, and costs a passage into it for
 * each NPC. What a frame hands in and out are arrays of structs in direct buffers, which the library reads and writes
 * where they lie; their accessors, in Layout, are written from the layout of the library (tools/bindings/generate).
 *
 * <p>A call that fails throws a MusterException with the library's own sentence. All calls of a world come from one
 * thread at a time. A world that is not closed is never freed: it belongs to the thread of the frames, and the
 * collector's is another.
 */
public final class World implements AutoCloseable {
  private long handle;
  private boolean planned; // between plan and report
  private final Layout.Frame frame = new Layout.Frame(1);
  private final Layout.AgentColumns columns = Layout.AgentColumns.defaults();
  private final ByteBuffer cursorPlace = new Layout.Agent(1).memory;
  private final ByteBuffer countPlace = new Layout.Type(1).memory;

  /** The defaults of the library, for a host that runs NPCs on one thread. */
  public static Layout.WorldDef defaults() {
    return Layout.WorldDef.defaults().plannerWorkers(1);
  }

  public World(Layout.WorldDef def) {
    handle = Layout.Native.worldCreate(def.memory);
    if (handle == 0) throw MusterException.last();
  }

  /** Frees the world with its agents and observers. Once more is a no-op. */
  @Override
  public void close() {
    long gone = handle;
    handle = 0;
    if (gone != 0) Layout.Native.worldDestroy(gone);
  }

  public boolean isClosed() {
    return handle == 0;
  }

  long handle() {
    if (handle == 0) throw new IllegalStateException("the world is closed");
    return handle;
  }

  /** The version of the library that runs. */
  public static String version() {
    return Layout.Native.version();
  }

  // --------------------------------------------------------------------------------------- types, agents, observers

  /** Returns the type's number, which agent definitions and plan entries name. */
  public int registerType(String name, Layout.TypeDef def) {
    byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
    ByteBuffer text = ByteBuffer.allocateDirect(bytes.length + 1).put(bytes).put((byte) 0);
    def.at(0).name(Struct.addressOf(text));
    int type = Layout.Native.typeRegister(handle(), def.memory);
    Reference.reachabilityFence(text);
    def.name(0);
    if (type == 0) throw MusterException.last();
    return type;
  }

  /** A type with several rates: each of `sets` is one, which parts() names by its place. */
  public int registerType(String name, Layout.TypeDef def, Layout.SetDef... sets) {
    ByteBuffer all = ByteBuffer.allocateDirect(sets.length * Layout.SetDef.BYTES);
    for (Layout.SetDef set : sets) all.put(set.memory.duplicate().position(0).limit(Layout.SetDef.BYTES));
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
  public Agent spawn(int type, double x, double y, double z, long user) {
    return spawn(Layout.AgentDef.defaults().type(type).positionX(x).positionY(y).positionZ(z).user(user));
  }

  public Agent spawn(Layout.AgentDef def) {
    long id = Layout.Native.agentSpawn(handle(), def.memory);
    if (id == 0) throw MusterException.last();
    return new Agent(this, id);
  }

  public Observer addObserver(Layout.ObserverDef def) {
    long id = Layout.Native.observerAdd(handle(), def.memory);
    if (id == 0) throw MusterException.last();
    return new Observer(this, id);
  }

  // ---------------------------------------------------------------------------------------------------------- frames

  /**
   * Begins a frame: writes the updates to run into `entries`, in the order in which they are best run, and the plan as a
   * whole into `summary`. Returns how many entries.
   */
  public int plan(long simNowNs, long budgetNs, Layout.PlanEntry entries, Layout.PlanSummary summary) {
    frame.simNowNs(simNowNs).budgetNs(budgetNs);
    MusterException.throwUnless(
        Layout.Native.plan(handle(), frame.memory, entries.memory, entries.capacity(), summary.memory));
    planned = true;
    return summary.at(0).count();
  }

  /**
   * Writes which sets the first `count` entries of the plan are to run, and what each is told; returns how many. For
   * types with several rates.
   */
  public int parts(Layout.PlanEntry entries, int count, Layout.PlanPart parts) {
    check("entries", entries, count);
    MusterException.throwUnless(
        Layout.Native.planParts(handle(), entries.memory, count, parts.memory, parts.capacity(), countPlace));
    return countPlace.getInt(0);
  }

  /**
   * Ends the frame. What is not among the first `count` results did not run, and is planned again. After an exception
   * the frame is still open, for a better report.
   */
  public void report(Layout.PlanResult results, int count) {
    check("results", results, count);
    MusterException.throwUnless(Layout.Native.planReport(handle(), results.memory, count));
    planned = false;
  }

  public Layout.FrameReport readReport() {
    Layout.FrameReport report = Layout.FrameReport.defaults();
    MusterException.throwUnless(Layout.Native.frameReportRead(handle(), report.memory));
    return report;
  }

  /** Equal worlds have equal hashes. */
  public long hash() {
    return result(Layout.Native.worldHash(handle()), 1);
  }

  // ------------------------------------------------------------------------------------------- many agents at once

  // The calls below pass over ids that are gone and say how many were not. 0 may mean that all are gone; while a plan
  // is open it means that the call was refused.
  private long result(long done, int count) {
    if (planned && done == 0 && count > 0) throw MusterException.last();
    return done;
  }

  /** Moves agents at once, between frames; returns how many were moved. */
  public int moveAgents(Layout.Agent agents, Layout.Position positions, int count) {
    check("agents", agents, count);
    check("positions", positions, count);
    return (int) result(Layout.Native.agentsMove(handle(), agents.memory, positions.memory, count), count);
  }

  /** Moves observers at once, between frames; returns how many were moved. */
  public int moveObservers(Layout.Observer observers, Layout.Position positions, int count) {
    check("observers", observers, count);
    check("positions", positions, count);
    return (int) result(Layout.Native.observersMove(handle(), observers.memory, positions.memory, count), count);
  }

  /** Reads the positions of agents at once; returns how many were found. Others leave their places as they are. */
  public int readPositions(Layout.Agent agents, int count, Layout.Position positions) {
    check("agents", agents, count);
    check("positions", positions, count);
    columns.positions(Struct.addressOf(positions.memory));
    int found = Layout.Native.agentsRead(handle(), agents.memory, count, columns.memory);
    Reference.reachabilityFence(positions);
    columns.positions(0);
    return found;
  }

  /**
   * Writes what happened since the cursor, which begins as 0; returns how many records. When that is all there is room
   * for, the next call goes on. Needs limitsChangesFrames of the world's definition.
   */
  public int readChanges(int kinds, Cursor cursor, Layout.Change changes) {
    cursorPlace.putLong(0, cursor.place);
    int result = Layout.Native.frameChanges(handle(), kinds, cursorPlace, changes.memory, changes.capacity(), countPlace);
    cursor.place = cursorPlace.getLong(0);
    MusterException.throwUnless(result);
    return countPlace.getInt(0);
  }

  /** Up to where a reader of changes was told. */
  public static final class Cursor {
    long place;
  }

  /** The nearest agents around a place, nearest first; returns how many were written. */
  public int nearby(Layout.NearbyQuery query, Layout.NearbyAgent found) {
    int count = Layout.Native.agentsNearby(handle(), query.memory, found.memory, found.capacity(), null);
    if (count > 0) return count;
    // 0 may also be a refusal, which leaves its result: another one is left before asking again.
    Layout.Native.agentWake(handle(), 0);
    count = Layout.Native.agentsNearby(handle(), query.memory, found.memory, found.capacity(), null);
    MusterException refused = MusterException.last();
    if (count == 0 && refused.result() != Layout.Result.E_STALE) throw refused;
    return count;
  }

  private static void check(String name, Struct array, int count) {
    if (count < 0) throw new IllegalArgumentException("count is " + count + ": it must be 0 or more");
    if (count > array.capacity())
      throw new IllegalArgumentException("count is " + count + ", but " + name + " has room for " + array.capacity());
  }
}

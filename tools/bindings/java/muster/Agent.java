package muster;

/** One agent. close() removes it from the world; an agent that is gone already, or its world, is no error. */
public final class Agent implements AutoCloseable {
  private final World world;
  private final long id;

  public Agent(World world, long id) {
    this.world = java.util.Objects.requireNonNull(world, "world");
    this.id = id;
  }

  public long id() {
    return id;
  }

  public boolean exists() {
    return !world.isClosed() && Layout.Native.agentExists(world.handle(), id);
  }

  /** Queues a new position. For many agents World.moveAgents is faster. */
  public void move(double x, double y, double z) {
    MusterException.throwUnless(Layout.Native.agentMove(world.handle(), id, x, y, z));
  }

  /** Something happened to it: it is in the next plan, whatever its period. */
  public void wake() {
    MusterException.throwUnless(Layout.Native.agentWake(world.handle(), id));
  }

  public void wakeAt(long simNs) {
    MusterException.throwUnless(Layout.Native.agentWakeAt(world.handle(), id, simNs));
  }

  public void tune(Layout.AgentTuning tuning) {
    MusterException.throwUnless(Layout.Native.agentTune(world.handle(), id, tuning.memory));
  }

  /** Periods of its own; 0 = its type's. */
  public void setPeriods(long periodNs, long periodMaxNs) {
    MusterException.throwUnless(Layout.Native.agentSetPeriods(world.handle(), id, periodNs, periodMaxNs));
  }

  public Layout.AgentInfo read() {
    Layout.AgentInfo info = Layout.AgentInfo.defaults();
    read(info);
    return info;
  }

  /** The same into a struct that is there already. */
  public void read(Layout.AgentInfo info) {
    MusterException.throwUnless(Layout.Native.agentRead(world.handle(), id, info.memory));
  }

  @Override
  public void close() {
    if (world.isClosed()) return;
    int result = Layout.Native.agentRemove(world.handle(), id);
    if (result != Layout.Result.E_STALE) MusterException.throwUnless(result);
  }
}

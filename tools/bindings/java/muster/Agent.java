package muster;

/**
 * One agent. close() removes it from the world; an agent that is gone already, or its world, is no error. Any thread
 * may use it.
 */
public final class Agent implements AutoCloseable {
  private static final String GONE = ": it was removed, or never was in this world; exists() says so before";
  private final World world;
  private final long id;

  public Agent(World world, long id) {
    this.world = Struct.given("Agent", "world", world);
    this.id = id;
  }

  public long id() {
    return id;
  }

  public boolean exists() {
    long handle = world.visitIfAny();
    try {
      return handle != 0 && Layout.Native.agentExists(handle, id);
    } finally {
      world.leave();
    }
  }

  /** Queues a new position. For many agents World.moveAgents is faster. */
  public void move(double x, double y, double z) {
    long handle = world.visit("Agent.move");
    try {
      MusterException.throwUnless(Layout.Native.agentMove(handle, id, x, y, z), "Agent.move", GONE);
    } finally {
      world.leave();
    }
  }

  /** Something happened to it: it is in the next plan, whatever its period. */
  public void wake() {
    long handle = world.visit("Agent.wake");
    try {
      MusterException.throwUnless(Layout.Native.agentWake(handle, id), "Agent.wake", GONE);
    } finally {
      world.leave();
    }
  }

  /** Layout.WAKE_NEVER cancels the time that was asked for. */
  public void wakeAt(long simNs) {
    if (simNs != Layout.WAKE_NEVER) Struct.notNegative("Agent.wakeAt", "simNs", simNs);
    long handle = world.visit("Agent.wakeAt");
    try {
      MusterException.throwUnless(Layout.Native.agentWakeAt(handle, id, simNs), "Agent.wakeAt", GONE);
    } finally {
      world.leave();
    }
  }

  public void tune(Layout.AgentTuning tuning) {
    Struct.one("Agent.tune", "tuning", tuning);
    long handle = world.visit("Agent.tune");
    try {
      MusterException.throwUnless(Layout.Native.agentTune(handle, id, tuning.memory), "Agent.tune", GONE);
    } finally {
      world.leave();
    }
  }

  /** Periods of its own; 0 = its type's. */
  public void setPeriods(long periodNs, long periodMaxNs) {
    Struct.notNegative("Agent.setPeriods", "periodNs", periodNs);
    Struct.notNegative("Agent.setPeriods", "periodMaxNs", periodMaxNs);
    long handle = world.visit("Agent.setPeriods");
    try {
      MusterException.throwUnless(
          Layout.Native.agentSetPeriods(handle, id, periodNs, periodMaxNs), "Agent.setPeriods", GONE);
    } finally {
      world.leave();
    }
  }

  /** On the thread of the frames. */
  public Layout.AgentInfo read() {
    Layout.AgentInfo info = Layout.AgentInfo.defaults();
    read(info);
    return info;
  }

  /** The same into a struct that is there already. */
  public void read(Layout.AgentInfo info) {
    Struct.one("Agent.read", "info", info);
    long handle = world.enter("Agent.read");
    try {
      MusterException.throwUnless(Layout.Native.agentRead(handle, id, info.memory), "Agent.read", GONE);
    } finally {
      world.leaveAlone();
    }
  }

  @Override
  public void close() {
    long handle = world.visitIfAny();
    try {
      int result = handle == 0 ? Layout.Result.OK : Layout.Native.agentRemove(handle, id);
      if (result != Layout.Result.E_STALE) MusterException.throwUnless(result, "Agent.close");
    } finally {
      world.leave();
    }
  }
}

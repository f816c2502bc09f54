package muster;

/**
 * A player or a camera: what makes agents near it important. close() removes it from the world. Any thread may use it.
 */
public final class Observer implements AutoCloseable {
  private static final String GONE = ": it was removed, or never was in this world";
  private final World world;
  private final long id;
  private volatile boolean removed; // by close(): the library knows from the next frame on

  public Observer(World world, long id) {
    this.world = Struct.given("Observer", "world", world);
    this.id = id;
  }

  public long id() {
    return id;
  }

  private void mustBeThere(String call) {
    if (removed)
      throw new MusterException(
          Layout.Result.E_STALE, call + ": this observer is gone: close() removed it, add another");
  }

  /** Queues a new position. For many observers World.moveObservers is faster. */
  public void move(double x, double y, double z) {
    long handle = world.visit("Observer.move");
    try {
      mustBeThere("Observer.move");
      MusterException.throwUnless(Layout.Native.observerMove(handle, id, x, y, z), "Observer.move", GONE);
    } finally {
      world.leave();
    }
  }

  /** On the thread of the frames; from the first frame of the observer on. */
  public Layout.ObserverDef read() {
    Layout.ObserverDef def = Layout.ObserverDef.defaults();
    long handle = world.enter("Observer.read");
    try {
      mustBeThere("Observer.read");
      MusterException.throwUnless(Layout.Native.observerRead(handle, id, def.memory), "Observer.read", GONE);
    } finally {
      world.leaveAlone();
    }
    return def;
  }

  @Override
  public void close() {
    long handle = world.visitIfAny();
    try {
      int result = handle == 0 ? Layout.Result.OK : Layout.Native.observerRemove(handle, id);
      if (result != Layout.Result.E_STALE) MusterException.throwUnless(result, "Observer.close");
      removed = true;
    } finally {
      world.leave();
    }
  }
}

package muster;

/** A player or a camera: what makes agents near it important. close() removes it from the world. */
public final class Observer implements AutoCloseable {
  private final World world;
  private final long id;

  public Observer(World world, long id) {
    this.world = java.util.Objects.requireNonNull(world, "world");
    this.id = id;
  }

  public long id() {
    return id;
  }

  /** Queues a new position. For many observers World.moveObservers is faster. */
  public void move(double x, double y, double z) {
    MusterException.throwUnless(Layout.Native.observerMove(world.handle(), id, x, y, z));
  }

  public Layout.ObserverDef read() {
    Layout.ObserverDef def = Layout.ObserverDef.defaults();
    MusterException.throwUnless(Layout.Native.observerRead(world.handle(), id, def.memory));
    return def;
  }

  @Override
  public void close() {
    if (world.isClosed()) return;
    int result = Layout.Native.observerRemove(world.handle(), id);
    if (result != Layout.Result.E_STALE) MusterException.throwUnless(result);
  }
}

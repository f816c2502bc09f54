package muster;

/** A type of agents of one world. */
public final class AgentType {
  private final World world;
  private final String name;
  private final int id;

  AgentType(World world, String name, int id) {
    this.world = world;
    this.name = name;
    this.id = id;
  }

  public World world() {
    return world;
  }

  public String name() {
    return name;
  }

  /** What definitions and plan entries name it by. */
  public int id() {
    return id;
  }

  @Override
  public String toString() {
    return "type '" + name + "'";
  }
}

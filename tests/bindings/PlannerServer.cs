// The server of planner_server.c in C#: what it does, and the options, are told there.
using System;
using System.Diagnostics;
using System.Globalization;
using Muster;
using Muster.Native;
using AgentId = Muster.Native.Agent;
using ObserverId = Muster.Native.Observer;
using TypeId = Muster.Native.Type;

public static class PlannerServer {
  private const int Npcs = 2000, Players = 50, Hz = 30, Changes = 512;
  private const double FieldM = 500, SightM = 60, SecondNs = 1e9;

  private static World world;
  private static TypeId hunters, rats;
  private static readonly Muster.Agent[] agents = new Muster.Agent[Npcs]; // even ones are hunters
  private static readonly Position[] npcs = new Position[Npcs];
  private static readonly ObserverId[] players = new ObserverId[Players];
  private static readonly Position[] places = new Position[Players]; // of the players
  private static ulong bytes, sum;                                   // what was sent to the clients
  private static ulong cursor, caughtInAll, completed;
  private static bool measured;

  private static readonly PlanEntry[] entries = new PlanEntry[Npcs];
  private static readonly PlanResult[] results = new PlanResult[Npcs];
  private static readonly int[] caught = new int[Npcs];

  // The library's mixer: muster/random.h.
  private static ulong Mix(ulong value) {
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
    value = (value ^ value >> 27) * 0x94d049bb133111eb;
    return value ^ value >> 31;
  }

  private static double Share(ulong mixed) {
    return (mixed >> 40) * (1.0 / 16777216.0);
  }

  private static Position PlaceOf(ulong random) {
    return new Position { X = Share(random) * FieldM, Y = Share(Mix(random)) * FieldM };
  }

  private static double WithinField(double x) {
    return x < 0 ? 0 : x > FieldM ? FieldM : x;
  }

  // Players walk round squares of 20 m.
  private static void Walk(double seconds) {
    for (int i = 0; i < Players; i++) {
      double way = i * 7 + seconds * 1.5;
      way -= 80 * Math.Floor(way / 80);
      places[i] = PlaceOf(Mix((ulong)i + 1));
      places[i].X += way < 20 ? way : way < 40 ? 20 : way < 60 ? 60 - way : 0;
      places[i].Y += way < 20 ? 0 : way < 40 ? way - 20 : way < 60 ? 20 : 80 - way;
    }
  }

  // ------------------------------------------------------------------------------------------------------------ NPCs

  private static void Go(int i, double x, double y, double step) {
    double distance = Math.Sqrt(x * x + y * y);
    double share = distance > step ? step / distance : 1;
    npcs[i].X = WithinField(npcs[i].X + x * share);
    npcs[i].Y = WithinField(npcs[i].Y + y * share);
  }

  // The update of one NPC, over the time since its last one. Returns whether it caught a player.
  private static bool Update(int i, ref PlanEntry entry) {
    bool hunter = i % 2 == 0, sees = false;
    double seconds = entry.ElapsedNs / SecondNs, nearest = hunter ? 1600 : 225, x = 0, y = 0;
    double ownX = npcs[i].X, ownY = npcs[i].Y;
    for (int k = 0; k < Players; k++) {
      double dx = places[k].X - ownX, dy = places[k].Y - ownY;
      double square = dx * dx + dy * dy;
      if (square >= nearest) continue;
      nearest = square;
      x = dx;
      y = dy;
      sees = true;
    }
    ulong random = Mix(entry.Agent.Value ^ entry.NowNs);
    if (!sees) Go(i, (Share(random) - 0.5) * 1000, (Share(Mix(random)) - 0.5) * 1000, seconds);
    else if (hunter) Go(i, x, y, 4 * seconds);
    else Go(i, x * -1000, y * -1000, 3 * seconds);
    return hunter && nearest < 2.25;
  }

  private static void Spawn(int i, Position place) {
    agents[i] = world.Spawn(i % 2 == 0 ? hunters : rats, place, (ulong)i); // i comes back in each plan entry
    npcs[i] = place;
  }

  private static ulong ClockNs() {
    return (ulong)(Stopwatch.GetTimestamp() * (1e9 / Stopwatch.Frequency));
  }

  // Whether the time of the plan is up. Under the virtual clock all of the plan fits.
  private static bool IsOver(PlanSummary plan, ulong spentNs) {
    return measured && spentNs > plan.RunNs;
  }

  // One frame: Muster says which NPCs run, the server runs them, and says what came of it.
  private static void RunNpcs(ulong simNs, ulong budgetNs) {
    PlanSummary plan = world.Plan(simNs, budgetNs, entries);
    ulong startNs = ClockNs(), beginNs = startNs;
    int done = 0, count = 0;
    for (; done < plan.Count; done++) {
      if (done > 0 && IsOver(plan, beginNs - startNs)) break;
      int i = (int)entries[done].User;
      if (Update(i, ref entries[done])) caught[count++] = i;
      ulong endNs = measured ? ClockNs() : 0;
      results[done] = new PlanResult {
        Agent = entries[done].Agent, CostNs = measured ? endNs - beginNs : entries[done].SliceNs,
        Position = npcs[i], Outcome = (uint)PlanOutcome.Finished, Moved = 1
      };
      beginNs = endNs;
    }
    world.Report(results, done);
    completed += (ulong)done;
    for (int k = 0; k < count; k++) Replace(caught[k], simNs);
  }

  // A hunter that caught a player is sent away, and another one comes elsewhere.
  private static void Replace(int i, ulong simNs) {
    ulong gone = agents[i].Id.Value;
    agents[i].Dispose();
    Spawn(i, PlaceOf(Mix(gone + simNs)));
    caughtInAll++;
  }

  // --------------------------------------------------------------------------------------------------------- clients

  private static unsafe ulong BitsOf(double x, double y) {
    float first = (float)x, second = (float)y;
    return (ulong) * (uint*)&first << 32 | *(uint*)&second;
  }

  private static readonly Change[] changes = new Change[Changes];
  private static readonly AgentId[] told = new AgentId[Changes];
  private static readonly Position[] positions = new Position[Changes];

  // Where a server would write to connections: a record is 24 bytes.
  private static void Tell(int count) {
    for (int i = 0; i < count; i++) told[i] = changes[i].Agent;
    Array.Clear(positions, 0, Changes); // an agent that left has none
    world.ReadAgents(told, count, positions);
    for (int i = 0; i < count; i++) {
      bool left = (changes[i].Kinds & (uint)ChangeKind.Left) != 0;
      for (int k = 0; k < Players; k++) {
        double x = positions[i].X - places[k].X, y = positions[i].Y - places[k].Y;
        if (!left && x * x + y * y > SightM * SightM) continue;
        sum = Mix(sum ^ (ulong)k ^ told[i].Value);
        sum = Mix(sum ^ BitsOf(positions[i].X, positions[i].Y));
        sum = Mix(sum ^ ((ulong)changes[i].Kinds << 32 | changes[i].Type.Index));
        bytes += 24;
      }
    }
  }

  private static void TellClients() {
    int count;
    do {
      count = world.ReadChanges(ChangeKind.Moved | ChangeKind.Spawned | ChangeKind.Left, ref cursor, changes);
      Tell(count);
    } while (count == Changes);
  }

  // ----------------------------------------------------------------------------------------------------------- setup

  private static TypeId RegisterType(string name, ulong periodNs) {
    TypeDef def = TypeDef.Defaults();
    def.PeriodNs = periodNs;
    def.Parts.PartNs = 2000; // what an update costs under the virtual clock
    return world.RegisterType(name, def);
  }

  private static void SetUp() {
    WorldDef def = World.Defaults();
    def.Limits.ChangesFrames = 1;
    def.Clock.Kind = measured ? Clock.Wall : Clock.Virtual;
    world = new World(def);
    hunters = RegisterType("hunter", 100000000);
    rats = RegisterType("rat", 200000000);
    for (int i = 0; i < Npcs; i++) Spawn(i, PlaceOf(Mix(1000 + (ulong)i)));
    Walk(0);
    for (int i = 0; i < Players; i++) {
      ObserverDef player = ObserverDef.Defaults();
      player.Position = places[i];
      players[i] = world.AddObserver(player).Id;
    }
  }

  private static void PrintSecond(ulong second) {
    FrameReport report = world.ReadReport();
    uint pressure = (uint)(report.Pressure * 1000.0);
    Console.WriteLine(string.Format(CultureInfo.InvariantCulture,
        "{0,3} s: {1} NPCs, {2} updates, pressure {3}.{4:000}, {5} caught, {6} kB to clients", second, report.Agents,
        completed, pressure / 1000, pressure % 1000, caughtInAll, bytes / 1000));
  }

  public static void Main(string[] arguments) {
    ulong seconds = arguments.Length > 0 ? ulong.Parse(arguments[0]) : 10;
    ulong budgetNs = (arguments.Length > 1 ? ulong.Parse(arguments[1]) : 2000) * 1000;
    measured = arguments.Length < 3 || arguments[2] != "virtual";
    SetUp();
    using (world) {
      for (ulong frame = 1; frame <= seconds * Hz; frame++) {
        ulong simNs = frame * 1000000000 / Hz;
        Walk(simNs / SecondNs);
        world.MoveObservers(players, places, Players);
        RunNpcs(simNs, budgetNs);
        TellClients();
        if (frame % Hz == 0) PrintSecond(frame / Hz);
      }
      Console.WriteLine("world {0:x16}, clients {1:x16}", world.Hash(), sum);
    }
  }
}

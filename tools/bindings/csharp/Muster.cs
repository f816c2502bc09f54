// Muster for C#: a world whose NPCs the host runs itself (muster/planner.h), and calls for many agents at once.
//
// Muster decides which NPCs run in a frame, and the host runs them, in C#. The library calls nothing back: a callback
// would run on threads that the runtime does not know, must not throw, and costs a passage into managed code for each
// NPC. What a frame hands in and out are arrays of structs, which the library reads and writes where they lie. The
// structs, in Muster.Native, are written from the layout of the library (tools/bindings/generate).
//
// A call that fails throws a MusterException with the library's own sentence. All calls of a world come from one thread
// at a time, but for those about single agents and observers, which any thread may make: of others that meet, the
// second one is refused. Nothing here has a finalizer: a world belongs to the thread of the frames, and the collector's
// is another.
using System;
using System.Runtime.InteropServices;
using System.Text;
using System.Text.RegularExpressions;
using System.Threading;
using Muster.Native;
using AgentId = Muster.Native.Agent;
using ObserverId = Muster.Native.Observer;
using TypeId = Muster.Native.Type;

namespace Muster {
  /// <summary>A call was refused; the message is the call and the library's sentence.</summary>
  public sealed class MusterException : Exception {
    public Result Result { get; }

    public MusterException(Result result, string message) : base(message) {
      Result = result;
    }

    // `call` is refused; `gone` goes on behind "is gone".
    internal static unsafe MusterException Last(string call, string gone = "") {
      string told = Text.Told(call, Text.Of(Functions.LastError()));
      return new MusterException(Functions.LastResult(), told.EndsWith("is gone") ? told + gone : told);
    }

    internal static void ThrowUnless(Result result, string call, string gone = "") {
      if (result != Result.Ok) throw Last(call, gone);
    }
  }

  internal static unsafe class Text {
    public static string Of(byte* text) {
      int length = 0;
      while (text[length] != 0) length++;
      var bytes = new byte[length];
      Marshal.Copy((IntPtr)text, bytes, 0, length);
      return Encoding.UTF8.GetString(bytes);
    }

    // The library's sentence behind the call, and with the names that things have in C#.
    public static string Told(string call, string sentence) {
      string about = call.Substring(call.IndexOf('.') + 1).ToLowerInvariant() + ": ";
      if (sentence.StartsWith(about)) sentence = sentence.Substring(about.Length);
      sentence = sentence.Replace("muster_plan_report()", "Report()").Replace("muster_plan()", "Plan()");
      return call + ": " + Regex.Replace(sentence, @"muster_(\w+)_default\(\)", name => Pascal(name) + ".Defaults()");
    }

    private static string Pascal(Match name) {
      return Regex.Replace(name.Groups[1].Value, "(^|_)(.)", letter => letter.Groups[2].Value.ToUpperInvariant());
    }
  }

  /// <summary>A type of agents of one world.</summary>
  public sealed class AgentType {
    public World World { get; }
    public string Name { get; }
    public TypeId Id { get; }

    internal AgentType(World world, string name, TypeId id) {
      World = world;
      Name = name;
      Id = id;
    }

    /// <summary>What definitions and plan entries name it by.</summary>
    public static implicit operator TypeId(AgentType type) {
      return type == null ? new TypeId() : type.Id;
    }
  }

  // One call of a world. Until it is left, the world is not freed.
  internal struct Call : IDisposable {
    public readonly IntPtr Handle; // none: the world was disposed of
    private readonly World world;
    private readonly bool alone;

    public Call(World world, IntPtr handle, bool alone) {
      this.world = world;
      this.alone = alone;
      Handle = handle;
    }

    public void Dispose() {
      world.Leave(alone);
    }
  }

  /// <summary>A world whose frames are planned: Plan, run what was planned, Report.</summary>
  public sealed unsafe class World : IDisposable {
    private const int NameBytes = 31; // of which the library would drop the rest
    private IntPtr handle;
    private bool planned;    // between Plan and Report
    private string busyWith; // the call of the thread of the frames that runs, of which there is one at a time
    private int visits;      // how many of the others run

    /// <summary>The defaults of the library, for a host that runs NPCs on one thread.</summary>
    public static WorldDef Defaults() {
      WorldDef def = WorldDef.Defaults();
      def.PlannerWorkers = 1;
      return def;
    }

    public World(WorldDef def) {
      if (def.Size != 0 && def.PlannerWorkers == 0)
        throw new ArgumentException("World: def.PlannerWorkers is 0: begin with World.Defaults(), or say on how many " +
                                    "threads NPCs run", "def");
      RefuseCallback("World", "def.Allocator", def.Allocator.Allocate != IntPtr.Zero);
      RefuseCallback("World", "def.Log.Write", def.Log.Write != IntPtr.Zero);
      handle = Functions.WorldCreate(&def);
      if (handle == IntPtr.Zero) throw MusterException.Last("World");
    }

    /// <summary>Frees the world with its agents and observers. Once more is a no-op. Refused while another thread plans
    /// or reports; a plan that is open ends.</summary>
    public void Dispose() {
      if (IsDisposed || !BeAlone("World.Dispose", "end its loop first")) return;
      IntPtr gone = Interlocked.Exchange(ref handle, IntPtr.Zero);
      var others = new SpinWait(); // within microseconds they are out
      while (Volatile.Read(ref visits) != 0) others.SpinOnce();
      if (gone != IntPtr.Zero) Functions.WorldDestroy(gone);
      Leave(true);
    }

    public bool IsDisposed {
      get { return Volatile.Read(ref handle) == IntPtr.Zero; }
    }

    /// <summary>The version of the library that runs.</summary>
    public static string Version {
      get { return Text.Of(Functions.Version()); }
    }

    // ----------------------------------------------------------------------------------------------- who may call when

    // False: another thread disposes of the world.
    private bool BeAlone(string call, string advice) {
      string other = Interlocked.CompareExchange(ref busyWith, call, null);
      if (other != null && other != "World.Dispose")
        throw new InvalidOperationException(call + ": another thread is in " + other + " of this world, whose calls " +
                                            "come from one thread at a time: " + advice);
      return other == null;
    }

    // For the calls of the thread of the frames: no other of these may run.
    internal Call Enter(string call) {
      if (!BeAlone(call, "put a lock around them")) throw Disposed(call);
      if (!IsDisposed) return new Call(this, handle, true);
      Leave(true);
      throw Disposed(call);
    }

    // For the calls that any thread may make at any time.
    internal Call Visit(string call) {
      Call visit = VisitIfAny();
      if (visit.Handle != IntPtr.Zero) return visit;
      visit.Dispose();
      throw Disposed(call);
    }

    internal Call VisitIfAny() {
      Interlocked.Increment(ref visits); // before the handle is read: Dispose does both the other way round
      return new Call(this, Volatile.Read(ref handle), false);
    }

    internal void Leave(bool alone) {
      if (alone) Volatile.Write(ref busyWith, null);
      else Interlocked.Decrement(ref visits);
    }

    private static ObjectDisposedException Disposed(string call) {
      return new ObjectDisposedException("Muster.World", call + ": the world was disposed of: end all calls of it, " +
                                         "its agents and its observers before World.Dispose()");
    }

    // ------------------------------------------------------------------------------------- types, agents, observers

    private static void RefuseCallback(string call, string field, bool given) {
      if (given)
        throw new ArgumentException(call + ": " + field + " is for callbacks, which the library cannot make into C#: " +
                                    "leave it zero, and run your code between Plan() and Report()", "def");
    }

    private static void RefuseCallbacks(TypeDef def) {
      RefuseCallback("World.RegisterType", "def.Atoms", def.Atoms != null);
      RefuseCallback("World.RegisterType", "def.OnSpawned", def.OnSpawned != IntPtr.Zero);
      RefuseCallback("World.RegisterType", "def.OnRemoved", def.OnRemoved != IntPtr.Zero);
      RefuseCallback("World.RegisterType", "def.Elapsed.CatchUp", def.Elapsed.CatchUp != IntPtr.Zero);
      RefuseCallback("World.RegisterType", "def.Models.CostNs", def.Models.CostNs != IntPtr.Zero);
      RefuseCallback("World.RegisterType", "def.Models.Importance", def.Models.Importance != IntPtr.Zero);
      RefuseCallback("World.RegisterType", "def.Strands.Of", def.Strands.Of != IntPtr.Zero);
    }

    private static byte[] NameOf(string name) {
      if (string.IsNullOrEmpty(name))
        throw new ArgumentException("World.RegisterType: name is " + (name == null ? "null" : "empty") +
                                    ": give the type a name, which reports and errors call it by", "name");
      if (name.IndexOf('\0') >= 0)
        throw new ArgumentException("World.RegisterType: name has a zero in it, behind which nothing counts", "name");
      byte[] bytes = Encoding.UTF8.GetBytes(name + "\0");
      if (bytes.Length - 1 > NameBytes)
        throw new ArgumentException("World.RegisterType: name '" + name + "' has " + (bytes.Length - 1) +
                                    " bytes of UTF-8: it must have " + NameBytes + " at most", "name");
      return bytes;
    }

    /// <summary>Registers a type. Each has a name of its own, of at most 31 bytes of UTF-8.</summary>
    public AgentType RegisterType(string name, TypeDef def) {
      byte[] bytes = NameOf(name);
      RefuseCallbacks(def);
      using (Call call = Enter("World.RegisterType"))
        fixed (byte* text = bytes) {
          TypeId other = Functions.TypeFind(call.Handle, text);
          if (other.Index != 0)
            throw new ArgumentException("World.RegisterType: name '" + name + "' is type " + other.Index +
                                        " already: keep what RegisterType() returned, or take another name", "name");
          def.Name = text;
          TypeId type = Functions.TypeRegister(call.Handle, &def);
          if (type.Index == 0) throw MusterException.Last("World.RegisterType");
          return new AgentType(this, name, type);
        }
    }

    /// <summary>A type with several rates: each of `sets` is one, which Parts() names by its place.</summary>
    public AgentType RegisterType(string name, TypeDef def, SetDef[] sets) {
      Required("World.RegisterType", "sets", sets);
      fixed (SetDef* first = sets) {
        def.Sets.List = first;
        def.Sets.Count = LengthOf(sets);
        return RegisterType(name, def);
      }
    }

    /// <summary>Queues a new agent. `user` comes back in each of its plan entries: the place in an array of the host's.
    /// </summary>
    public Agent Spawn(AgentType type, Position position, ulong user) {
      if (type == null)
        throw new ArgumentNullException("type", "World.Spawn: type is null: give it what RegisterType() returned");
      if (type.World != this)
        throw new ArgumentException("World.Spawn: type '" + type.Name + "' is of another world: register it in this " +
                                    "one, too", "type");
      return Spawn(type.Id, position, user);
    }

    /// <summary>The same by the number of a type, which does not say of which world it is.</summary>
    public Agent Spawn(TypeId type, Position position, ulong user) {
      AgentDef def = AgentDef.Defaults();
      def.Type = type;
      def.Position = position;
      def.User = (IntPtr)(long)user;
      return Spawn(def);
    }

    public Agent Spawn(AgentDef def) {
      using (Call call = Visit("World.Spawn")) {
        AgentId id = Functions.AgentSpawn(call.Handle, &def);
        if (id.Value == 0) throw MusterException.Last("World.Spawn");
        return new Agent(this, id);
      }
    }

    public Observer AddObserver(ObserverDef def) {
      using (Call call = Visit("World.AddObserver")) {
        ObserverId id = Functions.ObserverAdd(call.Handle, &def);
        if (id.Value == 0) throw MusterException.Last("World.AddObserver");
        return new Observer(this, id);
      }
    }

    // -------------------------------------------------------------------------------------------------------- frames

    /// <summary>Begins a frame: writes the updates to run into `entries`, in the order in which they are best run.
    /// </summary>
    public PlanSummary Plan(ulong simNowNs, ulong budgetNs, PlanEntry[] entries) {
      Required("World.Plan", "entries", entries);
      var frame = new Frame { SimNowNs = simNowNs, BudgetNs = budgetNs };
      PlanSummary summary = PlanSummary.Defaults();
      using (Call call = Enter("World.Plan")) fixed (PlanEntry* first = entries) {
        MusterException.ThrowUnless(Functions.Plan(call.Handle, &frame, first, LengthOf(entries), &summary),
                                    "World.Plan");
        planned = true;
      }
      return summary;
    }

    /// <summary>Writes which sets the first `count` entries of the plan are to run, and what each is told; returns how
    /// many. For types with several rates.</summary>
    public int Parts(PlanEntry[] entries, int count, PlanPart[] parts) {
      uint written;
      Check("World.Parts", "entries", entries, count);
      Required("World.Parts", "parts", parts);
      using (Call call = Enter("World.Parts"))
        fixed (PlanEntry* some = entries) fixed (PlanPart* first = parts)
          MusterException.ThrowUnless(
              Functions.PlanParts(call.Handle, some, (uint)count, first, LengthOf(parts), &written), "World.Parts");
      return (int)written;
    }

    /// <summary>Ends the frame. What is not among the first `count` results did not run, and is planned again; nor did
    /// one whose outcome is NotRun, which has no cost and did not move. After an exception the frame is still open, for
    /// a better report.</summary>
    public void Report(PlanResult[] results, int count) {
      Check("World.Report", "results", results, count);
      for (int i = 0; i < count; i++)
        if (results[i].Outcome == (uint)PlanOutcome.NotRun && (results[i].CostNs != 0 || results[i].Moved != 0))
          throw new ArgumentException("World.Report: results[" + i + "] has a cost or moved, but its Outcome is " +
                                      "NotRun, which drops it: set Outcome = (uint)PlanOutcome.Finished", "results");
      using (Call call = Enter("World.Report")) fixed (PlanResult* first = results) {
        MusterException.ThrowUnless(Functions.PlanReport(call.Handle, first, (uint)count), "World.Report");
        planned = false;
      }
    }

    public FrameReport ReadReport() {
      FrameReport report = FrameReport.Defaults();
      using (Call call = Enter("World.ReadReport"))
        MusterException.ThrowUnless(Functions.FrameReportRead(call.Handle, &report), "World.ReadReport");
      return report;
    }

    /// <summary>Equal worlds have equal hashes.</summary>
    public ulong Hash() {
      using (Call call = Enter("World.Hash")) return Counted(Functions.WorldHash(call.Handle), 1, "World.Hash");
    }

    // ----------------------------------------------------------------------------------------- many agents at once

    // The calls below pass over ids that are gone and say how many were not. 0 may mean that all are gone; while a plan
    // is open it means that the call was refused.
    private ulong Counted(ulong done, int count, string call) {
      if (planned && done == 0 && count > 0) throw MusterException.Last(call);
      return done;
    }

    // When not all were moved: because ids are gone, or because a position is none?
    private static void RefuseBad(string call, Position[] positions, int count) {
      for (int i = 0; i < count; i++)
        if (!(IsPlace(positions[i].X) && IsPlace(positions[i].Y) && IsPlace(positions[i].Z)))
          throw new ArgumentException(call + ": positions[" + i + "] (" + positions[i].X + ", " + positions[i].Y +
                                      ", " + positions[i].Z + ") must be finite and within 1e9 m, and was passed " +
                                      "over: the others moved", "positions");
    }

    private static bool IsPlace(double metres) {
      return metres >= -1e9 && metres <= 1e9;
    }

    /// <summary>Moves agents at once, between frames; returns how many were moved: all but those that are gone.
    /// </summary>
    public int MoveAgents(AgentId[] agents, Position[] positions, int count) {
      Check("World.MoveAgents", "agents", agents, count);
      Check("World.MoveAgents", "positions", positions, count);
      using (Call call = Enter("World.MoveAgents")) fixed (AgentId* ids = agents) fixed (Position* places = positions) {
        ulong moved = Counted(Functions.AgentsMove(call.Handle, ids, places, (uint)count), count, "World.MoveAgents");
        if (moved < (ulong)count) RefuseBad("World.MoveAgents", positions, count);
        return (int)moved;
      }
    }

    /// <summary>Moves observers at once, between frames; returns how many were moved.</summary>
    public int MoveObservers(ObserverId[] observers, Position[] positions, int count) {
      Check("World.MoveObservers", "observers", observers, count);
      Check("World.MoveObservers", "positions", positions, count);
      using (Call call = Enter("World.MoveObservers"))
        fixed (ObserverId* ids = observers) fixed (Position* places = positions) {
          ulong moved =
              Counted(Functions.ObserversMove(call.Handle, ids, places, (uint)count), count, "World.MoveObservers");
          if (moved < (ulong)count) RefuseBad("World.MoveObservers", positions, count);
          return (int)moved;
        }
    }

    /// <summary>Sets one factor of importance of agents at once, between frames; returns how many were set.</summary>
    public int SetFactor(Factor factor, AgentId[] agents, float[] values, int count) {
      Check("World.SetFactor", "agents", agents, count);
      Check("World.SetFactor", "values", values, count);
      if ((uint)factor > (uint)Factor.Interactivity)
        throw new ArgumentException("World.SetFactor: factor " + (uint)factor + " is unknown: it must be one of Factor",
                                    "factor");
      using (Call call = Enter("World.SetFactor")) fixed (AgentId* ids = agents) fixed (float* given = values) {
        ulong set =
            Counted(Functions.AgentsSetFactor(call.Handle, factor, ids, given, (uint)count), count, "World.SetFactor");
        for (int i = 0; set < (ulong)count && i < count; i++)
          if (!(values[i] >= 0 && values[i] <= 1))
            throw new ArgumentException("World.SetFactor: values[" + i + "] " + values[i] + " must be 0..1, and was " +
                                        "passed over: the others were set", "values");
        return (int)set;
      }
    }

    /// <summary>Reads agents at once into arrays, of which each may be null; returns how many were found. What is not
    /// found leaves its places as they are.</summary>
    public int ReadAgents(AgentId[] agents, int count, Position[] positions, float[] importance = null,
                          uint[] levels = null, ulong[] lastUpdateNs = null) {
      Check("World.ReadAgents", "agents", agents, count);
      if (positions != null) Check("World.ReadAgents", "positions", positions, count);
      if (importance != null) Check("World.ReadAgents", "importance", importance, count);
      if (levels != null) Check("World.ReadAgents", "levels", levels, count);
      if (lastUpdateNs != null) Check("World.ReadAgents", "lastUpdateNs", lastUpdateNs, count);
      AgentColumns columns = AgentColumns.Defaults();
      using (Call call = Enter("World.ReadAgents"))
        fixed (AgentId* ids = agents) fixed (Position* a = positions) fixed (float* b = importance)
          fixed (uint* c = levels) fixed (ulong* d = lastUpdateNs) {
            columns.Positions = a;
            columns.Importance = b;
            columns.Level = c;
            columns.LastUpdateNs = d;
            return (int)Functions.AgentsRead(call.Handle, ids, (uint)count, &columns);
          }
    }

    /// <summary>Writes what happened since the cursor, which begins as 0; returns how many records. When that is all
    /// there is room for, the next call goes on. Needs def.Limits.ChangesFrames.</summary>
    public int ReadChanges(ChangeKind kinds, ref ulong cursor, Change[] changes) {
      uint count;
      Required("World.ReadChanges", "changes", changes);
      if (kinds == 0)
        throw new ArgumentException("World.ReadChanges: kinds is 0, which asks for nothing: name one or several of " +
                                    "ChangeKind", "kinds");
      using (Call call = Enter("World.ReadChanges"))
        fixed (ulong* place = &cursor) fixed (Change* first = changes)
          MusterException.ThrowUnless(
              Functions.FrameChanges(call.Handle, (uint)kinds, place, first, LengthOf(changes), &count),
              "World.ReadChanges");
      return (int)count;
    }

    /// <summary>The nearest agents around a place, nearest first; returns how many were written.</summary>
    public int Nearby(NearbyQuery query, NearbyAgent[] found) {
      Required("World.Nearby", "found", found);
      if (query.RadiusM == 0 && query.Size != 0)
        throw new ArgumentException("World.Nearby: query.RadiusM is 0, which finds nobody: set it, in metres", "query");
      using (Call call = Enter("World.Nearby")) fixed (NearbyAgent* first = found) {
        uint count = Functions.AgentsNearby(call.Handle, &query, first, LengthOf(found), null);
        if (count > 0) return (int)count;
        // 0 may also be a refusal, which leaves its result: another one is left before asking again.
        Functions.AgentWake(call.Handle, new AgentId());
        count = Functions.AgentsNearby(call.Handle, &query, first, LengthOf(found), null);
        if (count == 0 && Functions.LastResult() != Result.EStale) throw MusterException.Last("World.Nearby");
        return (int)count;
      }
    }

    private static uint LengthOf(Array array) {
      return array == null ? 0 : (uint)array.Length;
    }

    private static void Required(string call, string name, Array array) {
      if (LengthOf(array) == 0)
        throw new ArgumentException(call + ": " + name + " is " + (array == null ? "null" : "empty") + ": give it an " +
                                    "array with a place at least", name);
    }

    private static void Check(string call, string name, Array array, int count) {
      if (count < 0)
        throw new ArgumentException(call + ": count is " + count + ": it must be 0 or more", "count");
      if (count > LengthOf(array))
        throw new ArgumentException(call + ": count is " + count + ", but " + name + " has room for " +
                                    LengthOf(array) + ": give a longer array", name);
    }
  }

  /// <summary>One agent. Dispose removes it from the world; an agent that is gone already, or its world, is no error.
  /// Any thread may use it.</summary>
  public sealed unsafe class Agent : IDisposable {
    private const string Gone = ": it was removed, or never was in this world; Exists says so before";

    public World World { get; }
    public AgentId Id { get; }

    public Agent(World world, AgentId id) {
      World = world ?? throw new ArgumentNullException("world", "Agent: world is null: give the one in which it is");
      Id = id;
    }

    public bool Exists {
      get {
        using (Call call = World.VisitIfAny())
          return call.Handle != IntPtr.Zero && Functions.AgentExists(call.Handle, Id);
      }
    }

    /// <summary>Queues a new position. For many agents World.MoveAgents is faster.</summary>
    public void Move(Position position) {
      using (Call call = World.Visit("Agent.Move"))
        MusterException.ThrowUnless(Functions.AgentMove(call.Handle, Id, position), "Agent.Move", Gone);
    }

    /// <summary>Something happened to it: it is in the next plan, whatever its period.</summary>
    public void Wake() {
      using (Call call = World.Visit("Agent.Wake"))
        MusterException.ThrowUnless(Functions.AgentWake(call.Handle, Id), "Agent.Wake", Gone);
    }

    public void WakeAt(ulong simNs) {
      using (Call call = World.Visit("Agent.WakeAt"))
        MusterException.ThrowUnless(Functions.AgentWakeAt(call.Handle, Id, simNs), "Agent.WakeAt", Gone);
    }

    public void Tune(AgentTuning tuning) {
      using (Call call = World.Visit("Agent.Tune"))
        MusterException.ThrowUnless(Functions.AgentTune(call.Handle, Id, &tuning), "Agent.Tune", Gone);
    }

    /// <summary>Periods of its own; 0 = its type's.</summary>
    public void SetPeriods(ulong periodNs, ulong periodMaxNs = 0) {
      using (Call call = World.Visit("Agent.SetPeriods"))
        MusterException.ThrowUnless(Functions.AgentSetPeriods(call.Handle, Id, periodNs, periodMaxNs),
                                    "Agent.SetPeriods", Gone);
    }

    /// <summary>On the thread of the frames.</summary>
    public AgentInfo Read() {
      AgentInfo info = AgentInfo.Defaults();
      using (Call call = World.Enter("Agent.Read"))
        MusterException.ThrowUnless(Functions.AgentRead(call.Handle, Id, &info), "Agent.Read", Gone);
      return info;
    }

    public void Dispose() {
      using (Call call = World.VisitIfAny()) {
        if (call.Handle == IntPtr.Zero) return;
        Result result = Functions.AgentRemove(call.Handle, Id);
        if (result != Result.EStale) MusterException.ThrowUnless(result, "Agent.Dispose");
      }
    }
  }

  /// <summary>A player or a camera: what makes agents near it important. Dispose removes it from the world. Any thread
  /// may use it.</summary>
  public sealed unsafe class Observer : IDisposable {
    private const string Gone = ": it was removed, or never was in this world";
    private int removed; // by Dispose: the library knows from the next frame on

    public World World { get; }
    public ObserverId Id { get; }

    public Observer(World world, ObserverId id) {
      World = world ?? throw new ArgumentNullException("world", "Observer: world is null: give the one in which it is");
      Id = id;
    }

    private void MustBeThere(string call) {
      if (Volatile.Read(ref removed) != 0)
        throw new MusterException(Result.EStale, call + ": this observer is gone: Dispose() removed it, add another");
    }

    /// <summary>Queues a new position. For many observers World.MoveObservers is faster.</summary>
    public void Move(Position position) {
      using (Call call = World.Visit("Observer.Move")) {
        MustBeThere("Observer.Move");
        MusterException.ThrowUnless(Functions.ObserverMove(call.Handle, Id, position), "Observer.Move", Gone);
      }
    }

    /// <summary>On the thread of the frames; from the first frame of the observer on.</summary>
    public ObserverDef Read() {
      ObserverDef def = ObserverDef.Defaults();
      using (Call call = World.Enter("Observer.Read")) {
        MustBeThere("Observer.Read");
        MusterException.ThrowUnless(Functions.ObserverRead(call.Handle, Id, &def), "Observer.Read", Gone);
      }
      return def;
    }

    public void Dispose() {
      using (Call call = World.VisitIfAny()) {
        if (call.Handle == IntPtr.Zero) return;
        Result result = Functions.ObserverRemove(call.Handle, Id);
        if (result != Result.EStale) MusterException.ThrowUnless(result, "Observer.Dispose");
        Volatile.Write(ref removed, 1);
      }
    }
  }
}

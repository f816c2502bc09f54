// Muster for C#: a world whose NPCs the host runs itself (muster/planner.h), and calls for many agents at once.
//
// Muster decides which NPCs run in a frame, and the host runs them, in C#. The library calls nothing back: a callback
// would run on threads that the runtime does not know, must not throw, and costs a passage into managed code for each
// NPC. What a frame hands in and out are arrays of structs, which the library reads and writes where they lie. The
// structs, in Muster.Native, are written from the layout of the library (tools/bindings/generate).
//
// A call that fails throws a MusterException with the library's own sentence. All calls of a world come from one thread
// at a time. Nothing here has a finalizer: a world belongs to the thread of the frames, and the collector's is another.
using System;
using System.Runtime.InteropServices;
using System.Text;
using Muster.Native;
using AgentId = Muster.Native.Agent;
using ObserverId = Muster.Native.Observer;
using TypeId = Muster.Native.Type;

namespace Muster {
  /// <summary>A call was refused; the message is the library's.</summary>
  public sealed class MusterException : Exception {
    public Result Result { get; }

    public MusterException(Result result, string message) : base(message) {
      Result = result;
    }

    internal static unsafe MusterException Last() {
      return new MusterException(Functions.LastResult(), Text.Of(Functions.LastError()));
    }

    internal static void ThrowUnless(Result result) {
      if (result != Result.Ok) throw Last();
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
  }

  /// <summary>A world whose frames are planned: Plan, run what was planned, Report.</summary>
  public sealed unsafe class World : IDisposable {
    private IntPtr handle;
    private bool planned; // between Plan and Report

    /// <summary>The defaults of the library, for a host that runs NPCs on one thread.</summary>
    public static WorldDef Defaults() {
      WorldDef def = WorldDef.Defaults();
      def.PlannerWorkers = 1;
      return def;
    }

    public World(WorldDef def) {
      handle = Functions.WorldCreate(&def);
      if (handle == IntPtr.Zero) throw MusterException.Last();
    }

    /// <summary>Frees the world with its agents and observers. Once more is a no-op.</summary>
    public void Dispose() {
      IntPtr gone = handle;
      handle = IntPtr.Zero;
      if (gone != IntPtr.Zero) Functions.WorldDestroy(gone);
    }

    public bool IsDisposed {
      get { return handle == IntPtr.Zero; }
    }

    internal IntPtr Handle {
      get {
        if (handle == IntPtr.Zero) throw new ObjectDisposedException("Muster.World");
        return handle;
      }
    }

    /// <summary>The version of the library that runs.</summary>
    public static string Version {
      get { return Text.Of(Functions.Version()); }
    }

    // ------------------------------------------------------------------------------------- types, agents, observers

    public TypeId RegisterType(string name, TypeDef def) {
      byte[] bytes = Encoding.UTF8.GetBytes((name ?? throw new ArgumentNullException("name")) + "\0");
      TypeId type;
      fixed (byte* text = bytes) {
        def.Name = text;
        type = Functions.TypeRegister(Handle, &def);
      }
      if (type.Index == 0) throw MusterException.Last();
      return type;
    }

    /// <summary>A type with several rates: each of `sets` is one, which Parts() names by its place.</summary>
    public TypeId RegisterType(string name, TypeDef def, SetDef[] sets) {
      fixed (SetDef* first = sets) {
        def.Sets.List = first;
        def.Sets.Count = LengthOf(sets);
        return RegisterType(name, def);
      }
    }

    /// <summary>Queues a new agent. `user` comes back in each of its plan entries: the place in an array of the host's.
    /// </summary>
    public Agent Spawn(TypeId type, Position position, ulong user) {
      AgentDef def = AgentDef.Defaults();
      def.Type = type;
      def.Position = position;
      def.User = (IntPtr)(long)user;
      return Spawn(def);
    }

    public Agent Spawn(AgentDef def) {
      AgentId id = Functions.AgentSpawn(Handle, &def);
      if (id.Value == 0) throw MusterException.Last();
      return new Agent(this, id);
    }

    public Observer AddObserver(ObserverDef def) {
      ObserverId id = Functions.ObserverAdd(Handle, &def);
      if (id.Value == 0) throw MusterException.Last();
      return new Observer(this, id);
    }

    // -------------------------------------------------------------------------------------------------------- frames

    /// <summary>Begins a frame: writes the updates to run into `entries`, in the order in which they are best run.
    /// </summary>
    public PlanSummary Plan(ulong simNowNs, ulong budgetNs, PlanEntry[] entries) {
      var frame = new Frame { SimNowNs = simNowNs, BudgetNs = budgetNs };
      PlanSummary summary = PlanSummary.Defaults();
      fixed (PlanEntry* first = entries)
        MusterException.ThrowUnless(Functions.Plan(Handle, &frame, first, LengthOf(entries), &summary));
      planned = true;
      return summary;
    }

    /// <summary>Writes which sets the first `count` entries of the plan are to run, and what each is told; returns how
    /// many. For types with several rates.</summary>
    public int Parts(PlanEntry[] entries, int count, PlanPart[] parts) {
      uint written;
      Check("entries", entries, count);
      fixed (PlanEntry* some = entries) fixed (PlanPart* first = parts)
        MusterException.ThrowUnless(
            Functions.PlanParts(Handle, some, (uint)count, first, LengthOf(parts), &written));
      return (int)written;
    }

    /// <summary>Ends the frame. What is not among the first `count` results did not run, and is planned again. After an
    /// exception the frame is still open, for a better report.</summary>
    public void Report(PlanResult[] results, int count) {
      Check("results", results, count);
      fixed (PlanResult* first = results) MusterException.ThrowUnless(Functions.PlanReport(Handle, first, (uint)count));
      planned = false;
    }

    public FrameReport ReadReport() {
      FrameReport report = FrameReport.Defaults();
      MusterException.ThrowUnless(Functions.FrameReportRead(Handle, &report));
      return report;
    }

    /// <summary>Equal worlds have equal hashes.</summary>
    public ulong Hash() {
      return Result(Functions.WorldHash(Handle), 1);
    }

    // ----------------------------------------------------------------------------------------- many agents at once

    // The calls below pass over ids that are gone and say how many were not. 0 may mean that all are gone; while a plan
    // is open it means that the call was refused.
    private ulong Result(ulong done, int count) {
      if (planned && done == 0 && count > 0) throw MusterException.Last();
      return done;
    }

    /// <summary>Moves agents at once, between frames; returns how many were moved.</summary>
    public int MoveAgents(AgentId[] agents, Position[] positions, int count) {
      Check("agents", agents, count);
      Check("positions", positions, count);
      fixed (AgentId* ids = agents) fixed (Position* places = positions)
        return (int)Result(Functions.AgentsMove(Handle, ids, places, (uint)count), count);
    }

    /// <summary>Moves observers at once, between frames; returns how many were moved.</summary>
    public int MoveObservers(ObserverId[] observers, Position[] positions, int count) {
      Check("observers", observers, count);
      Check("positions", positions, count);
      fixed (ObserverId* ids = observers) fixed (Position* places = positions)
        return (int)Result(Functions.ObserversMove(Handle, ids, places, (uint)count), count);
    }

    /// <summary>Sets one factor of importance of agents at once, between frames; returns how many were set.</summary>
    public int SetFactor(Factor factor, AgentId[] agents, float[] values, int count) {
      Check("agents", agents, count);
      Check("values", values, count);
      fixed (AgentId* ids = agents) fixed (float* given = values)
        return (int)Result(Functions.AgentsSetFactor(Handle, factor, ids, given, (uint)count), count);
    }

    /// <summary>Reads agents at once into arrays, of which each may be null; returns how many were found. What is not
    /// found leaves its places as they are.</summary>
    public int ReadAgents(AgentId[] agents, int count, Position[] positions, float[] importance = null,
                          uint[] levels = null, ulong[] lastUpdateNs = null) {
      Check("agents", agents, count);
      if (positions != null) Check("positions", positions, count);
      if (importance != null) Check("importance", importance, count);
      if (levels != null) Check("levels", levels, count);
      if (lastUpdateNs != null) Check("lastUpdateNs", lastUpdateNs, count);
      AgentColumns columns = AgentColumns.Defaults();
      fixed (AgentId* ids = agents) fixed (Position* a = positions) fixed (float* b = importance)
        fixed (uint* c = levels) fixed (ulong* d = lastUpdateNs) {
          columns.Positions = a;
          columns.Importance = b;
          columns.Level = c;
          columns.LastUpdateNs = d;
          return (int)Functions.AgentsRead(Handle, ids, (uint)count, &columns);
        }
    }

    /// <summary>Writes what happened since the cursor, which begins as 0; returns how many records. When that is all
    /// there is room for, the next call goes on. Needs def.Limits.ChangesFrames.</summary>
    public int ReadChanges(ChangeKind kinds, ref ulong cursor, Change[] changes) {
      uint count;
      fixed (ulong* place = &cursor) fixed (Change* first = changes)
        MusterException.ThrowUnless(
            Functions.FrameChanges(Handle, (uint)kinds, place, first, LengthOf(changes), &count));
      return (int)count;
    }

    /// <summary>The nearest agents around a place, nearest first; returns how many were written.</summary>
    public int Nearby(NearbyQuery query, NearbyAgent[] found) {
      fixed (NearbyAgent* first = found) {
        uint count = Functions.AgentsNearby(Handle, &query, first, LengthOf(found), null);
        if (count > 0) return (int)count;
        // 0 may also be a refusal, which leaves its result: another one is left before asking again.
        Functions.AgentWake(Handle, new AgentId());
        count = Functions.AgentsNearby(Handle, &query, first, LengthOf(found), null);
        if (count == 0 && Functions.LastResult() != Muster.Native.Result.EStale) throw MusterException.Last();
        return (int)count;
      }
    }

    private static uint LengthOf(Array array) {
      return array == null ? 0 : (uint)array.Length;
    }

    private static void Check(string name, Array array, int count) {
      if (count < 0) throw new ArgumentOutOfRangeException("count", "count is " + count + ": it must be 0 or more");
      if (count > LengthOf(array))
        throw new ArgumentException("count is " + count + ", but " + name + " has room for " + LengthOf(array), name);
    }
  }

  /// <summary>One agent. Dispose removes it from the world; an agent that is gone already, or its world, is no error.
  /// </summary>
  public sealed unsafe class Agent : IDisposable {
    public World World { get; }
    public AgentId Id { get; }

    public Agent(World world, AgentId id) {
      World = world ?? throw new ArgumentNullException("world");
      Id = id;
    }

    public bool Exists {
      get { return !World.IsDisposed && Functions.AgentExists(World.Handle, Id); }
    }

    /// <summary>Queues a new position. For many agents World.MoveAgents is faster.</summary>
    public void Move(Position position) {
      MusterException.ThrowUnless(Functions.AgentMove(World.Handle, Id, position));
    }

    /// <summary>Something happened to it: it is in the next plan, whatever its period.</summary>
    public void Wake() {
      MusterException.ThrowUnless(Functions.AgentWake(World.Handle, Id));
    }

    public void WakeAt(ulong simNs) {
      MusterException.ThrowUnless(Functions.AgentWakeAt(World.Handle, Id, simNs));
    }

    public void Tune(AgentTuning tuning) {
      MusterException.ThrowUnless(Functions.AgentTune(World.Handle, Id, &tuning));
    }

    /// <summary>Periods of its own; 0 = its type's.</summary>
    public void SetPeriods(ulong periodNs, ulong periodMaxNs = 0) {
      MusterException.ThrowUnless(Functions.AgentSetPeriods(World.Handle, Id, periodNs, periodMaxNs));
    }

    public AgentInfo Read() {
      AgentInfo info = AgentInfo.Defaults();
      MusterException.ThrowUnless(Functions.AgentRead(World.Handle, Id, &info));
      return info;
    }

    public void Dispose() {
      if (World.IsDisposed) return;
      Result result = Functions.AgentRemove(World.Handle, Id);
      if (result != Result.EStale) MusterException.ThrowUnless(result);
    }
  }

  /// <summary>A player or a camera: what makes agents near it important. Dispose removes it from the world.</summary>
  public sealed unsafe class Observer : IDisposable {
    public World World { get; }
    public ObserverId Id { get; }

    public Observer(World world, ObserverId id) {
      World = world ?? throw new ArgumentNullException("world");
      Id = id;
    }

    /// <summary>Queues a new position. For many observers World.MoveObservers is faster.</summary>
    public void Move(Position position) {
      MusterException.ThrowUnless(Functions.ObserverMove(World.Handle, Id, position));
    }

    public ObserverDef Read() {
      ObserverDef def = ObserverDef.Defaults();
      MusterException.ThrowUnless(Functions.ObserverRead(World.Handle, Id, &def));
      return def;
    }

    public void Dispose() {
      if (World.IsDisposed) return;
      Result result = Functions.ObserverRemove(World.Handle, Id);
      if (result != Result.EStale) MusterException.ThrowUnless(result);
    }
  }
}

---@meta muster

-- Definitions for the Lua language server (https://luals.github.io): completion, types and help for behaviours in Lua.
-- In the folder of your scripts, .luarc.json names this file's folder:
--
--     { "runtime.version": "Lua 5.4",
--       "workspace.library": ["/usr/share/muster/lua-language-server"],
--       "runtime.builtin": { "io": "disable", "os": "disable", "debug": "disable", "package": "disable",
--                            "coroutine": "disable" } }
--
-- The manual is tools/docs/scripts.md.

---@alias muster.Id integer An agent's or an observer's id; 0 is none.
---@alias muster.Time string A time with its unit: ns, us, ms, s, min or h, such as "100ms".
---@alias muster.Bytes string A size with its unit: B, KB or MB, such as "64KB".
---@alias muster.Plain nil|boolean|number|string|table A plain value, or a table of them.
---@alias muster.TypeOrName muster.Type|string What `muster.type` returned, or the name of a type.

---@class muster.Position
---@field x number metres
---@field y number metres
---@field z number|nil metres, upwards

---Capability levels: from level 0, the best, which only the important have, to the cheapest.
---@class muster.Levels
---@field count integer|nil how many there are; default 1
---@field importance number[]|nil the importance from which an agent has level 0, 1, ...

---The box in which messages wait for an agent. Default: no box.
---@class muster.Messages
---@field waiting_max integer|nil how many wait at most
---@field bytes_max integer|nil how large each is; default 128, at most 256
---@field sends_max integer|nil how many an update may send
---@field wake boolean|nil whether a message wakes its receiver; default false

---What follows when updates take longer than `limit` again and again.
---@class muster.Overruns
---@field demote integer|nil after so many the agent has a cheaper level; default 3, 0 = never
---@field quarantine integer|nil after so many it runs no more; default 0 = never

---A part of an update with a period of its own.
---@class muster.Set
---@field method string the name of its method
---@field role "think"|"sense"|"act"|nil default "think"
---@field share integer|nil its share of the type's time
---@field period muster.Time|nil how often it runs
---@field period_updates integer|nil or: in every so many updates
---@field delay muster.Time|nil when it first runs
---@field delay_updates integer|nil or: in which update
---@field levels integer|nil a bit for each level at which it runs
---@field asks integer|nil under the virtual clock it is cut after so many thousand instructions

---What `muster.type` takes.
---@class muster.TypeOptions
---@field name string required
---@field period muster.Time|nil how often it wants to run; default "100ms"
---@field period_max muster.Time|nil how seldom it may run; default "1s"
---@field period_max_hard boolean|nil whether `period_max` is a bound, not a wish; default false
---@field limit muster.Time|nil what an update may take; default "500us"
---@field wake_gap muster.Time|nil the least time between two wakes; default "0ns"
---@field elasticity number|nil how easily its period stretches; default 1
---@field importance number|nil factor on the importance of its agents; default 1
---@field levels muster.Levels|nil default: one level
---@field messages muster.Messages|nil default: no box
---@field spawns_max integer|nil how many agents one update may spawn; default 0
---@field overruns muster.Overruns|nil
---@field elapsed "delta"|"events"|nil "events": it runs when it is woken; default "delta"
---@field publishes string[]|nil at most 16 fields that others may read
---@field slice muster.Time|nil the most that an update uses of a frame, more than 0; default "250us"
---@field cuts_max integer|nil an update that was cut so often never ends; default 20
---@field memory muster.Bytes|nil the most that an agent may have; default "64KB"
---@field cost muster.Time|nil of a method, under the virtual clock; default "2us"
---@field asks integer|nil under the virtual clock an update is cut after so many thousand instructions; default 16
---@field sets muster.Set[]|nil what an update runs in place of sense, think and act

---A type, in which you write the methods; and, inside of them, the agent: `self`. What you set in `self` stays: numbers,
---strings, booleans, ids of agents, and tables of these. Functions, tables with metatables and tables of the scripts are
---errors there. A method that neither Muster nor a text calls is taken for a misspelt one.
---@class muster.Type
---@field name string of the type
---@field x number where it is, metres; `muster.move` moves it
---@field y number
---@field z number
---@field position muster.Position a new table of the three
---@field elapsed number seconds since its last update
---@field now number simulation time in seconds
---@field level integer its capability level; 0 is the best
---@field importance number 0 to 1
---@field id muster.Id
---@field wake_at number the time that was asked for, in seconds, when it runs because of `muster.wake_at`; else 0
---@field spawned fun(self: muster.Type)|nil runs once, at its birth
---@field sense (fun(self: muster.Type): false|nil)|nil runs in each update, first; false: the update ends there
---@field think (fun(self: muster.Type): false|nil)|nil runs in each update, then; to return false leaves out `act`
---@field act fun(self: muster.Type)|nil runs last, one agent at a time, in agent order
---@field removed fun(self: muster.Type)|nil runs once, at its end
---@field [string] any what you remember

---What the functions of `muster.world` are given: a table that persists.
---@class muster.WorldTable
---@field agents integer how many agents are wanted
---@field [string] any what you remember

---What `muster.world` takes.
---@class muster.WorldOptions
---@field agents integer|nil how many agents there are in the beginning, unless the host wants another number; default 1000
---@field agents_max integer|nil how many there may be; default twice as many
---@field observers integer|nil how many observers there may be
---@field cell number|nil metres: the usual radius of a perception
---@field start fun(world: muster.WorldTable)|nil runs once
---@field frame fun(world: muster.WorldTable)|nil runs before each frame

---What `muster.observe` takes.
---@class muster.ObserverOptions
---@field id muster.Id|nil of the observer that moves; without it a new one comes
---@field x number metres
---@field y number metres
---@field near number|nil within so many metres an agent has importance 1; not with an id
---@field far number|nil from so many metres on this observer gives it none; not with an id

muster = {}

---Defines a type. While the scripts are loaded.
---@param options muster.TypeOptions
---@return muster.Type
function muster.type(options) end

---Says how a world begins, where no other program spawns its agents. While the scripts are loaded.
---@param options muster.WorldOptions
function muster.world(options) end

---Adds an observer, or moves one. In the functions of `muster.world`.
---@param options muster.ObserverOptions
---@return muster.Id|boolean # the new observer's id; of one that moves, whether it is there
function muster.observe(options) end

---Moves the agent.
---@param x number metres
---@param y number
---@param z number|nil default: as it is
function muster.move(x, y, z) end

---For a loop over the nearest agents: `for id, distance, x, y in muster.nearby(20, hare) do`
---@param radius number metres
---@param type muster.TypeOrName|"any"|nil default: of any type; a nil that is given is an error
---@param most integer|nil 1 to 64, the default
---@return fun(): muster.Id, number, number, number
function muster.nearby(radius, type, most) end

---The nearest agent; nothing when there is none.
---@param radius number metres
---@param type muster.TypeOrName|nil default: of any type
---@return muster.Id|nil id
---@return number distance
---@return number x
---@return number y
function muster.nearest(radius, type) end

---Where another agent is; nothing when it is gone.
---@param id muster.Id
---@return number|nil x
---@return number y
---@return number z
function muster.position(id) end

---Whether an agent is there.
---@param id muster.Id
---@return boolean
function muster.exists(id) end

---Publishes a field of the type's `publishes`, for others to read after the frame.
---@param name string
---@param value number|boolean|nil
function muster.publish(name, value) end

---What another agent published; nil where its type has no such field, or it is gone. Some type must publish the field.
---@param id muster.Id
---@param name string
---@return number|boolean|nil
function muster.read(id, name) end

---Sends a message of at most 256 bytes.
---@param id muster.Id
---@param value muster.Plain
---@return boolean # false: the agent is gone
function muster.send(id, value) end

---For a loop over the messages that arrived: `for sender, value in muster.messages() do`; sender 0 is the host. The type
---must have a box: `messages = {waiting_max = 4}`.
---@return fun(): muster.Id, muster.Plain
function muster.messages() end

---A new agent. In methods, within the type's `spawns_max`, and in the functions of `muster.world`.
---@param type muster.TypeOrName
---@param place muster.Position here is `self.position`; without z it is as of the agent
---@param fields table|nil with which its `self` begins; at most 120 bytes, and no names that Muster tells
---@return muster.Id
function muster.spawn(type, place, fields) end

---Removes an agent, by default itself. In `act` it tells whether it was the first to do so.
---@param id muster.Id|nil
---@return boolean # false: the agent was gone
function muster.remove(id) end

---Wakes an agent: it runs in the next frame.
---@param id muster.Id
---@return boolean # false: the agent is gone
function muster.wake(id) end

---Wakes an agent, by default itself, at a time; `math.huge` cancels that.
---@param seconds number simulation time, such as muster.now() + 0.5; an error when it was long ago
---@param id muster.Id|nil
---@return boolean # false: the agent is gone
function muster.wake_at(seconds, id) end

---Other periods from the next frame on, in seconds: of an agent, by default itself, or of a type and all its agents
---without one of their own. The part of its period that an agent has waited for counts. 0 = back to what it was.
---@param period number the shortest
---@param longest number|nil the longest under load; default: the type's
---@param who muster.Id|muster.TypeOrName|nil
---@return boolean # false: the agent is gone
function muster.set_period(period, longest, who) end

---Simulation time in seconds.
---@return number
function muster.now() end

---Tells how far a set got, 0 to 1.
---@param share number
function muster.progress(share) end

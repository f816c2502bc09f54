"""A binding of the library for Python's ctypes, made of layout.json alone: a class for each struct, and each exported
function with its types. Fields are found by name wherever in a definition they lie."""

import ctypes

NUMBERS = {"u8": ctypes.c_uint8, "u16": ctypes.c_uint16, "u32": ctypes.c_uint32, "u64": ctypes.c_uint64,
           "i8": ctypes.c_int8, "i16": ctypes.c_int16, "i32": ctypes.c_int32, "i64": ctypes.c_int64,
           "f32": ctypes.c_float, "f64": ctypes.c_double, "bool": ctypes.c_bool, "char": ctypes.c_uint8}


class Binding:
    def __init__(self, layout, library=None):
        self.layout, self.structs = layout, {}
        for name in layout["structs"]:
            self.struct(name)
        self.library = ctypes.CDLL(library) if library else None
        for name, function in layout["functions"].items():
            if library and function["exported"]:
                self._declare(getattr(self.library, name), function)

    def type_of(self, told):
        """The ctypes type of what the layout tells of a field, a parameter or a result."""
        kind = told["kind"]
        if kind in NUMBERS:
            return NUMBERS[kind]
        if kind == "enum":
            return {1: ctypes.c_uint8, 2: ctypes.c_uint16, 4: ctypes.c_uint32}[self.layout["enums"][told["type"]]["bytes"]]
        if kind in ("struct", "union"):
            return self.struct(told["type"])
        if kind == "array":
            return self.type_of(told["of"]) * told["count"]
        if kind == "pointer":
            return ctypes.c_char_p if told["to"] == "char" else ctypes.c_void_p
        return None if kind == "void" else ctypes.c_void_p

    def struct(self, name):
        if name not in self.structs:
            self.structs[name] = self._class(name, self.layout["structs"][name])
        return self.structs[name]

    # Gaps are fields of their own, so that each field lies where the layout says, whatever ctypes would do.
    def _class(self, name, told):
        fields, at = [], 0
        for field in told["fields"]:
            if field["offset"] > at:
                fields.append((f"_gap{at}", ctypes.c_uint8 * (field["offset"] - at)))
            type_ = self.type_of(field)
            fields.append((field["name"], ctypes.c_void_p if type_ is ctypes.c_char_p else type_))
            at = field["offset"] + field["bytes"]
        if told["bytes"] > at:
            fields.append((f"_gap{at}", ctypes.c_uint8 * (told["bytes"] - at)))
        natural = [field for field in fields if not field[0].startswith("_gap")]
        class_ = type(name, (ctypes.Structure,), {"_fields_": natural})
        if ctypes.sizeof(class_) == told["bytes"] and all(
                getattr(class_, field["name"]).offset == field["offset"] for field in told["fields"]):
            return class_
        return type(name, (ctypes.Structure,), {"_pack_": 1, "_fields_": fields})

    def _declare(self, function, told):
        function.restype = self.type_of(told["returns"])
        if not told["variadic"]:
            function.argtypes = [self.type_of(parameter) for parameter in told["parameters"]]

    def __getattr__(self, name):
        return getattr(self.library, "muster_" + name)

    def taken(self, function, parameter):
        """The class of the struct that a function takes by pointer, or as it is."""
        told = self.layout["functions"]["muster_" + function]["parameters"][parameter]
        return self.struct(told["to"].split()[-1] if told["kind"] == "pointer" else told["type"])

    def default(self, class_, wrapper=None):
        """A struct with its defaults, by the library where it exports them, else by a wrapper around what is inline."""
        value = class_()
        init = self.layout["structs"][class_.__name__].get("init")
        if init:
            getattr(self.library, init)(ctypes.byref(value), ctypes.sizeof(value))
        else:
            getattr(wrapper, f"default_{class_.__name__}")(ctypes.byref(value))
        return value

    def _home(self, value, name):
        """The struct within `value` that has the field."""
        told = self.layout["structs"][type(value).__name__]["fields"]
        if any(field["name"] == name for field in told):
            return value
        for field in told:
            if field["kind"] == "struct":
                home = self._home(getattr(value, field["name"]), name)
                if home is not None:
                    return home
        return None

    def set(self, value, **fields):
        for name, given in fields.items():
            home = self._home(value, name)
            if home is None:
                raise AttributeError(f"{type(value).__name__} has no field {name}")
            setattr(home, name, given)
        return value

    def leaves(self, name):
        """Each number and pointer of a struct: how C writes it, its offset and what it is. Of an array the first and the
        last element."""
        for field in self.layout["structs"][name]["fields"]:
            yield from self._leaves(field, field["name"], field["offset"])

    def _leaves(self, told, path, offset):
        if told["kind"] in ("struct", "union"):
            for field in self.layout["structs"][told["type"]]["fields"]:
                yield from self._leaves(field, f"{path}.{field['name']}", offset + field["offset"])
        elif told["kind"] == "array":
            size = ctypes.sizeof(self.type_of(told["of"]))
            for i in sorted({0, told["count"] - 1}) if told["count"] else ():
                yield from self._leaves(told["of"], f"{path}[{i}]", offset + i * size)
        else:
            yield path, offset, told

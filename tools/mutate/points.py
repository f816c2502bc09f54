"""Finds what can be mutated in a C file, by libclang: a list of Mutants, each with the text that it replaces.

What a program chooses at run time cannot stand where the compiler wants a constant: such places (case labels, sizes of
arrays, static initialisers, enumerators) give no mutants of their own, but uses of static constants and enumerators do.
Nothing inside a macro is mutated, neither in its definition nor in its arguments, but for `true` and `false`.
"""
import hashlib
import re
from dataclasses import dataclass

from clang import cindex
from clang.cindex import CursorKind as Kind, StorageClass, TranslationUnit, TypeKind

PARSE_OPTIONS = TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD


@dataclass(frozen=True)
class Mutant:
    file: str
    function: str
    operator: str
    start: int  # bytes
    end: int
    was: str  # what stands there
    becomes: str  # "" for a statement that is left out
    form: str  # "expression"; "compared": one that may be evaluated twice; "statement"; "assignment": a statement
    line: int
    source_line: str  # without the blanks around it
    repeat: int  # how many mutants of the same function, line and texts stand before it

    def digest(self, *first):
        parts = (*first, self.function, self.source_line, flat(self.was), flat(self.becomes), str(self.repeat))
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    @property
    def id(self):
        return self.digest(self.file)[:10]

    def place(self, seed):
        """Where it stands in the order of a seed: wherever its file is moved to."""
        return self.digest(seed, self.file.rpartition("/")[2])

    def describe(self):
        change = f"{flat(self.was)}  ->  {flat(self.becomes)}" if self.becomes else f"left out: {flat(self.was)}"
        return f"{self.file}:{self.line} {self.function} [{self.operator}] {change}"


def flat(text):
    return " ".join(text.split())


# ------------------------------------------------------------------------------------------------------- replacements

BINARY = {
    "<": ("<=", ">="), "<=": ("<", ">"), ">": (">=", "<="), ">=": (">", "<"), "==": ("!=",), "!=": ("==",),
    "+": ("-",), "-": ("+",), "*": ("/",), "/": ("*",), "%": ("*",),
    "<<": (">>",), ">>": ("<<",), "&": ("|",), "|": ("&",), "^": ("&",),
}
RELATIONAL = {"<", "<=", ">", ">=", "==", "!="}
ALIKE = ({"<", "<=", ">", ">="}, {"==", "!="}, {"+", "-"}, {"*", "/"}, {"<<", ">>"})  # bind equally
COMPOUND = {
    "+=": ("-=", "="), "-=": ("+=", "="), "*=": ("/=",), "/=": ("*=",), "%=": ("*=",),
    "|=": ("&=",), "&=": ("|=",), "^=": ("|=",), "<<=": (">>=",), ">>=": ("<<=",),
}
# They change nothing and cannot fail: expressions with them may be evaluated twice.
HARMLESS_CALLS = {
    "fmin", "fmax", "fminf", "fmaxf", "fabs", "fabsf", "sqrt", "sqrtf", "floor", "floorf", "ceil", "ceilf", "pow", "exp",
    "log", "isfinite", "isnan", "__builtin_ctz", "__builtin_ctzll", "__builtin_clz", "__builtin_clzll",
    "__builtin_popcount", "__builtin_popcountll", "__builtin_expect", "sizeof",
}
WANTS_CONSTANTS = {"__builtin_prefetch", "__builtin_expect", "__builtin_constant_p"}
FLOATS = {TypeKind.FLOAT, TypeKind.DOUBLE, TypeKind.LONGDOUBLE}
INTEGERS = {
    TypeKind.CHAR_S, TypeKind.SCHAR, TypeKind.UCHAR, TypeKind.SHORT, TypeKind.USHORT, TypeKind.INT, TypeKind.UINT,
    TypeKind.LONG, TypeKind.ULONG, TypeKind.LONGLONG, TypeKind.ULONGLONG, TypeKind.ENUM,
}
EXPRESSION_STATEMENTS = {Kind.CALL_EXPR, Kind.BINARY_OPERATOR, Kind.COMPOUND_ASSIGNMENT_OPERATOR, Kind.UNARY_OPERATOR}


def kind_of_type(cursor):
    return cursor.type.get_canonical().kind


def is_scalar(cursor):
    kind = kind_of_type(cursor)
    return kind in FLOATS or kind in INTEGERS or kind in (TypeKind.BOOL, TypeKind.POINTER)


def is_evaluable_twice(cursor, words):
    """Whether nothing in it changes anything. Macros may hide what they do, and so are calls here."""
    if any(name not in HARMLESS_CALLS for name in re.findall(r"\b([A-Za-z_]\w*)\s*\(", words)):
        return False
    for inner in cursor.walk_preorder():
        if inner.kind == Kind.CALL_EXPR and inner.spelling not in HARMLESS_CALLS:
            return False
        if inner.kind in (Kind.COMPOUND_ASSIGNMENT_OPERATOR, Kind.StmtExpr, Kind.COMPOUND_LITERAL_EXPR):
            return False
        if inner.kind in (Kind.BINARY_OPERATOR, Kind.UNARY_OPERATOR):
            tokens = [token.spelling for token in inner.get_tokens()]
            if "=" in tokens or "++" in tokens or "--" in tokens:
                return False
    return True


def dereferences(cursor):
    return any(inner.kind in (Kind.MEMBER_REF_EXPR, Kind.ARRAY_SUBSCRIPT_EXPR, Kind.UNARY_OPERATOR)
               for inner in cursor.walk_preorder())


# -------------------------------------------------------------------------------------------------------------- finder


class Finder:
    def __init__(self, path, file, text, unit):
        self.path, self.file, self.text = path, file, text
        self.mutants, self.seen, self.counts = [], set(), {}
        self.function = None
        self.macros = []
        for cursor in unit.cursor.get_children():
            if cursor.kind == Kind.MACRO_INSTANTIATION and self.is_here(cursor):
                self.macros.append((cursor.extent.start.offset, cursor.extent.end.offset, cursor.spelling))
        for cursor in unit.cursor.get_children():
            if cursor.kind == Kind.FUNCTION_DECL and cursor.is_definition() and self.is_here(cursor):
                self.visit_function(cursor)

    def is_here(self, cursor):
        return cursor.location.file is not None and cursor.location.file.name == self.path

    def visit_function(self, cursor):
        self.function = cursor
        for child in cursor.get_children():
            if child.kind == Kind.COMPOUND_STMT:
                self.visit(child)

    def span(self, cursor):
        return cursor.extent.start.offset, cursor.extent.end.offset

    def words(self, cursor):
        start, end = self.span(cursor)
        return self.text[start:end]

    def is_harmless(self, cursor):
        return is_evaluable_twice(cursor, self.words(cursor))

    def is_in_macro(self, start, end):
        return any(first < end and start < last and not (start <= first and last <= end and (start, end) != (first, last))
                   for first, last, _ in self.macros)

    # ------------------------------------------------------------------------------------------------- what is found

    def add(self, operator, start, end, becomes, form):
        was = self.text[start:end]
        becomes = flat(re.sub(r"/\*.*?\*/", " ", becomes, flags=re.S))
        if flat(was) == becomes or (start, end, becomes) in self.seen:
            return
        self.seen.add((start, end, becomes))
        line_start = self.text.rfind("\n", 0, start) + 1
        line_end = self.text.find("\n", start)
        source_line = self.text[line_start:line_end].strip()
        key = (self.function.spelling, source_line, flat(was), becomes)
        self.counts[key] = self.counts.get(key, -1) + 1
        self.mutants.append(Mutant(self.file, self.function.spelling, operator, start, end, was, becomes, form,
                                   self.text.count("\n", 0, start) + 1, source_line, self.counts[key]))

    def replace(self, operator, cursor, becomes, harmless=None):
        start, end = self.span(cursor)
        if start >= end or self.is_in_macro(start, end) or not is_scalar(cursor):
            return
        if harmless is None:
            harmless = self.is_harmless(cursor)
        self.add(operator, start, end, becomes, "compared" if harmless else "expression")

    def leave_out(self, statement):
        start, end = self.span(statement)
        if self.is_in_macro(start, end):
            return
        after = re.compile(r"\s*;").match(self.text, end)
        if not after:
            return
        assigns = (statement.kind == Kind.BINARY_OPERATOR and is_scalar(statement) and
                   all(self.is_harmless(child) for child in statement.get_children()))
        self.add("statement", start, after.end(), "", "assignment" if assigns else "statement")

    # ---------------------------------------------------------------------------------------------- which code to visit

    def visit(self, cursor):
        kind = cursor.kind
        if kind in (Kind.CXX_UNARY_EXPR, Kind.ENUM_DECL, Kind.STRUCT_DECL, Kind.UNION_DECL, Kind.TYPEDEF_DECL,
                    Kind.PARM_DECL, Kind.STATIC_ASSERT):
            return
        if kind == Kind.VAR_DECL and cursor.storage_class == StorageClass.STATIC:
            return
        if kind == Kind.CALL_EXPR and cursor.spelling in WANTS_CONSTANTS:
            return
        look = {
            Kind.BINARY_OPERATOR: self.look_at_binary, Kind.COMPOUND_ASSIGNMENT_OPERATOR: self.look_at_compound,
            Kind.UNARY_OPERATOR: self.look_at_unary, Kind.CONDITIONAL_OPERATOR: self.look_at_choice,
            Kind.IF_STMT: self.look_at_if, Kind.WHILE_STMT: self.look_at_loop, Kind.DO_STMT: self.look_at_loop,
            Kind.FOR_STMT: self.look_at_for, Kind.INTEGER_LITERAL: self.look_at_integer,
            Kind.FLOATING_LITERAL: self.look_at_float, Kind.CHARACTER_LITERAL: self.look_at_character,
            Kind.RETURN_STMT: self.look_at_return, Kind.DECL_REF_EXPR: self.look_at_name,
        }.get(kind)
        if look:
            look(cursor)
        children = list(cursor.get_children())
        self.look_for_statements(kind, children)
        if kind == Kind.CASE_STMT:
            children = children[1:]
        if kind in (Kind.VAR_DECL, Kind.COMPOUND_LITERAL_EXPR) and kind_of_type(cursor) in (
                TypeKind.CONSTANTARRAY, TypeKind.VARIABLEARRAY, TypeKind.INCOMPLETEARRAY):
            children = [child for child in children if child.kind == Kind.INIT_LIST_EXPR]
        if kind == Kind.INIT_LIST_EXPR:
            children = [child for child in children if not self.is_all_zero(child)]
        for child in children:
            self.visit(child)

    def is_all_zero(self, cursor):
        """{0} makes anything zero, pointers as well."""
        return self.words(cursor) in ("0", "NULL")

    def look_for_statements(self, kind, children):
        if kind == Kind.COMPOUND_STMT:
            bodies = children
        elif kind == Kind.IF_STMT:
            bodies = children[1:]
        elif kind in (Kind.WHILE_STMT, Kind.FOR_STMT, Kind.CASE_STMT, Kind.DEFAULT_STMT, Kind.LABEL_STMT):
            bodies = children[-1:]
        elif kind == Kind.DO_STMT:
            bodies = children[:1]
        else:
            return
        for body in bodies:
            if body.kind in EXPRESSION_STATEMENTS or body.kind in (Kind.BREAK_STMT, Kind.CONTINUE_STMT):
                self.leave_out(body)

    # ------------------------------------------------------------------------------------------------------- operators

    def operator_between(self, left, right):
        between = self.text[left.extent.end.offset:right.extent.start.offset]
        return re.sub(r"/\*.*?\*/|//[^\n]*", " ", between, flags=re.S).strip()

    def look_at_binary(self, cursor):
        children = list(cursor.get_children())
        if len(children) != 2:
            return
        left, right = children
        operator = self.operator_between(left, right)
        if operator in ("&&", "||"):
            harmless = self.is_harmless(cursor) and not dereferences(right)
            self.replace("logical", cursor, self.joined(left, operator, "||" if operator == "&&" else "&&", right), harmless)
            self.replace("logical", cursor, f"!!({self.words(left)})", self.is_harmless(cursor))
            self.replace("logical", cursor, f"!!({self.words(right)})", harmless)
            return
        pointers = TypeKind.POINTER in (kind_of_type(left), kind_of_type(right))
        for other in BINARY.get(operator, ()):
            if pointers and operator not in RELATIONAL and kind_of_type(cursor) != TypeKind.POINTER:
                continue  # a difference of pointers
            traps = other in "/%" and kind_of_type(cursor) not in FLOATS
            name = "relational" if operator in RELATIONAL else "arithmetic"
            self.replace(name, cursor, self.joined(left, operator, other, right), False if traps else None)

    def joined(self, left, operator, other, right):
        words = [self.words(left), self.words(right)]
        if not any({operator, other} <= alike for alike in ALIKE):
            words = [f"({word})" if child.kind in (Kind.BINARY_OPERATOR, Kind.CONDITIONAL_OPERATOR) else word
                     for word, child in zip(words, (left, right))]
        return f"{words[0]} {other} {words[1]}"

    def look_at_compound(self, cursor):
        left, right = cursor.get_children()
        operator = self.operator_between(left, right)
        for other in COMPOUND.get(operator, ()):
            self.replace("assignment", cursor, f"{self.words(left)} {other} {self.words(right)}", False)

    def look_at_unary(self, cursor):
        (operand,) = list(cursor.get_children())[:1] or (None,)
        if operand is None:
            return
        words, inner = self.words(cursor), self.words(operand)
        if words.startswith(("++", "--")):
            self.replace("increment", cursor, ("--" if words[0] == "+" else "++") + words[2:], False)
        elif words.endswith(("++", "--")):
            self.replace("increment", cursor, words[:-2] + ("--" if words[-1] == "+" else "++"), False)
        elif words.startswith("!"):
            self.replace("negation", cursor, f"!!({inner})", False)
        elif words.startswith("-") and operand.kind not in (Kind.INTEGER_LITERAL, Kind.FLOATING_LITERAL):
            self.replace("negation", cursor, f"({inner})")
        elif words.startswith("-"):
            self.replace("constant", cursor, f"({inner})")
        elif words.startswith("~"):
            self.replace("negation", cursor, f"({inner})")

    def look_at_choice(self, cursor):
        children = list(cursor.get_children())
        if len(children) != 3:
            return
        for chosen in children[1:]:
            harmless = self.is_harmless(cursor) and not dereferences(chosen)
            self.replace("choice", cursor, f"({self.words(chosen)})", harmless)

    # ------------------------------------------------------------------------------------------------------ conditions

    def look_at_if(self, cursor):
        condition = next(cursor.get_children())
        self.replace("condition", condition, "1", self.is_harmless(condition))
        self.replace("condition", condition, "0", self.is_harmless(condition))

    def look_at_loop(self, cursor):
        children = list(cursor.get_children())
        condition = children[0] if cursor.kind == Kind.WHILE_STMT else children[-1]
        if condition.kind != Kind.INTEGER_LITERAL:
            self.replace("condition", condition, "0", self.is_harmless(condition))

    def look_at_for(self, cursor):
        start, _ = self.span(cursor)
        semicolons, depth = [], 0
        for at in range(self.text.index("(", start), len(self.text)):
            depth += {"(": 1, ")": -1}.get(self.text[at], 0)
            if self.text[at] == ";" and depth == 1:
                semicolons.append(at)
            if len(semicolons) == 2 or (self.text[at] == ")" and depth == 0):
                break
        if len(semicolons) < 2:  # a macro that begins a loop
            return
        for child in list(cursor.get_children())[:-1]:
            if semicolons[0] < child.extent.start.offset < semicolons[1]:
                self.replace("condition", child, "0", self.is_harmless(child))

    # -------------------------------------------------------------------------------------------------------- constants

    def look_at_integer(self, cursor):
        words = self.words(cursor)
        if words in ("true", "false"):
            self.add("constant", *self.span(cursor), "false" if words == "true" else "true", "compared")
        number = re.match(r"(0[xX][0-9a-fA-F]+|\d+)[uUlL]*$", words)
        if not number:
            return
        value = int(number[1], 8 if re.match(r"0\d", number[1]) else 0)
        self.replace("constant", cursor, f"({words} + 1)", True)
        if value > 0:
            self.replace("constant", cursor, f"({words} - 1)", True)

    def look_at_float(self, cursor):
        words = self.words(cursor)
        try:
            zero = float(words.rstrip("fFlL")) == 0
        except ValueError:
            return
        suffix = "f" if words[-1] in "fF" else ""
        self.replace("constant", cursor, f"1.0{suffix}" if zero else f"({words} * 2)", True)
        if not zero:
            self.replace("constant", cursor, f"0.0{suffix}", True)

    def look_at_character(self, cursor):
        self.replace("constant", cursor, f"({self.words(cursor)} + 1)", True)

    def look_at_name(self, cursor):
        """A use of a constant: it cannot change where it is defined, but where it is used."""
        named = cursor.referenced
        if named is None:
            return
        words = self.words(cursor)
        if named.kind == Kind.ENUM_CONSTANT_DECL:
            self.replace("constant", cursor, f"({words} + 1)", True)
        elif named.kind == Kind.VAR_DECL and named.type.is_const_qualified() and \
                named.storage_class == StorageClass.STATIC:
            kind = named.type.get_canonical().kind
            if kind in FLOATS:
                self.replace("constant", cursor, f"({words} * 2)", True)
            elif kind in INTEGERS:
                self.replace("constant", cursor, f"({words} + 1)", True)

    def look_at_return(self, cursor):
        value = next(cursor.get_children(), None)
        if value is None:
            return
        words = self.words(value)
        kind = self.function.result_type.get_canonical().kind
        harmless = self.is_harmless(value)
        if kind == TypeKind.BOOL:
            self.replace("return", value, f"!({words})", False)
        elif kind == TypeKind.POINTER:
            self.replace("return", value, "(void *)0", harmless)
        elif kind in INTEGERS or kind in FLOATS:
            self.replace("return", value, "1" if words == "0" else "0", harmless)


def read(path):
    """The text, with a character for each byte, so that places in it are those of libclang."""
    with open(path, encoding="latin-1", newline="") as source:
        return source.read()


def find(root, file, arguments):
    """The mutants of root/file in the order of their places. Raises ValueError where it does not compile."""
    path = f"{root}/{file}"
    text = read(path)
    if file.endswith(".h"):
        arguments = ["-x", "c-header", *arguments]
    unit = cindex.Index.create().parse(path, args=arguments, options=PARSE_OPTIONS)
    errors = [str(d) for d in unit.diagnostics if d.severity >= cindex.Diagnostic.Error]
    if errors:
        raise ValueError(f"{file} cannot be parsed: {errors[0]}")
    finder = Finder(path, file, text, unit)
    return sorted(finder.mutants, key=lambda m: (m.start, m.end, m.becomes))

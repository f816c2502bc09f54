"""Right and wrong values of JSON schemas, for openapi_test.py. The right ones are drawn; the wrong ones are listed,
each of them a right one with one mistake."""
import copy
import json

from jsonschema import Draft202012Validator, RefResolver


class Schemas:
    def __init__(self, document, random):
        self.document, self.random = document, random
        self.resolver = RefResolver.from_schema(document)
        self.known = {}  # values for the property of a name, where a schema cannot say which ones there are

    def resolve(self, part):
        """Of anything in the document that may stand there as a reference."""
        while "$ref" in part:
            part = self.resolver.resolve(part["$ref"])[1]
        return part

    def complaint(self, schema, value):
        """What is wrong with a value; None: nothing."""
        errors = sorted(Draft202012Validator(schema, resolver=self.resolver).iter_errors(value), key=str)
        return errors and f"{errors[0].json_path}: {errors[0].message[:300]}" or None

    def right(self, schema, name=""):
        for _ in range(100):
            value = self.draw(schema, name)
            if not self.complaint(schema, value):
                return value
        raise AssertionError(f"found no right value of {json.dumps(schema)[:200]}")

    def draw(self, schema, name):
        schema = self.resolve(schema)
        if name in self.known:
            return self.random.choice(self.known[name])
        if "enum" in schema:
            return self.random.choice(schema["enum"])
        if "const" in schema:
            return schema["const"]
        if "anyOf" in schema:
            return self.draw(self.random.choice(schema["anyOf"]), name)
        return getattr(self, "draw_" + schema["type"])(schema)

    def draw_object(self, schema):
        properties, required = schema["properties"], schema.get("required", [])
        names = [name for name in properties if name in required or self.random.random() < 0.4]
        self.random.shuffle(names)
        return {name: self.draw(properties[name], name) for name in names}

    def draw_array(self, schema):
        return [self.draw(schema["items"], "") for _ in range(self.random.randint(1, 3))]

    def draw_integer(self, schema):
        least, most = schema["minimum"], schema["maximum"]
        small = min(most, least + self.random.randint(0, 9))
        return self.random.choice([least, most, small, self.random.randint(least, most)])

    def draw_number(self, schema):
        ends = [schema["minimum"], schema["maximum"]]
        return self.random.choice([*ends, self.random.uniform(*ends)])

    def draw_boolean(self, _):
        return self.random.random() < 0.5

    def draw_string(self, schema):
        length = self.random.randint(schema.get("minLength", 0), schema.get("maxLength", 20))
        return "".join(self.random.choice("abcxyz019-_ ") for _ in range(length))

    # ---------------------------------------------------------------------------------------------------- mistakes

    def wrong(self, schema, value):
        """Pairs of what is wrong and the value with it."""
        for what, mistaken in self.mistakes(self.resolve(schema), value):
            assert self.complaint(schema, mistaken), f"{what} is no mistake: {json.dumps(mistaken)[:200]}"
            yield what, mistaken

    def mistakes(self, schema, value):
        for other in (None, True, "text", 7, [], {}):
            if self.complaint(schema, other):
                yield f"{json.dumps(other)} instead", other
        if schema.get("type") == "object":
            yield from self.mistakes_of_object(schema, value)
        if schema.get("type") == "array":
            yield from self.mistakes_of_array(schema, value)
        if schema.get("type") in ("integer", "number"):
            yield "below the least", schema["minimum"] - 1
            most = schema["maximum"]
            yield "above the most", most + max(1, int(most / 1e12))
        if schema.get("type") == "integer":
            yield "no whole number", schema["minimum"] + 0.5
        if schema.get("maxLength"):
            yield "too long", "x" * (schema["maxLength"] + 1)
        if schema.get("minLength"):
            yield "empty", ""
        for part in schema.get("anyOf", []):
            for what, mistaken in self.mistakes(self.resolve(part), value):
                if self.complaint(schema, mistaken):
                    yield what, mistaken

    def mistakes_of_object(self, schema, value):
        yield "an unknown member", {**value, "unknown_member": 1}
        for name in schema.get("required", []):
            yield f"without {name}", {key: member for key, member in value.items() if key != name}
        for name, part in schema["properties"].items():
            right = value[name] if name in value else self.right(part, name)
            for what, mistaken in self.mistakes(self.resolve(part), right):
                yield f"{name}: {what}", {**value, name: mistaken}
        for name, part in schema.get("dependentSchemas", {}).items():
            for other in part["not"]["anyOf"]:
                both = {key: self.right(schema["properties"][key], key) for key in (name, *other["required"])}
                yield f"{' and '.join(both)} together", both

    def mistakes_of_array(self, schema, value):
        yield "too many", [value[0]] * (schema["maxItems"] + 1)
        for what, mistaken in self.mistakes(self.resolve(schema["items"]), value[0]):
            yield f"the last one: {what}", [*copy.deepcopy(value), mistaken]

"""tools/docs/openapi.yaml describes musterd: it has exactly the routes of the daemon, and every answer to right and
wrong requests, which are made of its schemas, stands in it. What it describes is seen, too, as far as a test can bring
it about: a status that no request meets fails the test."""
import copy
import json
import os
import random
import re
import struct
import sys
import time

import yaml

from openapi_daemon import ISOLATION, TOKEN, Daemon
from openapi_values import Schemas

DESCRIPTION = f"{os.environ['MUSTER_SOURCE_DIR']}/tools/docs/openapi.yaml"
ROUNDS = 12  # right bodies and queries of each request
METHODS = ("get", "post", "put", "patch", "delete")
# Only other clients, a full daemon, an unlucky moment or the daemon's end bring these about.
UNSEEN = {"409", "429", "500", "502", "503", "5XX"}
if ISOLATION == "none":
    UNSEEN.add("202")  # a world is started again only in a process of its own
# Of zones and nodes, which need brokers: tests/zones/ctl_test.c
UNSEEN_OF = {"restore_world": {"202"}, "move_zone": {"202"}, "drain_node": {"200"}}
PARTS = {"world": "main", "type": "hare", "command": "add", "file": "page.js"}
# Worlds of those that main does not serve.
WORLDS = {"prioritise_type": ("sets", "pursuer"), "tell_module": ("walk", None), "list_herds": ("herd", None),
          "restart_world": ("spare", None)}
WRONG_PARTS = {"world": [("nobody", 404)], "type": [("nobody", 404)], "command": [("nobody", 404), ("a.b.c", 404)],
               "agent": [("1", 400), ("x.1", 400), ("1.2.3", 400), ("4294967296.1", 400), ("4294967295.7", 404)],
               "file": [("nothing.js", 404)]}
WRONG_PARTS["observer"] = WRONG_PARTS["agent"]


class OnceLoader(yaml.SafeLoader):
    """Refuses two members of one name: YAML does, and the usual loader takes the last one."""

    def construct_mapping(self, node, deep=False):
        lines = {}
        for key, _ in node.value:
            name, line = self.construct_object(key, deep=True), key.start_mark.line + 1
            if name in lines:
                raise yaml.constructor.ConstructorError(None, None, f"'{name}' stands in lines {lines[name]} and {line}",
                                                        key.start_mark)
            lines[name] = line
        return super().construct_mapping(node, deep)


def load(text):
    return yaml.load(text, OnceLoader)


def check_loader():
    """The check sees what it is there for, at any depth."""
    for wrong in ("a: 1\nb: 2\na: 3\n", "a: {b: [{c: 1, c: 2}]}\n"):
        try:
            load(wrong)
        except yaml.constructor.ConstructorError:
            continue
        raise AssertionError(f"two members of one name are taken: {wrong}")
    assert load("a: {b: 1}\nc: {b: 2}\n") == {"a": {"b": 1}, "c": {"b": 2}}


class Operation:
    def __init__(self, document, path, method, schemas):
        shared, own = document["paths"][path].get("parameters", []), document["paths"][path][method]
        self.path, self.method, self.own = path, method, own
        self.id = own["operationId"]
        parameters = [schemas.resolve(part) for part in shared + own.get("parameters", [])]
        self.queries = {part["name"]: part["schema"] for part in parameters if part["in"] == "query"}
        assert {part["name"] for part in parameters if part["in"] == "path"} == set(re.findall(r"{(\w+)}", path)), path
        self.responses = {status: schemas.resolve(part) for status, part in own["responses"].items()}
        self.body = own.get("requestBody")
        self.bodies = self.body["content"] if self.body else {}
        self.schema = self.bodies.get("application/json", {}).get("schema")


class Test:
    def __init__(self, daemon, document):
        self.daemon, self.document = daemon, document
        self.random = random.Random(1)
        self.schemas = Schemas(self.document, self.random)
        self.schemas.known = {"type": ["hare", "bobcat"], "module": ["empty", "walkers"], "frames": [1, 2],
                              "workers": [0, 1], "budget_ns": [10000, 2000000], "hz": [1, 29.5],
                              "at_ns": [0, 4600000000000000000], "?type": ["hare"],
                              "?near": ["1.5,-20,300", "0,0,0"]}
        self.operations = [Operation(self.document, path, method, self.schemas)
                           for path, item in self.document["paths"].items() for method in METHODS if method in item]
        self.seen = {operation.id: set() for operation in self.operations}
        self.failures, self.asked = [], 0

    def fail(self, text):
        self.failures.append(text)

    # ------------------------------------------------------------------------------------------------- one request

    def check(self, operation, answer, said):
        """Whether the answer is one that the operation has; its status as the description names it."""
        status = str(answer.status)
        status = status if status in operation.responses else f"{status[0]}XX"
        self.asked += 1
        if status not in operation.responses:
            self.fail(f"{said}: status {answer.status} is not described: {answer.body[:300]}")
            return None
        self.seen[operation.id].add(status)
        content = operation.responses[status].get("content")
        if content is None:
            if answer.body:
                self.fail(f"{said}: {answer.status} has a body that is not described")
        elif answer.type not in content:
            self.fail(f"{said}: {answer.status} comes as {answer.type}, described as {list(content)}")
        else:
            self.check_body(content[answer.type], answer, said)
        if answer.status >= 400 and operation.id != "read_readiness":
            self.check_error(answer, said)
        return answer.status

    def check_body(self, content, answer, said):
        begins = content.get("x-begins")
        if begins and not answer.body.startswith(begins.encode()):
            self.fail(f"{said}: the body does not begin with {begins}")
        if answer.type == "application/json":
            complaint = self.schemas.complaint(content["schema"], self.parse(answer, said))
            if complaint:
                self.fail(f"{said}: {answer.status} is not as described: {complaint}")

    def check_error(self, answer, said):
        complaint = self.schemas.complaint({"$ref": "#/components/schemas/Error"}, self.parse(answer, said))
        if complaint:
            self.fail(f"{said}: {answer.status} is no error as described: {complaint}")

    def parse(self, answer, said):
        try:
            return json.loads(answer.body)
        except ValueError as error:
            self.fail(f"{said}: {answer.status} is no JSON: {error}")
            return None

    def some_id(self, world, kind):
        """Of one that is there: others are removed meanwhile."""
        page = json.loads(self.daemon.ask("GET", f"/v1/worlds/{world}/{kind}s?limit=50").body)
        if not page[f"{kind}s"]:
            self.daemon.ask("POST", f"/v1/worlds/{world}/observers", '{"position": {"x": 1, "y": 2}}',
                            {"Content-Type": "application/json"})
            return self.some_id(world, kind)
        return self.random.choice(page[f"{kind}s"])[kind]

    def parts_of(self, operation):
        world, type_ = WORLDS.get(operation.id, ("main", None))
        parts = {**PARTS, "world": world, "type": type_ or PARTS["type"]}
        for kind in ("agent", "observer"):
            if f"{{{kind}}}" in operation.path:
                parts[kind] = self.some_id(world, kind)
        return parts

    def ask(self, operation, parts=None, query="", body=None, type_="application/json", headers=(), tcp=False,
            method=None):
        path = operation.path.format(**(parts or self.parts_of(operation))) + query
        headers = dict(headers)
        if body is not None and type_:
            headers["Content-Type"] = type_
        method = method or operation.method.upper()
        answer = self.daemon.ask(method, path, body, headers, tcp)
        while answer.status == 429:  # the map before is still kept, or the snapshot before is being written
            time.sleep(0.01)
            answer = self.daemon.ask(method, path, body, headers, tcp)
        shown = "" if body is None else f" with {body[:200]!r}"
        return answer, f"{method} {path}{shown}"

    def expect(self, operation, allowed, what="", **request):
        answer, said = self.ask(operation, **request)
        said = f"{said} ({what})" if what else said
        status = self.check(operation, answer, said)
        if status is not None and status not in allowed:
            self.fail(f"{said}: {status} instead of one of {sorted(allowed)}: {answer.body[:300]}")

    # -------------------------------------------------------------------------------------------------------- routes

    def routes(self):
        """The daemon's list of its routes, and the description: the same paths, methods, queries and bodies."""
        listed = json.loads(self.daemon.ask("GET", "/v1").body)["requests"]
        described = {(operation.method.upper(), operation.path): operation for operation in self.operations}
        found = set()
        for route in listed:
            key = (route["method"], route["path"])
            if key not in described and re.fullmatch(r"/[\w.-]+\.\w+", route["path"]) and key[0] == "GET":
                key = ("GET", "/{file}")
            found.add(key)
            operation = described.get(key)
            if not operation:
                self.fail(f"{key[0]} {key[1]} is a route of the daemon and not described")
                continue
            if set(operation.queries) != set(route.get("queries", "").split()):
                self.fail(f"{key}: the daemon takes the queries {route.get('queries')}, described are "
                          f"{list(operation.queries)}")
            if bool(operation.body) != ("body_bytes_max" in route):
                self.fail(f"{key}: the daemon takes {'no' if operation.body else 'a'} body, and is described otherwise")
        for key in set(described) - found:
            self.fail(f"{key[0]} {key[1]} is described and no route of the daemon")

    def served(self):
        """The daemon brings along the description that is tested here."""
        with open(DESCRIPTION, "rb") as file:
            if self.daemon.ask("GET", "/openapi.yaml").body != file.read():
                self.fail("GET /openapi.yaml is not tools/docs/openapi.yaml")

    def schemas_used(self):
        used = set(re.findall(r"'#/components/(\w+/\w+)'", repr(self.document)))
        there = {f"{kind}/{name}" for kind in ("schemas", "responses", "parameters")
                 for name in self.document["components"][kind]}
        if used != there:
            self.fail(f"described and not used, or used and not described: {sorted(used ^ there)}")

    # ------------------------------------------------------------------------------------------------ right requests

    def right_query(self, operation):
        """What schemas cannot say: rectangles are whole and not empty, and rasters are bounded."""
        values = {name: self.schemas.right(schema, f"?{name}") for name, schema in operation.queries.items()
                  if self.random.random() < 0.5}
        if {"x0", "y0", "x1", "y1"} & set(values):
            values.update({"x0": -200.5, "y0": -1e9, "x1": 300, "y1": 1e9})
        if values.get("width", 160) * values.get("height", 100) > 65536:
            values.update({"width": 1024, "height": 64})
        return "?" + "&".join(f"{name}={value}" for name, value in values.items()) if values else ""

    def right_body(self, operation):
        body = self.schemas.right(operation.schema)
        if operation.id == "add_observer":
            body.update({"near_m": 10.5, "far_m": 200})
        if operation.id in ("set_type_periods", "set_agent_periods") and "period_max_ns" in body:
            body["period_max_ns"] = max(body["period_max_ns"], body["period_ns"]) if body["period_ns"] else 0
        return json.dumps(body)

    def right_requests(self, operation):
        well = {int(status) for status in operation.responses if re.fullmatch("2..", status) and status != "2XX"}
        for _ in range(ROUNDS if operation.schema or operation.queries else 2):
            if operation.id == "stream_world":
                self.streamed(operation)
                return
            if operation.schema and operation.id != "tell_module":
                self.expect(operation, well | {409}, body=self.right_body(operation))
            else:
                self.expect(operation, well | {200, 409}, query=self.right_query(operation), **self.raw_body(operation))
        if operation.body and not operation.body.get("required") and operation.schema:
            self.expect(operation, well | {400}, what="without a body")
        if "304" in operation.responses:
            tag = self.ask(operation)[0].tag
            self.expect(operation, {304}, headers={"If-None-Match": tag})

    def raw_body(self, operation):
        if operation.id == "tell_module":
            return {"body": str(self.random.randint(1, 9)), "type_": "text/plain"}
        if not operation.bodies:
            return {}
        kind = "observer" if "observers" in operation.path else "agent"
        ids = [[int(part) for part in self.some_id("main", kind).split(".")], [4294967295, 7]]
        return {"body": positions(ids), "type_": "application/octet-stream"}

    def streamed(self, operation):
        events = operation.responses["200"]["content"]["text/event-stream"]["x-events"]
        path = operation.path.format(world="sets")
        answer, found = self.daemon.events(path + "?hz=20", events)
        self.check(operation, answer, f"GET {path}")
        for name, data in found.items():
            complaint = self.schemas.complaint(events[name], json.loads(data))
            if complaint:
                self.fail(f"GET {path}: the event {name} is not as described: {complaint}")

    def keyed_requests(self, operation):
        """With a key a change is made once; the key of another request, and what is no key, are refused."""
        if "422" not in operation.responses:
            return
        parts, body = self.parts_of(operation), self.some_body(operation)
        key = {"Idempotency-Key": f"openapi-{operation.id}"}
        first, said = self.ask(operation, parts=parts, headers=key, **body)
        self.check(operation, first, said)
        if not (first.frame or "").isdigit():
            self.fail(f"{said}: Muster-Frame is {first.frame}")
        again, said = self.ask(operation, parts=parts, headers=key, **body)
        self.check(operation, again, said)
        wanted = (first.status, first.body, first.frame, "true")
        if first.status < 300 and (again.status, again.body, again.frame, again.replayed) != wanted:
            self.fail(f"{said}: sent again with its key it is {again.status} {again.body[:100]} of frame {again.frame}")
        used = {"Idempotency-Key": "openapi-of-another"}
        self.daemon.ask("POST", f"/v1/worlds/{parts['world']}/observers", '{"position": {"x": 1, "y": 2}}',
                        {"Content-Type": "application/json", **used})
        self.expect(operation, {422}, "with a key that was used", parts=parts, headers=used, **body)
        for wrong in ("two words", "k" * 65):
            self.expect(operation, {400}, f"with the key {wrong}", parts=parts,
                        headers={"Idempotency-Key": wrong}, **body)

    # ------------------------------------------------------------------------------------------------ wrong requests

    def wrong_requests(self, operation):
        self.wrong_paths(operation)
        self.wrong_queries(operation)
        if operation.schema and operation.id != "tell_module":
            self.wrong_bodies(operation)
        if operation.bodies:
            self.wrong_raw_bodies(operation)
        else:
            self.expect(operation, {413}, "with a body", body="{}")
        self.wrong_access(operation)

    def some_body(self, operation):
        if operation.schema and operation.id != "tell_module":
            return {"body": self.right_body(operation)}
        return self.raw_body(operation)

    def wrong_paths(self, operation):
        for name in re.findall(r"{(\w+)}", operation.path):
            for wrong, status in WRONG_PARTS[name]:
                self.expect(operation, {status}, parts={**self.parts_of(operation), name: wrong},
                            **self.some_body(operation))

    def wrong_queries(self, operation):
        body = self.some_body(operation)
        self.expect(operation, {400}, query="?unknown_query=1", **body)
        for name, schema in operation.queries.items():
            self.expect(operation, {400}, query=f"?{name}=", **body)
            self.expect(operation, {400}, query=f"?{name}=1&{name}=1", **body)
            schema = self.schemas.resolve(schema)
            if schema.get("type") in ("integer", "number"):
                for wrong in (schema["minimum"] - 1, schema["maximum"] + 1, "x", "0x1", "nan", "1e99"):
                    self.expect(operation, {400}, query=f"?{name}={wrong}")
            elif name == "near":
                for wrong in ("1,2", "1,2,-3", "1,2,3,4", "x,y,z", "inf,0,1"):
                    self.expect(operation, {400}, query=f"?{name}={wrong}")
            else:
                self.expect(operation, {404}, query=f"?{name}=nobody")
        if "x0" in operation.queries:
            self.expect(operation, {400}, query="?x0=1&y0=1&x1=2")
            self.expect(operation, {400}, query="?x0=1&y0=1&x1=1&y1=2")

    def wrong_bodies(self, operation):
        parts = self.parts_of(operation)
        for what, wrong in self.schemas.wrong(operation.schema, self.schemas.right(operation.schema)):
            self.expect(operation, {400}, what, parts=parts, body=json.dumps(wrong))
        twice = '{"frames": 1, "frames": 1}'
        for wrong in ("{", "NaN", '{"a": 01}', twice, b"\xff\xfe", "[" * 1000, "nul", "{} {}"):
            self.expect(operation, {400}, parts=parts, body=wrong)
        if operation.body.get("required"):
            self.expect(operation, {400}, "no body", parts=parts)
        if operation.id == "tune_agent":
            self.expect(operation, {400}, body='{"elasticity": 1, "derive_elasticity": true}')
        if operation.id == "add_observer":
            self.expect(operation, {400}, body='{"position": {"x": 1, "y": 2}, "near_m": 5, "far_m": 5}')

    def wrong_raw_bodies(self, operation):
        right = self.some_body(operation)["body"]
        self.expect(operation, {413}, "too large", body=" " * (3 << 20), type_=next(iter(operation.bodies)))
        for type_ in ("text/html", "application/x-www-form-urlencoded", ""):
            self.expect(operation, {415}, f"as {type_}", body=right, type_=type_)
        if "application/octet-stream" not in operation.bodies:
            return
        for wrong in (b"", b"MUSTERPO", right[:-1], right + b"0", b"X" + right[1:], positions([[1, 1]], float("nan")),
                      positions([[1, 1]], 2e9), positions([])):
            self.expect(operation, {400}, body=wrong, type_="application/octet-stream")

    def wrong_access(self, operation):
        """Without the token, for another host, and from another site."""
        body = self.some_body(operation)
        token = {"Authorization": f"Bearer {TOKEN}"}
        self.expect(operation, {421}, headers={**token, "Host": "example.org"}, tcp=True, **body)
        self.expect(operation, {403}, headers={"Origin": "http://example.org"}, **body)
        if operation.method == "get":
            assert "security" not in operation.own, operation.id
            return
        assert operation.own["security"] == [{}, {"token": []}], operation.id
        self.expect(operation, {401}, "without the token", tcp=True, **body)
        self.expect(operation, {401}, headers={"Authorization": "Bearer no-token-at-all"}, tcp=True, **body)
        answer, said = self.ask(operation, headers=token, tcp=True, **body)
        if self.check(operation, answer, said) in (401, 403):
            self.fail(f"{said}: {answer.status} with the right token")

    def wrong_methods(self):
        """What a path does not have, and what is no path."""
        for path in self.document["paths"]:
            own = {operation.method.upper(): operation for operation in self.operations if operation.path == path}
            there = {operation.method.upper() for operation in self.operations if operation.path != "/{file}"
                     and re.fullmatch(re.sub("{[a-z]+}", "[^/]+", operation.path), path)} | set(own)
            for method in {name.upper() for name in METHODS} - there:
                answer, said = self.ask(next(iter(own.values())), method=method)
                self.check_error(answer, said)
                if answer.status != 405 or set(answer.allow.split(", ")) - {"HEAD"} != there:
                    self.fail(f"{said}: {answer.status}, Allow: {answer.allow}, described: {sorted(there)}")
            if "GET" in own and own["GET"].id != "stream_world":
                answer, said = self.ask(own["GET"], method="HEAD")
                if answer.status not in (200, 503) or answer.body:
                    self.fail(f"{said}: {answer.status}")
        for path, status in (("/v1/nothing", 404), ("/v2", 404), ("/v1/worlds/", 404), ("/" + "a" * 600, 414)):
            answer = self.daemon.ask("GET", path)
            self.check_error(answer, path)
            if answer.status != status:
                self.fail(f"GET {path[:40]}: {answer.status} instead of {status}")

    # --------------------------------------------------------------------------------------------------------- whole

    def run(self, only=None):
        operations = [operation for operation in self.operations if only in (None, operation.id)]
        self.served()
        self.schemas_used()
        self.routes()
        for ask in (self.right_requests, self.keyed_requests, self.wrong_requests):
            for operation in operations:
                ask(operation)
                if operation.id == "restart_world":
                    self.daemon.await_worlds()  # else it would not be ready
        if not only:
            self.wrong_methods()
        for operation in operations:
            for status in set(operation.responses) - self.seen[operation.id] - UNSEEN - UNSEEN_OF.get(operation.id, set()):
                self.fail(f"{operation.id}: status {status} is described, and no request brought it about")
        return self.failures


def positions(ids, x=1.5):
    return struct.pack("<8sII", b"MUSTERPO", 1, len(ids)) + b"".join(
        struct.pack("<IIddd", *id_, x, -2.5, 0) for id_ in ids)


# Mistakes in the description: what is done to it, the operation that is called then, and what the test must say.
PLANTED = [
    ("del document['components']['schemas']['Pace']['properties']['workers']", "change_world",
     "'workers' was unexpected"),
    ("document['components']['schemas']['Levels']['required'].append('more')", "read_levels", "'more' is a required"),
    ("del document['paths']['/v1/worlds/{world}/agents/{agent}']['get']['responses']['404']", "read_agent",
     "status 404 is not described"),
    ("document['paths']['/healthz']['get']['responses']['418'] = {'description': ''}", "read_health",
     "status 418 is described, and no request"),
    ("del document['paths']['/v1/crash']", "read_health", "GET /v1/crash is a route of the daemon and not described"),
    ("document['paths']['/v1/crush'] = document['paths']['/healthz']", "read_crash", "is described and no route"),
    ("del document['paths']['/v1/worlds/{world}/stream']['get']['parameters']", "read_health", "takes the queries hz"),
    ("document['components']['schemas']['Priority']['properties']['priority']['maximum'] = 50", "prioritise_type",
     "200 instead of one of [400]"),
    ("document['components']['schemas']['AgentTuning']['properties']['colour'] = {'type': 'boolean'}", "tune_agent",
     "400 instead of one of"),
    ("document['components']['schemas']['Error']['properties']['error']['required'].append('hint')", "read_world",
     "is no error as described"),
]


def main():
    check_loader()
    with open(DESCRIPTION, encoding="utf-8") as file:
        written = load(file)
    daemon = Daemon()
    try:
        test = Test(daemon, copy.deepcopy(written))
        failures = test.run()
        print(f"isolation {ISOLATION}: {len(test.operations)} operations, {test.asked} requests, {len(failures)} failures")
        for change, operation, said in PLANTED if not failures else []:
            document = copy.deepcopy(written)
            exec(change, {"document": document})  # pylint: disable=exec-used
            if not any(said in failure for failure in Test(daemon, document).run(operation)):
                failures.append(f"a planted mistake is not seen: {change}")
        print(f"{len(PLANTED)} planted mistakes")
    finally:
        status = daemon.close()
    if status != 0:
        failures.append(f"the daemon ended with status {status}")
    print(*failures[:40], sep="\n", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

"""A musterd with five worlds, each for what the others do not have, and requests to it; for openapi_test.py."""
import http.client
import json
import os
import re
import shutil
import socket
import subprocess
import tempfile
import time

PATIENCE_S = 100  # how long the daemon may take to begin; nothing is asserted of how long it did take
ISOLATION = os.environ.get("MUSTER_TEST_ISOLATION", "process")
TOKEN = "the-token-of-the-openapi-test"


class Connection(http.client.HTTPConnection):
    """By the unix socket, or by TCP."""

    def __init__(self, daemon, tcp):
        super().__init__("127.0.0.1" if tcp else "localhost", daemon.port, timeout=PATIENCE_S)
        self.path = None if tcp else f"{daemon.folder}/control"

    def connect(self):
        if self.path is None:
            super().connect()
            return
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Answer:
    def __init__(self, response, body):
        self.status, self.body = response.status, body
        self.type = response.getheader("Content-Type")
        self.allow = response.getheader("Allow")
        self.tag = response.getheader("ETag")
        self.replayed, self.frame = response.getheader("Idempotent-Replayed"), response.getheader("Muster-Frame")


class Daemon:
    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="muster-openapi-")
        modules = f"{self.folder}/modules"
        os.mkdir(modules, 0o755)
        paths = [f"{os.environ['MUSTER_MODULES']}/{name}.so" for name in ("wildlife", "herd", "pursuit", "empty")]
        for path in [*paths, f"{os.path.dirname(os.environ['ODD_MODULES'])}/modules/walkers.so"]:
            shutil.copy(path, modules)
            os.chmod(f"{modules}/{os.path.basename(path)}", 0o644)
        with open(f"{self.folder}/token", "w", encoding="ascii",
                  opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            file.write(TOKEN + "\n")
        log = f"{self.folder}/log"
        with open(log, "w", encoding="utf-8") as out:
            self.process = subprocess.Popen(
                [os.environ["MUSTERD"], "--isolation", ISOLATION, "--budget", "2ms", "--agents", "200", "--agents-max",
                 "20000", "--world", "main=wildlife", "--world", "walk=walkers", "--world", "herd=herd", "--world",
                 "sets=pursuit", "--world", "spare=wildlife", "--modules", modules, "--socket",
                 f"{self.folder}/control", "--listen", "127.0.0.1:0", "--token-file",
                 f"{self.folder}/token", "--snapshot-file", f"{self.folder}/snapshot", "--flight-file",
                 f"{self.folder}/flight"], stdout=out, stderr=out)
        end = time.monotonic() + PATIENCE_S
        while not (found := re.search(r"port (\d+)[\s\S]*ready", open(log, encoding="utf-8").read())):
            assert self.process.poll() is None and time.monotonic() < end, open(log, encoding="utf-8").read()
            time.sleep(0.05)
        self.port = int(found[1])

    def await_worlds(self):
        """Until all run."""
        end = time.monotonic() + PATIENCE_S
        while any(one["state"] != "running" for one in json.loads(self.ask("GET", "/v1/worlds").body)["processes"]):
            assert time.monotonic() < end, open(f"{self.folder}/log", encoding="utf-8").read()
            time.sleep(0.05)

    def ask(self, method, path, body=None, headers=(), tcp=False):
        connection = Connection(self, tcp)
        try:
            try:
                connection.request(method, path, body, dict(headers))
            except (BrokenPipeError, ConnectionResetError):
                pass  # it was refused before its body was taken: the answer is there
            response = connection.getresponse()
            return Answer(response, response.read())
        finally:
            connection.close()

    def events(self, path, wanted):
        """The first data of each event of those names."""
        found, name = {}, None
        connection = Connection(self, False)
        connection.request("GET", path)
        response = connection.getresponse()
        while set(wanted) - set(found):
            line = response.readline().decode()
            assert line, "the stream ended"
            if line.startswith("event: "):
                name = line[7:].strip()
                assert name in wanted, f"the event {name} is not described"
            if line.startswith("data: "):
                found.setdefault(name, line[6:])
        answer = Answer(response, b"")
        connection.close()
        return answer, found

    def close(self):
        """Its exit status: 0 when it was there until now and ended well."""
        self.process.terminate()
        status = self.process.wait()
        shutil.rmtree(self.folder)
        return status

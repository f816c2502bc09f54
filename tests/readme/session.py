"""One shell that commands are typed into, and what they print."""
import fcntl
import os
import select
import shlex
import signal
import subprocess
import time


class Ended(Exception):
    """The shell is gone, or a command took too long."""


class Session:
    """The shell's own words come over a pipe beside its output: "failed STATUS" of each command, "done" behind a line."""

    def __init__(self, shell):
        self.words, words = os.pipe()
        self.printed, printed = os.pipe()
        self.shell = subprocess.Popen(shlex.split(shell), stdin=subprocess.PIPE, stdout=printed, stderr=printed,
                                      pass_fds=[words], start_new_session=True)
        os.close(words)
        os.close(printed)
        for pipe in (self.words, self.printed):
            fcntl.fcntl(pipe, fcntl.F_SETFL, os.O_NONBLOCK)
        self.report = f">&{words}"
        self.type(f"trap 'echo failed $? {self.report}' ERR")

    def type(self, text):
        try:
            self.shell.stdin.write((text + "\n").encode())
            self.shell.stdin.flush()
        except BrokenPipeError as error:
            raise Ended("the shell has ended") from error

    @staticmethod
    def read(pipe):
        """What is in a pipe; None when it has ended."""
        try:
            return os.read(pipe, 1 << 16) or None
        except BlockingIOError:
            return b""

    def drain(self):
        output = b""
        while piece := self.read(self.printed):
            output += piece
        return output

    def run(self, text, limit_s):
        """The statuses of the commands of this line that failed, and what was printed meanwhile."""
        # A job that has ended is in no list of the shell any more; its number still tells how.
        self.type(f"{{ {text}\n}} </dev/null\nstarted=\"$started $!\"\necho done {self.report}")
        words, output, end = b"", b"", time.monotonic() + limit_s
        while not words.endswith(b"done\n"):
            ready, _, _ = select.select([self.words, self.printed], [], [], max(0, end - time.monotonic()))
            output += self.drain()
            piece = self.read(self.words) if self.words in ready else b""
            if piece is None or not ready:
                reason = f"it did not end within {limit_s} s" if not ready else "it ended the shell, or is no shell command"
                raise Ended(f"{reason}\n{output.decode(errors='replace')}")
            words += piece
        output += self.drain()
        return [line.split()[1] for line in words.decode().splitlines() if line != "done"], output.decode(errors="replace")

    def stop_jobs(self, limit_s):
        """Ends what runs in the background. The statuses of what ended neither well nor by the signal, nor was killed."""
        failed, output = self.run('for job in $(printf "%s\\n" $started $(jobs -p) | sort -u); do '
                                  'kill "$job" 2>/dev/null || :; wait "$job"; done', limit_s)
        return [status for status in failed if int(status) not in (128 + signal.SIGTERM, 128 + signal.SIGKILL)], output

    def close(self):
        """Ends the shell. True when the session has left nothing behind."""
        self.shell.stdin.close()
        self.shell.wait()
        return not self.kill()

    def kill(self):
        """Ends all processes of the session. True when there were any."""
        try:
            os.killpg(self.shell.pid, signal.SIGKILL)
        except ProcessLookupError:
            return False
        self.shell.wait()
        return True

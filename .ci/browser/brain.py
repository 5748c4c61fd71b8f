"""A fresh brain, its settings, and `git brain serve` over it."""

import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("GIT_BRAIN", str(ROOT / "target" / "debug" / "git-brain"))

MODEL = """
[models.{name}]
provider = "openai"
model = "{asked}"
base_url = "{url}"
price_in = 3000000
price_out = 15000000
retries = 0
timeout_ms = 60000
"""

STEP = """
[[chain.step]]
name = "{node}"
model = {model}
role = "{role}"
turns = {turns}
"""


class Brain:
    """A brain in a folder of its own, with a folder `files` that its tools may see."""

    def __init__(self, home, settings=""):
        home.mkdir(parents=True)
        self.path, self.files, self.server = home / "brain", home / "files", None
        self.files.mkdir()
        self.env = {"PATH": os.environ["PATH"], "HOME": str(home), "XDG_STATE_HOME": str(home / "state"), "GIT_CONFIG_GLOBAL": "/dev/null",
                    "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "Ann", "GIT_AUTHOR_EMAIL": "ann@example.invalid",
                    "GIT_COMMITTER_NAME": "Ann", "GIT_COMMITTER_EMAIL": "ann@example.invalid"}
        self.done(PROGRAM, "init", "--no-hooks", str(self.path), at=home)
        if settings:
            whole = (self.path / "brain.toml").read_text()
            (self.path / "brain.toml").write_text(whole + settings.replace("FILES", str(self.files)))
            self.done("git", "add", "-A")
            self.done("git", "commit", "-q", "-m", "models")
            self.done(PROGRAM, "trust", "--yes")

    def done(self, *argv, at=None, given=None):
        answer = subprocess.run(argv, cwd=at or self.path, env=self.env, input=given, capture_output=True, text=True, timeout=300)
        if answer.returncode != 0:
            raise SystemExit(f"{' '.join(argv)} -> {answer.returncode}\n{answer.stdout}{answer.stderr}")
        return answer.stdout

    def run(self, *args, ends=0):
        """A command of git-brain that ends with that code; what it prints."""
        answer = subprocess.run([PROGRAM, *args], cwd=self.path, env=self.env, capture_output=True, text=True, timeout=300)
        if answer.returncode != ends:
            raise SystemExit(f"{' '.join(args)} -> {answer.returncode}\n{answer.stdout}{answer.stderr}")
        return answer.stdout

    def feed(self, text):
        self.done(PROGRAM, "feed", "-", given=text)

    def serve(self):
        """Starts the server; gives the address that it prints."""
        argv = [PROGRAM, "serve", "--addr", "127.0.0.1:0"]
        self.server = subprocess.Popen(argv, cwd=self.path, env=self.env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        found = re.search(r"http://\S+#token=\S+", self.server.stdout.readline())
        if not found:
            raise SystemExit("`git brain serve` printed no address")
        return found[0]

    def stop(self):
        """Ends the server at once, in the middle of whatever it does."""
        if self.server:
            self.server.kill()
            self.server.wait()
            self.server = None

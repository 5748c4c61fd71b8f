"""Runs the steps of action.yml as a runner of GitHub Actions does: expressions are filled in, then bash.

    python3 .ci/action.py PROGRAM
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent
action = yaml.safe_load((ROOT / "action.yml").read_text())
program = pathlib.Path(sys.argv[1]).resolve()


def run(inputs, folder, installed):
    """Runs the action in a folder; returns exit code, what it said, and the arguments of `cargo`."""
    values = {f"inputs.{name}": str(entry.get("default", "")) for name, entry in action["inputs"].items()}
    values |= {f"inputs.{name}": value for name, value in inputs.items()}
    values |= {"github.action_path": str(ROOT), "github.token": "a-token"}
    fill = lambda text: re.sub(r"\$\{\{\s*([^}]*?)\s*\}\}", lambda found: values[found.group(1)], text)
    output, programs = folder / "output", folder / "bin"
    programs.mkdir(exist_ok=True)
    output.write_text("")
    # Cargo of this test installs the program that is there.
    (programs / "cargo").write_text(f'#!/bin/sh\necho "$*" >{folder}/cargo-said\nln -sf {program} {programs}/git-brain\n')
    (programs / "cargo").chmod(0o755)
    (programs / "git-brain").unlink(missing_ok=True)
    if installed:
        (programs / "git-brain").symlink_to(program)
    said = ""
    for step in action["runs"]["steps"]:
        if step.get("if") and not values["inputs.command"]:
            continue
        environment = {"PATH": f"{programs}:/usr/local/bin:/usr/bin:/bin", "HOME": str(folder), "GITHUB_OUTPUT": str(output),
                       "GIT_AUTHOR_NAME": "bot", "GIT_AUTHOR_EMAIL": "bot@example.invalid",
                       "GIT_COMMITTER_NAME": "bot", "GIT_COMMITTER_EMAIL": "bot@example.invalid"}
        environment |= {name: fill(fill(value)) for name, value in step.get("env", {}).items()}
        where = folder / fill(step.get("working-directory", "."))
        assert step["shell"] == "bash", step
        ended = subprocess.run(["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]], cwd=where,
                               env=environment, capture_output=True, text=True)
        said += ended.stdout + ended.stderr
        if ended.returncode:
            return ended.returncode, said
    assert output.read_text().strip() == f"program={programs}/git-brain", output.read_text()
    return 0, said


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        cargo_said = lambda: (folder / "cargo-said").read_text().strip()
        assert run({"command": "init notes --no-hooks"}, folder, False)[0] == 0
        assert cargo_said() == "install --locked git-brain", cargo_said()
        code, said = run({"folder": "notes"}, folder, True)
        assert code == 0, said
        assert run({"command": "", "version": "0.1.0"}, folder, False)[0] == 0
        assert cargo_said() == "install --locked git-brain --version 0.1.0", cargo_said()
        assert run({"command": "", "version": "source"}, folder, False)[0] == 0
        assert cargo_said() == f"install --locked --profile dist --path {ROOT}", cargo_said()
        # A command that fails fails the job, and words of a command are words.
        code, said = run({"command": "show nothing; touch broken", "folder": "notes"}, folder, True)
        assert code and not (folder / "notes/broken").exists(), said
        (folder / "notes/brain.toml").write_text("[recall]\nnonsense = 1\n")
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@example.invalid", "commit", "-qam", "nonsense"], cwd=folder / "notes", check=True)
        code, said = run({"command": "check main", "folder": "notes"}, folder, True)
        assert code, said
    print("action: installs by name, by version and from its source; runs init and check; fails where they fail")


main()

"""tools/tik, in a tree of its own whose compiler, meson and ninja are scripts that only leave a trace."""

import shutil
import subprocess

import pytest

# What the scripts may count on in any system.
BASIC = ["sh", "cat", "env", "find", "grep", "id", "ln", "mkdir", "mv", "printf", "readlink", "rm", "rmdir", "sleep",
         "tail", "touch"]

COMMAND = """#!/bin/sh
printf 'ran:%s' "$#"
for argument; do printf ' [%s]' "$argument"; done
printf '\\n'
cat
"""

MESON = """#!/bin/sh
echo setup >>"$TRACE"
cat
for folder; do :; done
eval "folder=\\${$(($# - 1))}"
mkdir -p "$folder" && touch "$folder/build.ninja"
echo "meson talks"
"""

NINJA = """#!/bin/sh
echo build >>"$TRACE"
cat
echo "ninja talks"
sleep "${SLOW:-0}"
[ -z "${BREAK-}" ] || { echo "error: it is broken"; exit 1; }
cp "$COMMAND" "$2/tik" && chmod +x "$2/tik"
"""


def script(path, text):
    path.write_text(text)
    path.chmod(0o755)


class Tree:
    """A source tree, and the environment to run its tools/tik in."""

    def __init__(self, root, commands, trace, command):
        self.root = root
        self.commands = commands
        self.trace_file = trace
        self.environment = {"PATH": str(commands), "TRACE": str(trace), "COMMAND": str(command)}

    def start(self, *args, path=None, cwd="/", **environment):
        return subprocess.Popen([path or self.root / "tools" / "tik", *args], cwd=cwd, stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env={**self.environment, **environment})

    def run(self, *args, text="", **options):
        """Exit status, output, messages."""
        process = self.start(*args, **options)
        out, err = process.communicate(text, timeout=60)
        return process.returncode, out, err

    def trace(self):
        """What the scripts did since the last call."""
        lines = self.trace_file.read_text().split() if self.trace_file.exists() else []
        self.trace_file.unlink(missing_ok=True)
        return lines


@pytest.fixture
def tree(source, tmp_path):
    """A tree in a folder with a space in its name."""
    root = tmp_path / "a tree"
    for folder in ("tools", "src", "include", "vocab"):
        (root / folder).mkdir(parents=True)
    for name in ("tik", "setup.sh"):
        shutil.copy(source / "tools" / name, root / "tools" / name)
    for name in ("meson.build", "meson_options.txt", "src/a.c"):
        (root / name).write_text("")
    commands = tmp_path / "bin"
    commands.mkdir()
    for name in [*BASIC, "cp", "chmod"] + (["flock"] if shutil.which("flock") else []):
        (commands / name).symlink_to(shutil.which(name))
    script(commands / "meson", MESON)
    script(commands / "ninja", NINJA)
    for name in ("cc", "pkg-config"):
        script(commands / name, "#!/bin/sh\nexit 0\n")
    script(tmp_path / "command", COMMAND)
    return Tree(root, commands, tmp_path / "trace", tmp_path / "command")


def test_the_output_is_the_commands_alone(tree):
    status, out, err = tree.run("count", "x y", "", text="all of the input\n")
    assert (status, out) == (0, "ran:3 [count] [x y] []\nall of the input\n")
    assert "building" in err
    assert tree.trace() == ["setup", "build"]


def test_it_builds_when_a_source_has_changed_and_only_then(tree):
    tree.run()
    tree.trace()
    assert tree.run() == (0, "ran:0\n", "")
    assert tree.trace() == []
    (tree.root / "src" / "a.c").write_text("changed")
    assert tree.run()[0] == 0
    assert tree.trace() == ["build"]
    (tree.root / "src" / "new.c").write_text("")
    tree.run()
    assert tree.trace() == ["build"]
    (tree.root / "src" / "new.c").unlink()
    tree.run()
    assert tree.trace() == ["build"]
    tree.run()
    assert tree.trace() == []


def test_from_anywhere_and_through_a_link(tree, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(tree.root / "tools" / "tik")
    assert tree.run(path=link, cwd=tmp_path)[:2] == (0, "ran:0\n")
    assert tree.run(path="./tik", cwd=tree.root / "tools")[:2] == (0, "ran:0\n")
    assert tree.run(path="tools/tik", cwd=tree.root)[:2] == (0, "ran:0\n")
    assert tree.trace() == ["setup", "build"]


def test_first_runs_at_the_same_time_build_once(tree):
    processes = [tree.start(str(i), SLOW="1") for i in range(4)]
    for i, process in enumerate(processes):
        out, _ = process.communicate("", timeout=60)
        assert (process.returncode, out) == (0, f"ran:1 [{i}]\n")
    assert tree.trace() == ["setup", "build"]


def test_a_failed_build_is_shown_and_tried_again(tree):
    status, out, err = tree.run(BREAK="1")
    assert (status, out) == (2, "")
    assert "error: it is broken" in err
    assert "the build failed" in err
    assert tree.run()[:2] == (0, "ran:0\n")


def test_a_tree_that_was_moved_is_configured_anew(tree, tmp_path):
    tree.run()
    tree.trace()
    tree.root = tree.root.rename(tmp_path / "moved")
    assert tree.run()[:2] == (0, "ran:0\n")
    assert tree.trace() == ["setup", "build"]


@pytest.mark.parametrize("missing", ["cc", "meson", "pkg-config"])
def test_without_a_package_manager_it_names_what_is_missing(tree, missing):
    (tree.commands / missing).unlink()
    status, out, err = tree.run()
    assert (status, out) == (2, "")
    assert {"cc": "gcc", "meson": "meson", "pkg-config": "libpcre2-dev"}[missing] in err
    assert tree.trace() == []


def test_apt_installs_what_is_missing_and_is_not_heard(tree):
    commands = tree.commands
    script(commands / "apt-get", f"""#!/bin/sh
cat
echo "apt talks"
case " $* " in *" install "*) echo "apt$*" | grep -o 'recommends.*' | tr ' ' '\\n' >>"$TRACE"
printf '#!/bin/sh\\nexit 0\\n' >'{commands}/cc'; chmod +x '{commands}/cc';; esac
""")
    (commands / "tr").symlink_to(shutil.which("tr"))
    (commands / "cc").unlink()
    script(commands / "sudo", '#!/bin/sh\nexec "$@"\n')
    status, out, err = tree.run(text="input\n")
    assert (status, out) == (0, "ran:0\ninput\n")
    assert "apt talks" not in err
    assert tree.trace() == ["recommends", "gcc", "libc6-dev", "setup", "build"]

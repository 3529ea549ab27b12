"""What `meson install` gives, used as its users would: programs in C and C++ built with pkg-config."""

import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
USER = HERE / "install" / "user.c"
C = ["cc", "-xc", "-std=c11"]
CXX = ["c++", "-xc++", "-std=c++11"]
STRICT = ["-Wall", "-Wextra", "-pedantic", "-Werror"]

pytestmark = pytest.mark.skipif(not shutil.which("meson"), reason="meson is not on the PATH")


def run(command, **options):
    """Runs a command that must succeed; returns its output."""
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=600, **options)
    assert result.returncode == 0, f"{command}\n{result.stdout}\n{result.stderr}"
    return result.stdout


class Tree:
    """An installed tree: `root` stands for the file system's root, `prefix` is where libtik lies in it."""

    def __init__(self, root, prefix):
        self.root = pathlib.Path(root)
        self.prefix = self.root / str(prefix).lstrip("/")
        self.library = next(self.prefix.rglob("libtik.a")).parent
        self.environment = dict(os.environ, PKG_CONFIG_PATH=str(self.library / "pkgconfig"))
        self.environment["LD_LIBRARY_PATH"] = self.environment["DYLD_LIBRARY_PATH"] = str(self.library)
        if str(self.root) != "/":
            self.environment["PKG_CONFIG_SYSROOT_DIR"] = str(self.root)

    def pkg_config(self, *args):
        return run(["pkg-config", *args, "libtik"], env=self.environment).split()

    def user_program(self, folder, compiler, static):
        """Builds the user's program; returns its path."""
        program = folder / f"user-{compiler[0]}-{'static' if static else 'shared'}"
        flags = self.pkg_config("--cflags", "--libs", *(["--static"] if static else []))
        if static:
            flags = [str(self.library / "libtik.a") if flag == "-ltik" else flag for flag in flags]
        run([*compiler, *STRICT, USER, "-xnone", *flags, "-o", program], env=self.environment)
        return program


@pytest.fixture(scope="module")
def installed(build, tmp_path_factory):
    root = tmp_path_factory.mktemp("installed")
    run(["meson", "install", "-C", build, "--no-rebuild", "--quiet", "--destdir", root])
    prefix = next(root.rglob("include")).parent
    return Tree(root, "/" + str(prefix.relative_to(root)))


@pytest.fixture(scope="module")
def built_with(source, tmp_path_factory):
    """Builds without download and with the given vocabularies; one build folder, so that most is built once."""
    folder = tmp_path_factory.mktemp("built")
    run(["meson", "setup", folder / "build", source, "--prefix", "/usr", "--libdir", "lib", "-Dwerror=true",
         "-Doptimization=1", "-Dtests=false", "-Dbench=false", "-Ddownload=disabled"])

    def make(embed):
        run(["meson", "configure", folder / "build", f"-Dembed={embed}"])
        run(["ninja", "-C", folder / "build"])
        run(["meson", "install", "-C", folder / "build", "--no-rebuild", "--quiet", "--destdir", folder / embed])
        return Tree(folder / embed, "/usr")

    return make


def functions_of(header):
    """The names of the functions that tik.h declares."""
    return set(re.findall(r"^TIK_API\b[^;(]*?\b(\w+)\(", header.read_text(), re.MULTILINE))


@pytest.mark.parametrize("path", [
    "bin/tik",
    "include/tik.h",
    "share/doc/libtik/LICENSE",
    "share/doc/libtik/NOTICE",
    "share/doc/libtik/unicode-licence.md",
    "share/man/man1/tik.1",
    "share/man/man1/tik-count.1",
    "share/man/man3/libtik.3",
    "share/bash-completion/completions/tik",
    "share/zsh/site-functions/_tik",
    "share/fish/vendor_completions.d/tik.fish",
])
def test_what_is_installed(installed, path):
    assert (installed.prefix / path).is_file()


def test_libraries_are_installed(installed):
    names = {path.name for path in installed.library.iterdir()}
    assert "libtik.a" in names
    assert names & {"libtik.so", "libtik.dylib"}
    assert (installed.library / "pkgconfig" / "libtik.pc").is_file()


@pytest.mark.parametrize("static", [False, True], ids=["shared", "static"])
@pytest.mark.parametrize("compiler", [C, CXX], ids=["C", "C++"])
def test_a_users_program(installed, tmp_path, compiler, static):
    if not shutil.which(compiler[0]):
        pytest.skip(f"there is no {compiler[0]}")
    program = installed.user_program(tmp_path, compiler, static)
    version = installed.pkg_config("--modversion")[0]
    assert run([program, "cl100k_base", "hello world"], env=installed.environment) == f"{version} 15339 1917\n"
    assert run([program, "o200k_base", "hello", " world"], env=installed.environment) == f"{version} 24912 2375\n"


@pytest.mark.parametrize("language", [["cc", "-xc", "-std=c11"], ["cc", "-xc", "-std=c99"], ["c++", "-xc++", "-std=c++98"],
                                      ["c++", "-xc++", "-std=c++20"]], ids=["C11", "C99", "C++98", "C++20"])
def test_the_header_by_itself(source, language):
    if not shutil.which(language[0]):
        pytest.skip(f"there is no {language[0]}")
    strict = [flag for flag in STRICT if language[-1] != "-std=c++98" or flag != "-pedantic"]
    run([*language, *strict, "-fsyntax-only", source / "include" / "tik.h", "-Wno-pragma-once-outside-header"])


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="nm's options are those of Linux")
def test_exported_symbols_are_those_of_the_header(installed):
    listed = run(["nm", "-D", "--defined-only", installed.library / "libtik.so"])
    exported = {line.split()[-1] for line in listed.splitlines()}
    assert exported == functions_of(installed.prefix / "include" / "tik.h")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="nm's options are those of Linux")
def test_names_in_the_static_library_begin_with_tik(installed):
    listed = run(["nm", "-g", "--defined-only", installed.library / "libtik.a"])
    names = {line.split()[2] for line in listed.splitlines() if len(line.split()) == 3}
    assert {name for name in names if not name.startswith("tik_")} == set()


def test_every_function_is_in_the_manual(installed):
    page = (installed.prefix / "share/man/man3/libtik.3").read_text()
    declared = set(re.findall(r"^\\fB[^;]*?\b(tik_\w+)\(", page, re.MULTILINE))
    assert functions_of(installed.prefix / "include" / "tik.h") - declared == set()


def test_every_subcommand_has_its_page(installed, tik):
    listed = re.findall(r"^  ([a-z]+)  ", tik("--help").stdout.decode(), re.MULTILINE)
    pages = {path.name for path in (installed.prefix / "share/man/man1").iterdir()}
    assert pages == {"tik.1", *(f"tik-{name}.1" for name in listed)}


@pytest.mark.parametrize("words, expected", [
    (["tik", "tr"], {"train", "truncate"}),
    (["tik", "count", "--rec"], {"--recursive"}),
    (["tik", "count", "-e", "o200k_h"], {"o200k_harmony"}),
    (["tik", "encode", "--format", ""], {"plain", "json", "u32le"}),
    (["tik", "vocab", "v"], {"verify"}),
    (["tik", "vocab", "verify", "cl"], {"cl100k_base"}),
    (["tik", "cost", "-m", "gpt-4o-min"], {"gpt-4o-mini"}),
])
def test_bash_completes(installed, build, words, expected):
    if not shutil.which("bash"):
        pytest.skip("there is no bash")
    program = """
        source "$1"; shift
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        _tik
        printf '%s\\n' "${COMPREPLY[@]}"
    """
    script = installed.prefix / "share/bash-completion/completions/tik"
    environment = dict(os.environ, PATH=f"{build}{os.pathsep}{os.environ['PATH']}")
    out = run(["bash", "-c", program, "bash", script, *words], env=environment)
    assert expected <= set(out.split())
    assert all(word.startswith(words[-1]) for word in out.split())


@pytest.mark.parametrize("shell, path", [("zsh", "share/zsh/site-functions/_tik"),
                                         ("fish", "share/fish/vendor_completions.d/tik.fish")])
def test_completions_of_other_shells_parse(installed, shell, path):
    if not shutil.which(shell):
        pytest.skip(f"there is no {shell}")
    run([shell, "--no-execute" if shell == "fish" else "-n", installed.prefix / path])


def test_versions_agree(source, tik):
    version = re.search(r"version: '(.*?)'", (source / "meson.build").read_text()).group(1)
    header = (source / "include" / "tik.h").read_text()
    assert re.search(r'TIK_VERSION "(.*?)"', header).group(1) == version
    parts = [re.search(rf"TIK_VERSION_{part} (\d+)", header).group(1) for part in ("MAJOR", "MINOR", "PATCH")]
    assert ".".join(parts) == version
    assert version in tik("--version").stdout.decode()


def write_to_cache(source, folder, name):
    """Puts a rank file of vocab/ where the cache has it."""
    address = f"https://openaipublic.blob.core.windows.net/encodings/{name}.tiktoken"
    shutil.copy(source / "vocab" / f"{name}.tiktoken", folder / hashlib.sha1(address.encode()).hexdigest())


@pytest.mark.parametrize("embed, embedded", [("r50k_base", True), ("none", False)])
def test_fewer_embedded_vocabularies_without_download(built_with, source, tmp_path, embed, embedded):
    tree = built_with(embed)
    program = tree.user_program(tmp_path, C, static=False)
    environment = dict(tree.environment, TIK_CACHE_DIR=str(tmp_path))
    write_to_cache(source, tmp_path, "cl100k_base")
    assert run([program, "cl100k_base", "hello world"], env=environment).endswith(" 15339 1917\n")
    for name in ("r50k_base", "gpt2", "p50k_base"):
        result = subprocess.run([program, name, "hello"], env=environment, capture_output=True, text=True)
        if embedded and name != "p50k_base":
            assert result.stdout.endswith(" 31373\n"), "gpt2 has the rank file of r50k_base"
        else:
            assert result.returncode == 2
            assert result.stderr.startswith("not in this build: ")

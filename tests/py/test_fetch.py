"""Getting rank files: a real HTTP server on loopback that misbehaves, and a cache folder that must stay clean."""

import base64
import contextlib
import ctypes
import fcntl
import hashlib
import http.server
import json
import os
import pathlib
import pty
import resource
import shutil
import signal
import ssl
import subprocess
import threading
import time

import pytest

PATTERN = r"\p{L}+|\P{L}"
LIMIT = 64 << 20  # TIK_FETCH_LIMIT of src/fetch/fetch.h


def rank_file():
    tokens = [bytes([byte]) for byte in range(256)]
    tokens += [bytes([a, b]) for a in range(97, 123) for b in range(97, 123)]
    return b"".join(base64.b64encode(token) + b" %d\n" % rank for rank, token in enumerate(tokens))


GOOD = rank_file()
SHA256 = hashlib.sha256(GOOD).hexdigest()


# ---- The server --------------------------------------------------------------------------------


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.seen.append(self.path)
        self.server.answer(self, len(self.server.seen))

    def do_CONNECT(self):
        self.server.seen.append("CONNECT " + self.path)
        self.send_error(403)

    def log_message(self, *_):
        pass

    def body(self, data, length=None, status=200):
        """Sends `data`; Content-Length is `length`, by default the right one, none for False."""
        self.send_response(status)
        if length is not False:
            self.send_header("Content-Length", str(len(data) if length is None else length))
        self.end_headers()
        with contextlib.suppress(ConnectionError):
            self.wfile.write(data)

    def redirect(self, where):
        self.send_response(302)
        self.send_header("Location", where)
        self.send_header("Content-Length", "0")
        self.end_headers()


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, certificate=None):
        super().__init__(("127.0.0.1", 0), Handler)
        self.seen = []
        self.released = threading.Event()
        self.answer = lambda request, number: request.body(GOOD)
        self.scheme = "http"
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self.socket = context.wrap_socket(self.socket, server_side=True)
            self.scheme = "https"
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()

    def url(self, host="127.0.0.1"):
        return f"{self.scheme}://{host}:{self.server_address[1]}/mini.tiktoken"

    def handle_error(self, *_):
        pass

    def stop(self):
        self.released.set()
        self.shutdown()
        self.server_close()


@pytest.fixture
def server():
    server = Server()
    yield server
    server.stop()


# ---- The command -------------------------------------------------------------------------------


class Place:
    """A manifest whose rank file is nowhere but at `url`, and an empty cache."""

    def __init__(self, folder, build, url):
        self.folder = folder
        self.program = str(build / "tik")
        self.url = url
        self.cache = folder / "cache"
        self.manifest = folder / "mini.json"
        self.describe()

    def describe(self, **changes):
        fields = {"name": "mini", "pattern": PATTERN, "rank_file": "mini.tiktoken", "sha256": SHA256, "url": self.url}
        self.manifest.write_text(json.dumps({**fields, **changes}))

    def environment(self, **changes):
        dropped = ("proxy", "PROXY", "TIK", "SSL_CERT", "CURL_CA", "DATA_GYM", "XDG_CACHE")
        kept = {name: value for name, value in os.environ.items() if not any(part in name for part in dropped)}
        wanted = {"TIK_CACHE_DIR": str(self.cache), "TIK_FETCH_TIMEOUT": "1", **changes}
        merged = {**kept, **wanted}
        return {name: str(value) for name, value in merged.items() if value is not None}

    def start(self, *args, preexec=None, **environment):
        return subprocess.Popen([self.program, *args, "--manifest", str(self.manifest)], stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.folder, preexec_fn=preexec,
                                env=self.environment(**environment))

    def run(self, *args, **options):
        process = self.start(*args, **options)
        out, err = process.communicate(b"ab", timeout=100)
        return subprocess.CompletedProcess(args, process.returncode, out.decode(), err.decode())

    def fetch(self, *args, **options):
        return self.run("vocab", "fetch", *args, **options)

    def opens(self, **options):
        """Whether the encoding can be used."""
        result = self.run("encode", **options)
        return result.returncode == 0 and result.stdout.split() == [str(256 + 1)]

    @property
    def cached(self):
        return self.cache / hashlib.sha1(self.url.encode()).hexdigest()

    def files(self):
        return sorted(path.name for path in self.cache.glob("*"))

    def is_clean(self):
        """Nothing in the cache but, perhaps, the right file."""
        return self.files() == [] or (self.files() == [self.cached.name] and self.cached.read_bytes() == GOOD)


@pytest.fixture
def place(tmp_path, build, server):
    return Place(tmp_path, build, server.url())


def refused(place, result, *parts, status=2):
    """One line of message with each of these parts, nothing on standard output, nothing in the cache."""
    assert result.returncode == status, result
    assert result.stdout == ""
    assert result.stderr.startswith("tik: ") and result.stderr.count("\n") == 1, result.stderr
    for part in parts:
        assert part in result.stderr
    assert place.files() == []


# ---- Downloads that succeed --------------------------------------------------------------------


def test_good_file_is_downloaded_once(place, server):
    result = place.fetch()
    assert (result.returncode, result.stdout, result.stderr) == (0, f"mini\t{place.cached}\n", "")
    assert place.cached.read_bytes() == GOOD and place.is_clean()
    assert place.opens() and place.fetch().returncode == 0
    assert server.seen == ["/mini.tiktoken"]
    assert place.fetch("--refresh").returncode == 0
    assert len(server.seen) == 2 and place.is_clean()


def test_opening_downloads(place, server):
    assert place.opens() and place.opens() and place.is_clean() and place.files()
    assert len(server.seen) == 1


def test_no_length(place, server):
    server.answer = lambda request, number: request.body(GOOD, length=False)
    assert place.opens() and place.cached.read_bytes() == GOOD


def test_500_twice_then_good(place, server):
    server.answer = lambda request, number: request.body(GOOD if number > 2 else b"later", status=200 if number > 2
                                                         else 500)
    assert place.fetch().returncode == 0
    assert len(server.seen) == 3 and place.is_clean() and place.opens()


def test_cut_connection_then_good(place, server):
    server.answer = lambda request, number: request.body(GOOD if number > 1 else GOOD[:1000], length=len(GOOD))
    assert place.fetch().returncode == 0
    assert len(server.seen) == 2 and place.cached.read_bytes() == GOOD


@pytest.mark.parametrize("where", ["/other", "other", "{url}?other"])
def test_redirect(place, server, where):
    server.answer = lambda request, number: (request.body(GOOD) if "other" in request.path
                                             else request.redirect(where.format(url=place.url)))
    assert place.fetch().returncode == 0
    assert len(server.seen) == 2 and place.cached.read_bytes() == GOOD


@pytest.mark.parametrize("umask, mode", [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_permission_by_umask(place, umask, mode):
    assert place.fetch(preexec=lambda: os.umask(umask)).returncode == 0
    assert place.cached.stat().st_mode & 0o777 == mode


# ---- Downloads that fail -----------------------------------------------------------------------


def stall(request, number):
    request.body(GOOD[:1000], length=len(GOOD))
    request.server.released.wait(60)


def too_much(request, number):
    request.send_response(200)
    request.end_headers()
    block = b"x" * (1 << 20)
    with contextlib.suppress(ConnectionError):
        for _ in range((LIMIT >> 20) + 8):
            request.wfile.write(block)


def answer(*args, **options):
    return lambda request, number: request.body(*args, **options)


def redirect(where):
    return lambda request, number: request.redirect(where)


# What the server does; how many requests it gets; what the message says.
FAULTS = {
    "wrong hash": (answer(GOOD[:-1] + b"\r"), 1, ["SHA-256", SHA256, "nothing was stored"]),
    "empty body": (answer(b""), 1, ["SHA-256", "0 bytes"]),
    "cut without a length": (answer(GOOD[:1000], length=False), 1, ["SHA-256"]),
    "404": (answer(GOOD, status=404), 1, ["the server answered 404", "check the address"]),
    "403": (answer(b"", status=403), 1, ["the server answered 403"]),
    "204": (answer(b"", length=False, status=204), 1, ["the server answered 204"]),
    "500 always": (answer(GOOD, status=500), 4, ["the server answered 500", "try again"]),
    "cut connection": (answer(GOOD[:1000], length=len(GOOD)), 4, ["could not be downloaded"]),
    "no answer": (lambda request, number: None, 4, ["could not be downloaded"]),
    "stalled": (stall, 4, ["could not be downloaded", "too slow"]),
    "too large, told": (answer(GOOD, length=LIMIT + 1), 1, ["larger than the limit"]),
    "too large, not told": (too_much, 1, ["larger than the limit"]),
    "endless redirects": (redirect("/mini.tiktoken"), 6, ["redirects again and again"]),
    "redirect off": (redirect("http://192.0.2.1/mini.tiktoken"), 1, ["not https"]),
    "redirect to a file": (redirect("file:///etc/passwd"), 1, ["not https"]),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_failed_download(place, server, fault):
    server.answer, requests, parts = FAULTS[fault]
    refused(place, place.fetch(), "mini", place.url, *parts)
    assert len(server.seen) == requests
    # The next attempt finds nothing in its way.
    server.answer = lambda request, number: request.body(GOOD)
    assert place.fetch().returncode == 0 and place.is_clean()


def test_failed_download_keeps_encodings_shut(place, server):
    server.answer = FAULTS["wrong hash"][0]
    refused(place, place.run("encode"), "SHA-256")
    # A refresh that fails leaves the right file that is there.
    server.answer = lambda request, number: request.body(GOOD)
    assert place.fetch().returncode == 0
    server.answer = FAULTS["wrong hash"][0]
    assert place.fetch("--refresh").returncode == 2
    assert place.files() == [place.cached.name] and place.is_clean() and place.opens()


def test_nobody_listens(place, server):
    server.stop()
    refused(place, place.fetch(), place.url, "https_proxy", str(place.cached))


@pytest.mark.parametrize("url", [
    "http://192.0.2.1/mini.tiktoken", "ftp://127.0.0.1/mini.tiktoken", "file:///etc/passwd",
    "http://127.0.0.1.example.com/x", "http://localhost@192.0.2.1/x", "mini.tiktoken", ""])
def test_address_that_is_not_https(place, url):
    place.describe(url=url)
    refused(place, place.fetch(), "https:// address is needed")


def test_manifest_without_url(place):
    place.describe(url=None)
    fields = json.loads(place.manifest.read_text())
    del fields["url"]
    place.manifest.write_text(json.dumps(fields))
    refused(place, place.fetch(), "no url")


# ---- TLS and proxies ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """Key and certificate in one file, for the name localhost only."""
    if not shutil.which("openssl"):
        pytest.skip("there is no openssl command to make a certificate")
    folder = tmp_path_factory.mktemp("tls")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-keyout", "key.pem", "-out", "cert.pem", "-days", "2", "-subj", "/CN=localhost", "-addext",
                    "subjectAltName=DNS:localhost"], cwd=folder, check=True, capture_output=True)
    both = folder / "both.pem"
    both.write_bytes((folder / "key.pem").read_bytes() + (folder / "cert.pem").read_bytes())
    return both


@pytest.fixture
def secure(certificate):
    server = Server(certificate)
    yield server
    server.stop()


@pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "CURL_CA_BUNDLE"])
def test_trusted_certificate(tmp_path, build, secure, certificate, variable):
    place = Place(tmp_path, build, secure.url("localhost"))
    assert place.fetch(**{variable: certificate}).returncode == 0
    assert len(secure.seen) == 1 and place.is_clean() and place.files()


def test_untrusted_certificate(tmp_path, build, secure):
    place = Place(tmp_path, build, secure.url("localhost"))
    refused(place, place.fetch(), "certificate", "SSL_CERT_FILE")
    assert secure.seen == []


def test_certificate_of_another_name(tmp_path, build, secure, certificate):
    place = Place(tmp_path, build, secure.url("127.0.0.1"))
    refused(place, place.fetch(SSL_CERT_FILE=certificate), "127.0.0.1")
    assert secure.seen == []


def test_redirect_from_https_to_http(tmp_path, build, secure, server, certificate):
    place = Place(tmp_path, build, secure.url("localhost"))
    secure.answer = lambda request, number: request.redirect(server.url())
    refused(place, place.fetch(SSL_CERT_FILE=certificate), "not https")
    assert server.seen == []


def test_http_proxy(place, server):
    proxy = f"http://127.0.0.1:{server.server_address[1]}"
    place.url = "http://127.0.0.1:1/mini.tiktoken"
    place.describe()
    assert place.fetch(http_proxy=proxy).returncode == 0
    assert server.seen == [place.url] and place.cached.read_bytes() == GOOD
    place.cached.unlink()
    refused(place, place.fetch(http_proxy=proxy, no_proxy="127.0.0.1"), "could not be downloaded")
    assert len(server.seen) == 1


def test_https_proxy(place, server):
    place.url = "https://files.example.com/mini.tiktoken"
    place.describe()
    refused(place, place.fetch(https_proxy=f"http://127.0.0.1:{server.server_address[1]}"), "could not be downloaded")
    assert server.seen[0] == "CONNECT files.example.com:443"


# ---- The cache ---------------------------------------------------------------------------------


def test_several_processes_at_once(place, server):
    def slow(request, number):
        time.sleep(0.5)
        request.body(GOOD)

    server.answer = slow
    processes = [place.start("vocab", "fetch") for _ in range(8)]
    results = [(process.communicate(timeout=100), process.returncode) for process in processes]
    assert [status for _, status in results] == [0] * 8, results
    assert len(server.seen) == 1 and place.is_clean() and place.files()


def test_waiting_for_one_that_fails(place, server):
    """Those that wait take over."""
    server.answer = lambda request, number: (time.sleep(0.3), request.body(GOOD if number > 1 else b"wrong"))
    processes = [place.start("vocab", "fetch") for _ in range(3)]
    results = [(process.communicate(timeout=100), process.returncode) for process in processes]
    assert sorted(status for _, status in results) == [0, 0, 2], results
    assert len(server.seen) == 2 and place.is_clean() and place.files()


def test_killed_half_way(place, server):
    half_sent = threading.Event()

    def half(request, number):
        request.body(GOOD[: len(GOOD) // 2], length=len(GOOD))
        half_sent.set()
        request.server.released.wait(60)

    server.answer = half
    process = place.start("vocab", "fetch", TIK_FETCH_TIMEOUT=60)
    assert half_sent.wait(60)
    process.kill()
    process.communicate()
    assert not place.cached.exists()
    server.answer = lambda request, number: request.body(GOOD)
    assert place.fetch().returncode == 0
    assert place.is_clean() and place.files()


def test_leftovers_of_killed_processes(place, server):
    place.cache.mkdir()
    name = place.cached.name
    mine = [name + ".tik-99999-0.tmp", name + ".tik-1-7.tmp", name + ".tik.lock"]
    others = [name + ".0b5e.tmp", "0" * 40 + ".tik-1-0.tmp", "0" * 40, name + "0"]
    for file in mine + others:
        (place.cache / file).write_bytes(GOOD[:100])
    assert place.fetch().returncode == 0
    assert place.files() == sorted([name, *others])


def test_file_being_written_is_left_alone(place):
    """A temporary file that a living process holds is not removed."""
    place.cache.mkdir()
    held = place.cache / (place.cached.name + ".tik-1-0.tmp")
    with open(held, "wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert place.fetch().returncode == 0
        assert held.exists() and place.cached.read_bytes() == GOOD


@pytest.mark.parametrize("wrong", [b"", b"wrong", GOOD[:-1], GOOD + b"\n", b"x" * len(GOOD)])
def test_wrong_file_in_the_cache(place, server, wrong):
    place.cache.mkdir()
    place.cached.write_bytes(wrong)
    assert place.opens()
    assert len(server.seen) == 1 and place.cached.read_bytes() == GOOD and place.is_clean()


def test_wrong_file_in_the_cache_and_no_server(place, server):
    server.stop()
    place.cache.mkdir()
    place.cached.write_bytes(b"wrong")
    refused(place, place.run("encode"), "could not be downloaded")


def test_something_else_in_place_of_the_file(place, server):
    """A pipe does not block, a folder does not lead astray."""
    place.cache.mkdir()
    os.mkfifo(place.cached)
    assert place.opens() and place.cached.read_bytes() == GOOD
    place.cached.unlink()
    place.cached.mkdir()
    assert place.opens()
    assert place.files() == [place.cached.name]
    result = place.fetch()
    assert result.returncode == 2 and "cannot write in the cache" in result.stderr


def not_writable(place, server, result, *parts):
    """fetch fails for lack of a cache; the encoding can be used all the same."""
    assert result.returncode == 2 and result.stdout == ""
    for part in ["tik: mini: ", "TIK_CACHE_DIR", *parts]:
        assert part in result.stderr


def test_cache_folder_under_a_file(place, server):
    (place.folder / "file").write_bytes(b"kept")
    place.cache = place.folder / "file" / "cache"
    not_writable(place, server, place.fetch(), "Not a directory", str(place.cache))
    assert place.opens() and place.opens() and len(server.seen) == 3
    assert (place.folder / "file").read_bytes() == b"kept"


def test_cache_folder_is_a_file(place, server):
    place.cache.write_bytes(b"kept")
    not_writable(place, server, place.fetch(), "Not a directory")
    assert place.opens() and place.cache.read_bytes() == b"kept"


@contextlib.contextmanager
def mounted(folder, options):
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], capture_output=True).returncode:
        pytest.skip("a tmpfs cannot be mounted here")
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def test_read_only_file_system(place, server):
    with mounted(place.cache, "size=1m,ro"):
        not_writable(place, server, place.fetch(), "Read-only file system")
        assert place.opens() and place.files() == []


def test_folder_without_write_permission(place, server):
    def become_nobody():
        if os.geteuid() == 0:
            os.setgid(65534)
            os.setuid(65534)

    place.cache.mkdir()
    place.cache.chmod(0o555)
    # Another user must be able to come here.
    for parent in [place.folder, *place.folder.parents]:
        if parent.stat().st_uid == os.geteuid() and not parent.stat().st_mode & 1:
            parent.chmod(parent.stat().st_mode | 0o011)
    reachable = subprocess.run([place.program, "--version"], capture_output=True, preexec_fn=become_nobody)
    if reachable.returncode:
        pytest.skip("another user cannot run the command here")
    not_writable(place, server, place.fetch(preexec=become_nobody), "Permission denied")
    assert place.opens(preexec=become_nobody) and place.files() == []


def test_full_disk(place, server):
    with mounted(place.cache, "size=4k"):
        not_writable(place, server, place.fetch(), "No space left on device", "make room")
        assert place.files() == []
        assert place.opens() and place.files() == []


def test_file_size_limit(place, server):
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(GOOD) - 1, len(GOOD) - 1))

    not_writable(place, server, place.fetch(preexec=limit), "make room")
    assert place.files() == []
    assert place.opens(preexec=limit) and place.files() == []


# ---- What the environment says -----------------------------------------------------------------


def test_offline(place, server):
    refused(place, place.run("encode", TIK_OFFLINE=1), "TIK_OFFLINE", place.url, str(place.cached))
    refused(place, place.fetch(TIK_OFFLINE="yes"), "TIK_OFFLINE")
    assert server.seen == [] and not place.cache.exists()
    assert place.fetch(TIK_OFFLINE=0).returncode == 0
    assert place.opens(TIK_OFFLINE=1) and place.fetch(TIK_OFFLINE=1).returncode == 0
    assert place.fetch("--refresh", TIK_OFFLINE=1).returncode == 2
    assert place.files() == [place.cached.name] and place.is_clean()
    # A wrong file goes, offline too.
    place.cached.write_bytes(b"wrong")
    refused(place, place.run("encode", TIK_OFFLINE=1), "TIK_OFFLINE")
    assert len(server.seen) == 1


FOLDERS = [
    ({"TIK_CACHE_DIR": "/a", "TIKTOKEN_CACHE_DIR": "/b", "DATA_GYM_CACHE_DIR": "/c"}, "/a"),
    ({"TIKTOKEN_CACHE_DIR": "/b", "DATA_GYM_CACHE_DIR": "/c", "XDG_CACHE_HOME": "/d"}, "/b"),
    ({"DATA_GYM_CACHE_DIR": "/c", "XDG_CACHE_HOME": "/d"}, "/c"),
    ({"XDG_CACHE_HOME": "/d", "HOME": "/e"}, "/d/tik"),
    ({"XDG_CACHE_HOME": "relative", "HOME": "/e"}, "HOME"),
    ({"XDG_CACHE_HOME": "", "HOME": "/e"}, "HOME"),
    ({"HOME": "/e"}, "HOME"),
]


@pytest.mark.parametrize("variables, folder", FOLDERS)
def test_cache_folder(place, variables, folder):
    if folder == "HOME":
        folder = "/e/Library/Caches/tik" if os.uname().sysname == "Darwin" else "/e/.cache/tik"
    result = place.run("vocab", "where", **{"TIK_CACHE_DIR": None, **variables})
    assert result.returncode == 1 and result.stdout == ""
    assert f" to {folder}/{place.cached.name}\n" in result.stderr


@pytest.mark.parametrize("variables", [{"TIK_CACHE_DIR": ""}, {"TIK_CACHE_DIR": None, "TIKTOKEN_CACHE_DIR": ""},
                                       {"TIK_CACHE_DIR": None, "HOME": None}])
def test_no_cache(place, server, variables):
    assert place.opens(**variables) and place.opens(**variables)
    assert len(server.seen) == 2
    result = place.fetch(**variables)
    assert result.returncode == 2 and "cache" in result.stderr
    assert sorted(path.name for path in place.folder.iterdir()) == ["mini.json"]


def test_relative_cache_folder(place):
    assert place.fetch(TIK_CACHE_DIR="some/where").returncode == 0
    assert (place.folder / "some" / "where" / place.cached.name).read_bytes() == GOOD


def test_progress_only_on_a_terminal(place, server):
    assert place.fetch().stderr == ""
    place.cached.unlink()
    leader, follower = pty.openpty()
    process = subprocess.Popen([place.program, "vocab", "fetch", "--manifest", str(place.manifest)], stderr=follower,
                               stdout=subprocess.PIPE, env=place.environment())
    os.close(follower)
    shown = b""
    with contextlib.suppress(OSError):  # the end of a terminal
        while block := os.read(leader, 4096):
            shown += block
    os.close(leader)
    assert process.communicate()[0].decode() == f"mini\t{place.cached}\n" and process.returncode == 0
    assert b"\rmini" in shown and b"KiB" in shown and shown.endswith(b"\r\033[K")


# ---- where, list, verify -----------------------------------------------------------------------


def test_where_and_list(place):
    assert place.run("vocab", "where").returncode == 1
    assert place.run("vocab", "list").stdout == "mini\tabsent\tmini.tiktoken\n"
    assert place.fetch().returncode == 0
    assert place.run("vocab", "where").stdout == f"{place.cached}\n"
    assert json.loads(place.run("vocab", "list", "--json").stdout) == [
        {"encoding": "mini", "place": "cached", "path": str(place.cached), "rank_file": "mini.tiktoken",
         "sha256": SHA256, "url": place.url}]
    beside = place.folder / "mini.tiktoken"
    beside.write_bytes(GOOD)
    assert place.run("vocab", "where").stdout == f"{beside}\n"
    assert place.run("vocab", "list").stdout == "mini\tbeside\tmini.tiktoken\n"


def test_file_beside_the_manifest(place, server):
    """It serves without the network; a wrong one is named, not replaced."""
    beside = place.folder / "mini.tiktoken"
    beside.write_bytes(GOOD)
    assert place.opens(TIK_OFFLINE=1) and place.run("vocab", "verify").returncode == 0
    beside.write_bytes(GOOD[:-1])
    assert "SHA-256" in place.run("encode").stderr
    refused(place, place.run("vocab", "verify"), str(beside), "SHA-256", status=1)
    assert beside.read_bytes() == GOOD[:-1] and server.seen == []


def test_verify(place):
    refused(place, place.run("vocab", "verify"), "fetch it first")
    assert place.fetch().returncode == 0
    assert place.run("vocab", "verify").stdout == "mini\tcached\tmini.tiktoken\n"
    place.cached.write_bytes(b"wrong")
    result = place.run("vocab", "verify")
    assert result.returncode == 1 and "SHA-256" in result.stderr and result.stdout == ""
    assert place.cached.read_bytes() == b"wrong"


def test_right_hash_of_a_malformed_file(place, server):
    bad = GOOD + b"YWJj 9\n"
    server.answer = lambda request, number: request.body(bad)
    place.describe(sha256=hashlib.sha256(bad).hexdigest())
    result = place.run("encode")
    assert result.returncode == 2 and "same rank" in result.stderr and "line 933" in result.stderr


def test_public_encodings(place, tik, source):
    env = place.environment(TIK_OFFLINE=1)
    names = ["gpt2", "r50k_base", "p50k_base", "p50k_edit", "cl100k_base", "o200k_base", "o200k_harmony"]
    listed = tik("vocab", "list", env=env).stdout.decode().splitlines()
    assert [line.split("\t")[0] for line in listed] == names
    assert tik("vocab", "verify", env=env).returncode == 0
    result = tik("vocab", "fetch", "cl100k_base", env=env)
    assert result.returncode == 2 and b"TIK_OFFLINE" in result.stderr
    # The reference's cache, as it names its files, is taken.
    place.cache.mkdir(exist_ok=True)
    manifest = json.loads((source / "vocab" / "cl100k_base.json").read_text())
    name = hashlib.sha1(manifest["url"].encode()).hexdigest()
    assert name == "9b5ad71b2ce5302211f9c61530b329a4922fc6a4"
    shutil.copy(source / "vocab" / "cl100k_base.tiktoken", place.cache / name)
    result = tik("vocab", "fetch", "cl100k_base", env=env)
    assert (result.returncode, result.stdout.decode()) == (0, f"cl100k_base\t{place.cache / name}\n")


@pytest.mark.parametrize("args, parts", [
    ([], ["list, where, fetch or verify"]),
    (["lost"], ["'lost' is none of list, where, fetch, verify"]),
    (["where", "cl100k"], ["cl100k_base"]),
    (["where", "--manifest", "/nowhere.json"], ["/nowhere.json"]),
    (["list", "gpt2", "--manifest", "/nowhere.json"], ["not both"]),
])
def test_wrong_calls(tik, args, parts):
    result = tik("vocab", *args)
    assert result.returncode == 2 and result.stdout == b""
    for part in parts:
        assert part in result.stderr.decode()


# ---- The module --------------------------------------------------------------------------------


def test_module_that_is_missing(place, tmp_path):
    """Embedded encodings need no module; what needs it says so."""
    env = place.environment(TIK_FETCH_MODULE=tmp_path / "none.so")
    run = lambda *args: subprocess.run([place.program, *args], input=b"ab", capture_output=True, env=env)
    assert run("count").returncode == 0
    assert run("vocab", "list").returncode == 0
    result = run("vocab", "fetch", "gpt2")
    assert result.returncode == 2 and b"none.so" in result.stderr and b"install libtik" in result.stderr


def test_module_that_is_another_library(place):
    libraries = [pathlib.Path(line.split()[2]) for line in
                 subprocess.run(["ldd", place.program], capture_output=True, text=True).stdout.splitlines()
                 if "jansson" in line]
    if not libraries:
        pytest.skip("no other library is found here")
    result = place.fetch(TIK_FETCH_MODULE=libraries[0])
    assert result.returncode == 2 and "another version" in result.stderr


def test_command_called_by_other_names(place, tmp_path):
    """The module is found from the PATH and through a symbolic link."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "tik").symlink_to(place.program)
    env = {**place.environment(), "PATH": f"{folder}:{os.environ['PATH']}"}
    result = subprocess.run("tik vocab verify gpt2", shell=True, env=env, cwd="/", capture_output=True)
    assert (result.returncode, result.stderr) == (0, b"")


# ---- From a program, through the shared library ------------------------------------------------

PROGRESS = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64)
OK, CANCELLED = 0, 14


@pytest.fixture
def fetch(place, build, monkeypatch):
    """Calls tik_vocab_file_fetch in this process, with a progress callback; gives the status."""
    library = next(iter(sorted((build / "src").glob("libtik.*dylib")) or sorted((build / "src").glob("libtik.so*"))))
    if b"__asan_init" in library.read_bytes():
        pytest.skip("a library with the address sanitizer cannot be loaded into this program")
    tik = ctypes.CDLL(str(library))
    for name in ["TIKTOKEN_CACHE_DIR", "TIK_OFFLINE", "TIK_FETCH_MODULE", "http_proxy", "HTTP_PROXY", "all_proxy",
                 "ALL_PROXY"]:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TIK_CACHE_DIR", str(place.cache))
    monkeypatch.setenv("TIK_FETCH_TIMEOUT", "1")

    def call(progress=PROGRESS()):
        file = ctypes.c_void_p()
        assert tik.tik_vocab_file_open_manifest(str(place.manifest).encode(), ctypes.byref(file), None) == OK
        status = tik.tik_vocab_file_fetch(file, ctypes.c_bool(False), progress, None, None, None)
        tik.tik_vocab_file_close(file)
        return status

    return call


def test_several_threads_at_once(place, server, fetch):
    server.answer = lambda request, number: (time.sleep(0.3), request.body(GOOD))
    statuses = []
    threads = [threading.Thread(target=lambda: statuses.append(fetch())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert statuses == [OK] * 8
    assert len(server.seen) == 1 and place.is_clean() and place.files()


def test_progress_callback(place, fetch):
    steps = []
    assert fetch(PROGRESS(lambda context, done, total: not steps.append((done, total)))) == OK
    assert steps[-1] == (len(GOOD), len(GOOD))
    assert all(a[0] <= b[0] for a, b in zip(steps, steps[1:]))


@pytest.mark.parametrize("when", ["at once", "in the middle", "between attempts", "waiting for another"])
def test_cancelled_by_the_callback(place, server, fetch, when):
    if when == "in the middle":
        server.answer = stall
        go_on = lambda context, done, total: done == 0
    elif when == "between attempts":
        server.answer = lambda request, number: request.body(b"", status=503)
        go_on = lambda context, done, total: not server.seen
    else:
        go_on = lambda context, done, total: False
    if when == "waiting for another":
        place.cache.mkdir()
        lock = place.cache / (place.cached.name + ".tik.lock")
        with open(lock, "wb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            assert fetch(PROGRESS(go_on)) == CANCELLED
        assert server.seen == []
        lock.unlink()
    else:
        assert fetch(PROGRESS(go_on)) == CANCELLED
    assert place.files() == []

"""A secret of the environment is written nowhere: one experiment with secrets planted in the environment,
in a service that gives them back, in an object that tells them and in addresses; then all bytes that it
left are searched."""

import base64
import gzip
import json
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote

import pyarrow.parquet as pq
import pytest

from kit import cli, visible
from kit.errors import KitError
from kit.retrieval import system
from kit.visible import discreet

SECRETS = {  # by the variable that holds each
    "SEARCH_BEARER": "b3ar-3r/tok+en=Zq81xW'ä\"<&>7".replace("ä", "a"),  # named by service_token_env
    "OTHER_API_KEY": "sk-othr_98f7/6e5+4d3c2b1a",  # named nowhere; the object tells it
    "DB_PASSWORD": "pa ss:w@rd/%41\\x",
    "HTTPS_PROXY": "http://proxyuser:pr0xyS3cretWord@127.0.0.1:9",
    "MYTHING": "an-unrecognisable-name-7c1d9e"}  # what only a dump of the environment would tell
PLAIN = [*(v for k, v in SECRETS.items() if k != "HTTPS_PROXY"), "pr0xyS3cretWord", "argS3cretWord"]
OBJECT = '''
import base64, os
from urllib.parse import quote

def told():
    key, word = os.environ["OTHER_API_KEY"], os.environ["DB_PASSWORD"]
    yield f"401 for {key}"
    yield f"key {base64.b64encode(b'user:' + key.encode()).decode()}"
    yield f"at https://me:{quote(word, safe='')}@example.org/?x=1&api_key=argS3cretWord&y=2"
    yield "x" * 290 + key  # cut within the secret
    yield repr({"Authorization": "Basic " + base64.b64encode(f"u:{word}".encode()).decode()})

class Engine:
    version = "1"
    said = told()

    def search(self, text, topk):
        print("I was given", os.environ["OTHER_API_KEY"])
        text = next(self.said, None)
        if text is None:
            return ["d1"]
        if text.startswith("401"):
            return ["x" * 60 + os.environ["OTHER_API_KEY"]]
        raise RuntimeError(text)
'''


class Echo(BaseHTTPRequestHandler):
    """A service that gives the Authorization header back: in ids, in errors, in headers, encoded."""

    protocol_version, count = "HTTP/1.1", 0

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        told = self.headers["Authorization"]
        token = told.removeprefix("Bearer ")
        Echo.count += 1
        code, body = [
            (200, [told]), (400, {"error": told}), (200, {"detail": token}), (200, [base64.b64encode(told.encode()).decode()]),
            (200, ["y" * 50 + quote(token, safe="")]), (200, [[token]]), (200, ["d1", "d2"])][min(Echo.count, 7) - 1]
        raw = json.dumps(body).encode()
        self.send_response(code, f"because of {token}")
        self.send_header("Content-Length", str(len(raw)))
        self.send_header("X-Echo", told)
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *_):
        pass


def encoded(secret: str) -> set[bytes]:
    """How it may stand in a file; reckoned here, and not as the kit does it."""
    raw, found = secret.encode(), {secret, quote(secret), quote(secret, safe=""), secret.encode().hex(),
                                   json.dumps(secret)[1:-1], json.dumps(json.dumps(secret)[1:-1])[1:-1]}
    for before in (b"", b"a", b"ab", b"user:", b"Bearer "):
        whole = base64.b64encode(before + raw).decode().rstrip("=")
        found.add(whole[-(-len(before) * 8 // 6):-2])  # the letters that hang on the secret alone
    return {form.encode() for form in found}


def contents(place: Path):
    """(name, bytes) of every file below, of the columns of Parquet and of what is packed."""
    for path in sorted(p for p in place.rglob("*") if p.is_file()):
        raw = path.read_bytes()
        yield str(path.relative_to(place)), raw
        if raw[:4] == b"PAR1":
            table = pq.read_table(path)
            yield f"{path.name} (rows)", json.dumps(table.to_pylist(), default=str, ensure_ascii=False).encode()
            yield f"{path.name} (schema)", str(table.schema.metadata).encode()
        elif zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as packed:
                for name in packed.namelist():
                    yield f"{path.name}:{name}", packed.read(name)
        elif raw[:2] == b"\x1f\x8b":
            yield f"{path.name} (unpacked)", gzip.decompress(raw)


def leaks(place: Path) -> list[str]:
    """Where a secret stands, in whatever form."""
    forms = {form: secret for secret in PLAIN for form in encoded(secret)}
    return [f"{name}: {secret}" for name, raw in contents(place) for form, secret in forms.items() if form in raw]


@pytest.fixture(scope="module")
def planted(own_folders, tmp_path_factory, make_collection):
    """The experiment's home, with its outputs, its temporary files, the caches, and what was printed."""
    home = tmp_path_factory.mktemp("s") / "a {b} ü"  # every path of the pipeline has blanks and braces
    home.mkdir()
    folder = make_collection(home, [f"q{n}" for n in range(1, 8)], [f"d{n}" for n in range(1, 5)],
                             [(f"q{n}", "d1") for n in range(1, 8)])
    (home / "telling.py").write_text(OBJECT)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    command = ["run", "-p", "experiment", "secret", "-p", "collection", str(folder), "-p", "outputs", str(home / "outputs"),
               "-p", "systems", "[bm25, service, object]", "-p", "service_url", f"http://127.0.0.1:{server.server_port}/",
               "-p", "service_token_env", "SEARCH_BEARER", "-p", "service_parallel", "1", "-p", "service_retries", "0",
               "-p", "object_system", "telling:Engine", "-p", "measures", "[nDCG@10]"]
    with pytest.MonkeyPatch.context() as patch:
        for name, value in SECRETS.items():
            patch.setenv(name, value)
        patch.setenv("TMPDIR", str(home / "tmp"))
        patch.setattr("tempfile.tempdir", None)
        patch.setattr("kit.pipeline.NOTEBOOKS", ("30_retrieve", "40_score", "50_compare"))  # where a system acts
        patch.setenv("IPYTHONDIR", str(home / "ipython"))
        (home / "tmp").mkdir()
        patch.chdir(home)
        printed = home / "printed"
        with open(printed, "w") as file, patch.context() as out:
            out.setattr("sys.stdout", file)
            out.setattr("sys.stderr", file)
            status = cli.main(command)
        yield home, status
        server.shutdown()
        server.server_close()


def test_the_experiment_ran_and_the_secrets_were_told(planted):
    home, status = planted
    assert status == 0, (home / "printed").read_text()
    manifests = [json.loads(p.read_text()) for p in (home / "outputs").glob("runs/*/*/manifest.json")]
    faults = {m["system"]["name"]: [f["fault"] for f in m["failures"]] for m in manifests}
    assert len(faults["service"]) == 6 and len(faults["telling:Engine" if "telling:Engine" in faults else "Engine"]) == 5
    assert any(visible.HIDDEN in fault for said in faults.values() for fault in said)
    assert Echo.count >= 7


def test_no_secret_stands_in_anything_that_was_left_or_printed(planted):
    home, _ = planted
    (home / "telling.py").rename(home.parent / "telling.py") if (home / "telling.py").exists() else None
    names = [name for name, _ in contents(home)]
    assert {"ipynb", "html", "json", "jsonl", "log", "md", "parquet"} <= {n.rsplit(".", 1)[-1] for n in names}
    assert leaks(home) == []


def test_the_search_would_find_one(planted, tmp_path):
    import pyarrow as pa
    for n, secret in enumerate(PLAIN):
        (tmp_path / f"{n}.txt").write_bytes(b"-" + base64.b64encode(b"Bearer " + secret.encode()) + b"-")
        pq.write_table(pa.table({"x": [secret]}), tmp_path / f"{n}.parquet", compression="zstd")
        with zipfile.ZipFile(tmp_path / f"{n}.zip", "w", zipfile.ZIP_DEFLATED) as packed:
            packed.writestr("in", quote(secret, safe=""))
    assert len({name.split(":")[0].split(" ")[0] for name in leaks(tmp_path)}) == 3 * len(PLAIN)


# --- errors -----------------------------------------------------------------------------------------

ADDRESS = "{}://user:pr0xyS3cretWord@127.0.0.1:9/x"


@pytest.mark.parametrize("given", [
    ("service_url", ADDRESS.format("http")), ("service_url", "http://127.0.0.1:9/?api_key=pr0xyS3cretWord"),
    ("scheduler", "tcp://user:pr0xyS3cretWord@127.0.0.1:8786"), ("collection", ADDRESS.format("https")),
    ("embedding_model", ADDRESS.format("https")), ("run_files", "{mine: '" + ADDRESS.format("https") + "'}"),
    ("object_system", ADDRESS.format("http")), ("experiment", ADDRESS.format("http"))], ids=lambda g: g[0])
def test_an_address_with_a_password_is_refused_and_the_password_not_said(given, tmp_path, capfd):
    systems = {"service_url": "[service]", "embedding_model": "[embedding]", "object_system": "[object]"}
    assert cli.main(["run", "-p", "outputs", str(tmp_path), "-p", "systems", systems.get(given[0], "[bm25]"),
                     "-p", *given]) == 1
    shown = capfd.readouterr()
    assert "pr0xyS3cretWord" not in shown.out + shown.err and shown.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text, shown", [
    ("no answer of https://me:word@host/x", "no answer of https://[secret]@host/x"),
    ("https://token@host/x and http://h/y", "https://[secret]@host/x and http://h/y"),
    ("http://h/?a=1&api_key=xyz&b=2 ends", "http://h/?a=1&api_key=[secret]&b=2 ends"),
    ("mail me@host, a valve (3:4) at 5@6", "mail me@host, a valve (3:4) at 5@6")])
def test_addresses_lose_their_secrets_and_nothing_else(text, shown):
    assert discreet(text) == shown and str(KitError(text)) == shown and system.one_line(text, 99) == shown


@pytest.mark.parametrize("name, value", [("PWD", "/some/where/long"), ("TOKENIZERS_PARALLELISM", "falsefalse"),
                                         ("KEYBOARD_LAYOUT", "qwertzqwertz"), ("API_KEY", "valve")])
def test_what_is_no_secret_stays(monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    assert discreet(f"a {value} b") == f"a {value} b"


def test_the_password_of_a_proxy_is_known(monkeypatch):
    monkeypatch.setenv("ALL_PROXY", "socks5://me:abcd1234efgh@127.0.0.1:9")
    assert discreet("proxy refused abcd1234efgh") == "proxy refused [secret]"


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "HF_TOKEN", "AWS_SECRET_ACCESS_KEY", "PGPASSWORD", "my_pass",
                                  "GITHUB_TOKEN", "SERVICE_CREDENTIALS", "DB_PASSWD", "MYAPIKEY"])
def test_a_variable_that_names_a_secret_is_known(monkeypatch, name):
    monkeypatch.setenv(name, "abcd1234efgh")
    assert "abcd1234efgh" not in str(KitError("a abcd1234efgh", "in abcd1234efgh", "do abcd1234efgh"))

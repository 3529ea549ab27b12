"""The committed Unicode tables are what tools/unicode/generate writes."""
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_tables_are_up_to_date(tmp_path):
    subprocess.run([sys.executable, ROOT / "tools/unicode/generate", tmp_path], check=True)
    committed = {path.name: path.read_bytes() for path in (ROOT / "src/unicode").glob("table_*.c")}
    generated = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert generated.keys() == committed.keys()
    for name in sorted(generated):
        assert generated[name] == committed[name], f"src/unicode/{name} is out of date: run tools/unicode/generate"

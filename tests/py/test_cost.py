"""tik cost and tik models: what calls cost, whether they fit, how old the prices are."""

import datetime
import decimal
import json

import pytest

SAMPLE_199 = " ".join(["tokenization"] * 71 + ["one"] * 57)  # 128 words
SAMPLE_152 = " ".join(["tokenization"] * 19 + ["one"] * 114)  # 133 words


def run_json(tik, *args, input=b"", **more):
    result = tik("cost", "--json", *args, input=input, **more)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def total(tik, *args, input=b""):
    return run_json(tik, *args, input=input)["models"][0]["cost"]["total"]


@pytest.fixture
def prices(tmp_path):
    """A list of one's own, taken down ten days ago."""
    path = tmp_path / "prices.json"
    date = datetime.datetime.now(datetime.timezone.utc).date() - datetime.timedelta(days=10)
    path.write_text(json.dumps({
        "currency": "EUR", "date": date.isoformat(), "source": "a price page",
        "models": [
            {"name": "gpt-4o", "window": 100, "price": {"input": "2", "cached": "1", "output": "4"},
             "long": {"above": 50, "input": "4", "cached": "2", "output": "8"}, "since": "2026-01-01"},
            {"name": "gpt-4", "window": 100},
            {"name": "house-model", "prefixes": ["house-"], "price": {"input": "0.000001"}},
        ]}))
    return path


@pytest.mark.parametrize("sample, words, tokens, parts, exact, shown", [
    (SAMPLE_199, 128, 199, 3, "3.7314", b"3.73"),
    (SAMPLE_152, 133, 152, 2, "2.743", b"2.74"),
])
def test_twelve_thousand_words(tik, sample, words, tokens, parts, exact, shown):
    """The articles' example: 12,000 words, 400 runs at 0.50 per million, a window of 8,192 less 1,000."""
    text = sample.encode()
    assert len(text.split()) == words
    assert tik("count", "-m", "gpt-4", input=text).stdout == b"%d\n" % tokens
    call = ["-m", "gpt-4", "--words", "12000"]
    row = run_json(tik, *call, "--price", "0.50", "--calls", "400", input=text)["models"][0]
    assert row["cost"]["total"] == exact
    assert row["input"] == -(-12000 * tokens // words)
    row = run_json(tik, *call, "--output", "1000", input=text)["models"][0]
    assert (row["window"], row["fits"], row["parts"]) == (8192, False, parts)
    table = tik("cost", *call, "--price", "0.50", "--calls", "400", input=text).stdout
    assert shown in table.split() and b"400 calls" in table and b"12000 words from %d" % words in table


@pytest.mark.parametrize("args, expected", [
    (["--tokens", "1000000", "--price", "0.50"], "0.50"),
    (["--tokens", "3", "--price", "0.1"], "0.0000003"),
    (["--tokens", "1", "--price", "0.000001"], "0.000000000001"),
    (["--tokens", "10", "--output", "5", "--price", "1,2"], "0.00002"),
    (["--tokens", "10", "--output", "50%", "--price", "1,2"], "0.00002"),
    (["--tokens", "11", "--output", "50%", "--price", "1,2"], "0.000023"),
    (["--tokens", "10", "--cached", "4", "--price", "1,2,0.5"], "0.000008"),
    (["--tokens", "10", "--cached", "4", "--price", "1,2"], "0.00001"),
    (["--tokens", "0", "--price", "1"], "0.00"),
    (["--tokens", "1000000", "--calls", "1000000", "--price", "30"], "30000000.00"),
])
def test_exact_amounts(tik, args, expected):
    assert total(tik, *args) == expected


def test_no_binary_fractions(tik):
    """0.1 and 0.7 have no exact binary form: a sum of doubles would go astray."""
    for calls in (1, 3, 7, 10**6 + 3):
        cost = decimal.Decimal(total(tik, "--tokens", "1234567", "--output", "89", "--calls", calls.__str__(),
                                     "--price", "0.1,0.7"))
        assert cost == (1234567 * decimal.Decimal("0.1") + 89 * decimal.Decimal("0.7")) * calls / 10**6


def test_counts_like_count(tik, tmp_path):
    first, second = tmp_path / "a.txt", tmp_path / "b.txt"
    first.write_text("Hello, wörld!\n" * 50)
    second.write_text("你好" * 30)
    rows = run_json(tik, "-m", "gpt-4o", "-m", "gpt-4", "-m", "gpt-4o-mini", first, second)["models"]
    for row in rows:
        lines = tik("count", "-m", row["model"], first, second).stdout.splitlines()
        assert row["input"] == int(lines[-1].split()[0])
    assert [row["encoding"] for row in rows] == ["o200k_base", "cl100k_base", "o200k_base"]


@pytest.mark.parametrize("args, inside", [
    (["--tokens", "50", "-m", "gpt-4o"], {"total": "0.0001", "long": False, "fits": True}),
    (["--tokens", "51", "-m", "gpt-4o"], {"total": "0.000204", "long": True, "fits": True}),
    (["--tokens", "51", "--output", "50", "-m", "gpt-4o"], {"total": "0.000604", "fits": False, "parts": 2}),
    (["--tokens", "51", "--output", "100", "-m", "gpt-4o"], {"fits": False, "parts": None}),
    (["--tokens", "5", "-m", "house-of-cards"], {"total": "0.000000000005", "listed_as": "house-model", "fits": None}),
    (["--tokens", "5", "-m", "gpt-4", "--price", "1"], {"total": "0.000005", "window": 100}),
])
def test_own_list(tik, prices, args, inside):
    row = run_json(tik, "--prices", prices, *args)["models"][0]
    row["total"] = row["cost"]["total"]
    assert {key: row[key] for key in inside} == inside


def test_says_how_old_the_prices_are(tik, prices):
    result = tik("cost", "--prices", prices, "-m", "gpt-4o", "--tokens", "5")
    assert b"COST EUR" in result.stdout and b"a price page" in result.stdout and b"10 days old" in result.stdout
    built_in = tik("cost", "-m", "gpt-4o", "--tokens", "5").stdout
    assert b"genai-prices" in built_in and b" old)" in built_in
    assert b"10 days old" in tik("models", "--prices", prices, "gpt-4o").stderr


def test_table_fits_a_terminal(tik):
    result = tik("cost", "-m", "gpt-4o-mini-2024-07-18", "-m", "gpt-5.5", "--tokens", "300000", "--output", "1000",
                 "--calls", "400")
    assert result.returncode == 0
    assert all(len(line) < 80 for line in result.stdout.decode().splitlines())


@pytest.mark.parametrize("args, says", [
    (["-m", "no-such-model", "--tokens", "1"], ["no-such-model", "--price", "--prices"]),
    (["-m", "gpt-3.5", "--tokens", "1"], ["gpt-3.5", "--price"]),
    (["-m", "gpt-6-sol"], ["gpt-6-sol", "-e"]),
    (["--tokens", "1"], ["-m", "--price"]),
    (["-m", "text-embedding-3-small", "--tokens", "1", "--output", "1"], ["output"]),
    (["-m", "gpt-4o", "--tokens", "1", "--cached", "2"], ["cached"]),
    (["-m", "gpt-4o", "--tokens", "1", "x.txt"], ["--tokens"]),
    (["-m", "gpt-4o", "no-such-file"], ["no-such-file"]),
    (["-m", "gpt-4o", "--words", "5"], ["--words"]),
    (["--price", "1e3", "--tokens", "1"], ["1e3"]),
    (["--price", "1,2,3,4", "--tokens", "1"], ["three"]),
    (["--price", "1,", "--tokens", "1"], ["''"]),
    (["--price", "0.0000001", "--tokens", "1"], ["6 decimals"]),
    (["--price", "1", "--tokens", str(2**63 - 1), "--calls", str(2**63 - 1)], ["too large"]),
    (["--price", "1", "--tokens", str(2**63)], ["whole number"]),
    (["--price", "1", "--tokens", "1", "--prices", "no-such-list"], ["no-such-list"]),
    (["--price", "1,1", "--tokens", str(2**63 - 1), "--output", "200%"], ["counted"]),
])
def test_refusals(tik, args, says):
    result = tik("cost", *args)
    assert result.returncode == 2
    assert result.stdout == b""
    for word in says:
        assert word in result.stderr.decode()


def test_a_faulty_list_is_refused(tik, tmp_path):
    path = tmp_path / "prices.json"
    path.write_text('{"currency": "EUR", "models": [{"name": "a", "price": {"input": 0.5}}]}')
    result = tik("cost", "--prices", path, "-m", "a", "--tokens", "1")
    assert result.returncode == 2 and b"model a" in result.stderr and b"in quotes" in result.stderr


def test_invalid_text_is_refused(tik):
    result = tik("cost", "-m", "gpt-4o", input=b"abc\xff")
    assert result.returncode == 2 and b"standard input" in result.stderr and result.stdout == b""
    assert tik("cost", "-m", "gpt-4o", "--invalid", "replace", input=b"abc\xff").returncode == 0


def test_models_lists_what_is_known(tik):
    result = tik("models")
    rows = {line.split("\t")[0]: line.split("\t")[1:] for line in result.stdout.decode().splitlines()}
    assert rows["gpt-4o"] == ["o200k_base", "128000", "2.50", "1.25", "10.00"]
    assert rows["gpt-4o-*"] == ["o200k_base", "-", "-", "-", "-"]
    assert rows["gpt-4o-mini"][0] == "o200k_base"
    assert rows["gpt-oss-20b"][0] == "o200k_harmony"
    assert tik("models", "gpt-4o-2024-11-20").stdout.startswith(b"gpt-4o-2024-11-20\to200k_base\t128000\t")
    assert tik("models", "no-such-model").returncode == 2


def test_models_as_json(tik):
    models = {model["name"]: model for model in json.loads(tik("models", "--json").stdout) if not model["prefix"]}
    assert models["gpt-4"]["price"] == {"input": "30.00", "cached": None, "output": "60.00"}
    assert models["gpt-5.5"]["long"]["above"] == 272000
    for model in models.values():
        assert "price" not in model or (model["date"] and model["source"])


def test_list_is_that_of_the_package(source):
    """vocab/prices.json is what tools/update-prices writes: every name is listed once, every price is exact."""
    document = json.loads((source / "vocab" / "prices.json").read_text())
    seen = set()
    for model in document["models"]:
        for name in [model["name"], *model.get("names", [])]:
            assert name not in seen
            seen.add(name)
        for price in model["price"].values():
            assert decimal.Decimal(price).as_tuple().exponent >= -6
    assert document["date"] and document["source"].startswith("genai-prices ")

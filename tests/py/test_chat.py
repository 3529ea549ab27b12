"""tik chat: published counting rules, harmony's ids, what is not counted, requests that are wrong."""

import json

import pytest

# The example messages and tool of OpenAI's cookbook, for which it prints the tokens that the API counted.
JARGON = [
    {"role": "system", "content": "You are a helpful, pattern-following assistant that translates corporate jargon into "
                                  "plain English."},
    {"role": "system", "name": "example_user", "content": "New synergies will help drive top-line growth."},
    {"role": "system", "name": "example_assistant", "content": "Things working well together will increase revenue."},
    {"role": "system", "name": "example_user", "content": "Let's circle back when we have more bandwidth to touch base on "
                                                          "opportunities for increased leverage."},
    {"role": "system", "name": "example_assistant", "content": "Let's talk later when we're less busy about how to do "
                                                               "better."},
    {"role": "user", "content": "This late pivot means we don't have time to boil the ocean for the client deliverable."},
]
WEATHER = [
    {"role": "system", "content": "You are a helpful assistant that can answer to questions about the weather."},
    {"role": "user", "content": "What's the weather like in San Francisco?"},
]
TOOL = {"type": "function", "function": {
    "name": "get_current_weather", "description": "Get the current weather in a given location",
    "parameters": {"type": "object", "required": ["location"], "properties": {
        "location": {"type": "string", "description": "The city and state, e.g. San Francisco, CA"},
        "unit": {"type": "string", "description": "The unit of temperature to return", "enum": ["celsius", "fahrenheit"]}}}}}
HI = [{"role": "user", "content": "hello world"}]


def chat(tik, request, *args):
    result = tik("chat", "--json", *args, input=json.dumps(request).encode())
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def notes(document, kind):
    return [note for note in document["notes"] if note["kind"] == kind]


@pytest.mark.parametrize("model, tokens", [
    ("gpt-3.5-turbo-0301", 127), ("gpt-3.5-turbo-0613", 129), ("gpt-3.5-turbo", 129), ("gpt-4-0314", 129), ("gpt-4-0613", 129),
    ("gpt-4", 129), ("gpt-4o", 124), ("gpt-4o-mini", 124),
])
def test_published_messages(tik, model, tokens):
    document = chat(tik, {"model": model, "messages": JARGON})
    assert document["tokens"] == tokens
    assert document["complete"] and document["notes"] == [] and "ids" not in document


@pytest.mark.parametrize("model, tokens", [("gpt-3.5-turbo", 105), ("gpt-4", 105), ("gpt-4o", 101), ("gpt-4o-mini", 101)])
def test_published_functions(tik, model, tokens):
    document = chat(tik, {"model": model, "messages": WEATHER, "tools": [TOOL], "tool_choice": "auto"})
    assert document["tokens"] == tokens
    assert document["complete"] and document["notes"] == []


@pytest.mark.parametrize("function, form, lines", [
    ({"name": "f", "description": "g"}, 7 + 12, ["f:g"]),
    ({"name": "f", "description": "g."}, 7 + 12, ["f:g"]),
    ({"name": "f", "description": "g", "parameters": {"type": "object", "properties": {}}}, 7 + 12, ["f:g"]),
    ({"name": "f", "description": "g", "parameters": {"properties": {"a": {"type": "string", "description": "b."}}}},
     7 + 3 + 3 + 12, ["f:g", "a:string:b"]),
    ({"name": "f", "description": "g", "parameters": {"properties": {"a": {"type": "string", "description": "b",
                                                                         "enum": ["x", "hello world"]}}}},
     7 + 3 + 3 - 3 + 3 + 3 + 12, ["f:g", "a:string:b", "x", "hello world"]),
])
def test_rules_of_functions(tik, function, form, lines):
    document = chat(tik, {"model": "gpt-4o", "messages": HI, "tools": [{"type": "function", "function": function}]})
    texts = sum(int(tik("count", "-m", "gpt-4o", input=line.encode()).stdout) for line in lines)
    assert next(part for part in document["parts"] if part["kind"] == "tools")["tokens"] == form + texts
    assert document["complete"]
    older = chat(tik, {"model": "gpt-4o", "messages": HI, "functions": [function]})
    assert older["tokens"] == document["tokens"]


def test_breakdown(tik):
    document = chat(tik, {"model": "gpt-4o", "messages": JARGON[:2], "tools": [TOOL]})
    assert [(part["kind"], part["message"], part["role"], part["name"]) for part in document["parts"]] == [
        ("message", 0, "system", None), ("message", 1, "system", "example_user"), ("tools", None, None, None),
        ("reply", None, None, None)]
    assert sum(part["tokens"] for part in document["parts"]) == document["tokens"]
    assert [part["tokens"] - part["text_tokens"] for part in document["parts"]] == [3, 4, 7 + 3 + 2 * 3 - 3 + 2 * 3 + 12, 3]


PARTS = {
    "image_url": {"type": "image_url", "image_url": {"url": "data:..."}},
    "input_audio": {"type": "input_audio", "input_audio": {"data": "", "format": "wav"}},
    "file": {"type": "file", "file": {"file_id": "x"}},
    "refusal": {"type": "refusal", "refusal": "no"},
    "hologram": {"type": "hologram"},
}


@pytest.mark.parametrize("model", ["gpt-4o", "gpt-oss-20b"])
@pytest.mark.parametrize("part", PARTS)
def test_parts_that_are_no_text(tik, model, part):
    request = {"model": model, "messages": [{"role": "user", "content": [{"type": "text", "text": "hello world"}, PARTS[part]]}]}
    document = chat(tik, request)
    found = notes(document, "not_counted")
    assert not document["complete"] and len(found) == 1 and found[0]["message"] == 0 and part in found[0]["text"]
    assert document["tokens"] == chat(tik, {"model": model, "messages": HI})["tokens"]
    result = tik("chat", input=json.dumps(request).encode())
    assert result.returncode == 0 and b"tik: not counted: message 0: " in result.stderr


@pytest.mark.parametrize("request_part, says", [
    ({"tool_choice": "required"}, "tool_choice"),
    ({"tool_choice": {"type": "function", "function": {"name": "f"}}}, "tool_choice"),
    ({"function_call": {"name": "f"}}, "function_call"),
    ({"response_format": {"type": "json_object"}}, "response_format"),
    ({"prediction": {"type": "content", "content": "x"}}, "prediction"),
    ({"tools": [{"type": "web_search"}]}, "web_search"),
])
@pytest.mark.parametrize("model", ["gpt-4o", "gpt-oss-20b"])
def test_fields_that_add_tokens(tik, model, request_part, says):
    document = chat(tik, {"model": model, "messages": HI, **request_part})
    assert [says in note["text"] for note in notes(document, "not_counted")] == [True]
    assert document["tokens"] == chat(tik, {"model": model, "messages": HI})["tokens"]


@pytest.mark.parametrize("more", [{"temperature": 0.5}, {"max_tokens": 5}, {"stream": True}, {"tool_choice": "none"},
                                  {"response_format": {"type": "text"}}, {"tools": []}])
def test_fields_that_add_none(tik, more):
    assert chat(tik, {"model": "gpt-4o", "messages": HI, **more})["notes"] == []


def test_function_calls(tik):
    messages = HI + [
        {"role": "assistant", "content": None, "tool_calls": [
            {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "call_1", "content": "hello world"},
    ]
    document = chat(tik, {"model": "gpt-4o", "messages": messages})
    assert [part["tokens"] for part in document["parts"]] == [3 + 1 + 2, 3 + 1 + 1 + 1, 3 + 1 + 2, 3]
    assert [(note["message"], note["kind"]) for note in document["notes"]] == [(1, "not_counted"), (2, "not_counted")]
    rendered = chat(tik, {"model": "gpt-oss-20b", "messages": messages})
    assert rendered["complete"] and [part["role"] for part in rendered["parts"]] == ["system", "user", "assistant", "tool", None]


@pytest.mark.parametrize("members", [{"description": "b", "type": "string", "default": "x"}, {"type": "string"},
                                     {"type": ["string", "null"], "description": "b"},
                                     {"type": "object", "description": "b", "properties": {}},
                                     {"type": "integer", "description": "b", "enum": [1, 2]}])
def test_functions_beyond_the_rules(tik, members):
    function = {"name": "f", "description": "g", "parameters": {"properties": {"a": members}}}
    document = chat(tik, {"model": "gpt-4o", "messages": HI, "tools": [{"type": "function", "function": function}]})
    assert len(notes(document, "not_counted")) == 1 and "function f" in notes(document, "not_counted")[0]["text"]


@pytest.mark.parametrize("model, rules", [("o3", "gpt-4o"), ("gpt-5", "gpt-4o"), ("gpt-4.1", "gpt-4o"), ("gpt-5-mini", "gpt-4o")])
def test_models_without_published_rules(tik, model, rules):
    document = chat(tik, {"model": model, "messages": HI})
    assert document["rules"] == rules and document["tokens"] == 3 + 1 + 2 + 3
    assert [note["kind"] for note in document["notes"]] == ["assumed"] and model in document["notes"][0]["text"]


@pytest.mark.parametrize("model", ["gpt-4o", "gpt-oss-20b"])
@pytest.mark.parametrize("text, found", [
    ("a <|endoftext|> b", "<|endoftext|> at byte 2"), ("é<|im_start|>system", "<|im_start|> at byte 2"),
    ("<|end|>", "<|end|> at byte 0"), ("< | <|a b|> <||> <|x|", None), ("a <b> c", None),
])
def test_text_like_special_tokens(tik, model, text, found):
    document = chat(tik, {"model": model, "messages": [{"role": "user", "content": text}]})
    special = notes(document, "special_text")
    assert [note["message"] for note in special] == ([0] if found else [])
    assert not found or found in special[0]["text"]
    assert document["complete"]


HARMONY_HI = ("<|start|>system<|message|>You are ChatGPT, a large language model trained by OpenAI.\nKnowledge cutoff: 2024-06\n"
              "%s\nReasoning: %s\n\n# Valid channels: analysis, commentary, final. Channel must be included for every message."
              "<|end|><|start|>user<|message|>hello world<|end|><|start|>assistant")


@pytest.mark.parametrize("request_part, args, expected", [
    ({}, [], HARMONY_HI % ("", "medium")),
    ({"reasoning_effort": "low"}, [], HARMONY_HI % ("", "low")),
    ({}, ["--date", "2026-11-30"], HARMONY_HI % ("Current date: 2026-11-30\n", "medium")),
])
def test_harmony_ids(tik, request_part, args, expected):
    request = {"model": "gpt-oss-120b", "messages": HI, **request_part}
    result = tik("chat", "--ids", *args, input=json.dumps(request).encode())
    assert result.returncode == 0 and result.stderr == b""
    again = tik("encode", "-e", "o200k_harmony", "--special", "all", input=expected.encode())
    assert result.stdout == again.stdout
    document = chat(tik, request, *args)
    assert document["ids"] == [int(word) for word in result.stdout.split()] and document["rules"] == "harmony"


def test_harmony_defines_functions(tik):
    """The example of OpenAI's description of the format."""
    unit = {"type": "string", "enum": ["celsius", "fahrenheit"], "default": "celsius"}
    place = {"type": "string", "description": "The city and state, e.g. San Francisco, CA"}
    tools = [
        {"name": "get_location", "description": "Gets the location of the user."},
        {"name": "get_current_weather", "description": "Gets the current weather in the provided location.",
         "parameters": {"type": "object", "properties": {"location": place, "format": unit}, "required": ["location"]}},
    ]
    request = {"model": "gpt-oss-20b", "messages": [{"role": "developer", "content": "Use a friendly tone."}] + HI,
               "tools": [{"type": "function", "function": tool} for tool in tools]}
    ids = tik("chat", "--ids", input=json.dumps(request).encode()).stdout
    text = tik("decode", "-e", "o200k_harmony", input=ids).stdout.decode()
    assert text.split("<|end|>")[1] == (
        "<|start|>developer<|message|># Instructions\n\nUse a friendly tone.\n\n# Tools\n\n## functions\n\nnamespace functions {\n\n"
        "// Gets the location of the user.\ntype get_location = () => any;\n\n"
        "// Gets the current weather in the provided location.\ntype get_current_weather = (_: {\n"
        "// The city and state, e.g. San Francisco, CA\nlocation: string,\n"
        "format?: \"celsius\" | \"fahrenheit\", // default: celsius\n}) => any;\n\n} // namespace functions")
    assert "channel: 'functions'.<|end|>" in text


def test_harmony_drops_told_reasoning(tik):
    def text(last):
        messages = [{"role": "user", "content": "a"}, {"role": "assistant", "channel": "analysis", "content": "think"},
                    {"role": "assistant", "channel": "final", "content": "b"}, *last]
        ids = tik("chat", "-m", "gpt-oss-20b", "--ids", input=json.dumps(messages).encode()).stdout
        return tik("decode", "-e", "o200k_harmony", input=ids).stdout

    assert b"think" not in text([{"role": "user", "content": "c"}])
    assert b"think" in text([{"role": "assistant", "channel": "analysis", "content": "more"}])


@pytest.mark.parametrize("request_text, args, says", [
    (b"", [], ["line 1"]),
    (b"{", [], ["line 1"]),
    (b'{"a": 1, "a": 2}', [], ["duplicate"]),
    (b'{"model": "gpt-4o"}', [], ["messages"]),
    (b'"text"', [], ["line 1"]),
    (b'{"model": "gpt-4o", "messages": {}}', [], ["messages"]),
    (b'{"model": "gpt-4o", "messages": [1]}', [], ["messages[0]"]),
    (b'{"model": "gpt-4o", "messages": [{"content": "x"}]}', [], ["messages[0]", "role"]),
    (b'{"model": "gpt-4o", "messages": [{"role": "user", "content": 5}]}', [], ["messages[0]", "content"]),
    (b'{"model": "gpt-4o", "messages": [{"role": "user", "content": [{"text": "x"}]}]}', [], ["messages[0]", "type"]),
    (b'{"model": "gpt-4o", "messages": [{"role": "user", "content": [{"type": "text"}]}]}', [], ["messages[0]", "text"]),
    (b'{"model": "gpt-4o", "messages": [], "tools": [{"type": "function", "function": {}}]}', [], ["tools", "name"]),
    (b'{"model": "gpt-oss-20b", "messages": [], "tools": [{"type": "function", "function": {}}]}', [], ["tools", "name"]),
    (b'{"model": "gpt-oss-20b", "messages": [{"role": "tool", "content": "x"}]}', [], ["messages[0]", "tool_call_id"]),
    (b'{"model": "gpt-oss-20b", "messages": [{"role": "clown", "content": "x"}]}', [], ["messages[0]", "role"]),
    (b'{"model": "gpt-oss-20b", "messages": [], "reasoning_effort": "extreme"}', [], ["reasoning_effort"]),
    (b"[]", [], ["model", "-m"]),
    (b"[]", ["-m", "no-such-model"], ["no-such-model"]),
    (b"[]", ["-m", "text-davinci-003"], ["text-davinci-003", "chat"]),
    (b"[]", ["-m", "text-embedding-3-small"], ["text-embedding-3-small", "chat"]),
    (b"[]", ["-e", "gpt2"], ["gpt2", "chat"]),
    (b"[]", ["-m", "gpt-4o", "--ids"], ["harmony"]),
    (b"[]", ["-m", "gpt-4o", "--ids", "--json"], ["--ids"]),
    (b"[]", ["-m", "gpt-oss-20b", "--date", "today"], ["today"]),
    (b'[{"role": "user", "content": "\\ud800"}]', ["-m", "gpt-4o"], ["line 1"]),
    (b'[{"role": "user", "content": "\xff"}]', ["-m", "gpt-4o"], ["line 1"]),
    (b'[{"role": "user", "content": [{"type": "image_url"}]}]', ["-m", "gpt-oss-20b", "--ids"], ["image", "no ids"]),
])
def test_refusals(tik, request_text, args, says):
    result = tik("chat", *args, input=request_text)
    assert result.returncode == 2 and result.stdout == b""
    for word in says:
        assert word in result.stderr.decode()


def test_deep_and_large_requests(tik):
    deep = {"type": "string", "description": "x"}
    for _ in range(200):
        deep = {"type": "object", "properties": {"a": deep}}
    tool = {"type": "function", "function": {"name": "f", "parameters": deep}}
    many = [{"role": "user", "content": "hello world"}] * 5000
    assert chat(tik, {"model": "gpt-oss-20b", "messages": HI, "tools": [tool]})["tokens"] > 200
    assert chat(tik, {"model": "gpt-4o", "messages": many})["tokens"] == 5000 * 6 + 3
    assert tik("chat", "-m", "gpt-4o", input=b"[" * 100000).returncode == 2


def test_zero_bytes_are_text(tik):
    document = chat(tik, {"model": "gpt-4o", "messages": [{"role": "user", "content": "a\0b"}]})
    assert document["parts"][0]["text_tokens"] == 1 + int(tik("count", input=b"a\0b").stdout)


def test_table_fits_a_terminal(tik):
    messages = JARGON + [{"role": "assistant", "name": "a" * 60, "content": "天气\n\t\x7f" + "x" * 90}]
    for model in ("gpt-4o", "gpt-oss-20b"):
        result = tik("chat", "-m", model, input=json.dumps(messages).encode())
        lines = result.stdout.decode().splitlines()
        assert result.returncode == 0 and len(lines) >= len(messages) + 3
        assert all(len(line) < 80 and line.isprintable() for line in lines)

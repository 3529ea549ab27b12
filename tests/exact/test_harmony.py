"""The harmony format, to the id: tik chat and the package openai-harmony render the same conversations.

The package reads the rank file of o200k_base from vocab/ (TIKTOKEN_ENCODINGS_BASE); it needs no network.
"""

import json
import os
import pathlib
import random
import subprocess

import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("TIK_BUILD", SOURCE / "build")).resolve()
FULL = os.environ.get("TIK_EXACT") == "full"
os.environ["TIKTOKEN_ENCODINGS_BASE"] = str(SOURCE / "vocab")

harmony = pytest.importorskip("openai_harmony", reason="no package openai-harmony: nothing is compared with it")
from openai_harmony import (  # noqa: E402
    Author, ChannelConfig, Conversation, DeveloperContent, HarmonyEncodingName, Message, ReasoningEffort, Role,
    SystemContent, ToolDescription, ToolNamespaceConfig, load_harmony_encoding)

WORDS = ["the", "Wetter", "天气", "🌍 map", "a.b", "null", "x\ny", "two  spaces", "don't", "<|end|>", "\"quoted\"", "back\\slash",
         "tab\there", "é", "", "line one\r\nline two\n", "12345", " // no comment", "{}", "\u001f", "\u2028", "namespace"]


@pytest.fixture(scope="module")
def encoding():
    return load_harmony_encoding(HarmonyEncodingName.HARMONY_GPT_OSS)


def render(request, *args):
    """The ids that libtik gives a request, and the notes."""
    done = subprocess.run([BUILD / "tik", "chat", "-m", "gpt-oss-20b", "--json", *args], input=json.dumps(request).encode(),
                          capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["tokens"] == len(document["ids"]) == sum(part["tokens"] for part in document["parts"])
    return document["ids"], document["notes"]


def compare(encoding, conversation, request=None, *args):
    expected = encoding.render_conversation_for_completion(conversation, Role.ASSISTANT)
    found, _ = render(request if request is not None else json.loads(conversation.to_json()), *args)
    assert found == expected, (encoding.decode(found), encoding.decode(expected))


def text(choose):
    return " ".join(choose.choice(WORDS) for _ in range(choose.randrange(4)))


def value(choose, depth=0):
    kinds = [lambda: None, lambda: True, lambda: False, lambda: choose.randrange(-10**6, 10**6), lambda: 2**53, lambda: -0.0,
             lambda: choose.choice([0.1, 1.0, 1e16, 1e15, 123456.789, 1e-5, 1e-4, 1.5e300, 5e-324, 1e20, -2.5, 1e17 / 3, 0.00012]),
             lambda: choose.uniform(-1000, 1000), lambda: text(choose)]
    if depth < 2:
        kinds += [lambda: [value(choose, depth + 1) for _ in range(choose.randrange(3))],
                  lambda: {text(choose): value(choose, depth + 1) for _ in range(choose.randrange(3))}]
    return choose.choice(kinds)()


def schema(choose, depth=0):
    """Any JSON schema, and some that are none."""
    kind = choose.choice(["object", "string", "number", "integer", "boolean", "array", "null", ["string", "null"],
                          ["integer", "object"], [], [5], None])
    made = {} if kind is None else {"type": kind}
    if depth < 3 and choose.random() < 0.2:
        made["oneOf"] = choose.choice([[schema(choose, depth + 1) for _ in range(choose.randrange(4))], "nothing"])
    if kind == "object" and depth < 3 and choose.random() < 0.9:
        names = [choose.choice(["alpha", "zeta", "b-c", "_", "ü", "Q"]) + str(i) for i in range(choose.randrange(5))]
        made["properties"] = {name: schema(choose, depth + 1) for name in names}
        if choose.random() < 0.7:
            made["required"] = [name for name in names if choose.random() < 0.5] + choose.choice([[], ["other"], [7]])
    if kind == "array" and depth < 3 and choose.random() < 0.8:
        made["items"] = schema(choose, depth + 1)
    for name, make in [("description", lambda: text(choose)), ("title", lambda: text(choose)), ("default", lambda: value(choose)),
                       ("nullable", lambda: choose.choice([True, False])),
                       ("examples", lambda: [value(choose) for _ in range(choose.randrange(3))]),
                       ("enum", lambda: [choose.choice(["a", "b c", 5, "ü"]) for _ in range(choose.randrange(3))])]:
        if choose.random() < 0.3:
            made[name] = make()
    if choose.random() < 0.05:
        made["description"] = 5
    return made


def function(choose, i):
    parameters = None if choose.random() < 0.2 else dict(schema(choose), **({"type": "object"} if choose.random() < 0.7 else {}))
    return ToolDescription.new(f"function_{i}", text(choose), parameters=parameters)


def functions(choose):
    return [function(choose, i) for i in range(choose.randrange(4))]


def system(choose):
    content = SystemContent.new()
    if choose.random() < 0.3:
        content.model_identity = choose.choice([None, "", text(choose)])
    if choose.random() < 0.3:
        content.knowledge_cutoff = choose.choice([None, "", "2020-01"])
    if choose.random() < 0.5:
        content.conversation_start_date = "2026-11-30"
    content.reasoning_effort = choose.choice([None, ReasoningEffort.LOW, ReasoningEffort.MEDIUM, ReasoningEffort.HIGH])
    if choose.random() < 0.3:
        content.channel_config = choose.choice([None, ChannelConfig(valid_channels=[], channel_required=True),
                                                ChannelConfig(valid_channels=["final", "x"], channel_required=False)])
    if choose.random() < 0.3:
        content = content.with_browser_tool()
    if choose.random() < 0.3:
        content = content.with_python_tool()
    if choose.random() < 0.2:
        content = content.with_tools(ToolNamespaceConfig(name="zoo", description=text(choose), tools=functions(choose)))
    return Message.from_role_and_content(Role.SYSTEM, content)


def developer(choose):
    content = DeveloperContent.new()
    if choose.random() < 0.7:
        content = content.with_instructions(text(choose))
    if choose.random() < 0.7:
        content = content.with_function_tools(functions(choose))
    return Message.from_role_and_content(Role.DEVELOPER, content)


def spoken(choose):
    role = choose.choice([Role.USER, Role.ASSISTANT, Role.ASSISTANT, Role.TOOL, Role.SYSTEM, Role.DEVELOPER])
    author = Author(role=role)
    if role == Role.TOOL or choose.random() < 0.2:
        author = Author.new(role, choose.choice(["functions.f", "browser.search", "bob", "ü"]))
    message = Message.from_author_and_content(author, text(choose))
    if choose.random() < 0.2:
        message = message.adding_content(text(choose))
    if choose.random() < 0.6:
        message = message.with_channel(choose.choice(["analysis", "commentary", "final"]))
    if choose.random() < 0.3:
        message = message.with_recipient(choose.choice(["functions.f", "all", "assistant", "python"]))
    if choose.random() < 0.3:
        message = message.with_content_type(choose.choice(["json", "<|constrain|>json", "<|constrain|>", "code <|constrain|>"]))
    return message


@pytest.mark.parametrize("seed", range(1000 if FULL else 100))
def test_conversations(encoding, seed):
    choose = random.Random(seed)
    messages = [system(choose)] if choose.random() < 0.8 else [Message.from_role_and_content(Role.USER, "hi").with_channel("x")]
    messages += [developer(choose)] if choose.random() < 0.8 else []
    messages += [spoken(choose) for _ in range(choose.randrange(8))]
    compare(encoding, Conversation.from_messages(messages))


@pytest.mark.parametrize("seed", range(2000 if FULL else 200))
def test_functions(encoding, seed):
    choose = random.Random(1000 + seed)
    content = DeveloperContent.new().with_function_tools([function(choose, i) for i in range(3)])
    compare(encoding, Conversation.from_messages([Message.from_role_and_content(Role.DEVELOPER, content)]))


def test_a_request_of_the_api(encoding):
    """What the chat API's messages become, written out in the package's own terms."""
    parameters = {"type": "object", "properties": {"city": {"type": "string", "description": "Where."}}, "required": ["city"]}
    call = {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": "{\"city\": \"Oslo\"}"}}
    request = {
        "model": "gpt-oss-20b", "reasoning_effort": "high",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "name": "ann", "content": [{"type": "text", "text": "Hi! "}, {"type": "text", "text": "Oslo?"}]},
            {"role": "assistant", "content": "Let me see.", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "call_1", "content": "rain <|end|>"},
            {"role": "assistant", "content": "Rain."},
            {"role": "user", "content": "And Bergen?"},
        ],
        "tools": [{"type": "function", "function": {"name": "weather", "description": "The weather.", "parameters": parameters}}],
    }
    conversation = Conversation.from_messages([
        Message.from_role_and_content(Role.SYSTEM, SystemContent.new().with_reasoning_effort(ReasoningEffort.HIGH)
                                      .with_conversation_start_date("2026-11-30")),
        Message.from_role_and_content(Role.DEVELOPER, DeveloperContent.new().with_instructions("Be brief.").with_function_tools(
            [ToolDescription.new("weather", "The weather.", parameters=parameters)])),
        Message.from_author_and_content(Author.new(Role.USER, "ann"), "Hi! ").adding_content("Oslo?"),
        Message.from_role_and_content(Role.ASSISTANT, "Let me see.").with_channel("commentary"),
        Message.from_role_and_content(Role.ASSISTANT, "{\"city\": \"Oslo\"}").with_channel("commentary")
        .with_recipient("functions.weather").with_content_type("<|constrain|>json"),
        Message.from_author_and_content(Author.new(Role.TOOL, "functions.weather"), "rain <|end|>")
        .with_recipient("assistant").with_channel("commentary"),
        Message.from_role_and_content(Role.ASSISTANT, "Rain.").with_channel("final"),
        Message.from_role_and_content(Role.USER, "And Bergen?"),
    ])
    compare(encoding, conversation, request, "--date", "2026-11-30")


def test_functions_without_instructions(encoding):
    request = {"messages": [{"role": "user", "content": "Hi"}],
               "tools": [{"type": "function", "function": {"name": "f"}}]}
    conversation = Conversation.from_messages([
        Message.from_role_and_content(Role.SYSTEM, SystemContent.new()),
        Message.from_role_and_content(Role.DEVELOPER, DeveloperContent.new().with_function_tools([ToolDescription.new("f", "")])),
        Message.from_role_and_content(Role.USER, "Hi"),
    ])
    compare(encoding, conversation, request)

"""A real LangChain agent with two tools over an OpenAI-compatible server: conversations, memory, calls and results."""

import json
import os
import re

import pytest
from openai_server import Answer, OpenAIServer
from suites import lines, write_suite
from typed import proctor

AGENT = """
import os
import openai
from langchain.agents import create_agent
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, convert_to_openai_messages
from langchain_core.output_parsers.openai_tools import make_invalid_tool_call, parse_tool_call
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import ToolException, tool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.checkpoint.memory import InMemorySaver


class Model(BaseChatModel):
    "Chat completions of the server."

    @property
    def _llm_type(self):
        return "chat-completions"

    def bind_tools(self, tools, **options):
        return self.bind(tools=[convert_to_openai_tool(each) for each in tools])

    def _generate(self, messages, stop=None, run_manager=None, **options):
        client = openai.OpenAI(base_url=os.environ["SERVER"], api_key="k", max_retries=0)
        said = client.chat.completions.create(model="m", messages=convert_to_openai_messages(messages), **options)
        message, calls, invalid = said.choices[0].message, [], []
        for each in message.model_dump().get("tool_calls") or []:
            try:
                calls.append(parse_tool_call(each, return_id=True))
            except Exception as error:
                invalid.append(make_invalid_tool_call(each, str(error)))
        made = AIMessage(message.content or "", tool_calls=calls, invalid_tool_calls=invalid)
        return ChatResult(generations=[ChatGeneration(message=made)])


@tool
def order_status(order: str) -> str:
    "Where an order is."
    return f"order {order} is packed tonight"


@tool
def swap(order: str, size: str) -> str:
    "Swap the size of an order."
    raise ToolException("the warehouse is closed")


swap.handle_tool_error = True
tools = [order_status, swap]
told = create_agent(Model(), tools)


def keeps():
    return create_agent(Model(), tools, checkpointer=InMemorySaver())
"""
TURNS = [
    {"ask": "I ordered a medium yesterday, order 1182.", "expected_tools": []},
    {
        "ask": "Can I still get the large one?", "expected_answer": "Yes, until it is packed.",
        "expected_tools": [
            {"name": "order_status", "arguments": {"order": "1182"}},
            {"name": "swap", "arguments": {"order": "1182", "size": "large"}},
        ],
    },
    {"ask": "broken", "expected_tools": ["order_status"], "forbidden_tools": ["swap"]},
]  # fmt: skip


def call(id: str, name: str, arguments: str) -> dict:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def clerk(asked) -> Answer:
    """A model that looks an order up, swaps its size, and says what came of it; it needs the number of the order."""
    messages = asked.body["messages"]
    last = messages[-1]
    number = next(iter(re.findall(r"\b\d{4}\b", " ".join(str(each["content"]) for each in messages))), None)
    if last["role"] == "tool":
        return Answer(f"I see: {last['content']}")
    if last["content"] == "broken":
        return Answer("Sorry.", message={"tool_calls": [call("c9", "order_status", '{"order": ')]})
    if "large" in last["content"] and number:
        both = [call("c1", "order_status", json.dumps({"order": number})),
                call("c2", "swap", json.dumps({"order": number, "size": "large"}))]  # fmt: skip
        return Answer(None, message={"tool_calls": both})
    return Answer("How can I help?" if number else "Which order?")


@pytest.fixture
def server():
    with OpenAIServer(clerk, models=None) as running:
        yield running


def run_agents(folder, server, bots: dict, **suite: object) -> None:
    write_suite(folder, "", [{"id": "swap", "turns": TURNS}], bots=bots, metrics=["tool_checks"], **suite)
    (folder / "agent.py").write_text(AGENT)
    done = proctor("run", "suite.yaml", folder=folder, env={**os.environ, "SERVER": server.url})
    assert done.returncode == 0, done.stdout + done.stderr


def rows(folder, sql: str) -> list[tuple]:
    return lines(folder / "proctor.db", sql)


def agent(name: str, **more: object) -> dict[str, object]:
    return {"type": "langchain", "target": f"agent.py:{name}", "input_key": "messages", **more}


def test_an_agent_with_two_tools_is_asked_scored_and_shown_with_its_calls(tmp_path, server):
    run_agents(tmp_path, server, {"told": agent("told"), "keeps": agent("keeps")})
    found = rows(tmp_path, "SELECT bot, question_id, tool_calls, answer FROM answers ORDER BY bot, question_id")
    for bot in ("keeps", "told"):
        first, second, third = [(json.loads(calls), answer) for name, _, calls, answer in found if name == bot]
        assert first == ([], "How can I help?")
        assert second == (
            [
                {"name": "order_status", "arguments": {"order": "1182"}, "result": "order 1182 is packed tonight",
                 "id": "c1"},
                {"name": "swap", "arguments": {"order": "1182", "size": "large"}, "result": "the warehouse is closed",
                 "id": "c2", "error": "the warehouse is closed"},
            ],
            "I see: the warehouse is closed",
        )  # fmt: skip
        [broken] = third[0]
        assert (broken["name"], broken["arguments"]) == ("order_status", None) and "no JSON" in broken["error"]
    scored = rows(tmp_path, "SELECT question_id, metric, value, reason FROM row_scores WHERE bot = 'keeps'")
    values = {(question, metric): reason if value is None else value for question, metric, value, reason in scored}
    assert values["swap/1", "tool_call_f1"] == 1 and values["swap/1", "tool_call_recall"] == "no_expected_calls"
    of_second = {metric: value for (question, metric), value in values.items() if question == "swap/2"}
    assert of_second == {
        "tool_call_f1": 1, "tool_call_recall": 1, "tool_call_precision": 1, "tool_argument_match": 1, "tool_order": 1,
        "tool_steps": 1, "forbidden_tools": "forbidden_tools_missing",
    }  # fmt: skip
    assert (values["swap/3", "tool_call_f1"], values["swap/3", "forbidden_tools"]) == (1, 0)


def test_an_agent_with_a_checkpointer_hears_each_turn_once_in_a_thread_of_its_own(tmp_path, server):
    run_agents(tmp_path, server, {"keeps": agent("keeps")}, repeat=2)
    last = max((each.body["messages"] for each in server.calls), key=len)
    assert [each["content"] for each in last if each["role"] == "user"] == [turn["ask"] for turn in TURNS]
    sessions = {json.loads(trace)["session"] for (trace,) in rows(tmp_path, "SELECT trace FROM replies")}
    assert len(sessions) == 2


def test_what_was_said_before_is_left_out_of_the_calls_of_a_turn(tmp_path, server):
    run_agents(tmp_path, server, {"told": agent("told")}, conversations={"after_failure": "skip"})
    counts = rows(tmp_path, "SELECT question_id, json_array_length(tool_calls) FROM answers ORDER BY question_id")
    assert counts == [("swap/1", 0), ("swap/2", 2), ("swap/3", 1)]

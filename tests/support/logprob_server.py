"""LogprobServer: a real HTTP server on loopback that tells true log-probabilities of prompts, as several servers do.

In a test::

    with LogprobServer(folder, "vllm", window=65) as server:
        ...  # server.url is the base_url; server.scored holds the scoring requests that came in
"""

from pathlib import Path
from typing import Any, Literal

from aiohttp import web
from openai_server import Call, OpenAIServer, Plan, status

Mode = Literal["vllm", "llama.cpp", "llama.cpp silent", "llama.cpp echo", "llama-cpp-python", "plain", "openai"]
_TOKENIZES = ("vllm", "llama.cpp", "llama.cpp silent", "llama.cpp echo")
_VLLM_ONLY = ("add_special_tokens", "return_tokens_as_token_ids")


class LogprobServer(OpenAIServer):
    """Scores prompts with the causal model of a folder.

    Args:
        folder: model and tokenizer.
        mode: whose protocol is spoken: vLLM's; llama.cpp's as it is (``echo`` refused), as it once was (``echo`` passed
            over) and as it is proposed (entries with numbers); llama-cpp-python's; completions alone; or OpenAI's.
        window: tokens of prompt and answer together.
        begins: whether the model has a token that begins a text, which is put before prompts that are texts.
        strict: whether fields that only vLLM knows are refused.
    """

    def __init__(
        self,
        folder: Path,
        mode: Mode = "vllm",
        *,
        window: int = 65,
        begins: bool = False,
        strict: bool = False,
        faults: Plan = (),
        key: str | None = None,
        models: tuple[str, ...] = ("test-model",),
        delay: float = 0.0,
    ) -> None:
        from transformers import AutoModelForCausalLM, AutoTokenizer

        super().__init__(faults=faults, key=key, models=models, delay=delay)
        self.mode, self.window, self.strict = mode, window, strict
        self._beginning = [1] if begins else []
        self._tokenizer = AutoTokenizer.from_pretrained(folder)
        self._model = AutoModelForCausalLM.from_pretrained(folder).eval()

    @property
    def scored(self) -> list[Call]:
        """The requests for log-probabilities."""
        return [call for call in self.calls if "echo" in call.body]

    def _add_routes(self, application: web.Application) -> None:
        application.router.add_get("/v1/models", self._list_models)
        application.router.add_post("/v1/completions", self._complete)
        if self.mode in _TOKENIZES:
            application.router.add_post("/tokenize", self._complete)
            application.router.add_get("/props", self._tell_settings)
        if self.mode == "llama-cpp-python":
            application.router.add_post("/extras/tokenize", self._complete)

    async def _tell_settings(self, _: web.Request) -> web.Response:
        return web.json_response({"default_generation_settings": {"n_ctx": self.window}})

    async def _answer(self, request: web.Request, call: Call) -> web.StreamResponse:
        if request.path.endswith("/tokenize"):
            return web.json_response(self._tokenized(call))
        prompt = call.body["prompt"]
        given = isinstance(prompt, list)
        tokens = prompt if given else self._put_before(call) + self._numbers(prompt)
        if problem := self._problem(call, len(tokens)):
            return await self._fail(request, problem)
        written = self._greedy(tokens)
        usage = {"prompt_tokens": len(tokens), "completion_tokens": 1, "total_tokens": len(tokens) + 1}
        choice = {"index": 0, "text": self._tokenizer.decode([*tokens, written]), "finish_reason": "length"}
        choice["logprobs"] = self._logprobs_of(call, tokens, written)
        return web.json_response({"object": "text_completion", "choices": [choice], "usage": usage})

    def _tokenized(self, call: Call) -> dict[str, Any]:
        if self.mode == "llama-cpp-python":
            return {"tokens": self._beginning + self._numbers(call.body["input"])}
        vllm = self.mode == "vllm"
        text = call.body["prompt" if vllm else "content"]
        bare = call.body["add_special_tokens" if vllm else "add_special"] is False
        tokens = ([] if bare else self._beginning) + self._numbers(text)
        return {"tokens": tokens} | ({"count": len(tokens), "max_model_len": self.window} if vllm else {})

    def _put_before(self, call: Call) -> list[int]:
        return [] if self.mode == "plain" and call.body.get("add_special_tokens") is False else self._beginning

    def _problem(self, call: Call, count: int) -> Any:
        if self.mode == "openai":
            return status(400, "Setting 'echo' and 'logprobs' at the same time is not supported for this model.")
        if self.mode == "llama.cpp":
            return status(500, "Only no echo is supported")
        if self.strict and (unknown := [name for name in _VLLM_ONLY if name in call.body]):
            return status(422, f"Extra inputs are not permitted: {unknown[0]}")
        if self.mode == "llama-cpp-python" and isinstance(call.body["prompt"], list):
            return status(422, "Input should be a valid string")
        if count + call.body["max_tokens"] > self.window:
            return status(
                400, f"This model's maximum context length is {self.window} tokens, however you requested more"
            )
        return None

    def _logprobs_of(self, call: Call, tokens: list[int], written: int) -> dict[str, Any]:
        values = [None, *self._logprobs([*tokens, written])]
        shown = [*tokens, written]
        if self.mode.startswith("llama.cpp"):
            entries = [{"id": t, "token": self._name(t), "logprob": v} for t, v in zip(shown, values, strict=True)]
            return {"content": entries[-1:] if self.mode == "llama.cpp silent" else entries}
        if self.mode == "llama-cpp-python":
            # The token that begins a text is left out; without one, values are those of a place before (its fault).
            shown, values = (shown[1:], values[1:]) if self._beginning else (tokens, self._misplaced(tokens))
            pairs = [(token, value) for token, value in zip(shown, values, strict=True) if [token] != self._beginning]
            shown, values = [token for token, _ in pairs], [None, *(value for _, value in pairs[1:])]
        names = [self._name(token) for token in shown]
        if call.body.get("return_tokens_as_token_ids") and self.mode == "vllm":
            names = [f"token_id:{token}" for token in shown]
        return {"tokens": names, "token_logprobs": values, "text_offset": [-1] * len(names)}

    def _distributions(self, tokens: list[int]) -> Any:
        import torch

        with torch.inference_mode():
            return self._model(input_ids=torch.tensor([tokens])).logits[0].double().log_softmax(-1)

    def _logprobs(self, tokens: list[int]) -> list[float]:
        distributions = self._distributions(tokens[:-1])
        return [float(distributions[place, token]) for place, token in enumerate(tokens[1:])]

    def _misplaced(self, tokens: list[int]) -> list[float]:
        distributions = self._distributions(tokens)
        return [float(distributions[place, token]) for place, token in enumerate(tokens)]

    def _greedy(self, tokens: list[int]) -> int:
        return int(self._distributions(tokens)[-1].argmax())

    def _numbers(self, text: str) -> list[int]:
        return self._tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]

    def _name(self, token: int) -> str:
        return self._tokenizer.decode([token])

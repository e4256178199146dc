"""Taking a causal model apart: what reads the tokens, and what makes logits of it for only some of them."""

from typing import Any, Final, Protocol

from .sequences import TOKENS_A_RUN

_PROBE: Final = 8  # tokens


class Parts(Protocol):
    """A causal model in two steps, so that the logits of a whole batch never stand in memory together."""

    @property
    def most(self) -> int:
        """How many tokens may go through the first step together, padding counted in."""
        ...

    def hidden(self, tokens: Any, mask: Any) -> Any:  # noqa: ANN401 - untyped library
        """What the second step makes logits of: shape (n, width, ...) for tokens and mask of shape (n, width)."""
        ...

    def logits(self, hidden: Any) -> Any:  # noqa: ANN401 - untyped library
        """Logits of shape (k, vocabulary) for k of the places of ``hidden``."""
        ...


def take_apart(model: Any) -> Parts:  # noqa: ANN401 - untyped library
    """The two steps of a causal model of transformers, which is changed and not to be called any more.

    It is tried out whether the steps give the model's own logits; where they don't, the first step makes all of them.
    """
    import torch

    tokens = torch.arange(_PROBE, device=model.device)[None] % model.get_input_embeddings().num_embeddings
    mask = torch.ones_like(tokens)
    with torch.inference_mode():
        wanted = model(input_ids=tokens, attention_mask=mask, use_cache=False).logits[0]
        for name, body in _bodies(model):
            try:
                parts = _InTwo(model, name, body)
                found = parts.logits(parts.hidden(tokens, mask)[0])
                if found.shape == wanted.shape and torch.allclose(found, wanted, rtol=1e-5, atol=1e-5):
                    return parts
            except Exception:  # noqa: BLE001, S110 - architectures are many; any that isn't built this way runs whole
                pass
            model.set_submodule(name, body)
    return _Whole(model)


def _bodies(model: Any) -> list[tuple[str, Any]]:  # noqa: ANN401 - untyped library
    """The parts of a model, by name, that may be all of it but what makes logits: its base, and its decoder (OPT)."""
    names = {id(module): name for name, module in model.named_modules()}
    found = [model.base_model, model.get_decoder() if hasattr(model, "get_decoder") else None]
    return [(names[id(body)], body) for body in found if names.get(id(body))]


class _InTwo:
    """The body of a model, and the model around it, which is given what the body made for some tokens.

    That keeps what a model does to its logits beside a multiplication: scaling, soft caps, biases.
    """

    most = TOKENS_A_RUN

    def __init__(self, model: Any, name: str, body: Any) -> None:  # noqa: ANN401 - untyped library
        import torch

        given: dict[str, Any] = {}

        class Given(torch.nn.Module):
            def forward(self, *_: object, **__: object) -> Any:  # noqa: ANN401 - untyped library
                return given["kind"](last_hidden_state=given["hidden"])

        self._body = body
        self._model = model
        self._given = given
        model.set_submodule(name, Given())

    def hidden(self, tokens: Any, mask: Any) -> Any:  # noqa: ANN401 - untyped library
        made = self._body(input_ids=tokens, attention_mask=mask, use_cache=False)
        self._given["kind"] = type(made)
        return made.last_hidden_state

    def logits(self, hidden: Any) -> Any:  # noqa: ANN401 - untyped library
        import torch

        self._given["hidden"] = hidden[None]
        unread = torch.ones(1, len(hidden), dtype=torch.int64, device=hidden.device)
        return self._model(input_ids=unread, attention_mask=unread, use_cache=False).logits[0]


class _Whole:
    """A model that can't be taken apart: the logits of all that goes through it stand in memory."""

    most = TOKENS_A_RUN // 8

    def __init__(self, model: Any) -> None:  # noqa: ANN401 - untyped library
        self._model = model

    def hidden(self, tokens: Any, mask: Any) -> Any:  # noqa: ANN401 - untyped library
        return self._model(input_ids=tokens, attention_mask=mask, use_cache=False).logits

    def logits(self, hidden: Any) -> Any:  # noqa: ANN401 - untyped library
        return hidden

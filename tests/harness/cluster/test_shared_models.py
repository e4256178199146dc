"""Local models that the workers of a node share: what they say is what a model of one's own says."""

import asyncio
from typing import Any

import numpy as np
import pytest
from proctor.knowledge import BatchingEmbedder, EmbedderSettings, open_encoder
from proctor.knowledge.models.batching import OPENER
from proctor.knowledge.models.support_model import open_support_model

pytest.importorskip("ray", reason="Ray is not installed: pip install 'proctor[ray]'")

from proctor.harness.cluster.shared_models import ModelsLost, NodeModels, opener

TEXTS = [f"The shop number {n} opens at {n % 12} and sells {'bikes ' * (n % 5)}" for n in range(40)]
PAIRS = [("When?", f"It opens at {n}.", f"The shop opens at {n % 3}.") for n in range(6)]


class Node:
    """Calls the actor's object in this program, as a worker calls the actor; it may be lost, or begin anew."""

    def __init__(self) -> None:
        self.models, self.is_lost, self.calls = NodeModels(2), False, []

    def __call__(self, method: str, *arguments: Any) -> Any:
        self.calls.append(method)
        if self.is_lost:
            raise ModelsLost
        return getattr(self.models, method)(*arguments)


def embedder(node: Node | None) -> BatchingEmbedder:
    settings = EmbedderSettings()
    token = OPENER.set(opener(node)) if node else None
    made = BatchingEmbedder(lambda: open_encoder(settings), settings.model_id)
    if token:
        OPENER.reset(token)
    return made


async def test_shared_models_say_what_a_model_of_ones_own_says():
    node = Node()
    one, first, second = embedder(None), embedder(node), embedder(node)
    wanted = await one.embed(TEXTS)
    for found in await asyncio.gather(first.embed(TEXTS), second.embed(TEXTS), first.embed_fresh(TEXTS)):
        np.testing.assert_allclose(found.vectors, wanted.vectors, atol=1e-6)
        assert (found.truncated == wanted.truncated).all()
    assert (await first.embed([])).vectors.shape == (await one.embed([])).vectors.shape
    tokens, own = await first.embed_tokens(TEXTS[:2]), await one.embed_tokens(TEXTS[:2])
    np.testing.assert_allclose(tokens[1].vectors, own[1].vectors, atol=1e-6)
    node.models = NodeModels(2)  # the actor began anew
    more = [f"{text} again" for text in TEXTS]
    wanted = await one.embed(more)
    np.testing.assert_allclose((await second.embed(more)).vectors, wanted.vectors, atol=1e-6)
    node.is_lost = True
    more = [f"{text} at last" for text in TEXTS]
    wanted = await one.embed(more)
    np.testing.assert_allclose((await second.embed(more)).vectors, wanted.vectors, atol=1e-6)
    assert node.calls.count("open") == 3  # by both, and once anew
    for each in (one, first, second):
        each.close()


@pytest.mark.parametrize("is_lost", [False, True])
async def test_a_model_is_looked_at_after_its_actor_was_lost_or_began_anew(is_lost):
    node = Node()
    one, other = embedder(None), embedder(node)
    await other.load()
    node.models, node.is_lost = NodeModels(2), is_lost
    assert (await other.embed([])).vectors.shape == (await one.embed([])).vectors.shape
    (found,), (wanted,) = await other.embed_tokens(TEXTS[:1]), await one.embed_tokens(TEXTS[:1])
    np.testing.assert_allclose(found.vectors, wanted.vectors, atol=1e-6)
    np.testing.assert_allclose(other.embed_now(TEXTS).vectors, one.embed_now(TEXTS).vectors, atol=1e-6)
    for each in (one, other):
        each.close()


async def test_the_support_model_is_shared():
    node = Node()
    own = open_support_model(1)
    token = OPENER.set(opener(node))
    shared = open_support_model(1)
    OPENER.reset(token)
    np.testing.assert_allclose(await shared.supports(PAIRS), await own.supports(PAIRS), atol=1e-5)
    assert "run" in node.calls
    shared.close()
    own.close()

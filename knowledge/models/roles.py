"""Roles: what local models are used for, and the default model of each role."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

Kind = Literal["classifier", "checker", "entailment", "language_model", "reranker", "similarity", "span_detector"]


@dataclass(frozen=True, slots=True)
class Role:
    """What one local model is wanted for.

    Attributes:
        name: what the role is called in a suite; metrics ask for ``<name>_model``. ``rerank`` is for bots alone.
        kind: what such a model does.
        model: the hub id of the model that takes it where none is named.
        revision: the commit of that model; None where it is not known, so that the newest is taken.
        megabytes: about how much is downloaded.
        licence: as the model's card states it.
        file: its weights, where the repository holds several models or has them under an unusual name.
    """

    name: str
    kind: Kind
    model: str
    revision: str | None
    megabytes: int
    licence: str
    file: str = ""

    @property
    def tool(self) -> str:
        """The name by which metrics ask for the model."""
        return f"{self.name}_model"


_ROLES: Final = (
    Role(
        "hallucination",
        "checker",
        "vectara/hallucination_evaluation_model",
        "8f6b0b5865cb7a6a09c299be3f788f91e22313b0",
        440,
        "Apache-2.0",
    ),
    Role(
        "perplexity",
        "language_model",
        "distilbert/distilgpt2",
        "2290a62682d06624634c1f46a6ad5be0f47f38aa",
        353,
        "Apache-2.0",
    ),
    Role(
        "gptscore",
        "language_model",
        "openai-community/gpt2-medium",
        "6dcaa7a952f72f9298047fd5137cd6e4f05f41da",
        1520,
        "MIT",
    ),
    Role(
        "toxicity",
        "classifier",
        "unitary/toxic-bert",
        "4d6c22e74ba2fdd26bc4f7238f50766b045a0d94",
        438,
        "Apache-2.0",
    ),
    Role("fairness_bias", "classifier", "d4data/bias-detection-model", None, 268, "not stated", "tf_model.h5"),
    Role("summac", "entailment", "tals/albert-xlarge-vitaminc-mnli", None, 235, "not stated"),
    Role(
        "minicheck",
        "checker",
        "lytang/MiniCheck-Flan-T5-Large",
        "96eafd01cee2d16cf81aaa2fb226b14f422a37b3",
        3130,
        "MIT",
    ),
    Role(
        "alignscore",
        "checker",
        "yzha/AlignScore",
        "8509e78d25bb914939fc585c626500c9b2944249",
        1967,
        "MIT",
        "AlignScore-base.ckpt",
    ),
    Role("lettucedetect", "span_detector", "KRLabsOrg/lettucedect-base-modernbert-en-v1", None, 600, "MIT"),
    Role("similarity", "similarity", "cross-encoder/stsb-distilroberta-base", None, 329, "Apache-2.0"),
    Role("rerank", "reranker", "cross-encoder/ms-marco-MiniLM-L6-v2", None, 91, "Apache-2.0"),
)
ROLES: Final[Mapping[str, Role]] = MappingProxyType({role.name: role for role in _ROLES})

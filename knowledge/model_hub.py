"""HuggingFaceHub: finds a model in the local cache of the Hugging Face hub, or brings it there."""

import os
import socket
import threading
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from .. import InputError

_PROBE_SECONDS = 1.5
# No Python files: code that comes with a model is never run, so it is not even brought here.
_WANTED_FILES = ["*.json", "*.txt", "*.model", "*.jinja"]
_UNWANTED_FILES = ["onnx/*", "openvino/*", "coreml/*", "*/openvino/*", "*training*"]


class Hub(Protocol):
    """Where models that are named, not given as a folder, come from."""

    def cached(self, model: str, revision: str | None) -> Path | None:
        """The folder of the model when it lies on this machine, whole; the folder's name is the commit."""
        ...

    def reachable(self) -> bool:
        """Whether it is worth trying a download; answers within about 1.5 s."""
        ...

    def download(self, model: str, revision: str | None) -> Path | None:
        """Bring the model here. None when the hub can't be reached; InputError when it has no such model."""
        ...


class HuggingFaceHub:
    """The hub at huggingface.co, or at ``HF_ENDPOINT``; ``cache`` overrides where its library keeps models."""

    def __init__(self, environ: Mapping[str, str] | None = None, cache: Path | None = None) -> None:
        self._environ = os.environ if environ is None else environ
        self._cache = cache

    def cached(self, model: str, revision: str | None) -> Path | None:
        """The newest commit of the model in the cache, if it is complete."""
        from huggingface_hub import snapshot_download

        try:
            found = snapshot_download(model, revision=revision, cache_dir=self._cache, local_files_only=True)
        except Exception:  # noqa: BLE001 - the library has many ways to say that it isn't there
            return None
        folder = Path(found)
        return folder if _is_complete(folder) else None

    def reachable(self) -> bool:
        """Whether a connection can be opened to the hub, or to the proxy before it, in 1.5 s."""
        if self._environ.get("HF_HUB_OFFLINE", "").upper() in {"1", "ON", "YES", "TRUE"}:
            return False
        host, port = self._way_out()
        opened = threading.Event()

        def probe() -> None:
            try:
                socket.create_connection((host, port), timeout=_PROBE_SECONDS).close()
            except OSError:
                return
            opened.set()

        # In a thread of its own, because looking a name up has no time limit.
        threading.Thread(target=probe, daemon=True).start()
        return opened.wait(_PROBE_SECONDS)

    def download(self, model: str, revision: str | None) -> Path | None:
        """Bring the safetensors weights, or the older format where there is nothing else."""
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import RepositoryNotFoundError, RevisionNotFoundError

        for weights in ("*.safetensors", "*.bin"):
            try:
                found = snapshot_download(
                    model,
                    revision=revision,
                    cache_dir=self._cache,
                    allow_patterns=[*_WANTED_FILES, weights],
                    ignore_patterns=_UNWANTED_FILES,
                )
            except (RepositoryNotFoundError, RevisionNotFoundError) as error:
                at = f" at revision '{revision}'" if revision else ""
                raise InputError(
                    f"The Hugging Face hub shows no model '{model}'{at}: it is misspelt, or private "
                    "(then set HF_TOKEN), or gated (then accept its terms on its page)."
                ) from error
            except Exception:  # noqa: BLE001 - a network can fail in many ways, and the caller has another model
                return None
            if _is_complete(Path(found)):
                return Path(found)
        raise InputError(f"The model '{model}' on the Hugging Face hub has no weights that can be loaded.")

    def _way_out(self) -> tuple[str, int]:
        endpoint = urlsplit(self._environ.get("HF_ENDPOINT") or "https://huggingface.co")
        host = endpoint.hostname or "huggingface.co"
        proxy = urllib.request.getproxies().get(endpoint.scheme, "")
        if proxy and not urllib.request.proxy_bypass(host):
            endpoint = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
        return endpoint.hostname or host, endpoint.port or (443 if endpoint.scheme == "https" else 80)


def _is_complete(folder: Path) -> bool:
    weights = [*folder.rglob("*.safetensors"), *folder.rglob("pytorch_model*.bin")]
    return bool(weights) and ((folder / "modules.json").is_file() or (folder / "config.json").is_file())

"""One place for how models run and how language models are asked."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from grammeter import core, llm, models


@core.checked
@contextmanager
def using(
    runtime: models.Runtime | None = None, endpoint: llm.Endpoint | None = None,
    *, device: str | None = None, dtype: models.Dtype | None = None,
    batch_tokens: int | None = None, cache_dir: str | Path | None = None,
    download: bool | None = None, backend: llm.Backend | None = None,
    read: llm.Reading | None = None, base_url: str | None = None, key_variable: str | None = None,
    concurrency: int | None = None, requests_per_minute: float | None = None,
    tokens_per_minute: float | None = None, timeout: float | None = None,
    patience: float | None = None, attempts: int | None = None, max_output: int | None = None,
    max_cost: float | None = None, max_requests: int | None = None, max_tokens: int | None = None,
    temperature: float | None = None, top_p: float | None = None, system_message: str | None = None,
    structured: llm.Structured | None = None, body: Mapping[str, Any] | str | None = None,
    offline: bool | None = None, prices: str | Path | None = None,
) -> Generator[models.Runtime]:  # fmt: skip
    """Run all models inside the block, and ask language models, with these settings.

    ::

        with gm.using(device="cuda", base_url="http://localhost:8000/v1", max_requests=100):
            table = gm.score(corpus, ["impara", "llm-s(model=NAME)"])

    A thread that is started inside does not inherit them. Yields the settings of models, whose
    ``tally`` counts their work. Raises :class:`UsageError` if a value is invalid, or at once if the
    folder ``cache_dir`` is not writable.

    Parameters
    ----------
    runtime, endpoint
        Settings as values; default: those of the enclosing block, else the defaults of
        :class:`~grammeter.models.Runtime` and :class:`~grammeter.llm.Endpoint`.
    device, dtype, batch_tokens, download
        Change a field of ``runtime``; ``None``: no change.
    backend, read, base_url, key_variable, concurrency, requests_per_minute, tokens_per_minute, \
timeout, patience, attempts, max_output, max_cost, max_requests, max_tokens, temperature, top_p, \
system_message, structured, body, offline, prices
        Change a field of ``endpoint``; ``None``: no change.
    cache_dir
        Changes both: one folder holds the figures of models and the replies of language models.
    """
    settings = {name: value for name, value in locals().items() if value is not None}
    runtime = runtime or models.current()
    if for_models := fields_among(settings, models.Runtime):
        runtime = replace(runtime, **for_models, tally=models.Tally())
    endpoint = endpoint or llm.current()
    if for_judges := fields_among(settings, llm.Endpoint):
        endpoint = replace(endpoint, **for_judges)
    with models.using(runtime), llm.using(endpoint):
        yield runtime


def fields_among(options: Mapping[str, Any], kind: Any) -> dict[str, Any]:
    """Return the options that are fields of a dataclass."""
    names = {field.name for field in fields(kind)}
    return {name: value for name, value in options.items() if name in names}

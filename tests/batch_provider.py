"""What a provider of the batch API does: request files in, result and error files out."""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path

from scripted_endpoint import completion, good

_ids = count(1)


def asked(folder):
    """Return the requests in a folder by ``custom_id``."""
    paths = sorted(Path(folder).glob("requests-*.jsonl"))
    lines = [json.loads(line) for path in paths for line in path.read_text("utf-8").splitlines()]
    assert all(line["method"] == "POST" for line in lines)
    assert all(line["url"] == "/v1/chat/completions" for line in lines)
    assert all(len(line["custom_id"]) <= 64 for line in lines)
    by_id = {line["custom_id"]: line["body"] for line in lines}
    assert len(by_id) == len(lines)
    return by_id


def prompt_in(body):
    return body["messages"][-1]["content"]


def answered(name, body, text=None, *, unique=True):
    """Return a result with a good reply, or with this text."""
    reply = json.loads(completion(good(prompt_in(body)) if text is None else text).body)
    if unique:
        reply["id"] = f"chatcmpl-{next(_ids)}"
    response = {"status_code": 200, "request_id": "r", "body": reply}
    return {"id": "batch_req_1", "custom_id": name, "response": response, "error": None}


def refused(name, status, message, **error):
    """Return a line of an error file with a response."""
    response = {"status_code": status, "body": {"error": {"message": message, **error}}}
    return {"id": "batch_req_2", "custom_id": name, "response": response, "error": None}


def expired(name):
    """Return a line of an error file without a response."""
    error = {"code": "batch_expired", "message": "This request could not be executed in time."}
    return {"id": "batch_req_3", "custom_id": name, "response": None, "error": error}


def put(folder, name, results):
    path = Path(folder) / name
    path.write_text("".join(json.dumps(result) + "\n" for result in results), "utf-8")
    return path


def answer_all(folder, name="output.jsonl", **more):
    """Answer all requests of a folder, the last one first."""
    results = [answered(*request, **more) for request in asked(folder).items()]
    return put(folder, name, reversed(results))

"""The Ray engine: the rows of the local one, whatever happens to its actors.

One cluster of this process serves all tests: starting one takes seconds.
"""

import json
import logging
import os
import socket
import warnings

import dying
import pytest
from made_rows import made_rows, read_rows, write_rows
from made_rows import run as run_here

from grammeter.cli.main import main
from grammeter.core import DataError, RemoteError, UsageError
from grammeter.engine import ray as engine

pytestmark = [
    pytest.mark.slow,
    # warnings of Ray's own threads and files are no concern of ours
    pytest.mark.filterwarnings("ignore"),
]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """A cluster of two processors, whose processes find the tests' modules."""
    ray = pytest.importorskip("ray", reason="extra ray is not installed")
    flags = tmp_path_factory.mktemp("flags")
    variables = {
        "PYTHONPATH": os.pathsep.join(
            [os.path.dirname(__file__), os.environ.get("PYTHONPATH", "")]
        ),
        dying.FLAG: str(flags / "flag"),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ray.init(
            num_cpus=2,
            include_dashboard=False,
            log_to_driver=False,
            logging_level=logging.ERROR,
            runtime_env={"env_vars": variables},
        )
        yield flags / "flag"
        ray.shutdown()


def run(names, folder, job=None, **ray):
    return run_here(names, folder, job, block=7, engine="ray", **ray)


def test_rows_are_those_of_the_local_engine(cluster, tmp_path):
    rows = made_rows(60)
    rows[5]["hypothesis"] = None
    names = write_rows(tmp_path / "in", rows, shards=4)
    job = {"metrics": ("gleu", "errant(pipeline=neutral)"), "reference": ("reference",),
              "edits": "list", "keep": "gleu > 0.2"}  # fmt: skip
    local = run_here(names, tmp_path / "local", job)
    result = run(names, tmp_path / "ray", job)
    assert read_rows(tmp_path / "ray") == read_rows(tmp_path / "local")
    assert result.totals == local.totals
    assert result.faults == local.faults
    for name in ("manifest.json", "errors/part-1.jsonl.tsv"):
        assert (tmp_path / "ray" / name).read_text() == (tmp_path / "local" / name).read_text()


def test_the_other_engine_goes_on_with_the_run(cluster, tmp_path, monkeypatch):
    names = write_rows(tmp_path / "in", made_rows(30), shards=3)
    monkeypatch.chdir(tmp_path)  # relative names hold where actors stand elsewhere
    relative = [os.path.relpath(name) for name in names]
    run_here(relative[:1], "out")
    result = run(relative, "out")
    assert result.earlier == ["part-0.jsonl"]
    run_here(names, tmp_path / "whole")
    assert read_rows(tmp_path / "out") == read_rows(tmp_path / "whole")
    assert run(relative, "out").fresh == 0


def test_a_killed_actor_takes_nothing_along(cluster, tmp_path, monkeypatch):
    names = write_rows(tmp_path / "in", made_rows(40), shards=4)
    run_here(names, tmp_path / "whole")
    monkeypatch.setattr(engine, "_Worker", dying.Worker)
    run(names, tmp_path / "out", jobs=2)
    assert cluster.exists()
    assert read_rows(tmp_path / "out") == read_rows(tmp_path / "whole")
    assert not list((tmp_path / "out").glob("*.partial"))


def test_no_room_for_a_worker_is_told(cluster, tmp_path):
    names = write_rows(tmp_path / "in", made_rows(4))
    with pytest.raises(UsageError, match=r"room for 0 workers of 0\.5 and 1"):
        run(names, tmp_path / "out", gpus_per_worker=1.0)
    with pytest.raises(UsageError, match="2 processors and 0 GPUs: room for 3 workers"):
        run(names, tmp_path / "out", jobs=4)
    with pytest.raises(UsageError, match="-1"):
        run(names, tmp_path / "out", gpus_per_worker=-1.0)


def test_a_fault_of_an_actor_is_our_own_error(cluster, tmp_path):
    names = write_rows(tmp_path / "in", made_rows(40), shards=2)
    with open(names[1], "w", encoding="utf-8") as file:
        file.write(json.dumps({"src": "a", "hypothesis": "a"}) + "\n")
    with pytest.raises(DataError, match=r"part-1\.jsonl: no column 'source'"):
        run(names, tmp_path / "out")
    assert not (tmp_path / "out" / "part-1.jsonl").exists()


def test_a_mistake_in_an_actor_is_told(cluster, tmp_path, monkeypatch):
    names = write_rows(tmp_path / "in", made_rows(4))
    monkeypatch.setattr(engine, "_Worker", dying.Faulty)
    with pytest.raises(RemoteError, match="ZeroDivisionError: a mistake"):
        run(names, tmp_path / "out")


def test_a_cluster_that_is_not_there(tmp_path, monkeypatch):
    ray = pytest.importorskip("ray", reason="extra ray is not installed")

    def unreachable(**options):
        raise ConnectionError("nobody answers")

    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", unreachable)
    monkeypatch.setattr(ray, "shutdown", lambda: None)
    names = write_rows(tmp_path / "in", made_rows(4))
    with pytest.raises(RemoteError, match="nobody answers"):
        run(names, tmp_path / "out", address="auto")


@pytest.mark.parametrize("address", ["127.0.0.1:{}", "ray://127.0.0.1:{}", "127.0.0.1:123456"])
def test_an_address_where_nobody_answers_is_told_at_once(tmp_path, monkeypatch, address):
    ray = pytest.importorskip("ray", reason="extra ray is not installed")
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", None)  # it would go on asking for minutes
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    names = write_rows(tmp_path / "in", made_rows(4))
    with pytest.raises(RemoteError, match="no Ray cluster at"):
        run(names, tmp_path / "out", address=address.format(port))


def test_the_command_line(cluster, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_rows(tmp_path / "in", made_rows(20), shards=2)
    command = ["batch", "in/*.jsonl", "-m", "gleu", "--reference", "reference", "-o"]
    capsys.readouterr()
    assert main([*command, "ray", "--engine", "ray", "--jobs", "1", "--format", "json"]) == 0
    message = json.loads(capsys.readouterr().out)
    assert message["rows"] == 20
    assert list(message["shards"]) == ["part-0.jsonl", "part-1.jsonl"]
    assert main([*command, "local"]) == 0
    assert read_rows(tmp_path / "ray") == read_rows(tmp_path / "local")

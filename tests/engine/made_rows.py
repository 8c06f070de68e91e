"""Invented rows, and folders of them."""

import json
import random

import grammeter as gm

WORDS = ["the", "a", "cat", "dogs", "see", "sees", "house", "to", "go", "went", "on", ",", "."]


def made_rows(count, seed=1):
    """Return rows with a source, a hypothesis and a reference near each other."""
    generator = random.Random(seed)

    def near(words):
        return [w if generator.random() > 0.2 else generator.choice(WORDS) for w in words]

    rows = []
    for number in range(count):
        source = generator.choices(WORDS, k=generator.randint(1, 12))
        rows.append(
            {
                "id": number,
                "source": " ".join(source),
                "hypothesis": " ".join(near(source)),
                "reference": " ".join(near(source)),
            }
        )
    return rows


def write_rows(folder, rows, shards=1):
    """Write rows as so many files of JSON lines; return their names."""
    folder.mkdir(parents=True, exist_ok=True)
    names = []
    for at in range(shards):
        name = folder / f"part-{at}.jsonl"
        lines = (json.dumps(row) + "\n" for row in rows[at::shards])
        name.write_text("".join(lines), "utf-8")
        names.append(str(name))
    return names


def read_rows(folder):
    """Return the rows of all JSON lines of a folder, in the order of their files."""
    return [
        json.loads(line)
        for path in sorted(folder.glob("*.jsonl"))
        for line in path.read_text("utf-8").splitlines()
    ]


JOB = {"metrics": ("gleu",), "reference": ("reference",)}


def run(names, folder, job=None, **more):
    """Score rows into a folder, by default with GLEU and one reference."""
    return gm.batch(names, output=folder, **(job or JOB), **more)

"""Ratings of outputs, a number for each criterion: the value, and its checks.

:mod:`grammeter.formats.rating_files` reads files into rows; here they become one value.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, cast

from grammeter import core
from grammeter.formats import judged, numbering, tables


class RatingRow(NamedTuple):
    """A rating as a file has it; a ``segment`` that is a text is the name of a sentence."""

    judge: str
    segment: int | str
    systems: tuple[str, ...]
    criterion: str
    score: float | None
    scale: core.Scale | None
    origin: str


@dataclass(frozen=True)
class RatingFile:
    """The rows of one file.

    ``missing`` is the score that its format has for "cannot say"; ``texts`` are those that it
    holds, by segment, and system ("" for the source). In a file that ``repeats`` outputs, one judge
    may rate an output several times.
    """

    where: str
    rows: Sequence[RatingRow]
    missing: float | None = None
    texts: Mapping[tuple[int, str], str] = field(default_factory=dict[tuple[int, str], str])
    repeats: bool = False
    notices: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Ratings(judged.Rows[core.Rating]):
    """The ratings of one or more files, in their order; itself a sequence of them.

    - ``ratings``: all of them, missing scores too.
    - ``scales``: least and largest score of each criterion, as the files say or as seen.
    - ``files``: as of :class:`Judgments`.
    """

    _over, _what = "ratings", "ratings"
    ratings: tuple[core.Rating, ...]
    scales: Mapping[str, core.Scale]
    files: tuple[judged.JudgmentFile, ...] = ()

    @property
    def criteria(self) -> tuple[str, ...]:
        """The criteria, in the order of the files."""
        return tuple(self.scales)

    def with_criterion(self, criterion: str | None = None) -> "Ratings":
        """Return the ratings for one criterion; ``mean``: of all, see :func:`core.mean_ratings`.

        Without a name it is the only one; UsageError if there are several.
        """
        names: Sequence[str] = self.criteria
        if criterion is None and len(names) > 1:
            fix = f"Add --criterion NAME (criterion=), one of {', '.join(names)}, or mean of them."
            raise core.UsageError("these are ratings for several criteria", fix=fix)
        name = next(iter(names), core.MEAN) if criterion is None else criterion
        if name == core.MEAN and name not in names:
            rows = core.mean_ratings(self.ratings, self.scales)
        else:
            core.UnknownNameError.check("criterion", name, (*names, core.MEAN))
            rows = [(at, of) for at, of in enumerate(self.ratings) if of.criterion == name]
        origins = tuple(self.origins[at] for at, _ in rows) if self.origins else ()
        scales = {name: self.scales.get(name, (0.0, 1.0))}
        return replace(self, ratings=tuple(of for _, of in rows), scales=scales, origins=origins)

    def rankings(self, criterion: str | None = None) -> judged.Judgments:
        """Return each judge's ratings of a sentence as one ranking: higher is better.

        Equal scores tie; missing scores have no place. Scores of different judges never meet.
        """
        chosen = self.with_criterion(criterion)
        origins = chosen.origins or ("",) * len(chosen)
        items: dict[tuple[str, int, int], list[tuple[core.Rating, str]]] = {}
        for rating, origin in zip(chosen, origins, strict=True):
            if rating.score is not None:
                key = rating.judge, rating.segment, rating.turn
                items.setdefault(key, []).append((rating, origin))
        rankings: list[core.Ranking] = []
        for (judge, segment, _), rows in items.items():
            scores = tuple(rating.score or 0.0 for rating, _ in rows)
            order = sorted({*scores}, reverse=True)
            shown: Any = {"groups": tuple(rating.systems for rating, _ in rows), "scores": scores}
            shown["ranks"] = tuple(order.index(score) + 1 for score in scores)
            with tables.placed(rows[0][1]):
                rankings.append(core.Ranking(judge=judge, segment=segment, **shown))
        places = tuple(rows[0][1] for rows in items.values())
        name = next(iter(chosen.scales), "")
        note = f"a judge's ratings of a sentence for {name} are one ranking"
        said: Any = {"origins": places, "notices": self.notices}
        said["notes"] = (*self.notes, f"{note}; missing scores have no place")
        return judged.Judgments(tuple(rankings), self.files, **said)


# --- rows to ratings -----------------------------------------------------------------------
def join_ratings(
    files: Sequence[RatingFile], evidence: numbering.Evidence,
    *, missing_score: float | None = None, scale: core.Scale | None = None,
) -> Ratings:  # fmt: skip
    """Make one value of the rows of all files; options as of ``read_judgments``.

    A judge's files without a common source are parts of one set: the sentences of the later ones
    are counted on. Raises :class:`DataError` with file and line: a score outside its scale, a
    criterion with two scales, an output that a judge rated twice with different scores, texts that
    differ.
    """
    files = [*_in_sequence(files)]
    _check_texts(files, evidence)
    numbers = _numbers(files)
    declared, notes = _declared(files, scale)
    ratings: list[core.Rating] = []
    origins: list[str] = []
    doubled, coded = Counter[str](), Counter[float]()
    seen: dict[tuple[str, int, str, str], tuple[core.Rating, str]] = {}
    for file in files:
        code = file.missing if missing_score is None else missing_score
        for row in file.rows:
            score = None if row.score == code else row.score
            coded[row.score or 0.0] += score is not row.score
            segment = row.segment if isinstance(row.segment, int) else numbers[row.segment]
            keys = [(row.judge, segment, system, row.criterion) for system in row.systems]
            turns = [seen[key][0].turn + 1 for key in keys if file.repeats and key in seen]
            systems = tuple(sorted(row.systems))
            with tables.placed(row.origin):
                of = row.judge, segment, systems, row.criterion, score
                rating = core.Rating(*of, max(turns, default=0))
                _check_score(score, declared.get(row.criterion))
                evidence.check([systems], segment)
                if not file.repeats and any(_is_doubled(rating, seen.get(key)) for key in keys):
                    doubled[file.where] += 1
                    continue
            seen |= dict.fromkeys(keys, (rating, row.origin))
            ratings.append(rating)
            origins.append(row.origin)
    notices = [notice for file in files for notice in file.notices]
    notices += [f"{where}: {n} ratings that stand there twice" for where, n in doubled.items()]
    if numbers:
        notices.append(f"{len(numbers)} sentences have names: numbered as they first appear")
    notes += [note for file in files for note in file.notes]
    notes += _code_notes(coded, missing_score, declared, len(ratings))
    scales: dict[str, core.Scale] = {}
    for name in dict.fromkeys(rating.criterion for rating in ratings):
        given = [r.score for r in ratings if r.criterion == name and r.score is not None]
        scales[name] = declared.get(name, (min(given, default=0.0), max(given, default=0.0)))
    spans = [f"{n} {lo:g}-{hi:g}" for n, (lo, hi) in scales.items() if n not in declared]
    notices += [f"no scale is named; taken from the scores: {', '.join(spans)}"] if spans else []
    forms = tuple(judged.JudgmentFile(form="jsonl") for _ in files)
    said: Any = {"notices": tuple(notices), "notes": tuple(dict.fromkeys(notes))}
    return Ratings(tuple(ratings), scales, forms, origins=tuple(origins), **said)


def _in_sequence(files: Sequence[RatingFile]) -> Iterator[RatingFile]:
    """Count the sentences of a file on if its judge rated other sentences in a file before."""
    firsts: dict[str, int] = {}  # of a source: how many sentences stand before those of its file
    judges: set[str] = set()
    last = 0
    for file in files:
        sources = [text for (_, system), text in file.texts.items() if not system]
        raters = {row.judge for row in file.rows}
        further = last if sources and judges & raters else 0
        first = next((firsts[text] for text in sources if text in firsts), further)
        firsts = dict.fromkeys(sources, first) | firsts
        judges |= raters
        last = max([last, *(number + first for number, _ in file.texts)])
        if not first:
            yield file
            continue
        note = f"{file.where}: its sentences are counted from {first + 1}, behind other files"
        rows = [row._replace(segment=cast("int", row.segment) + first) for row in file.rows]
        texts = {(number + first, name): text for (number, name), text in file.texts.items()}
        yield replace(file, rows=rows, texts=texts, notes=(*file.notes, note))


def _numbers(files: Sequence[RatingFile]) -> dict[str, int]:
    """Return numbers, from 1, for sentences that have names."""
    named = list(dict.fromkeys(row.segment for file in files for row in file.rows))
    names = [name for name in named if isinstance(name, str)]
    if names and len(names) < len(named):
        fault = f"some ratings number their sentences, others name them ({names[0]!r})"
        raise core.UsageError(fault, fix="Write numbers from 1 everywhere.")
    return {name: number for number, name in enumerate(names, start=1)}


def _check_texts(files: Sequence[RatingFile], evidence: numbering.Evidence) -> None:
    """Raise :class:`DataError` if files, or a file and the outputs, have different texts."""
    texts: dict[tuple[int, str], str] = {}
    for file in files:
        for key, text in file.texts.items():
            segment, system = key
            with tables.placed(file.where):
                if system in evidence.texts:
                    evidence.check([[system]], segment, text)
            if texts.setdefault(key, text) != text:
                what = f"the output of {system}" if system else "the source"
                fault = f"sentence {segment}: {what} is another text than elsewhere"
                fix = "Files that are read together must be of the same sentences."
                raise core.DataError(fault, where=file.where, fix=fix)


def _declared(
    files: Sequence[RatingFile], scale: core.Scale | None
) -> tuple[dict[str, core.Scale], list[str]]:
    """Return the scale of each criterion that has one."""
    declared: dict[str, core.Scale] = {}
    rows = [row for file in files for row in file.rows]
    for row in rows:
        if row.scale and declared.setdefault(row.criterion, row.scale) != row.scale:
            (low, high), (least, most) = row.scale, declared[row.criterion]
            fault = f"{row.criterion} has the scale {low:g}-{high:g}, and above {least:g}-{most:g}"
            raise core.DataError(fault, where=row.origin, fix="Give a criterion one scale.")
    if scale is None:
        return declared, []
    if other := next((name for name, of in declared.items() if of != scale), None):
        low, high = declared[other]
        fault = f"--scale: the file itself says {low:g}-{high:g} for {other}"
        raise core.UsageError(fault, fix="Leave out --scale (scale=).")
    criteria = {row.criterion for row in rows}
    idle = ["--scale (scale=) had no effect: the files say it"] if criteria <= {*declared} else []
    return dict.fromkeys(criteria, scale), idle


def _check_score(score: float | None, scale: core.Scale | None) -> None:
    if score is not None and scale and not scale[0] <= score <= scale[1]:
        fault = f"the score {score:g} lies outside its scale, {scale[0]:g} to {scale[1]:g}"
        fix = f"Correct it; if it means that there is none: --missing-score {score:g}."
        raise core.DataError(fault, fix=fix)


def _is_doubled(rating: core.Rating, earlier: tuple[core.Rating, str] | None) -> bool:
    """Whether a rating stood there before; DataError if it was another one."""
    if earlier is None or earlier[0] == rating:
        return earlier is not None
    before, origin = earlier
    fault = f"{rating.judge} rated the output of {before.systems} for {rating.criterion} before"
    fault += f", as {before.score} ({origin}), now as {rating.score} that of {rating.systems}"
    raise core.DataError(fault, fix="Keep one of the two.")


def _code_notes(
    coded: Mapping[float, int], missing: float | None, scales: Mapping[str, core.Scale], total: int
) -> Iterator[str]:
    """Say how many scores are the code of a missing one."""
    for code, count in coded.items():
        if count:
            inside = any(low <= code <= high for low, high in scales.values())
            odd = ", although it lies in the scale" if inside else ""
            yield f"{count} of {total} scores are {code:g}: taken as missing, not as a number{odd}"
    if missing is not None and not coded[missing]:
        yield f"--missing-score {missing:g} (missing_score=) had no effect: no score is {missing:g}"

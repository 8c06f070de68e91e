"""Text of a document laid back on its source sentences, whose boundaries it does not have."""

import unicodedata
from collections.abc import Sequence, Set
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

GAP = 1_000_000
"""Cost of inserting or deleting a token; costs are whole numbers, so that ties are exact."""

_CASE, _LEAST, _MOST = GAP // 10, GAP * 3 // 10, 2 * GAP
_LONGEST = 64  # characters of a token that are compared
_Array = Any  # of numpy, whose stubs say nothing of most operations here


def laid_back(tokens: Sequence[str], sentences: Sequence[Sequence[str]]) -> list[list[str]]:
    """Cut a document's tokens into as many parts as its source has sentences; none is lost.

    Both are aligned at the least cost and cut where the path crosses a boundary of the source.
    To insert or delete costs 1; to replace, nothing if tokens are equal, .1 if all but their case
    is, 2 a word by punctuation, else .3 and 1.7 times the edit distance as a share of the longer
    token. Of tokens inserted at a boundary, punctuation up to the first opening quote or bracket
    goes to the sentence before. Of a token 64 characters are compared.
    """
    source = [token for sentence in sentences for token in sentence]
    first, last = _crossings(source, tokens)
    pairs = {*"“‘"} if {*"„‚"} & {*tokens} else set[str]()
    cuts = [0]
    for end in [*accumulate(map(len, sentences))][:-1]:
        cut = max(first[end], cuts[-1])
        while cut < last[end] and _closes(tokens[cut], pairs):
            cut += 1
        cuts.append(cut)
    return [list(tokens[a:b]) for a, b in pairwise([*cuts, len(tokens)])]


def replacement_costs(one: Sequence[str], other: Sequence[str]) -> _Array:
    """Return the cost of each token of the second for each of the first, in parts of ``GAP``."""
    lengths = [np.minimum([*map(len, tokens)], _LONGEST) for tokens in (one, other)]
    longer = np.maximum(lengths[0][:, None], lengths[1])
    costs = np.minimum(_LEAST + 17 * GAP * _distances(one, other) // (10 * longer), _MOST)
    words = [np.array([_is_word(token) for token in tokens]) for tokens in (one, other)]
    costs[words[0][:, None] != words[1]] = _MOST
    forms = [np.array(tokens, object) for tokens in (one, other)]
    small = [np.array([token.casefold() for token in tokens], object) for tokens in (one, other)]
    costs[small[0][:, None] == small[1]] = _CASE
    costs[forms[0][:, None] == forms[1]] = 0
    return costs


def _crossings(source: Sequence[str], tokens: Sequence[str]) -> tuple[list[int], list[int]]:
    """Return how many tokens the cheapest path has before and behind each gap of the source."""
    first, last = [0] * (len(source) + 1), [0] * (len(source) + 1)
    i, j = len(source), len(tokens)
    moves = _moves(source, tokens)
    first[i] = last[i] = j
    while i or j:
        move = moves[i][j]
        i, j = i - (move != 2), j - (move != 1)
        first[i], last[i] = j, last[i] if move == 2 else j
    return first, last


def _moves(source: Sequence[str], tokens: Sequence[str]) -> _Array:
    """Return the last step of the cheapest path to each point: 0 replace, 1 delete, 2 insert."""
    ours, theirs = ({t: n for n, t in enumerate(dict.fromkeys(x))} for x in (source, tokens))
    moves = np.full((len(source) + 1, len(tokens) + 1), 2, np.int8)
    moves[:, 0] = 1
    if not ours or not theirs:
        return moves
    costs = replacement_costs([*ours], [*theirs])[:, [theirs[token] for token in tokens]]
    steps = GAP * np.arange(len(tokens) + 1)
    row = steps
    for i, token in enumerate(source, 1):
        replaced, deleted = row[:-1] + costs[ours[token]], row + GAP
        best = deleted.copy()
        np.minimum(best[1:], replaced, out=best[1:])
        row = np.minimum.accumulate(best - steps) + steps
        moves[i, row == deleted] = 1
        moves[i, 1:][row[1:] == replaced] = 0
    return moves


def _distances(one: Sequence[str], other: Sequence[str]) -> _Array:
    """Return the Levenshtein distances of all pairs, by bit vectors (Hyyrö 2003)."""
    one, other = ([token[:_LONGEST] for token in tokens] for tokens in (one, other))
    letters = {letter: n for n, letter in enumerate({*"".join(one), *"".join(other)}, 1)}
    codes = np.zeros((len(other), max(map(len, other))), int)
    for row, token in zip(codes, other, strict=True):
        row[: len(token)] = [letters[letter] for letter in token]
    places = np.zeros((len(one), len(letters) + 1), np.uint64)
    for row, token in zip(places, one, strict=True):
        for n, letter in enumerate(token):
            row[letters[letter]] |= np.uint64(1 << n)
    lengths = np.array([*map(len, one)])[:, None]
    bit, end = np.uint64(1), (lengths - 1).astype(np.uint64)
    distances = np.repeat(lengths, len(other), axis=1)
    more, fewer = ~np.zeros(distances.shape, np.uint64), np.zeros(distances.shape, np.uint64)
    for column in codes.T:
        equal = places[:, column]
        same = (((equal & more) + more) ^ more) | equal | fewer
        up, down = fewer | ~(same | more), more & same
        change = (up >> end & bit).astype(int) - (down >> end & bit).astype(int)
        distances += np.where(column > 0, change, 0)
        up, down = up << bit | bit, down << bit
        more, fewer = down | ~(same | up), up & same
    return distances


def _is_word(token: str) -> bool:
    return any(character.isalnum() for character in token)


def _closes(token: str, pairs: Set[str]) -> bool:
    """Whether it is punctuation that ends rather than begins; after „low“ quotes, high ones end."""
    opens = unicodedata.category(token[0]) in ("Ps", "Pi") and token[0] not in pairs
    return not _is_word(token) and not opens

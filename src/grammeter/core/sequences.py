"""What two sequences have in common, by bit vectors (Hyyrö 2004)."""

from collections.abc import Sequence


def bit_places(source: Sequence[str]) -> tuple[dict[str, int], int]:
    """Return for each token the bits of its positions, and the bits of all positions."""
    matches: dict[str, int] = {}
    for position, token in enumerate(source):
        matches[token] = matches.get(token, 0) | (1 << position)
    return matches, (1 << len(source)) - 1


def common_subsequence(first: Sequence[str], second: Sequence[str]) -> int:
    """Return the length of the longest common subsequence."""
    places, everything = bit_places(first)
    unmatched = everything
    for token in second:
        met = unmatched & places.get(token, 0)
        unmatched = ((unmatched + met) | (unmatched - met)) & everything
    return len(first) - unmatched.bit_count()


def letter_distance(first: str, second: str) -> float:
    """Return the share of code points to delete and insert, 0 to 1; 0 for two empty strings."""
    total = len(first) + len(second)
    return (total - 2 * common_subsequence(first, second)) / total if total else 0.0

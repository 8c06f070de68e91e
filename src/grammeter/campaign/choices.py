"""The words that a campaign database holds; without Django."""

from enum import StrEnum

NAME_LENGTH = 200
COMMAND_LINE = "command line"  # the actor of shell commands, which need no account


class Strategy(StrEnum):
    """How items come to judges."""

    PLANNED = "planned"  # each judge has a list of their own
    POOL = "pool"  # all judges draw from one pool
    ADAPTIVE = "adaptive"  # judges get what tells most about the ranking


class Task(StrEnum):
    """What judges do."""

    RANKING = "ranking"  # rank whole corrections
    EDITS = "edits"  # judge each edit, then rank
    MARKS = "marks"  # judge each edit
    BEST_WORST = "best-worst"  # choose the best and the worst correction
    RATING = "rating"  # rate each correction by criteria, on scales with a text for each point
    DIRECT = "direct"  # rate each correction from 0 to 100
    POST_EDIT = "post-edit"  # correct what is still wrong in each correction


class Kind(StrEnum):
    """Purpose of an item: it counts, explains its answer, or shows whether judges pay attention."""

    NORMAL = "normal"
    TUTORIAL = "tutorial"
    ATTENTION = "attention"


class State(StrEnum):
    """Progress of an assignment."""

    PLANNED = "planned"  # not shown yet
    OPEN = "open"  # shown, without a complete answer
    DONE = "done"
    SKIPPED = "skipped"  # with a reason
    RELEASED = "released"  # shown and left; others may have it

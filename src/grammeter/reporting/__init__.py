"""Scores, judgments and sentences gathered into one page: the verb ``report``.

It stands on the floor of :mod:`grammeter.api`, above scoring, ranking and meta-evaluation, because
it asks all of them; the room ``report`` below draws what it gathers and knows nothing of where that
came from. What people said goes into the page in the public JSON shapes, so that a file that an
earlier verb wrote and what is computed here take the same way.
"""

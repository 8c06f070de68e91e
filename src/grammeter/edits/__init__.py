"""Two sentences to edits: alignments, n-grams, and what follows from them."""

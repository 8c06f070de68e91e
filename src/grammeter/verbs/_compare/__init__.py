"""Systems compared on the same sentences: intervals, tests and letters from stored scores."""

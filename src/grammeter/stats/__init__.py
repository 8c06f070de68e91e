"""Numbers only: resampling, tests, corrections. Knows no metric and reads no file."""

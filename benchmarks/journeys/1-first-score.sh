# Which of my outputs is best, is that chance, and why did this sentence lose?
grammeter score -s src.txt -r gold.m2 -m m2 gleu --hyps out/* -o scores.json
grammeter compare scores.json
grammeter explain scores.json --system Fluent --line 3
grammeter report scores.json -o report.html

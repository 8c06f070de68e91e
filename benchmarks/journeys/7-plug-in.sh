# My own metric, beside the others. (docs/plugins.md has the forty lines that pip installs.)
grammeter list exact
grammeter score -s src.txt -r ref0.txt -m exact gleu --hyps out/* -o scores.json
grammeter compare scores.json

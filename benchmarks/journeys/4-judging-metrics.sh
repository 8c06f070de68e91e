# Which metric agrees with people?
grammeter score -r sample/gold.m2 -m m2 gleu --hyps sample/systems/*.txt -o scores.json
grammeter meta system scores.json sample/judgments.xml
grammeter meta sentence scores.json sample/judgments.xml

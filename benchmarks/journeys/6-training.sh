# A metric for my domain, without references.
grammeter train impara --parallel sample/gold.m2 --encoder $ENCODER --pairs 64 --epochs 1 -o my-impara
grammeter score -s src.txt -m "impara(model=my-impara)" --hyps out/*

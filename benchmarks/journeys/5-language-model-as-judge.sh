# Would my language model judge as people did, and what would that cost?
grammeter judge -s sample/source.txt --hyps sample/systems/*.txt --items sample/judgments.xml -m "llm-s(model=my-model)" --dry-run
grammeter judge -s sample/source.txt --hyps sample/systems/*.txt --items sample/judgments.xml -m "llm-s(model=my-model)" --base-url $JUDGE -o judged.jsonl
grammeter agree sample/judgments.xml judged.jsonl --hyps sample/systems/*.txt --correlate

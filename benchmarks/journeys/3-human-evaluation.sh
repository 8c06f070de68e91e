# What do people say? (Between the links and the export people judge; here others' judgments stand in.)
grammeter campaign create pilot -s src.txt --hyps out/* -n 10 --judges 2
grammeter campaign invite pilot
grammeter campaign export pilot -o none-yet.jsonl
grammeter rank sample/judgments.xml -o people.json
grammeter agree sample/judgments.xml

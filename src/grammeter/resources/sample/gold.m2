S Last autumn I have moved to Leeds for study engineering .
A 3 4|||U:VERB:TENSE||||||REQUIRED|||-NONE-|||0
A 7 8|||R:PREP|||to|||REQUIRED|||-NONE-|||0
A 2 2|||M:PUNCT|||,|||REQUIRED|||-NONE-|||1
A 3 4|||U:VERB:TENSE||||||REQUIRED|||-NONE-|||1
A 7 8|||R:PREP|||to|||REQUIRED|||-NONE-|||1

S My room in dormitory is small but it has big window and quiet view .
A 3 3|||M:DET|||the|||REQUIRED|||-NONE-|||0
A 9 9|||M:DET|||a|||REQUIRED|||-NONE-|||0
A 12 12|||M:DET|||a|||REQUIRED|||-NONE-|||0
A 3 3|||M:DET|||the|||REQUIRED|||-NONE-|||1
A 6 6|||M:PUNCT|||,|||REQUIRED|||-NONE-|||1
A 9 9|||M:DET|||a|||REQUIRED|||-NONE-|||1
A 12 13|||R:OTHER|||a peaceful|||REQUIRED|||-NONE-|||1

S I share the kitchen with four other students .
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||1

S Two of them comes from Spain and other two is from Turkey .
A 3 4|||R:VERB:SVA|||come|||REQUIRED|||-NONE-|||0
A 7 7|||M:DET|||the|||REQUIRED|||-NONE-|||0
A 9 10|||R:VERB:SVA|||are|||REQUIRED|||-NONE-|||0
A 3 4|||R:VERB:SVA|||come|||REQUIRED|||-NONE-|||1
A 7 7|||M:DET|||the|||REQUIRED|||-NONE-|||1
A 9 10|||R:VERB:SVA|||are|||REQUIRED|||-NONE-|||1

S At first I was very shy , I did not spoke with nobody during a whole week .
A 6 7|||R:PUNCT|||.|||REQUIRED|||-NONE-|||0
A 10 11|||R:VERB:FORM|||speak|||REQUIRED|||-NONE-|||0
A 11 12|||R:PREP|||to|||REQUIRED|||-NONE-|||0
A 12 13|||R:PRON|||anybody|||REQUIRED|||-NONE-|||0
A 13 14|||R:PREP|||for|||REQUIRED|||-NONE-|||0
A 4 5|||R:ADV|||so|||REQUIRED|||-NONE-|||1
A 6 7|||R:OTHER|||that|||REQUIRED|||-NONE-|||1
A 10 11|||R:VERB:FORM|||speak|||REQUIRED|||-NONE-|||1
A 11 13|||R:OTHER|||to anyone|||REQUIRED|||-NONE-|||1
A 13 14|||R:PREP|||for|||REQUIRED|||-NONE-|||1

S One evening they invited me to diner and since then we are good freinds .
A 6 7|||R:SPELL|||dinner|||REQUIRED|||-NONE-|||0
A 7 7|||M:PUNCT|||,|||REQUIRED|||-NONE-|||0
A 11 12|||R:VERB:TENSE|||have been|||REQUIRED|||-NONE-|||0
A 13 14|||R:SPELL|||friends|||REQUIRED|||-NONE-|||0
A 2 2|||M:PUNCT|||,|||REQUIRED|||-NONE-|||1
A 6 7|||R:SPELL|||dinner|||REQUIRED|||-NONE-|||1
A 11 12|||R:VERB:TENSE|||have been|||REQUIRED|||-NONE-|||1
A 13 14|||R:SPELL|||friends|||REQUIRED|||-NONE-|||1

S Each Friday we cooks together and every person explain a recipe of his country .
A 3 4|||R:VERB:SVA|||cook|||REQUIRED|||-NONE-|||0
A 8 9|||R:VERB:SVA|||explains|||REQUIRED|||-NONE-|||0
A 11 12|||R:PREP|||from|||REQUIRED|||-NONE-|||0
A 12 13|||R:DET|||their|||REQUIRED|||-NONE-|||0
A 3 4|||R:VERB:SVA|||cook|||REQUIRED|||-NONE-|||1
A 5 5|||M:PUNCT|||,|||REQUIRED|||-NONE-|||1
A 6 7|||R:DET|||each|||REQUIRED|||-NONE-|||1
A 8 9|||R:VERB:SVA|||explains|||REQUIRED|||-NONE-|||1
A 11 12|||R:PREP|||from|||REQUIRED|||-NONE-|||1
A 13 13|||M:OTHER|||or her|||REQUIRED|||-NONE-|||1

S If I would stayed in my room , I would never know them .
A 2 3|||R:VERB:TENSE|||had|||REQUIRED|||-NONE-|||0
A 11 12|||R:VERB:TENSE|||have known|||REQUIRED|||-NONE-|||0
A 2 3|||R:VERB:TENSE|||had|||REQUIRED|||-NONE-|||1
A 11 12|||R:VERB|||have met|||REQUIRED|||-NONE-|||1

S Now my biggest problem is the laundry machine , which is always occupied !
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0
A 6 7|||R:NOUN|||washing|||REQUIRED|||-NONE-|||1

S near our campus there is a little café who is open until midnight .
A 0 1|||R:ORTH|||Near|||REQUIRED|||-NONE-|||0
A 8 9|||R:PRON|||that||which|||REQUIRED|||-NONE-|||0
A 0 1|||R:ORTH|||Near|||REQUIRED|||-NONE-|||1
A 3 3|||M:PUNCT|||,|||REQUIRED|||-NONE-|||1
A 8 9|||R:PRON|||that|||REQUIRED|||-NONE-|||1

S The owner , a old woman called Rosa , make the best soup of the town .
A 3 4|||R:DET|||an|||REQUIRED|||-NONE-|||0
A 9 10|||R:VERB:SVA|||makes|||REQUIRED|||-NONE-|||0
A 13 14|||R:PREP|||in|||REQUIRED|||-NONE-|||0
A 3 4|||R:DET|||an|||REQUIRED|||-NONE-|||1
A 4 5|||R:ADJ|||elderly|||REQUIRED|||-NONE-|||1
A 9 10|||R:VERB:SVA|||makes|||REQUIRED|||-NONE-|||1
A 13 15|||R:OTHER|||in|||REQUIRED|||-NONE-|||1

S She always ask to us how was our day .
A 2 3|||R:VERB:SVA|||asks|||REQUIRED|||-NONE-|||0
A 3 4|||U:PREP||||||REQUIRED|||-NONE-|||0
A 6 9|||R:WO|||our day was|||REQUIRED|||-NONE-|||0
A 2 3|||R:VERB:SVA|||asks|||REQUIRED|||-NONE-|||1
A 3 4|||U:PREP||||||REQUIRED|||-NONE-|||1
A 5 7|||R:OTHER|||about|||REQUIRED|||-NONE-|||1

S Her soup with lentils is so tasty that I could eat it every day .
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||1

S My friend Jonas is a naïve person and he believed that the spices were free , so he has taken a hole jar to home .
A 7 7|||M:PUNCT|||,|||REQUIRED|||-NONE-|||0
A 18 20|||R:VERB:TENSE|||took|||REQUIRED|||-NONE-|||0
A 21 22|||R:SPELL|||whole|||REQUIRED|||-NONE-|||0
A 23 24|||U:PREP||||||REQUIRED|||-NONE-|||0
A 18 20|||R:VERB:TENSE|||took|||REQUIRED|||-NONE-|||1
A 20 22|||R:OTHER|||an entire|||REQUIRED|||-NONE-|||1
A 23 24|||U:PREP||||||REQUIRED|||-NONE-|||1

S Rosa did n't angry about it .
A 1 2|||R:VERB|||was|||REQUIRED|||-NONE-|||0
A 3 3|||M:VERB|||get|||REQUIRED|||-NONE-|||1

S She just laughed loud and has gave him other one like present .
A 3 4|||R:MORPH|||loudly|||REQUIRED|||-NONE-|||0
A 5 6|||U:VERB:TENSE||||||REQUIRED|||-NONE-|||0
A 8 9|||R:DET|||another|||REQUIRED|||-NONE-|||0
A 10 11|||R:OTHER|||as a|||REQUIRED|||-NONE-|||0
A 3 3|||M:ADV|||out|||REQUIRED|||-NONE-|||1
A 5 6|||U:VERB:TENSE||||||REQUIRED|||-NONE-|||1
A 8 10|||R:OTHER|||another|||REQUIRED|||-NONE-|||1
A 10 11|||R:OTHER|||as a|||REQUIRED|||-NONE-|||1

S Since that day Jonas buys there his coffee each morning .
A 3 3|||M:PUNCT|||,|||REQUIRED|||-NONE-|||0
A 4 5|||R:VERB:TENSE|||has bought|||REQUIRED|||-NONE-|||0
A 5 8|||R:WO|||his coffee there|||REQUIRED|||-NONE-|||0
A 4 6|||R:OTHER|||has been buying|||REQUIRED|||-NONE-|||1
A 8 8|||M:ADV|||there|||REQUIRED|||-NONE-|||1

S Nowadays , almost every students has a smartphone in his pocket .
A 4 5|||R:NOUN:NUM|||student|||REQUIRED|||-NONE-|||0
A 9 10|||R:DET|||their|||REQUIRED|||-NONE-|||0
A 3 4|||R:DET|||all|||REQUIRED|||-NONE-|||1
A 5 6|||R:VERB:SVA|||have|||REQUIRED|||-NONE-|||1
A 9 11|||R:OTHER|||their pockets|||REQUIRED|||-NONE-|||1

S Some teachers thinks that phones are bad for concentration , but I am not agree with them .
A 2 3|||R:VERB:SVA|||think|||REQUIRED|||-NONE-|||0
A 12 13|||R:VERB|||do|||REQUIRED|||-NONE-|||0
A 2 3|||R:VERB:SVA|||think|||REQUIRED|||-NONE-|||1
A 12 15|||R:OTHER|||disagree|||REQUIRED|||-NONE-|||1

S In my opinion it depend from how we use it .
A 3 3|||M:PUNCT|||,|||REQUIRED|||-NONE-|||0
A 4 5|||R:VERB:SVA|||depends|||REQUIRED|||-NONE-|||0
A 5 6|||R:PREP|||on|||REQUIRED|||-NONE-|||0
A 9 10|||R:PRON|||them|||REQUIRED|||-NONE-|||0
A 4 5|||R:VERB:SVA|||depends|||REQUIRED|||-NONE-|||1
A 5 6|||R:PREP|||on|||REQUIRED|||-NONE-|||1
A 9 10|||R:PRON|||them|||REQUIRED|||-NONE-|||1

S For exemple , a phone can helps us to find informations very quick when we do an homework .
A 1 2|||R:SPELL|||example|||REQUIRED|||-NONE-|||0
A 6 7|||R:VERB:FORM|||help|||REQUIRED|||-NONE-|||0
A 10 11|||R:NOUN:INFL|||information|||REQUIRED|||-NONE-|||0
A 12 13|||R:MORPH|||quickly|||REQUIRED|||-NONE-|||0
A 16 17|||U:DET||||||REQUIRED|||-NONE-|||0
A 1 2|||R:SPELL|||example|||REQUIRED|||-NONE-|||1
A 6 7|||R:VERB:FORM|||help|||REQUIRED|||-NONE-|||1
A 8 9|||U:VERB:FORM||||||REQUIRED|||-NONE-|||1
A 10 11|||R:NOUN:INFL|||information|||REQUIRED|||-NONE-|||1
A 12 13|||R:MORPH|||quickly|||REQUIRED|||-NONE-|||1
A 16 17|||R:DET|||our|||REQUIRED|||-NONE-|||1

S We can also to record the lecture and listening to it again later .
A 3 4|||U:VERB:FORM||||||REQUIRED|||-NONE-|||0
A 8 9|||R:VERB:FORM|||listen|||REQUIRED|||-NONE-|||0
A 3 4|||U:VERB:FORM||||||REQUIRED|||-NONE-|||1
A 5 7|||R:OTHER|||lectures|||REQUIRED|||-NONE-|||1
A 8 9|||R:VERB:FORM|||listen|||REQUIRED|||-NONE-|||1
A 10 11|||R:PRON|||them|||REQUIRED|||-NONE-|||1

S On the other hand , it is truth that many people lost a lot of time with the games and the social networks .
A 7 8|||R:MORPH|||true|||REQUIRED|||-NONE-|||0
A 11 12|||R:VERB:TENSE|||lose|||REQUIRED|||-NONE-|||0
A 16 18|||R:OTHER|||on|||REQUIRED|||-NONE-|||0
A 20 21|||U:DET||||||REQUIRED|||-NONE-|||0
A 7 8|||R:MORPH|||true|||REQUIRED|||-NONE-|||1
A 11 12|||R:VERB|||waste|||REQUIRED|||-NONE-|||1
A 16 18|||R:OTHER|||on|||REQUIRED|||-NONE-|||1
A 20 21|||U:DET||||||REQUIRED|||-NONE-|||1
A 22 23|||R:NOUN|||media|||REQUIRED|||-NONE-|||1

S Last semester I failed a exam because I had watched video 's all the night .
A 4 5|||R:DET|||an|||REQUIRED|||-NONE-|||0
A 10 12|||R:NOUN:NUM|||videos|||REQUIRED|||-NONE-|||0
A 13 14|||U:DET||||||REQUIRED|||-NONE-|||0
A 2 2|||M:PUNCT|||,|||REQUIRED|||-NONE-|||1
A 4 5|||R:DET|||an|||REQUIRED|||-NONE-|||1
A 8 10|||R:VERB:TENSE|||was watching|||REQUIRED|||-NONE-|||1
A 10 12|||R:NOUN:NUM|||videos|||REQUIRED|||-NONE-|||1
A 13 14|||U:DET||||||REQUIRED|||-NONE-|||1

S Now I turn my phone off before starting to study , and my grades are getting better .
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||1

S So I belive that the problem is not the phone but the person which use it in a wrong way and do n't know to stop .
A 2 3|||R:SPELL|||believe|||REQUIRED|||-NONE-|||0
A 13 14|||R:PRON|||who|||REQUIRED|||-NONE-|||0
A 14 15|||R:VERB:SVA|||uses|||REQUIRED|||-NONE-|||0
A 17 18|||R:DET|||the|||REQUIRED|||-NONE-|||0
A 21 22|||R:VERB:SVA|||does|||REQUIRED|||-NONE-|||0
A 24 24|||M:ADV|||how||when|||REQUIRED|||-NONE-|||0
A 1 1|||M:PUNCT|||,|||REQUIRED|||-NONE-|||1
A 2 3|||R:SPELL|||believe|||REQUIRED|||-NONE-|||1
A 13 14|||R:PRON|||who|||REQUIRED|||-NONE-|||1
A 14 15|||R:VERB:SVA|||uses|||REQUIRED|||-NONE-|||1
A 16 20|||R:OTHER|||wrongly|||REQUIRED|||-NONE-|||1
A 21 22|||R:VERB:SVA|||does|||REQUIRED|||-NONE-|||1
A 24 24|||M:ADV|||when|||REQUIRED|||-NONE-|||1

S In the summer of last year my family and me went to the see side for a week .
A 6 6|||M:PUNCT|||,|||REQUIRED|||-NONE-|||0
A 9 10|||R:PRON|||I|||REQUIRED|||-NONE-|||0
A 13 15|||R:SPELL|||seaside|||REQUIRED|||-NONE-|||0
A 0 6|||R:OTHER|||Last summer ,|||REQUIRED|||-NONE-|||1
A 9 10|||R:PRON|||I|||REQUIRED|||-NONE-|||1
A 13 15|||R:SPELL|||seaside|||REQUIRED|||-NONE-|||1

S The journey took six hours by the train .
A 6 7|||U:DET||||||REQUIRED|||-NONE-|||0
A 6 7|||U:DET||||||REQUIRED|||-NONE-|||1

S My small brother could not to wait and asked every ten minute when we will arrive .
A 1 2|||R:ADJ|||little||younger|||REQUIRED|||-NONE-|||0
A 5 6|||U:VERB:FORM||||||REQUIRED|||-NONE-|||0
A 11 12|||R:NOUN:NUM|||minutes|||REQUIRED|||-NONE-|||0
A 14 15|||R:VERB:TENSE|||would|||REQUIRED|||-NONE-|||0
A 1 2|||R:ADJ|||younger|||REQUIRED|||-NONE-|||1
A 5 6|||U:VERB:FORM||||||REQUIRED|||-NONE-|||1
A 8 9|||R:VERB|||kept asking|||REQUIRED|||-NONE-|||1
A 11 12|||R:NOUN:NUM|||minutes|||REQUIRED|||-NONE-|||1
A 14 15|||R:VERB:TENSE|||would|||REQUIRED|||-NONE-|||1

S When we finally arrived , it was raining .
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||1

S The hotel was more expensive as in the advertisement and the personal was not very kindly .
A 5 6|||R:PREP|||than|||REQUIRED|||-NONE-|||0
A 9 9|||M:PUNCT|||,|||REQUIRED|||-NONE-|||0
A 11 12|||R:NOUN|||staff|||REQUIRED|||-NONE-|||0
A 15 16|||R:MORPH|||kind|||REQUIRED|||-NONE-|||0
A 5 6|||R:OTHER|||than it was|||REQUIRED|||-NONE-|||1
A 11 13|||R:OTHER|||staff were|||REQUIRED|||-NONE-|||1
A 15 16|||R:ADJ|||friendly|||REQUIRED|||-NONE-|||1

S Our room had a view on the parking instead the sea .
A 5 6|||R:PREP|||of|||REQUIRED|||-NONE-|||0
A 7 8|||R:NOUN|||car park|||REQUIRED|||-NONE-|||0
A 9 9|||M:PREP|||of|||REQUIRED|||-NONE-|||0
A 2 6|||R:OTHER|||overlooked|||REQUIRED|||-NONE-|||1
A 7 8|||R:NOUN|||car park|||REQUIRED|||-NONE-|||1
A 9 9|||M:PREP|||of|||REQUIRED|||-NONE-|||1

S My father wanted complain but my mother said him to be patient .
A 3 3|||M:VERB:FORM|||to|||REQUIRED|||-NONE-|||0
A 4 4|||M:PUNCT|||,|||REQUIRED|||-NONE-|||0
A 7 8|||R:VERB|||told|||REQUIRED|||-NONE-|||0
A 3 3|||M:VERB:FORM|||to|||REQUIRED|||-NONE-|||1
A 7 8|||R:VERB|||told|||REQUIRED|||-NONE-|||1

S In the third day the sun came out and we could finaly swim .
A 0 1|||R:PREP|||On|||REQUIRED|||-NONE-|||0
A 4 4|||M:PUNCT|||,|||REQUIRED|||-NONE-|||0
A 11 12|||R:SPELL|||finally|||REQUIRED|||-NONE-|||0
A 0 1|||R:PREP|||On|||REQUIRED|||-NONE-|||1
A 8 8|||M:PUNCT|||,|||REQUIRED|||-NONE-|||1
A 10 12|||R:OTHER|||were finally able to|||REQUIRED|||-NONE-|||1

S The water was so cold that nobody stayed in it longer than five minutes .
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||1

S In spite of all I enjoyed that holidays very much and I 'm looking forward to go there again .
A 3 4|||R:PRON|||everything|||REQUIRED|||-NONE-|||0
A 4 4|||M:PUNCT|||,|||REQUIRED|||-NONE-|||0
A 7 8|||R:NOUN:NUM|||holiday|||REQUIRED|||-NONE-|||0
A 16 17|||R:VERB:FORM|||going|||REQUIRED|||-NONE-|||0
A 0 4|||R:OTHER|||Despite everything ,|||REQUIRED|||-NONE-|||1
A 6 8|||R:OTHER|||the holiday|||REQUIRED|||-NONE-|||1
A 16 17|||R:VERB:FORM|||going|||REQUIRED|||-NONE-|||1

S Since three months I work as waiter in a italian restaurant .
A 0 1|||R:PREP|||For|||REQUIRED|||-NONE-|||0
A 4 5|||R:VERB:TENSE|||have worked|||REQUIRED|||-NONE-|||0
A 6 6|||M:DET|||a|||REQUIRED|||-NONE-|||0
A 8 9|||R:DET|||an|||REQUIRED|||-NONE-|||0
A 9 10|||R:ORTH|||Italian|||REQUIRED|||-NONE-|||0
A 0 1|||R:OTHER|||For the past|||REQUIRED|||-NONE-|||1
A 3 3|||M:PUNCT|||,|||REQUIRED|||-NONE-|||1
A 4 5|||R:VERB:TENSE|||have been working|||REQUIRED|||-NONE-|||1
A 6 6|||M:DET|||a|||REQUIRED|||-NONE-|||1
A 8 9|||R:DET|||an|||REQUIRED|||-NONE-|||1
A 9 10|||R:ORTH|||Italian|||REQUIRED|||-NONE-|||1

S The pay is not very good , but the tips are generous .
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||1

S My boss is strict , however he treat everybody with respect .
A 5 6|||R:CONJ|||but|||REQUIRED|||-NONE-|||0
A 7 8|||R:VERB:SVA|||treats|||REQUIRED|||-NONE-|||0
A 4 5|||R:PUNCT|||;|||REQUIRED|||-NONE-|||1
A 6 6|||M:PUNCT|||,|||REQUIRED|||-NONE-|||1
A 7 8|||R:VERB:SVA|||treats|||REQUIRED|||-NONE-|||1

S The most difficult thing are to remember which table ordered what .
A 4 5|||R:VERB:SVA|||is|||REQUIRED|||-NONE-|||0
A 4 7|||R:VERB:FORM|||is remembering|||REQUIRED|||-NONE-|||1

S Yesterday a costumer has complained because of his pasta was cold .
A 1 1|||M:PUNCT|||,|||REQUIRED|||-NONE-|||0
A 2 3|||R:SPELL|||customer|||REQUIRED|||-NONE-|||0
A 3 4|||U:VERB:TENSE||||||REQUIRED|||-NONE-|||0
A 6 7|||U:PREP||||||REQUIRED|||-NONE-|||0
A 2 3|||R:SPELL|||customer|||REQUIRED|||-NONE-|||1
A 3 4|||U:VERB:TENSE||||||REQUIRED|||-NONE-|||1
A 5 7|||R:OTHER|||that|||REQUIRED|||-NONE-|||1

S I apologised him and bringed a new plate , then he gave me ten euro .
A 2 2|||M:PREP|||to|||REQUIRED|||-NONE-|||0
A 4 5|||R:VERB:INFL|||brought|||REQUIRED|||-NONE-|||0
A 9 9|||M:CONJ|||and|||REQUIRED|||-NONE-|||0
A 14 15|||R:NOUN:NUM|||euros|||REQUIRED|||-NONE-|||0
A 2 2|||M:PREP|||to|||REQUIRED|||-NONE-|||1
A 4 5|||R:VERB:INFL|||brought|||REQUIRED|||-NONE-|||1
A 5 5|||M:PRON|||him|||REQUIRED|||-NONE-|||1
A 8 10|||R:PUNCT|||. Then|||REQUIRED|||-NONE-|||1
A 14 15|||R:NOUN:NUM|||euros|||REQUIRED|||-NONE-|||1

S Sometimes I finish so late that I miss the last bus and must going home by foot .
A 13 14|||R:VERB:FORM|||go|||REQUIRED|||-NONE-|||0
A 15 16|||R:PREP|||on|||REQUIRED|||-NONE-|||0
A 12 14|||R:OTHER|||have to walk|||REQUIRED|||-NONE-|||1
A 15 17|||U:OTHER||||||REQUIRED|||-NONE-|||1

S Despite of this , I would recommend everyone to make a similar experience .
A 1 2|||U:PREP||||||REQUIRED|||-NONE-|||0
A 9 10|||R:VERB|||have|||REQUIRED|||-NONE-|||0
A 1 2|||U:PREP||||||REQUIRED|||-NONE-|||1
A 6 7|||R:VERB|||advise|||REQUIRED|||-NONE-|||1
A 9 10|||R:VERB|||have|||REQUIRED|||-NONE-|||1

S My grandmother have a big garden behind of her house .
A 2 3|||R:VERB:SVA|||has|||REQUIRED|||-NONE-|||0
A 7 8|||U:PREP||||||REQUIRED|||-NONE-|||0
A 2 3|||R:VERB:SVA|||has|||REQUIRED|||-NONE-|||1
A 7 8|||U:PREP||||||REQUIRED|||-NONE-|||1

S She grow tomatoes , beans and lot of flower .
A 1 2|||R:VERB:SVA|||grows|||REQUIRED|||-NONE-|||0
A 6 7|||R:NOUN:NUM|||lots|||REQUIRED|||-NONE-|||0
A 8 9|||R:NOUN:NUM|||flowers|||REQUIRED|||-NONE-|||0
A 1 2|||R:VERB:SVA|||grows|||REQUIRED|||-NONE-|||1
A 5 5|||M:PUNCT|||,|||REQUIRED|||-NONE-|||1
A 6 6|||M:DET|||a|||REQUIRED|||-NONE-|||1
A 8 9|||R:NOUN:NUM|||flowers|||REQUIRED|||-NONE-|||1

S When I was child , I was helping her to water the plants every evenings .
A 3 3|||M:DET|||a|||REQUIRED|||-NONE-|||0
A 6 8|||R:VERB:TENSE|||helped|||REQUIRED|||-NONE-|||0
A 14 15|||R:NOUN:NUM|||evening|||REQUIRED|||-NONE-|||0
A 3 3|||M:DET|||a|||REQUIRED|||-NONE-|||1
A 6 8|||R:VERB:TENSE|||used to help|||REQUIRED|||-NONE-|||1
A 9 10|||U:VERB:FORM||||||REQUIRED|||-NONE-|||1
A 14 15|||R:NOUN:NUM|||evening|||REQUIRED|||-NONE-|||1

S Her cat Mimi , that is already fourteen years , sleeps usually under the apple tree .
A 4 5|||R:PRON|||who|||REQUIRED|||-NONE-|||0
A 9 9|||M:ADJ|||old|||REQUIRED|||-NONE-|||0
A 10 12|||R:WO|||usually sleeps|||REQUIRED|||-NONE-|||0
A 4 5|||R:PRON|||who|||REQUIRED|||-NONE-|||1
A 8 9|||U:NOUN||||||REQUIRED|||-NONE-|||1
A 10 12|||R:WO|||usually sleeps|||REQUIRED|||-NONE-|||1

S It dont like dogs .
A 1 2|||R:OTHER|||does n't|||REQUIRED|||-NONE-|||0
A 0 1|||R:PRON|||She|||REQUIRED|||-NONE-|||1
A 1 2|||R:OTHER|||does n't|||REQUIRED|||-NONE-|||1

S In last spring a storm destroied the roof of the grandmother 's greenhouse .
A 0 2|||U:PREP|||Last|||REQUIRED|||-NONE-|||0
A 5 6|||R:SPELL|||destroyed|||REQUIRED|||-NONE-|||0
A 9 10|||R:DET|||my|||REQUIRED|||-NONE-|||0
A 0 2|||U:PREP|||Last|||REQUIRED|||-NONE-|||1
A 3 3|||M:PUNCT|||,|||REQUIRED|||-NONE-|||1
A 5 6|||R:SPELL|||destroyed|||REQUIRED|||-NONE-|||1
A 9 12|||R:OTHER|||her|||REQUIRED|||-NONE-|||1

S All the family came for repair it , and at the evening we have eaten strawberries with cream on the grass .
A 0 2|||R:OTHER|||The whole|||REQUIRED|||-NONE-|||0
A 4 5|||R:PREP|||to|||REQUIRED|||-NONE-|||0
A 9 10|||R:PREP|||in|||REQUIRED|||-NONE-|||0
A 13 15|||R:VERB:TENSE|||ate|||REQUIRED|||-NONE-|||0
A 0 2|||R:OTHER|||My whole|||REQUIRED|||-NONE-|||1
A 4 5|||R:PREP|||to|||REQUIRED|||-NONE-|||1
A 9 10|||R:PREP|||in|||REQUIRED|||-NONE-|||1
A 13 15|||R:VERB:TENSE|||ate|||REQUIRED|||-NONE-|||1

S Learn a foreign language is hardly , specially for adults .
A 0 1|||R:VERB:FORM|||Learning|||REQUIRED|||-NONE-|||0
A 5 6|||R:MORPH|||hard||difficult|||REQUIRED|||-NONE-|||0
A 7 8|||R:ADV|||especially|||REQUIRED|||-NONE-|||0
A 0 1|||R:VERB:FORM|||Learning|||REQUIRED|||-NONE-|||1
A 5 6|||R:ADJ|||difficult|||REQUIRED|||-NONE-|||1
A 7 8|||R:ADV|||especially|||REQUIRED|||-NONE-|||1

S I have started to learn English ten years ago , but I still do a lot of mistakes .
A 1 2|||U:VERB:TENSE||||||REQUIRED|||-NONE-|||0
A 13 14|||R:VERB|||make|||REQUIRED|||-NONE-|||0
A 1 5|||R:VERB:FORM|||started learning|||REQUIRED|||-NONE-|||1
A 13 14|||R:VERB|||make|||REQUIRED|||-NONE-|||1

S The grammar is not so difficult than the pronounciation .
A 4 5|||R:ADV|||as|||REQUIRED|||-NONE-|||0
A 6 7|||R:PREP|||as|||REQUIRED|||-NONE-|||0
A 8 9|||R:SPELL|||pronunciation|||REQUIRED|||-NONE-|||0
A 0 2|||U:DET|||Grammar|||REQUIRED|||-NONE-|||1
A 4 5|||R:ADV|||as|||REQUIRED|||-NONE-|||1
A 6 8|||R:OTHER|||as|||REQUIRED|||-NONE-|||1
A 8 9|||R:SPELL|||pronunciation|||REQUIRED|||-NONE-|||1

S Why are there so many words that are spelled alike but pronounced differently ?
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||1

S My teacher advised me reading one page in loud voice every day and to write down the news words .
A 4 5|||R:VERB:FORM|||to read|||REQUIRED|||-NONE-|||0
A 7 10|||R:OTHER|||aloud|||REQUIRED|||-NONE-|||0
A 17 18|||R:MORPH|||new|||REQUIRED|||-NONE-|||0
A 4 5|||R:VERB:FORM|||to read|||REQUIRED|||-NONE-|||1
A 8 8|||M:DET|||a|||REQUIRED|||-NONE-|||1
A 13 14|||U:VERB:FORM||||||REQUIRED|||-NONE-|||1
A 17 18|||R:MORPH|||new|||REQUIRED|||-NONE-|||1

S I am also listening to english podcasts when I 'm going to the work .
A 1 2|||U:VERB:TENSE||||||REQUIRED|||-NONE-|||0
A 3 4|||R:VERB:FORM|||listen|||REQUIRED|||-NONE-|||0
A 5 6|||R:ORTH|||English|||REQUIRED|||-NONE-|||0
A 12 13|||U:DET||||||REQUIRED|||-NONE-|||0
A 1 2|||U:VERB:TENSE||||||REQUIRED|||-NONE-|||1
A 3 4|||R:VERB:FORM|||listen|||REQUIRED|||-NONE-|||1
A 5 6|||R:ORTH|||English|||REQUIRED|||-NONE-|||1
A 7 11|||R:OTHER|||on my way|||REQUIRED|||-NONE-|||1
A 12 13|||U:DET||||||REQUIRED|||-NONE-|||1

S If you practise regularly , you will surprised how fast do you progress .
A 7 7|||M:VERB:TENSE|||be|||REQUIRED|||-NONE-|||0
A 10 11|||U:VERB:TENSE||||||REQUIRED|||-NONE-|||0
A 7 7|||M:VERB:TENSE|||be|||REQUIRED|||-NONE-|||1
A 8 8|||M:PREP|||at|||REQUIRED|||-NONE-|||1
A 9 11|||R:OTHER|||quickly|||REQUIRED|||-NONE-|||1

S In our town people throws too much garbages on the street .
A 3 3|||M:PUNCT|||,|||REQUIRED|||-NONE-|||0
A 4 5|||R:VERB:SVA|||throw|||REQUIRED|||-NONE-|||0
A 7 8|||R:NOUN:INFL|||garbage|||REQUIRED|||-NONE-|||0
A 4 5|||R:VERB:SVA|||throw|||REQUIRED|||-NONE-|||1
A 7 8|||R:NOUN|||rubbish|||REQUIRED|||-NONE-|||1
A 8 9|||R:PREP|||in|||REQUIRED|||-NONE-|||1
A 10 11|||R:NOUN:NUM|||streets|||REQUIRED|||-NONE-|||1

S The mayor promised that the council will puts more bins , but until now nothing happened .
A 6 7|||R:VERB:TENSE|||would|||REQUIRED|||-NONE-|||0
A 7 8|||R:VERB|||put up|||REQUIRED|||-NONE-|||0
A 15 15|||M:VERB:TENSE|||has|||REQUIRED|||-NONE-|||0
A 6 8|||R:VERB|||would install|||REQUIRED|||-NONE-|||1
A 12 14|||R:OTHER|||so far|||REQUIRED|||-NONE-|||1
A 15 15|||M:VERB:TENSE|||has|||REQUIRED|||-NONE-|||1

S Therefore some pupils from my school has decided to clean ourselves the park .
A 1 1|||M:PUNCT|||,|||REQUIRED|||-NONE-|||0
A 6 7|||R:VERB:SVA|||have|||REQUIRED|||-NONE-|||0
A 10 13|||R:OTHER|||the park themselves|||REQUIRED|||-NONE-|||0
A 6 7|||R:VERB:SVA|||have|||REQUIRED|||-NONE-|||1
A 10 11|||U:PRON||||||REQUIRED|||-NONE-|||1
A 13 13|||M:PRON|||themselves|||REQUIRED|||-NONE-|||1

S We collected twenty bags in one afternoon , and the local newspaper wrote an article about us !
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||1

S What a success !
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||1

S I hope that more people will followed our exemple , because if everyone do a little bit , the world will becomes an much cleaner place for us and also for all our childrens .
A 6 7|||R:VERB:FORM|||follow|||REQUIRED|||-NONE-|||0
A 8 9|||R:SPELL|||example|||REQUIRED|||-NONE-|||0
A 13 14|||R:VERB:SVA|||does|||REQUIRED|||-NONE-|||0
A 21 22|||R:VERB:FORM|||become|||REQUIRED|||-NONE-|||0
A 22 23|||R:DET|||a|||REQUIRED|||-NONE-|||0
A 33 34|||R:NOUN:INFL|||children|||REQUIRED|||-NONE-|||0
A 6 7|||R:VERB:FORM|||follow|||REQUIRED|||-NONE-|||1
A 8 9|||R:SPELL|||example|||REQUIRED|||-NONE-|||1
A 12 13|||R:OTHER|||we all|||REQUIRED|||-NONE-|||1
A 16 17|||U:NOUN||||||REQUIRED|||-NONE-|||1
A 21 22|||R:VERB|||be|||REQUIRED|||-NONE-|||1
A 22 23|||R:DET|||a|||REQUIRED|||-NONE-|||1
A 29 31|||U:OTHER||||||REQUIRED|||-NONE-|||1
A 33 34|||R:NOUN:INFL|||children|||REQUIRED|||-NONE-|||1


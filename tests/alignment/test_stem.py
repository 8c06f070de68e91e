"""Stems of the paper's examples, and of the words where the Natural Language Toolkit departs."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grammeter.alignment.strings import _rules, stem

# Examples of the rules in Porter (1980), sections 2 to 4, taken through all five steps;
# stems are those of nltk 3.10.4: nltk.stem.porter.PorterStemmer().stem(word)
PORTER = """
caresses caress  ponies poni  ties tie  caress caress  cats cat  feed feed  agreed agre
plastered plaster  bled bled  motoring motor  sing sing  conflated conflat  troubled troubl
sized size  hopping hop  tanned tan  falling fall  hissing hiss  fizzed fizz  failing fail
filing file  happy happi  sky sky  relational relat  conditional condit  rational ration
valenci valenc  hesitanci hesit  digitizer digit  conformabli conform  radicalli radic
differentli differ  vileli vile  analogousli analog  vietnamization vietnam  predication predic
operator oper  feudalism feudal  decisiveness decis  hopefulness hope  callousness callous
formaliti formal  sensitiviti sensit  sensibiliti sensibl  triplicate triplic  formative form
formalize formal  electriciti electr  electrical electr  hopeful hope  goodness good
revival reviv  allowance allow  inference infer  airliner airlin  gyroscopic gyroscop
adjustable adjust  defensible defens  irritant irrit  replacement replac  adjustment adjust
dependent depend  adoption adopt  homologou homolog  communism commun  activate activ
angulariti angular  homologous homolog  effective effect  bowdlerize bowdler  probate probat
rate rate  cease ceas  controll control  roll roll  generalizations gener  oscillators oscil
"""

# Where the Toolkit departs from the paper; made by the same program.
DEPARTURES = """
is is  as as  dies die  died die  dying die  lies lie  lying lie  skies sky  news news
enjoy enjoy  enjoying enjoy  boys boy  cry cri  crying cri  by by  day day  are are  eye eye
carefully care  emotionally emot  genealogy genealog  possibly possibl  age age  tried tri
"""


def pairs(text: str) -> list[tuple[str, str]]:
    words = text.split()
    return list(zip(words[::2], words[1::2], strict=True))


@pytest.mark.parametrize(("word", "expected"), pairs(PORTER) + pairs(DEPARTURES))
def test_known_stems(word, expected):
    assert stem(word) == expected


def test_irregular_forms():
    for word, expected in _rules("irregular").items():
        assert stem(word) == expected


@settings(deadline=None)
@given(st.text(max_size=12) | st.text("aeiouybcdlstz", max_size=12))
def test_any_text_has_a_stem(word):
    assert len(stem(word)) <= max(len(word), 1)
    assert bool(stem(word)) == bool(word)

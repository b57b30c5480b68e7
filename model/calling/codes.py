"""Short forms that the world has agreed on, by what people say: currencies (ISO 4217), languages (ISO 639-1), and the
countries that adjectives stand for."""

from __future__ import annotations

import re


def table(lines: str) -> dict[str, str]:
    """`CODE words, other words` a line, by the words in small letters."""
    rows = (line.split(" ", 1) for line in lines.strip().splitlines())
    return {said.strip().casefold(): code for code, words in rows for said in words.split(",")}


_CURRENCIES = table("""
USD dollar, us dollar, u.s. dollar, american dollar, buck
EUR euro
GBP pound, british pound, pound sterling, uk pound
JPY yen, japanese yen
CNY yuan, chinese yuan, renminbi
CAD canadian dollar
AUD australian dollar
NZD new zealand dollar
CHF franc, swiss franc
INR rupee, indian rupee
KRW won, korean won
MXN mexican peso
BRL real, brazilian real
RUB ruble, russian ruble
SEK krona, swedish krona
NOK norwegian krone
DKK danish krone
PLN zloty, polish zloty
TRY lira, turkish lira
ZAR rand, south african rand
THB baht, thai baht
ILS shekel, israeli shekel
HKD hong kong dollar
SGD singapore dollar
""")
LANGUAGES = table("""
en english
fr french
de german
es spanish
it italian
pt portuguese
nl dutch
sv swedish
da danish
fi finnish
pl polish
cs czech
ru russian
uk ukrainian
tr turkish
el greek
ar arabic
he hebrew
hi hindi
zh chinese, mandarin
ja japanese
ko korean
th thai
vi vietnamese
""")
_COUNTRIES = table("""
France french
Germany german
Spain spanish
Italy italian
Portugal portuguese
Netherlands dutch
Sweden swedish
Denmark danish
Norway norwegian
Finland finnish
Poland polish
Russia russian
Turkey turkish
Greece greek
Egypt egyptian
India indian
China chinese
Japan japanese
Canada canadian
Mexico mexican
Brazil brazilian
Australia australian
""")


def currency(said: str) -> str | None:
    """The code of a currency: `US dollars` is USD; of a code, itself."""
    plain = re.sub(r"s$", "", said.casefold())
    known = _CURRENCIES.get(plain)
    return known or (said.upper() if said.upper() in _CURRENCIES.values() else None)


def language(said: str) -> str | None:
    """The code of a language."""
    return LANGUAGES.get(said.casefold())


def country(said: str) -> str | None:
    """The country that an adjective stands for."""
    return _COUNTRIES.get(said.casefold())

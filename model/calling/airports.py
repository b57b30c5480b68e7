"""Airports and cities by the codes of IATA, for tools that take nothing else: the busiest of the world."""

from __future__ import annotations

from model.calling.codes import table

_NAMES = """
ABV Abuja | ACC Accra | ADD Addis Ababa | AKL Auckland | ALG Algiers | AMM Amman | AMS Amsterdam, Schiphol
ANC Anchorage | ARN Arlanda | ATH Athens | ATL Atlanta | AUH Abu Dhabi | AUS Austin | BCN Barcelona | BEG Belgrade
BER Berlin | BGO Bergen | BGY Bergamo | BHX Birmingham | BJS Beijing | BKK Bangkok, Suvarnabhumi
BLR Bangalore, Bengaluru | BNA Nashville | BNE Brisbane | BOG Bogota, Bogotá | BOM Mumbai | BOS Boston, Logan
BRU Brussels, Zaventem | BUD Budapest | BUE Buenos Aires | BWI Baltimore | CAI Cairo | CAN Guangzhou | CCU Kolkata
CDG Charles de Gaulle, Roissy | CGN Cologne | CHC Christchurch | CHI Chicago | CLE Cleveland | CLT Charlotte
CMB Colombo | CMN Casablanca | CPH Copenhagen | CPT Cape Town | CTS Sapporo | CTU Chengdu | CUN Cancun, Cancún
DAC Dhaka | DCA Reagan | DEL Delhi, New Delhi | DEN Denver | DFW Dallas | DOH Doha | DPS Bali, Denpasar | DTW Detroit
DUB Dublin | DUS Dusseldorf, Düsseldorf | DXB Dubai | EDI Edinburgh | EWR Newark | EZE Ezeiza | FCO Fiumicino
FRA Frankfurt | GDN Gdansk | GIG Galeao, Galeão | GLA Glasgow | GOT Gothenburg | GRU Guarulhos | GVA Geneva
HAM Hamburg | HAN Hanoi | HAV Havana | HEL Helsinki | HKG Hong Kong | HKT Phuket | HND Haneda | HNL Honolulu
HOU Houston | IAD Dulles | IAH George Bush | ICN Incheon | IND Indianapolis | IST Istanbul
JFK Kennedy, John F. Kennedy, JFK | JKT Jakarta | JNB Johannesburg | KEF Reykjavik, Keflavik | KHI Karachi
KIX Kansai | KRK Krakow, Kraków | KTM Kathmandu | KUL Kuala Lumpur | LAS Las Vegas | LAX Los Angeles, LAX
LCY London City | LED Saint Petersburg | LGA LaGuardia | LGW Gatwick | LHR Heathrow | LIM Lima | LIN Linate
LIS Lisbon | LJU Ljubljana | LON London | LOS Lagos | LTN Luton | LUX Luxembourg | LYS Lyon | MAA Chennai
MAD Madrid, Barajas | MAN Manchester | MCI Kansas City | MCO Orlando | MDW Midway | MEL Melbourne | MEX Mexico City
MIA Miami | MIL Milan | MLA Malta | MNL Manila | MOW Moscow | MRS Marseille | MSP Minneapolis | MSY New Orleans
MUC Munich | MXP Malpensa | NAP Naples | NBO Nairobi | NCE Nice | NRT Narita | NYC New York, New York City
OAK Oakland | OPO Porto | ORD O'Hare | ORY Orly | OSA Osaka | OSL Oslo, Gardermoen | OTP Bucharest | PAR Paris
PDX Portland | PEK Beijing Capital | PER Perth | PHL Philadelphia | PHX Phoenix | PIT Pittsburgh | PMI Palma
PRG Prague | PTY Panama City | PVG Pudong | RDU Raleigh | REK Reykjavík | RIO Rio de Janeiro, Rio | RIX Riga
ROM Rome | SAN San Diego | SAO Sao Paulo, São Paulo | SAT San Antonio | SCL Santiago | SEA Seattle | SEL Seoul
SFO San Francisco | SGN Ho Chi Minh City, Saigon | SHA Shanghai | SIN Singapore | SJC San Jose | SJU San Juan
SLC Salt Lake City | SOF Sofia | STL Saint Louis | STN Stansted | STO Stockholm | STR Stuttgart | SVO Sheremetyevo
SVQ Seville | SYD Sydney | TLL Tallinn | TLS Toulouse | TLV Tel Aviv | TPA Tampa | TPE Taipei | TUN Tunis | TYO Tokyo
VCE Venice | VIE Vienna | VLC Valencia | VNO Vilnius | WAS Washington | WAW Warsaw | YMQ Montreal, Montréal
YOW Ottawa | YTO Toronto | YVR Vancouver | YYC Calgary | YYZ Pearson | ZAG Zagreb | ZRH Zurich, Zürich
"""
_CODES = table(_NAMES.replace(" | ", "\n"))


def airport(said: str) -> str | None:
    """The code of an airport, or of all those of a city."""
    return _CODES.get(said.casefold().removesuffix(" airport").removesuffix(" international").removeprefix("the "))

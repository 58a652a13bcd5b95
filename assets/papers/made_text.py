"""Training text for what parallel text has little of: names, numbers, dates, times of day, and several sentences in a line.

    python made_text.py OUT [EN FR]

writes OUT.en and OUT.fr: 30,000 pairs made from the templates below, the same at each run, and, from parallel text EN and FR, 40,000
pairs that are two or three of its pairs in one line. Learners copy what they have never seen: half of the names are drawn letter by
letter.
"""
import random
import re
import sys

FIRST = """Emma Louis Alice Paul Nadia Omar Mei Lucas Ines Hugo Sofia Tom Mary John Anna Peter Linda Kevin Fatima Igor Yuki Chen Priya Carlos
Elena Marco Greta Lars Aisha David Sarah Karim Julie Pierre Claire Antoine Camille Marie Jean Michael Susan Robert Helen James Laura Daniel
Amina Boris Olga Ravi Tariq Zoe Leila Max Felix Nora Ella Liam Noah Eva Leo Adam Victor Oscar Ruth Samir Hana Kenji Pablo Rosa Diego""".split()
LAST = """Smith Martin Dubois Garcia Novak Okafor Tanaka Singh Schmidt Rossi Moreau Dupont Bernard Lopez Kim Nguyen Ivanov Haddad Jensen
Kowalski Silva Costa Walker Baker Turner Cooper Laurent Girard Mercier Fontaine""".split()
CITIES = [(name, name) for name in """Paris Lyon Berlin Madrid Rome Oslo Tokyo Boston Chicago Toronto Dublin Prague Sydney Nairobi Lima Bordeaux Lille Nantes
Toulouse Marseille Munich Helsinki Amsterdam Budapest Dakar Tunis Rabat""".split()] + [
    ("London", "Londres"), ("Brussels", "Bruxelles"), ("Vienna", "Vienne"), ("Geneva", "Genève"), ("Lisbon", "Lisbonne"), ("Warsaw", "Varsovie"),
    ("Athens", "Athènes"), ("Cairo", "Le Caire"), ("Beijing", "Pékin"), ("Moscow", "Moscou"), ("Barcelona", "Barcelone"), ("Venice", "Venise"),
    ("Edinburgh", "Édimbourg"), ("Algiers", "Alger"), ("Montreal", "Montréal"), ("Copenhagen", "Copenhague"),
]
MONTHS = list(zip(
    "January February March April May June July August September October November December".split(),
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre".split()))
DAYS = list(zip("Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split(), "lundi mardi mercredi jeudi vendredi samedi dimanche".split()))
WORDS = list(zip("two three four five six seven eight nine ten eleven twelve fifteen twenty thirty fifty".split(),
                 "deux trois quatre cinq six sept huit neuf dix onze douze quinze vingt trente cinquante".split()))
THINGS = [("books", "livres"), ("apples", "pommes"), ("chairs", "chaises"), ("students", "étudiants"), ("tickets", "billets"), ("letters", "lettres"),
          ("keys", "clés"), ("houses", "maisons"), ("eggs", "œufs"), ("cars", "voitures"), ("days", "jours"), ("windows", "fenêtres"), ("friends", "amis")]
TEMPLATES = [line.split(" | ") for line in """My name is {a}. | Je m'appelle {a}.
Her name is {a} {s}. | Elle s'appelle {a} {s}.
This is my friend {a}. | Voici mon ami {a}.
{a} and {b} are friends. | {a} et {b} sont amis.
{a} lives in {C}. | {a} habite à {c}.
{a} moved from {C} to {D}. | {a} a déménagé de {c} à {d}.
We are flying to {C} on {J}. | Nous prenons l'avion pour {c} {j}.
{a} gave {b} {N} {T}. | {a} a donné {n} {t} à {b}.
There are {i} {T} in this room. | Il y a {i} {t} dans cette pièce.
I bought {N} {T} for {i} euros. | J'ai acheté {n} {t} pour {i} euros.
It costs {i} dollars. | Cela coûte {i} dollars.
It costs {i}.{k} euros. | Cela coûte {i},{k} euros.
The train leaves at {h}:{k}. | Le train part à {h} h {k}.
The meeting begins at {h} o'clock. | La réunion commence à {h} heures.
It is half past {H}. | Il est {g} heures et demie.
It is a quarter past {H}. | Il est {g} heures et quart.
It is a quarter to {H}. | Il est {g} heures moins le quart.
It is {H} o'clock. | Il est {g} heures.
She was born on {M} {e}, {y}. | Elle est née le {e} {m} {y}.
He died in {y}. | Il est mort en {y}.
The war ended in {y}. | La guerre a pris fin en {y}.
See you on {J}, {M} {e}. | À {j} {e} {m}.
{a} is {i} years old. | {a} a {i} ans.
My sister {a} is {N} years older than {b}. | Ma sœur {a} a {n} ans de plus que {b}.
Call {a} at {h}:{k}. | Appelez {a} à {h} h {k}.
Our flight number is {u}{i}. | Le numéro de notre vol est {u}{i}.
Room {i} is on the {O} floor. | La chambre {i} est au {o} étage.
Page {i}, line {e}. | Page {i}, ligne {e}.
Dr. {s} is waiting for you. | Le docteur {s} vous attend.
Mrs. {s} teaches in {C}. | Madame {s} enseigne à {c}.
Mr. {s} has {N} {T}. | Monsieur {s} a {n} {t}.
Thank you for your letter, {a}. | Merci pour ta lettre, {a}.
{a}, where is {b}? | {a}, où est {b} ?
Does {a} know {b}? | Est-ce que {a} connaît {b} ?
{i} percent of the {T} are red. | {i} pour cent des {t} sont rouges.
{C} is {i} kilometers from {D}. | {c} est à {i} kilomètres de {d}.
{i} plus {e} is {z}. | {i} plus {e} font {z}.
{a} {s} wrote this book in {y}. | {a} {s} a écrit ce livre en {y}.
I saw {a} in {C} last {J}. | J'ai vu {a} à {c} {j} dernier.
{a} called me on {J} at {h}:{k}. | {a} m'a appelé {j} à {h} h {k}.
Between {y} and {x} she lived in {C}. | Entre {y} et {x}, elle a vécu à {c}.
The bus number {e} goes to {C}. | Le bus numéro {e} va à {c}.
{a} ran {e} kilometers in {i} minutes. | {a} a couru {e} kilomètres en {i} minutes.
My address is {i} {s} Street. | Mon adresse est {i}, rue {s}.""".splitlines()]
ORDINALS = list(zip("first second third fourth fifth sixth".split(), "premier deuxième troisième quatrième cinquième sixième".split()))


def name(rng, known):
    if rng.random() < 0.5:
        return rng.choice(known)
    parts = [rng.choice("bcdfghjklmnprstvwz") + rng.choice(["a", "e", "i", "o", "u", "ei", "ou", "y"]) + rng.choice(["", "", "n", "r", "l", "s", "k"])
             for _ in range(rng.choice([1, 2, 2, 3]))]
    return "".join(parts).capitalize()


def slots(rng):
    (C, c), (D, d) = rng.sample(CITIES, 2)
    (J, j), (M, m), (N, n), (T, t), (O, o) = map(rng.choice, (DAYS, MONTHS, WORDS, THINGS, ORDINALS))
    H, g = rng.choice(WORDS[:11])
    i, e = rng.choice([rng.randint(2, 99), rng.randint(100, 999), rng.randint(1000, 9999)]), rng.randint(2, 28)
    y = rng.randint(1700, 2015)
    u = "".join(rng.choice("ABFKLRSTUZ") for _ in range(2))
    known = {"a": name(rng, FIRST), "b": name(rng, FIRST), "s": name(rng, LAST), "h": rng.randint(2, 23), "k": f"{rng.randint(5, 59):02}"}
    return known | {"C": C, "c": c, "D": D, "d": d, "J": J, "j": j, "M": M, "m": m, "N": N, "n": n, "T": T, "t": t, "O": O, "o": o, "H": H, "g": g,
                    "i": i, "e": e, "z": i + e, "y": y, "x": y + rng.randint(1, 30), "u": u}


def made(rng):
    english, french = rng.choice(TEMPLATES)
    values = slots(rng)
    french = french.format(**values).replace(" de Le ", " du ").replace(" à Le ", " au ")
    return english.format(**values), re.sub(r"\b(qu|d)e (?=[AEIOUÉ])", r"\1'", french)


def joined(rng, pairs):
    return tuple(" ".join(side) for side in zip(*(rng.choice(pairs) for _ in range(rng.choice([2, 2, 3])))))


def main(out, *text):
    rng = random.Random(1)
    pairs = [made(rng) for _ in range(30_000)]
    if text:
        english, french = ([line.rstrip("\n") for line in open(path, encoding="utf-8")] for path in text)
        short = [pair for pair in zip(english, french, strict=True) if pair[0][-1:] in ".?!" and pair[1][-1:] in ".?!" and len(pair[0].split()) <= 12]
        own = [made(rng) for _ in range(2_000)]
        pairs += [joined(rng, own if rng.random() < 0.1 else short) for _ in range(40_000)]
    for side, suffix in enumerate((".en", ".fr")):
        with open(out + suffix, "w", encoding="utf-8") as file:
            file.writelines(pair[side] + "\n" for pair in pairs)


if __name__ == "__main__":
    main(*sys.argv[1:])

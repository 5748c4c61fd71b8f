#!/usr/bin/env python3
"""Bad runs among a thousand: each makes the answer to one question wrong, and `git brain bisect` must name it, in so many questions at most.

A brain learns one fact for each question. Then runs follow of which most say something else and a few, at places chosen by chance, reword a fact,
archive it and say another one, or only archive it. Each question is bisected by the word that its answer should have.
"""

import argparse
import json
import pathlib
import random
import subprocess
import tempfile

import lab

NAMES = ("Anselm Berthe Cedric Dorothea Elodie Fergus Greta Hamish Ilona Jonas Katrin Lorenz Mireille Nestor Ottilie Pascal Quentin Rosalie "
         "Sidonie Tobias Ursula Viktor Wanda Xaver Yvette Zacharie").split()
PLACES = "Aarhus Bilbao Cork Delft Esbjerg Faro Gdansk Huelva Imatra Jena Kotka Lucca Malmo Narvik Olomouc Porto Ronda Siena Turku Uppsala".split()
THINGS = "kettle ladder wagon saddle lantern anvil barrel carpet mirror pulley rudder shovel teapot violin whistle candle".split()
DEEDS = "mended painted weighed moved borrowed sold counted cleaned".split()


def create(neuron, concept):
    return {**lab.create(neuron), "concept": concept}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1000, help="runs after the facts (default %(default)s)")
    parser.add_argument("--planted", type=int, default=20, help="how many of them are bad, at most 26 (default %(default)s)")
    parser.add_argument("--most", type=int, default=12, help="questions of recall for each (default %(default)s)")
    parser.add_argument("--seed", type=int)
    arguments = parser.parse_args()
    seed = lab.seed_of(arguments)
    dice = random.Random(seed)
    with tempfile.TemporaryDirectory() as place:
        folder, env = pathlib.Path(place, "brain"), lab.environment(pathlib.Path(place))

        def brain(*args, given=""):
            done = subprocess.run([lab.PROGRAM, *args], cwd=folder, env=env, input=given.encode(), capture_output=True)
            if done.returncode:
                raise SystemExit(f"seed {seed}: git brain {args}: {done.stdout.decode()} {done.stderr.decode()}")
            return done.stdout.decode()

        def run(ops):
            return json.loads(brain("--json", "apply", "-", given=json.dumps({"ops": ops})))

        folder.mkdir(parents=True)
        brain("init", "--no-hooks", ".")
        facts = {name: dice.choice(PLACES) for name in dice.sample(NAMES, arguments.planted)}
        run([create(f"f-{name.lower()}", f"{name} lives in {home}") for name, home in facts.items()])
        good = subprocess.run(["git", "rev-parse", "wake"], cwd=folder, env=env, capture_output=True, check=True).stdout.decode().strip()
        bad = dict(zip(dice.sample(range(arguments.runs), len(facts)), facts))
        planted = {}
        for number in range(arguments.runs):
            name = bad.get(number)
            if name is None:
                run([create(f"n-{number}", f"the {dice.choice(THINGS)} number {number} was {dice.choice(DEEDS)}")])
                continue
            neuron, other = f"f-{name.lower()}", dice.choice([town for town in PLACES if town != facts[name]])
            gone = {"op": "archive", "id": neuron, "reason": "moved"}
            ops = dice.choice([
                [{"op": "reword", "id": neuron, "concept": f"{name} lives in {other}"}],
                [gone, create(f"g-{name.lower()}", f"{name} lives in {other}")],
                [gone],
            ])
            planted[name] = run(ops)["run"]
        asked, wrong = [], []
        for name, home in facts.items():
            said = json.loads(brain("--json", "bisect", "where", "does", name, "live", "--good", good, "--expect", f"{name} lives in {home}"))
            asked.append(said["questions"])
            if said["run"] != planted[name] or said["questions"] > arguments.most:
                wrong.append((name, planted[name], said))
        asked.sort()
        print(f"bisect: {len(facts) - len(wrong)} of {len(facts)} planted runs among {arguments.runs} named in at most {arguments.most} questions "
              f"(median {asked[len(asked) // 2]}, most {asked[-1]}); seed {seed}")
        for one in wrong:
            print(f"  {one}")
        raise SystemExit(bool(wrong))


if __name__ == "__main__":
    main()

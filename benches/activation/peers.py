"""The peers that live in Python: scipy's sparse matrices with our rules, and igraph's personalised PageRank.

    python peers.py scipy|igraph FOLDER QUESTIONS

FOLDER has the network as raw arrays. Prints one JSON line: milliseconds per question. scipy also writes what it found, to be
compared with ours: active.f64, pairs of (neuron, activation), one question after the other, each closed by (-1, 0).
"""

import json
import sys
import time

import numpy as np

FEEDS, INFLUENCES, INHIBITS, RECALLS, TRIGGERS = range(5)
DECAY, MIN, DEPTH, BEAM, KAPPA, THETA, FLOOR, TOP = 0.9, 0.01, 4, 1024, 1.0, 0.5, 3277, 50


def load(folder):
    read = lambda name, kind: np.fromfile(f"{folder}/{name}", dtype=kind)
    rows, targets = read("rows.u32", np.uint32).astype(np.int64), read("targets.u32", np.uint32).astype(np.int64)
    cues = read("cues.u32", np.uint32).astype(np.int64).reshape(-1, 5)
    return rows, targets, read("weights.u16", np.uint16), read("links.u8", np.uint8), read("saliences.u16", np.uint16), cues


class Frontier:
    """All waves of a question in lockstep, level by level. Everything that does not depend on the question is computed
    before the clock starts: the share of each edge includes its target's salience and the decay."""

    def __init__(self, rows, targets, weights, links, saliences):
        from scipy.sparse import csr_matrix

        self.n = len(rows) - 1
        edges = np.arange(len(targets), dtype=np.int64)
        # Row slices of a matrix of edge numbers bring targets and edges of a frontier together.
        self.matrix = csr_matrix((edges, targets, rows), shape=(self.n, self.n))
        self.share = weights / 65535.0 * (np.maximum(saliences, FLOOR) / 65535.0)[targets] * DECAY
        self.links = links
        self.own = saliences / 65535.0
        self.excitation = np.zeros(self.n * 5)
        self.visited = np.zeros(self.n * 5, dtype=bool)
        self.context = np.zeros(self.n)
        self.inhibition = np.zeros(self.n)

    def ask(self, cues):
        n, touched = self.n, []
        cues = cues[cues < n]
        keys, values = np.arange(len(cues)) * n + cues, np.ones(len(cues))
        all_keys, drives = [keys], [values]
        self.visited[keys] = True
        for _ in range(DEPTH):
            nodes = keys % n
            rows = self.matrix[nodes]
            counts = np.diff(rows.indptr)
            edges, targets = rows.data, rows.indices.astype(np.int64)
            links = self.links[edges]
            sent = np.repeat(values, counts)
            is_trigger = links == TRIGGERS
            change = sent - np.repeat(self.own[nodes], counts)
            arrives = np.where(is_trigger, change, sent) * self.share[edges]
            keep = (arrives >= MIN) & (~is_trigger | (change >= THETA))
            arrives, targets, links = arrives[keep], targets[keep], links[keep]
            waves = np.repeat(keys - nodes, counts)[keep]
            for link, sums in ((INFLUENCES, self.context), (INHIBITS, self.inhibition)):
                those = links == link
                if those.any():
                    np.add.at(sums, targets[those], arrives[those])
                    touched.append(targets[those])
            excites = (links != INFLUENCES) & (links != INHIBITS)
            reached = waves[excites] + targets[excites]
            np.maximum.at(self.excitation, reached, arrives[excites])
            reached = np.unique(reached)
            nodes = reached % n
            drive = self.excitation[reached] * (1.0 + KAPPA * np.minimum(1.0, self.context[nodes]))
            self.excitation[reached] = 0.0
            value = np.clip(drive - self.inhibition[nodes], 0.0, 1.0)
            keep = (value >= MIN) & ~self.visited[reached]
            keys, drive, values = reached[keep], drive[keep], value[keep]
            if len(keys) > BEAM:
                chosen = []
                for wave in np.unique(keys // n):
                    mine = np.flatnonzero(keys // n == wave)
                    chosen.append(mine[np.lexsort((keys[mine], -values[mine]))[:BEAM]])
                chosen = np.sort(np.concatenate(chosen))
                keys, drive, values = keys[chosen], drive[chosen], values[chosen]
            self.visited[keys] = True
            all_keys.append(keys)
            drives.append(drive)
            if len(keys) == 0:
                break
        keys, drives = np.concatenate(all_keys), np.concatenate(drives)
        nodes = keys % n
        reported = np.clip(drives - self.inhibition[nodes], 0.0, 1.0)
        active, place = np.unique(nodes, return_inverse=True)
        activation = np.bincount(place, weights=reported)
        best = np.argpartition(-activation, min(TOP, len(active)) - 1)[:TOP]
        best = active[best[np.argsort(-activation[best], kind="stable")]]
        self.visited[keys] = False
        for those in touched:
            self.context[those] = 0.0
            self.inhibition[those] = 0.0
        return active, activation, best


def scipy_peer(folder, questions):
    rows, targets, weights, links, saliences, cues = load(folder)
    frontier = Frontier(rows, targets, weights, links, saliences)
    times, found = [], []
    for question in cues[:questions]:
        start = time.perf_counter()
        active, activation, _ = frontier.ask(question)
        times.append((time.perf_counter() - start) * 1e3)
        found.append(np.append(np.stack([active.astype(float), activation], axis=1), [[-1.0, 0.0]], axis=0))
    np.concatenate(found).tofile(f"{folder}/active.f64")
    return times


def igraph_peer(folder, questions):
    import igraph

    rows, targets, weights, _, _, cues = load(folder)
    sources = np.repeat(np.arange(len(rows) - 1), np.diff(rows))
    graph = igraph.Graph(n=len(rows) - 1, edges=np.stack([sources, targets], axis=1), directed=True)
    graph.es["weight"] = weights.astype(float)
    times = []
    for question in cues[:questions]:
        question = [int(cue) for cue in question if cue < len(rows) - 1]
        start = time.perf_counter()
        rank = np.array(graph.personalized_pagerank(reset_vertices=question, weights="weight"))
        np.argpartition(-rank, TOP)[:TOP]
        times.append((time.perf_counter() - start) * 1e3)
    return times


if __name__ == "__main__":
    peer = {"scipy": scipy_peer, "igraph": igraph_peer}[sys.argv[1]]
    print(json.dumps(peer(sys.argv[2], int(sys.argv[3]))))

"""The peers that live in Python: scipy's sparse matrices with our rules, in two ways, and igraph's personalised PageRank.

    python peers.py lockstep|waves|igraph FOLDER QUESTIONS BEAM

FOLDER has the network as raw arrays. Prints one JSON line: milliseconds per question. scipy also writes what it found, to be
compared with ours: active.f64, pairs of (neuron, activation), one question after the other, each closed by (-1, 0).
"""

import json
import sys
import time

import numpy as np

FEEDS, INFLUENCES, INHIBITS, RECALLS, TRIGGERS = range(5)
DECAY, MIN, DEPTH, KAPPA, THETA, FLOOR, TOP = 0.9, 0.01, 4, 1.0, 0.5, 3277, 50


def load(folder):
    read = lambda name, kind: np.fromfile(f"{folder}/{name}", dtype=kind)
    rows, targets = read("rows.u32", np.uint32).astype(np.int64), read("targets.u32", np.uint32).astype(np.int64)
    cues = read("cues.u32", np.uint32).astype(np.int64).reshape(-1, 5)
    return rows, targets, read("weights.u16", np.uint16), read("links.u8", np.uint8), read("saliences.u16", np.uint16), cues


class Lockstep:
    """All waves of a question in lockstep, level by level. Everything that does not depend on the question is computed
    before the clock starts: the share of each edge includes its target's salience and the decay."""

    def __init__(self, rows, targets, weights, links, saliences, beam):
        from scipy.sparse import csr_matrix

        self.n, self.beam = len(rows) - 1, beam
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
            if len(keys) > self.beam:
                chosen = []
                for wave in np.unique(keys // n):
                    mine = np.flatnonzero(keys // n == wave)
                    chosen.append(mine[np.lexsort((keys[mine], -values[mine]))[: self.beam]])
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
        active, activation, best = summed(nodes, reported)
        self.visited[keys] = False
        for those in touched:
            self.context[those] = 0.0
            self.inhibition[those] = 0.0
        return active, activation, best


class Waves:
    """One wave after the other, as it is written down: a sparse matrix for each type of connection; at each level every wave
    slices the rows of its frontier out of them and keeps the maximum of each target that it reaches. Factors of salience are
    computed in the question."""

    def __init__(self, rows, targets, weights, links, saliences, beam):
        from scipy.sparse import csr_matrix

        self.n, self.beam, self.saliences = len(rows) - 1, beam, saliences
        sources = np.repeat(np.arange(self.n), np.diff(rows))
        of = lambda link: (weights[links == link] / 65535.0, (sources[links == link], targets[links == link]))
        self.matrices = {link: csr_matrix(of(link), shape=(self.n, self.n)) for link in range(5)}

    def arrivals(self, link, nodes, sent):
        rows = self.matrices[link][nodes]
        targets = rows.indices
        factor = np.maximum(self.saliences[targets], FLOOR) / 65535.0
        strength = np.repeat(sent, np.diff(rows.indptr)) * rows.data * factor * DECAY
        keep = strength >= MIN
        return targets[keep], strength[keep]

    def ask(self, cues):
        context, inhibition = np.zeros(self.n), np.zeros(self.n)
        cues = cues[cues < self.n]
        frontiers = [(np.array([cue]), np.ones(1)) for cue in cues]
        visited = [frontier for frontier, _ in frontiers]
        drives = [np.ones(1) for _ in cues]
        for _ in range(DEPTH):
            arrived = []
            for nodes, values in frontiers:
                for link, sums in ((INFLUENCES, context), (INHIBITS, inhibition)):
                    np.add.at(sums, *self.arrivals(link, nodes, values))
                change = values - self.saliences[nodes] / 65535.0
                far = change >= THETA
                parts = [self.arrivals(link, nodes, values) for link in (FEEDS, RECALLS)]
                parts.append(self.arrivals(TRIGGERS, nodes[far], change[far]))
                targets, place = np.unique(np.concatenate([part[0] for part in parts]), return_inverse=True)
                strongest = np.zeros(len(targets))
                np.maximum.at(strongest, place, np.concatenate([part[1] for part in parts]))
                arrived.append((targets, strongest))
            for wave, (nodes, strongest) in enumerate(arrived):
                drive = strongest * (1.0 + KAPPA * np.minimum(1.0, context[nodes]))
                value = np.clip(drive - inhibition[nodes], 0.0, 1.0)
                keep = (value >= MIN) & ~np.isin(nodes, visited[wave])
                nodes, drive, value = nodes[keep], drive[keep], value[keep]
                if len(nodes) > self.beam:
                    chosen = np.sort(np.lexsort((nodes, -value))[: self.beam])
                    nodes, drive, value = nodes[chosen], drive[chosen], value[chosen]
                frontiers[wave] = (nodes, value)
                visited[wave] = np.concatenate([visited[wave], nodes])
                drives[wave] = np.concatenate([drives[wave], drive])
        nodes = np.concatenate(visited)
        return summed(nodes, np.clip(np.concatenate(drives) - inhibition[nodes], 0.0, 1.0))


def summed(nodes, reported):
    """Neurons ascending, what they have in all waves, and the best, best first."""
    active, place = np.unique(nodes, return_inverse=True)
    activation = np.bincount(place, weights=reported)
    best = np.argpartition(-activation, min(TOP, len(active)) - 1)[:TOP]
    return active, activation, active[best[np.argsort(-activation[best], kind="stable")]]


def scipy_peer(way, folder, questions, beam):
    rows, targets, weights, links, saliences, cues = load(folder)
    network = way(rows, targets, weights, links, saliences, beam)
    times, found = [], []
    for question in cues[:questions]:
        start = time.perf_counter()
        active, activation, _ = network.ask(question)
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
    peer, folder, questions, beam = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    if peer == "igraph":
        print(json.dumps(igraph_peer(folder, questions)))
    else:
        way = {"lockstep": Lockstep, "waves": Waves}[peer]
        print(json.dumps(scipy_peer(way, folder, questions, beam)))

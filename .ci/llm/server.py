#!/usr/bin/env python3
"""The real llama.cpp server on this machine: MODEL.gguf PORT READY [--embeddings]. Makes the file READY when it listens. Needs xllamacpp."""

import pathlib
import sys
import threading

import xllamacpp


def main():
    params = xllamacpp.CommonParams()
    params.model.path, params.port = sys.argv[1], int(sys.argv[2])
    params.hostnames = ["127.0.0.1"]
    params.n_ctx, params.n_parallel = 32768, 2
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.warmup, params.ui, params.offline, params.use_jinja = False, False, True, True
    params.cache_ram_mib = 0
    if "--embeddings" in sys.argv:
        params.embedding = True
        params.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
    server = xllamacpp.Server(params)
    # A file: its own log may be in the middle of a line.
    pathlib.Path(sys.argv[3]).write_text(server.listening_address)
    threading.Event().wait()


if __name__ == "__main__":
    main()

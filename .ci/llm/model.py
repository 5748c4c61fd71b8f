#!/usr/bin/env python3
"""Writes a language model of 384 tokens whose weights are the bigrams of some text: OUT.gguf [TEXT].

A byte 0 in the text ends a turn. It knows nothing, and it is a real model: a real llama.cpp server loads it, streams from it, and, held to a schema, answers with
JSON that fits it. Needs gguf and numpy.
"""

import sys

import gguf
import numpy as np

CONTROL = {"unk": 0, "bos": 1, "eos": 2, "turn": 3, "end": 4}
BYTES, LETTERS = 5, 5 + 256
WIDTH = 384
HEADS = 4
HIDDEN = 32
# Each message between marks; what the model says ends with the closing one.
TEMPLATE = ("{% for m in messages %}{{ '<|turn|>' + m.role + '\n' + (m.content or '') + '<|end|>\n' }}{% endfor %}"
            "{% if add_generation_prompt %}{{ '<|turn|>assistant\n' }}{% endif %}")
SAMPLE = "tea is a drink that people make of leaves and hot water. memory keeps what was said, and a brain is asked for it later. " * 40


def vocabulary():
    """Tokens and their kinds: control, one for each byte, one for each printable letter, and some that nobody uses."""
    kind = gguf.TokenType
    tokens = [(b"<unk>", kind.UNKNOWN), (b"<s>", kind.CONTROL), (b"</s>", kind.CONTROL), (b"<|turn|>", kind.CONTROL), (b"<|end|>", kind.CONTROL)]
    tokens += [(b"<0x%02X>" % byte, kind.BYTE) for byte in range(256)]
    tokens += [("\u2581" if code == 32 else chr(code), kind.NORMAL) for code in range(32, 127)]
    tokens += [(b"<unused%d>" % n, kind.UNUSED) for n in range(len(tokens), WIDTH)]
    return [(text.encode() if isinstance(text, str) else text, of) for text, of in tokens]


def token(letter):
    if letter == "\0":
        return CONTROL["end"]
    return BYTES + 10 if letter == "\n" else LETTERS + ord(letter) - 32


def follows(text):
    """How likely each token is after each other one, as logarithms."""
    text = "".join(letter for letter in text if letter in "\n\0" or " " <= letter <= "~")
    counts = np.full((WIDTH, WIDTH), 1e-4)
    ids = np.array([token(letter) for letter in text])
    np.add.at(counts, (ids[:-1], ids[1:]), 1.0)
    usual = np.bincount(ids, minlength=WIDTH) / len(ids)
    if "\0" in text:
        # What begins a turn, and nothing else that the text does not say.
        counts[token("\n"), token(text[0])] += len(ids)
    else:
        counts += usual
        # Strings, objects and turns come to an end now and then.
        total = counts.sum(axis=1)
        for letter, share in {'"': 0.08, "}": 0.03, "]": 0.03, "0": 0.01, ".": 0.01, "\0": 0.01}.items():
            counts[:, token(letter)] += share * total
    for never in ("unk", "bos", "eos", "turn"):
        counts[:, CONTROL[never]] = 1e-9
    counts[:, LETTERS + 95:] = 1e-9
    return np.log(counts / counts.sum(axis=1, keepdims=True))


def main():
    path, text = sys.argv[1], open(sys.argv[2], encoding="utf-8").read() if len(sys.argv) > 2 else SAMPLE
    tokens = vocabulary()
    out = gguf.GGUFWriter(path, "llama")
    out.add_name("bigrams")
    out.add_context_length(32768)
    out.add_embedding_length(WIDTH)
    out.add_block_count(1)
    out.add_feed_forward_length(HIDDEN)
    out.add_head_count(HEADS)
    out.add_head_count_kv(1)
    out.add_layer_norm_rms_eps(1e-5)
    out.add_rope_dimension_count(WIDTH // HEADS)
    out.add_vocab_size(WIDTH)
    out.add_file_type(0)
    out.add_tokenizer_model("llama")
    out.add_token_list([text for text, _ in tokens])
    out.add_token_scores([-1000.0 if of == gguf.TokenType.BYTE else -n / 1000 for n, (_, of) in enumerate(tokens)])
    out.add_token_types([int(of) for _, of in tokens])
    out.add_unk_token_id(CONTROL["unk"])
    out.add_bos_token_id(CONTROL["bos"])
    out.add_eos_token_id(CONTROL["end"])
    out.add_add_bos_token(True)
    out.add_add_eos_token(False)
    out.add_add_space_prefix(False)
    out.add_chat_template(TEMPLATE)
    # The embedding of a token is its own axis, the layers add nothing, and the output reads the row of the last token. The norm makes
    # that axis as long as the square root of the width.
    small = WIDTH // HEADS
    zeros = {"attn_q": (WIDTH, WIDTH), "attn_k": (small, WIDTH), "attn_v": (small, WIDTH), "attn_output": (WIDTH, WIDTH),
             "ffn_gate": (HIDDEN, WIDTH), "ffn_up": (HIDDEN, WIDTH), "ffn_down": (WIDTH, HIDDEN)}
    tensors = {"token_embd": np.eye(WIDTH), "output_norm": np.ones(WIDTH), "output": follows(text).T / np.sqrt(WIDTH),
               "blk.0.attn_norm": np.ones(WIDTH), "blk.0.ffn_norm": np.ones(WIDTH)}
    tensors.update({f"blk.0.{name}": np.zeros(shape) for name, shape in zeros.items()})
    for name, values in tensors.items():
        out.add_tensor(f"{name}.weight", values.astype(np.float32))
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()


if __name__ == "__main__":
    main()

"""RNNsearch (Bahdanau, Cho, Bengio 2015) decodes a file by beam search, in plain PyTorch.

    python decode.py MODEL_DIR FILE BEAM MAX_LENGTH [batch=1] [threads=2] [device=cpu]

MODEL_DIR is a model folder, FILE has a sentence a line, words split by spaces. The last line of the output is a JSON
object: words_per_s (target words), median_s and p95_s (of a batch), first (the ids of the best translation of the first
sentence) and score (its log p). `cargo bench --bench bench -- decode --peer "python decode.py"` runs it by
turns with Interlinear.

It is written as a careful user of PyTorch would: the matrices of the gates joined, U_a h_j computed once a sentence, the
hypotheses of all sentences of a batch as one tensor, inference mode. Matrices are stored [out, in] and are transposed
once. Shapes: b sentences, k hypotheses, t source words, n hidden units, l maxout units.
"""

import json
import sys
import time
from pathlib import Path

import torch
from safetensors.torch import load_file

EOS, UNK = 0, 1
NEVER = -1e30


class Gates:
    """A gated unit: s' = (1 - z) s + z s~, with r applied to s before U."""

    def __init__(self, weights, prefix):
        parts = ("_z", "_r", "")
        joined = lambda letter: torch.cat([weights[f"{prefix}.{letter}{part}"] for part in parts])
        self.n = weights[f"{prefix}.U"].shape[0]
        self.w = joined("W").T.contiguous()
        self.b = joined("b")
        self.c = joined("C").T.contiguous() if f"{prefix}.C" in weights else None
        self.u_zr = torch.cat([weights[f"{prefix}.U_z"], weights[f"{prefix}.U_r"]]).T.contiguous()
        self.u = weights[f"{prefix}.U"].T.contiguous()

    def words(self, embedded):
        """W e + b of the three parts, for any number of words at once."""
        return embedded @ self.w + self.b

    def step(self, x, s):
        """The next state; x is what does not depend on s."""
        n = self.n
        zr = torch.sigmoid(x[..., : 2 * n] + s @ self.u_zr)
        z, r = zr[..., :n], zr[..., n:]
        return s + z * (torch.tanh(x[..., 2 * n :] + (r * s) @ self.u) - s)


class RnnSearch:
    def __init__(self, folder, device):
        config = json.loads((folder / "config.json").read_text())
        if config["architecture"] != "rnnsearch":
            sys.exit(f"only rnnsearch is decoded here, not {config['architecture']}")
        if (config["eos"], config["unk"]) != (EOS, UNK) or not config["source_eos"]:
            sys.exit("</s> must be 0, [UNK] 1, and sentences must end with </s>")
        weights = load_file(folder / "model.safetensors")
        self.weights = weights = {name: tensor.float().to(device) for name, tensor in weights.items()}
        self.device, self.n, self.l, self.m = device, config["hidden"], config["maxout"], config["embedding"]
        self.forward, self.backward, self.decoder = (
            Gates(weights, prefix) for prefix in ("encoder.forward", "encoder.backward", "decoder")
        )
        transposed = lambda name: weights[name].T.contiguous()
        self.w_s, self.w_a, self.u_a = map(transposed, ("decoder.W_s", "attention.W_a", "attention.U_a"))
        self.u_o, self.v_o, self.c_o, self.w_o = map(
            transposed, ("readout.U_o", "readout.V_o", "readout.C_o", "readout.W_o")
        )

    def encode(self, sentences):
        """h_j [b, t, 2n], U_a h_j + b_a, s_0 [b, n], and 0 or NEVER for each word [b, t]."""
        b, t = len(sentences), max(map(len, sentences))
        ids = torch.zeros(b, t, dtype=torch.long)
        mask = torch.zeros(b, t)
        for row, sentence in enumerate(sentences):
            ids[row, : len(sentence)] = torch.tensor(sentence)
            mask[row, : len(sentence)] = 1
        mask = mask.to(self.device)
        embedded = self.weights["source_embedding"][ids.to(self.device)]
        forward = self.read(self.forward, embedded, mask, range(t))
        backward = self.read(self.backward, embedded, mask, reversed(range(t)))
        h = torch.cat([forward, backward], -1)
        s = torch.tanh(backward[:, 0] @ self.w_s + self.weights["decoder.b_s"])
        return h, h @ self.u_a + self.weights["attention.b_a"], s, (1 - mask) * NEVER

    def read(self, gates, embedded, mask, order):
        x = gates.words(embedded)
        state = torch.zeros(len(mask), self.n, device=self.device)
        states = [state] * mask.shape[1]
        for j in order:
            here = mask[:, j : j + 1]
            state = here * gates.step(x[:, j], state) + (1 - here) * state
            states[j] = state
        return torch.stack(states, 1)

    def step(self, annotations, keys, hidden, s, e_y):
        """log p of every next word [b, k, K] and the next states [b, k, n]."""
        weights = self.weights
        e = torch.tanh((s @ self.w_a).unsqueeze(2) + keys.unsqueeze(1)) @ weights["attention.v_a"]
        alpha = torch.softmax(e + hidden.unsqueeze(1), -1)
        c = alpha @ annotations
        t_tilde = s @ self.u_o + e_y @ self.v_o + c @ self.c_o + weights["readout.b_o"]
        t = t_tilde.unflatten(-1, (self.l, 2)).amax(-1)
        log_p = torch.log_softmax(t @ self.w_o + weights["readout.b_w"], -1)
        return log_p, self.decoder.step(self.decoder.words(e_y) + c @ self.decoder.c, s)

    @torch.inference_mode()
    def decode(self, sentences, beam, max_length):
        """The best translation of each sentence: log p and ids. A hypothesis that ends leaves, and the beam shrinks."""
        h, keys, s, hidden = self.encode(sentences)
        b, device = len(sentences), self.device
        s = s.unsqueeze(1)
        e_y = torch.zeros(b, 1, self.m, device=device)
        scores = torch.zeros(b, 1, device=device)
        words = torch.zeros(b, 1, 0, dtype=torch.long, device=device)
        room = torch.full((b, 1), beam, device=device)
        rank = torch.arange(beam, device=device)
        finished = [[] for _ in sentences]
        for _ in range(max_length):
            log_p, s_next = self.step(h, keys, hidden, s, e_y)
            vocabulary = log_p.shape[-1]
            scores, chosen = (scores.unsqueeze(-1) + log_p).flatten(1).topk(beam)
            scores = scores.masked_fill(rank >= room, NEVER)
            parent, word = chosen // vocabulary, chosen % vocabulary
            s = s_next.gather(1, parent.unsqueeze(-1).expand(-1, -1, self.n))
            words = words.gather(1, parent.unsqueeze(-1).expand(-1, -1, words.shape[-1]))
            words = torch.cat([words, word.unsqueeze(-1)], -1)
            ends = (word == EOS) & (scores > NEVER / 2)
            if ends.any():
                for row, column in ends.nonzero().tolist():
                    finished[row].append((scores[row, column].item(), words[row, column].tolist()))
                scores = scores.masked_fill(ends, NEVER)
                room = room - ends.sum(1, keepdim=True)
                if not (room > 0).any():
                    break
            e_y = self.weights["target_embedding"][word]
        unfinished = lambda row: (scores[row, 0].item(), words[row, 0].tolist())
        return [max(finished[row]) if finished[row] else unfinished(row) for row in range(b)]


def main():
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    folder, text, beam, max_length = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    options = {"batch": "1", "threads": "2", "device": "cpu"}
    options.update(argument.split("=", 1) for argument in sys.argv[5:])
    if unknown := options.keys() - {"batch", "threads", "device"}:
        sys.exit(f"there is no option {', '.join(unknown)}")
    torch.set_num_threads(int(options["threads"]))
    batch = int(options["batch"])
    model = RnnSearch(folder, options["device"])
    vocabulary = json.loads((folder / "source.tokenizer.json").read_text())["model"]["vocab"]
    with open(text, encoding="utf-8") as lines:
        sentences = [[vocabulary.get(word, UNK) for word in line.split()] + [EOS] for line in lines]
    model.decode(sentences[:batch], beam, max_length)  # not counted
    seconds, best = [], []
    for first in range(0, len(sentences), batch):
        began = time.perf_counter()
        best += model.decode(sentences[first : first + batch], beam, max_length)
        seconds.append(time.perf_counter() - began)
    words = sum(len(ids) for _, ids in best)
    whole = sum(seconds)
    seconds.sort()
    print(json.dumps({
        "sentences": len(sentences),
        "words_per_s": words / whole,
        "median_s": seconds[len(seconds) // 2],
        "p95_s": seconds[int(len(seconds) * 0.95)],
        "first": best[0][1],
        "score": best[0][0],
    }))


main()

"""Full training updates of RNNsearch (Bahdanau et al. 2015) or RNNencdec (Cho et al. 2014) on random pairs, in plain
PyTorch.

    python train.py rnnsearch|rnnencdec [threads=2] [updates=6] [B=80] [length=13] [V=12000] [n=320] [m=256] [l=256] [drop=0.2]

The last line of the output is a JSON object: words_per_second (target words, </s> included, of the median update), the
seconds of each update and the loss of the last. `cargo bench --bench bench -- training --train-peer
"python train.py"` runs it by turns with Interlinear.

An update is the minibatch, the loss, its gradient by autograd, clipping of the norm at 1, and Adam. It is written as a
careful user of PyTorch would: what does not depend on the state is computed for all words at once, the output layer
once for the whole minibatch. Shapes: t words, b pairs, n hidden units, m embedding, l maxout units, V vocabulary.
"""

import json
import math
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F

OPTIONS = {"threads": 2, "updates": 6, "B": 80, "length": 13, "V": 12_000, "n": 320, "m": 256, "l": 256, "drop": 0.2}
WARM_UP = 1


def matrix(rows, columns):
    return nn.Parameter(torch.randn(rows, columns) / math.sqrt(rows))


def zeros(size):
    return nn.Parameter(torch.zeros(size))


class SearchGates(nn.Module):
    """RNNsearch, appendix A: s' = (1 - z) s + z s~, and r applies to s before U. `context` is the width of c."""

    def __init__(self, inputs, n, context=0):
        super().__init__()
        self.n = n
        self.w, self.b = matrix(inputs, 3 * n), zeros(3 * n)
        self.u_zr, self.u = matrix(n, 2 * n), matrix(n, n)
        self.c = matrix(context, 3 * n) if context else None

    def words(self, embedded):
        return embedded @ self.w + self.b

    def forward(self, x, s):
        n = self.n
        zr = torch.sigmoid(x[:, : 2 * n] + s @ self.u_zr)
        z, r = zr[:, :n], zr[:, n:]
        return s + z * (torch.tanh(x[:, 2 * n :] + (r * s) @ self.u) - s)


class EncDecGates(SearchGates):
    """RNNencdec, appendix A: h' = z h + (1 - z) h~. In the decoder r covers C c as well."""

    def forward(self, x, s, from_context=None):
        n = self.n
        given = x if from_context is None else torch.cat([x[:, : 2 * n] + from_context[:, : 2 * n], x[:, 2 * n :]], -1)
        zr = torch.sigmoid(given[:, : 2 * n] + s @ self.u_zr)
        z, r = zr[:, :n], zr[:, n:]
        if from_context is None:
            proposal = torch.tanh(given[:, 2 * n :] + (r * s) @ self.u)
        else:
            proposal = torch.tanh(given[:, 2 * n :] + r * (s @ self.u + from_context[:, 2 * n :]))
        return proposal + z * (s - proposal)


class Readout(nn.Module):
    """Maxout of the state, the word before and the context, then the logits."""

    def __init__(self, n, m, context, l, vocabulary):
        super().__init__()
        self.l = l
        self.u_o, self.v_o, self.c_o, self.b_o = matrix(n, 2 * l), matrix(m, 2 * l), matrix(context, 2 * l), zeros(2 * l)
        self.w_o, self.b_w = matrix(l, vocabulary), zeros(vocabulary)

    def forward(self, s, e_y, c, dropout):
        t_tilde = s @ self.u_o + e_y @ self.v_o + c @ self.c_o + self.b_o
        return dropout(t_tilde.unflatten(-1, (self.l, 2)).amax(-1)) @ self.w_o + self.b_w


class Model(nn.Module):
    """What both models share: embeddings, dropout, the readout and the loss."""

    def __init__(self, o, context):
        super().__init__()
        self.m, self.n = o["m"], o["n"]
        self.source = nn.Parameter(0.1 * torch.randn(o["V"], self.m))
        self.target = nn.Parameter(0.1 * torch.randn(o["V"], self.m))
        self.readout = Readout(self.n, self.m, context, o["l"], o["V"])
        self.dropout = nn.Dropout(o["drop"])

    def read(self, gates, embedded, order):
        x = gates.words(embedded)
        state = torch.zeros(embedded.shape[1], self.n)
        states = [state] * len(embedded)
        for j in order:
            state = gates(x[j], state)
            states[j] = state
        return states

    def before(self, y):
        """The embedding of the word before each; zeros before the first."""
        return torch.cat([torch.zeros(1, y.shape[1], self.m), self.dropout(self.target[y[:-1]])])

    def loss(self, x, y):
        """Summed -log p of y [t, b] given x [t, b]."""
        e_y = self.before(y)
        states, contexts = self.states(self.dropout(self.source[x]), e_y)
        logits = self.readout(states, e_y, contexts, self.dropout)
        return F.cross_entropy(logits.flatten(0, 1), y.flatten(), reduction="sum")


class RnnSearch(Model):
    def __init__(self, o):
        n, m = o["n"], o["m"]
        super().__init__(o, 2 * n)
        self.forwards, self.backwards, self.decoder = SearchGates(m, n), SearchGates(m, n), SearchGates(m, n, 2 * n)
        self.w_s, self.b_s = matrix(n, n), zeros(n)
        # the alignment model's n' is n
        self.w_a, self.u_a, self.b_a, self.v_a = matrix(n, n), matrix(2 * n, n), zeros(n), matrix(n, 1)

    def states(self, embedded, e_y):
        """s_{i-1} and c_i of every target word, which the readout of this model uses."""
        t = len(embedded)
        forward = self.read(self.forwards, embedded, range(t))
        backward = self.read(self.backwards, embedded, reversed(range(t)))
        h = torch.cat([torch.stack(forward), torch.stack(backward)], -1).transpose(0, 1).contiguous()
        keys = h @ self.u_a + self.b_a
        s = torch.tanh(backward[0] @ self.w_s + self.b_s)
        x = self.decoder.words(e_y)
        states, contexts = [], []
        for x_i in x:
            e_i = (torch.tanh((s @ self.w_a).unsqueeze(1) + keys) @ self.v_a).squeeze(-1)
            c_i = (torch.softmax(e_i, -1).unsqueeze(1) @ h).squeeze(1)
            states.append(s)
            contexts.append(c_i)
            s = self.decoder(x_i + c_i @ self.decoder.c, s)
        return torch.stack(states), torch.stack(contexts)


class RnnEncDec(Model):
    def __init__(self, o):
        n, m = o["n"], o["m"]
        super().__init__(o, n)
        self.encoder, self.decoder = EncDecGates(m, n), EncDecGates(m, n, n)
        self.v, self.b_c, self.v_s, self.b_s = matrix(n, n), zeros(n), matrix(n, n), zeros(n)

    def states(self, embedded, e_y):
        """h'_t and c of every target word; the readout of this model uses the new state."""
        last = self.read(self.encoder, embedded, range(len(embedded)))[-1]
        c = torch.tanh(last @ self.v + self.b_c)
        state = torch.tanh(c @ self.v_s + self.b_s)
        from_context = c @ self.decoder.c
        states = []
        for x_t in self.decoder.words(e_y):
            state = self.decoder(x_t, state, from_context)
            states.append(state)
        return torch.stack(states), c.expand(len(states), -1, -1)


MODELS = {"rnnsearch": RnnSearch, "rnnencdec": RnnEncDec}


def main():
    if len(sys.argv) < 2 or sys.argv[1] not in MODELS:
        sys.exit(f"the first argument is one of {', '.join(MODELS)}")
    o = dict(OPTIONS)
    for argument in sys.argv[2:]:
        key, value = argument.split("=", 1)
        if key not in o:
            sys.exit(f"there is no option {key}")
        o[key] = type(o[key])(value)
    torch.set_num_threads(o["threads"])
    torch.manual_seed(1)
    model = MODELS[sys.argv[1]](o)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    seconds, loss = [], torch.zeros(())
    for _ in range(WARM_UP + o["updates"]):
        x, y = (torch.randint(2, o["V"], (o["length"], o["B"])) for _ in range(2))
        x[-1] = y[-1] = 0  # </s>
        began = time.perf_counter()
        loss = model.loss(x, y)
        (loss / o["B"]).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        seconds.append(time.perf_counter() - began)
    words = o["B"] * o["length"]
    counted = sorted(seconds[WARM_UP:])
    print(json.dumps({
        "words_per_second": words / counted[len(counted) // 2],
        "seconds": seconds[WARM_UP:],
        "nll": loss.item() / words,
    }))


main()

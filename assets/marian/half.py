"""Weights of Marian as float16, half as large, and back: `half.py FROM.npz TO.npz`; the kind that FROM has not is written.

Start from a file that was turned back with `--pretrained-model`; Adam's state is not kept.
"""
import sys

import numpy as np

source, target = sys.argv[1:]
with np.load(source) as file:
    arrays = dict(file)
weights = [name for name, array in arrays.items() if array.dtype in (np.float16, np.float32)]
turned = np.float32 if any(arrays[name].dtype == np.float16 for name in weights) else np.float16
for name in weights:
    arrays[name] = arrays[name].astype(turned)
np.savez(target, **arrays)
print(f"{target}: {len(weights)} arrays, {sum(arrays[name].size for name in weights):,} numbers as {np.dtype(turned)}")

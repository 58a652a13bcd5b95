#!/bin/sh
# What cargo calls in the place of rustc for this crate alone (RUSTC_WORKSPACE_WRAPPER, set by release.sh): as the compiler does it for
# size, functions that nobody marked are put into their callers only where they are small. Kernels are marked.
exec "$@" -C llvm-args=-inline-threshold=50

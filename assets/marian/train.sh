#!/bin/bash
# Starts the training in the background, or goes on with it; pid has its process (kill -STOP, -CONT; TERM saves and ends).
set -eu
FROM=$(cd "$(dirname "$0")" && pwd)
MARIAN=${MARIAN:-pymarian}
export OMP_NUM_THREADS=1 MKL_NUM_THREADS=1
if [ -s pid ] && kill -0 "$(cat pid)" 2>/dev/null; then echo "is running already: $(cat pid)"; exit 1; fi
mkdir -p model tmp
rm -f pid
# Linux divides a processor among sessions first. The training has its own session, which gives way to all others.
setsid nohup sh -c 'echo $$ > pid; [ -w /proc/$$/autogroup ] && echo 19 > /proc/$$/autogroup; exec nice -n 19 "$@"' \
  sh "$MARIAN" train --config "$FROM/train.yml" >> train.out 2>&1 < /dev/null &
for _ in $(seq 50); do [ -s pid ] && break; sleep 0.1; done
echo "training: process and group $(cat pid), log in train.log"

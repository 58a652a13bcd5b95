#!/bin/bash
# BLEU (sacreBLEU, 13a, cased) of the best checkpoint on a test set, beam 5, one thread.
set -eu
MARIAN=${MARIAN:-pymarian}
SACREBLEU=${SACREBLEU:-sacrebleu}
CORPORA=${CORPORA:?the folder of the test sets}
MODEL=${MODEL:-model/model.npz.best-bleu.npz}
TEST=${TEST:-tatoeba/test}
NORMALIZE=${NORMALIZE:-0} # 0 ranks by log p, as Interlinear does
export OMP_NUM_THREADS=1 MKL_NUM_THREADS=1
OUT=$(basename "$MODEL").${TEST//\//-}.fr
nice -n 19 "$MARIAN" decode --models "$MODEL" --vocabs data/vocab.enfr.spm data/vocab.enfr.spm --beam-size 5 \
  --normalize "$NORMALIZE" --mini-batch 16 --maxi-batch 100 --maxi-batch-sort src --cpu-threads 1 --workspace 500 --quiet \
  < "$CORPORA/$TEST.en" > "$OUT"
nice -n 19 "$SACREBLEU" "$CORPORA/$TEST.fr" -i "$OUT" -m bleu chrf -w 2 --format text

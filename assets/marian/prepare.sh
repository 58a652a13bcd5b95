#!/bin/bash
# Makes the training data in the current folder: text, distilled translations, SentencePiece, links of pieces.
set -eu
FROM=$(cd "$(dirname "$0")" && pwd)
CORPORA=${CORPORA:?the folder of tatoeba, multi30k, news and europarl, a line of STEM.en for each of STEM.fr}
INTERLINEAR=${INTERLINEAR:-interlinear}
TEACHER=${TEACHER:-$FROM/../../models/rnnsearch-guided-en-fr}
ALIGNER=${ALIGNER:-$FROM/../aligner/en-fr.aligner}
PYTHON=${PYTHON:-python3}
THREADS=${THREADS:-1}
export OMP_NUM_THREADS=1
mkdir -p data
echo $$ > pid # kill -STOP -- -$(cat pid) if started by setsid

# 1. Text: everyday sentences, captions, news of at most 20 words, parliament of at most 12.
pairs() { # NAME MOST_WORDS STEM...
  local name=$1 most=$2; shift 2
  for stem in "$@"; do
    paste <(zstd -dcqf "$CORPORA/$stem.en"*) <(zstd -dcqf "$CORPORA/$stem.fr"*)
  done | awk -F'\t' -v most="$most" 'split($1, a, " ") <= most && split($2, b, " ") <= most + most / 4' > "data/$name.tsv"
  cut -f1 "data/$name.tsv" > "data/$name.en"; cut -f2 "data/$name.tsv" > "data/$name.fr"; rm "data/$name.tsv"
}
pairs tatoeba 50 tatoeba/train
pairs multi30k 30 multi30k/train
pairs news 20 news/train news/postedit
pairs europarl 12 europarl/train.00

# 2. Distillation: each distinct English everyday sentence once, translated by the bundled model.
for name in multi30k news europarl; do : > "data/$name.distinct"; : > "data/$name.distilled"; done
awk '!seen[$0]++' data/tatoeba.en > data/tatoeba.distinct
if [ ! -s data/tatoeba.distilled ]; then
  nice -n 19 "$INTERLINEAR" translate --model "$TEACHER" --threads "$THREADS" --batch 64 --beam 5 --forbid-unk \
    data/tatoeba.distinct > data/tatoeba.part
  mv data/tatoeba.part data/tatoeba.distilled
fi

# 3. Pieces, and 4. links of pieces.
nice -n 19 "$PYTHON" "$FROM/pieces.py" learn data
for name in tatoeba multi30k news europarl; do
  nice -n 19 "$PYTHON" "$FROM/pieces.py" words data "$name"
  nice -n 19 "$INTERLINEAR" align --learned "$ALIGNER" --pretokenized --threads "$THREADS" \
    --source "data/$name.words.en" --target "data/$name.words.fr" > "data/$name.words.links"
  nice -n 19 "$PYTHON" "$FROM/pieces.py" project data "$name"
done

# 5. One corpus.
for end in en fr align; do
  for name in tatoeba multi30k news europarl; do cat "data/$name.all.$end"; done > "data/train.$end"
done
for side in en fr; do head -300 "$CORPORA/tatoeba/dev.$side" > "data/dev.$side"; done
wc -l data/train.* data/dev.*

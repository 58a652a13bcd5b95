#!/bin/bash
# Makes, in the current folder, the text (c/), the vocabularies (vocab/) and one configuration a model for the four models of
# the papers in subwords: prepare.sh UPDATES
set -eu
FROM=$(cd "$(dirname "$0")" && pwd)
CORPORA=${CORPORA:?the folder of tatoeba, multi30k, news and europarl, a line of STEM.en for each of STEM.fr}
GUIDED=${GUIDED:-$FROM/../../models/rnnsearch-guided-en-fr}
PYTHON=${PYTHON:-python3}
updates=${1:?how many updates}
mkdir -p c vocab
cp "$GUIDED"/{config.json,source.tokenizer.json,target.tokenizer.json} vocab/
for side in en fr; do
  for name in tatoeba multi30k news; do zstd -dcqf "$CORPORA/$name/train.$side"* | zstd -q -f -o "c/$name.$side.zst"; done
  zstd -dcqf "$CORPORA/news/postedit.$side"* | zstd -q -f -o "c/postedit.$side.zst"
  for part in 0 1 2 3 4 5 6 7 8 9; do cp -f "$CORPORA/europarl/train.0$part.$side.zst" c/; done
  zstd -dcqf "c/tatoeba.$side.zst" > "c/short.$side"
done
"$PYTHON" "$FROM/made_text.py" c/made c/short.en c/short.fr
zstd -q -f --rm c/made.en c/made.fr
rm c/short.en c/short.fr
# development text: 300 everyday sentences, 200 captions, 200 of parliament, 150 of news, mixed
sample() { paste "$CORPORA/$1.en" "$CORPORA/$1.fr" | awk -F'\t' 'split($1, a, " ") < 60' | shuf -n "$2" --random-source=<(yes); }
{ sample tatoeba/dev 300; sample multi30k/val 200; sample europarl/dev 200; sample news/newstest2012 150; } |
  shuf --random-source=<(yes) > c/dev.tsv
cut -f1 c/dev.tsv > c/dev.en; cut -f2 c/dev.tsv > c/dev.fr; rm c/dev.tsv

text() { echo " { source = \"c/$1.en.zst\", target = \"c/$1.fr.zst\", repeat = $2 },"; }
configuration() { # FILE NAME, sizes from standard input
  {
    printf 'name = "%s"\noutput = "models/%s"\n[model]\n' "$2" "$1"
    cat
    printf 'embedding = 224\ntokens = "bpe"\nsource_language = "en"\ntarget_language = "fr"\nsource_vocabulary = 9000\ntarget_vocabulary = 10000\n'
    printf '[data]\nvocabulary = "vocab"\nmax_length = 90\ntrain = [\n'
    text tatoeba 4; text made 1; text multi30k 3; text news 4; text postedit 4
    for part in 0 1 2 3 4 5 6 7 8 9; do text "train.0$part" 1; done
    printf ']\ndevelopment = { source = "c/dev.en", target = "c/dev.fr" }\n'
    printf '[optimizer]\nrule = "adam"\nlearning_rate = 1.5e-3\nwarmup = 250\ndecay_from = 600\nfinal_rate = 0.01\n'
    printf '[schedule]\nbatch = 800\nbatch_words = 30000\nupdates = %s\nmeasure_every = %s\ncheckpoint_every = 400\n' "$updates" $((updates / 4))
    printf 'dropout = 0.2\nprecision = "bf16"\nlog_every = 20\nbleu_sentences = 200\n'
  } > "$1.toml"
}
configuration rnnsearch-en-fr "RNNsearch en-fr" <<< $'architecture = "rnnsearch"\nhidden = 704\nmaxout = 320\nalignment = 320'
configuration rnnencdec-en-fr "RNNencdec en-fr" <<< $'architecture = "rnnencdec"\nhidden = 896\nmaxout = 320'
luong=$'architecture = "luong"\nhidden = 512\nlayers = 2\nscore = "general"\nattention ='
configuration luong-global-en-fr "Luong global en-fr" <<< "$luong \"global\""
configuration luong-local-p-en-fr "Luong local-p en-fr" <<< "$luong \"local-p\""$'\nwindow = 10'

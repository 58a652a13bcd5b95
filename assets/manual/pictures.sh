#!/usr/bin/env bash
# Draws the pictures of the manual anew, with the bundled models: assets/manual/pictures.sh [PROGRAM]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
program=${1:-target/release/interlinear}
command -v optipng >/dev/null || { echo "optipng is missing: the program and its page in a browser carry these pictures" >&2; exit 1; }

# draw FILE MODEL KIND SENTENCE: a picture as the pages show it.
draw() {
    "$program" figure --model "models/$2" --kind "$3" --theme light --dpi 160 --width-mm 120 \
        --output "assets/manual/pictures/$1.png" "$4"
    optipng -quiet -o5 -strip all "assets/manual/pictures/$1.png"
}

wedding="The young woman bought a red dress and black shoes for the wedding."
draw heatmap rnnsearch-guided-en-fr heatmap "$wedding"
draw links rnnsearch-guided-en-fr links "$wedding"
draw beam rnnsearch-guided-en-fr beam "$wedding"
draw local luong-local-p-en-fr heatmap "The young woman bought a red dress."

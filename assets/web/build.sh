#!/usr/bin/env bash
# Builds the explorer for browsers, from a clean checkout: bash assets/web/build.sh [FOLDER]
#
# FOLDER (dist) is made anew: static files that any web server serves as they are. Wanted are Rust with the
# target (rustup target add wasm32-unknown-unknown), or its source in RUST_STD_SOURCE, from which the standard library
# is built. PROGRAM, a built program of this machine, makes the models smaller; otherwise cargo builds one. MODELS names those that
# the site has, the first of which opens; by default all that lessons need. Each is fetched when it is first shown.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
here=assets/web
site=$(realpath -m "${1:-dist}")
target=$(realpath -m "${CARGO_TARGET_DIR:-target/web}")
triple=wasm32-unknown-unknown
lessons="rnnsearch-en-fr rnnencdec-en-fr luong-global-en-fr luong-local-p-en-fr rnnsearch-guided-en-fr transformer-en-fr
    learning-en-fr/rnnsearch-small-0200 learning-en-fr/rnnsearch-small-0500 learning-en-fr/rnnsearch-small-2000
    learning-en-fr/rnnsearch-small-9000 en-de/rnnencdec-en-de en-de/rnnsearch-guided-en-de"
read -r -a models -d '' <<< "${MODELS-$lessons}" || true

stop() { echo "$1" >&2; exit 1; }

version=$(grep -A1 '^name = "wasm-bindgen"$' Cargo.lock | sed -n 's/version = "\(.*\)"/\1/p')
grep -q "wasm-bindgen-cli-support = \"=$version\"" $here/packer/Cargo.toml \
    || stop "$here/packer/Cargo.toml must name version $version of wasm-bindgen-cli-support, as Cargo.lock does"

std=()
if [ ! -d "$(rustc --print target-libdir --target $triple)" ]; then
    [ -e "${RUST_STD_SOURCE:-/nowhere}/Cargo.lock" ] || stop "the standard library for $triple is missing: rustup target add $triple"
    export RUSTC_BOOTSTRAP=1 __CARGO_TESTS_ONLY_SRC_ROOT=$RUST_STD_SOURCE
    std=(-Z build-std=std,panic_abort)
fi
# Linked as a whole, so that what is said of this crate is said of all: no larger than what the packages of the desk hold.
CARGO_TARGET_DIR=$target RUSTFLAGS="-Ctarget-feature=+simd128" RUSTC_WORKSPACE_WRAPPER=$PWD/assets/packaging/rustc.sh cargo rustc --locked "${std[@]}" -p interlinear-web --lib --crate-type cdylib \
    --profile web --target $triple
(unset RUSTC_BOOTSTRAP __CARGO_TESTS_ONLY_SRC_ROOT
    CARGO_TARGET_DIR=$target cargo build --locked --release --manifest-path $here/packer/Cargo.toml)

rm -rf "$site"
mkdir -p "$site/models"
"$target/release/packer" "$target/$triple/web/interlinear_web.wasm" "$site" interlinear

bytes=$(wc -c < "$site/interlinear_bg.wasm")
sed "s/@BYTES@/$bytes/" $here/index.html > "$site/index.html"
mkdir -p "$site/lang"
cp assets/lang/*.po "$site/lang/"
cp $here/worker.js $here/sw.js $here/interlinear.webmanifest assets/icon.png "$site/"
# the width of the picture stands in its bytes 17 to 20
side=$((0x$(od -An -tx1 -j16 -N4 assets/icon.png | tr -d ' ')))
sed -i "s/@SIDE@/$side/g" "$site/interlinear.webmanifest"

# each model with weights rounded to 5 or 6 bits, which the program of this machine makes, and packed, a third of the size: the page
# unpacks them, whatever the server can do; its files and their sizes, by which the page knows them and how far it is
. assets/packaging/bits.sh
list=
for model in "${models[@]}"; do
    folder=models/${model##*/}
    (unset RUSTC_BOOTSTRAP __CARGO_TESTS_ONLY_SRC_ROOT
        ${PROGRAM:-cargo run --quiet --locked --no-default-features --bin interlinear --} \
            import "models/$model" "$site/$folder" --bits "$(bits_of "$model")" >&2)
    gzip -9 -n "$site/$folder"/*.tokenizer.json "$site/$folder"/*.safetensors
    files=
    for file in config.json {source,target}.tokenizer.json.gz README.md {alignment,model}.safetensors.gz; do
        [ -e "$site/$folder/$file" ] || continue
        files+="${files:+, }\"$file\": $(wc -c < "$site/$folder/$file")"
    done
    list+="${list:+,$'\n'}  \"$folder\": { $files }"
done
printf '{\n%s\n}\n' "$list" > "$site/models.json"

# what is kept in a browser is replaced where anything has changed
version=$(cd "$site" && cat index.html interlinear.js interlinear_bg.wasm worker.js models.json sw.js lang/*.po | sha256sum | cut -c1-16)
sed -i "s/@VERSION@/$version/" "$site/sw.js"

# for servers that send packed files, as `interlinear serve` does; those that do not know them send the others
for file in index.html interlinear.js interlinear_bg.wasm worker.js $(cd "$site" && echo lang/*.po); do
    gzip -9 -n -c "$site/$file" > "$site/$file.gz"
    if command -v brotli >/dev/null; then
        brotli -q 11 -w 24 -o "$site/$file.br" "$site/$file"
    elif command -v node >/dev/null; then
        node -e "const [z, f] = [require('zlib'), require('fs')], c = z.constants; f.writeFileSync(process.argv[1] + '.br',
            z.brotliCompressSync(f.readFileSync(process.argv[1]), { params: { [c.BROTLI_PARAM_QUALITY]: 11, [c.BROTLI_PARAM_LGWIN]: 24 } }))" "$site/$file"
    fi
done

sizes=$(cd "$site" && wc -c interlinear_bg.wasm interlinear_bg.wasm.* | head -n -1 | awk '{ print $2 " " $1 }' | paste -sd, -)
echo "$site: bytes of the program: $sizes"

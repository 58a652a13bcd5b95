#!/usr/bin/env bash
# Makes every package that this machine can make, from a clean checkout:
#
#   bash assets/packaging/release.sh [PART...]
#
# Parts: linux-x86_64 linux-aarch64 windows-x86_64 macos models wheels; by default all. What this machine cannot make is left out
# with a sentence that says why. Packages go into target/packages, with SHA256SUMS. The same commit gives the same bytes.
#
# Programs for Linux need glibc 2.17 (of 2012): zig links them, by cargo-zigbuild, both from PyPI. Rust's standard library for another
# system is `rustup target add`'s, or built from its source where RUST_STD_SOURCE names that (.../library). HOMEPAGE, an
# address, goes into the metadata that need one; INTERLINEAR_NEWER is what the menu File says of newer versions, empty for nothing.
# PROFILE is cargo's profile, by default release.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

parts=("$@")
if [ ${#parts[@]} -eq 0 ]; then parts=(linux-x86_64 linux-aarch64 windows-x86_64 macos models wheels); fi
profile=${PROFILE:-release}
# what cargo calls the folder of that profile
if [ "$profile" = dev ]; then kind=debug; else kind=$profile; fi
target=${CARGO_TARGET_DIR:-$PWD/target}
out=$target/packages
tools=$target/packaging-tools
here=$(rustc -vV | sed -n 's/^host: //p')
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
left_out=
mkdir -p "$out"

say() { printf '=== %s\n' "$*" >&2; }
leave_out() {
    left_out+="=== left out: $*"$'\n'
    say "left out: $*"
}
# macOS has no sha256sum of its own.
sums() { if command -v sha256sum >/dev/null; then sha256sum "$@"; else shasum -a 256 "$@"; fi; }

if [ -n "$(git status --porcelain 2>/dev/null)" ]; then
    say "this checkout has changes that are not committed, so that nobody can make the same packages again"
fi
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || echo 0)
export SOURCE_DATE_EPOCH CARGO_INCREMENTAL=0 INTERLINEAR_PACKAGED=1
export RUSTFLAGS="${RUSTFLAGS:-} --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}/registry/src=/crates --remap-path-prefix=$PWD=/interlinear"
# zig refuses C that names the day of its making; SOURCE_DATE_EPOCH makes that day always the same.
export CFLAGS="${CFLAGS:-} -Wno-date-time"
export CARGO_PROFILE_RELEASE_CODEGEN_UNITS=1
export RUSTC_WORKSPACE_WRAPPER=$PWD/assets/packaging/rustc.sh

get_tools() {
    if [ -x "$tools/bin/cargo-zigbuild" ]; then return 0; fi
    python3 -m venv "$tools" && "$tools/bin/pip" install --quiet ziglang==0.17.1 cargo-zigbuild==0.24.1 maturin==1.16.0
}

# Whether there is a standard library for this triple; sets `std`, what cargo is told about it, and `boot`, its environment, neither
# empty, which the bash of macOS would refuse. Nothing is exported, since it would have crates compiled otherwise that other parts share.
has_std() {
    std=(--locked) boot=(CARGO_INCREMENTAL=0)
    if [ -d "$(rustc --print target-libdir --target "$1")" ]; then return 0; fi
    if [ -e "${RUST_STD_SOURCE:-/nowhere}/Cargo.lock" ]; then
        std+=(-Z "build-std=std,panic_unwind")
        boot+=(RUSTC_BOOTSTRAP=1 "__CARGO_TESTS_ONLY_SRC_ROOT=$RUST_STD_SOURCE")
        boot+=("RUSTFLAGS=$RUSTFLAGS --remap-path-prefix=$RUST_STD_SOURCE=/rust/library")
        return 0
    fi
    leave_out "$1: Rust's standard library for it is missing (rustup target add $1, or RUST_STD_SOURCE)"
    return 1
}

# build TRIPLE SUFFIX: builds the program; its path is in `built`, or nothing was built and 1 is returned.
build() {
    local triple=$1 suffix=$2
    has_std "$triple" || return 1
    if ! get_tools; then
        leave_out "$triple: ziglang and cargo-zigbuild cannot be had from PyPI"
        return 1
    fi
    if ! env "${boot[@]}" PATH="$tools/bin:$PATH" cargo zigbuild --bin interlinear --profile "$profile" --target "$triple$suffix" "${std[@]}"; then
        leave_out "$triple: it could not be built; see above"
        return 1
    fi
    built=$target/$triple/$kind/interlinear
}

# What writes the manual pages: a program of this commit that runs here.
speaker=
find_speaker() {
    [ -z "$speaker" ] || return 0
    if [[ $here == *-linux-gnu ]] && build "$here" .2.17; then speaker=$built; return 0; fi
    cargo build --locked --no-default-features && speaker=$target/debug/interlinear
}

# package KIND PROGRAM: what cannot be made is left out with the last words of package.sh.
package() {
    local last
    if ! find_speaker; then
        leave_out "$1: no program of this commit that runs here could be built; see above"
    elif ! last=$(SPEAKER=$speaker assets/packaging/package.sh "$1" "${2:-$speaker}" "$out" 2>&1 | tee >(cat >&2) | tail -n 1); then
        leave_out "$1 for ${MACHINE:-all machines}: ${last#package.sh: }"
    else
        return 0
    fi
    return 1
}

# Fills in what stands between @ in the files $2... and puts them into the folder $1.
fill_in() {
    local folder=$1 file
    shift
    mkdir -p "$folder"
    for file in "$@"; do
        sed -e "s|@VERSION@|$version|g; s|@SHA256@|${sum:-}|g; s|@HOME@|${HOMEPAGE:-}|g" "$file" >"$folder/$(basename "$file")"
    done
}

linux() {
    build "$1-unknown-linux-gnu" .2.17 || return 0
    local program=$built
    if MACHINE=$1 package tar "$program"; then fill_in "$out" assets/packaging/flatpak.yml; fi
    MACHINE=$1 package deb "$program" || true
    MACHINE=$1 package appimage "$program" || true
}

windows() {
    build x86_64-pc-windows-gnu "" || return 0
    MACHINE=x86_64 package zip "$built.exe" || return 0
    rm -rf "$out/winget"
    if [ -z "${HOMEPAGE:-}" ]; then
        leave_out "winget's manifest: HOMEPAGE does not name the address that it is to get the zip from"
        return 0
    fi
    local sum
    sum=$(sums "$out/interlinear-$version-windows-x86_64.zip" | cut -d' ' -f1 | tr a-f A-F)
    fill_in "$out/winget" assets/packaging/winget/*.yaml
}

wheels() {
    get_tools || { leave_out "wheels: maturin cannot be had from PyPI"; return 0; }
    local machine
    PATH=$tools/bin:$PATH maturin sdist --out "$out" || leave_out "the source distribution: it could not be made; see above"
    for machine in x86_64 aarch64; do
        has_std "$machine-unknown-linux-gnu" || continue
        env "${boot[@]}" PATH="$tools/bin:$PATH" maturin build "${std[@]}" --profile "$profile" --zig --compatibility manylinux2014 \
            --target "$machine-unknown-linux-gnu" --out "$out" || leave_out "the wheel for $machine: it could not be built; see above"
    done
}

for part in "${parts[@]}"; do
    say "$part"
    case $part in
        linux-x86_64) linux x86_64 ;;
        linux-aarch64) linux aarch64 ;;
        windows-x86_64) windows ;;
        macos)
            if [ "$(uname -s)" = Darwin ]; then
                assets/packaging/dmg.sh "" "$out" || leave_out "macOS: the package could not be made; see above"
            else
                leave_out "macOS: a Mac makes it, with assets/packaging/dmg.sh"
            fi
            ;;
        models) package models || continue ;;
        wheels) wheels ;;
        *)
            echo "release.sh: $part is no part; there are linux-x86_64 linux-aarch64 windows-x86_64 macos models wheels" >&2
            exit 2
            ;;
    esac
done

(cd "$out" && find . -type f ! -name SHA256SUMS | sed 's|^\./||' | LC_ALL=C sort | while IFS= read -r file; do sums "$file"; done >SHA256SUMS)
say "made"
cat "$out/SHA256SUMS"
printf '%s' "$left_out" >&2

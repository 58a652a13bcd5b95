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
left_out=()
mkdir -p "$out"

say() { printf '=== %s\n' "$*" >&2; }
leave_out() {
    left_out+=("$*")
    say "left out: $*"
}

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

# Whether there is a standard library for this triple; sets `std`, what cargo is told about it, and `boot`, its environment. Nothing is
# exported, since it would have crates compiled otherwise that other parts share.
has_std() {
    std=() boot=()
    if [ -d "$(rustc --print target-libdir --target "$1")" ]; then return 0; fi
    if [ -e "${RUST_STD_SOURCE:-/nowhere}/Cargo.lock" ]; then
        std=(-Z "build-std=std,panic_unwind")
        boot=(RUSTC_BOOTSTRAP=1 "__CARGO_TESTS_ONLY_SRC_ROOT=$RUST_STD_SOURCE")
        return 0
    fi
    leave_out "$1: Rust's standard library for it is missing (rustup target add $1, or RUST_STD_SOURCE)"
    return 1
}

# build TRIPLE SUFFIX [ARGUMENTS...]: builds the program; its path is in `built`, or nothing was built and 1 is returned.
build() {
    local triple=$1 suffix=$2 flags=()
    shift 2
    has_std "$triple" || return 1
    if ! get_tools; then
        leave_out "$triple: ziglang and cargo-zigbuild cannot be had from PyPI"
        return 1
    fi
    if [ "$profile" = release ]; then flags=(--release); elif [ "$profile" != dev ]; then flags=(--profile "$profile"); fi
    if ! env "${boot[@]}" PATH="$tools/bin:$PATH" cargo zigbuild --locked --bin interlinear "${flags[@]}" --target "$triple$suffix" "${std[@]}" "$@"; then
        leave_out "$triple: it could not be built; see above"
        return 1
    fi
    built=$target/$triple/$kind/interlinear
}

# What writes the manual pages: a program that runs here.
speaker=
find_speaker() {
    [ -z "$speaker" ] || return 0
    if [ -x "$target/$here/$kind/interlinear" ]; then speaker=$target/$here/$kind/interlinear; return 0; fi
    if [[ $here == *-linux-gnu ]] && build "$here" .2.17; then speaker=$built; return 0; fi
    cargo build --locked --no-default-features && speaker=$target/debug/interlinear
}

package() { assets/packaging/package.sh "$@" "$out"; }

linux() {
    local machine=$1
    build "$machine-unknown-linux-gnu" .2.17 || return 0
    local program=$built
    find_speaker
    export MACHINE=$machine SPEAKER=$speaker
    package tar "$program"
    if command -v dpkg-deb >/dev/null; then package deb "$program"; else leave_out "$machine .deb: dpkg-deb is missing"; fi
    if command -v appimagetool >/dev/null; then
        package appimage "$program"
    else
        leave_out "$machine AppImage: appimagetool is missing; neither it nor the part that starts an AppImage is in Debian or on PyPI"
    fi
}

windows() {
    build x86_64-pc-windows-gnu "" || return 0
    local program=$built.exe version address sum
    find_speaker
    MACHINE=x86_64 SPEAKER=$speaker package zip "$program"
    version=$("$speaker" --version | cut -d' ' -f2)
    sum=$(sha256sum "$out/interlinear-$version-windows-x86_64.zip" | cut -d' ' -f1 | tr a-f A-F)
    address=${HOMEPAGE:-https://example.org}
    rm -rf "$out/winget"
    mkdir -p "$out/winget"
    local file
    for file in assets/packaging/winget/*.yaml; do
        sed -e "s|@VERSION@|$version|g; s|@SHA256@|$sum|g; s|@HOME@|$address|g" "$file" >"$out/winget/$(basename "$file")"
    done
}

wheels() {
    get_tools || { leave_out "wheels: maturin cannot be had from PyPI"; return 0; }
    local machine
    PATH=$tools/bin:$PATH maturin sdist --out "$out"
    for machine in x86_64 aarch64; do
        has_std "$machine-unknown-linux-gnu" || continue
        env "${boot[@]}" PATH="$tools/bin:$PATH" maturin build "${std[@]}" --profile "$profile" --locked --zig --compatibility manylinux2014 \
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
                assets/packaging/dmg.sh "" "$out"
            else
                leave_out "macOS: a Mac makes it, with assets/packaging/dmg.sh"
            fi
            ;;
        models)
            find_speaker
            SPEAKER=$speaker package models "$speaker"
            ;;
        wheels) wheels ;;
        *)
            echo "release.sh: $part is no part; there are linux-x86_64 linux-aarch64 windows-x86_64 macos models wheels" >&2
            exit 2
            ;;
    esac
done

(cd "$out" && find . -type f ! -name SHA256SUMS | sed 's|^\./||' | LC_ALL=C sort | xargs -r -d '\n' sha256sum >SHA256SUMS)
say "made"
cat "$out/SHA256SUMS"
for sentence in "${left_out[@]}"; do say "left out: $sentence"; done

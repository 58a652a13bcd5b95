#!/bin/sh
# Makes a package of the program, models, manual pages, completions, desktop file, types of files and icon.
#
#   assets/packaging/package.sh deb|tar|appimage|zip|models|share [PROGRAM] [FOLDER]
#
# PROGRAM is a built program; without it `cargo build --release --locked` makes one. The package goes into FOLDER, by
# default target/packages, and its path is written to standard output. Nothing is downloaded that the build did not need. `models` is
# the archive of the models that the others leave out, and of those that they shorten; `share` puts models and licences into FOLDER as
# they are, for dmg.sh. What else is asked of it stands in the environment:
#
#   MACHINE      the processor of PROGRAM as Linux calls it (x86_64, aarch64); by default this one's
#   SPEAKER      a program of the same version that runs here and writes the manual pages; by default PROGRAM
#   MODELS       names of the models that go in, or all; by default those that the lessons use
#   BITS         bits that the numbers of their tables of words are rounded to (interlinear import --bits), by default as bits.sh says,
#                with which the package stays below 95 MB; 16 leaves them as they are
#   SITE         the built site (assets/web/build.sh), which goes in without its models; by default dist, where it is
#   COMPRESSION  of deb and tar: xz (deb's default), zstd (tar's), gzip (deb alone) or none
set -eu
# Whoever installs a package reads its files, and the same sources give the same bytes, whatever this user lets others read.
umask 022

kind=${1:-}
root=$(CDPATH= cd -- "$(dirname -- "$0")/../.." && pwd)
program=${2:-}
target=${CARGO_TARGET_DIR:-$root/target}
folder=${3:-$target/packages}
machine=${MACHINE:-$(uname -m)}
papers="rnnencdec-en-fr rnnsearch-en-fr luong-global-en-fr luong-local-p-en-fr"
small="learning-en-fr/rnnsearch-small-0200 learning-en-fr/rnnsearch-small-0500 learning-en-fr/rnnsearch-small-2000
    learning-en-fr/rnnsearch-small-9000"
trained="rnnsearch-guided-en-fr en-de/rnnencdec-en-de en-de/rnnsearch-guided-en-de"
chosen=$(echo ${MODELS:-$papers $trained $small transformer-en-fr})
bits=${BITS:-}
. "$root/assets/packaging/bits.sh"
site=${SITE:-$root/dist}

fail() {
    echo "package.sh: $*" >&2
    exit 1
}
needs() {
    command -v "$1" >/dev/null 2>&1 || fail "$1 is not installed; $2"
}

case $kind in
    deb) needs dpkg-deb "it is part of dpkg" ;;
    tar | models) needs tar "install it"; needs zstd "install it" ;;
    zip) needs python3 "it writes the archive" ;;
    appimage) needs appimagetool "get it from the AppImage project, it brings the part that starts an AppImage" ;;
    share) ;;
    *) fail "say which package: deb, tar, appimage, zip, models or share" ;;
esac
[ "$kind" = models ] || needs cargo "it knows the licences of what is in the program"
for model in $chosen; do
    [ "$model" = all ] || [ -d "$root/models/$model" ] || fail "there is no model $model; there are $(cd "$root/models" && echo */)"
done

if [ -z "$program" ]; then
    # no path of this machine stays in it
    paths="--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}/registry/src=/crates --remap-path-prefix=$root=/interlinear"
    (cd "$root" && INTERLINEAR_PACKAGED=1 RUSTFLAGS="${RUSTFLAGS:-} $paths" cargo build --release --locked >&2)
    program=$target/release/interlinear
fi
[ -f "$program" ] || fail "$program is no program"
speaker=${SPEAKER:-$program}
version=$("$speaker" --version | cut -d' ' -f2)

# The same sources give the same package.
: "${SOURCE_DATE_EPOCH:=$(git -C "$root" log -1 --format=%ct 2>/dev/null || echo 0)}"
export SOURCE_DATE_EPOCH
export LC_ALL=C TZ=UTC

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
mkdir -p "$folder"
folder=$(CDPATH= cd -- "$folder" && pwd)

# The files of the models that go in, or, with `not`, of the others: folders of models, and of groups of them; nothing of trainings.
model_files() {
    (cd "$root/models" && find . -mindepth 2 -type f ! -path '*/training/*' ! -name '*.toml' ! -name '*.log' | sort) | while read -r file; do
        name=${file#./}
        name=${name%/*}
        case " $chosen " in
            *" $name "* | " all ") is_in=yes ;;
            *) is_in=no ;;
        esac
        if [ "$is_in" = "$1" ]; then echo "$file"; fi
    done
}

# The file $1 as $2, in a folder that need not be there; `install -D` is not everywhere.
copy() {
    mkdir -p "$(dirname "$2")"
    cp "$1" "$2"
}

# Those models below the folder $2, as they are.
fill_models() {
    model_files "$1" | while read -r file; do
        copy "$root/models/$file" "$2/$file"
    done
    if [ -e "$2" ]; then cp "$root/models/README.md" "$2/README.md"; fi
}

# Makes models in the folder $1 smaller, which pack well.
shorten() {
    if [ "${bits:-8}" -gt 8 ]; then return 0; fi
    for model in $papers $trained $small transformer-en-fr; do
        if [ ! -e "$1/$model" ]; then continue; fi
        kept=${bits:-$(bits_of "$model")}
        "$speaker" import --bits "$kept" "$1/$model" "$work/short" >&2
        for file in model.safetensors alignment.safetensors; do
            if [ -e "$work/short/$file" ]; then mv -f "$work/short/$file" "$1/$model/$file"; fi
        done
        rm -rf "$work/short"
        if [ ! -e "$1/$model/README.md" ]; then continue; fi
        cat >>"$1/$model/README.md" <<CARD

## This copy

This copy came in a package. Its weights are stored in 8 bits with a scale for each row of a matrix and rounded further, those of the tables
of words to $kept bits (\`interlinear import --bits $kept\`). Some sentences are translated differently, and BLEU is 0.1 to 0.5 lower. All figures
above, and the digest, are those of the original, \`${model##*/}-original\` among the further models.
CARD
    done
    # what several models have alike is stored once
    mkdir "$1/.same"
    for file in $(cd "$1" && find . -name '*.tokenizer.json' | sort); do
        sum=$(cksum <"$1/$file" | tr ' ' -)
        same=$1/.same/$sum
        if [ -e "$same" ] && cmp -s "$same" "$1/$file"; then ln -f "$same" "$1/$file"; else ln -f "$1/$file" "$same"; fi
    done
    rm -rf "$1/.same"
}

# Those models as they are, under names that are free beside the packages' copies.
fill_long() {
    if [ "${bits:-8}" -gt 8 ]; then return 0; fi
    mkdir -p "$1"
    for model in $papers $trained $small transformer-en-fr; do
        case " $chosen " in
            *" $model "* | " all ") cp -R "$root/models/$model" "$1/${model##*/}-original" ;;
        esac
        rm -rf "$1/${model##*/}-original/training"
        rm -f "$1/${model##*/}-original"/*.toml "$1/${model##*/}-original"/*.log
    done
}

# The site, below $1; its models are those that are installed.
fill_site() {
    if [ ! -e "$site/index.html" ]; then
        echo "package.sh: $site is no built site, so \`interlinear serve\` will ask for one" >&2
        return 0
    fi
    mkdir -p "$1"
    (cd "$site" && find . -type f ! -path './models/*' ! -name '*.gz' ! -name '*.br') | while read -r file; do copy "$site/$file" "$1/$file"; done
    echo '{}' >"$1/models.json"
}

# The texts for the owner of a package, and the manual, below $1.
fill_texts() {
    mkdir -p "$1"
    cp "$root/assets/packaging/OWNER.md" "$1/README.md"
    cp "$root/CHANGELOG.md" "$1/"
    "$speaker" man --html "$root/assets/manual" "$1/manual"
}

# The licences of all that is in the program: the fonts of egui lie in a crate, and cargo knows the others.
terms() {
    case $kind in
        zip) triple=$machine-pc-windows-gnu ;;
        share) triple=$(rustc -vV | sed -n 's/^host: //p') ;;
        *) triple=$machine-unknown-linux-gnu ;;
    esac
    crates=$(cargo tree --manifest-path "$root/Cargo.toml" --locked --target "$triple" --edges normal --prefix none --format '{p}: {l}')
    fonts=$(cargo metadata --manifest-path "$root/Cargo.toml" --locked --filter-platform "$triple" --format-version 1 |
        sed -n 's|.*"manifest_path":"\([^"]*/epaint_default_fonts[^"/]*\)/Cargo.toml".*|\1/fonts|p')
    [ -d "$fonts" ] || fail "the fonts of egui are not where cargo keeps crates"
    echo "Interlinear is under the MIT licence or the Apache licence 2.0, as you choose; its font Liberation Sans is under the SIL Open Font"
    echo "License 1.1, those of egui are under it, the Ubuntu font licence and others below; the models say in their README.md what they"
    echo "were trained on. The crates that are in it stand at the end, each with its licence."
    for text in "$root/LICENSE-MIT" "$root/LICENSE-APACHE" "$root/assets/fonts/LICENSE-OFL" "$fonts"/*.txt; do
        printf '\n--- %s ---\n\n' "$(basename "$text")"
        cat "$text"
    done
    printf '\n--- crates ---\n\n'
    echo "$crates" | sed 's/ (proc-macro)//; s/ (\*)$//; /^interlinear /d' | sort -u
}

# What stands beside the program where nothing is shared with others: models and licences, below $1.
fill_share() {
    fill_models yes "$1/models"
    shorten "$1/models"
    fill_site "$1/web"
    fill_texts "$1"
    terms >"$1/LICENCES.txt"
    chmod -R u=rwX,go=rX "$1"
}

# All files below $1, as they lie below /usr.
fill() {
    share=$1/share
    copy "$program" "$1/bin/interlinear"
    chmod 755 "$1/bin/interlinear"
    if [ "$machine" = "$(uname -m)" ] && command -v strip >/dev/null 2>&1; then strip "$1/bin/interlinear"; fi
    fill_models yes "$share/interlinear/models"
    shorten "$share/interlinear/models"
    copy "$root/assets/packaging/interlinear.desktop" "$share/applications/interlinear.desktop"
    copy "$root/assets/packaging/interlinear.xml" "$share/mime/packages/interlinear.xml"
    fill_metainfo "$share/metainfo/org.interlinear.Interlinear.metainfo.xml"
    fill_site "$share/interlinear/web"
    icons=$share/icons/hicolor
    copy "$root/assets/icon.svg" "$icons/scalable/apps/interlinear.svg"
    copy "$root/assets/icon-48.png" "$icons/48x48/apps/interlinear.png"
    copy "$root/assets/icon.png" "$icons/256x256/apps/interlinear.png"
    copy "$root/assets/icon.png" "$icons/256x256/mimetypes/application-vnd.interlinear.workspace.png"
    "$speaker" man "$share/man/man1"
    find "$share/man" -name '*.1' -exec gzip -9n {} \;
    mkdir -p "$share/bash-completion/completions" "$share/zsh/vendor-completions" "$share/fish/vendor_completions.d"
    "$speaker" completions bash >"$share/bash-completion/completions/interlinear"
    "$speaker" completions zsh >"$share/zsh/vendor-completions/_interlinear"
    "$speaker" completions fish >"$share/fish/vendor_completions.d/interlinear.fish"
    fill_texts "$share/doc/interlinear"
    terms >"$share/doc/interlinear/copyright"
    chmod -R u=rwX,go=rX "$1"
}

# Pictures have an address only where the project has one.
fill_metainfo() {
    mkdir -p "$(dirname "$1")"
    day=$(date -u -d "@$SOURCE_DATE_EPOCH" +%F 2>/dev/null || echo 1970-01-01)
    if [ -n "${HOMEPAGE:-}" ]; then
        sed -e "s|@HOME@|$HOMEPAGE|g; s|@VERSION@|$version|g; s|@DAY@|$day|g" "$root/assets/packaging/metainfo.xml" >"$1"
    else
        sed -e "/@HOME@/d; /<screenshots>/,/<\/screenshots>/d; s|@VERSION@|$version|g; s|@DAY@|$day|g" \
            "$root/assets/packaging/metainfo.xml" >"$1"
    fi
}

# Archives the folder $1 of $work as $2, the same each time.
archive() {
    tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -C "$work" -cf "$work/package.tar" "$1"
    level=19
    if [ "${COMPRESSION:-}" = none ]; then level=1; fi
    zstd -q -f "-$level" -T1 "$work/package.tar" -o "$2"
}

# What the program asks of the system: the newest version of glibc that it names, and the library for unwinding.
depends() {
    if ! command -v objdump >/dev/null 2>&1; then
        echo "libc6 (>= 2.34), libgcc-s1"
        return
    fi
    glibc=$(objdump -T "$program" 2>/dev/null | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -n 1)
    echo "libc6 (>= ${glibc#GLIBC_})$(objdump -p "$program" | grep -q 'NEEDED.*libgcc_s' && echo ', libgcc-s1' || :)"
}

case $kind in
    deb)
        case $machine in
            x86_64) architecture=amd64 ;;
            aarch64) architecture=arm64 ;;
            *) architecture=$(dpkg --print-architecture) ;;
        esac
        package=$folder/interlinear_${version}_$architecture.deb
        fill "$work/usr"
        mkdir "$work/DEBIAN"
        maintainer=${MAINTAINER:-The authors of Interlinear <interlinear@example.invalid>}
        gzip -9nc >"$work/usr/share/doc/interlinear/changelog.Debian.gz" <<CHANGES
interlinear ($version) unstable; urgency=medium

  * What is new stands in CHANGELOG.md beside this file.

 -- $maintainer  $(date -u -d "@$SOURCE_DATE_EPOCH" -R)
CHANGES
        # the harder packing of xz takes a megabyte off
        hard=
        if [ "${COMPRESSION:-xz}" = xz ]; then hard="-z9 -Sextreme"; fi
        (cd "$work" && find usr -type f -exec md5sum {} + | sort -k 2 >DEBIAN/md5sums)
        cat >"$work/DEBIAN/control" <<CONTROL
Package: interlinear
Version: $version
Architecture: $architecture
Maintainer: $maintainer
Installed-Size: $(du -sk --apparent-size "$work/usr" | cut -f1)
Section: science
Priority: optional
Depends: $(depends)
Recommends: libegl1, libgl1, libx11-6, libx11-xcb1, libxcursor1, libxi6, libxkbcommon-x11-0, shared-mime-info
Suggests: xdg-desktop-portal | zenity
Description: see how neural machine translation aligns words
 RNN Encoder-Decoder, RNNsearch and the models of Luong et al. translate a sentence while it is typed, side by side,
 with the soft alignment and the beam of each. Models for English to French come with it; no network is needed.
CONTROL
        dpkg-deb --root-owner-group "-Z${COMPRESSION:-xz}" $hard --build "$work" "$package" >&2
        ;;
    tar)
        name=interlinear-$version-linux-$machine
        package=$folder/$name.tar.zst
        fill "$work/$name"
        archive "$name" "$package"
        ;;
    models)
        name=interlinear-$version-more-models
        package=$folder/$name.tar.zst
        fill_models no "$work/$name"
        fill_long "$work/$name"
        [ -e "$work/$name" ] || fail "no model is left for an archive of its own"
        chmod -R u=rwX,go=rX "$work/$name"
        archive "$name" "$package"
        ;;
    zip)
        name=interlinear-$version-windows-$machine
        package=$folder/$name.zip
        copy "$program" "$work/$name/interlinear.exe"
        chmod 755 "$work/$name/interlinear.exe"
        fill_share "$work/$name"
        # A zip knows no day before 1980.
        if [ "$SOURCE_DATE_EPOCH" -lt 315532800 ]; then SOURCE_DATE_EPOCH=315532800; fi
        find "$work/$name" -exec touch -d "@$SOURCE_DATE_EPOCH" {} +
        rm -f "$package"
        (cd "$work" && python3 -m zipfile -c "$package" "$name")
        ;;
    share)
        package=$folder
        fill_share "$folder"
        ;;
    appimage)
        package=$folder/interlinear-$version-$machine.AppImage
        fill "$work/usr"
        cp "$root/assets/packaging/interlinear.desktop" "$root/assets/icon.png" "$work/"
        mv "$work/icon.png" "$work/interlinear.png"
        ln -s usr/bin/interlinear "$work/AppRun"
        appimagetool "$work" "$package" >&2
        ;;
esac
echo "$package"

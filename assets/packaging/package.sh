#!/bin/sh
# Makes a package of the program, its models, manual pages, completions, desktop file and icon.
#
#   assets/packaging/package.sh deb|tar|appimage [PROGRAM] [FOLDER]
#
# PROGRAM is a built program; without it `cargo build --release --locked` makes one. The package goes into FOLDER, by
# default target/packages, and its path is written to standard output. Nothing is downloaded. COMPRESSION is what dpkg-deb takes:
# xz (the default), zstd, gzip or none.
set -eu

kind=${1:-}
root=$(CDPATH= cd -- "$(dirname -- "$0")/../.." && pwd)
program=${2:-}
folder=${3:-$root/target/packages}

fail() {
    echo "package.sh: $*" >&2
    exit 1
}
needs() {
    command -v "$1" >/dev/null 2>&1 || fail "$1 is not installed; $2"
}

case $kind in
    deb) needs dpkg-deb "it is part of dpkg" ;;
    tar) needs tar "install it" ;;
    appimage) needs appimagetool "get it from the AppImage project, it brings the part that starts an AppImage" ;;
    *) fail "say which package: deb, tar or appimage" ;;
esac

if [ -z "$program" ]; then
    (cd "$root" && cargo build --release --locked >&2)
    program=${CARGO_TARGET_DIR:-$root/target}/release/interlinear
fi
[ -x "$program" ] || fail "$program is no program"
version=$("$program" --version | cut -d' ' -f2)
machine=$(uname -m)

# The same sources give the same package.
: "${SOURCE_DATE_EPOCH:=$(git -C "$root" log -1 --format=%ct 2>/dev/null || echo 0)}"
export SOURCE_DATE_EPOCH

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
mkdir -p "$folder"
folder=$(CDPATH= cd -- "$folder" && pwd)

# All files below $1, as they lie below /usr.
fill() {
    share=$1/share
    install -D -m 755 "$program" "$1/bin/interlinear"
    if command -v strip >/dev/null 2>&1; then strip "$1/bin/interlinear"; fi
    # Folders of models, and of checkpoints within; not the logs and states of trainings.
    (cd "$root/models" && find . -mindepth 2 -type f ! -path '*/training/*') | while read -r file; do
        install -D -m 644 "$root/models/$file" "$share/interlinear/models/$file"
    done
    install -D -m 644 "$root/assets/packaging/interlinear.desktop" "$share/applications/interlinear.desktop"
    install -D -m 644 "$root/assets/icon.png" "$share/icons/hicolor/256x256/apps/interlinear.png"
    "$program" man "$share/man/man1"
    find "$share/man" -name '*.1' -exec gzip -9n {} \;
    mkdir -p "$share/bash-completion/completions" "$share/zsh/vendor-completions" "$share/fish/vendor_completions.d"
    "$program" completions bash >"$share/bash-completion/completions/interlinear"
    "$program" completions zsh >"$share/zsh/vendor-completions/_interlinear"
    "$program" completions fish >"$share/fish/vendor_completions.d/interlinear.fish"
    mkdir -p "$share/doc/interlinear"
    install -m 644 "$root/README.md" "$root/CHANGELOG.md" "$share/doc/interlinear/"
    {
        echo "Interlinear is under the MIT licence or the Apache licence 2.0, as you choose; its font Liberation Sans is under the"
        echo "SIL Open Font License 1.1; the models say in their README.md what they were trained on."
        for text in LICENSE-MIT LICENSE-APACHE assets/fonts/LICENSE-OFL; do
            printf '\n--- %s ---\n\n' "$(basename "$text")"
            cat "$root/$text"
        done
    } >"$share/doc/interlinear/copyright"
    chmod -R u=rwX,go=rX "$1"
}

case $kind in
    deb)
        architecture=$(dpkg --print-architecture)
        package=$folder/interlinear_${version}_$architecture.deb
        fill "$work/usr"
        mkdir "$work/DEBIAN"
        cat >"$work/DEBIAN/control" <<CONTROL
Package: interlinear
Version: $version
Architecture: $architecture
Maintainer: ${MAINTAINER:-The authors of Interlinear <nobody@localhost>}
Installed-Size: $(du -sk "$work/usr" | cut -f1)
Section: science
Priority: optional
Depends: libc6 (>= 2.34), libgcc-s1
Recommends: libegl1, libgl1, libx11-6, libx11-xcb1, libxcursor1, libxi6, libxkbcommon-x11-0
Suggests: xdg-desktop-portal | zenity
Description: see how neural machine translation aligns words
 RNN Encoder-Decoder, RNNsearch and the models of Luong et al. translate a sentence while it is typed, side by side,
 with the soft alignment and the beam of each. Models for English to French come with it; no network is needed.
CONTROL
        dpkg-deb --root-owner-group "-Z${COMPRESSION:-xz}" --build "$work" "$package" >&2
        ;;
    tar)
        name=interlinear-$version-$machine
        package=$folder/$name.tar.gz
        fill "$work/$name"
        tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -C "$work" \
            -cf "$work/package.tar" "$name"
        level=6
        if [ "${COMPRESSION:-}" = none ]; then level=1; fi
        gzip -n "-$level" <"$work/package.tar" >"$package"
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

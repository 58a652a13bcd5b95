#!/bin/sh
# Makes Interlinear.dmg on macOS from a built program. Unproven: nobody has run it yet.
#
#   assets/packaging/dmg.sh [PROGRAM] [FOLDER]
#
# MODELS and BITS are those of package.sh.
set -eu
umask 022

root=$(CDPATH= cd -- "$(dirname -- "$0")/../.." && pwd)
program=${1:-}
target=${CARGO_TARGET_DIR:-$root/target}
folder=${2:-$target/packages}
if [ -z "$program" ]; then
    (cd "$root" && cargo build --release --locked >&2)
    program=$target/release/interlinear
fi
version=$("$program" --version | cut -d' ' -f2)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
mkdir -p "$folder"

# The program looks for share/interlinear/models beside its own folder.
contents=$work/Interlinear.app/Contents
mkdir -p "$contents/MacOS" "$contents/Resources"
cp "$program" "$contents/MacOS/interlinear"
"$root/assets/packaging/package.sh" share "$program" "$contents/share/interlinear" >&2
cp "$contents/share/interlinear/LICENCES.txt" "$work/"

icons=$work/interlinear.iconset
mkdir "$icons"
for side in 16 32 128 256; do
    sips -z $side $side "$root/assets/icon.png" --out "$icons/icon_${side}x$side.png" >/dev/null
done
iconutil -c icns "$icons" -o "$contents/Resources/interlinear.icns"
rm -r "$icons"

# It declares no types of files: macOS tells the program of them by an event that winit does not hand on.
cat >"$contents/Info.plist" <<PLIST
<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
    <key>CFBundleName</key><string>Interlinear</string>
    <key>CFBundleIdentifier</key><string>interlinear</string>
    <key>CFBundleExecutable</key><string>interlinear</string>
    <key>CFBundleIconFile</key><string>interlinear</string>
    <key>CFBundlePackageType</key><string>APPL</string>
    <key>CFBundleShortVersionString</key><string>$version</string>
    <key>NSHighResolutionCapable</key><true/>
</dict>
</plist>
PLIST
ln -s /Applications "$work/Applications"
package=$folder/Interlinear-$version.dmg
hdiutil create -volname Interlinear -srcfolder "$work" -ov -format UDZO "$package" >&2
echo "$package"

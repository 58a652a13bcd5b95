#!/bin/sh
# Makes Interlinear.dmg on macOS from a built program. Unproven: nobody has run it yet.
#
#   assets/packaging/dmg.sh [PROGRAM] [FOLDER]
#
# MODELS names other models, BITS=16 leaves their numbers as they are.
set -eu

root=$(CDPATH= cd -- "$(dirname -- "$0")/../.." && pwd)
program=${1:-}
folder=${2:-$root/target/packages}
if [ -z "$program" ]; then
    (cd "$root" && cargo build --release --locked >&2)
    program=$root/target/release/interlinear
fi
version=$("$program" --version | cut -d' ' -f2)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
mkdir -p "$folder"

# The program looks for share/interlinear/models beside its own folder.
contents=$work/Interlinear.app/Contents
mkdir -p "$contents/MacOS" "$contents/Resources" "$contents/share/interlinear"
cp "$program" "$contents/MacOS/interlinear"
# As in the other packages, with 8 bits for each number; the best model has them already.
models=$contents/share/interlinear/models
mkdir "$models"
for model in ${MODELS:-rnnencdec-en-fr rnnsearch-en-fr luong-global-en-fr luong-local-p-en-fr rnnsearch-guided-en-fr}; do
    cp -R "$root/models/$model" "$models/$model"
    rm -rf "$models/$model/training"
    if [ "${BITS:-8}" -ne 8 ] || [ "$model" = rnnsearch-guided-en-fr ]; then continue; fi
    "$program" import --bits 8 "$root/models/$model" "$work/short" >&2
    mv -f "$work/short/model.safetensors" "$models/$model/model.safetensors"
    rm -r "$work/short"
done

icons=$work/interlinear.iconset
mkdir "$icons"
for side in 16 32 128 256; do
    sips -z $side $side "$root/assets/icon.png" --out "$icons/icon_${side}x$side.png" >/dev/null
done
iconutil -c icns "$icons" -o "$contents/Resources/interlinear.icns"
rm -r "$icons"

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
    <key>CFBundleDocumentTypes</key>
    <array>
        <dict>
            <key>CFBundleTypeName</key><string>Interlinear corpus</string>
            <key>CFBundleTypeRole</key><string>Editor</string>
            <key>CFBundleTypeExtensions</key><array><string>ilws</string><string>ilw</string></array>
        </dict>
        <dict>
            <key>CFBundleTypeName</key><string>Argos Translate model</string>
            <key>CFBundleTypeRole</key><string>Viewer</string>
            <key>CFBundleTypeExtensions</key><array><string>argosmodel</string></array>
        </dict>
    </array>
</dict>
</plist>
PLIST
ln -s /Applications "$work/Applications"
package=$folder/Interlinear-$version.dmg
hdiutil create -volname Interlinear -srcfolder "$work" -ov -format UDZO "$package" >&2
echo "$package"

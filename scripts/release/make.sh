#!/usr/bin/env bash
# Makes the files of a release in a new folder, after `npm ci`: scripts/release/make.sh FOLDER
# REPOSITORY_URL is where the project lives. Every package states it, and its home page and tracker.
set -euo pipefail
cd "$(dirname "$0")/../.."
release=${1:?usage: scripts/release/make.sh FOLDER}
packages=(package.json verifier-cli/package.json sdk/{browser,conformance,mobile,node,react}/package.json)
work=$(mktemp -d)
tar -cf "$work/packages.tar" "${packages[@]}"
trap 'tar -xf "$work/packages.tar"; rm -rf "$work"' EXIT
node scripts/release/set-home.js "${REPOSITORY_URL:-}"
mkdir "$release"
release=$(cd "$release" && pwd)

# The public packages. Each is built before it is packed.
npm pack --silent -w verifier-cli -w sdk/browser -w sdk/conformance -w sdk/mobile -w sdk/node -w sdk/react --pack-destination "$release" >/dev/null
node scripts/release/pack-service.js "$release"
cp verifier-cli/dist/consent-verify.{html,cdx.json,digests.txt} "$release"
npm sbom --sbom-format cyclonedx --sbom-type application --omit dev >"$release/consent-ledger.cdx.json"
node test/verifier/interop/generate.js "$work/interop" >/dev/null
tar -C "$work" -czf "$release/interop.tar.gz" interop
node scripts/release/changes.js >"$release/CHANGES.md"
(cd "$release" && sha256sum -- * >SHA256SUMS)

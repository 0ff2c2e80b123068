#!/usr/bin/env bash
# Makes the files of a release in a new folder, after `npm ci`: scripts/release/make.sh FOLDER
set -euo pipefail
cd "$(dirname "$0")/../.."
release=${1:?usage: scripts/release/make.sh FOLDER}
mkdir "$release"
release=$(cd "$release" && pwd)

# The public packages. Each is built before it is packed.
npm pack --silent -w verifier-cli -w sdk/browser -w sdk/mobile -w sdk/node -w sdk/react --pack-destination "$release" >/dev/null
cp verifier-cli/dist/consent-verify.html verifier-cli/dist/consent-verify.cdx.json "$release"
npm sbom --sbom-format cyclonedx --sbom-type application --omit dev >"$release/consent-ledger.cdx.json"
corpus=$(mktemp -d)
trap 'rm -rf "$corpus"' EXIT
node test/verifier/corpus/generate.js "$corpus/evidence-corpus" >/dev/null
tar -C "$corpus" -czf "$release/evidence-corpus.tar.gz" evidence-corpus
node scripts/release/changes.js >"$release/CHANGES.md"
(cd "$release" && sha256sum -- * >SHA256SUMS)

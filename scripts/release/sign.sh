#!/usr/bin/env bash
# Signs SHA256SUMS of a release with an Ed25519 key (openssl genpkey -algorithm ed25519): scripts/release/sign.sh FOLDER KEY
# Check it: openssl pkeyutl -verify -rawin -pubin -inkey release.pub -sigfile SHA256SUMS.sig -in SHA256SUMS && sha256sum -c SHA256SUMS
set -euo pipefail
usage='usage: scripts/release/sign.sh FOLDER KEY'
folder=${1:?$usage} key=${2:?$usage}
openssl pkeyutl -sign -rawin -inkey "$key" -in "$folder/SHA256SUMS" -out "$folder/SHA256SUMS.sig"
openssl pkey -in "$key" -pubout -out "$folder/release.pub"

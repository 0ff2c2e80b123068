#!/usr/bin/env bash
# Rehearses 1.0.0-rc.1 and rc.2 on this machine, with a Docker engine and the image postgres:18, and without
# publishing anything. rc.1 gets data, and is upgraded to rc.2. It works in clones: nothing here changes.
#
#   npm run release:try
set -euo pipefail
cd "$(dirname "$0")/../.."
repository=$PWD
folder=$(mktemp -d /tmp/consent-ledger-release-XXXXXX)
network=$(basename "$folder")
tell() { echo "$(printf '%4d' $SECONDS) s  $*"; }
clean_up() {
  local status=$?
  [ "$status" = 0 ] || tail -n 20 "$folder/log"
  docker rm --force --volumes $(docker ps --all --quiet --filter "network=$network") >/dev/null 2>&1 || true
  docker network rm "$network" >/dev/null 2>&1 || true
  docker volume rm "$network" >/dev/null 2>&1 || true
  docker image rm consent-ledger:1.0.0-rc.1 consent-ledger:1.0.0-rc.2 >/dev/null 2>&1 || true
  rm -rf "$folder"
}
trap clean_up EXIT
# Every package of a release states where the project lives; this rehearsal lives nowhere.
export REPOSITORY_URL=https://example.org/consent-ledger/rehearsal
quietly() { "$@" >>"$folder/log" 2>&1; }
# Tells what a function prints. @param a title, and the function, which must succeed
told() {
  local title=$1 text
  shift
  text=$("$@" 2>>"$folder/log")
  tell "$title: $text"
}

# @param a version, and the repository that it is cloned from
clone() {
  quietly git clone "$2" "$folder/$1"
  cd "$folder/$1"
  grep -q '^## \[Unreleased\]' CHANGELOG.md ||
    sed -i "0,/^## \[/s//## [Unreleased]\n\n### Changed\n\n- The version only.\n\n## [/" CHANGELOG.md
  quietly npm run -s release:version -- "$1"
  quietly git -c user.name=release -c user.email=release@example.org commit -am "Release $1"
  quietly npm ci --prefer-offline --no-audit
  node scripts/release/check-version.js "v$1"
  tell "$1: versions set, installed and built"
  quietly npx vitest run test/format/frozen test/ops/release.large.test.ts
  tell "$1: the frozen formats are as they were"
}

# Makes, signs, checks and installs the files of the version whose clone is the current folder.
release() {
  scripts/release/make.sh "$folder/release-$1" >>"$folder/log" 2>&1
  scripts/release/sign.sh "$folder/release-$1" "$folder/release.key"
  cd "$folder/release-$1"
  openssl pkeyutl -verify -rawin -pubin -inkey release.pub -sigfile SHA256SUMS.sig -in SHA256SUMS >/dev/null
  sha256sum --quiet -c SHA256SUMS
  tell "$1: $(ls | wc -l) files, $(du -ch -- * | tail -1 | cut -f1); checksums and signature are right"
  mkdir "$folder/use-$1"
  cd "$folder/use-$1"
  quietly npm init -y
  # The peer of the package for React is not looked for: the folder is offline.
  quietly npm install --offline --no-audit --legacy-peer-deps "$folder/release-$1"/consent-ledger-[a-z]*.tgz
  [ "$(ls node_modules/@consent-ledger)" = $'browser\nconformance\nmobile\nnode\nreact\nverify' ] || return 1
  [ "$(npx consent-verify --version)" = "$1" ] || return 1
  tell "$1: packages installed into an empty folder: $(find node_modules -name package.json -path '*/@*/*' | wc -l) without other packages"
  mkdir "$folder/serve-$1"
  cd "$folder/serve-$1"
  quietly npm init -y
  quietly npm install --offline --no-audit "$folder/release-$1/consent-ledger-$1.tgz"
  [ "$(npx consent-ledger --version)" = "$1" ] || return 1
  quietly npx consent-ledger demo 200
  tell "$1: the service installed into an empty folder, and its demonstration"
  cd "$folder/$1"
  quietly docker build --network host --target service --tag "consent-ledger:$1" .
  tell "$1: image $(docker image inspect --format '{{.Id}} of {{.Size}} bytes' "consent-ledger:$1")"
}

# Runs the image. @param a version, further options of docker run, and the command
image() {
  local version=$1
  shift
  docker run --network "$network" --volume "$network:/data" --env DATABASE_URL=postgresql://ledger:try@postgres/ledger \
    --env LEDGER_ORIGIN=try.example/ledger --env STAMP_INTERVAL_MS=1000 --env BATCH_MAX_AGE_MS=300 \
    --env ERASURE_ANNOUNCE_INTERVAL_SECONDS=1 \
    "${options[@]}" "consent-ledger:$version" "$@"
}
options=()
program() { options=(--rm) && image "$@"; }

# @param a version and a role
url_of() { echo "http://$(docker port "$network-$2-$1" 8080)"; }

# Starts a role, and waits until it is ready. @param a version and a role
start() {
  options=(--detach --name "$network-$2-$1" --publish 127.0.0.1::8080)
  quietly image "$1" "$2" --json
  for _ in $(seq 60); do
    curl --silent --fail --output /dev/null "$(url_of "$1" "$2")/readyz" && return
    sleep 0.5
  done
  docker logs "$network-$2-$1" >>"$folder/log" 2>&1
  return 1
}

# Records consents with the packed SDK. @param a version, and how many hundreds
record() {
  cd "$folder/use-$1"
  cat >record.mjs <<'END'
import { readFileSync } from 'node:fs';
import { ConsentLedger } from '@consent-ledger/node';
const [baseUrl, seed, hundreds] = process.argv.slice(2);
const { keys, api_user: user } = JSON.parse(readFileSync(seed, 'utf8'));
const ledger = new ConsentLedger({ baseUrl, apiKey: keys.write, user });
const { version } = await ledger.document('cookie-policy', 'en');
let accepted = 0;
for (let n = 0; n < Number(hundreds); n += 1) {
  const consents = Array.from({ length: 100 }, (_, i) => ({
    consent_type: 'cookie', decision: 'accepted', document_version_id: version.id, visitor_id: `visitor-${i}`,
  }));
  accepted += (await ledger.recordBatch(consents)).accepted;
}
console.log(accepted);
END
  node record.mjs "$(url_of "$1" api)" "$folder/seed.json" "$2"
}

# Exports, copies and checks a package with the packed verifier. @param a version and the name of the package
export_and_check() {
  program "$1" evidence export --site "$site" --disclose all --wait --output "/data/$2" >>"$folder/log"
  docker cp --quiet "$network-worker-$1:/data/." "$folder/data" >>"$folder/log" 2>&1
  cd "$folder/use-$1"
  npx consent-verify check "$folder/data/$2" --tsa-ca "$folder/data/development-tsa/development-tsa-root.pem" \
    --ledger-key "$folder/data/ledger.vkey" | head -1
}

compare() {
  npx consent-verify compare "$folder/data/before.zip" "$folder/data/after.zip" --ledger-key "$folder/data/ledger.vkey" | head -1
}

tell "rehearsing in $folder, from $(git rev-parse --short HEAD)"
openssl genpkey -algorithm ed25519 -out "$folder/release.key"
clone 1.0.0-rc.1 "$repository"
release 1.0.0-rc.1

docker network create "$network" >/dev/null
quietly docker run --detach --network "$network" --network-alias postgres --env POSTGRES_USER=ledger --env POSTGRES_DB=ledger \
  --env POSTGRES_PASSWORD=try postgres:18
for _ in $(seq 60); do
  program 1.0.0-rc.1 migrate >>"$folder/log" 2>&1 && break
  sleep 1
done
start 1.0.0-rc.1 worker
start 1.0.0-rc.1 api
program 1.0.0-rc.1 admin seed-demo --json --rate-limit 100000 >"$folder/seed.json"
site=$(node -p "require('$folder/seed.json').site.id")
told "1.0.0-rc.1, consents accepted" record 1.0.0-rc.1 20
told "1.0.0-rc.1, its package" export_and_check 1.0.0-rc.1 before.zip
# Its announcement is in the log before the next export, which otherwise finds values that are gone and not erased.
program 1.0.0-rc.1 admin erase --site "$site" --visitor visitor-7 >>"$folder/log"

clone 1.0.0-rc.2 "$folder/1.0.0-rc.1"
release 1.0.0-rc.2
program 1.0.0-rc.2 migrate >>"$folder/log" 2>&1
start 1.0.0-rc.2 api
docker stop --time 60 "$network-api-1.0.0-rc.1" >/dev/null
start 1.0.0-rc.2 worker
docker stop --time 60 "$network-worker-1.0.0-rc.1" >/dev/null
tell "1.0.0-rc.2: runs on the data of 1.0.0-rc.1"
told "1.0.0-rc.2, consents accepted" record 1.0.0-rc.2 5
told "1.0.0-rc.2, its package" export_and_check 1.0.0-rc.2 after.zip
told "audit" program 1.0.0-rc.2 audit
told "both packages" compare
told "records" program 1.0.0-rc.2 admin count --site "$site" --json

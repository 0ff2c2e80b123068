#!/usr/bin/env bash
# Runs docker-compose.yml on the Docker engine of this machine, from the first start to an upgrade, and tells what it saw.
# Ends with 0 if everything was as it should be. It needs Docker Compose, the ports 80 and 443, and images of the proxy
# and the databases, which the engine has or downloads. It works in a temporary copy of this repository, under the
# project name `consent-ledger-try`, and removes everything that it made except images.
#
#   ops/compose/try.sh             the event log is in PostgreSQL
#   ops/compose/try.sh single      the event log is one EventStoreDB node
#   ops/compose/try.sh cluster     the event log is three EventStoreDB nodes
set -euo pipefail
shopt -s extglob

log=${1:-postgres}
case $log in
  postgres | single | cluster) ;;
  --help)
    sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' "$0"
    exit 0
    ;;
  *)
    echo "usage: try.sh [postgres|single|cluster]" >&2
    exit 2
    ;;
esac

repository=$(cd "$(dirname "$0")/../.." && pwd)
# Both would take the same ports, addresses and image.
if [ -n "$(docker ps --all --quiet --filter label=com.docker.compose.project=consent-ledger)" ]; then
  echo "This engine runs the project consent-ledger: use another machine." >&2
  exit 1
fi
folder=$(mktemp -d)
output=$(mktemp)
export COMPOSE_PROJECT_NAME=consent-ledger-try
# The settings are those of the file `.env` that make-env.sh makes, and no others of the shell.
unset COMPOSE_FILE COMPOSE_PROFILES

clean_up() {
  docker rm --force consent-ledger-try-client >/dev/null 2>&1 || true
  docker compose --profile '*' down --volumes --remove-orphans >/dev/null 2>&1 || true
  rm -rf "$folder" "$output"
}
fail() {
  echo "FAILED  $*" >&2
  tail -n 40 "$output" >&2 || true
  docker compose ps --all >&2 || true
  exit 1
}
tell() { echo "$(date +%T)  $*"; }
# Runs a command, keeps its output for a failure, and prints how long it took.
quietly() {
  local title=$1 started=$SECONDS
  shift
  "$@" >"$output" 2>&1 || fail "$title: $*"
  tell "$title ($((SECONDS - started)) s)"
}
# Prints a number of a JSON object on standard input.
number() { sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p"; }
admin() { docker compose run --rm -T admin "$@" 2>>"$output"; }
id_of() { docker compose ps --quiet "$1" | head -n 1; }
state_of() { docker inspect --format '{{.RestartCount}} {{.State.Health.Status}}' "$1"; }
address_of() { docker inspect --format "{{(index .NetworkSettings.Networks \"${COMPOSE_PROJECT_NAME}_edge\").IPAddress}}" "$1"; }

start_visitors() {
  docker run --detach --init --name consent-ledger-try-client --network "${COMPOSE_PROJECT_NAME}_edge" --ip 172.31.240.9 \
    --env PROXY=172.31.240.2 --env CA_FILE=/try/root.crt --env API_KEY="$key" --env VERSION_ID="$version" \
    --volume "$files:/try:ro" --entrypoint node consent-ledger:local /try/try-client.mjs >/dev/null
}
# Stops the visitors, prints what they saw, and adds what was accepted to `accepted`.
# Each consent has to be accepted in the end. With an argument, other answers before are no failure.
stop_visitors() {
  local saw
  docker stop --time 90 consent-ledger-try-client >/dev/null
  saw=$(docker logs consent-ledger-try-client)
  docker rm consent-ledger-try-client >/dev/null
  tell "  visitors: ${saw%,\"token\"*}}"
  token=$(sed -n 's/.*"token":"\([^"]*\)".*/\1/p' <<<"$saw")
  [ "$(number sent <<<"$saw")" = "$(number accepted <<<"$saw")" ] || fail "not every consent was accepted"
  accepted=$((accepted + $(number accepted <<<"$saw")))
  [ -n "${1:-}" ] || [[ $saw == *'"answers":{"202":'+([0-9])'},'* ]] || fail "visitors saw other answers than 202"
}
# Each accepted consent has to be in the log and in the read model once, and no other.
check_count() {
  local counts
  for _ in $(seq 30); do
    counts=$(admin admin count --json --site "$site")
    if [ "$(number log_consents <<<"$counts")/$(number read_model_rows <<<"$counts")" = "$accepted/$accepted" ]; then
      tell "  accepted $accepted, and as many are in the log and in the read model"
      return
    fi
    sleep 2
  done
  fail "accepted $accepted, but $counts"
}
verifier() {
  docker run --rm --network none --volume "$files:/try:ro" --entrypoint node consent-ledger:local \
    verifier-cli/bin/consent-verify.js "$@" --tsa-ca /try/development-tsa-root.pem --ledger-key /try/ledger.vkey
}
verify() {
  quietly "exported an evidence package of $accepted consents, sealed and stamped" \
    docker compose run --rm -T admin evidence export --site "$site" --output /data/evidence.zip --wait --overwrite --disclose all
  for file in evidence.zip ledger.vkey development-tsa/development-tsa-root.pem; do
    docker compose cp "worker:/data/$file" "$files/" >"$output" 2>&1 || fail "docker compose cp $file"
  done
  chmod -R a+rX "$files"
  quietly "verified it without a network" verifier check /try/evidence.zip
  tell "  $(head -n 1 "$output")"
}

trap clean_up EXIT
cd "$repository"
git ls-files --cached --others --exclude-standard -z | tar --create --null --files-from - | tar --extract --directory "$folder"
cd "$folder"
ops/compose/make-env.sh "$log" >"$output"
# Docker ignores `private`: what is there alters no image.
files=$folder/private/try
mkdir "$files"
cp ops/compose/try-client.mjs "$files/"

quietly "docker compose up --build -d --wait" docker compose up --build -d --wait
for service in proxy postgres api worker; do
  state=$(state_of "$(id_of $service)")
  [ "$state" = '0 healthy' ] || fail "$service: $state"
done
[ "$(address_of "$(id_of proxy)")" = 172.31.240.2 ] || fail "the proxy has another address than TRUSTED_PROXIES"
tell "  every service is healthy; proxy 172.31.240.2, api $(address_of "$(id_of api)")"

seed=$(admin admin seed-demo --json --rate-limit 100000)
read -r site key version < <(docker run --rm --interactive --entrypoint node consent-ledger:local -e '
  const seed = JSON.parse(require("fs").readFileSync(0));
  const policy = seed.documents.find(({ kind }) => kind === "cookie_policy");
  const version = policy.versions.find(({ state, language }) => state === "active" && language === "en");
  console.log(seed.site.id, seed.keys.write, version.id);' <<<"$seed")
docker compose cp proxy:/data/caddy/pki/authorities/local/root.crt "$files/root.crt" >"$output" 2>&1 || fail "the proxy has no authority"
chmod -R a+rX "$files"
accepted=0

start_visitors
sleep 5
stop_visitors
tell "recorded consents through the proxy over TLS"
check_count
verify
verifier show /try/evidence.zip "$token" >"$output" || fail "consent-verify show"
grep --quiet --fixed-strings 172.31.240.9 "$output" || fail "the record has another address than the visitor's"
if grep --quiet --fixed-strings 203.0.113.7 "$output"; then fail "the record has the address that the visitor claimed"; fi
tell "  the record has the visitor's address, not the proxy's and not the claimed one"

# A process that dies, as by the memory limit of the system: all but the init of the container.
kill_service() {
  local container
  container=$(id_of "$1")
  start_visitors
  sleep 2
  docker compose exec -T "$1" sh -c 'kill -9 -1' >/dev/null 2>&1 || true
  for _ in $(seq 120); do
    [ "$(state_of "$container")" != '1 healthy' ] || break
    sleep 1
  done
  [ "$(state_of "$container")" = '1 healthy' ] || fail "the $1 was not started again"
  tell "killed the $1: the engine started it again"
}
kill_service worker
stop_visitors
check_count
kill_service api
stop_visitors other-answers-allowed
check_count

quietly "docker compose restart" docker compose restart
quietly "docker compose up -d --wait" docker compose up -d --wait
check_count
quietly "docker compose down" docker compose down
quietly "docker compose up -d --wait" docker compose up -d --wait
check_count

# Two api processes, one of which dies.
sed --in-place '$ a API_UPSTREAMS="consent-ledger-try-api-1:8080 consent-ledger-try-api-2:8080"' .env
quietly "docker compose up -d --wait --scale api=2" docker compose up -d --wait --scale api=2
start_visitors
sleep 5
docker compose exec -T --index 2 api sh -c 'kill -9 -1' >/dev/null 2>&1 || true
sleep 10
stop_visitors other-answers-allowed
tell "one of two api processes was killed"
check_count
sed --in-place '$ d' .env
quietly "docker compose up -d --wait" docker compose up -d --wait

# The next version: this one with one more migration.
schema=$(find src/platform/database/migrations -mindepth 1 -maxdepth 1 -type d -printf '%f\n' | sort | tail -n 1)
next_version() {
  mkdir -p "$files/next"
  printf -- '-- Runs beside: %s\n%s;\n' "$1" "$2" >"$files/next/01-try.sql"
  cat >docker-compose.override.yml <<NEXT
x-next: &next
  labels: { try: "$1 $2" }
  volumes: ["./private/try/next:/app/dist/src/platform/database/migrations/9999-try:ro"]
services: { migrate: *next, api: *next, worker: *next }
NEXT
  chmod -R a+rX "$files"
}
# Runs the upgrade under load. @param the expected exit code, a title, and arguments of upgrade.sh
upgrade() {
  local expected=$1 title=$2 started=$SECONDS status=0 before after
  shift 2
  before=$(id_of api)
  start_visitors
  ops/compose/upgrade.sh "$@" >"$output" 2>&1 || status=$?
  sleep 3
  tell "upgrade: $title ($((SECONDS - started)) s, exit code $status)"
  [ "$status" = "$expected" ] || fail "upgrade.sh ended with $status"
  after=$(id_of api)
  if [ "$expected" = 0 ]; then [ "$before" != "$after" ] || fail "the api was not replaced"; fi
  if [ "$expected" != 0 ]; then [ "$before" = "$after" ] || fail "the api was replaced"; fi
}
next_version "$schema" 'select 1 / 0'
upgrade 1 "with a migration that fails"
stop_visitors
next_version nothing 'select 1'
upgrade 1 "with a migration that needs a stop, without --stop"
stop_visitors
next_version "$schema" 'select pg_sleep(30)'
upgrade 0 "with a migration of 30 s"
# On a slow machine, a new api needs longer than the proxy holds requests.
stop_visitors other-answers-allowed
check_count
verify
tell "Everything was as it should be."

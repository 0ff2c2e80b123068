#!/usr/bin/env bash
# Runs docker-compose.yml on the Docker engine of this machine, from the first start to an upgrade, and tells what it saw.
# Ends with 0 if everything was as it should be. It needs Docker Compose, the ports 80 and 443, and images of the proxy
# and the databases, which the engine has or downloads. It works in a temporary copy of this repository, under the
# project name `consent-ledger-try`, and removes everything that it made except images.
#
#   ops/compose/try.sh             the event log is in PostgreSQL
#   ops/compose/try.sh single      the event log is one EventStoreDB node
#   ops/compose/try.sh cluster     the event log is three EventStoreDB nodes
#   ops/compose/try.sh postgres upgrade disk
#                                  only these parts after the first start; all are: kills hangs restarts two-apis upgrade disk
set -euo pipefail
shopt -s extglob

log=${1:-postgres}
parts=(kills hangs restarts two-apis upgrade disk)
[ $# -lt 2 ] || parts=("${@:2}")
case $log in
  postgres | single | cluster) ;;
  --help)
    sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' "$0"
    exit 0
    ;;
  *)
    echo "usage: try.sh [postgres|single|cluster [part]...]" >&2
    exit 2
    ;;
esac
for part in "${parts[@]}"; do
  case $part in
    kills | hangs | restarts | two-apis | upgrade | disk) ;;
    *)
      echo "There is no part $part. See: try.sh --help" >&2
      exit 2
      ;;
  esac
done

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
  docker rm --force consent-ledger-try-client consent-ledger-try-serve consent-ledger-try-disk >/dev/null 2>&1 || true
  docker compose --profile '*' down --volumes --remove-orphans >/dev/null 2>&1 || true
  rm -rf "$folder" "$output"
}
fail() {
  echo "FAILED  $*" >&2
  tail -n 40 "$output" >&2 || true
  docker compose ps --all >&2 || true
  docker compose logs --no-color --tail 10 api worker >&2 || true
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
# @param a service, and the number of one of its containers
container_of() { echo "$COMPOSE_PROJECT_NAME-$1-${2:-1}"; }
id_of() { docker inspect --format '{{.Id}}' "$(container_of "$1")"; }
state_of() { docker inspect --format '{{.RestartCount}} {{.State.Health.Status}}' "$1"; }
restarts_of() { docker inspect --format '{{.RestartCount}}' "$1"; }
address_of() { docker inspect --format "{{(index .NetworkSettings.Networks \"${COMPOSE_PROJECT_NAME}_edge\").IPAddress}}" "$1"; }
readiness_of() {
  docker exec "$1" node -e 'fetch(`http://localhost:${process.env.PORT}/readyz`).then(async (answer) => {
    const { status, reasons = [] } = await answer.json();
    console.log(answer.status, status, reasons.map(({ code }) => code).join(" "));
  }, (error) => console.log(error.message))'
}

# Makes an example tenant. Sets its site, its key and its document version, and how many consents it has.
seed() {
  local seeded
  seeded=$(admin admin seed-demo --json --rate-limit 100000)
  read -r site key version < <(docker run --rm --interactive --entrypoint node consent-ledger:local -e '
    const seed = JSON.parse(require("fs").readFileSync(0));
    const policy = seed.documents.find(({ kind }) => kind === "cookie_policy");
    const version = policy.versions.find(({ state, language }) => state === "active" && language === "en");
    console.log(seed.site.id, seed.keys.write, version.id);' <<<"$seeded")
  docker compose cp proxy:/data/caddy/pki/authorities/local/root.crt "$files/root.crt" >"$output" 2>&1 || fail "the proxy has no authority"
  chmod -R a+rX "$files"
  accepted=0
  : >"$files/tokens"
}
start_visitors() {
  docker run --detach --init --name consent-ledger-try-client --network "${COMPOSE_PROJECT_NAME}_edge" --ip 172.31.240.9 \
    --env PROXY=172.31.240.2 --env CA_FILE=/try/root.crt --env API_KEY="$key" --env VERSION_ID="$version" \
    --volume "$files:/try:ro" --entrypoint node consent-ledger:local /try/try-client.mjs >/dev/null
}
# Stops the visitors, prints what they saw, and adds what was accepted to `accepted` and to the file `tokens`.
# Each consent has to be accepted in the end. With an argument, other answers before are no failure.
stop_visitors() {
  local saw
  docker stop --time 400 consent-ledger-try-client >/dev/null
  docker logs consent-ledger-try-client >"$files/saw"
  docker rm consent-ledger-try-client >/dev/null
  saw=$(head -n 1 "$files/saw")
  sed 1d "$files/saw" >>"$files/tokens"
  token=$(tail -n 1 "$files/tokens")
  tell "  visitors: $saw"
  [ "$(number sent <<<"$saw")" = "$(number accepted <<<"$saw")" ] || fail "not every consent was accepted"
  accepted=$((accepted + $(number accepted <<<"$saw")))
  [ -n "${1:-}" ] || [[ $saw == *'"answers":{"202":'+([0-9])'},'* ]] || fail "visitors saw other answers than 202"
}
tokens_in() {
  docker compose exec -T postgres psql -U ledger -d consent_ledger -At \
    -c "select 'ct_' || replace($1::text, '-', '') from $2" 2>>"$output" | LC_ALL=C sort
}
# Each accepted consent has to be in the log and in the read model once, and no other.
check_records() {
  local counts=''
  LC_ALL=C sort --output "$files/tokens" "$files/tokens"
  for _ in $(seq 60); do
    if tokens_in event_id "read_model.consents where site_id = '$site'" | cmp --silent - "$files/tokens"; then
      # The log in EventStoreDB has no query: its consents are counted only.
      [ "$log" != postgres ] ||
        tokens_in id "event_log.events e join event_log.streams s on s.number = e.stream where type = 'ConsentRecorded.v1' and name = 'consents-$site'" | cmp --silent - "$files/tokens" ||
        fail "the log does not have exactly the accepted consents"
      counts=$(admin admin count --json --site "$site")
      [ "$(number log_consents <<<"$counts")/$(number read_model_rows <<<"$counts")" = "$accepted/$accepted" ] ||
        fail "accepted $accepted, but $counts"
      tell "  accepted $accepted: the log and the read model have exactly these, by their tokens"
      return
    fi
    sleep 2
  done
  fail "the read model does not have exactly the accepted consents"
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
# Runs a command until it succeeds. @param seconds, and the command
wait_for() {
  local end=$((SECONDS + $1))
  shift
  until "$@"; do
    [ "$SECONDS" -lt "$end" ] || return 1
    sleep 1
  done
}
is_healthy() { [[ $(state_of "$(container_of "$1")") = *' healthy' ]]; }
is_ready() { [[ $(readiness_of "$1") = '200 ready '* ]]; }
# @param a container, and how often it was started again before
is_started_again() { [ "$(restarts_of "$1")" -gt "$2" ] && [[ $(state_of "$1") = *' healthy' ]]; }
# Sends a signal to all processes of a container but its init, under load: KILL, as the memory limit of the system
# does, or STOP, so that they hang. @param signal, service, number of the container
hit() {
  local container before started
  container=$(container_of "$2" "${3:-1}")
  before=$(restarts_of "$container")
  start_visitors
  sleep 2
  started=$SECONDS
  docker exec "$container" sh -c "kill -$1 -1" >/dev/null 2>&1 || true
  wait_for 300 is_started_again "$container" "$before" || fail "the $2 was not started again after SIG$1"
  tell "SIG$1 to the $2: the engine started it again, healthy after $((SECONDS - started)) s"
  sleep 2
}

try_kills() {
  for service in worker api; do
    hit KILL "$service"
    stop_visitors "$([ "$service" = worker ] || echo other-answers-allowed)"
    check_records
  done
}

try_hangs() {
  for service in worker api; do
    hit STOP "$service"
    stop_visitors "$([ "$service" = worker ] || echo other-answers-allowed)"
    check_records
  done
  # `serve` in a container, instead of the worker, with a worker process that hangs.
  docker compose stop worker >"$output" 2>&1
  docker compose run --detach --name consent-ledger-try-serve --volume "$files:/try:ro" admin serve >"$output" 2>&1 || fail "serve"
  wait_for 120 is_ready consent-ledger-try-serve || fail "serve is not ready: $(readiness_of consent-ledger-try-serve)"
  start_visitors
  sleep 2
  hung=$(docker exec consent-ledger-try-serve node /try/try-hang.mjs) || fail "serve did not replace its worker process: $hung"
  stop_visitors
  tell "SIGSTOP to the worker process of serve: $hung"
  check_records
  docker stop --time 60 consent-ledger-try-serve >/dev/null
  docker rm consent-ledger-try-serve >/dev/null
  docker compose start worker >"$output" 2>&1
}

try_restarts() {
  quietly "docker compose restart" docker compose restart
  quietly "docker compose up -d --wait" docker compose up -d --wait
  check_records
  quietly "docker compose down" docker compose down
  quietly "docker compose up -d --wait" docker compose up -d --wait
  check_records
}

# Two api processes, one of which dies or hangs.
try_two-apis() {
  start_visitors
  quietly "ops/compose/scale.sh 2" ops/compose/scale.sh 2
  quietly "ops/compose/upgrade.sh, with two api processes" ops/compose/upgrade.sh
  # Each visitor was answered 202 at the first try.
  stop_visitors
  check_records
  for signal in KILL STOP; do
    hit $signal api 2
    stop_visitors other-answers-allowed
    check_records
  done
  start_visitors
  quietly "ops/compose/scale.sh 1" ops/compose/scale.sh 1
  stop_visitors
}

migrations=src/platform/database/migrations
# @param the path of a step, what it runs beside, and its statements
migration() {
  mkdir -p "$migrations/$(dirname "$1")"
  printf -- '-- Runs beside: %s\n%s;\n' "$2" "$3" >"$migrations/$1.sql"
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

# The next version: this one with more migrations.
try_upgrade() {
  local schema copied
  schema=$(find $migrations -mindepth 1 -maxdepth 1 -type d -printf '%f\n' | sort | tail -n 1)
  printf 'services: { api: { command: [api, --unknown] } }\n' >docker-compose.override.yml
  upgrade 1 "an api that does not start"
  stop_visitors
  rm docker-compose.override.yml
  copied='insert into try_consents (event_id) select event_id from record_keys; select pg_sleep(20)'
  migration 9998-try/01-table "$schema" 'create table try_consents (event_id uuid primary key)'
  migration 9998-try/02-copies "$schema" "$copied; select 1 / 0"
  upgrade 1 "a migration fails in its second step"
  stop_visitors
  quietly "  docker compose restart api worker" docker compose restart api worker
  wait_for 120 is_healthy api || fail "the version before did not start again: api"
  wait_for 120 is_healthy worker || fail "the version before did not start again: worker"
  tell "  the version before is healthy"
  migration 9998-try/02-copies "$schema" "$copied"
  migration 9998-try/03-column "$schema" 'alter table sites add column try_note text'
  upgrade 0 "a migration of 20 s that runs beside the version before"
  # On a slow machine, a new api needs longer than the proxy holds requests.
  stop_visitors other-answers-allowed
  check_records
  migration 9999-try/01-rewrite nothing \
    'lock table event_log.events; select pg_sleep(5)'
  upgrade 1 "a migration that needs a stop, without --stop"
  stop_visitors
  upgrade 0 "a migration of 5 s that needs a stop, with --stop" --stop
  stop_visitors other-answers-allowed
  check_records
  verify
}

# The disk of the database is full. The volume is memory, which lasts while a container has it.
try_disk() {
  local started
  quietly "docker compose down --volumes" docker compose down --volumes
  printf 'volumes:\n  postgres:\n    driver_opts: { type: tmpfs, device: tmpfs, o: "size=400m" }\n' >docker-compose.override.yml
  quietly "docker compose up -d --wait, with 400 MB for the database" docker compose up -d --wait
  docker run --detach --init --name consent-ledger-try-disk --volume "${COMPOSE_PROJECT_NAME}_postgres:/disk" \
    --entrypoint sleep postgres:18 infinity >/dev/null
  seed
  start_visitors
  sleep 5
  docker exec consent-ledger-try-disk sh -c 'cat /dev/zero >/disk/full' >/dev/null 2>&1 || true
  sleep 40
  tell "the disk of the database has been full for 40 s: readiness of the api: $(readiness_of "$(container_of api)")"
  docker exec consent-ledger-try-disk rm /disk/full
  started=$SECONDS
  wait_for 180 is_ready "$(container_of api)" || fail "the api is not ready again"
  tell "  it has space again, and the api was ready after $((SECONDS - started)) s"
  sleep 5
  stop_visitors other-answers-allowed
  for service in api worker; do
    [ "$(restarts_of "$(container_of $service)")" = 0 ] || fail "the $service ended"
  done
  tell "  restarts: postgres $(restarts_of "$(container_of postgres)"), api and worker none"
  check_records
  verify
}

trap clean_up EXIT
cd "$repository"
git ls-files --cached --others --exclude-standard -z | tar --create --null --files-from - | tar --extract --directory "$folder"
cd "$folder"
ops/compose/make-env.sh "$log" >"$output"
# Docker ignores `private`: what is there alters no image.
files=$folder/private/try
mkdir "$files"
cp ops/compose/try-*.mjs "$files/"

quietly "docker compose up --build -d --wait" docker compose up --build -d --wait
for service in proxy postgres api worker; do
  state=$(state_of "$(container_of $service)")
  [ "$state" = '0 healthy' ] || fail "$service: $state"
done
[ "$(address_of "$(container_of proxy)")" = 172.31.240.2 ] || fail "the proxy has another address than TRUSTED_PROXIES"
tell "  every service is healthy; proxy 172.31.240.2, api $(address_of "$(container_of api)")"
seed

start_visitors
sleep 5
stop_visitors
tell "recorded consents through the proxy over TLS"
check_records
verify
verifier show /try/evidence.zip "$token" >"$output" || fail "consent-verify show"
grep --quiet --fixed-strings 172.31.240.9 "$output" || fail "the record has another address than the visitor's"
if grep --quiet --fixed-strings 203.0.113.7 "$output"; then fail "the record has the address that the visitor claimed"; fi
tell "  the record has the visitor's address, not the proxy's and not the claimed one"

for part in "${parts[@]}"; do "try_$part"; done
tell "Everything was as it should be."

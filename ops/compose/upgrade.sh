#!/bin/sh
# Replaces the running version of docker-compose.yml by the one in this folder, or applies changed settings. The
# running version answers until the new one does. If the migration fails, or the new version does not start, nothing is replaced.
# Run it in the folder of docker-compose.yml, after a backup.
#
#   ops/compose/upgrade.sh           refuses a migration that the running version cannot run beside
#   ops/compose/upgrade.sh --stop    stops the service for such a migration
set -eu

case ${1:-} in
  '' | --stop) ;;
  --help)
    sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' "$0"
    exit 0
    ;;
  *)
    echo "usage: upgrade.sh [--stop]" >&2
    exit 2
    ;;
esac
if [ ! -f docker-compose.yml ]; then
  echo "There is no docker-compose.yml in $PWD. Run this script in the folder of docker-compose.yml." >&2
  exit 1
fi

docker compose build
# `up` alone would make one api of several.
apis=$(docker compose ps --quiet api | grep -c . || true)
replace() {
  docker compose up -d --wait --scale "api=$apis" "$@"
}
[ "$apis" != 0 ] || apis=1

# `up` alone would remove the api first, and start a new one only if the migration succeeds.
if [ "${1:-}" = --stop ]; then
  docker compose stop api worker
  if ! docker compose run --rm -T migrate; then
    echo "The migration failed, and the service is stopped. \`docker compose start api worker\` starts the version before." >&2
    exit 1
  fi
  replace --no-deps api
  replace
  exit
fi
if ! docker compose run --rm -T migrate; then
  echo "Nothing was replaced: the version before goes on. If the migration needs a stop: upgrade.sh --stop" >&2
  exit 1
fi
# Another api of the new version answers while those of the service are replaced. If it cannot, none is replaced.
next=''
remove_next() {
  [ -z "$next" ] || { docker stop "$next" && docker rm --force "$next"; } >/dev/null
}
trap remove_next EXIT
next=$(docker compose run --detach -T --no-deps --use-aliases api)
seconds=0
until [ "$(docker inspect --format '{{.State.Health.Status}}' "$next")" = healthy ]; do
  seconds=$((seconds + 1))
  if [ $seconds -gt 300 ] || [ "$(docker inspect --format '{{.State.Running}}' "$next")" = false ]; then
    docker logs --tail 20 "$next" >&2
    echo "The new version does not start. Nothing was replaced: the version before goes on." >&2
    exit 1
  fi
  sleep 1
done
# All of them are replaced at once, and this one answers meanwhile.
upstreams() {
  # shellcheck disable=SC2046 # names have no spaces
  "$(dirname "$0")/upstreams.sh" $(docker compose ps --format '{{.Name}}' api | sort -V) "$@"
}
upstreams "$(docker inspect --format '{{.Name}}' "$next" | tr -d /)"
# Without its dependencies, which are migrated.
replace --no-deps api
upstreams
replace

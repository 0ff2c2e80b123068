#!/bin/sh
# Replaces the running version of docker-compose.yml by the one in this folder. The running version answers
# until the schema is migrated. If the migration fails, it goes on, and nothing is replaced.
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
# `up` alone would remove the api first, and start a new one only if the migration succeeds.
if [ "${1:-}" = --stop ]; then
  docker compose stop api worker
  if ! docker compose run --rm -T migrate; then
    echo "The migration failed, and the service is stopped. \`docker compose start api worker\` starts the version before." >&2
    exit 1
  fi
elif ! docker compose run --rm -T migrate migrate --online; then
  echo "Nothing was replaced: the version before goes on. If the migration needs a stop: upgrade.sh --stop" >&2
  exit 1
fi
# The api first and without its dependencies, which are migrated: the proxy holds requests for 20 seconds only.
docker compose up -d --wait --no-deps api
docker compose up -d --wait

#!/bin/sh
# Sets the number of processes that answer callers in docker-compose.yml. No request is refused meanwhile.
# Run it in the folder of docker-compose.yml.
#
#   ops/compose/scale.sh <number>
set -eu

case ${1:-} in
  [1-9] | [1-9][0-9]) ;;
  --help)
    sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' "$0"
    exit 0
    ;;
  *)
    echo "usage: scale.sh <number>" >&2
    exit 2
    ;;
esac
folder=$(dirname "$0")
# Without the ones that will stop: the proxy forgets them first.
kept=$(docker compose ps --format '{{.Name}}' api | sort -V | head -n "$1")
# shellcheck disable=SC2086 # names have no spaces
[ -z "$kept" ] || "$folder/upstreams.sh" $kept
docker compose up -d --wait --no-deps --no-recreate --scale "api=$1" api
# shellcheck disable=SC2046
"$folder/upstreams.sh" $(docker compose ps --format '{{.Name}}' api | sort -V)

#!/bin/sh
# Tells the proxy of docker-compose.yml which containers answer callers, without a restart of the proxy.
# Run it in the folder of docker-compose.yml.
#
#   ops/compose/upstreams.sh <container>...
set -eu

case ${1:---help} in
  --help)
    sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' "$0"
    exit 0
    ;;
esac
files=${PROXY_FILES:-$(sed -n 's/^PROXY_FILES=//p' .env | tail -n 1)}
line=to
for container; do
  line="$line $container:8080"
done
# In place: a new file would have the owner and the mode of the umask.
echo "$line" > "${files:-private/proxy}/upstreams"
docker compose exec -T proxy caddy reload --config /etc/caddy/Caddyfile

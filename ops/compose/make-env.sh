#!/bin/sh
# Makes the secrets of docker-compose.yml, once: .env and private/service/master.key.
# Run it in the folder of docker-compose.yml.
#
#   ops/compose/make-env.sh            the event log is one EventStoreDB node
#   ops/compose/make-env.sh cluster    the event log is three EventStoreDB nodes
#   ops/compose/make-env.sh postgres   the event log is in PostgreSQL
set -eu
# A password that another account can read is not a secret.
umask 077

log=${1:-single}
case $log in
  single) url='esdb://eventstore:2113?tls=false' ;;
  cluster) url='esdb://node1:2113,node2:2113,node3:2113?tls=false&nodePreference=leader' ;;
  postgres) url='' ;;
  *)
    echo "usage: make-env.sh [single|cluster|postgres]" >&2
    exit 2
    ;;
esac
if [ ! -f docker-compose.yml ]; then
  echo "There is no docker-compose.yml in $PWD. Run this script in the folder of docker-compose.yml." >&2
  exit 1
fi
# A new master key would make all personal values unreadable, and a new password locks the service out of its database.
for file in .env private/service/master.key; do
  if [ -e "$file" ]; then
    echo "$PWD/$file exists already. Nothing was changed. To start over, delete the volumes, .env and private first." >&2
    exit 1
  fi
done

hex() { od -An -v -tx1 -N32 /dev/urandom | tr -d ' \n'; }

# Other accounts of this machine cannot enter `private`. The containers see only the folders below it,
# and their unprivileged user has to read them.
mkdir -p private/service private/proxy
chmod 700 private
chmod 755 private/service private/proxy
echo 'to api:8080' > private/proxy/upstreams
chmod 644 private/proxy/upstreams
hex > private/service/master.key
chmod 644 private/service/master.key
cat > .env <<END
# Secrets and settings of docker-compose.yml. Any variable of docs/configuration.md can be added here.
# \$ has a meaning in this file: put values that contain it between single quotes.
POSTGRES_PASSWORD=$(hex)
METRICS_TOKEN=$(hex)
COMPOSE_PROFILES=$log
EVENTSTORE_URL='$url'

# The URL under which callers reach the service. The proxy obtains a certificate for it.
PUBLIC_URL=https://localhost

# The name of the ledger. Set it before the first start: it can never change.
#LEDGER_ORIGIN=consent.example.org/ledger
END
echo "Made $PWD/.env and $PWD/private/service/master.key."
echo "Copy master.key to two places apart from the database: without it no personal value can be read."

"""Brings a copy of a site's records in SQLite up to date: adds new records, and erases what the service has erased.

Needs Python 3.9 or later, its standard library alone.
  BASE_URL=http://127.0.0.1:8080 API_KEY=svc_live_… API_USER=api@… API_PASSWORD=… python3 follow_sqlite.py consents.db
"""
import json, os, sqlite3, sys, urllib.error, urllib.request

BASE, KEY = os.environ["BASE_URL"].rstrip("/"), os.environ["API_KEY"]
USER = {"email": os.environ["API_USER"], "password": os.environ["API_PASSWORD"]}
# What the copy does not have, it need not erase: of the personal fields it takes visitor_id alone.
FIELDS = ("id", "created_at", "consent_type", "decision", "language", "visitor_id")
PAGE = 10_000


def ask(path, bearer=None, content=None):
    """Sends a request. A failure ends the program: what was stored stays, and the next run continues after it."""
    headers = {"User-Agent": "data-copy-example/1.0", "X-API-Key": KEY, "Content-Type": "application/json"}
    if bearer is not None:
        headers["Authorization"] = "Bearer " + bearer
    body = None if content is None else json.dumps(content).encode()
    try:
        return urllib.request.urlopen(urllib.request.Request(BASE + path, body, headers), timeout=60)
    except urllib.error.HTTPError as refusal:
        sys.exit(f"refused with {refusal.code}: {refusal.read().decode()}")


def follow(database, bearer):
    """Stores a page of changes, and returns whether there may be more."""
    (cursor,) = database.execute("select max(cursor) from progress").fetchone()
    query = f"?format=ndjson&include_erasures=true&limit={PAGE}&fields={','.join(FIELDS)}" + (f"&cursor={cursor}" if cursor else "")
    changes = 0
    # Rows, erasures and the cursor change together, so that no crash loses an erasure.
    with ask("/tool/v1/s2s/consents/export" + query, bearer) as lines, database:
        for change in map(json.loads, lines):
            if "erased_record" in change:
                row = (change["announced_at"], change["erased_record"]["id"])
                database.execute("update consents set visitor_id = null, erased_at = ? where id = ?", row)
            else:
                row = [change[name] for name in FIELDS]
                database.execute(f"insert or ignore into consents ({', '.join(FIELDS)}) values (?, ?, ?, ?, ?, ?)", row)
            changes, cursor = changes + 1, change["cursor"]
        if changes > 0:
            database.execute("delete from progress")
            database.execute("insert into progress values (?)", [cursor])
    return changes == PAGE


os.umask(0o077)
copy = sqlite3.connect(sys.argv[1])
# Overwrites erased values in the file; without it, they stay readable there.
copy.execute("pragma secure_delete = on")
copy.execute(
    "create table if not exists consents (id text primary key, created_at text, consent_type text, decision text,"
    " language text, visitor_id text, erased_at text)"
)
copy.execute("create table if not exists progress (cursor text not null)")
with ask("/api/v1/auth/login", content=USER) as answer:
    token = json.load(answer)["data"]["access_token"]
while follow(copy, token):
    pass
with ask("/api/v1/auth/logout", token, {}):
    pass
for all_rows, erased in copy.execute("select count(*), count(erased_at) from consents"):
    print(f"{all_rows} records, {erased} of them erased")

#!/usr/bin/env python3
"""Confirms one record of a Consent Ledger evidence package without any software of Consent Ledger.

    python3 verify-by-hand.py PACKAGE.zip RECORD --ledger-key LEDGER.pub --tsa-ca ROOT.pem
    python3 verify-by-hand.py PACKAGE.zip --all  --ledger-key LEDGER.pub --tsa-ca ROOT.pem

RECORD is an event id or a consent token (ct_...). With --all, the script confirms every entry of the
package, and that nothing is missing: no event at the end of a stream, no record of a person whose
records were requested. The script needs Python 3.9, its standard library and the openssl command
(3.0 or later), and follows docs/evidence-format.md. It is written to be read: one function for each
step. consent-verify also checks revocation, claimed times, texts in force, erasures and the container.
"""
import argparse, base64, calendar, hashlib, json, os, re, subprocess, sys, tempfile, time, zipfile


class Refused(Exception):
    """A check failed."""


def require(holds, problem):
    if not holds:
        raise Refused(problem)


def sha256(data):
    return hashlib.sha256(data).digest()


def leaf_hash(data):
    return sha256(b"\x00" + data)


def node_hash(left, right):
    return sha256(b"\x01" + left + right)


def unbase64url(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def root_of_inclusion(index, size, leaf, path):
    """RFC 9162, 2.1.3.2: the root to which a leaf's audit path leads."""
    require(0 <= index < size, "the index is outside the tree")
    fn, sn, running = index, size - 1, leaf
    for step in path:
        require(sn > 0, "the audit path is too long")
        if fn & 1 or fn == sn:
            running = node_hash(step, running)
            while not fn & 1 and fn:
                fn, sn = fn >> 1, sn >> 1
        else:
            running = node_hash(running, step)
        fn, sn = fn >> 1, sn >> 1
    require(sn == 0, "the audit path is too short")
    return running


def roots_of_consistency(first, second, first_root, path):
    """RFC 9162, 2.1.4.2: the roots of the smaller and the larger tree to which a consistency proof leads."""
    require(0 < first < second, "the sizes are not in order")
    steps = list(path) if first & (first - 1) else [first_root] + list(path)
    require(steps, "the consistency proof is empty")
    fn, sn = first - 1, second - 1
    while fn & 1:
        fn, sn = fn >> 1, sn >> 1
    small = large = steps[0]
    for step in steps[1:]:
        require(sn > 0, "the consistency proof is too long")
        if fn & 1 or fn == sn:
            small, large = node_hash(step, small), node_hash(step, large)
            while not fn & 1 and fn:
                fn, sn = fn >> 1, sn >> 1
        else:
            large = node_hash(large, step)
        fn, sn = fn >> 1, sn >> 1
    require(sn == 0, "the consistency proof is too short")
    return small, large


def tree_root(leaves):
    """RFC 9162, 2.1.1."""
    if len(leaves) == 1:
        return leaves[0]
    half = 1
    while half * 2 < len(leaves):
        half *= 2
    return node_hash(tree_root(leaves[:half]), tree_root(leaves[half:]))


def openssl(*arguments):
    return subprocess.run(["openssl", *arguments], capture_output=True, text=True)


class Package:
    """The files of the ZIP; those that openssl reads are written to a folder of its own."""

    def __init__(self, path, folder):
        self.folder = folder
        self.zip = zipfile.ZipFile(path)
        names = self.zip.namelist()
        require(len(names) == len(set(names)), "two files of the ZIP have one name")
        self.names = set(names)
        self.latest = (None, [])

    def read(self, name):
        require(name in self.names, f"{name} is missing")
        return self.zip.read(name)

    def lines(self, name):
        """The JSON lines of a file. Only a line feed ends a line: texts may contain U+2028."""
        return [json.loads(line) for line in self.read(name).decode().split("\n") if line] if name in self.names else []

    def proofs(self, batch):
        """The lines of a proof file. Neighbouring records are of one batch."""
        if self.latest[0] != batch:
            self.latest = (batch, self.lines(f"proofs/{batch}.ndjson"))
        return self.latest[1]

    def on_disk(self, content, name):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as file:
            file.write(content)
        return path


def is_signed(package, public_key, message, signature):
    """Ed25519 (RFC 8032), by openssl."""
    der = bytes.fromhex("302a300506032b6570032100") + public_key
    pem = b"-----BEGIN PUBLIC KEY-----\n" + base64.encodebytes(der) + b"-----END PUBLIC KEY-----\n"
    files = [package.on_disk(content, name) for content, name in ((pem, "k.pem"), (signature, "s"), (message, "m"))]
    done = openssl("pkeyutl", "-verify", "-pubin", "-inkey", files[0], "-rawin", "-sigfile", files[1], "-in", files[2])
    return done.returncode == 0


def parse_key(line):
    """A C2SP verifier-key line: name, key id, 0x01 and the key; None for other text."""
    found = re.fullmatch(r"([^+\s]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)", line.strip())
    if not found:
        return None
    name, key_id, key = found[1], bytes.fromhex(found[2]), base64.b64decode(found[3])
    require(len(key) == 33 and key[0] == 1, "a ledger key is not an Ed25519 key")
    require(sha256(name.encode() + b"\n" + key)[:4] == key_id, "the id of a ledger key does not match")
    return name, key_id, key[1:]


def read_ledger_key(path):
    """The first verifier-key line of a file."""
    with open(path, encoding="utf-8") as file:
        for line in file:
            key = parse_key(line)
            if key:
                return key
    raise Refused("the file given with --ledger-key contains no verifier-key line")


class Keys:
    """The keys of the ledger, oldest first, with the size of the checkpoint that is the last of each."""

    def __init__(self, package, given):
        self.package, self.chain = package, []
        for bridge in package.lines("checkpoints/bridges.ndjson"):
            old, new = parse_key(bridge["from"]), parse_key(bridge["to"])
            require(old and new and old[0] == new[0] == given[0], "a change of the ledger key is malformed")
            require(not self.chain or self.chain[-1][1] == old, "a change of the ledger key does not continue the last one")
            note = package.read(f"checkpoints/{bridge['size']}.note")
            text = text_of_note(package, note, old)
            require(text_of_note(package, note, new) == text, "the keys signed different texts")
            require(text.split("\n")[1] == str(bridge["size"]), "a change of the ledger key names another checkpoint")
            require(f"next-key {bridge['to']}" in text.split("\n")[3:], "a checkpoint does not name the next ledger key")
            self.chain.append((bridge["size"], new, old))
        keys = [self.chain[0][2]] + [link[1] for link in self.chain] if self.chain else [given]
        require(given in keys, "the ledger key that you gave is not one of this package")
        self.keys = keys

    def newest(self):
        return self.keys[-1]

    def at(self, size):
        """The key in force at a checkpoint: a bridge is the last checkpoint of its old key."""
        return self.keys[sum(1 for link in self.chain if link[0] < size)]


def text_of_note(package, note, key):
    """The text of a C2SP signed note that bears a right signature by this key."""
    name, key_id, public_key = key
    text, _, signatures = note.decode().rpartition("\n\n")
    text += "\n"
    for line in signatures.splitlines():
        parts = line.split(" ")
        if len(parts) == 3 and parts[0] == "\u2014" and parts[1] == name:
            signature = base64.b64decode(parts[2])
            if signature[:4] == key_id:
                require(is_signed(package, public_key, text.encode(), signature[4:]), "a signature by the ledger key is invalid")
                return text
    raise Refused("the ledger key that you gave did not sign a note")


def check_files(package):
    """Step 1: the manifest lists every file with its SHA-256."""
    manifest = json.loads(package.read("manifest.json"))
    for name, digest in manifest["files"].items():
        require(sha256(package.read(name)).hex() == digest, f"{name} was changed")
    for name in package.names - set(manifest["files"]) - {"manifest.json", "manifest.json.jws"}:
        found = re.fullmatch(r"attachments/([0-9a-f]{64})", name)
        require(found and sha256(package.read(name)).hex() == found[1], f"{name} is not listed")
    return manifest


def check_manifest_signature(package, manifest, key):
    """Step 2: the manifest is signed by a key that the ledger's key certifies."""
    header, _, signature = package.read("manifest.json.jws").decode().strip().partition("..")
    fields = json.loads(unbase64url(header))
    public_key = unbase64url(fields["jwk"]["x"])
    payload = base64.urlsafe_b64encode(package.read("manifest.json")).rstrip(b"=")
    signed = header.encode() + b"." + payload
    require(is_signed(package, public_key, signed, unbase64url(signature)), "the manifest signature is invalid")
    lines = text_of_note(package, fields["certificate"].encode(), key).splitlines()
    expected = ["consent-ledger manifest key v1", manifest["origin"], base64.b64encode(public_key).decode()]
    require(lines == expected, "the certificate of the manifest key does not match")


def find_entry(package, record):
    """Step 4: the entry's exact text, and its leaf hash."""
    event_id = re.sub(r"^ct_(.{8})(.{4})(.{4})(.{4})(.{12})$", r"\1-\2-\3-\4-\5", record.lower())
    for line in package.lines("entries.ndjson"):
        entry = json.loads(line["entry"])
        if entry["event_id"] == event_id:
            return line, entry, leaf_hash(line["entry"].encode())
    raise Refused(f"the package contains no record {record}")


def root_of_shown(size, shown, hashes):
    """evidence-format.md, 6: the root over shown leaves {index: hash} and the hashes of the subtrees beside them."""
    places, rest = sorted(shown), list(hashes)
    require(all(0 <= place < size for place in places), "a shown leaf is outside the tree")

    def root(start, end):
        if not any(start <= place < end for place in places):
            require(rest, "a proof has too few hashes")
            return rest.pop(0)
        if end - start == 1:
            return shown[start]
        half = 1
        while half * 2 < end - start:
            half *= 2
        return node_hash(root(start, start + half), root(start + half, end))

    found = root(0, size)
    require(not rest, "a proof has too many hashes")
    return found


def canonical(run):
    """RFC 8785, of an object of texts in ASCII and small whole numbers."""
    return json.dumps(run, sort_keys=True, separators=(",", ":")).encode()


PERIODS = (128, 16384)


def level_of(number):
    return 2 if (number + 1) % PERIODS[1] == 0 else 1 if (number + 1) % PERIODS[0] == 0 else 0


def holders_of(batch, size):
    """The batch and the roll-ups over it below a checkpoint."""
    over = {batch // period * period + period - 1 for period in PERIODS}
    return [batch] + sorted(number for number in over if number < size)


def cover_of(size):
    """The fewest batches and roll-ups that cover every batch below a checkpoint."""
    start = 0
    for period in reversed(PERIODS):
        while start + period <= size:
            yield start + period - 1
            start += period
    yield from range(start, size)


class Batches:
    """The batches and roll-ups of the package, each with its header; only those in the ledger count."""

    def __init__(self, package, size, root):
        self.package, self.lines, self.shown_tags = package, {}, {}
        for line in package.lines("batches.ndjson"):
            header = json.loads(line["header"])
            number = header["number"]
            require(number not in self.lines, f"batch {number} is there twice")
            require(header["level"] == level_of(number), f"batch {number} has another level than its number demands")
            path = [bytes.fromhex(hash) for hash in line["path"]]
            found = root_of_inclusion(number, size, leaf_hash(line["header"].encode()), path)
            require(found == root, f"batch {number} is not in the ledger")
            self.lines[number] = (line, header, self.runs(line, header))

    def get(self, number):
        require(number in self.lines, f"the package does not include batch {number}")
        return self.lines[number]

    def runs(self, line, header):
        """The shown leaves under streams_root: index, stream key, and the run or None."""
        shown, leaves = [], {}
        for run in line["streams"]:
            index = run["index"]
            if "key" in run:
                key, digest, named = bytes.fromhex(run["key"]), bytes.fromhex(run["run"]), None
            else:
                named = {name: run[name] for name in ("stream", "start", "first", "last")}
                key, digest = sha256(run["stream"].encode()), sha256(canonical(named))
                end = run["start"] + run["last"] - run["first"] + 1
                require(run["first"] <= run["last"] and end <= header["count"], "a run is empty or too long")
                require((index == 0) == (run["start"] == 0), "the first run does not start at 0")
                require((index == header["streams_count"] - 1) == (end == header["count"]), "the runs do not add up")
            require(not shown or shown[-1][0] < index and shown[-1][1] < key, "the runs are not in order")
            shown.append((index, key, named))
            leaves[index] = leaf_hash(key + digest)
        if header["streams_count"] == 0:
            require(not shown and header["count"] == 0 and header["streams_root"] == sha256(b"").hex(), "an empty batch is malformed")
            return []
        found = root_of_shown(header["streams_count"], leaves, [bytes.fromhex(hash) for hash in line["hashes"]])
        require(found.hex() == header["streams_root"], "the runs do not lead to streams_root")
        return shown

    def run_of(self, number, stream):
        """The run of a stream in a batch; None if the batch is shown to have none."""
        _, header, shown = self.get(number)
        for _, _, run in shown:
            if run and run["stream"] == stream:
                return run
        require(is_absent(sha256(stream.encode()), [(i, key) for i, key, _ in shown], header["streams_count"]),
                f"batch {number} shows neither a run of {stream} nor that it has none")
        return None

    def tags(self, number):
        """The tags that are shown to be in a batch: index and tag."""
        if number not in self.shown_tags:
            _, header, _ = self.get(number)
            lines = self.package.lines(f"tags/{number}.ndjson")
            shown = [(line["index"], bytes.fromhex(line["tag"])) for line in lines if "tag" in line]
            require(all(a[0] < b[0] and a[1] < b[1] for a, b in zip(shown, shown[1:])), "the tags are not in order")
            if header["tags_count"] and lines:
                leaves = {index: leaf_hash(tag) for index, tag in shown}
                hashes = [bytes.fromhex(line["hash"]) for line in lines if "hash" in line]
                found = root_of_shown(header["tags_count"], leaves, hashes)
                require(found.hex() == header["tags_root"], f"the tags of batch {number} do not lead to tags_root")
            else:
                require(not shown, f"batch {number} has no tags")
            self.shown_tags[number] = shown
        return self.shown_tags[number]

    def has_tag(self, number, tag):
        return any(shown == tag for _, shown in self.tags(number))

    def lacks_tag(self, number, tag):
        count = self.get(number)[1]["tags_count"]
        return count == 0 or not self.has_tag(number, tag) and is_absent(tag, self.tags(number), count)


def is_absent(key, shown, count):
    """In a sorted tree, between two neighbours, before the first leaf or after the last one."""
    if count == 0:
        return True
    below = [index for index, other in shown if other < key]
    above = [index for index, other in shown if other > key]
    return any(other == key for _, other in shown) is False and bool(shown) and (
        (below[-1] if below else -1) + 1 == (above[0] if above else count))


def check_place(batches, size, line, entry):
    """Step 5: the batch and the roll-ups over it have the stream's run, and the record's person tag."""
    for number in holders_of(line["batch"], size):
        run = batches.run_of(number, entry["stream"])
        require(run and run["first"] <= entry["revision"] <= run["last"], f"batch {number} does not contain the revision")
        if number == line["batch"]:
            require(line["index"] == run["start"] + entry["revision"] - run["first"], "the record has another index than its run demands")
        if entry["person_tag"] is not None:
            require(batches.has_tag(number, bytes.fromhex(entry["person_tag"])), f"batch {number} does not list the person tag")


def check_batch(package, line, leaf):
    """Step 4: the leaf is in its batch. Returns the batch's line and header."""
    for batch in package.lines("batches.ndjson"):
        header = json.loads(batch["header"])
        if header["number"] == line["batch"]:
            require(header["level"] == 0, "a roll-up has no records")
            proofs = package.proofs(line["batch"])
            if proofs and "leaf" in proofs[0]:
                leaves = [bytes.fromhex(proof["leaf"]) for proof in proofs]
                require(len(leaves) == header["count"] and leaves[line["index"]] == leaf, "the batch contains another leaf")
                root = tree_root(leaves)
            else:
                path = next((proof["path"] for proof in proofs if proof["index"] == line["index"]), None)
                require(path is not None, "the record's audit path is missing")
                root = root_of_inclusion(line["index"], header["count"], leaf, [bytes.fromhex(hash) for hash in path])
            require(root.hex() == header["root"], "the record is not in its batch")
            return batch, header
    raise Refused("the record's batch is missing")


def read_checkpoint(package, size, keys, origin):
    """The root that a checkpoint signed by the ledger names."""
    lines = text_of_note(package, package.read(f"checkpoints/{size}.note"), keys.at(size)).split("\n")
    require(lines[:2] == [origin, str(size)], f"checkpoint {size} is of another ledger or size")
    return base64.b64decode(lines[2])


def check_ledger(package, manifest, keys):
    """Step 3: the newest checkpoint. Returns its size and root."""
    size = manifest["checkpoint"]
    require(size is not None, "the package has no time stamp")
    require(manifest["origin"] == keys.newest()[0], "the ledger key that you gave is of another ledger")
    text_of_note(package, package.read(f"checkpoints/{size}.note"), keys.newest())
    return size, read_checkpoint(package, size, keys, manifest["origin"])


def first_checkpoint(package, manifest, number, newest_root, keys):
    """Step 6: the earliest checkpoint that holds the batch, and that the newest one extends without rewriting anything."""
    size, root = manifest["checkpoint"], newest_root
    proofs = {proof["to"]: proof for proof in package.lines("checkpoints/consistency.ndjson")}
    while size in proofs and proofs[size]["from"] > number:
        proof = proofs[size]
        earlier = read_checkpoint(package, proof["from"], keys, manifest["origin"])
        path = [bytes.fromhex(hash) for hash in proof["path"]]
        both = roots_of_consistency(proof["from"], size, earlier, path)
        require(both == (earlier, root), f"checkpoint {size} does not extend checkpoint {proof['from']}")
        size, root = proof["from"], earlier
    return size


def check_stamps(package, size, roots):
    """Step 7: authorities that you trust have stamped that checkpoint. Returns the times, in seconds since 1970.

    Each time stamp is judged by itself: an invalid one proves nothing, and the others still count."""
    times, problems = [], []
    for number in range(1, 10):
        name = f"checkpoints/{size}.{number}.tsr"
        if name in package.names:
            try:
                times.append(check_stamp(package, size, name, roots))
            except Refused as problem:
                problems.append(f"{name}: {problem}")
    require(times, "; ".join(problems) or "the checkpoint has no time stamp")
    for problem in problems:
        print(f"   not counted: {ascii(problem)}")
    return sorted(times)


def check_stamp(package, size, name, roots):
    """The time in one time stamp over a checkpoint, in seconds since 1970."""
    note = package.on_disk(package.read(f"checkpoints/{size}.note"), "note")
    token = package.on_disk(package.read(name), "tsr")
    certificates = b""
    for name in sorted(package.names):
        if name.startswith("checkpoints/certificates/"):
            der = package.read(name)
            certificates += b"-----BEGIN CERTIFICATE-----\n" + base64.encodebytes(der) + b"-----END CERTIFICATE-----\n"
    untrusted = ["-untrusted", package.on_disk(certificates, "chain.pem")] if certificates else []
    stated = re.search(r"^Time stamp: (\w{3} +\d+ [\d:]+)(?:\.\d+)? (\d{4}) GMT$", openssl("ts", "-reply", "-in", token, "-text").stdout, re.M)
    require(stated, "the time stamp cannot be read")
    seconds = calendar.timegm(time.strptime(f"{stated[1]} {stated[2]}", "%b %d %H:%M:%S %Y"))
    # The certificates are evaluated at the time of the stamp: they may have expired since.
    done = openssl("ts", "-verify", "-data", note, "-in", token, "-CAfile", roots, *untrusted, "-attime", str(seconds))
    require(done.returncode == 0, "the time stamp is invalid: " + " ".join(done.stderr.split()))
    return seconds


def check_values(package, line, record):
    """Step 8: disclosed values and the text consented to are those that the record commits to. Returns the values."""
    values = {}
    for disclosure in line["disclosures"]:
        digest = base64.urlsafe_b64encode(sha256(disclosure.encode())).rstrip(b"=").decode()
        _, name, value = json.loads(unbase64url(disclosure))
        require(record.get("disclosures", {}).get(name) == digest, "the record does not commit to a disclosed value")
        require(name not in values, "a value is disclosed twice")
        values[name] = value
    for name in ("document_hash", "site_config_hash"):
        if name in record:
            content = package.read(f"notices/{record[name]}")
            require(sha256(content).hex() == record[name], "the text consented to was changed")
    return values


def check_entries(package, manifest, batches, size):
    """With --all: every entry is in order, chained to the one before, and in its place. Returns the entries."""
    found, before, ids = [], None, set()
    for line in package.lines("entries.ndjson"):
        entry, leaf = json.loads(line["entry"]), leaf_hash(line["entry"].encode())
        place = (entry["stream"], entry["revision"])
        require(before is None or before[0] < place, "the entries are not in order")
        require((entry["revision"] == 0) == (entry["previous"] is None), "an entry has no predecessor, or one too many")
        if before and before[0] == (place[0], place[1] - 1):
            require(entry["previous"] == before[1].hex(), f"revision {place[1]} of {place[0]} does not continue the one before")
        require(entry["event_id"] not in ids, "an event id is there twice")
        ids.add(entry["event_id"])
        is_consent = entry["type"] == "ConsentRecorded.v1"
        require(not is_consent or (entry["proof_hash"] is not None and entry["person_tag"] is not None), "a consent is malformed")
        check_batch(package, line, leaf)
        check_place(batches, size, line, entry)
        values = check_values(package, line, entry["record"])
        if is_consent and manifest["filter"]["disclose"] == "all" and "erased" not in line and matches(manifest, entry["record"]):
            require(set(values) == set(entry["record"]["disclosures"]), "a value is withheld, although all are to be disclosed")
        found.append(entry)
        before = (place, leaf)
    return found


def matches(manifest, record):
    """Whether the public members of a record match the filter of the manifest."""
    asked = manifest["filter"]
    return ((asked["from"] is None or record["created_at"] >= asked["from"])
            and (asked["to"] is None or record["created_at"] < asked["to"])
            and asked["consent_type"] in (None, record["consent_type"])
            and asked["document_version_id"] in (None, record["document_version_id"])
            and (asked["event_ids"] is None or record["event_id"] in asked["event_ids"]))


def check_completeness(manifest, batches, entries, size):
    """With --all: the streams end where every batch up to the checkpoint shows, and no record of the person is missing."""
    asked = manifest["filter"]
    shown = {}
    for entry in entries:
        shown.setdefault(entry["stream"], []).append(entry["revision"])
    whole = [f"notices-{asked['site_id']}", "policy"]
    if all(asked[name] is None for name in ("from", "to", "consent_type", "document_version_id", "event_ids", "person")):
        whole.append(f"consents-{asked['site_id']}")
    for stream in whole:
        last = -1
        for number in cover_of(size):
            run = batches.run_of(number, stream)
            if run:
                require(run["first"] == last + 1, f"batch {number} does not continue {stream}")
                last = run["last"]
        require(shown.get(stream, []) == list(range(last + 1)), f"events of {stream} are missing: the ledger has revisions up to {last}")
    claimed = sorted((run["stream"], run["first"], run["last"]) for run in manifest["complete"])
    require(all(a[0] < b[0] or a[2] < b[1] for a, b in zip(claimed, claimed[1:])), "runs that are called complete overlap")
    for run in manifest["complete"]:
        revisions = set(shown.get(run["stream"], []))
        require(all(revision in revisions for revision in range(run["first"], run["last"] + 1)), "a run that is called complete is not")
    for event_id in asked["event_ids"] or []:
        require(any(entry["event_id"] == event_id for entry in entries), "a record that was requested is missing")
    person = asked["person"]
    if person and person["records"] is not None:
        require(person["id"], "nothing is proved about the person")
        tags = {entry["person_tag"] for entry in entries}
        tag_of = lambda n: sha256(b"consent-ledger person tag v1\x00" + bytes.fromhex(person["id"]) + n.to_bytes(8, "big"))
        for n in range(1, person["records"] + 1):
            require(tag_of(n).hex() in tags, f"record {n} of the person is missing")
        for number in cover_of(size):
            require(batches.lacks_tag(number, tag_of(person["records"] + 1)), f"batch {number} may have a further record of the person")


def confirm(package, given):
    """All steps, in order. Returns what to print in the end."""
    key = read_ledger_key(given.ledger_key)
    keys = Keys(package, key)
    manifest = check_files(package)
    print(f"1. {len(manifest['files'])} files are those of the manifest")
    check_manifest_signature(package, manifest, keys.newest())
    print("2. the manifest is signed by a key that the ledger certifies")
    size, root = check_ledger(package, manifest, keys)
    batches = Batches(package, size, root)
    print(f"3. {len(batches.lines)} batches are in the ledger {manifest['origin']!a}, checkpoint {size!a}, root {root.hex()}")
    if given.all:
        entries = check_entries(package, manifest, batches, size)
        print(f"4. {len(entries)} entries are in their batches, with the values disclosed")
        check_completeness(manifest, batches, entries, size)
        print("5. nothing is missing up to that checkpoint")
        newest = check_stamps(package, size, given.tsa_ca)[0]
        print(f"6. all of it existed by {time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(newest))}, says a time-stamp authority")
        return {"entries": len(entries)}
    line, entry, leaf = find_entry(package, given.record)
    _, header = check_batch(package, line, leaf)
    print(f"4. the record is {entry['stream']!a} revision {entry['revision']!a}, leaf {leaf.hex()}, in batch {header['number']} at index {line['index']}")
    check_place(batches, size, line, entry)
    print(f"5. its run and its person tag are in {len(holders_of(header['number'], size))} batches and roll-ups")
    first = first_checkpoint(package, manifest, header["number"], root, keys)
    print(f"6. checkpoint {first} held it already, and nothing was rewritten since")
    for stamped in check_stamps(package, first, given.tsa_ca):
        print(f"7. it existed by {time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(stamped))}, says a time-stamp authority")
    values = check_values(package, line, entry["record"])
    print(f"8. {len(values)} disclosed values, and the texts enclosed, are those that it commits to")
    return {"record": entry["record"], "disclosed": values}


def main():
    parser = argparse.ArgumentParser(description="Confirms one record of an evidence package, or all of it.")
    parser.add_argument("package")
    parser.add_argument("record", nargs="?", help="event id or consent token")
    parser.add_argument("--all", action="store_true", help="confirm every entry, and that nothing is missing")
    parser.add_argument("--ledger-key", required=True, help="the ledger's public key, from its operator")
    parser.add_argument("--tsa-ca", required=True, help="root certificates of time-stamp authorities that you trust, in PEM")
    given = parser.parse_args()
    if given.all == (given.record is not None):
        parser.error("give a record, or --all")
    with tempfile.TemporaryDirectory() as folder:
        try:
            shown = confirm(Package(given.package, folder), given)
        except (Refused, KeyError, TypeError, IndexError, ValueError, OSError, zipfile.BadZipFile) as problem:
            print(f"NOT CONFIRMED: {ascii(str(problem))}")
            return 1
    print("CONFIRMED")
    print(json.dumps(shown, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())

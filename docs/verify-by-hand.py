#!/usr/bin/env python3
"""Confirms one record of a Consent Ledger evidence package without any software of Consent Ledger.

    python3 verify-by-hand.py PACKAGE.zip RECORD --ledger-key LEDGER.pub --tsa-ca ROOT.pem

RECORD is an event id or a consent token (ct_...). The script needs Python 3.9, its standard library
and the openssl command (3.0 or later), and follows docs/evidence-format.md. It is written to be
read: one function for each step. It confirms only the proof of the record. consent-verify also
checks revocation, completeness, erasures, key changes and the container.
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

    def read(self, name):
        require(name in self.names, f"{name} is missing")
        return self.zip.read(name)

    def lines(self, name):
        return [json.loads(line) for line in self.read(name).decode().splitlines()] if name in self.names else []

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


def read_ledger_key(path):
    """A C2SP verifier-key line: name, key id, 0x01 and the key."""
    with open(path, encoding="utf-8") as file:
        for line in file:
            found = re.fullmatch(r"([^+\s]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)", line.strip())
            if found:
                name, key_id, key = found[1], bytes.fromhex(found[2]), base64.b64decode(found[3])
                require(len(key) == 33 and key[0] == 1, "the ledger key is not an Ed25519 key")
                require(sha256(name.encode() + b"\n" + key)[:4] == key_id, "the id of the ledger key does not match")
                return name, key_id, key[1:]
    raise Refused("the file given with --ledger-key contains no verifier-key line")


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
    """Step 3: the entry's exact text, and its leaf hash."""
    event_id = re.sub(r"^ct_(.{8})(.{4})(.{4})(.{4})(.{12})$", r"\1-\2-\3-\4-\5", record.lower())
    for line in package.lines("entries.ndjson"):
        entry = json.loads(line["entry"])
        if entry["event_id"] == event_id:
            return line, entry, leaf_hash(line["entry"].encode())
    raise Refused(f"the package contains no record {record}")


def check_batch(package, line, leaf):
    """Step 4: the leaf is in its batch. Returns the batch's line and header."""
    for batch in package.lines("batches.ndjson"):
        header = json.loads(batch["header"])
        if header["number"] == line["batch"]:
            proofs = package.lines(f"proofs/{line['batch']}.ndjson")
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


def read_checkpoint(package, size, key, origin):
    """The root that a checkpoint signed by the ledger names."""
    lines = text_of_note(package, package.read(f"checkpoints/{size}.note"), key).splitlines()
    require(lines[:2] == [origin, str(size)], f"checkpoint {size} is of another ledger or size")
    return base64.b64decode(lines[2])


def check_ledger(package, manifest, batch, header, key):
    """Step 5: the batch is in the ledger as the newest checkpoint has it. Returns the root of that."""
    size = manifest["checkpoint"]
    require(size is not None, "the package has no time stamp")
    require(manifest["origin"] == key[0], "the ledger key that you gave is of another ledger")
    root = read_checkpoint(package, size, key, manifest["origin"])
    path = [bytes.fromhex(hash) for hash in batch["path"]]
    found = root_of_inclusion(header["number"], size, leaf_hash(batch["header"].encode()), path)
    require(found == root, "the batch is not in the ledger")
    return root


def first_checkpoint(package, manifest, number, newest_root, key):
    """Step 6: the earliest checkpoint that holds the batch, and that the newest one extends without rewriting anything."""
    size, root = manifest["checkpoint"], newest_root
    proofs = {proof["to"]: proof for proof in package.lines("checkpoints/consistency.ndjson")}
    while size in proofs and proofs[size]["from"] > number:
        proof = proofs[size]
        earlier = read_checkpoint(package, proof["from"], key, manifest["origin"])
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
    values = []
    for disclosure in line["disclosures"]:
        digest = base64.urlsafe_b64encode(sha256(disclosure.encode())).rstrip(b"=").decode()
        require(digest in record.get("_sd", []), "the record does not commit to a disclosed value")
        values.append(json.loads(unbase64url(disclosure))[1:])
    for name in ("document_hash", "site_config_hash"):
        if name in record:
            content = package.read(f"notices/{record[name]}")
            require(sha256(content).hex() == record[name], "the text consented to was changed")
    return values


def main():
    parser = argparse.ArgumentParser(description="Confirms one record of an evidence package.")
    parser.add_argument("package")
    parser.add_argument("record", help="event id or consent token")
    parser.add_argument("--ledger-key", required=True, help="the ledger's public key, from its operator")
    parser.add_argument("--tsa-ca", required=True, help="root certificates of time-stamp authorities that you trust, in PEM")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        try:
            key = read_ledger_key(given.ledger_key)
            package = Package(given.package, folder)
            manifest = check_files(package)
            print(f"1. {len(manifest['files'])} files are those of the manifest")
            check_manifest_signature(package, manifest, key)
            print("2. the manifest is signed by a key that the ledger certifies")
            line, entry, leaf = find_entry(package, given.record)
            print(f"3. the record is {entry['stream']!a} revision {entry['revision']!a}, leaf {leaf.hex()}")
            batch, header = check_batch(package, line, leaf)
            print(f"4. it is in batch {header['number']} at index {line['index']}")
            root = check_ledger(package, manifest, batch, header, key)
            print(f"5. the batch is in the ledger {manifest['origin']!a}, checkpoint {manifest['checkpoint']!a}, root {root.hex()}")
            size = first_checkpoint(package, manifest, header["number"], root, key)
            print(f"6. checkpoint {size} held it already, and nothing was rewritten since")
            for stamped in check_stamps(package, size, given.tsa_ca):
                print(f"7. it existed by {time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(stamped))}, says a time-stamp authority")
            values = check_values(package, line, entry["record"])
            print(f"8. {len(values)} disclosed values, and the texts enclosed, are those that it commits to")
        except (Refused, KeyError, TypeError, IndexError, ValueError, OSError, zipfile.BadZipFile) as problem:
            print(f"NOT CONFIRMED: {ascii(str(problem))}")
            return 1
    print("CONFIRMED")
    print(json.dumps({"record": entry["record"], "disclosed": dict(values)}, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())

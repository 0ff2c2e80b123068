#!/usr/bin/env python3
"""Audits the published structure of a ledger without any software of Consent Ledger.

    python3 audit_structure.py FOLDER ... --ledger-key LEDGER.vkey

FOLDER has the files that a service serves below /checkpoints/, as `consent-ledger admin structure
export` writes them. LEDGER.vkey has the lines that it serves as ledger.vkey. The script recomputes the
files from leaf 0 up to the newest checkpoint, which the key of Ed25519 must have signed: it follows no
change of the key, and checks no signature of ML-DSA-44. For each folder it prints CONFIRMED, or NOT
CONFIRMED with the first rule that is broken. It ends with 0 (all are confirmed), 1 or 2 (wrong usage).
It needs Python 3.9, its standard library and the openssl command (3.0 or later).

It follows docs/evidence-format.md §6 (“Batches” and “Published structure”), is written from that document
alone, and is meant to be read. It holds all tags in memory: a large ledger is for `consent-verify watch
--structure`.
"""
import argparse, base64, hashlib, json, os, re, subprocess, sys, tempfile

WIDTH = 256
MEMBERS = ["after", "count", "level", "number", "policies", "root", "sealed_at", "streams_count",
           "streams_root", "tags_count", "tags_root", "v"]


class Refused(Exception):
    """A rule is broken, or a file is not published."""


def require(holds, problem):
    if not holds:
        raise Refused(problem)


def sha256(data):
    return hashlib.sha256(data).digest()


def leaf_hash(data):
    return sha256(b"\0" + data)


def tree_root(leaves):
    """RFC 9162 §2.1.1: the largest power of two below the size splits a tree."""
    edge = []  # roots of perfect subtrees with their sizes
    for leaf in leaves:
        node, size = leaf, 1
        while edge and edge[-1][1] == size:
            left, _ = edge.pop()
            node, size = sha256(b"\1" + left + node), 2 * size
        edge.append((node, size))
    if not edge:
        return sha256(b"")
    root = edge[-1][0]
    for left, _ in reversed(edge[:-1]):
        root = sha256(b"\1" + left + root)
    return root


STREAM_PREFIX = b"consent-ledger stream key v1\0"
POLICY = sha256(STREAM_PREFIX + b"policy")  # a stream of no site has an empty salt


def number_path(number):
    """x001/x234/067"""
    digits = str(number)
    digits = digits.zfill(-(-len(digits) // 3) * 3)
    groups = [digits[i:i + 3] for i in range(0, len(digits), 3)]
    return "/".join(["x" + group for group in groups[:-1]] + groups[-1:])


class Folder:
    def __init__(self, path):
        self.path = path

    def read(self, name):
        try:
            with open(os.path.join(self.path, *name.split("/")), "rb") as file:
                return file.read()
        except OSError:
            raise Refused(f"{name} is not published") from None

    def checkpoint(self, key):
        """The size and the root that the key signed (§7)."""
        text, _, lines = self.read("log/checkpoint").decode().partition("\n\n")
        found = re.fullmatch(r"([^\n]+)\n(0|[1-9][0-9]{0,15})\n([A-Za-z0-9+/]{43}=)", text)
        require(found and lines.endswith("\n"), "the checkpoint is malformed")
        origin, size, root = found.groups()
        name, key_id, public = key
        require(origin == name, "the checkpoint is of another ledger")
        mine = []
        for line in lines[:-1].split("\n"):
            _, signer, signature = line.split(" ")
            blob = base64.b64decode(signature, validate=True)
            if signer == name and blob[:4] == key_id:
                mine.append(blob[4:])
        require(len(mine) == 1, "the ledger key did not sign the checkpoint, or twice")
        require(is_signed(public, f"{text}\n".encode(), mine[0]), "the signature of the checkpoint is invalid")
        return int(size), base64.b64decode(root)

    def headers(self, size):
        for index in range(0, size, WIDTH):
            width = min(WIDTH, size - index)
            name = "log/tile/entries/" + number_path(index // WIDTH)
            bundle = self.read(name if width == WIDTH else f"{name}.p/{width}")
            at = 0
            for _ in range(width):
                require(len(bundle) >= at + 2, f"{name} is too short")
                length = int.from_bytes(bundle[at:at + 2], "big")
                yield bundle[at + 2:at + 2 + length]
                at += 2 + length
            require(at == len(bundle), f"{name} does not have its entries alone")

    def check_tiles(self, leaves):
        """Rule 8: the tiles have the hashes of the tree. Others compute their proofs from them."""
        level, nodes = 0, leaves
        while nodes:
            above = []
            for index in range(0, len(nodes), WIDTH):
                hashes = nodes[index:index + WIDTH]
                width = len(hashes)
                partial = "" if width == WIDTH else f".p/{width}"
                name = f"log/tile/{level}/" + number_path(index // WIDTH) + partial
                require(self.read(name) == b"".join(hashes), f"{name} is not what the checkpoint commits to")
                above += [tree_root(hashes)] if width == WIDTH else []
            level, nodes = level + 1, above

    def structure(self, header):
        """The runs (key, first, last) and the tags of a leaf; rule 3."""
        number, runs, tags = header["number"], header["streams_count"], header["tags_count"]
        name = "log/structure/" + number_path(number)
        data = self.read(name)
        require(len(data) == 48 * runs + 32 * tags, f"{name} does not have the length that its header states")
        found = [(data[i:i + 32], int.from_bytes(data[i + 32:i + 40], "big"), int.from_bytes(data[i + 40:i + 48], "big"))
                 for i in range(0, 48 * runs, 48)]
        own = [data[i:i + 32] for i in range(48 * runs, len(data), 32)]
        require(commitment(found, own)[1:] == stated(header)[1:], f"{name} is not what its header commits to")
        return found, own


PRIME = 2 ** 255 - 19
ORDER_EIGHT = 0x05FC536D880238B13933C6D305ACDFD5F098EFF289F4C345B027B2C28F95E826


def has_small_order(point):
    """§7: y is one of those of the points of small order of edwards25519, in any encoding."""
    y = (int.from_bytes(point, "little") & (1 << 255) - 1) % PRIME
    return y in (0, 1, PRIME - 1, ORDER_EIGHT, PRIME - ORDER_EIGHT)


def is_signed(public, message, signature):
    """Ed25519 (RFC 8032), with a key and an R that are not of small order: §7."""
    if len(public) != 32 or len(signature) != 64 or has_small_order(public) or has_small_order(signature[:32]):
        return False
    der = bytes.fromhex("302a300506032b6570032100") + public
    with tempfile.TemporaryDirectory() as folder:
        paths = {}
        for name, data in (("key", der), ("text", message), ("sig", signature)):
            paths[name] = os.path.join(folder, name)
            with open(paths[name], "wb") as file:
                file.write(data)
        command = ["openssl", "pkeyutl", "-verify", "-rawin", "-pubin", "-keyform", "DER",
                   "-inkey", paths["key"], "-in", paths["text"], "-sigfile", paths["sig"]]
        return subprocess.run(command, capture_output=True).returncode == 0


def commitment(runs, tags):
    """What a header states of runs and tags in the order of their trees."""
    start, leaves = 0, []
    for key, first, last in runs:
        leaves.append(leaf_hash(key + b"".join(n.to_bytes(8, "big") for n in (start, first, last))))
        start += last - first + 1
    return (start, len(runs), tree_root(leaves).hex(), len(tags), tree_root(map(leaf_hash, tags)).hex())


def stated(header):
    return (header["count"], header["streams_count"], header["streams_root"], header["tags_count"], header["tags_root"])


def level_of(number):
    return 2 if (number + 1) % 16_384 == 0 else 1 if (number + 1) % 128 == 0 else 0


def parse_header(text, number):
    """Rule 1: a valid header of its number."""
    try:
        header = json.loads(text)
        canonical = json.dumps(header, separators=(",", ":"), ensure_ascii=False, sort_keys=True).encode()
    except ValueError:
        raise Refused(f"leaf {number} is not a header") from None
    require(canonical == text and sorted(header) == MEMBERS and header["v"] == 1, f"leaf {number} is not a header")
    counts = [header[name] for name in ("count", "streams_count", "tags_count", "policies")]
    require(all(type(count) is int and 0 <= count < 2 ** 53 for count in counts), f"leaf {number} has no counts")
    require(header["number"] == number, f"leaf {number} states the number {header['number']}")
    level = level_of(number)
    require(header["level"] == level and (header["root"] is None) == (level > 0), f"leaf {number} has another level")
    count, streams, tags, _ = counts
    require(streams <= count and tags <= count and (streams > 0 or count == 0), f"the counts of leaf {number} contradict each other")
    empty = sha256(b"").hex()
    for size, name in ((streams, "streams_root"), (tags, "tags_root"), (count, "root")):
        if header[name] is not None:
            require((size == 0) == (header[name] == empty), f"counts and roots of leaf {number} contradict each other")
    require(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", header["sealed_at"]), f"leaf {number} has no time")
    after = header["after"]
    require(after is None or 0 < after["size"] <= number, f"leaf {number} names a time stamp over too many leaves")
    return header


def size_after(header):
    return 0 if header["after"] is None else header["after"]["size"]


def joined(parts):
    """The runs and tags of one batch with all of these (rule 7)."""
    runs, tags = {}, []
    for part, own in parts:
        tags += own
        for key, first, last in part:
            runs[key] = (runs[key][0] if key in runs else first, last)
    return [(key, *runs[key]) for key in sorted(runs)], sorted(tags)


class Audit:
    def __init__(self):
        self.events = {}    # number of events by stream key
        self.tags = set()
        self.policies = 0
        self.periods = {1: [], 2: []}  # runs and tags of the batches in the period of each level

    def add_batch(self, header, runs, tags):
        number = header["number"]
        require(all(a[0] < b[0] for a, b in zip(runs, runs[1:])), f"the runs of batch {number} are not sorted")
        require(commitment(runs, tags)[0] == header["count"], f"the runs of batch {number} do not have its count")
        for key, first, last in runs:
            before = self.events.get(key, 0)
            require(first == before and last >= first, f"a run of batch {number} starts at {first}, after {before} events of its stream")
            self.events[key] = last + 1
        require(all(a < b for a, b in zip(tags, tags[1:])), f"the tags of batch {number} are not sorted")
        require(self.tags.isdisjoint(tags), f"a tag of batch {number} is in an earlier one, too")
        self.tags.update(tags)
        self.policies = self.events.get(POLICY, 0)
        for period in self.periods.values():
            period.append((runs, tags))

    def add_roll_up(self, header):
        level = header["level"]
        require(commitment(*joined(self.periods[level])) == stated(header),
                f"roll-up {header['number']} is not the sum of what it covers")
        for lower in range(1, level + 1):
            self.periods[lower] = []


def audit(path, key):
    folder = Folder(path)
    size, root = folder.checkpoint(key)
    texts = list(folder.headers(size))
    leaves = [leaf_hash(text) for text in texts]
    require(tree_root(leaves) == root, "the headers are not those of the checkpoint")
    state, before = Audit(), None
    for number, text in enumerate(texts):
        header = parse_header(text, number)
        if before is not None:
            for name in ("policies", "sealed_at"):
                require(before[name] <= header[name], f"{name} decreases in leaf {number}")
            require(size_after(before) <= size_after(header), f"leaf {number} names an older time stamp")
        if header["level"] == 0:
            state.add_batch(header, *folder.structure(header))
        else:
            state.add_roll_up(header)
        require(header["policies"] == state.policies, f"leaf {number} counts {header['policies']} policies of {state.policies}")
        before = header
    folder.check_tiles(leaves)
    return size


def ed25519_key(text):
    """Name, key id and key of the verifier-key line of type 0x01 (§7): a ledger has one of ML-DSA-44 beside it."""
    for line in text.split():
        if line.count("+") < 2:
            continue
        name, key_id, encoded = line.split("+", 2)
        key = base64.b64decode(encoded)
        if key[:1] == b"\x01" and len(key) == 33 and sha256(name.encode() + b"\n" + key)[:4].hex() == key_id:
            return name, bytes.fromhex(key_id), key[1:]
    sys.exit("the file has no verifier-key line of Ed25519")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--ledger-key", required=True)
    given = parser.parse_args()
    with open(given.ledger_key) as file:
        key = ed25519_key(file.read())
    is_confirmed = True
    for path in given.folders:
        print(f"== {path}")
        try:
            print(f"CONFIRMED: the structure up to checkpoint {audit(path, key)}")
        except (Refused, ValueError, KeyError, TypeError) as problem:
            is_confirmed = False
            print(f"NOT CONFIRMED: {problem}")
    return 0 if is_confirmed else 1


if __name__ == "__main__":
    sys.exit(main())

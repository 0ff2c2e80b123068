#!/usr/bin/env python3
"""Verifies Consent Ledger evidence without any software of Consent Ledger.

    python3 verify.py PACKAGE.zip RECORD    --ledger-key LEDGER.pub --tsa-ca ROOT.pem
    python3 verify.py PACKAGE.zip ... --all --ledger-key LEDGER.pub --tsa-ca ROOT.pem

RECORD is an event id or a consent token (ct_...): the script confirms this record, with the notices
and policies that it depends on. With --all, the script confirms every entry of each package, and
that nothing is missing: no event at the end of a stream, no record of a person whose records were
requested, no erasure. A receipt (a JSON file) can be given in place of a package. --promise FILE also
holds a promise against the package, --witness-key FILE requires a cosignature of that witness.

The script ends with 0 (CONFIRMED), 1 (NOT CONFIRMED: a check failed), 2 (wrong usage) or 3 (OPEN: no
check failed, but something cannot be decided). It needs Python 3.9, its standard library, the openssl
command (3.0 or later), and evidence.schema.json, which is published with consent-verify (dist/).

It follows docs/evidence-format.md, is written from that document alone, and is meant to be read: one
function for each rule, with the section (§) that states it. The chain of a time stamp, its policies
and its constraints of names are left to openssl. Not checked here, but by consent-verify:
the limits (§14), the revocation of certificates, the dates until which algorithms are sound, and
signatures with ML-DSA-44 (§7), which openssl knows from 3.5 on: the script relies on those with
Ed25519 alone, which are sound until 2036, and looks at the length and the time of the others. It says
so beside CONFIRMED. A refusal ends the script: it names the first failure, with its check (§13); openssl
evaluates a time stamp as a whole, so that it says `tst` of these.
"""
import argparse, base64, bisect, calendar, decimal, functools, hashlib, json, os, re, struct, subprocess, sys, tempfile, time, unicodedata, zlib

HERE = os.path.dirname(os.path.abspath(__file__))
TOLERANCE = 300_000  # milliseconds, for clocks that differ: §9
DAY = 86_400_000
MINOR = 0  # newest minor version of the format that this script knows


NOT_CHECKED = ("the limits of the format (§14)", "the revocation of certificates (§9)",
               "the dates until which algorithms are sound (§9)", "signatures with ML-DSA-44 (§7)")


class Refused(Exception):
    """A check failed: the package is not what it states to be."""

    def __init__(self, problem, check=None):
        super().__init__(problem)
        self.check = check


class NoPackage(Exception):
    """The file is neither a ZIP with a manifest nor a receipt: there is no verdict."""


class Undecided(Exception):
    """The package can be neither confirmed nor refused with what was given."""


def require(holds, problem, check=None):
    if not holds:
        raise Refused(problem, check)


# What Python raises on malformed input.
BROKEN = (Refused, LookupError, TypeError, ValueError, ArithmeticError, RecursionError, MemoryError, OSError, struct.error, zlib.error)


def checking(check):
    """What such a function refuses fails this check of §13, unless it names another one."""
    def decorate(function):
        @functools.wraps(function)
        def checked(*given):
            try:
                return function(*given)
            except BROKEN as problem:
                if isinstance(problem, Refused):
                    problem.check = problem.check or check
                    raise
                raise Refused(str(problem), check) from problem
        return checked
    return decorate


# ---- §2: hashes, encodings, strict and canonical JSON -------------------------------------------


def sha256(data):
    return hashlib.sha256(data).digest()


def leaf_hash(data):
    return sha256(b"\x00" + data)


def node_hash(left, right):
    return sha256(b"\x01" + left + right)


def unbase64(text):
    """base64 with padding, canonical: no other text has these bytes."""
    data = base64.b64decode(text, validate=True)
    require(base64.b64encode(data).decode() == text, "a text is not canonical base64")
    return data


def unbase64url(text):
    """base64url without padding, canonical."""
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    require(base64url(data) == text, "a text is not canonical base64url")
    return data


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def unhex(text):
    require(isinstance(text, str) and re.fullmatch("(?:[0-9a-f]{64})", text), "a hash is not 64 hex digits")
    return bytes.fromhex(text)


def members(pairs):
    """An object. No member occurs twice, and none is called __proto__."""
    names = [name for name, _ in pairs]
    require(len(names) == len(set(names)), "a JSON object has a member twice")
    require("__proto__" not in names, "a JSON object has a member __proto__")
    return dict(pairs)


def number(text):
    """A number that a double holds without changing its digits. 1.0 is the integer 1."""
    value = float(text)
    # Decimal takes no exponent of any length. Zero has none that counts.
    is_zero = not re.search("[1-9]", text.lower().partition("e")[0])
    require(is_zero or 0 < abs(value) < float("inf"), "a double changes a JSON number")
    require(is_zero or decimal.Decimal(repr(value)) == decimal.Decimal(text), "a double changes a JSON number")
    if value.is_integer():
        require(abs(value) < 2**53, "a JSON integer is too large")
        return int(value)
    return value


def no_constant(text):
    raise Refused(f"{text} is no JSON")


def parse(data, most=100_000):
    """Strict JSON of bytes or text."""
    text = data.decode("utf-8") if isinstance(data, bytes) else data
    value = json.loads(text, object_pairs_hook=members, parse_float=number, parse_int=number, parse_constant=no_constant)
    require(count_values(value, 1) <= most, "a JSON text has too many values")
    return value


NO_TEXT = re.compile("[\ud800-\udfff\0]")


def count_values(value, depth):
    """The braces and brackets that open, and the commas: §2. Checks depth and texts as well."""
    if isinstance(value, str):
        require(not NO_TEXT.search(value), "a JSON text has a lone surrogate or U+0000")
    if not isinstance(value, (dict, list)):
        return 0
    require(depth <= 32, "a JSON text is nested too deep")
    items = value if isinstance(value, list) else [*value, *value.values()]
    return max(1, len(value)) + sum(count_values(item, depth + 1) for item in items)


def canonical(value):
    """The canonical text of a JSON value (JCS, RFC 8785)."""
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return "{" + ",".join(canonical(name) + ":" + canonical(value[name]) for name in names) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, float):
        if abs(value) >= 1e-6:
            return format(decimal.Decimal(repr(value)), "f")
        return re.sub("e-0*", "e-", repr(value))
    return json.dumps(value, ensure_ascii=False)


def parse_canonical(text):
    value = parse(text)
    require(isinstance(value, dict) and canonical(value) == text, "a JSON text is not canonical")
    return value


def is_newer(item, name="v", known=1):
    """§17: whether an object states a version above the known one. A lower one does not exist, and is an error."""
    version = item.get(name) if isinstance(item, dict) else None
    return isinstance(version, int) and not isinstance(version, bool) and version > known


def instant(text):
    """Milliseconds since 1970 of a time in the format of §2. A date that the calendar lacks is refused."""
    require(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", text, re.ASCII), f"{text!a} is not a time")
    year, month, day, hour, minute, second, milli = map(int, re.split("[-T:.Z]", text)[:7])
    is_leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    require(1 <= month <= 12, f"{text!a} is not in the calendar")
    days = calendar.mdays[month] + (is_leap and month == 2)
    require(1 <= day <= days and hour < 24 and minute < 60 and second < 60, f"{text!a} is not in the calendar")
    # The Gregorian calendar repeats after 400 years. Year 0 exists (ISO 8601), and Python does not know it.
    moment = calendar.timegm((year + 400, month, day, hour, minute, second)) - 146_097 * 86_400
    return moment * 1000 + milli


def time_of_option(text):
    """The value of --at, in milliseconds since 1970. It may leave out the fraction of a second."""
    try:
        return instant(re.sub(r"(?<=:\d\d)Z$", ".000Z", text))
    except (Refused, ValueError):
        raise argparse.ArgumentTypeError(f"{text!a} is not a time: write it as in 2026-01-31T12:00:00Z") from None


def hours_of_option(text):
    """The value of --max-age, in milliseconds."""
    try:
        hours = float(text)
    except ValueError:
        hours = -1
    if not 0 < hours < 1e9:
        raise argparse.ArgumentTypeError(f"{text!a} is not a number of hours")
    return hours * 3_600_000


def time_text(milliseconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(milliseconds // 1000))


# ---- JSON Schemas: the published shapes of every JSON in a package -------------------------------


class Shapes:
    """The shapes of evidence.schema.json, as far as it uses JSON Schema (2020-12)."""

    KINDS = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None), "integer": int, "number": (int, float)}

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.shapes = json.load(file)["$defs"]

    def check(self, value, name):
        require(self.fits(value, self.shapes[name]), f"a JSON value does not have the shape {name}")
        return value

    def fits(self, value, shape):
        if "$ref" in shape:
            return self.fits(value, self.shapes[shape["$ref"].rpartition("/")[2]])
        if "anyOf" in shape or "oneOf" in shape:
            return any(self.fits(value, one) for one in shape.get("anyOf", shape.get("oneOf")))
        if "type" in shape:
            is_flag = isinstance(value, bool) and shape["type"] in ("integer", "number")
            if is_flag or not isinstance(value, self.KINDS[shape["type"]]):
                return False
        if ("const" in shape and value != shape["const"]) or ("enum" in shape and value not in shape["enum"]):
            return False
        if isinstance(value, str):
            return self.text_fits(value, shape)
        if isinstance(value, list):
            within = shape.get("minItems", 0) <= len(value) <= shape.get("maxItems", len(value))
            return within and all(self.fits(item, shape.get("items", {})) for item in value)
        if isinstance(value, dict):
            return self.object_fits(value, shape)
        return value is None or shape.get("minimum", value) <= value <= shape.get("maximum", value)

    def text_fits(self, value, shape):
        if "minLength" in shape or "maxLength" in shape:
            length = len(value)
            if not shape.get("minLength", 0) <= length <= shape.get("maxLength", length):
                return False
        if "pattern" not in shape:
            return True
        if shape["pattern"].startswith(r"^\d{4}-\d{2}-\d{2}T"):
            instant(value)
        return bool(compiled(shape["pattern"]).search(value if value.isascii() else units_of(value)))

    def object_fits(self, value, shape):
        known, further = shape.get("properties", {}), shape.get("additionalProperties", {})
        return (len(value) >= shape.get("minProperties", 0)
                and all(name in value for name in shape.get("required", []))
                and ("propertyNames" not in shape or all(self.fits(name, shape["propertyNames"]) for name in value))
                and (further is not False or all(name in known for name in value))
                and all(self.fits(item, known.get(name, further)) for name, item in value.items()))


def units_of(text):
    """The UTF-16 code units of a text, over which the patterns of the schemas are."""
    units = text.encode("utf-16-le", "surrogatepass")
    return "".join(map(chr, struct.unpack(f"<{len(units) // 2}H", units)))


@functools.lru_cache(maxsize=1000)
def compiled(pattern):
    """A pattern of a schema, with $ for the end of the text also where a line feed ends it."""
    return re.compile(re.sub(r"\$$", r"\\Z", pattern), re.ASCII)


# ---- RFC 9162 and §6: trees ----------------------------------------------------------------------

EMPTY_ROOT = sha256(b"").hex()


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


def root_of_shown(size, shown, hashes):
    """§6: the root over shown leaves {index: hash} and the hashes of the subtrees beside them."""
    places, rest = sorted(shown), iter(hashes)
    require(all(0 <= place < size for place in places), "a shown leaf is outside the tree")

    def root(start, end, low, high):
        """The shown leaves from start to end are those at low to high of `places`."""
        if low == high:
            beside = next(rest, None)
            require(beside, "a proof has too few hashes")
            return beside
        if end - start == 1:
            return shown[start]
        middle = start + (1 << (end - start - 1).bit_length() - 1)
        between = bisect.bisect_left(places, middle, low, high)
        return node_hash(root(start, middle, low, between), root(middle, end, between, high))

    found = root(0, size, 0, len(places))
    require(next(rest, None) is None, "a proof has too many hashes")
    return found


class Shown:
    """§6: shown leaves of a sorted tree, with increasing indexes and keys."""

    def __init__(self, leaves, count):
        self.indexes, self.keys, self.count = [index for index, _ in leaves], [key for _, key in leaves], count

    def has(self, key):
        place = bisect.bisect_left(self.keys, key)
        return self.keys[place:place + 1] == [key]

    def lacks(self, key):
        """Whether a key is between two neighbours, before the first leaf or after the last one."""
        if self.count == 0:
            return True
        if not self.keys or self.has(key):
            return False
        place = bisect.bisect_left(self.keys, key)
        below = self.indexes[place - 1] if place else -1
        return below + 1 == (self.indexes[place] if place < len(self.keys) else self.count)


# ---- openssl ---------------------------------------------------------------------------------------


def openssl(*commands, **files):
    """Runs openssl commands, one after the other, in a folder that contains these files. Returns what the last one did."""
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            with open(os.path.join(folder, name), "wb") as file:
                file.write(content)
        for command in commands:
            done = subprocess.run(["openssl", *command.split()], cwd=folder, capture_output=True, text=True)
        return done


def pem(kind, der):
    return f"-----BEGIN {kind}-----\n{base64.encodebytes(der).decode()}-----END {kind}-----\n".encode()


PRIME, PRIME_448 = 2**255 - 19, 2**448 - 2**224 - 1
ORDER_EIGHT = 0x05FC536D880238B13933C6D305ACDFD5F098EFF289F4C345B027B2C28F95E826
# §7: the y coordinates of the points of small order of edwards25519.
SMALL = {0, 1, PRIME - 1, ORDER_EIGHT, PRIME - ORDER_EIGHT}


def has_small_order(point):
    """§7: whether a point is of small order, in any encoding: y may be above the prime, and x may be written as negative."""
    return (int.from_bytes(point, "little") & (1 << 255) - 1) % PRIME in SMALL


@functools.lru_cache(maxsize=100_000)
def is_signed(public_key, message, signature):
    """Ed25519 (RFC 8032), with a key and an R that are not of small order: §7."""
    if len(public_key) != 32 or len(signature) != 64 or has_small_order(public_key) or has_small_order(signature[:32]):
        return False
    key = pem("PUBLIC KEY", bytes.fromhex("302a300506032b6570032100") + public_key)
    command = "pkeyutl -verify -pubin -inkey key -rawin -sigfile signature -in message"
    return openssl(command, key=key, message=message, signature=signature).returncode == 0


@functools.lru_cache(maxsize=100_000)
def text_of_stamp(response):
    """What a TimeStampResp states, and its time and accuracy in milliseconds."""
    text = openssl("ts -reply -in response -text", response=response).stdout
    stated = re.search(r"^Time stamp: (\w{3} +\d+ [\d:]+)(\.\d+)? (\d{4}) GMT$", text, re.M)
    require(stated and length_of_der(response) == len(response), "the time stamp cannot be read")
    seconds = calendar.timegm(time.strptime(f"{stated[1]} {stated[3]}", "%b %d %H:%M:%S %Y"))
    units = {"seconds": 1000, "millis": 1, "micros": 0.001}
    accuracy = sum(int(value, 16) * units[unit] for value, unit in re.findall(r"\b(0x[0-9A-Fa-f]+) (seconds|millis|micros)\b", text))
    return text, seconds * 1000 + int(float(stated[2] or 0) * 1000), accuracy


@functools.lru_cache(maxsize=100_000)
def problem_of_stamp(note, response, certificates, roots, moment):
    """Why a TimeStampResp over a note is not valid at a moment, in milliseconds since 1970; or None."""
    # §9: anyPolicy are the initial policies. Without them openssl refuses every chain that requires one.
    policies = "-policy_check -policy 2.5.29.32.0"
    command = f"ts -verify -data note -in response -CAfile roots {policies} -attime {moment // 1000}"
    if certificates:
        command += " -untrusted certificates"
    done = openssl(command, note=note, response=response, certificates=certificates, roots=roots)
    return None if done.returncode == 0 else "the time stamp is invalid: " + " ".join(re.findall("error:.*", done.stderr))


# Without these, openssl cms reads all roots that the system trusts, also when it verifies no chain.
NO_STORE = "-no-CAfile -no-CApath -no-CAstore"


@functools.lru_cache(maxsize=100_000)
def is_signed_by_ca(response, certificates):
    """tst.not-ca: whether a CA signed a time stamp. openssl does not refuse this."""
    known = "-certfile certificates " if certificates else ""
    done = openssl(*to_signer(known), "storeutl -certs -noout -text signer", response=response, certificates=certificates)
    return done.returncode != 0 or "CA:TRUE" in done.stdout


def to_signer(known):
    """The commands that write the certificate of the signer of a time stamp."""
    return ("ts -reply -in response -token_out -out token",
            f"cms -verify -noverify {NO_STORE} -inform DER -in token {known}-signer signer -out content")


def ber_values(data, at=0, is_open=False):
    """The values of DER or BER one after the other, as (tag, content), and where they end."""
    found = []
    while at < len(data) and not (is_open and data[at:at + 2] == b"\0\0"):
        tag, length, at = data[at], data[at + 1], at + 2
        if length == 0x80:
            _, end = ber_values(data, at, True)
            found.append((tag, data[at:end]))
            at = end + 2
            continue
        if length > 0x80:
            length, at = int.from_bytes(data[at:at + length - 0x80], "big"), at + length - 0x80
        require(at + length <= len(data), "a value of DER is cut off")
        found.append((tag, data[at:at + length]))
        at += length
    return found, at


def ber_in(data):
    return ber_values(data)[0]


# The algorithm identifiers of Ed25519 and Ed448 (RFC 8410), as content: length of a point, prime, y of small order.
EDWARDS = {bytes.fromhex("06032b6570"): (32, PRIME, SMALL), bytes.fromhex("06032b6571"): (57, PRIME_448, {0, 1, PRIME_448 - 1})}


def is_weak(data):
    """§7: whether DER has a key, or a signature, of Ed25519 or Ed448 whose point is of small order. It follows its algorithm."""
    values = ber_in(data)
    for (_, algorithm), (tag, content) in zip(values, values[1:]):
        if algorithm in EDWARDS and tag in (3, 4):
            length, prime, small = EDWARDS[algorithm]
            point = (content[1:] if tag == 3 else content)[:length]
            if int.from_bytes(point[:-1] + bytes([point[-1] & 0x7F]) if point else b"", "little") % prime in small:
                return True
    return any(is_weak(content) for tag, content in values if tag & 0x20)


def der_of(pem_text):
    return base64.b64decode(b"".join(pem_text.split(b"-----")[2].split()))


@functools.lru_cache(maxsize=100_000)
def check_points(response, certificates, roots, moment):
    """§7: no signature by which a time stamp is valid has a point of small order, which openssl accepts."""
    signed = ber_in(ber_in(ber_in(ber_in(ber_in(response)[0][1])[1][1])[1][1])[0][1])
    require(not is_weak(signed[-1][1]), "the signature of the time stamp has a point of small order")
    enclosed = [pem("CERTIFICATE", one) for tag, content in signed if tag == 0xA0 for one in certificates_in(content)]
    every = [*enclosed, *roots_in(certificates)]
    sound = [[one for one in some if not is_weak(der_of(one))] for some in (every, roots_in(roots))]
    if len(sound[0]) == len(every) and len(sound[1]) == len(roots_in(roots)):
        return
    # A certificate that no path needs may be weak: whether there is a path without those that are.
    known = "-certfile certificates " if certificates else ""
    untrusted = "-untrusted untrusted " if sound[0] else ""
    command = f"verify {NO_STORE} -CAfile roots {untrusted}-purpose timestampsign -policy_check -policy 2.5.29.32.0 -attime {moment // 1000} signer"
    done = openssl(*to_signer(known), command, response=response, certificates=certificates,
                   untrusted=b"".join(sound[0]), roots=b"".join(sound[1]))
    require(done.returncode == 0, "the path of the time stamp needs a key or a signature with a point of small order")


def certificates_in(content):
    """The certificates of a token, each as DER."""
    found, at = [], 0
    while at < len(content):
        _, end = ber_values(content[at:at + length_of_der(content[at:])])
        found.append(content[at:at + end])
        at += end
    return found


def roots_in(pem_file):
    """The certificates of a file in PEM, each by itself."""
    return re.findall(b"-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----\n?", pem_file, re.S)


@functools.lru_cache(maxsize=1000)
def organization_of(root):
    """§9, Authorities: the attributes O in the subject of a root, or the whole subject. Folded, so that equal ones are equal."""
    lines = openssl("x509 -in root -noout -subject -nameopt multiline,utf8,-esc_msb", root=root).stdout.split("\n")[1:]
    stated = [line.partition(" = ") for line in lines if line]
    folded = [(name.strip(), folded_name(value)) for name, _, value in stated]
    return tuple(one for one in folded if one[0] == "organizationName") or tuple(folded)


def folded_name(value):
    """§9, Authorities. A value of more than 1,000 characters is equal to itself alone: Unicode is slow with many marks."""
    return value if len(value) > 1000 else " ".join(unicodedata.normalize("NFKC", value).lower().split())


def length_of_der(data):
    """The length of the first DER value. A value of indefinite length (BER) is left to openssl."""
    if len(data) < 2 or data[1] == 0x80:
        return len(data)
    if data[1] < 0x80:
        return 2 + data[1]
    digits = data[1] & 0x7F
    return 2 + digits + int.from_bytes(data[2:2 + digits], "big")


# ---- §3, §16: the files of a package or a receipt -----------------------------------------------

COUNT = "(?:0|[1-9][0-9]{0,15})"
HASH = "[0-9a-f]{64}"
NAMES = re.compile(f"""README\\.txt | manifest\\.json | manifest\\.json\\.jws | (?:entries|batches)\\.ndjson
    | (?:proofs|tags)/{COUNT}\\.ndjson | checkpoints/{COUNT}\\.(?:note|cosignatures|[1-9]\\.tsr)
    | checkpoints/consistency\\.ndjson | checkpoints/certificates/{HASH}\\.cer
    | checkpoints/crls/{HASH}\\.crl | checkpoints/ocsp/{HASH}\\.ors | (?:notices|attachments)/{HASH}""", re.X)
EXTENSION = re.compile(r"ext(?:/[a-z0-9][a-z0-9._-]{0,99}){1,4}")


class Zip:
    """§3: the files of a ZIP, read so that every program that extracts it sees the same ones."""

    def __init__(self, path):
        self.file, self.members, self.problems = open(path, "rb"), {}, []
        self.size = self.file.seek(0, os.SEEK_END)
        try:
            count, length, start, end = self.end_records()
            self.expect(start + length == end, "the central directory does not end where the end records begin")
            found, at, directory = [], 0, self.at(start, length)
            for _ in range(count):
                at, member = self.central(directory, at)
                found.append(member)
        except (Refused, struct.error) as problem:
            raise NoPackage(str(problem)) from problem
        if not any(text == b"manifest.json" for text, *_ in found):
            raise NoPackage("the ZIP has no manifest")
        self.expect(at == length, "bytes follow the last file of the central directory")
        position = 0
        for member in sorted(found, key=lambda member: member[-1]):
            position = self.local(position, member)
        self.expect(position == start, "the files do not fill the ZIP up to its central directory")
        require(not self.problems, "; ".join(self.problems[:1]), "container.structure")

    def expect(self, holds, problem):
        """Notes a problem: that the file is no package at all comes first."""
        if not holds:
            self.problems.append(problem)

    def at(self, position, length):
        self.file.seek(position)
        data = self.file.read(length)
        require(len(data) == length, "the ZIP is cut off")
        return data

    def end_records(self):
        """The number of files, and length, start and end of the central directory."""
        before = max(0, self.size - 22 - 0xFFFF)
        tail = self.at(before, self.size - before)
        place = tail.rfind(b"PK\5\6", 0, max(0, len(tail) - 18))
        require(place >= 0, "the file is not a ZIP")
        end = before + place
        _, disk, first, here, count, length, start, comment = struct.unpack("<4s4H2IH", tail[place:place + 22])
        self.expect(end + 22 == self.size and not comment, "bytes follow the end of the ZIP, or it has a comment")
        self.expect(disk == first == 0 and here == count, "the ZIP has several disks")
        wide = self.wide_end(end)
        if wide:
            agrees = all(narrow in (most, other) for narrow, most, other in zip((count, length, start), (0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF), wide))
            self.expect(agrees, "the end records of the ZIP contradict each other")
            count, length, start, end = wide
        else:
            require(count != 0xFFFF and 0xFFFFFFFF not in (length, start), "the ZIP64 end record is missing")
        require(start + length <= end, "the central directory is not there")
        return count, length, start, end

    def wide_end(self, end):
        """The same of the ZIP64 end records; None if there are none."""
        if end < 76 or self.at(end - 20, 4) != b"PK\6\7":
            return None
        _, first, record, disks = struct.unpack("<4sIQI", self.at(end - 20, 20))
        if record + 56 > end - 20:
            return None
        magic, length, _, _, disk, other, here, count, size, start = struct.unpack("<4sQ2H2I4Q", self.at(record, 56))
        if magic != b"PK\6\6" or max(count, size, start) >= 1 << 53:
            return None
        self.expect(length == 44 and record + 56 == end - 20 and disks == 1, "the end records of the ZIP are malformed")
        self.expect(disk == other == first == 0 and here == count, "the ZIP has several disks")
        return count, size, start, record

    def central(self, directory, at):
        """One file of the central directory, and where the next one begins."""
        fields = struct.unpack_from("<4s6H3I5H2I", directory, at)
        magic, _, _, flags, method, when, day, crc, packed, size, name, extra, comment, disk, _, kind, start = fields
        end = at + 46 + name + extra + comment
        require(magic == b"PK\1\2" and end <= len(directory), "the central directory is malformed")
        self.expect(not comment and not disk, "a file has a comment, or is on another disk")
        self.expect(not flags & ~0x808 and method in (0, 8), "a file is encrypted or packed in another way")
        # The type of the file, by UNIX and by DOS, whatever system is said to have made it.
        self.expect(kind >> 28 in (0, 8) and not kind & 0x18, "the ZIP has something other than regular files")
        text = directory[at + 46:at + 46 + name]
        wide, seen = None, set()
        rest = directory[at + 46 + name:at + 46 + name + extra]
        while rest:
            field, length = struct.unpack("<2H", rest[:4]) if len(rest) >= 4 else (0, 0)
            is_right = field in (1, 0x5455) and field not in seen and len(rest) >= 4 + length
            self.expect(is_right, "a file has an unknown, a malformed or a repeated extra field")
            if not is_right:
                break
            wide = rest[4:4 + length] if field == 1 else wide
            seen.add(field)
            rest = rest[4 + length:]
        # A value of ZIP64 for each that the header leaves out, and no other byte.
        missing = [one == 0xFFFFFFFF for one in (size, packed, start)]
        is_right = len(wide or b"") == 8 * sum(missing)
        self.expect(is_right, "the ZIP64 field of a file has other values than its header needs")
        if wide and is_right:
            values = iter(struct.unpack(f"<{sum(missing)}Q", wide))
            size, packed, start = (next(values) if is_missing else one for is_missing, one in zip(missing, (size, packed, start)))
        return end, [text, flags, method, when, day, crc, packed, size, start]

    def local(self, position, member):
        """The header before the content, which says the same. Returns where the content and its descriptor end."""
        text, flags, method, when, day, crc, packed, size, start = member
        name = text.decode("utf-8", "replace")
        require(name.encode() == text, "the name of a file is not UTF-8", "container.structure")
        # Only names of the table are looked at further: a name can have any length.
        require(NAMES.fullmatch(name) or EXTENSION.fullmatch(name), f"no package contains a file {name[:200]}", "container.names")
        require(name not in self.members, "two files of the ZIP have one name", "container.names")
        self.members[name] = member
        self.expect(start == position, f"{name} does not begin where the file before it ends")
        stated = (0, 0, 0) if flags & 8 else (crc, packed, size)
        expected = (b"PK\3\4", flags, method, when, day, *stated, len(text), 0)
        try:
            magic, _, *fields = struct.unpack("<4s5H3I2H", self.at(start, 30))
            self.expect((magic, *fields) == expected and self.at(start + 30, len(text)) == text, f"{name} has a local header that differs")
        except (Refused, OverflowError):
            self.expect(False, f"{name} is not there")
        member[-1] = start + 30 + len(text)
        end = member[-1] + packed
        if not flags & 8:
            return end
        for form in ("<4s3I", "<4sI2Q"):
            length = struct.calcsize(form)
            if max(packed, size) < 1 << 32 or length == 24:
                self.file.seek(min(end, self.size))
                if self.file.read(length) == struct.pack(form, b"PK\7\x08", crc, packed, size):
                    return end + length
        self.expect(False, f"{name} has a data descriptor that differs")
        return end

    @checking("container.content")
    def read(self, name):
        """The content, which has exactly the size and the checksum that are stated."""
        _, _, method, _, _, crc, packed, size, start = self.members[name]
        content = self.at(start, packed)
        if method == 8:
            unpacking = zlib.decompressobj(-15)
            content = unpacking.decompress(content, size + 1)
            require(unpacking.eof and not unpacking.unused_data, f"{name} is not packed as the ZIP states")
        require(len(content) == size and zlib.crc32(content) == crc, f"{name} has another size or checksum than the ZIP states")
        return content


class Package:
    """The files of a package or a receipt, and what could not be decided about it."""

    def __init__(self, path, shapes):
        self.shapes, self.left_open, self.reservations, self.latest = shapes, {}, {}, (None, {}, None)
        self.extended = set()
        self.is_understood = True
        with open(path, "rb") as file:
            self.is_receipt = file.read(1) == b"{"
        self.files = self.receipt(path) if self.is_receipt else None
        if self.is_receipt:
            self.names = set(self.files)
        else:
            self.zip = Zip(path)
            self.names = set(self.zip.members)
        for name in self.names:
            self.expect(not name.startswith("ext/"), f"{name} is of a newer version of the format")

    def receipt(self, path):
        """§16: one JSON file with the files of a package by name."""
        with open(path, "rb") as file:
            data = file.read(16 * 1024 * 1024 + 1)
        try:
            require(len(data) <= 16 * 1024 * 1024, "the receipt is too long")
            value = self.shapes.check(parse(data), "receipt")
            require("manifest.json" in value["files"], "the receipt has no manifest")
        except BROKEN as problem:
            raise NoPackage(str(problem)) from problem
        for name in value["files"]:
            require(NAMES.fullmatch(name) or EXTENSION.fullmatch(name), f"no receipt contains a file {name[:200]}", "container.names")
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        require(data in (text.encode(), text.encode() + b"\n"), "the receipt is not written as JSON.stringify writes it", "container.structure")
        require(list(value) == ["format", "version", "files"], "the members of the receipt are in another order", "container.structure")
        is_text = re.compile(r".*\.(?:json|jws|ndjson|note|cosignatures|txt)")
        return {name: content.encode() if is_text.fullmatch(name) else self.decoded(name, content) for name, content in value["files"].items()}

    @checking("container.structure")
    def decoded(self, name, content):
        return unbase64(content)

    def expect(self, holds, problem):
        """Leaves the package open if something does not hold."""
        if not holds:
            self.left_open[problem] = True

    def reserve(self, holds, reservation):
        """States a reservation, which leaves the verdict."""
        if not holds:
            self.reservations[reservation] = True

    def read(self, name):
        require(name in self.names, f"{name} is missing")
        return self.files[name] if self.files else self.zip.read(name)

    @checking("manifest.files")
    def content(self, name):
        """A file that its digest names or that the manifest lists."""
        return self.read(name)

    def lines(self, name, shape):
        """§2: the JSON lines of a file, each ended by a line feed. Texts may contain U+2028."""
        if name not in self.names:
            return []
        lines = self.read(name).decode().split("\n")
        require(lines.pop() == "" and all(lines), f"{name} has an empty line, or a last line without line feed")
        require(all(len(line.encode()) <= 4 * 1024 * 1024 for line in lines), f"a line of {name} is too long")
        return [self.shapes.check(parse(line), shape) for line in lines]

    @checking("entry.inclusion")
    def proofs(self, batch, count):
        """§6: the lines of a proof file: paths by index, or all leaves in order, with their root. Neighbouring entries are of one batch."""
        if self.latest[0] != batch:
            lines = self.lines(f"proofs/{batch}.ndjson", "proof_line")
            indexes = [line["index"] for line in lines]
            paths = [line["path"] for line in lines if "path" in line]
            require(len(lines) <= count and len(paths) in (0, len(lines)), f"the proofs of batch {batch} are too many, or of both kinds")
            require(len(indexes) == len(set(indexes)), f"the proofs of batch {batch} have an index twice")
            require(all(len(path) <= (count - 1).bit_length() for path in paths), f"a path of batch {batch} is too long")
            in_order = len(lines) == count and all(index == place for place, index in enumerate(indexes))
            require(paths or in_order, f"batch {batch} does not list all of its leaves in order")
            root = None if paths or not lines else tree_root([unhex(line["leaf"]) for line in lines])
            self.latest = (batch, {line["index"]: line for line in lines}, root)
        return self.latest[1:]

    def numbered(self, pattern):
        """The numbers in the names of the files that match a pattern, in increasing order."""
        found = (re.fullmatch(pattern, name) for name in self.names)
        return sorted({int(match[1]) for match in found if match})


@checking("manifest.format")
def check_files(package):
    """§3, §10: the manifest lists every file with its SHA-256. Attachments are named by theirs."""
    manifest = parse(package.read("manifest.json"), 1_000_000)
    kind = "consent-ledger-receipt" if package.is_receipt else "consent-ledger-evidence"
    require(isinstance(manifest, dict) and manifest.get("format") == kind, f"the manifest is not of the format {kind}")
    version = re.fullmatch(r"(\d+)\.(\d+)", str(manifest.get("version")))
    require(version, "the manifest has no version")
    if version[1] != "1":
        raise Undecided(f"this script does not know version {manifest['version']!a} of the format")
    if int(version[2]) > MINOR:
        package.expect(False, f"version {manifest['version']} of the format is newer than this script")
        shape = package.shapes.shapes["manifest"]
        stated = {name: value for name, value in manifest.items() if name in shape["properties"]}
        manifest = known_part(stated, shape)
        package.is_understood = manifest == stated
        package.expect(package.is_understood, "this script does not know what the manifest states: nothing was compared with it")
    package.shapes.check(manifest, "manifest")
    require(not package.is_receipt or "export" not in manifest, "a receipt states why it was made")
    if package.is_understood:
        check_list(package, manifest)
    for name in package.names:
        named = re.fullmatch(f".*/({HASH})(?:\\.\\w+)?", name)
        if named and not name.startswith("ext/"):
            require(sha256(package.content(name)).hex() == named[1], f"{name} has another content than its name states", "manifest.files")
    return manifest


def known_part(value, shape):
    """§17: a value without the members that its shape does not know."""
    if "anyOf" in shape:
        shape = next((one for one in shape["anyOf"] if one["type"] == "object"), {}) if isinstance(value, dict) else {}
    if isinstance(value, list):
        return [known_part(item, shape.get("items", {})) for item in value]
    if not isinstance(value, dict):
        return value
    known, further = shape.get("properties", {}), shape.get("additionalProperties", {})
    return {name: known_part(item, known.get(name, further)) for name, item in value.items() if name in known or further is not False}


@checking("manifest.files")
def check_list(package, manifest):
    """§10, manifest.files: the files are those that the manifest lists."""
    for name, digest in manifest["files"].items():
        unsigned = name.startswith("attachments/") or name in ("manifest.json", "manifest.json.jws")
        require(not unsigned, f"the manifest lists {name}")
        require(sha256(package.read(name)).hex() == digest, f"{name} was changed")
    for name in package.names - set(manifest["files"]) - {"manifest.json", "manifest.json.jws"}:
        require(name.startswith("attachments/"), f"{name} is not listed")


# ---- §7, §8: checkpoints and keys ----------------------------------------------------------------


# §7: the name in a key and in a signature line: without +, white space of Unicode, U+FEFF and control characters.
NAME = "[^+\x00-\x20\x7f-\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]+"
ED25519, COSIGNATURE, ML_DSA = 1, 4, 6
ML_DSA_TEXT = b"\xffconsent-ledger/ml-dsa-44-text"


class Key:
    """§7: a key of a ledger or a witness: `<name>+<key id>+<base64(kind, key)>`. None as name for other text."""

    def __init__(self, line, kinds=(ED25519, ML_DSA)):
        found = re.fullmatch(f"({NAME})\\+([0-9a-f]{{8}})\\+([A-Za-z0-9+/=]+)", line)
        self.name = found and found[1]
        if not found:
            return
        key, self.id = unbase64(found[3]), bytes.fromhex(found[2])
        self.kind, self.public = key[0], key[1:]
        length = 1312 if self.kind == ML_DSA else 32
        require(self.kind in kinds and len(self.public) == length, "a key has another length or type")
        require(sha256(self.name.encode() + b"\n" + key)[:4] == self.id, "the id of a key does not match")

    def __eq__(self, other):
        return (self.name, self.kind, self.public) == (other.name, other.kind, other.public)

    def __hash__(self):
        return hash((self.name, self.kind, self.public))

    def state_in(self, text, signatures, is_checkpoint):
        """Whether this key signed a note: "signed", "absent", or "unchecked" for ML-DSA-44. A wrong signature, or a second one, is fatal."""
        mine_id = self.id
        if self.kind == ML_DSA and not is_checkpoint:
            mine_id = sha256(self.name.encode() + b"\n" + ML_DSA_TEXT + self.public)[:4]
        mine = [signature for name, key_id, signature in signatures if (name, key_id) == (self.name, mine_id)]
        require(len(mine) < 2, "a key has signed a note twice")
        if not mine:
            return "absent"
        if self.kind != ML_DSA:
            require(is_signed(self.public, text.encode(), mine[0]), "a signature by the ledger key is invalid")
            return "signed"
        time = mine[0][:8] if is_checkpoint else b""
        is_right = len(mine[0]) == len(time) + 2420 and not any(time)
        require(is_right, "a signature with ML-DSA-44 by the ledger key has another length, or a time")
        return "unchecked"


def read_keys(path, kinds=(ED25519, ML_DSA)):
    """The keys in a file: verifier-key lines, between lines of other text."""
    with open(path, encoding="utf-8") as file:
        keys = [Key(line.strip(), kinds) for line in file if re.search("\\+[0-9a-f]{8}\\+", line)]
    found = [key for key in keys if key.name]
    require(found, f"the file {path} contains no verifier-key line")
    return found


def parse_note(note):
    """A C2SP signed note: its text, and its signatures as (name, key id, rest)."""
    text, gap, lines = note.decode().rpartition("\n\n")
    require(gap and text and lines.endswith("\n"), "a signed note is malformed")
    require(not re.search("[\x00-\x09\x0b-\x1f\x7f]", text + lines), "a signed note has control characters")
    lines = lines[:-1].split("\n")
    require(len(lines) <= 256, "a signed note has more than 256 signatures")
    return text + "\n", [parse_signature(line) for line in lines]


def parse_signature(line):
    """§7: name, key id and the rest of a signature line."""
    found = re.fullmatch(f"\u2014 ({NAME}) ([A-Za-z0-9+/=]+)", line)
    data = unbase64(found[2]) if found else b""
    require(len(data) > 4, "a signature line of a note is malformed")
    return found[1], data[:4], data[4:]


@checking("ledger.checkpoint")
def read_notes(package):
    """§7: the checkpoints of the package by size: text and signatures."""
    sizes = package.numbered(f"checkpoints/({COUNT})\\.note")
    return {size: parse_note(package.read(f"checkpoints/{size}.note")) for size in sizes}


ANOTHER_KEY = "the ledger key that you gave did not sign this package, but another key of that name did: ask the operator for it"
ONLY_ML_DSA = "is signed by the ledger with ML-DSA-44 alone, which this script does not check"


class Keys:
    """§8: the keys of the ledger. The keys before and after an announcement signed the first checkpoint over it."""

    def __init__(self, package, given, entries, origin, notes):
        self.package, self.origin, self.changes, self.notes, self.sizes = package, origin, [], notes, list(notes)
        self.is_proved = True  # that each announcement is in the ledger of the first checkpoint over it
        given = [key for key in given if key.name == origin]
        require(given, "the ledger key that you gave is of another ledger", "ledger.key")
        for entry in entries:
            if entry.stream == "policy" and entry.type == ANNOUNCED and not is_newer(entry.record):
                self.follow(entry)
        announced = [key for _, keys in self.changes for key in keys]
        self.first = self.first_of(given, announced)
        pinned = 0 if self.first else next((at for at, (_, keys) in enumerate(self.changes) if set(keys) & set(given)), len(self.changes))
        self.trusted = list(dict.fromkeys([*given, *(key for _, keys in self.changes[pinned:] for key in keys)]))
        self.all = list(dict.fromkeys([*self.trusted, *announced]))
        is_named = any(self.is_named(size, self.trusted) for size in self.sizes)
        names_other = bool(self.sizes) and any(name == origin for name, *_ in self.notes[self.sizes[-1]][1])
        self.is_unknown = not is_named and names_other

    def first_of(self, given, announced):
        """The given keys that signed the first checkpoint over the first announcement; None without an announcement."""
        if not self.changes:
            return None
        over = self.size_over(self.changes[0][0])
        return [key for key in given if key not in announced and self.state_of(key, over) != "absent"]

    @checking("ledger.announcement")
    def follow(self, entry):
        """One announcement."""
        lines = self.package.shapes.check(entry.record, ANNOUNCED)["keys"]
        keys, before = [Key(line) for line in lines], [key for _, keys in self.changes for key in keys]
        require(all(key.name for key in keys) and len(keys) == len(set(keys)), f"{entry} announces what is no key, or a key twice")
        require(all(key.name == self.origin for key in keys), f"{entry} announces a key of another ledger")
        require(not set(keys) & set(before), f"{entry} announces a key that was announced before")
        older = [size for size in self.sizes if size <= entry.batch]
        require(not any(self.is_named(size, keys) for size in older), f"{entry} announces a key that signed before")
        size = self.size_over(entry.batch)
        require(size, f"no checkpoint is over {entry}, which announces the next keys")
        for key in [*(self.changes[-1][1] if self.changes else []), *keys]:
            is_signed_by = key.state_in(*self.notes[size], True) != "absent"
            require(is_signed_by, f"a key did not sign the first checkpoint over {entry}")
        self.changes.append((entry.batch, keys))
        self.is_proved = self.is_proved and (size == self.sizes[-1] or size in self.package.extended)

    def size_over(self, batch):
        """The size of the first checkpoint over a batch."""
        return next((size for size in self.sizes if size > batch), None)

    @checking("ledger.key")
    def state_of(self, key, size):
        return key.state_in(*self.notes[size], True)

    def is_named(self, size, keys):
        """Whether a signature line of a checkpoint names one of the keys."""
        ids = {(key.name, key.id) for key in keys}
        return any((name, key_id) in ids for name, key_id, _ in self.notes[size][1])

    def at(self, size):
        """The keys in force at a checkpoint; None or none if they are not known."""
        return next((keys for batch, keys in reversed(self.changes) if batch < size), self.first)

    @checking("ledger.key")
    def check(self, size):
        """Who signed a checkpoint."""
        states = {key: self.state_of(key, size) for key in self.all}
        signers = [key for key, state in states.items() if state != "absent"]
        period, announced = self.at(size), {key for _, keys in self.changes for key in keys}
        if not period and announced & set(self.trusted):
            later = {(key.name, key.id) for key in announced}
            others = [name for name, key_id, _ in self.notes[size][1] if name == self.origin and (name, key_id) not in later]
            require(others, f"a key signed checkpoint {size} before it was announced")
            return
        expected = [self.trusted]
        if period:
            expected = [period] + ([[key for key in self.trusted if key in period] or self.trusted] if size == self.sizes[-1] else [])
        for keys in expected:
            mine = [key for key in signers if key in keys]
            if not mine and keys is not period and self.is_unknown:
                self.package.expect(False, ANOTHER_KEY)
                return
            require(mine, f"the keys that you gave, or their successors, did not sign checkpoint {size}")
            is_checked = any(states[key] == "signed" for key in mine)
            self.package.expect(is_checked, f"checkpoint {size} {ONLY_ML_DSA}")

    @checking("manifest.certificate")
    def check_certificate(self, note):
        """§10: a trusted key in force at the newest checkpoint certifies the key of the manifest. Returns the text."""
        text, signatures = parse_note(note)
        states = {key: key.state_in(text, signatures, False) for key in self.trusted}
        signers = [key for key, state in states.items() if state != "absent"]
        last = self.changes[-1][1] if self.changes else self.trusted
        in_force = [key for key in signers if key in last and self.sizes and self.state_of(key, self.sizes[-1]) != "absent"]
        if not signers and self.is_unknown:
            self.package.expect(False, ANOTHER_KEY)
            return text
        require(signers, "none of the keys that you gave certifies the key of the manifest")
        require(in_force or not self.sizes, "a key that is not in force certifies the key of the manifest")
        is_checked = any(states[key] == "signed" for key in in_force or signers)
        self.package.expect(is_checked, f"the key of the manifest {ONLY_ML_DSA}")
        return text


@checking("manifest.signature")
def check_manifest_signature(package, manifest, keys):
    """§10: the manifest is signed by a key that a key of the ledger certifies."""
    text = package.read("manifest.json.jws").decode()
    header, _, signature = (text[:-1] if text.endswith("\n") else text).partition("..")
    fields = package.shapes.check(parse(unbase64url(header)), "manifest_signature_header")
    public_key = unbase64url(fields["jwk"]["x"])
    signed = f"{header}.{base64url(package.read('manifest.json'))}"
    require(is_signed(public_key, signed.encode(), unbase64url(signature)), "the manifest signature is invalid")
    text = keys.check_certificate(fields["certificate"].encode())
    expected = ["consent-ledger manifest key v1", manifest["origin"], base64.b64encode(public_key).decode(), ""]
    require(text.split("\n") == expected, "the certificate of the manifest key does not match", "manifest.certificate")


@checking("ledger.checkpoint")
def read_checkpoint(size, text, origin):
    """§7: the root that a checkpoint names: origin, size and root, each on a line."""
    lines = text.split("\n")
    require(len(lines) == 4 and lines[:2] == [origin, str(size)], f"checkpoint {size} is of another ledger or size")
    require(lines[3] == "" and len(unbase64(lines[2])) == 32, f"checkpoint {size} is malformed")
    return unbase64(lines[2])


@checking("ledger.consistency")
def check_ledger(package, manifest, notes):
    """§7: every checkpoint extends the one before. Returns the sizes that are tied to the newest one, and its root."""
    newest, sizes = manifest["checkpoint"], list(notes)
    numbered = package.numbered(f"checkpoints/({COUNT})\\.(?:[1-9]\\.tsr|cosignatures)")
    require(set(numbered) <= set(sizes), "a checkpoint is missing of which there is a time stamp or a cosignature", "ledger.checkpoint")
    require((sizes[-1] if sizes else None) == newest, "the newest checkpoint is not the one that the manifest names", "ledger.checkpoint")
    if newest is None:
        package.expect(False, "the package has no time stamp")
        return set(), None
    roots = {size: read_checkpoint(size, notes[size][0], manifest["origin"]) for size in sizes}
    proofs = package.lines("checkpoints/consistency.ndjson", "consistency_line")
    pairs = list(zip(sizes, sizes[1:]))
    places = [(proof["from"], proof["to"]) for proof in proofs]
    require(len(set(places)) == len(places) and set(places) <= set(pairs), "a consistency proof is not between neighbours, or there twice")
    tied, paths = {newest}, dict(zip(places, (proof["path"] for proof in proofs)))
    package.extended = {first for first, _ in places}
    for first, second in reversed(pairs):
        package.expect((first, second) in paths, f"nothing shows that checkpoint {second} extends checkpoint {first}")
        if (first, second) in paths:
            both = roots_of_consistency(first, second, roots[first], map(unhex, paths[first, second]))
            require(both == (roots[first], roots[second]), f"checkpoint {second} does not extend checkpoint {first}")
            if second in tied:
                tied.add(first)
    return tied, roots[newest]


@checking("ledger.witnesses")
def check_witnesses(package, newest, witnesses, now):
    """§7.1: the cosignatures of the witnesses that you trust."""
    for size in package.numbered(f"checkpoints/({COUNT})\\.cosignatures"):
        text, _ = parse_note(package.read(f"checkpoints/{size}.note"))
        lines = package.read(f"checkpoints/{size}.cosignatures").decode().split("\n")
        require(lines.pop() == "" and 1 <= len(lines) <= 100, "a file of cosignatures is malformed")
        found = [parse_signature(line) for line in lines]
        for witness in witnesses:
            mine = [timed_signature(data) for name, key_id, data in found if (name, key_id) == (witness.name, witness.id)]
            require(len(mine) < 2, "a witness has cosigned a checkpoint twice in one file")
            for seconds, signature in mine:
                message = f"cosignature/v1\ntime {seconds}\n{text}".encode()
                require(is_signed(witness.public, message, signature), "a cosignature is invalid")
                package.expect(seconds * 1000 <= now + TOLERANCE, "a witness states a time in the future")
            package.expect(mine or size != newest, f"the witness {witness.name} did not cosign the newest checkpoint")
    if f"checkpoints/{newest}.cosignatures" not in package.names:
        package.expect(not witnesses, "no witness cosigned the newest checkpoint")


def timed_signature(data):
    """§7.1: time in seconds, and the Ed25519 signature."""
    require(len(data) == 72, "a cosignature is malformed")
    seconds = int.from_bytes(data[:8], "big")
    require(0 < seconds <= 8_640_000_000_000, "a cosignature has no time")
    return seconds, data[8:]


# ---- §9: time stamps -----------------------------------------------------------------------------


class NoRoot(Refused):
    """The path of a time stamp ends at a root that was not given."""


class Stamp:
    """One time stamp over a checkpoint."""

    def __init__(self, package, size, name, certificates, roots):
        self.size, self.name, self.response = size, name, package.read(name)
        self.note, self.certificates, self.roots = package.read(f"checkpoints/{size}.note"), certificates, roots
        self.digest = sha256(self.response).hex()
        self.text, self.time, self.accuracy = text_of_stamp(self.response)
        self.soundness = None

    @functools.cached_property
    def authority(self):
        """§9, Authorities: the organization of the root at which the path ends."""
        for root in roots_in(self.roots):
            if problem_of_stamp(self.note, self.response, self.certificates + self.roots, root, self.time) is None:
                return organization_of(root)
        raise Refused(f"{self.name} has no root")

    def problem_at(self, moment):
        return problem_of_stamp(self.note, self.response, self.certificates, self.roots, moment)

    def is_trusted(self, now):
        """§9: whether the stamp is valid at its own time. False if its path ends at no root that you gave."""
        problem = self.problem_at(self.time)
        if problem and re.search("unable to get (?:local )?issuer", problem):
            print(f"   not counted: {self.name}: {problem}")
            return False
        if problem and re.search("self.signed certificate", problem):
            raise NoRoot(problem)
        require(problem is None, problem)
        require(not is_signed_by_ca(self.response, self.certificates), "a CA signed the time stamp")
        check_points(self.response, self.certificates, self.roots, self.time)
        require(self.time - self.accuracy <= now + 60_000, "the time stamp is of the future")
        return True

    def is_sound(self, *given):
        if self.soundness is None:
            self.soundness = self.found_sound(*given)
        return self.soundness

    def found_sound(self, now, others, named):
        """§9: whether the stamp still counts: its certificates are in force, or a newer stamp renewed it before they ended."""
        if re.search("^Hash Algorithm: (?:md5|sha1)$", self.text, re.M):
            return False
        if self.problem_at(now) is None:
            return True
        least = min(named.get(self.digest, []), default=None)
        newer = [one for one in others if one.size > self.size and least is not None and least < one.size]
        renewing = [one for one in newer if one.is_sound(now, others, named)]
        return bool(renewing) and self.problem_at(min(one.time for one in renewing)) is None


@checking("tst")
def check_stamps(package, batches, tied, roots, now):
    """§9: the valid time stamps. One that fails proves nothing: only another of its checkpoint can take its place."""
    files = [name for name in package.names if name.startswith("checkpoints/certificates/")]
    certificates = b"".join(pem("CERTIFICATE", package.read(name)) for name in sorted(files))
    trusted, named, unused = [], {}, []
    for size in package.numbered(f"checkpoints/({COUNT})\\.[1-9]\\.tsr"):
        mine, problems = [], []
        for name in [f"checkpoints/{size}.{n}.tsr" for n in range(1, 10) if f"checkpoints/{size}.{n}.tsr" in package.names]:
            try:
                stamp = Stamp(package, size, name, certificates, roots)
                mine += [stamp] if stamp.is_trusted(now) else []
                is_real = "DEVELOPMENT ONLY".encode() not in stamp.response + certificates
                package.reserve(is_real, "a development authority stamped this ledger: this is not evidence")
            except BROKEN as problem:
                problems.append((isinstance(problem, NoRoot), f"{name}: {problem}"))
        # A root that was not given is excused by each later stamp, other problems by one of the same checkpoint.
        unused += [(size, has_no_root, problem) for has_no_root, problem in problems if not mine]
        for _, problem in problems:
            print(f"   not counted: {ascii(problem)}")
        trusted += mine if size in tied else []
    latest = max((stamp.size for stamp in trusted), default=-1)
    for size, has_no_root, problem in unused:
        require(has_no_root and size <= latest, problem)
    for batch in batches.all.values():
        if batch.header["after"]:
            named.setdefault(batch.header["after"]["sha256"], []).append(batch.number)
    return [stamp for stamp in trusted if stamp.is_sound(now, trusted, named)]


@checking("time.order")
def check_stamp_order(stamps):
    """time.order: the stamps of later checkpoints do not have earlier times."""
    latest, earlier = float("-inf"), []
    for stamp in sorted(stamps, key=lambda stamp: stamp.size):
        if earlier and earlier[0].size < stamp.size:
            latest = max([latest, *(one.time - one.accuracy for one in earlier)])
            earlier = []
        require(stamp.time + stamp.accuracy >= latest - 1000, f"{stamp.name} is earlier than a stamp of an earlier checkpoint")
        earlier.append(stamp)


@checking("time.claimed")
def check_state(package, manifest, stamps, now, max_age):
    """§9, State of the package; §10: when the package was made."""
    exported = instant(manifest["exported_at"])
    require(exported <= now + TOLERANCE, "the package claims to be made in the future", "time.fresh")
    for stamp in stamps:
        require(exported >= stamp.time - stamp.accuracy - TOLERANCE, "the package claims to be made before its newest time stamp")
    for stamp in [stamp for stamp in stamps if stamp.size == manifest["checkpoint"]][:1]:
        package.expect(exported <= stamp.time + DAY, "the package may leave out what came after its newest time stamp")
        package.expect(max_age is None or now <= stamp.time + max_age, "the package is older than you allow")


# ---- §6: batches and roll-ups ----------------------------------------------------------------------

PERIODS = (128, 16384)


def level_of(number):
    return 2 if (number + 1) % PERIODS[1] == 0 else 1 if (number + 1) % PERIODS[0] == 0 else 0


def first_covered(number):
    """The first leaf of the period of a roll-up; of a batch, its own number."""
    return number + 1 - PERIODS[level_of(number) - 1] if level_of(number) else number


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


def length_of_cover(size):
    return size // PERIODS[1] + size % PERIODS[1] // PERIODS[0] + size % PERIODS[0]


def is_in_cover(number, size):
    """Whether the cover of a checkpoint has this batch or roll-up itself."""
    ends = [size - size % PERIODS[1], size - size % PERIODS[0], size]
    return number < size and (ends[1] <= number or level_of(number) == 2 or level_of(number) == 1 and ends[0] <= number)


class Batch:
    """A batch or a roll-up: its header, and what is shown of its runs and tags."""

    def __init__(self, line, header, runs):
        self.line, self.header, self.runs = line, header, runs
        self.streams = Shown([(index, key) for index, key, _ in runs], header["streams_count"])
        self.tags = Shown([], header["tags_count"])
        self.number, self.sealed_at = header["number"], instant(header["sealed_at"])


def stream_key(stream, salt):
    """§6, Runs: the name of a stream in the structure of the ledger. `policy` has no salt."""
    require(salt or stream == "policy", "the manifest states no salt")
    return sha256(b"consent-ledger stream key v1\x00" + (b"" if stream == "policy" else unhex(salt)) + stream.encode())


class Batches:
    """The batches and roll-ups of the package, by number. Each is in the ledger."""

    @checking("batch.header")
    def __init__(self, package, manifest, root):
        self.package, self.size, self.root, self.all, self.unknown = package, manifest["checkpoint"], root, {}, set()
        site = manifest["filter"]["site_id"]
        self.streams = {f"consents-{site}", f"notices-{site}", "policy"}
        self.keys = {stream: stream_key(stream, manifest["salt"]) for stream in self.streams}
        self.named = {key: stream for stream, key in self.keys.items()}
        before, number = None, -1
        for line in package.lines("batches.ndjson", "batch_line"):
            header = parse(line["header"])
            if is_newer(header):
                number = self.add_unknown(header, number)
                continue
            header = package.shapes.check(parse_canonical(line["header"]), "batch_header")
            require(number < header["number"], f"batch {header['number']} is not in order")
            number = header["number"]
            self.check_header(line, header)
            if before:
                self.check_order(before.header, header)
            before = self.all[header["number"]] = Batch(line, header, self.check_runs(line, header))
        self.numbers = list(self.all)
        for batch in self.all.values():
            self.check_under(batch)
        for stream in self.streams:
            self.check_counts_of(stream)
        for number in package.numbered(f"tags/({COUNT})\\.ndjson"):
            if number in self.all:
                self.all[number].tags = self.check_tags(number)

    def add_unknown(self, header, before):
        """§17: of a header of an unknown version, only the number is read. It is above the one before."""
        shape = self.package.shapes.shapes["batch_header"]
        number = header.get("number")
        require(self.package.shapes.fits(number, shape["properties"]["number"]), "a batch has no number")
        require(before < number, f"batch {number} is not in order")
        self.package.expect(False, f"this script does not know the version of the header of batch {number}")
        self.unknown.add(number)
        return number

    def get(self, number):
        require(number in self.all, f"the package does not include batch {number}", None)
        return self.all[number]

    def check_header(self, line, header):
        """§6, the table of the header, and the place of its leaf in the ledger."""
        number = header["number"]
        require(len(line["header"]) <= 2000, f"the header of batch {number} is too long")
        require(header["level"] == level_of(number), f"batch {number} has another level than its number demands")
        require((header["root"] is None) == (header["level"] > 0), f"batch {number} has a root too many or too few")
        counts = [("count", "root"), ("streams_count", "streams_root"), ("tags_count", "tags_root")]
        for count, its_root in counts:
            is_empty = header[its_root] == EMPTY_ROOT
            require(header[its_root] is None or is_empty == (header[count] == 0), f"batch {number} has a {its_root} that {count} does not allow")
            require(header[count] <= header["count"], f"batch {number} has more leaves than entries")
        require((header["streams_count"] == 0) == (header["count"] == 0), f"batch {number} has entries without a run, or a run without entries")
        require(header["after"] is None or header["after"]["size"] <= number, f"batch {number} names a time stamp of a later checkpoint")
        found = self.root_of(number, line)
        require(found == self.root, f"batch {number} is not in the ledger", "batch.inclusion")

    @checking("batch.inclusion")
    def root_of(self, number, line):
        return root_of_inclusion(number, self.size, leaf_hash(line["header"].encode()), map(unhex, line["path"]))

    def check_order(self, before, header):
        """§6: neither times nor the stamps that are named go back."""
        number = header["number"]
        require(before["sealed_at"] <= header["sealed_at"], f"batch {number} was sealed before an earlier one")
        if before["after"]:
            require(header["after"] and before["after"]["size"] <= header["after"]["size"], f"batch {number} names an older time stamp than an earlier one")

    @checking("batch.streams")
    def check_runs(self, line, header):
        """§6, Runs: the shown leaves under streams_root, as index, stream key, and the run or None."""
        shown, leaves, number, last = [], {}, header["number"], header["streams_count"] - 1
        if header["streams_count"] == 0:
            require(not line["streams"] and not line["hashes"], f"batch {number} has no runs")
        for run in line["streams"]:
            index, key = run["index"], unhex(run["key"])
            named = {"stream": self.named.get(key), "start": run["start"], "first": run["first"], "last": run["last"]}
            named["end"] = named["start"] + named["last"] - named["first"] + 1
            require(named["first"] <= named["last"] and named["end"] <= header["count"], f"a run of batch {number} is empty or too long")
            require((index == 0) == (named["start"] == 0), f"the first run of batch {number} does not start at 0")
            require((index == last) == (named["end"] == header["count"]), f"the runs of batch {number} do not add up")
            if shown:
                before = shown[-1]
                require(before[0] < index and before[1] < key, f"the runs of batch {number} are not in order")
                adjoin = before[0] + 1 < index or before[2]["end"] == named["start"]
                require(adjoin, f"the runs of batch {number} do not adjoin")
            shown.append((index, key, named))
            leaves[index] = leaf_hash(key + b"".join(named[name].to_bytes(8, "big") for name in ("start", "first", "last")))
        if header["streams_count"]:
            found = root_of_shown(header["streams_count"], leaves, map(unhex, line["hashes"]))
            require(found.hex() == header["streams_root"], f"the runs of batch {number} do not lead to streams_root")
        self.check_neighbours(number, shown, last)
        return shown

    @checking("batch.tags")
    def check_tags(self, number):
        """§6: the tags that are shown under tags_root, as index and tag."""
        header = self.get(number).header
        lines = self.package.lines(f"tags/{number}.ndjson", "tag_line")
        shown = [(line["index"], unhex(line["tag"])) for line in lines if "tag" in line]
        require(all("hash" in line for line in lines[len(shown):]), f"the tags of batch {number} do not come first")
        require(lines and header["tags_count"], f"there is no tag to show of batch {number}")
        require(all(a[0] < b[0] and a[1] < b[1] for a, b in zip(shown, shown[1:])), f"the tags of batch {number} are not in order")
        hashes = [unhex(line["hash"]) for line in lines if "hash" in line]
        found = root_of_shown(header["tags_count"], {index: leaf_hash(tag) for index, tag in shown}, hashes)
        require(found.hex() == header["tags_root"], f"the tags of batch {number} do not lead to tags_root")
        return Shown(shown, header["tags_count"])

    @checking("batch.streams")
    def check_under(self, roll_up):
        """§6: a roll-up has every stream of the batches under it, and counts no fewer entries and tags."""
        start, counted, sums = first_covered(roll_up.number), roll_up.number, {"count": 0, "tags_count": 0}
        covered = self.numbers[bisect.bisect_left(self.numbers, start):bisect.bisect_left(self.numbers, roll_up.number)]
        for number in reversed(covered):
            below = self.all[number]
            for _, key, _ in below.runs:
                require(not roll_up.streams.lacks(key), f"roll-up {roll_up.number} lacks a stream of batch {number}")
            if number < counted:
                counted = first_covered(number)
                for count in sums:
                    sums[count] += below.header[count]
        for count, least in sums.items():
            require(least <= roll_up.header[count] or level_of(roll_up.number) == 0, f"roll-up {roll_up.number} counts fewer entries or tags than the batches under it", "batch.header" if count == "count" else "batch.tags")

    @checking("batch.streams")
    def check_counts_of(self, stream):
        """§6: every leaf shows the run of a stream or that it has none. The revisions increase along the ledger."""
        counts, leaves = {-1: 0}, [-1]
        for number in self.all:
            start, run = first_covered(number) - 1, self.run_of(number, stream)
            if run:
                ends = ((start, run["first"]), (number, run["last"] + 1))
            else:
                within = leaves[bisect.bisect_left(leaves, start):] if level_of(number) else [start]
                inside = {counts[leaf] for leaf in within if leaf in counts}
                require(len(inside) < 2, f"batch {number} states no run of {stream}, and covers a batch with one")
                ends = [(leaf, count) for leaf in (start, number) for count in inside]
            for leaf, count in ends:
                if leaf not in counts:
                    bisect.insort(leaves, leaf)
                require(counts.setdefault(leaf, count) == count, f"batch {number} states another run of {stream} than another batch")
        ordered = [counts[leaf] for leaf in leaves]
        require(ordered == sorted(ordered), f"the runs of {stream} contradict each other")

    @checking("batch.streams")
    def run_of(self, number, stream):
        """The run of a stream in a batch; None if the batch is shown to have none."""
        batch = self.get(number)
        for _, _, run in batch.runs:
            if run["stream"] == stream:
                return run
        require(batch.streams.lacks(self.keys[stream]),
                f"batch {number} shows neither a run of {stream} nor that it has none")
        return None

    def check_neighbours(self, number, shown, last):
        """§6: the leaves on both sides of a shown run are shown as well, so that it is the only one of its stream."""
        indexes = {index for index, _, _ in shown}
        for index, _, named in shown:
            beside = {at for at in (index - 1, index + 1) if 0 <= at <= last}
            require(not named["stream"] or beside <= indexes, f"batch {number} does not show both neighbours of a run")

    def has_tag(self, number, tag):
        """Whether a batch shows a tag. One of an unknown version may have it: §17."""
        return number in self.unknown or self.get(number).tags.has(tag)

    def lacks_tag(self, number, tag):
        """Whether a batch shows that a tag is absent. One of an unknown version may lack it: §17."""
        if number in self.unknown:
            return True
        return self.get(number).tags.lacks(tag)

    def check_cover(self):
        """§6: the package has the cover of its checkpoint. A size can be a number of any length: nothing is counted up to it before."""
        missing = length_of_cover(self.size) > len(self.all) + len(self.unknown)
        require(not missing, "the package does not have all batches and roll-ups that cover its checkpoint", "completeness.runs")

    @checking("completeness.runs")
    def last_of(self, stream):
        """§6: the last revision of a stream that the cover shows; -1 if there is none."""
        last, may_skip = -1, False
        self.check_cover()
        for number in cover_of(self.size):
            run = None if number in self.unknown else self.run_of(number, stream)
            may_skip = may_skip or number in self.unknown
            if run:
                continues = run["first"] == last + 1 or may_skip and run["first"] > last
                require(continues, f"batch {number} does not continue {stream}")
                last, may_skip = run["last"], False
        return last

    def may_go_on(self, stream):
        """§17: whether a batch of an unknown version comes after the last shown run of a stream."""
        shown = [number for number, batch in self.all.items() if any(run["stream"] == stream for _, _, run in batch.runs)]
        return max(self.unknown, default=-1) > max(shown, default=-1)


# ---- §4, §11: entries and records ------------------------------------------------------------------

CONSENT, IMPORTED, ERASED = "ConsentRecorded.v1", "ConsentImported.v1", "SubjectErased.v1"
CONSENTS = (CONSENT, IMPORTED)
POLICY, ANNOUNCED = "LedgerPolicySet.v1", "LedgerKeyAnnounced.v1"
PUBLISHED, ACTIVATED, RETIRED = "DocumentVersionPublished.v1", "DocumentVersionActivated.v1", "DocumentVersionRetired.v1"
CONFIGURED, SCANNED = "SiteConfigPublished.v1", "SiteScanned.v1"
LATE_MEMBERS = {"rule_id", "ask_again_at", "scope"}
NO_CONSENTS = ("do_not_sell_opt_out", "objection")
TYPES = (*CONSENTS, ERASED, POLICY, ANNOUNCED, PUBLISHED, ACTIVATED, RETIRED, CONFIGURED, SCANNED)


class Entry:
    """A line of entries.ndjson."""

    @checking("entry.format")
    def __init__(self, package, line):
        self.text, self.batch, self.index = line["entry"], line["batch"], line["index"]
        self.disclosures, self.erased, self.person, self.values = line["disclosures"], line.get("erased"), line.get("person"), {}
        self.is_key_lost = line.get("key_lost", False)
        self.leaf = leaf_hash(self.text.encode())
        self.entry = parse(self.text)
        self.is_read = not is_newer(self.entry)
        self.entry = package.shapes.check(parse_canonical(self.text), "entry") if self.is_read else place_of_unknown(package, self.entry)
        self.stream, self.revision = self.entry["stream"], self.entry["revision"]
        self.type, self.record, self.id = self.entry.get("type"), self.entry.get("record"), self.entry.get("event_id")
        self.tag = bytes.fromhex(self.entry["person_tag"]) if self.entry.get("person_tag") else None
        self.is_known, self.is_proved, self.is_erased = False, False, self.erased is not None

    def __str__(self):
        return f"revision {self.revision} of {self.stream}"


def place_of_unknown(package, entry):
    """§17: of an entry of an unknown version, only the stream and the revision are read."""
    shape = package.shapes.shapes["entry"]
    stream, revision = entry.get("stream"), entry.get("revision")
    is_name = package.shapes.fits(stream, {"type": "string", "minLength": 1, "maxLength": 200})
    require(is_name and package.shapes.fits(revision, shape["properties"]["revision"]), "an entry has no place in a stream")
    return {"stream": stream, "revision": revision}


@checking("entry.format")
def entry_lines(package):
    package.lines_of_entries = package.lines("entries.ndjson", "entry_line")
    return package.lines_of_entries


@checking("entry.order")
def read_entries(package):
    """§4: the entries, sorted, each event once."""
    entries, before, ids, tags = [], None, set(), set()
    for line in entry_lines(package):
        entry = Entry(package, line)
        if before:
            places = [(one.stream.encode("utf-16-be"), one.revision) for one in (before, entry)]
            require(places[0] < places[1], "the entries are not in order")
        is_first = entry.is_read and entry.entry["previous"] is None
        require(not entry.is_read or (entry.revision == 0) == is_first, f"{entry} has a predecessor too many or too few", "entry.chain")
        if before and before.stream == entry.stream:
            require((before.batch, before.index) < (entry.batch, entry.index), f"{entry} is in the ledger before an earlier one")
        require(not entry.is_read or entry.id not in ids, "an event id is there twice")
        ids.add(entry.id)
        require(entry.tag is None or entry.tag not in tags, f"{entry} has the tag of an earlier entry", "batch.tags")
        tags.add(entry.tag)
        entries.append(entry)
        before = entry
    return entries


@checking("entry.chain")
def check_chain(entries):
    """§4: each entry has the leaf hash of the one before. Their places were checked."""
    for before, entry in zip(entries, entries[1:]):
        follows = (before.stream, before.revision + 1) == (entry.stream, entry.revision)
        if follows and before.is_read and entry.is_read:
            require(entry.entry["previous"] == before.leaf.hex(), f"{entry} does not continue the one before")


def is_known_form(entry):
    return entry.type in TYPES and not is_newer(entry.record, "v", 2 if entry.type == CONSENT else 1) and not is_newer(entry.record, "hash_version", 2)


@checking("record.format")
def check_form(package, manifest, entry):
    """§17: what is unknown stays open. §11: the shape of a known record, and what a shape cannot say."""
    entry.is_known = is_known_form(entry)
    package.expect(entry.is_known, f"{entry} is of a newer version of the format than this script")
    if entry.type in TYPES:
        require((entry.entry["proof_hash"] is not None) == (entry.type in CONSENTS), f"{entry} has a proof hash too many or too few", "entry.format")
        require((entry.tag is not None) == (entry.type in (*CONSENTS, ERASED)), f"{entry} has a person tag too many or too few", "entry.format")
    if entry.is_known:
        check_stream(manifest["filter"]["site_id"], entry)
        package.shapes.check(entry.record, entry.type)
        RULES.get(entry.type, lambda entry, record: None)(entry, entry.record)


@checking("entry.stream")
def check_stream(site, entry):
    """§4: the stream of the site and type, and what the record says of itself."""
    record = entry.record
    kind = {CONSENT: f"consents-{site}", IMPORTED: f"consents-{site}", ERASED: f"consents-{site}", POLICY: "policy", ANNOUNCED: "policy"}.get(entry.type, f"notices-{site}")
    require(entry.stream == kind, f"{entry} is in another stream than its site and type demand")
    require(isinstance(record, dict) and record.get("event_id") == entry.id, f"{entry} has a record of another event")
    require(entry.type in (POLICY, ANNOUNCED) or record.get("site_id") == site, f"{entry} has a record of another site")


def given_at(record):
    """§11: the time from which a consent counts: of an imported one, that which the former tool states."""
    return instant(record["import"]["claimed_at"] if "import" in record else record["created_at"])


def check_consent_record(entry, record):
    """§11: the validity, and what the tenant vouched for."""
    require(given_at(record) <= instant(record["created_at"]), f"{entry} was imported before the time that the former tool states")
    require(record["valid_until"] is None or instant(record["valid_until"]) >= given_at(record), f"{entry} ends before it was given")
    vouched = record["vouched"]
    require(vouched == sorted(set(vouched)), f"{entry} does not list what is vouched for in order")
    require(all(name in record["disclosures"] for name in vouched), f"{entry} vouches for a value that it does not have")
    has_token = record["approval_token_id"] is not None
    require(has_token == (record["identity_assurance"] is not None), f"{entry} is attested without a token, or has one without it")
    require(has_token or not vouched, f"{entry} vouches for values without a token")
    permitted = [answers for key, answers in (record.get("services") or {}).items() if (record["categories"] or {}).get(key)]
    require(all(all(answers.values()) for answers in permitted), f"{entry} permits a category, and refuses one of its services")
    require(len(LATE_MEMBERS & record.keys()) in (0, len(LATE_MEMBERS)), f"{entry} has only some of rule_id, ask_again_at and scope")
    is_by_token = (record["approval_token_id"] or "").startswith("ptk_") and "visitor_id" in vouched
    is_vouched = "visitor_id" in record["disclosures"] and (record["channel"] == "s2s" or is_by_token)
    require(record.get("scope") != "account" or is_vouched, f"{entry} is an account's, and no backend vouches for the person")
    if "rule_id" in record and record["consent_type"] == "objection":
        check_objection(entry, record)


def check_objection(entry, record):
    """§11, Acts: nothing in an objection reads as a consent, and one that is taken back names nothing."""
    categories, services = record["categories"], record.get("services")
    if record["decision"] == "withdrawn":
        require(categories is None and services is None, f"{entry} takes an objection back, and names categories or services")
        return
    require(record["decision"] == "rejected", f"{entry} is an objection that does not refuse")
    granted = [*(categories or {}).values(), *(value for answers in (services or {}).values() for value in answers.values())]
    require((categories or services) and not any(granted), f"{entry} is an objection that permits something, or names nothing")


def check_configuration_record(entry, record):
    """§11: categories, services, cookies and rules of a site's configuration."""
    categories = [category["key"] for category in record["categories"]]
    cookies = [(cookie["name"], cookie["provider"]) for cookie in record["cookies"]]
    require(len(categories) == len(set(categories)), f"{entry} has a category twice")
    require(len(cookies) == len(set(cookies)), f"{entry} has a cookie twice")
    require(all(cookie["category"] in categories for cookie in record["cookies"]), f"{entry} has a cookie without a category")
    services = [(category["key"], service["key"]) for category in record["categories"] for service in category.get("services", [])]
    keys = categories + [key for _, key in services]
    require(len(keys) == len(set(keys)), f"{entry} has two services or categories of one key")
    cookies = [(cookie["category"], cookie["service"]) for cookie in record["cookies"] if "service" in cookie]
    require(all(cookie in services for cookie in cookies), f"{entry} has a cookie of a service that its category does not have")
    rules = record.get("rules", [])
    require(len({rule["id"] for rule in rules}) == len(rules), f"{entry} has two rules of one id")
    require(all(rule.get("places") or rule.get("frameworks") for rule in rules), f"{entry} has a rule for no place")
    host = record["withdrawal_url"].split("/")[2] if "withdrawal_url" in record else record["domain"]
    require(host == record["domain"] or host.endswith("." + record["domain"]), f"{entry} has an address that is not on its domain")


def check_scan_record(entry, record):
    """§11: the times and the visits of a scan."""
    require(instant(record["started_at"]) <= instant(record["ended_at"]), f"{entry} ends before it starts")
    choices = [visit["choice"] for visit in record["visits"]]
    require(choices == ["none", "refused"][:len(choices)], f"{entry} does not list the visits in order")


def check_policy_record(entry, record):
    """§11: number and witnesses of a policy."""
    require(record["number"] == entry.revision + 1, f"{entry} has another number than its revision demands")
    in_order = sorted(set(record["witnesses"]), key=lambda line: line.encode("utf-16-be"))
    require(record["witnesses"] == in_order, f"{entry} does not list the witnesses in order")
    require(all(Key(line, (COSIGNATURE, ML_DSA)).name for line in record["witnesses"]), f"{entry} names a witness without a key")
    require(record["witnesses_required"] <= len(record["witnesses"]), f"{entry} requires more witnesses than it names")


@checking("record.format")
def check_forms(package, batches, every, entries):
    """§11, Order of forms: no record is of an earlier form than one of an earlier batch. Of one record, as far as the package shows it."""
    first = next((entry for entry in every if entry.type == CONSENT and is_known_form(entry) and isinstance(entry.record, dict) and "scope" in entry.record), None)
    for entry in entries:
        if first and entry.is_known and entry.type == CONSENT and "scope" not in entry.record and entry.batch > first.batch:
            check_place(package, batches, first)
            raise Refused(f"{entry} states no scope and no rule, and {first} before it does")


RULES = {CONSENT: check_consent_record, IMPORTED: check_consent_record, CONFIGURED: check_configuration_record, SCANNED: check_scan_record, POLICY: check_policy_record}


@checking("batch.streams")
def check_place(package, batches, entry):
    """§6: the entry is in its batch, under the run of its stream; so it is in the roll-ups over it, with its tag."""
    if entry.batch not in batches.unknown:
        require(entry.batch in batches.all, f"the package does not include batch {entry.batch}", "entry.inclusion")
        check_inclusion(package, batches.all[entry.batch].header, entry)
    is_foreign = not entry.is_read and entry.stream not in batches.streams
    for number in holders_of(entry.batch, batches.size):
        if number in batches.unknown or is_foreign:
            continue
        run = batches.run_of(number, entry.stream)
        require(run and run["first"] <= entry.revision <= run["last"], f"batch {number} does not contain {entry}")
        if number == entry.batch:
            require(entry.index == run["start"] + entry.revision - run["first"], f"{entry} has another index than its run demands", "entry.inclusion")
        if entry.tag:
            require(batches.has_tag(number, entry.tag), f"batch {number} does not list the tag of {entry}", "batch.tags")


@checking("entry.inclusion")
def check_inclusion(package, header, entry):
    """§6: the leaf of the entry is in its batch. The leaf of an entry of an unknown version is unknown: §17."""
    require(header["level"] == 0, "a roll-up has no entries")
    if not entry.is_read:
        return
    proofs, root = package.proofs(entry.batch, header["count"])
    require(entry.index in proofs, f"{entry} has no proof that it is in its batch")
    if "leaf" in proofs[entry.index]:
        require(unhex(proofs[entry.index]["leaf"]) == entry.leaf, f"{entry}: the batch contains another leaf")
    else:
        root = root_of_inclusion(entry.index, header["count"], entry.leaf, map(unhex, proofs[entry.index]["path"]))
    require(root.hex() == header["root"], f"{entry} is not in its batch")


# ---- §5: disclosed values ---------------------------------------------------------------------------


@checking("disclosure.digest")
def check_values(package, manifest, entries):
    """§5: disclosed values are those that the records commit to. No salt and no attachment is left over."""
    salts, attachments, named = set(), set(), {entry.record["erased_event_id"] for entry in entries if is_erasure(entry)}
    tags = tags_of_person(package, manifest)
    for entry in entries:
        is_gone = entry.is_erased or entry.id in named
        require(not (entry.disclosures and is_gone and entry.is_read), f"{entry} is erased, and values of it are disclosed", "erasure.values")
        if not entry.is_known:
            continue
        require(entry.type in CONSENTS or not (entry.disclosures or entry.is_key_lost), f"{entry} is no consent and has or lost values", "disclosure.withheld" if entry.is_key_lost else None)
        require(not (entry.is_key_lost and (entry.disclosures or entry.erased)), f"{entry} has a lost key, and is erased or discloses a value", "disclosure.withheld")
        own = set()
        for disclosure in entry.disclosures:
            salt, name, value = read_disclosure(package, disclosure)
            digest = base64url(sha256(disclosure.encode()))
            require(entry.record["disclosures"].get(name) == digest, f"{entry} does not commit to a disclosed value")
            require(name not in entry.values, f"{entry} discloses a value twice")
            own.add(salt)
            require(len(own) == len(entry.values) + 1, f"two values of {entry} share a salt")
            require(salt not in salts, "two values share a salt", "disclosure.salt")
            entry.values[name] = value
            if name in ("signature_image", "custom_document_content", "presentation_screenshot"):
                attachments.add(attached(package, entry, value))
        salts |= own
        check_person_opened(package, entry)
        if entry.type in CONSENTS and package.is_understood:
            check_disclosed(package, manifest, entry, tags)
    return attachments


@checking("disclosure.attachment")
def attached(package, entry, value):
    """§5: the name of the file of an attachment, which is there and has its size."""
    name = f"attachments/{value['sha256']}"
    require(name in package.names, f"{name} is missing")
    require(len(package.read(name)) == value["size"], f"{entry} has an attachment of another size")
    return name


def read_disclosure(package, disclosure):
    """§5: salt, name and value, the value of the type of its name."""
    opened = parse(unbase64url(disclosure).decode())
    require(isinstance(opened, list) and len(opened) == 3 and all(isinstance(one, str) for one in opened[:2]), "a disclosure is malformed")
    salt, name, value = opened
    require(len(unbase64url(salt)) >= 16, "a salt is too short")
    package.shapes.check({name: value}, "disclosed_values") if name else None
    return salt, name, value


@checking("disclosure.person")
def check_person_opened(package, entry):
    """§16, disclosure.person: a receipt that discloses the visitor opens the person tag of its record."""
    has_visitor = bool(entry.values.get("visitor_id"))
    if not entry.person:
        package.expect(not (package.is_receipt and has_visitor), f"{entry} discloses the visitor, and does not open the person tag")
        return
    require(package.is_receipt and has_visitor and not entry.is_erased, f"{entry} opens a person tag where none is to be opened")
    n = entry.person["n"]
    require(n <= entry.revision + 1, f"{entry} cannot be record {n} of the person")
    require(tag_of_person(entry.person, n) == entry.tag, f"{entry} has another person tag than it states")


@checking("manifest.filter")
def check_disclosed(package, manifest, entry, tags):
    """§10, §5: only what the manifest states is disclosed; if it states all, nothing is withheld."""
    disclose, person, is_match = manifest["filter"]["disclose"], manifest["filter"]["person"], matches(manifest, entry)
    if person and person["records"] is not None:
        require(not entry.values or entry.tag in tags, f"{entry} is of another person, and discloses values")
    allowed = {"all": set(entry.values), "none": set()}.get(disclose, disclose) if isinstance(disclose, str) else disclose
    require(not entry.values or is_match, f"{entry} does not match the filter, and discloses values")
    require(set(entry.values) <= set(allowed), f"{entry} discloses a value that is not to be disclosed")
    if disclose == "all" and is_match and not entry.is_erased and not entry.is_key_lost:
        package.expect(set(entry.values) == set(entry.record["disclosures"]), f"{entry} withholds a value, although all are to be disclosed")


@functools.lru_cache(maxsize=1)
def requested(event_ids):
    return frozenset(event_ids)


def matches(manifest, entry):
    """§10: whether the public members of a consent match the filter of the manifest. Persons cannot be compared."""
    asked, record = manifest["filter"], entry.record
    return ((asked["from"] is None or record["created_at"] >= asked["from"])
            and (asked["to"] is None or record["created_at"] < asked["to"])
            and asked["consent_type"] in (None, record["consent_type"])
            and asked["document_version_id"] in (None, record["document_version_id"])
            and (asked["event_ids"] is None or entry.id in requested(tuple(asked["event_ids"]))))


# ---- §6, §11: erasures --------------------------------------------------------------------------------


def is_erasure(entry):
    return entry.type == ERASED and entry.is_known


def erasure_tag(entry):
    """§6: the tag of the first erasure of a record."""
    return sha256(b"consent-ledger erasure v1\x00" + entry.id.encode())


def may_erase(entry, record):
    """§17: whether an event may be the erasure of a record: a later event of its stream that is unknown, and no consent."""
    return not entry.is_known and entry.type not in CONSENTS and entry.stream == record.stream and entry.revision > record.revision


@checking("erasure.proof")
def check_erasures(entries, places):
    """§4, §6, §11: an erased record is named by a later erasure of its stream. The first one has the erasure tag."""
    by_id = {entry.id: entry for entry in places.values()}
    for entry in entries:
        if entry.erased and entry.is_read:
            check_mark(entry, places.get((entry.erased["stream"], entry.erased["revision"])))
        if is_erasure(entry):
            named = by_id.get(entry.record["erased_event_id"])
            if named and named.tag and named.stream == entry.stream and named.revision < entry.revision and not named.is_proved:
                require(entry.tag == erasure_tag(named), f"{entry} does not have the erasure tag of the record that it names")
                named.is_proved = named.is_erased = True


def check_mark(entry, by):
    """§4, erasure.proof: the event that a line states as the erasure is one, or may be one."""
    require(entry.type in CONSENTS or not entry.is_known, f"{entry} is no consent and cannot be erased")
    require(by and by.stream == entry.stream and by.revision > entry.revision, f"{entry} was erased before it was there")
    names_it = is_erasure(by) and by.record["erased_event_id"] == entry.id
    require(names_it or may_erase(by, entry), f"{entry} is not named by the erasure that it states")


@checking("erasure.absent")
def check_no_erasure_omitted(package, manifest, batches, entries):
    """§6, erasure.absent: a package with a filter leaves out no erasure of a record that it contains."""
    if is_whole(manifest) or package.is_receipt:
        return
    named = {entry.record["erased_event_id"] for entry in entries if is_erasure(entry)}
    site = manifest["filter"]["site_id"]
    stream = f"consents-{site}"
    try:
        last = batches.last_of(stream)
    except Refused:
        last = None
    may_go_on = batches.may_go_on(stream)
    # Runs that overlap were refused before.
    runs = sorted((run["first"], run["last"]) for run in manifest["complete"] if run["stream"] == stream)
    for entry in entries:
        if entry.type not in CONSENTS or not entry.is_known or entry.id in named or not matches(manifest, entry):
            continue
        place = bisect.bisect(runs, (entry.revision, float("inf"))) - 1
        end = runs[place][1] if place >= 0 and entry.stream == stream and entry.revision <= runs[place][1] else -1
        if last is not None and end >= 0 and (end == last or may_go_on and end > last):
            continue
        batches.check_cover()
        for number in cover_of(batches.size):
            shown = number < entry.batch or batches.lacks_tag(number, erasure_tag(entry))
            require(shown, f"batch {number} may have an erasure of {entry} that is left out")


# ---- §10: nothing is missing ---------------------------------------------------------------------------

RESTRICTIONS = ("from", "to", "consent_type", "document_version_id", "event_ids")


def is_whole(manifest):
    """Whether the package is without a filter."""
    return all(manifest["filter"][name] is None for name in (*RESTRICTIONS, "person"))


@checking("manifest.counts")
def check_counts(package, manifest, entries):
    counts, consents = manifest["counts"], [entry for entry in entries if entry.type in CONSENTS]
    require(counts["entries"] == len(entries), "the manifest counts other entries")
    unknown = [entry for entry in entries if entry.stream.startswith("consents-") and not entry.is_known and entry.type not in CONSENTS]
    may_be = sum(1 for entry in unknown if entry.type not in TYPES)
    require(0 <= counts["consents"] - len(consents) <= may_be, "the manifest counts other consents")
    proved = sum(1 for entry in consents if entry.is_proved)
    require(0 <= counts["erased"] - proved <= len(unknown), "the manifest counts other erased records")
    lost = sum(1 for entry in consents if entry.is_key_lost and entry.is_known)
    newer = sum(1 for entry in entries if entry.stream.startswith("consents-") and not entry.is_known)
    require(0 <= counts["key_lost"] - lost <= newer, "the manifest counts other records with lost keys")
    require(counts["attachments"] == sum(1 for name in package.names if name.startswith("attachments/")), "the manifest counts other attachments")
    package.expect(consents, "the package contains no consent")


@checking("completeness.runs")
def check_streams(package, manifest, batches, entries):
    """completeness.runs: the streams that are to be complete end where the cover ends, and no claimed run has a gap."""
    site, shown, claimed = manifest["filter"]["site_id"], {}, {}
    for entry in entries:
        shown.setdefault(entry.stream, []).append(entry.revision)
    for run in manifest["complete"]:
        require(run["stream"] in batches.streams and run["first"] <= run["last"], "a run that is called complete is malformed")
        claimed.setdefault(run["stream"], []).append((run["first"], run["last"]))
    for stream, runs in claimed.items():
        runs.sort()
        require(all(a[1] < b[0] for a, b in zip(runs, runs[1:])), "runs that are called complete overlap")
        # The entries are sorted, each revision there once.
        revisions = shown.get(stream, [])
        for first, last in runs:
            included = bisect.bisect(revisions, last) - bisect.bisect_left(revisions, first)
            require(included == last - first + 1, "a run that is called complete is not")
    whole = ["policy", f"notices-{site}"] + ([f"consents-{site}"] if is_whole(manifest) else [])
    ends = {stream: batches.last_of(stream) for stream in whole}
    for stream, last in ends.items():
        if batches.may_go_on(stream):
            last = max([last, *(end for start, end in claimed.get(stream, []) if start == 0)])
            shown[stream] = [revision for revision in shown.get(stream, []) if revision <= last]
        require(shown.get(stream, []) == list(range(last + 1)), f"events of {stream} are missing: the ledger has revisions up to {last}")
        require(last < 0 or (0, last) in claimed.get(stream, []), f"the manifest does not call {stream} complete up to revision {last}")


def tag_of_person(person, n):
    """§6: the tag of a person's n-th record."""
    return sha256(b"consent-ledger person tag v1\x00" + bytes.fromhex(person["id"]) + n.to_bytes(8, "big"))


@checking("completeness.person")
def tags_of_person(package, manifest):
    """§10: the tags of the stated records. There is an entry for each: a larger number is not counted up to."""
    person = manifest["filter"]["person"]
    if not person or person["records"] is None:
        return set()
    require(person["records"] <= len(package.lines_of_entries), "a record of the person is missing")
    require(person["id"] or not person["records"], "records of a person are stated without an id")
    return {tag_of_person(person, n) for n in range(1, person["records"] + 1)}


@checking("completeness.person")
def check_person(package, manifest, batches, entries):
    """completeness.person: the records 1 to n of the person are there, and no batch has record n + 1."""
    person = manifest["filter"]["person"]
    if not person:
        return
    if person["records"] is None:
        require(any(manifest["filter"][name] is not None for name in RESTRICTIONS), "the number of the person's records is not stated")
        return
    tags = tags_of_person(package, manifest)
    package.expect(person["records"] > 0, "no record of the person is in the package, so that nothing tells whose the id is")
    mine = [entry for entry in entries if entry.tag in tags and (entry.type in CONSENTS or not entry.is_known)]
    unknown = sum(1 for entry in entries if not entry.is_read and entry.stream.startswith("consents-"))
    require(len(mine) <= len(tags) <= len(mine) + unknown, "a record of the person is missing")
    ids = {unicodedata.normalize("NFC", entry.values["visitor_id"]) for entry in mine if entry.values.get("visitor_id")}
    require(len(ids) <= 1, "the records are of several persons")
    unnamed = sum(1 for entry in mine if entry.is_read and not entry.is_erased and not entry.is_key_lost and not entry.values.get("visitor_id"))
    package.expect(ids and not unnamed, "records of the person do not disclose visitor_id, so that nothing shows whose they are")
    batches.check_cover()
    for number in cover_of(batches.size) if person["id"] else []:
        next_tag = tag_of_person(person, person["records"] + 1)
        require(batches.lacks_tag(number, next_tag), f"batch {number} may have a further record of the person")


def check_requested(package, manifest, entries):
    """completeness.events."""
    ids = {entry.id for entry in entries}
    for event_id in manifest["filter"]["event_ids"] or []:
        package.expect(event_id in ids, f"the record {event_id} was requested and is missing")


# ---- §9: the times that are claimed ---------------------------------------------------------------------


class Delays:
    """§9: the largest delays that the policy in force at a batch allows, in milliseconds."""

    def __init__(self, entries):
        self.policies = [entry for entry in entries if entry.type == POLICY and entry.is_known]

    def policy(self, batch):
        """The record of the policy in force at a batch; None before the first."""
        return next((policy.record for policy in reversed(self.policies) if policy.batch <= batch), None)

    def print_operator(self, batch, stamps):
        """§11: what the policy in force at a batch states of the operator. Nothing checks it."""
        stated = self.policy(batch) or {}
        print(f"   operator of the ledger, as it states itself: {stated.get('operator', {}).get('legal_name', 'not stated')!a}")
        for one in stated.get("qualified_stamps", []):
            if any(stamp.authority == (("organizationName", folded_name(one["organization"])),) for stamp in stamps):
                print(f"   as the operator states, {one['organization']!a} is qualified under eIDAS, see {one['trusted_list']}; not checked")

    def at(self, batch):
        """From created_at to sealed_at, and from there to the stamp."""
        return self.stated(self.policy(batch))

    @staticmethod
    def stated(policy):
        """The delays of a policy; those before the first one for None."""
        if policy is None:
            return 600_000, 3_600_000
        return policy["seal_within_seconds"] * 1000, policy["stamp_within_seconds"] * 1000

    def since(self, batch, created, intervals):
        """From created_at to sealed_at, and to the stamp: of the newest policy that existed at created_at."""
        for policy in reversed([one for one in self.policies if one.batch <= batch]):
            proved = intervals.end(policy.batch)
            if proved and sum(proved) <= created:
                seal, stamp = self.stated(policy.record)
                return seal, seal + stamp
        seal, stamp = self.stated(None)
        return seal, seal + stamp


    def promised(self, batches, created, intervals):
        """§15: the longest delay that the policies allow a promise. One that was announced by then counts if it was sealed in time."""
        seal, _ = self.since(batches.size - 1, created, intervals)
        announced = [policy for policy in self.policies if instant(policy.record["created_at"]) <= created + TOLERANCE
                     and policy.batch in batches.all and batches.all[policy.batch].sealed_at <= created + seal + TOLERANCE]
        older = [policy for policy in announced if instant(policy.record["created_at"]) < created - TOLERANCE][:-1]
        return max([seal] + [self.stated(policy.record)[0] for policy in announced if policy not in older])


class Intervals:
    """§9: between which times a batch was sealed. An end is None if valid stamps of too few authorities cover the batch."""

    @checking("time.start")
    def __init__(self, package, batches, stamps, delays, held):
        self.stamps, self.policies, self.start, latest, self.ends = stamps, delays.policies, {}, None, {}
        responses = {}
        for name in package.names:
            found = re.fullmatch(f"checkpoints/({COUNT})\\.[1-9]\\.tsr", name)
            if found:
                responses.setdefault(int(found[1]), set()).add(sha256(package.read(name)).hex())
        by_digest = {(stamp.size, stamp.digest): stamp for stamp in stamps}
        for number in sorted(batches.all):
            batch, after = batches.all[number], batches.all[number].header["after"]
            named = by_digest.get((after["size"], after["sha256"])) if after else None
            if after and not named:
                require(after["sha256"] in responses.get(after["size"], {after["sha256"]}), f"batch {number} names a time stamp with another digest")
            if named and (latest is None or named.time > latest[0]):
                latest = (named.time, named.accuracy)
            self.start[number] = latest
            if number not in held:
                continue
            smallest = after["size"] if after else 0
            newer = [stamp for stamp in stamps if smallest < stamp.size <= number and stamp.time + stamp.accuracy < batch.sealed_at - TOLERANCE]
            package.expect(not newer, f"batch {number} does not name the newest time stamp that existed")
            if not after:
                package.expect(0 in batches.all, f"batch {number} names no time stamp, and batch 0 is not there")
            elif not named:
                near = latest and batch.sealed_at <= latest[0] + sum(delays.at(number))
                package.expect(near, f"the time stamp that batch {number} names is not there")

    def end(self, number):
        if number not in self.ends:
            self.ends[number] = self.found_end(number)
        return self.ends[number]

    def found_end(self, number):
        """Time and accuracy of the earliest valid stamp over a checkpoint that holds the batch: of the last demanded authority."""
        demanded = self.demanded(number)
        covering = [stamp for stamp in self.stamps if stamp.size > number]
        covering.sort(key=lambda stamp: stamp.time + stamp.accuracy)
        ends = {}
        for stamp in covering:
            ends.setdefault(stamp.authority if demanded > 1 else None, (stamp.time, stamp.accuracy))
        return list(ends.values())[demanded - 1] if len(ends) >= demanded else None

    def demanded(self, number):
        """§9, A lowered number of stamps: how many authorities the policies demand for a batch."""
        demanded = 1
        for policy in self.policies:
            if policy.batch <= number:
                stated = policy.record["stamps"]
                is_lowered = stated < demanded
                if not is_lowered or self.size_stamped_by(policy.batch, demanded) <= number:
                    demanded = stated
        return demanded

    def size_stamped_by(self, number, authorities):
        """The smallest size up to which so many authorities have stamped checkpoints that hold a batch."""
        sizes = {}
        for stamp in sorted(self.stamps, key=lambda stamp: stamp.size):
            if stamp.size > number:
                sizes.setdefault(stamp.authority, stamp.size)
        return sorted(sizes.values())[authorities - 1] if len(sizes) >= authorities else float("inf")


@checking("time.claimed")
def check_batch_times(package, batches, intervals, delays, held):
    """time.claimed of batches: sealed_at is within the interval."""
    for number, batch in batches.all.items():
        end, start = intervals.end(number), intervals.start[number]
        if end:
            require(batch.sealed_at <= end[0] + end[1] + TOLERANCE, f"batch {number} claims to be sealed after its time stamp")
        if start:
            require(batch.sealed_at >= start[0] - start[1] - TOLERANCE, f"batch {number} claims to be sealed before the time stamp that it names")
    if 0 in batches.all and 0 not in held and intervals.end(0):
        late = sum(intervals.end(0)) - batches.all[0].sealed_at > delays.at(0)[1] + TOLERANCE
        package.expect(not late, "batch 0 was stamped late")


def claimed_time(entry):
    """The created_at of a record. None if an unknown one does not have it as all known ones do: §17."""
    try:
        return instant(entry.record["created_at"])
    except (Refused, LookupError, TypeError, ValueError):
        require(not entry.is_known, f"{entry} has no time")
        return None


@checking("time.claimed")
def check_claimed_times(package, batches, intervals, delays, entries):
    """time.stamped, time.claimed: created_at of every entry agrees with the interval and the policy."""
    latest = {}
    for entry in entries:
        created = claimed_time(entry)
        if entry.batch in batches.unknown or created is None:
            continue
        sealed = batches.all[entry.batch].sealed_at
        seal, total = (float("inf"),) * 2 if entry.stream == "policy" else delays.since(entry.batch, created, intervals)
        end, start = intervals.end(entry.batch), intervals.start[entry.batch]
        package.expect(end, f"valid time stamps of too few authorities cover {entry}")
        if end:
            require(created <= end[0] + end[1] + TOLERANCE, f"{entry} claims to be younger than its time stamp")
            require(created <= sealed + TOLERANCE, f"{entry} claims to be younger than its batch")
            late = f"{entry} was sealed or stamped late, or is backdated"
            package.expect(created >= end[0] + end[1] - total, late)
            package.expect(not start or created >= start[0] - start[1] - TOLERANCE - seal, late)
            package.expect(created >= sealed - TOLERANCE - seal, late)
            package.expect(created >= latest.get(entry.stream, created) - TOLERANCE, f"{entry} claims to be older than an earlier entry")
        latest[entry.stream] = max(created, latest.get(entry.stream, created))


# ---- §11: texts and configurations, published and in force ---------------------------------------------------


def record_hash(entry):
    return sha256(canonical(entry.record).encode()).hex()


class Notices:
    """The notices of the site, in the order of their stream, and what contradicts itself in them."""

    @checking("document.in-force")
    def __init__(self, package, entries, are_whole):
        self.package, self.are_whole = package, are_whole
        self.all = [entry for entry in entries if entry.stream.startswith("notices-")]
        self.places = {entry.revision: place for place, entry in enumerate(self.all)}
        self.first_unknown = min((entry.batch for entry in self.all if not entry.is_known), default=float("inf"))
        self.has_unknown = self.first_unknown < float("inf")
        self.published, self.activated, self.retired = self.by_version(PUBLISHED), self.by_version(ACTIVATED), self.by_version(RETIRED)
        self.configured = [entry for entry in self.all if entry.is_known and entry.type == CONFIGURED]
        self.next_configured = {entry.revision: self.configured[place + 1:place + 2] for place, entry in enumerate(self.configured)}
        self.by_hash = {record_hash(entry): entry for entry in reversed(self.all) if entry.is_read}
        for entry, problem in self.contradictions():
            require(self.lacks_notices(entry), f"{entry} {problem}")
            package.expect(False, f"{entry} {problem}, or a notice is not there")

    def by_version(self, kind):
        """The known notices of a type, by document version."""
        found = {}
        for entry in self.all:
            if entry.is_known and entry.type == kind:
                found.setdefault(entry.record["document_version_id"], []).append(entry)
        return found

    def contradictions(self):
        """§11: what each notice contradicts in the earlier ones."""
        texts, numbers, active, activated, retired = {}, {}, {}, set(), set()
        for entry in filter(lambda entry: entry.is_known, self.all):
            record, version = entry.record, entry.record.get("document_version_id")
            if entry.type == CONFIGURED:
                if record["number"] <= numbers.get(CONFIGURED, 0):
                    yield entry, "publishes a configuration with a number that is not above all earlier ones"
                numbers[CONFIGURED] = max(record["number"], numbers.get(CONFIGURED, 0))
            elif entry.type == PUBLISHED:
                text = (record["document_id"], record["language"])
                if version in texts or record["number"] <= numbers.get(text, 0):
                    yield entry, "publishes a version again, or with a number that is not above all earlier ones"
                numbers[text] = max(record["number"], numbers.get(text, 0))
                texts.setdefault(version, text)
            elif entry.type in (ACTIVATED, RETIRED):
                text = texts.get(version)
                is_first = version not in retired and (entry.type == RETIRED or version not in activated)
                if not is_first or text is None or text[0] != record["document_id"]:
                    yield entry, "activates or retires a version that is retired, again, or that is not published"
                if entry.type == ACTIVATED:
                    if active.get(text) not in (None, version):
                        yield entry, "activates a version while another one is active"
                    active[text] = version
                    activated.add(version)
                else:
                    retired.add(version)
                    if active.get(text) == version:
                        del active[text]

    def lacks_notices(self, until):
        """Whether a notice up to this one is missing, or of an unknown type. A receipt has only some of them: §16."""
        unknown = next((entry.revision for entry in self.all if not entry.is_known), until.revision + 1)
        return self.package.is_receipt or self.places[until.revision] < until.revision or unknown <= until.revision

    def is_open(self, consent):
        """§17: whether a notice that this script does not know may decide about a consent."""
        return not self.are_whole or self.first_unknown <= consent.batch

    def check(self, consent):
        """document.version, document.configuration, document.in-force of a consent."""
        text, configuration = self.text_of(consent), self.configuration_of(consent)
        is_open = self.is_open(consent)
        self.package.expect(not is_open, f"{consent} may depend on a notice that this script does not know")
        if text:
            self.check_text(consent, text, is_open)
        if configuration:
            check_term(consent, [configuration], self.next_configured[configuration.revision], is_open)
            if "rule_id" in consent.record:
                self.check_periods(consent, configuration.record, is_open)
            else:
                check_validity(consent, configuration.record["validity_days"])

    def longest(self, own, batches):
        """§11, Periods: the longest validity of some configurations, the consent's own among them. Infinite if one never ends."""
        days = [entry.record["validity_days"] for entry in self.configured if entry.batch in batches] + [own]
        return float("inf") if None in days else max(days)

    @checking("document.in-force")
    def check_periods(self, consent, configuration, is_open):
        """§11, Periods: rule 3 for a record that states them."""
        record, own = consent.record, configuration["validity_days"]
        is_answer, is_refusal = record["consent_type"] not in NO_CONSENTS, record["decision"] in ("rejected", "withdrawn")
        stated = [float("inf") if record[name] is None else instant(record[name]) - instant(record["created_at"]) for name in ("valid_until", "ask_again_at")]
        least = most = float("inf")
        if is_answer and record["decision"] == "accepted":
            least = most = self.longest(own, range(0))
        elif is_answer:
            least, most = self.longest(own, range(consent.batch)), self.longest(own, range(consent.batch + 1))
            most = float("inf") if self.package.is_receipt else most
        require(stated[0] >= least * DAY, f"{consent} is valid for a shorter time than an earlier decision can be")
        may_be_longer = is_open and is_answer and record["decision"] != "accepted"
        require(stated[0] <= most * DAY or may_be_longer, f"{consent} is valid for longer than its configuration allows")
        default = None if own is None else max(180, own)
        days = configuration.get("refusal_days", default) if is_answer and is_refusal else None
        require(stated[1] == (float("inf") if days is None else days * DAY), f"{consent} is asked again at another time than its configuration states")

    @checking("document.in-force")
    def check_text(self, consent, text, is_open):
        """§11, In force, rules 1, 2, 4 and 5 for the document version."""
        version = text.record["document_version_id"]
        activated, retired = self.activated.get(version, []), self.retired.get(version, [])
        if consent.type == IMPORTED:
            check_term(consent, [text], [], is_open)
            return
        require(activated or is_open, f"{consent} names a version that was never activated")
        check_term(consent, [text, *activated[:1]], retired, is_open)
        free = consent.record["consent_type"] in ("cookie", *NO_CONSENTS)
        required = text.record["requires_approval_token"] and not free
        require(not required or (consent.record["approval_token_id"] or "").startswith("atk_"), f"{consent} lacks the approval token that its text requires")

    @checking("document.version")
    def text_of(self, consent):
        """document.version: the text consented to is enclosed, and published once as the version that is named. None if unknown."""
        record = consent.record
        require(f"notices/{record['document_hash']}" in self.package.names, f"the text of {consent} is missing")
        named = self.published.get(record["document_version_id"], [])
        if not named and self.has_unknown:
            self.package.expect(False, f"{consent} names a version that an unknown notice may publish")
            return None
        require(len(named) == 1, f"{consent} names a version that is not published once")
        same = named[0].record["content_sha256"] == record["document_hash"] and named[0].record["language"] == record["language"]
        require(same, f"{consent} names another text than the version has")
        return named[0]

    @checking("document.configuration")
    def configuration_of(self, consent):
        """document.configuration: the site's configuration is enclosed, published, and has the categories. None if unknown."""
        record = consent.record
        named = self.by_hash.get(record["site_config_hash"])
        if not self.package.is_receipt:
            require(f"notices/{record['site_config_hash']}" in self.package.names, f"the configuration of {consent} is missing")
        if not named and not all(entry.is_read for entry in self.all):
            self.package.expect(False, f"{consent} names a configuration that an unknown notice may publish")
            return None
        require(named, f"{consent} names a configuration that is not published")
        self.package.expect(named.is_known, f"{consent} names a configuration that this script does not know")
        if not named.is_known:
            return None
        require(named.type == CONFIGURED, f"{consent} names a configuration that is none")
        keys = {category["key"] for category in named.record["categories"]}
        require(set(record["categories"] or {}) <= keys, f"{consent} names a category that its configuration does not have")
        rules = [rule["id"] for rule in named.record.get("rules", [])]
        require(record.get("scope") != "account" or "accounts" in named.record, f"{consent} is an account's, and its configuration has no accounts")
        is_rule = record.get("rule_id") is None or rules.count(record["rule_id"]) == 1
        require(is_rule, f"{consent} names a rule that its configuration does not have")
        services = services_of(named.record)
        for key, answers in (record.get("services") or {}).items():
            require(answers and set(answers) <= services.get(key, set()), f"{consent} names a service that its configuration does not have")
        return named


def services_of(configuration):
    """§11: the services of each category on which visitors can decide."""
    if not configuration.get("service_switches"):
        return {}
    return {category["key"]: {service["key"] for service in category.get("services", [])} for category in configuration["categories"]}


@checking("document.in-force")
def check_term(consent, begins, ends, is_open):
    """§11, In force, rules 1 and 5. What is unknown could explain an end, but no beginning."""
    created = instant(consent.record["created_at"])
    for entry in begins:
        too_late = entry.batch > consent.batch or instant(entry.record["created_at"]) > created + TOLERANCE
        require(not too_late, f"{consent} is older than {entry}, on which it depends")
    for entry in ends:
        too_early = entry.batch < consent.batch or instant(entry.record["created_at"]) < created - TOLERANCE
        require(not too_early or is_open, f"{consent} names what {entry} had replaced before")


@checking("document.in-force")
def check_validity(consent, days):
    """§11, In force, rule 3."""
    until, given = consent.record["valid_until"], given_at(consent.record)
    if days is None and consent.type == IMPORTED:
        return
    require((until is None) == (days is None), f"{consent} has an end although its configuration has none, or the reverse")
    require(until is None or instant(until) <= given + days * DAY, f"{consent} is valid for longer than its configuration allows")


# ---- §15: promises --------------------------------------------------------------------------------------------


def check_promise(promise, keys):
    """§15: a promise is genuine. Returns its stream, event id, digest of the record, its created_at, and the time before which it is sealed."""
    lines, origin = promise["text"].split("\n"), keys.origin
    require(len(lines) == 8 and lines[7] == "" and lines[:2] == ["consent-ledger promise v1", origin], "the promise is malformed")
    require(len(unbase64(lines[4])) == 32 and instant(lines[5]), "the promise is malformed")
    require(0 <= instant(lines[6]) - instant(lines[5]) <= 172_800_000, "the promise is for a time that no policy allows")
    certificate, signatures = parse_note(promise["certificate"].encode())
    states = [key.state_in(certificate, signatures, False) for key in keys.trusted]
    if "signed" not in states:
        raise Undecided("the promise is certified by a key that you did not give, or with ML-DSA-44 alone")
    certified = certificate.split("\n")
    require(len(certified) == 4 and certified[:2] == ["consent-ledger promise key v1", origin], "the certificate of the promise key is malformed")
    key = b"\x01" + unbase64(certified[2])
    key_id = sha256(origin.encode() + b"\n" + key)[:4].hex()
    signer = Key(f"{origin}+{key_id}+{base64.b64encode(key).decode()}")
    signed_text, signatures = parse_note(promise["signed_root"].encode())
    require(signer.state_in(signed_text, signatures, False) == "signed", "the promise key did not sign the root")
    signed = signed_text.split("\n")
    require(len(signed) == 5 and signed[:3] == ["consent-ledger promises v1", origin, str(promise["size"])], "the signed root of the promise is malformed")
    require(1 <= promise["size"] <= 1_000_000, "the promise was signed together with too many")
    root = root_of_inclusion(promise["index"], promise["size"], leaf_hash(promise["text"].encode()), map(unhex, promise["path"]))
    require(root == unbase64(signed[3]), "the promise is not among those that were signed")
    return lines[2], lines[3], unbase64(lines[4]), instant(lines[5]), instant(lines[6])


@checking("promise.kept")
def hold_promise(package, manifest, batches, entries, stamps, intervals, promise, keys, now):
    """§15, promise.kept: what this package shows about a promise. Only a genuine promise can be broken."""
    try:
        stream, event_id, digest, created, until = check_promise(promise, keys)
    except (*BROKEN, Undecided) as problem:
        package.expect(False, f"the promise is not verified: {problem}")
        return "not verified"
    if not keys.is_proved:
        package.expect(False, "the package does not prove the announcement of the next keys")
        return "not covered"
    found = [entry for entry in entries if entry.id == event_id]
    until = min(until, created + Delays(entries).promised(batches, created, intervals))
    if found:
        if found[0].batch in batches.unknown:
            package.expect(False, "the record of the promise is in a batch of an unknown version")
            return "not covered"
        is_same = found[0].stream == stream and sha256(canonical(found[0].record).encode()) == digest
        require(is_same, "the promise is broken: the ledger holds another record under this event id")
        is_late = batches.get(found[0].batch).sealed_at > until + TOLERANCE
        package.expect(not is_late, "the promise was kept late")
        return "late" if is_late else "kept"
    states = [stamp for stamp in stamps if stamp.size == batches.size]
    due = [stamp for stamp in states if stamp.time - stamp.accuracy > until]
    if states and not due:
        package.expect(now <= until + TOLERANCE, "the promised record is overdue, and the package does not show whether it was sealed")
        return "not due" if now <= until + TOLERANCE else "overdue"
    is_hidden = not package.is_understood or batches.unknown or any(not entry.is_known and entry.type not in CONSENTS for entry in entries)
    if due and not is_hidden and shows_every_consent(manifest, batches, stream):
        newest = batches.get(batches.size - 1).sealed_at
        seal, total = Delays(entries).since(batches.size - 1, created, intervals)
        margin = total - seal + TOLERANCE
        is_later = newest > until + TOLERANCE or any(stamp.time - stamp.accuracy > until + margin for stamp in due)
        require(not is_later, "the promise is broken: the ledger does not hold the record")
    package.expect(False, "the promise is not covered by this package")
    return "not covered"


def shows_every_consent(manifest, batches, stream):
    """Whether the package calls a stream complete from its beginning to the end that the cover shows."""
    ends = [run["last"] for run in manifest["complete"] if run["stream"] == stream and run["first"] == 0]
    return bool(ends) and ends[0] == batches.last_of(stream)


# ---- all together ---------------------------------------------------------------------------------------------


def named_record(entries, record):
    event_id = re.sub(r"^ct_(.{8})(.{4})(.{4})(.{4})(.{12})$", r"\1-\2-\3-\4-\5", record.lower())
    for entry in entries:
        if entry.id == event_id:
            return entry
    raise Refused(f"the package contains no record {record}")


def needed_for(record, entries):
    """The entries that one record depends on: notices, policies, erasures that name it, and what may be one (§17)."""
    def is_needed(entry):
        if entry is record or not entry.stream.startswith("consents-") or not entry.is_read and entry.revision > record.revision:
            return True
        return entry.is_read and entry.type not in CONSENTS and (entry.type != ERASED or names(entry, record))

    return [entry for entry in entries if is_needed(entry)]


def names(entry, record):
    return isinstance(entry.record, dict) and entry.record.get("erased_event_id") == record.id


def confirm(package, record, given):
    """All steps, in order. `record` is None for all entries. Returns what to print in the end."""
    manifest = check_files(package)
    print(f"1. {len(manifest['files'])} files are those of the manifest")
    every = read_entries(package)
    notes = read_notes(package)
    tied, root = check_ledger(package, manifest, notes)
    batches = Batches(package, manifest, root) if root else None
    chosen = named_record(every, record) if record else None
    entries = needed_for(chosen, every) if chosen else every
    for entry in entries:
        check_form(package, manifest, entry)
        if batches:
            check_place(package, batches, entry)
    check_chain(every)
    if batches:
        check_forms(package, batches, every, entries)
    keys = Keys(package, read_keys(given.ledger_key), every, manifest["origin"], notes)
    for size in keys.sizes:
        keys.check(size)
    check_manifest_signature(package, manifest, keys)
    print("2. the manifest is signed by a key that the ledger certifies")
    if "export" in manifest:
        print("   made, as the package states: " + ascii(", ".join(f"{name} {value}" for name, value in sorted(manifest["export"].items()))))
    if not batches:
        return confirm_unstamped(package, manifest, every)
    witnesses = [key for path in given.witness_key for key in read_keys(path, (COSIGNATURE,))]
    check_witnesses(package, manifest["checkpoint"], witnesses, given.at)
    print(f"3. {len(batches.all)} batches are in the ledger {manifest['origin']!a}, checkpoint {batches.size}, root {root.hex()}")
    check_policy_counts(package, batches, entries)
    check_erasures(entries, {(entry.stream, entry.revision): entry for entry in entries})
    attachments = check_values(package, manifest, entries)
    if chosen:
        print(f"4. the record is {chosen}, leaf {chosen.leaf.hex()}, in batch {chosen.batch} at index {chosen.index}")
        print(f"5. its run and its tag are in {len(holders_of(chosen.batch, batches.size))} batches and roll-ups")
    else:
        print(f"4. {len(entries)} entries are in their batches, with the values disclosed")
        if package.is_understood:
            check_nothing_missing(package, manifest, batches, entries, attachments)
            print("5. nothing is missing up to that checkpoint")
    stamps, intervals = check_times(package, manifest, batches, tied, entries, given)
    shown = print_stamps(manifest, stamps, chosen)
    Delays(entries).print_operator(chosen.batch if chosen else max([0, *(entry.batch for entry in entries)]), shown)
    notices = Notices(package, every if not chosen else entries, not any(is_in_cover(number, batches.size) for number in batches.unknown))
    for entry in entries:
        if entry.type in CONSENTS and entry.is_known:
            notices.check(entry)
    print(f"{8 if chosen else 7}. the texts and configurations were published, and in force at the time")
    for path in given.promise:
        with open(path, "rb") as file:
            promise = parse(file.read())
        promise = promise.get("data", promise)
        promise = package.shapes.check(promise.get("promise", promise), "promise")
        outcome = hold_promise(package, manifest, batches, entries, stamps, intervals, promise, keys, given.at)
        print(f"{9 if chosen else 8}. the promise in {os.path.basename(path)} is {outcome}")
    package.reserve(not manifest["development"], "a development authority stamped this ledger: this is not evidence")
    return {"record": chosen.record, "disclosed": chosen.values} if chosen else {"entries": len(entries)}


def confirm_unstamped(package, manifest, entries):
    """§6, §7: nothing of a package without a checkpoint is in a ledger. What is left is the form of its entries."""
    check_erasures(entries, {(entry.stream, entry.revision): entry for entry in entries})
    check_values(package, manifest, entries)
    check_counts(package, manifest, entries)
    return {"entries": len(entries)}


@checking("completeness.policies")
def check_policy_counts(package, batches, entries):
    """§6, completeness.policies: each header counts the policies up to it, and the last one counts all of them."""
    places = sorted(entry.batch for entry in entries if entry.stream == "policy")
    for number, batch in batches.all.items():
        included = bisect.bisect(places, number)
        require(batch.header["policies"] == included, f"batch {number} counts other policies than the package contains")
    last = batches.size - 1
    package.expect(last not in batches.unknown, f"this script does not know the version of batch {last}, which counts the policies")
    require(last in batches.all or last in batches.unknown, f"the package does not include batch {last}, which counts the policies")


@checking("manifest.files")
def check_files_needed(package, manifest, batches, entries):
    """§3, manifest.files: entries need every notice, and every file of proofs and tags."""
    named, unknown = set(), False
    for entry in entries:
        record = entry.record if isinstance(entry.record, dict) else {}
        unknown = unknown or not entry.is_known and entry.stream.startswith("notices-")
        named.update(record.get(name) for name in ("document_hash", "site_config_hash", "content_sha256") if entry.type in (*CONSENTS, PUBLISHED))
        if entry.type == CONFIGURED:
            named.add(record_hash(entry))
    held = {entry.batch for entry in entries}
    tagged = {number for entry in entries if entry.tag or not entry.is_read for number in holders_of(entry.batch, batches.size)}
    if not package.is_receipt and not is_whole(manifest):
        tagged.update(number for number in batches.all if is_in_cover(number, batches.size))
        tagged.update(number for number in batches.unknown if is_in_cover(number, batches.size))
    for name in package.names:
        kind, _, rest = name.partition("/")
        need = {"notices": rest in named, "proofs": rest[:-7].isdigit() and int(rest[:-7]) in held, "tags": rest[:-7].isdigit() and int(rest[:-7]) in tagged}
        if kind == "notices" and unknown:
            package.expect(need[kind], f"an unknown notice may need {name}")
        else:
            require(need.get(kind, True), f"no entry needs {name}")


def check_nothing_missing(package, manifest, batches, entries, attachments):
    """With --all: what the manifest states about the package as a whole."""
    check_counts(package, manifest, entries)
    spare = {name for name in package.names if name.startswith("attachments/")} - attachments
    may_name = any(not entry.is_known and entry.disclosures for entry in entries)
    require(not spare or may_name, "an attachment is enclosed that no disclosure names", "manifest.files")
    check_files_needed(package, manifest, batches, entries)
    if package.is_receipt:
        require(manifest["filter"]["event_ids"] and len(manifest["filter"]["event_ids"]) == 1 and not manifest["complete"], "a receipt is of one record", "manifest.format")
    else:
        check_streams(package, manifest, batches, entries)
    check_no_erasure_omitted(package, manifest, batches, entries)
    check_person(package, manifest, batches, entries)
    check_requested(package, manifest, entries)


def check_times(package, manifest, batches, tied, entries, given):
    """§9. Returns the valid time stamps, and the intervals of batches."""
    with open(given.tsa_ca, "rb") as file:
        stamps = check_stamps(package, batches, tied, file.read(), given.at)
    check_stamp_order(stamps)
    if package.is_understood:
        check_state(package, manifest, stamps, given.at, given.max_age)
    delays, held = Delays(entries), {entry.batch for entry in entries}
    check_witness_number(package, batches, delays, given)
    intervals = Intervals(package, batches, stamps, delays, held)
    check_batch_times(package, batches, intervals, delays, held)
    check_claimed_times(package, batches, intervals, delays, entries)
    return stamps, intervals


def check_witness_number(package, batches, delays, given):
    """§7.1: each witness that you give must have cosigned; their number is at least that of the policy."""
    policy = delays.policy(batches.size - 1)
    enough = not given.witness_key or policy is None or len(given.witness_key) >= policy["witnesses_required"]
    package.expect(enough, "the policy of the ledger demands the cosignatures of more witnesses than you gave")


def print_stamps(manifest, stamps, chosen):
    """Prints the times by which the record or the package existed. Returns the stamps that say so."""
    sizes = sorted({stamp.size for stamp in stamps if not chosen or stamp.size > chosen.batch})
    size = sizes[0] if chosen and sizes else manifest["checkpoint"]
    if chosen:
        print(f"6. checkpoint {size} held it already, and nothing was rewritten since")
    shown = sorted((stamp for stamp in stamps if stamp.size == size), key=lambda stamp: stamp.time)
    for stamp in shown:
        what = "it" if chosen else "all of it"
        print(f"{7 if chosen else 6}. {what} existed by {time_text(stamp.time)}, says a time-stamp authority")
    return shown


def verify(path, record, given):
    """Prints what a file shows. Returns the exit code."""
    try:
        package = Package(path, given.shapes)
        shown = confirm(package, record, given)
    except NoPackage as problem:
        print(f"NO VERDICT: {ascii(str(problem))}")
        return 2
    except Undecided as problem:
        print(f"OPEN: {ascii(str(problem))}")
        return 3
    except BROKEN as problem:
        check = f"{problem.check}: " if isinstance(problem, Refused) and problem.check else ""
        print(f"NOT CONFIRMED: {check}{ascii(str(problem))}")
        return 1
    for reservation in package.reservations:
        print(f"RESERVATION: {reservation}")
    for problem in package.left_open:
        print(f"OPEN: {ascii(problem)}")
    if package.left_open:
        return 3
    print("CONFIRMED")
    print("not checked: " + ", ".join(NOT_CHECKED))
    print(json.dumps(shown, indent=2))
    return 0


def schema_path():
    """The path of evidence.schema.json: beside this script, or where the build of consent-verify writes it."""
    places = [os.path.join(HERE, "evidence.schema.json"), os.path.join(HERE, "..", "dist", "evidence.schema.json")]
    return next((place for place in places if os.path.exists(place)), places[0])


def main():
    parser = argparse.ArgumentParser(description="Verifies evidence packages, or one record of a package.")
    parser.add_argument("files", nargs="+", metavar="FILE", help="a package or receipt, then a record; with --all, any number of packages or receipts")
    parser.add_argument("--all", action="store_true", help="confirm every entry, and that nothing is missing")
    parser.add_argument("--ledger-key", required=True, help="file with the ledger's public key, from its operator")
    parser.add_argument("--tsa-ca", required=True, help="root certificates of time-stamp authorities that you trust, in PEM")
    parser.add_argument("--witness-key", action="append", default=[], help="file with the key of a witness that must have cosigned")
    parser.add_argument("--promise", action="append", default=[], help="file with a promise that the package must keep")
    parser.add_argument("--at", type=time_of_option, default=int(time.time() * 1000), help="time of verification, as in 2026-01-31T12:00:00Z; default: now")
    parser.add_argument("--max-age", type=hours_of_option, help="largest age of the package, in hours")
    parser.add_argument("--schema", default=schema_path(), help="evidence.schema.json, published with consent-verify")
    given = parser.parse_args()
    if not given.all and len(given.files) != 2:
        parser.error("give a package and a record, or --all")
    for path in [*(given.files if given.all else given.files[:1]), given.tsa_ca, given.schema, *given.promise]:
        if not os.path.isfile(path):
            parser.error(f"there is no file {path!a}")
    for path, kinds in [(given.ledger_key, (ED25519, ML_DSA)), *((path, (COSIGNATURE,)) for path in given.witness_key)]:
        try:
            read_keys(path, kinds)
        except BROKEN as problem:
            parser.error(f"{path!a} has no key: {problem}")
    given.shapes = Shapes(given.schema)
    if not given.all:
        return verify(given.files[0], given.files[1], given)
    codes = []
    for path in given.files:
        if len(given.files) > 1:
            print(f"\n== {path}")
        codes.append(verify(path, None, given))
    return 1 if 1 in codes else max(codes)


if __name__ == "__main__":
    sys.exit(main())

import { isUnfiltered, type Manifest } from '../../../schemas/evidence/manifest.js';
import { PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import { counted } from '../../../schemas/text/counted.js';
import type { EnclosedCheckpoint } from './checkpoints-files.js';
import type { PathStep, WorkedExample } from './readme-example.js';

/** What a package's README speaks of. */
export interface ReadmeOptions {
  readonly manifest: Omit<Manifest, 'files'>;
  /** The newest one enclosed; null if nothing was stamped. */
  readonly checkpoint: EnclosedCheckpoint | null;
  readonly example: WorkedExample | null;
}

/**
 * The text of README.txt: what the package is, how to check it by hand, what it does not prove. Lines that are indented by four spaces are commands, to be
 * run in order in one shell.
 */
export function packageReadme(options: ReadmeOptions): string {
  const parts = [
    title(options),
    contents(options),
    checking(),
    checkingFiles(),
    ...(options.checkpoint === null ? [] : [checkingSignature(options.checkpoint), checkingStamp(options.checkpoint)]),
    ...(options.checkpoint === null || options.example === null
      ? []
      : [checkingRecord(options.example, options.checkpoint)]),
    notProved(options),
  ];
  return `${parts.join('\n\n')}\n`;
}

function title({ manifest, checkpoint }: ReadmeOptions): string {
  const warning = manifest.development
    ? `
*** DEVELOPMENT: a time-stamp authority for development stamped this ledger. ***
*** Anyone can run one and set its clock: this package is NOT EVIDENCE.      ***
`
    : '';
  const stamped =
    checkpoint === null
      ? 'Nothing of the ledger was time-stamped yet when it was made: it proves no time.'
      : `It is as of checkpoint ${checkpoint.size} of the ledger, time-stamped at ${checkpoint.genTime.toISOString()}
by ${printable(checkpoint.authority)}.`;
  return `EVIDENCE PACKAGE OF CONSENT RECORDS
===================================
${warning}
Ledger: ${printable(manifest.origin)}
Site:   ${manifest.filter.site_id}
Made:   ${manifest.exported_at} by ${printable(manifest.exported_by)}

${stamped}`;
}

function contents({ manifest }: ReadmeOptions): string {
  const { counts, complete } = manifest;
  const runs = complete.map(({ stream, first, last }) => `  ${stream}: revisions ${first} to ${last}`);
  return `WHAT IS IN IT
-------------
${counted(counts.entries, 'entry', 'entries')}, consents among them: ${counts.consents}. Erased, of these: ${counts.erased}; their personal values are destroyed,
the records and their proofs are not. ${counted(counts.attachments, 'attachment')}. Asked for, but not stamped yet, and so not in here:
${counted(counts.not_yet_stamped, 'consent')}.

${runs.length === 0 ? 'It claims of no stream to be complete.' : `Nothing is missing within:\n${runs.join('\n')}`}

  ${PACKAGE_FILES.entries}      one event a line: its exact text, its place, and the values that are disclosed
  ${PACKAGE_FILES.batches}      the batches that hold them, and their places in the ledger
  proofs/             how the entries lead to their batches' roots
  checkpoints/        the ledger at several sizes: notes signed by its key, and RFC 3161 time-stamps over them
  notices/            the texts consented to and the site's configurations, named by their SHA-256
  attachments/        disclosed contents such as drawn signatures, named by their SHA-256
  ${PACKAGE_FILES.manifest}       what was exported, and the SHA-256 of every file but attachments; signed in ${PACKAGE_FILES.manifestSignature}`;
}

function checking(): string {
  return `HOW TO CHECK IT
---------------
The program consent-verify checks everything, offline:

  consent-verify check PACKAGE.zip --tsa-ca ROOT.pem --ledger-key LEDGER-KEY

ROOT.pem is the root certificate of the time-stamp authority, from the authority itself; LEDGER-KEY is the ledger's public key, from its
operator. Never take either from the package: a forger would have put his own there.

What follows needs only unzip, bash, sed, sha256sum, base64, od and openssl (3.0 or later). Unpack the package, go to the folder that README.txt is in,
and name these two files:  ROOT=/path/to/ROOT.pem  LEDGER_KEY=/path/to/LEDGER-KEY

What the commands write goes to a folder of its own:

    T=$(mktemp -d)`;
}

function checkingFiles(): string {
  return `1. The files are those that the manifest lists (every line must end in OK):

    sed -n 's/^    "\\(.*\\)": "\\([0-9a-f]\\{64\\}\\)",\\{0,1\\}$/\\2  \\1/p' ${PACKAGE_FILES.manifest} | sha256sum -c

Texts and attachments bear their own SHA-256 as names:

    for file in notices/* attachments/*; do if [ -f "$file" ]; then echo "\${file##*/}  $file"; fi; done | sha256sum -c`;
}

function checkingSignature({ size }: EnclosedCheckpoint): string {
  return `2. The ledger's key has signed the ledger as it was at size ${size}. A note is its text, an empty line, and signatures, each of the key's id (4 bytes)
and an Ed25519 signature (64 bytes); a key stands in its file as NAME+ID+KEY, KEY being a byte 1 and the key itself:

    signed() {
      local rest="\${1#*+}" dash name signature
      { printf '\\060\\052\\060\\005\\006\\003\\053\\145\\160\\003\\041\\000'; printf '%s' "\${rest#*+}" | base64 -d | tail -c 32; } > "$T/key.der"
      sed '/^$/,$d' "$2" > "$T/signed.txt"
      while read -r dash name signature; do
        printf '%s' "$signature" | base64 -d > "$T/signature" || continue
        tail -c 64 "$T/signature" > "$T/ed25519"
        [ "$name+$(head -c 4 "$T/signature" | od -An -v -tx1 | tr -d ' \\n')" = "\${1%%+*}+\${rest%%+*}" ] || continue
        openssl pkeyutl -verify -pubin -keyform DER -inkey "$T/key.der" -rawin -in "$T/signed.txt" -sigfile "$T/ed25519"
        return
      done < <(sed '1,/^$/d' "$2")
      echo "$2 bears no signature by this key"
      return 1
    }

If the ledger has changed its key since (${PACKAGE_FILES.bridges}), the old key and the new one have both signed the checkpoint that names the new one:

    key=$(grep -m 1 '^[^+ ]*+[0-9a-f]*+' "$LEDGER_KEY")
    for size in $(sed -n 's/.*"size":\\([0-9]*\\).*/\\1/p' ${PACKAGE_FILES.bridges} 2>/dev/null); do
      next=$(sed -n '/^$/q; s/^next-key //p' "checkpoints/$size.note")
      if signed "$key" "checkpoints/$size.note" && signed "$next" "checkpoints/$size.note"; then key=$next; fi
    done
    signed "$key" ${PACKAGE_FILES.note(size)} && echo "the ledger's key has signed checkpoint ${size}"

Its first lines are the ledger's name, the number of its batches, and its root:

    head -n 3 ${PACKAGE_FILES.note(size)}`;
}

function checkingStamp({ size }: EnclosedCheckpoint): string {
  return `3. An independent authority has stamped that checkpoint, at the time that the last command prints:

    openssl ts -verify -data ${PACKAGE_FILES.note(size)} -in ${PACKAGE_FILES.response(size)} -CAfile "$ROOT"
    openssl ts -reply -in ${PACKAGE_FILES.response(size)} -text | grep 'Time stamp:'

(Once the authority's certificate has expired, add -attime with that time in seconds since 1970.) The other checkpoints are checked in the
same way; the smallest one above a batch's number says by when its records existed.`;
}

function checkingRecord(example: WorkedExample, { size }: EnclosedCheckpoint): string {
  return `4. A record is in that ledger. As an example, line ${example.entryLine} of ${PACKAGE_FILES.entries}: batch ${example.batch}, index ${example.index}.

The hash of a leaf is SHA-256 of a zero byte and its text; that of a node, of a byte 1 and the two hashes below it (RFC 9162):

    leaf() { { printf '\\000'; cat; } | sha256sum | cut -c1-64; }
    node() { printf '%b' "\\0001$(printf '%s' "$1$2" | sed 's/../\\\\x&/g')" | sha256sum | cut -c1-64; }

The record's text, and its leaf hash, which must be ${example.leaf}:

    sed -n '${example.entryLine}p' ${PACKAGE_FILES.entries} | sed 's/^{"entry":"//; s/","batch":.*$//; s/\\\\\\(["\\\\]\\)/\\1/g' | tr -d '\\n' > "$T/entry.json"
    hash=$(leaf < "$T/entry.json"); echo "$hash"
    [ "$hash" = ${example.leaf} ]

Up its path (from proofs/${example.batch}.ndjson, or computed from the leaves there) to the root of the batch, which the batch's header names:

${walk(example.batchPath)}
    sed -n '${example.batchLine}p' ${PACKAGE_FILES.batches} | sed 's/^{"header":"//; s/","path":.*$//; s/\\\\\\(["\\\\]\\)/\\1/g' | tr -d '\\n' > "$T/header.json"
    grep -q "\\"root\\":\\"$hash\\"" "$T/header.json" && echo 'the record is in the batch'

From the header up to the root of the ledger, which the stamped checkpoint names in its third line:

    hash=$(leaf < "$T/header.json")
${walk(example.ledgerPath)}
    [ "$hash" = "$(sed -n 3p ${PACKAGE_FILES.note(size)} | base64 -d | od -An -v -tx1 | tr -d ' \\n')" ] && echo 'the batch is in the stamped ledger'

5. A disclosed value belongs to its record: the digest of its string is in the record's "_sd".

  printf '%s' DISCLOSURE | openssl dgst -sha256 -binary | base64 | tr '+/' '-_' | tr -d '='

The string itself is base64url of JSON: random salt, name, value.`;
}

function walk(path: readonly PathStep[]): string {
  if (path.length === 0) return '    # it is the only leaf: its hash is the root';
  return path
    .map(({ sibling, side }) =>
      side === 'left' ? `    hash=$(node ${sibling} "$hash")` : `    hash=$(node "$hash" ${sibling})`,
    )
    .join('\n');
}

function notProved({ manifest }: ReadmeOptions): string {
  const isWhole =
    isUnfiltered(manifest.filter) &&
    manifest.complete.some(({ stream, first }) => stream.startsWith('consents-') && first === 0);
  return `WHAT IT DOES NOT PROVE
----------------------
- That what a record says is true: the service recorded what it was told. "channel" and "identity_assurance" say by whom.
- The exact moment of a consent: "created_at" is the service's claim. The stamps prove by when a record existed, not since when.
- That every consent was recorded: nobody can see what never entered the log.${
    isWhole
      ? ' Nothing later than the runs above is in here.'
      : '\n- That there are no other records: outside the complete runs above, records may have been left out, a later withdrawal among them.'
  }
- Whose ledger it is, unless you have its key from its operator; and that no second history is shown to others.
- What an erased or withheld value was.${manifest.development ? '\n- Any time at all: a DEVELOPMENT authority stamped it.' : ''}`;
}

/** What others chose must not move the text about. */
function printable(text: string): string {
  return text.replaceAll(/[^\p{L}\p{N}\p{P}\p{S} ]/gu, '?');
}

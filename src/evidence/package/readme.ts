import { toHex } from '../../../schemas/crypto/encoding.js';
import { entryLeaf } from '../../../schemas/evidence/entry.js';
import { isUnfiltered, type Manifest } from '../../../schemas/evidence/manifest.js';
import { PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import { inclusionRanges } from '../../../schemas/merkle/proofs.js';
import { counted } from '../../../schemas/text/counted.js';
import type { Queryable } from '../../platform/database/pool.js';
import type { EnclosedCheckpoint } from './checkpoints-files.js';
import type { ExampleEntry } from './entries-file.js';
import { readBatchLeaves, readProofs } from './ledger-reader.js';
import { MemoryTree, pathOf } from './proofs-files.js';
import { controllerLines, printable, type ReadmeSite, type ReleasedVerifier, verifierPage } from './readme-facts.js';

/** The data that a package's README shows. */
export interface ReadmeOptions {
  readonly manifest: Omit<Manifest, 'files'>;
  /** The newest enclosed checkpoint, or null if nothing was stamped. */
  readonly checkpoint: EnclosedCheckpoint | null;
  readonly example: WorkedExample | null;
  /** Null if the package has no configuration of the site. */
  readonly site: ReadmeSite | null;
  /** The verifier that the service was released with, or null if the service does not know it. */
  readonly verifier: ReleasedVerifier | null;
}

/** A step of an audit path: the sibling's hash in hex, and its side. */
interface PathStep {
  readonly sibling: string;
  readonly side: 'left' | 'right';
}

/** The data for checking one record by hand, from its text to the stamped checkpoint. */
interface WorkedExample {
  /** Line number in `entries.ndjson`, counted from 1. */
  readonly entryLine: number;
  /** Leaf hash, in hex. */
  readonly leaf: string;
  readonly batch: number;
  readonly index: number;
  readonly batchPath: readonly PathStep[];
  /** Line number in `batches.ndjson`, from 1. */
  readonly batchLine: number;
  readonly ledgerPath: readonly PathStep[];
}

/**
 * Computes the example of the README.
 * @param batches numbers of the enclosed batches, sorted
 * @param size size of the package's checkpoint
 */
export async function workedExample(
  db: Queryable,
  example: ExampleEntry,
  batches: readonly number[],
  size: number,
): Promise<WorkedExample> {
  const leaves = (await readBatchLeaves(db, example.batch)).map(({ hash }) => hash);
  const batchPath = pathOf(new MemoryTree(leaves), example.index, leaves.length).map(toHex);
  const [ledgerPath = []] = await readProofs(db, [inclusionRanges(example.batch, size)]);
  return {
    entryLine: example.line,
    leaf: toHex(entryLeaf(example.text)),
    batch: example.batch,
    index: example.index,
    batchPath: withSides(batchPath, example.index, leaves.length),
    batchLine: batches.indexOf(example.batch) + 1,
    ledgerPath: withSides(ledgerPath, example.batch, size),
  };
}

/** Adds its side to each sibling. */
function withSides(path: readonly string[], index: number, size: number): readonly PathStep[] {
  const ranges = inclusionRanges(index, size);
  return path.map((sibling, i) => ({ sibling, side: (ranges[i]?.start ?? 0) > index ? 'right' : 'left' }));
}

/**
 * Returns the Turkish part of README.txt: what the package is, what else is needed to check it and who provides it, how
 * to check it with the verifier, and what it does not prove. For checks by hand it refers to the commands of the
 * English part.
 */
function turkishReadme(options: ReadmeOptions): string {
  const { manifest, checkpoint, site, verifier } = options;
  const { counts } = manifest;
  const authorities = checkpoint?.stamps.map(({ authority }) => printable(authority)).join(', ') ?? null;
  const page = verifierPage(verifier);
  return `TÜRKÇE
======
Bu dosya tek başına hiçbir şey kanıtlamaz. Denetlemek için şunlar da gerekir:
- defterin açık anahtarı: “${printable(manifest.origin)}” defterinin işletmecisinden isteyin;
- zaman damgası makamının kök sertifikası${authorities === null ? '' : ` (${authorities})`}: makamın kendisinden alın.
İkisini de asla bu paketten almayın: sahtesini yapan, kendi anahtarını ve kökünü koyardı.
${
  manifest.development
    ? `
*** GELİŞTİRME: bu defterin zaman damgalarını bir geliştirme makamı verdi. Bu paket KANIT DEĞİLDİR. ***
`
    : ''
}
${controllerLines(site, { domain: 'Site', controller: 'Veri sorumlusu', contact: 'İletişim' })}Defter:         ${printable(manifest.origin)}
Hazırlanma:     ${manifest.exported_at}
İçindekiler:    ${counts.entries} girdi, bunların ${counts.consents} tanesi rıza; silinmiş rıza: ${counts.erased};${counts.key_lost === 0 ? '' : ` anahtarı kaybolmuş rıza: ${counts.key_lost};`} ek: ${counts.attachments}
Damgalanma:     ${
    checkpoint === null
      ? 'bu paket hazırlandığında defterin henüz zaman damgası yoktu: paket hiçbir zamanı kanıtlamaz'
      : `${checkpoint.stamps.map(({ genTime }) => genTime.toISOString()).join(', ')} (denetim noktası ${checkpoint.size})`
  }

NASIL DENETLENİR
1. Doğrulayıcıyı edinin: ${page === null ? 'defterin işletmecisi /verify adresinde sunar' : page}.
   Dosya olarak consent-verify.html${
     verifier === null
       ? '.'
       : `; bu hizmetle yayımlanan sürümün (${verifier.version}) SHA-256 özeti:
   ${verifier.pageSha256}`
   }
2. Ağ kapalıyken sayfayı açın; paketi, kök sertifikayı ve defterin anahtarını sayfaya bırakın.
   Komut satırında: consent-verify check PAKET.zip --tsa-ca KÖK.pem --ledger-key ANAHTAR --language tr
3. Elle denetlemek için yukarıdaki İngilizce bölümün komutlarını sırayla çalıştırın.

BU PAKETİN KANITLAMADIKLARI
- Bir kaydın içeriğinin doğru olduğunu: hizmet, kendisine bildirileni kaydetti.
- Bir rızanın tam zamanını: “created_at” hizmetin beyanıdır. Zaman damgaları bir kaydın en geç ne zaman
  var olduğunu kanıtlar.
- Her rızanın kaydedildiğini veya başka kayıt olmadığını: eksiksiz olduğu belirtilen aralıkların dışında
  kayıtlar, örneğin sonraki bir geri alma, eksik olabilir.
- Anahtarı işletmecisinden alınmadıkça defteri kimin işlettiğini; işletmecinin başkalarına ikinci bir
  geçmiş göstermediğini.
- Silinmiş veya gösterilmeyen bir değerin içeriğini.`;
}

/**
 * The text of README.txt for two readers: half a page says to a lawyer what the package is, how to check it in a browser
 * and what it does not prove; then an engineer reads of its files, and of checks by hand. Lines indented by four spaces
 * are commands to run in order in one shell.
 */
export function packageReadme(options: ReadmeOptions): string {
  const parts = [
    title(options),
    holding(options),
    checkingInBrowser(options),
    notProved(options),
    contents(options),
    checking(options),
    checkingFiles(),
    ...(options.checkpoint === null ? [] : [checkingSignature(options.checkpoint), checkingStamp(options.checkpoint)]),
    ...(options.checkpoint === null || options.example === null
      ? []
      : [checkingRecord(options.example, options.checkpoint)]),
    turkishReadme(options),
  ];
  return `${parts.join('\n\n')}\n`;
}

function title({ manifest, checkpoint, site }: ReadmeOptions): string {
  const warning = manifest.development
    ? `
*** DEVELOPMENT: a development authority issued the time stamps of this ledger. ***
*** Anyone can run one and set its clock: this package is NOT EVIDENCE.         ***
`
    : '';
  const authorities = checkpoint?.stamps.map(({ authority }) => printable(authority)).join(', ') ?? null;
  return `EVIDENCE PACKAGE OF CONSENT RECORDS
===================================
This file alone proves nothing. To check it, you also need:
- the public key of the ledger: ask the operator of the ledger “${printable(manifest.origin)}”;
- the root certificate of the time stamp authority${authorities === null ? '' : ` (${authorities})`}: ask that authority.
Türkçe açıklama bu dosyanın sonundadır.
${warning}
${controllerLines(site, { domain: 'Site', controller: 'Controller', contact: 'Contact' })}Ledger:         ${printable(manifest.origin)}
Made:           ${manifest.exported_at} by ${printable(manifest.exported_by)}`;
}

/** What is in the package, for a reader who knows nothing of ledgers. */
function holding({ manifest, checkpoint }: ReadmeOptions): string {
  const { counts } = manifest;
  const stamped =
    checkpoint === null
      ? 'The ledger had no time stamp yet when this package was made: it proves no time.'
      : `It shows them as they stood when the ledger was stamped, on
${checkpoint.stamps.map(({ genTime, authority }) => `${genTime.toISOString()} by ${printable(authority)}`).join(',\n')}.`;
  return `WHAT IT HOLDS
-------------
${counted(counts.consents, 'consent')}: what was decided, in which words, and by when that was recorded.
${stamped}
Erased consents: ${counts.erased}. Their personal values are destroyed, and what was decided is kept.
Consents that were requested but have no time stamp yet, and are not in this package: ${counts.not_yet_stamped}.${lostKeys(counts.key_lost)}`;
}

function checkingInBrowser({ verifier }: ReadmeOptions): string {
  const page = verifierPage(verifier);
  const where = page === null ? 'the page /verify of the operator of the ledger' : page;
  return `HOW TO CHECK IT
---------------
1) Open ${where}.
   It offers itself as a file, which works with the network off.
2) Drop this package, the key and the root certificate on the page.
3) It says whether a record was changed, shows each consent, and prints a certificate of it.
Never take the key or the root from the package: a forger would enclose their own.`;
}

function contents({ manifest, checkpoint }: ReadmeOptions): string {
  const { counts, complete } = manifest;
  const runs = complete.map(({ stream, first, last }) => `  ${stream}: revisions ${first} to ${last}`);
  const shown = checkpoint === null ? 'none' : `${checkpoint.size}, the newest that is stamped`;
  return `FOR THE ENGINEER: CONTENTS
==========================
Site id:        ${manifest.filter.site_id}
Checkpoint:     ${shown}
Operator:       the holder of the key of the ledger
Entries:        ${counts.entries}, of which ${counted(counts.consents, 'consent')}; attachments: ${counts.attachments}

${runs.length === 0 ? 'The package claims completeness for no stream.' : `The package is complete within:\n${runs.join('\n')}`}

  ${PACKAGE_FILES.entries}      one event a line: its exact text, its position, and its disclosed values
  ${PACKAGE_FILES.batches}      the Merkle batches that contain them, and their positions in the ledger
  proofs/             paths from the entries to the roots of their Merkle batches
  checkpoints/        the ledger at several sizes: notes signed by its key, and their RFC 3161 time stamps
  notices/            the texts consented to and the configurations of the site, named by their SHA-256
  attachments/        disclosed contents such as drawn signatures, named by their SHA-256
  ${PACKAGE_FILES.manifest}       the filter of the export, and the SHA-256 of every file but attachments; signed in ${PACKAGE_FILES.manifestSignature}`;
}

/** Describes the gap that the restore of an older database left. Empty if there is none. */
function lostKeys(records: number): string {
  if (records === 0) return '';
  return `
The service lost the keys of ${counted(records, 'consent')} that ${records === 1 ? 'is' : 'are'} not erased. Their personal values cannot
be read any more ("key_lost" in ${PACKAGE_FILES.entries}). Their records and proofs are kept.`;
}

function checking({ verifier }: ReadmeOptions): string {
  const page = verifierPage(verifier);
  const where =
    page === null
      ? 'The operator of the ledger serves it at /verify, and as a file at /verify/consent-verify.html.'
      : `The service that made this package serves it at
  ${page}
and as a file, which works from disk without a network, at
  ${page}/consent-verify.html`;
  const digest =
    verifier === null
      ? ''
      : `
The service was released with version ${verifier.version} (npm package ${verifier.name}), whose file has the SHA-256
  ${verifier.pageSha256}
A forger could state another one here: compare it with the release, or use a copy from elsewhere.
`;
  const key =
    verifier?.publicUrl == null ? '/checkpoints/ledger.vkey' : `${verifier.publicUrl}/checkpoints/ledger.vkey`;
  return `FOR THE ENGINEER: HOW TO CHECK IT
=================================
The program consent-verify checks everything, offline. ${where}
${digest}
On the command line:

  consent-verify check PACKAGE.zip --tsa-ca ROOT.pem --ledger-key LEDGER-KEY

ROOT.pem is the root certificate of a time stamp authority: obtain it from the authority. Give one
--tsa-ca for each authority.
LEDGER-KEY is the public key of the ledger: obtain it from the operator. The service publishes it at
${key}, for comparison. Never take either from the
package: a forger would enclose a root and a key of their own.

The following checks by hand need only unzip, bash, sed, sha256sum, base64, od and openssl (3.0 or
later). Unpack the package, go to the folder of this README.txt, and set two variables:
ROOT=/path/to/ROOT.pem  LEDGER_KEY=/path/to/LEDGER-KEY

The commands write their files to a temporary folder:

    T=$(mktemp -d)`;
}

function checkingFiles(): string {
  return `1. The manifest lists these files (every line must end in OK):

    sed -n 's/^    "\\(.*\\)": "\\([0-9a-f]\\{64\\}\\)",\\{0,1\\}$/\\2  \\1/p' ${PACKAGE_FILES.manifest} | sha256sum -c

The names of texts and attachments are their own SHA-256:

    for file in notices/* attachments/*; do if [ -f "$file" ]; then echo "\${file##*/}  $file"; fi; done | sha256sum -c`;
}

function checkingSignature({ size }: EnclosedCheckpoint): string {
  return `2. The ledger key signed the ledger at size ${size}. A note consists of its text, an empty line, and
signatures. Each signature consists of the id of the key (4 bytes) and an Ed25519 signature (64
bytes). The file of a key contains NAME+ID+KEY, where KEY is a byte 1 followed by the key:

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

If the key of the ledger was changed since, ${PACKAGE_FILES.entries} has an entry LedgerKeyAnnounced.v1 with
the new key, and the old key and the new key both signed the first checkpoint over its batch. The
longer keys and signatures are of ML-DSA-44, which openssl knows from version 3.5 on; they are not
checked here:

    key=$(grep -m 1 '^[^+ ]*+[0-9a-f]*+' "$LEDGER_KEY")
    while read -r batch next; do
      size=$(ls checkpoints | sed -n 's/\\.note$//p' | sort -n | awk -v batch="$batch" '$1 > batch { print; exit }')
      if signed "$key" "checkpoints/$size.note" && signed "$next" "checkpoints/$size.note"; then key=$next; fi
    done < <(sed -n '/\\\\"type\\\\":\\\\"LedgerKeyAnnounced.v1\\\\"/s/.*\\\\"keys\\\\":\\[\\\\"\\([^\\\\]*\\)\\\\".*"batch":\\([0-9]*\\).*/\\2 \\1/p' ${PACKAGE_FILES.entries})
    signed "$key" ${PACKAGE_FILES.note(size)} && echo "the ledger's key has signed checkpoint ${size}"

The first lines of the note are the name of the ledger, the number of its Merkle batches, and its root:

    head -n 3 ${PACKAGE_FILES.note(size)}`;
}

function checkingStamp({ size, stamps }: EnclosedCheckpoint): string {
  const commands = stamps.map((_, index) => {
    const response = PACKAGE_FILES.response(size, index + 1);
    return `    openssl ts -verify -data ${PACKAGE_FILES.note(size)} -in ${response} -CAfile "$ROOT"
    openssl ts -reply -in ${response} -text | grep 'Time stamp:'`;
  });
  return `3. Each .tsr file is the stamp of an independent authority over that checkpoint, at the time that
the second command prints. ROOT must contain the root of that authority:

${commands.join('\n')}

If the certificate of the authority has expired, add -attime with that time in seconds since 1970.
Check the other checkpoints in the same way. The smallest checkpoint above the number of a Merkle
batch shows by when the records of the batch existed.`;
}

function checkingRecord(example: WorkedExample, { size }: EnclosedCheckpoint): string {
  return `4. A record is in that ledger. The example is line ${example.entryLine} of ${PACKAGE_FILES.entries}: Merkle batch ${example.batch}, index ${example.index}.

The hash of a leaf is the SHA-256 of a zero byte and its text. The hash of a node is the SHA-256 of a
byte 1 and the two hashes below it (RFC 9162):

    leaf() { { printf '\\000'; cat; } | sha256sum | cut -c1-64; }
    node() { printf '%b' "\\0001$(printf '%s' "$1$2" | sed 's/../\\\\x&/g')" | sha256sum | cut -c1-64; }

These commands print the text of the record and its leaf hash, which must be
${example.leaf}:

    sed -n '${example.entryLine}p' ${PACKAGE_FILES.entries} | sed 's/^{"entry":"//; s/","batch":.*$//; s/\\\\\\(["\\\\]\\)/\\1/g' | tr -d '\\n' > "$T/entry.json"
    hash=$(leaf < "$T/entry.json"); echo "$hash"
    [ "$hash" = ${example.leaf} ]

The path (from proofs/${example.batch}.ndjson, or computed from the leaves there) leads to the root of the Merkle
batch, which the header of the batch names:

${walk(example.batchPath)}
    sed -n '${example.batchLine}p' ${PACKAGE_FILES.batches} | sed 's/^{"header":"//; s/","path":.*$//; s/\\\\\\(["\\\\]\\)/\\1/g' | tr -d '\\n' > "$T/header.json"
    grep -q "\\"root\\":\\"$hash\\"" "$T/header.json" && echo 'the record is in the batch'

The next path leads from the header to the root of the ledger, which the third line of the stamped
checkpoint names:

    hash=$(leaf < "$T/header.json")
${walk(example.ledgerPath)}
    [ "$hash" = "$(sed -n 3p ${PACKAGE_FILES.note(size)} | base64 -d | od -An -v -tx1 | tr -d ' \\n')" ] && echo 'the batch is in the stamped ledger'

5. A disclosed value belongs to its record: "disclosures" of the record contains the digest of its
string, under the name of the value.

  printf '%s' DISCLOSURE | openssl dgst -sha256 -binary | base64 | tr '+/' '-_' | tr -d '='

The string is base64url of JSON: random salt, name, value.`;
}

function walk(path: readonly PathStep[]): string {
  if (path.length === 0) return '    # there is only one leaf: its hash is the root';
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
- That what a record says is true: the service recorded what it was told. The record says by whom.
- The exact time of a consent, which the service claims. The time stamps prove by when a record
  existed, not since when.
- That every consent was recorded: what never reached the ledger leaves no trace.${
    isWhole
      ? ' The package\n  contains nothing later than its newest time stamp.'
      : '\n- That there are no other records: some may be missing, for example a later withdrawal.'
  }
- Who operates the ledger, unless you have its key from its operator; and that the operator shows no
  second history to others.
- The content of an erased or withheld value.${manifest.development ? '\n- Any time: a DEVELOPMENT authority issued the time stamps.' : ''}`;
}

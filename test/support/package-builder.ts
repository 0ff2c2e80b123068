import { sha256 } from '../../schemas/crypto/digest.js';
import { toBase64url, toHex, utf8 } from '../../schemas/crypto/encoding.js';
import { isConsentType } from '../../schemas/events/sealed-event.js';
import { consentsStream, noticesStream, POLICY_STREAM, siteOfStream } from '../../schemas/events/streams.js';
import { type KeyedRun, keyedRunLeaf } from '../../schemas/evidence/batch-header.js';
import { manifestKeyText } from '../../schemas/evidence/checkpoint.js';
import type { Manifest } from '../../schemas/evidence/manifest.js';
import { PACKAGE_FILES } from '../../schemas/evidence/package-lines.js';
import { personTagLeaf } from '../../schemas/evidence/person-tag.js';
import { consistencyRanges, hashesOfRanges, inclusionRanges, type LeafRange } from '../../schemas/merkle/proofs.js';
import { ShownLeavesProof } from '../../schemas/merkle/shown-leaves.js';
import { treeRoot } from '../../schemas/merkle/tree.js';
import {
  buildLedger,
  type FixtureAuthority,
  type FixtureEntry,
  type FixtureLedger,
  type LedgerHooks,
  MANIFEST_KEY,
  ORIGIN,
} from './ledger-fixture.js';
import { minute } from './ledger-fixture-events.js';
import { signedNote, type TestSigningKey } from './signing-key.js';
import { testKeyOf, testSalt } from './stream-salts.js';
import { writeZip, type ZipFile } from './zip-writer.js';

export type Files = Map<string, Uint8Array>;
type Json = Record<string, unknown>;

/**
 * Changes to a package, from the ledger to the bytes of the ZIP. All layers above a change are
 * consistent with it.
 */
export interface PackageHooks extends LedgerHooks {
  readonly ledger?: ((ledger: FixtureLedger) => void) | undefined;
  readonly entryLines?: ((lines: Json[], ledger: FixtureLedger) => Json[] | undefined) | undefined;
  readonly batchLines?: ((lines: Json[], ledger: FixtureLedger) => Json[] | undefined) | undefined;
  readonly proofLines?: ((lines: Json[], batch: number) => Json[] | undefined) | undefined;
  readonly tagLines?: ((lines: Json[], batch: number) => Json[] | undefined) | undefined;
  readonly consistencyLines?: ((lines: Json[]) => Json[] | undefined) | undefined;
  readonly files?: ((files: Files) => void) | undefined;
  readonly manifest?: ((manifest: Manifest) => unknown) | undefined;
  readonly signatureHeader?: ((header: Json) => Json) | undefined;
  readonly certificate?: ((note: string) => string) | undefined;
  readonly manifestKey?: TestSigningKey | undefined;
  /** Changes the files after the manifest was signed. */
  readonly signedFiles?: ((files: Files) => void) | undefined;
  readonly zipFiles?: ((files: ZipFile[]) => ZipFile[] | undefined) | undefined;
  readonly zip?: ((bytes: Uint8Array) => Uint8Array) | undefined;
  /** Whether every batch shows all of its tags, and so the absence of all others. */
  readonly showsAllTags?: boolean | undefined;
  /** Form of the proofs. */
  readonly proofForm?: 'paths' | 'leaves' | undefined;
}

/** Builds a package of the fixture's site as the bytes of a ZIP. */
export function buildPackage(authority: FixtureAuthority, hooks: PackageHooks = {}): Uint8Array {
  const ledger = buildLedger(authority, hooks);
  hooks.ledger?.(ledger);
  const files = packageFiles(ledger, hooks);
  hooks.files?.(files);
  sign(files, ledger, hooks);
  hooks.signedFiles?.(files);
  const zipFiles = [...files].map(([name, content]): ZipFile => ({ name, content, deflate: content.length > 200 }));
  const zip = writeZip(hooks.zipFiles?.(zipFiles) ?? zipFiles);
  return hooks.zip?.(zip) ?? zip;
}

function packageFiles(ledger: FixtureLedger, hooks: PackageHooks): Files {
  const files: Files = new Map();
  const own = ledger.entries.filter(({ event }) => siteOfStream(event.stream) !== ledger.world.otherSiteId);
  files.set(PACKAGE_FILES.readme, utf8('An evidence package.\n'));
  for (const [size, { note, response, crl }] of ledger.checkpoints) {
    files.set(PACKAGE_FILES.note(size), note);
    files.set(PACKAGE_FILES.response(size, 1), response);
    if (crl !== null) files.set(PACKAGE_FILES.crl(toHex(sha256(crl))), crl);
  }
  const { der } = ledger.authority.tsa;
  files.set(PACKAGE_FILES.certificate(toHex(sha256(der))), der);
  files.set(PACKAGE_FILES.consistency, ndjson(hooks.consistencyLines, consistencyLines(ledger)));
  const batches = [...new Set(own.map(({ batch }) => batch))].sort((a, b) => a - b);
  // The fixture has too few batches for a roll-up: all of them cover the ledger.
  const batchLines = ledger.batches.map((_, batch) => batchLine(ledger, batch));
  files.set(
    PACKAGE_FILES.batches,
    ndjson((lines) => hooks.batchLines?.(lines, ledger), batchLines),
  );
  for (const text of ledger.world.texts) files.set(PACKAGE_FILES.notice(toHex(sha256(text))), text);
  const lines = [...own]
    .sort((a, b) => (a.stream === b.stream ? a.revision - b.revision : a.stream < b.stream ? -1 : 1))
    .map((entry) => entryLine(entry, ledger));
  files.set(
    PACKAGE_FILES.entries,
    ndjson((values) => hooks.entryLines?.(values, ledger), lines),
  );
  for (const batch of batches) {
    const proofs = proofLines(ledger, batch, own, hooks.proofForm);
    files.set(
      PACKAGE_FILES.proofs(batch),
      ndjson((values) => hooks.proofLines?.(values, batch), proofs),
    );
  }
  for (const batch of hooks.showsAllTags === true ? ledger.batches.keys() : batches) {
    const all = ledger.batches[batch]?.tags ?? [];
    const tags = hooks.showsAllTags === true ? shownTags(all, new Set(all.map(toHex))) : tagLines(ledger, batch, own);
    if (tags.length > 0)
      files.set(
        PACKAGE_FILES.tags(batch),
        ndjson((values) => hooks.tagLines?.(values, batch), tags),
      );
  }
  const erased = new Set(ledger.world.erased.map(({ consent }) => consent));
  for (const { event } of own) {
    if (erased.has(event.label)) continue;
    for (const bytes of event.attachments) files.set(PACKAGE_FILES.attachment(toHex(sha256(bytes))), bytes);
  }
  return files;
}

function entryLine({ event, text, batch, index }: FixtureEntry, ledger: FixtureLedger): Json {
  const erasure = ledger.world.erased.find(({ consent }) => consent === event.label);
  const by = erasure && ledger.entries.find((entry) => entry.event.label === erasure.by);
  const disclosures = by === undefined ? event.disclosures : [];
  return {
    entry: text,
    batch,
    index,
    disclosures,
    ...(by && { erased: { stream: by.stream, revision: by.revision } }),
  };
}

function batchLine(ledger: FixtureLedger, number: number): Json {
  const batch = ledger.batches[number];
  if (batch === undefined) throw new RangeError(`no batch ${number}`);
  const { siteId } = ledger.world;
  return {
    header: batch.text,
    path: inclusionPath(number, ledger.ledgerLeaves),
    ...shownRuns(batch.runs, [consentsStream(siteId), noticesStream(siteId), POLICY_STREAM]),
  };
}

/** The runs of these streams, the neighbours of their places, and the hashes beside them. */
export function shownRuns(
  runs: readonly KeyedRun[],
  streams: readonly string[],
): { streams: Json[]; hashes: string[] } {
  const shown = new Set<number>();
  for (const stream of streams) {
    const own = runs.findIndex((run) => run.stream === stream);
    const next = runs.filter((run) => run.key < testKeyOf(stream)).length;
    const places = own < 0 ? [next - 1, next] : [own - 1, own, own + 1];
    for (const index of places) if (runs[index] !== undefined) shown.add(index);
  }
  const proof = new ShownLeavesProof();
  for (const [index, run] of runs.entries()) proof.append(keyedRunLeaf(run), shown.has(index));
  return {
    streams: runs.flatMap((run, index): Json[] => {
      const { key, start, first, last } = run;
      return shown.has(index) ? [{ index, key, start, first, last }] : [];
    }),
    hashes: proof.hashes().map(toHex),
  };
}

function tagLines(ledger: FixtureLedger, batch: number, own: readonly FixtureEntry[]): Json[] {
  const shown = new Set(own.flatMap((entry) => (entry.batch === batch ? (entry.tag ?? []) : [])));
  return shownTags(ledger.batches[batch]?.tags ?? [], shown);
}

/** The lines of a tag file. @param shown tags in hex */
export function shownTags(tags: readonly Uint8Array[], shown: ReadonlySet<string>): Json[] {
  if (shown.size === 0) return [];
  const proof = new ShownLeavesProof();
  for (const tag of tags) proof.append(personTagLeaf(tag), shown.has(toHex(tag)));
  const lines = tags.map((tag, index) => ({ index, tag: toHex(tag) })).filter(({ tag }) => shown.has(tag));
  return [...lines, ...proof.hashes().map((hash) => ({ hash: toHex(hash) }))];
}

function proofLines(
  ledger: FixtureLedger,
  batch: number,
  own: readonly FixtureEntry[],
  form: PackageHooks['proofForm'],
): Json[] {
  const leaves = ledger.batches[batch]?.leaves ?? [];
  const indexes = own.filter((entry) => entry.batch === batch).map(({ index }) => index);
  if ((form ?? (batch === 3 ? 'leaves' : 'paths')) === 'leaves')
    return leaves.map((leaf, index) => ({ index, leaf: toHex(leaf) }));
  return indexes.map((index) => ({ index, path: inclusionPath(index, leaves) }));
}

function consistencyLines(ledger: FixtureLedger): Json[] {
  const sizes = [...ledger.checkpoints.keys()];
  return sizes.slice(1).map((to, i) => {
    const from = sizes[i] ?? 0;
    return { from, to, path: hashesIn(consistencyRanges(from, to), ledger.ledgerLeaves) };
  });
}

/** Returns the audit path of a leaf, in hex. */
export function inclusionPath(index: number, leaves: readonly Uint8Array[]): string[] {
  return hashesIn(inclusionRanges(index, leaves.length), leaves);
}

function hashesIn(ranges: readonly LeafRange[], leaves: readonly Uint8Array[]): string[] {
  return hashesOfRanges(ranges, ({ level, index }) =>
    treeRoot(leaves.slice(index * 2 ** level, (index + 1) * 2 ** level)),
  ).map(toHex);
}

/** Lists every file except attachments, and signs the list. */
function sign(files: Files, ledger: FixtureLedger, hooks: PackageHooks): void {
  const own = ledger.entries.filter(({ event }) => siteOfStream(event.stream) !== ledger.world.otherSiteId);
  const runs = new Map<string, { stream: string; first: number; last: number }>();
  for (const { stream, revision } of own)
    runs.set(stream, { stream, first: 0, last: Math.max(revision, runs.get(stream)?.last ?? 0) });
  const listed = [...files].filter(([name]) => !name.startsWith('attachments/'));
  const honest: Manifest = {
    format: 'consent-ledger-evidence',
    version: '1.0',
    origin: ORIGIN,
    checkpoint: [...ledger.checkpoints.keys()].at(-1) ?? null,
    exported_at: minute(60).toISOString(),
    exported_by: 'owner@shop.example',
    development: false,
    filter: {
      site_id: ledger.world.siteId,
      from: null,
      to: null,
      consent_type: null,
      document_version_id: null,
      event_ids: null,
      person: null,
      disclose: 'all',
    },
    salt: toHex(testSalt(ledger.world.siteId)),
    counts: {
      entries: own.length,
      consents: own.filter(({ event }) => isConsentType(event.type)).length,
      erased: ledger.world.erased.length,
      key_lost: 0,
      attachments: files.size - listed.length,
      not_yet_stamped: 0,
    },
    complete: [...runs.values()].sort((a, b) => (a.stream < b.stream ? -1 : 1)),
    files: Object.fromEntries(listed.map(([name, content]) => [name, toHex(sha256(content))])),
  };
  const key = hooks.manifestKey ?? MANIFEST_KEY;
  const bytes = utf8(JSON.stringify(hooks.manifest?.(honest) ?? honest));
  const note = signedNote(manifestKeyText(ORIGIN, key.publicKey), ledger.ledgerKey);
  const header = {
    alg: 'EdDSA',
    typ: 'consent-ledger-manifest',
    jwk: { kty: 'OKP', crv: 'Ed25519', x: toBase64url(key.publicKey) },
    certificate: hooks.certificate?.(note) ?? note,
  };
  const encoded = toBase64url(utf8(JSON.stringify(hooks.signatureHeader?.(header) ?? header)));
  const signature = key.sign(utf8(`${encoded}.${toBase64url(bytes)}`));
  files.set(PACKAGE_FILES.manifest, bytes);
  files.set(PACKAGE_FILES.manifestSignature, utf8(`${encoded}..${toBase64url(signature)}`));
}

function ndjson(change: ((lines: Json[]) => Json[] | undefined) | undefined, lines: Json[]): Uint8Array {
  return utf8((change?.(lines) ?? lines).map((line) => `${JSON.stringify(line)}\n`).join(''));
}

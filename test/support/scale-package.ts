import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ZipFile } from 'yazl';
import { sha256, sha256Stream } from '../../schemas/crypto/digest.js';
import { toBase64url, toHex, utf8 } from '../../schemas/crypto/encoding.js';
import { consentsStream, noticesStream, POLICY_STREAM } from '../../schemas/events/streams.js';
import {
  type BatchHeader,
  batchHeaderText,
  batchLeaf,
  streamsRoot,
  tiledRuns,
} from '../../schemas/evidence/batch-header.js';
import { checkpointText, manifestKeyText } from '../../schemas/evidence/checkpoint.js';
import { entryLeaf, entryText } from '../../schemas/evidence/entry.js';
import { PACKAGE_FILES } from '../../schemas/evidence/package-lines.js';
import { personTagLeaf } from '../../schemas/evidence/person-tag.js';
import { canonicalJson } from '../../schemas/json/canonical-json.js';
import { treeRoot } from '../../schemas/merkle/tree.js';
import { timeText } from '../rfc3161/support/der.js';
import { makeCrl } from '../rfc3161/support/revocation.js';
import { makeResponse, makeToken } from '../rfc3161/support/tokens.js';
import { type FixtureAuthority, LEDGER_KEY, MANIFEST_KEY, ORIGIN } from './ledger-fixture.js';
import { type FixtureEvent, fixtureConsent, fixtureWorld, minute } from './ledger-fixture-events.js';
import { inclusionPath, shownRuns, shownTags } from './package-builder.js';
import { signedNote } from './signing-key.js';
import { testKeyOf, testSalt } from './stream-salts.js';

const BATCH = 5000;

interface Sealed {
  readonly text: string;
  readonly header: BatchHeader;
  readonly run: { readonly stream: string; readonly first: number; readonly last: number };
  readonly leaves: readonly Uint8Array[];
  /** Sorted person tags. */
  readonly tags: readonly Uint8Array[];
}

/**
 * Writes a valid package with this number of consents to a file, as a stream, so that its entries
 * are never all in memory.
 */
export async function writeScalePackage(path: string, authority: FixtureAuthority, consents: number): Promise<void> {
  const world = fixtureWorld();
  const zip = new ZipFile();
  const written = pipeline(zip.outputStream, createWriteStream(path));
  const digests: Record<string, string> = {};
  const add = async (name: string, pieces: Iterable<string | Uint8Array>): Promise<void> => {
    const digest = sha256Stream();
    const bytes = function* () {
      for (const piece of pieces) {
        const part = typeof piece === 'string' ? utf8(piece) : piece;
        digest.update(part);
        yield part;
      }
    };
    const stream = Readable.from(bytes());
    const ended = new Promise<void>((resolve, reject) => stream.once('end', resolve).once('error', reject));
    zip.addReadStream(stream, name, { mtime: minute(60) });
    await ended;
    digests[name] = toHex(digest.digest());
  };

  // Checkpoint 1 covers only the notices and is stamped before the first consent.
  const notices = world.batches[0] ?? [];
  const sealed: Sealed[] = [];
  const noticeLines = [...entryLines(notices, 0, 1, (batch) => sealed.push(sealBatch(batch, 0, null)))];
  const first = stamped(authority, [sealed[0]?.text ?? ''], 9);
  const after = { size: 1, sha256: toHex(sha256(first.response)) };
  const consentEvents = function* () {
    for (let i = 0; i < consents; i += 1)
      yield fixtureConsent(`consent ${i}`, 11, { decision: i % 3 === 0 ? 'rejected' : 'accepted' });
  };
  const entries = function* () {
    yield* entryLines(consentEvents(), consents, BATCH, (batch) => sealed.push(sealBatch(batch, sealed.length, after)));
    yield* noticeLines;
  };
  await add(PACKAGE_FILES.entries, chunked(entries()));
  const headers = sealed.map(({ text }) => text);
  const newest = stamped(authority, headers, 49);
  const ledgerLeaves = headers.map(batchLeaf);
  for (const [number, { leaves }] of sealed.entries())
    await add(
      PACKAGE_FILES.proofs(number),
      chunked(leaves.map((leaf, index) => `${JSON.stringify({ index, leaf: toHex(leaf) })}\n`)),
    );
  for (const [number, { tags }] of sealed.entries()) {
    const lines = shownTags(tags, new Set(tags.map(toHex)));
    if (lines.length > 0)
      await add(PACKAGE_FILES.tags(number), chunked(lines.map((line) => `${JSON.stringify(line)}\n`)));
  }
  const streams = [consentsStream(world.siteId), noticesStream(world.siteId), POLICY_STREAM];
  const batchLines = sealed.map(({ text, run }, number) =>
    JSON.stringify({
      header: text,
      path: inclusionPath(number, ledgerLeaves),
      ...shownRuns(tiledRuns([run], testKeyOf), streams),
    }),
  );
  await add(
    PACKAGE_FILES.batches,
    batchLines.map((line) => `${line}\n`),
  );
  const size = headers.length;
  for (const [at, { note, response, crl }] of [
    [1, first],
    [size, newest],
  ] as const) {
    await add(PACKAGE_FILES.note(at), [note]);
    await add(PACKAGE_FILES.response(at, 1), [response]);
    await add(PACKAGE_FILES.crl(toHex(sha256(crl))), [crl]);
  }
  await add(PACKAGE_FILES.certificate(toHex(sha256(authority.tsa.der))), [authority.tsa.der]);
  const consistency = { from: 1, to: size, path: consistencyFromOne(ledgerLeaves) };
  await add(PACKAGE_FILES.consistency, [`${JSON.stringify(consistency)}\n`]);
  for (const text of world.texts) await add(PACKAGE_FILES.notice(toHex(sha256(text))), [text]);
  const manifest = utf8(
    JSON.stringify({
      format: 'consent-ledger-evidence',
      version: '1.0',
      origin: ORIGIN,
      checkpoint: size,
      exported_at: minute(60).toISOString(),
      exported_by: 'owner@shop.example',
      development: false,
      filter: {
        site_id: world.siteId,
        from: null,
        to: null,
        consent_type: null,
        document_version_id: null,
        event_ids: null,
        person: null,
        disclose: 'all',
      },
      salt: toHex(testSalt(world.siteId)),
      counts: {
        entries: consents + notices.length,
        consents,
        erased: 0,
        key_lost: 0,
        attachments: 0,
        not_yet_stamped: 0,
      },
      complete: [
        { stream: sealed[1]?.run.stream ?? '', first: 0, last: consents - 1 },
        { stream: sealed[0]?.run.stream ?? '', first: 0, last: notices.length - 1 },
      ],
      files: digests,
    }),
  );
  zip.addBuffer(Buffer.from(manifest), PACKAGE_FILES.manifest, { mtime: minute(60) });
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: toBase64url(MANIFEST_KEY.publicKey) };
  const certificate = signedNote(manifestKeyText(ORIGIN, MANIFEST_KEY.publicKey), LEDGER_KEY);
  const protectedHeader = toBase64url(
    utf8(JSON.stringify({ alg: 'EdDSA', typ: 'consent-ledger-manifest', jwk, certificate })),
  );
  const signature = toBase64url(MANIFEST_KEY.sign(utf8(`${protectedHeader}.${toBase64url(manifest)}`)));
  zip.addBuffer(Buffer.from(`${protectedHeader}..${signature}`), PACKAGE_FILES.manifestSignature, {
    mtime: minute(60),
  });
  zip.end();
  await written;
}

interface OpenBatch {
  readonly stream: string;
  readonly first: number;
  readonly last: number;
  readonly leaves: readonly Uint8Array[];
  /** Person tags in any order. */
  readonly tags: readonly Uint8Array[];
}

/** Yields the chained lines of one stream's entries; `seal` is called for each batch. */
function* entryLines(
  events: Iterable<FixtureEvent>,
  total: number,
  perBatch: number,
  seal: (batch: OpenBatch) => void,
): Generator<string, void> {
  const size = total === 0 ? Number.POSITIVE_INFINITY : perBatch;
  let previous: string | null = null;
  let revision = 0;
  let leaves: Uint8Array[] = [];
  let tags: Uint8Array[] = [];
  let batch = total === 0 ? 0 : 1;
  let stream = '';
  for (const event of events) {
    stream = event.stream;
    const { eventId, type, proofHash } = event;
    const text = entryText({
      stream,
      revision,
      previous,
      eventId,
      type,
      recordText: canonicalJson(event.record),
      proofHash,
      personTag: event.personTag,
    });
    if (event.personTag !== null) tags.push(Buffer.from(event.personTag, 'hex'));
    const leaf = entryLeaf(text);
    yield `${JSON.stringify({ entry: text, batch, index: leaves.length, disclosures: event.disclosures })}\n`;
    leaves.push(leaf);
    previous = toHex(leaf);
    revision += 1;
    if (leaves.length < size) continue;
    seal({ stream, first: revision - leaves.length, last: revision - 1, leaves, tags });
    leaves = [];
    tags = [];
    batch += 1;
  }
  if (leaves.length > 0) seal({ stream, first: revision - leaves.length, last: revision - 1, leaves, tags });
}

function sealBatch(
  { stream, first, last, leaves, tags: unsorted }: OpenBatch,
  number: number,
  after: BatchHeader['after'],
): Sealed {
  const run = { stream, first, last };
  const tags = [...unsorted].sort(Buffer.compare);
  const header: BatchHeader = {
    v: 1,
    number,
    level: 0,
    count: leaves.length,
    root: toHex(treeRoot(leaves)),
    streams_count: 1,
    streams_root: toHex(streamsRoot(tiledRuns([run], testKeyOf))),
    tags_count: tags.length,
    tags_root: toHex(treeRoot(tags.map(personTagLeaf))),
    policies: 0,
    sealed_at: minute(number === 0 ? 7 : 12).toISOString(),
    after,
  };
  return { text: batchHeaderText(header), header, run, leaves, tags };
}

function stamped(authority: FixtureAuthority, headers: readonly string[], at: number) {
  const root = treeRoot(headers.map(batchLeaf));
  const note = utf8(signedNote(checkpointText({ origin: ORIGIN, size: headers.length, root }), LEDGER_KEY));
  const response = makeResponse(makeToken(authority.tsa, { data: note, genTime: timeText(minute(at)) }));
  const thisUpdate = new Date(minute(at).getTime() + 1000);
  return { note, response, crl: makeCrl(authority.root, { thisUpdate, nextUpdate: minute(2000) }) };
}

/** Returns the consistency proof from size 1: the audit path of leaf 0. */
function consistencyFromOne(leaves: readonly Uint8Array[]): string[] {
  return inclusionPath(0, leaves);
}

/** Joins lines to larger chunks. */
function* chunked(lines: Iterable<string>): Generator<string, void> {
  let held = '';
  for (const line of lines) {
    held += line;
    if (held.length < 256 * 1024) continue;
    yield held;
    held = '';
  }
  if (held !== '') yield held;
}

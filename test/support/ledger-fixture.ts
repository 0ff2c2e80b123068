import { sha256 } from '../../schemas/crypto/digest.js';
import { toHex, utf8 } from '../../schemas/crypto/encoding.js';
import { POLICY_STREAM } from '../../schemas/events/streams.js';
import { SUBJECT_ERASED } from '../../schemas/events/subject-erased.js';
import {
  type BatchHeader,
  batchHeaderText,
  batchLeaf,
  type KeyedRun,
  type StreamRun,
  streamsRoot,
  tiledRuns,
} from '../../schemas/evidence/batch-header.js';
import { type Checkpoint, checkpointText } from '../../schemas/evidence/checkpoint.js';
import { type EntryParts, entryLeaf, entryText } from '../../schemas/evidence/entry.js';
import { personTagLeaf } from '../../schemas/evidence/person-tag.js';
import { canonicalJson } from '../../schemas/json/canonical-json.js';
import { treeRoot } from '../../schemas/merkle/tree.js';
import {
  CA_EXTENSIONS,
  crlDistributionPoint,
  makeCertificate,
  type TestCertificate,
  TSA_EXTENSIONS,
} from '../rfc3161/support/certificates.js';
import { timeText } from '../rfc3161/support/der.js';
import { ecdsaSigner, type Signer } from '../rfc3161/support/keys.js';
import { makeCrl } from '../rfc3161/support/revocation.js';
import { makeResponse, makeToken, type TokenOptions } from '../rfc3161/support/tokens.js';
import {
  announcementEvent,
  type FixtureEvent,
  type FixtureWorld,
  fixtureWorld,
  minute,
} from './ledger-fixture-events.js';
import { signedNote, type TestSigningKey, testSigningKey } from './signing-key.js';
import { testKeyOf } from './stream-salts.js';

export const ORIGIN = 'ledger.example/consents';
/** Time at which the fixture's packages are verified. */
export const VERIFIED_AT = new Date('2026-06-01T00:00:00Z');

/** The keys and certificates of the fixture. */
export interface FixtureAuthority {
  readonly root: TestCertificate;
  readonly tsa: TestCertificate;
  /** Creates a key for a further certificate. */
  readonly newSigner: () => Signer;
}

/** @param newSigner creates the keys: first the root's, then the authority's */
export function fixtureAuthority(
  newSigner = (): Signer => ecdsaSigner('P-256', 'sha256'),
  rootName: { readonly organization?: string } = {},
): FixtureAuthority {
  const root = makeCertificate({ name: 'Fixture Root', ...rootName, signer: newSigner(), extensions: CA_EXTENSIONS });
  const extensions = [...TSA_EXTENSIONS, crlDistributionPoint('http://crl.example/root.crl')];
  return {
    root,
    tsa: makeCertificate({ name: 'Fixture TSA', issuer: root, signer: newSigner(), extensions }),
    newSigner,
  };
}

export const LEDGER_KEY = testSigningKey(ORIGIN, 'ledger key');
export const NEXT_LEDGER_KEY = testSigningKey(ORIGIN, 'next ledger key');
export const MANIFEST_KEY = testSigningKey(ORIGIN, 'manifest key');

/** Changes made while the ledger is built. All layers above a change are consistent with it. */
export interface LedgerHooks {
  readonly world?: ((world: FixtureWorld) => void) | undefined;
  readonly entryParts?: ((parts: EntryParts, event: FixtureEvent) => EntryParts) | undefined;
  readonly entryText?: ((text: string, event: FixtureEvent) => string) | undefined;
  /** Changes the leaf hashes of a batch before it is sealed. */
  readonly leaves?: ((leaves: Uint8Array[], batch: number) => Uint8Array[]) | undefined;
  readonly runs?: ((runs: KeyedRun[], batch: number) => KeyedRun[]) | undefined;
  /** Changes the sorted person tags that a batch commits to. */
  readonly tags?: ((tags: Uint8Array[], batch: number) => Uint8Array[]) | undefined;
  readonly header?: ((header: BatchHeader) => BatchHeader) | undefined;
  readonly checkpoint?: ((checkpoint: Checkpoint) => Checkpoint) | undefined;
  /** Changes the text of a note, including signatures, before it is stamped. */
  readonly note?: ((note: string, size: number, text: string) => string) | undefined;
  readonly token?: ((size: number) => TokenOptions) | undefined;
  /** The authority that stamps the checkpoint of a size; null: the usual one. */
  readonly tokenBy?: ((size: number) => TestCertificate | null) | undefined;
  readonly response?: ((response: Uint8Array, size: number) => Uint8Array) | undefined;
  readonly crl?: ((thisUpdate: Date, size: number) => Uint8Array | null) | undefined;
  readonly ledgerKey?: TestSigningKey | undefined;
  /** Size of the checkpoint that the keys before and after a change sign. */
  readonly rotateAt?: number | undefined;
  /** Announcements of next keys, by batch. With `rotateAt`, the last batch below it has one by default. */
  readonly announcements?: readonly { readonly batch: number; readonly keys: readonly string[] }[];
  readonly authority?: Pick<FixtureAuthority, 'root' | 'tsa'> | undefined;
}

export interface FixtureEntry {
  readonly event: FixtureEvent;
  readonly stream: string;
  readonly revision: number;
  readonly text: string;
  readonly leaf: Uint8Array;
  /** In hex; null for other events than consents and erasures. */
  readonly tag: string | null;
  readonly batch: number;
  readonly index: number;
}

export interface FixtureBatch {
  readonly header: BatchHeader;
  readonly text: string;
  readonly runs: readonly KeyedRun[];
  /** Sorted person tags. */
  readonly tags: readonly Uint8Array[];
  readonly leaves: readonly Uint8Array[];
}

export interface FixtureLedger {
  readonly world: FixtureWorld;
  readonly entries: readonly FixtureEntry[];
  readonly batches: readonly FixtureBatch[];
  readonly ledgerLeaves: readonly Uint8Array[];
  /** Notes, responses and CRLs by size. */
  readonly checkpoints: ReadonlyMap<
    number,
    { readonly note: Uint8Array; readonly response: Uint8Array; readonly crl: Uint8Array | null }
  >;
  readonly authority: FixtureAuthority;
  readonly ledgerKey: TestSigningKey;
}

/** Sizes at which a checkpoint is signed and stamped. */
export const CHECKPOINT_SIZES: readonly number[] = [1, 2, 4, 5];

/** Returns the time at which the checkpoint of a size is stamped. */
export function stampTime(size: number): Date {
  return minute(size * 10 - 1);
}

/** Builds a complete ledger in memory: chained entries, batches, checkpoints, time stamps. */
export function buildLedger(authority: FixtureAuthority, hooks: LedgerHooks = {}): FixtureLedger {
  const world = fixtureWorld();
  hooks.world?.(world);
  const { rotateAt } = hooks;
  const rotation = rotateAt === undefined ? [] : [{ batch: rotateAt - 1, keys: [NEXT_LEDGER_KEY.verifierKey] }];
  for (const { batch, keys } of hooks.announcements ?? rotation)
    world.batches[batch]?.push(announcementEvent(batch, keys));
  const entries: FixtureEntry[] = [];
  const batches: FixtureBatch[] = [];
  const ledgerLeaves: Uint8Array[] = [];
  const checkpoints = new Map<number, { note: Uint8Array; response: Uint8Array; crl: Uint8Array | null }>();
  const heads = new Map<string, ChainedEntry>();
  let key = hooks.ledgerKey ?? LEDGER_KEY;
  let after: BatchHeader['after'] = null;
  for (const [number, events] of world.batches.entries()) {
    const chained = events.map((event) => sealEntry(event, number, heads, hooks));
    const sealed = sortedEntries(chained).map((entry, index) => ({ ...entry, index }));
    entries.push(...sealed);
    const policies = entries.filter(({ stream }) => stream === POLICY_STREAM).length;
    const batch = sealBatch(number, sealed, { after, policies }, hooks);
    batches.push(batch);
    ledgerLeaves.push(batchLeaf(batch.text));
    const size = number + 1;
    if (!CHECKPOINT_SIZES.includes(size)) continue;
    const isHandover = rotateAt === size;
    const honest = { origin: ORIGIN, size, root: treeRoot(ledgerLeaves) };
    const text = checkpointText(hooks.checkpoint?.(honest) ?? honest);
    const signed = isHandover ? signedNote(text, key, NEXT_LEDGER_KEY) : signedNote(text, key);
    const note = utf8(hooks.note?.(signed, size, text) ?? signed);
    const token = makeToken(hooks.tokenBy?.(size) ?? (hooks.authority ?? authority).tsa, {
      data: note,
      genTime: timeText(stampTime(size)),
      ...hooks.token?.(size),
    });
    const response = hooks.response?.(makeResponse(token), size) ?? makeResponse(token);
    const thisUpdate = new Date(stampTime(size).getTime() + 1000);
    const crl =
      hooks.crl === undefined
        ? makeCrl(authority.root, { thisUpdate, nextUpdate: minute(2000) })
        : hooks.crl(thisUpdate, size);
    checkpoints.set(size, { note, response, crl });
    after = { size, sha256: toHex(sha256(response)) };
    if (isHandover) key = NEXT_LEDGER_KEY;
  }
  return { world, entries, batches, ledgerLeaves, checkpoints, authority, ledgerKey: key };
}

type ChainedEntry = Omit<FixtureEntry, 'index'>;

/** In the order of a batch: by stream key, then by revision. */
function sortedEntries<T extends ChainedEntry>(entries: readonly T[]): T[] {
  const place = ({ stream, revision }: ChainedEntry) => `${testKeyOf(stream)} ${String(revision).padStart(16, '0')}`;
  return [...entries].sort((a, b) => (place(a) < place(b) ? -1 : 1));
}

function sealEntry(
  event: FixtureEvent,
  batch: number,
  heads: Map<string, ChainedEntry>,
  hooks: LedgerHooks,
): ChainedEntry {
  const head = heads.get(event.stream);
  const honest: EntryParts = {
    stream: event.stream,
    revision: head === undefined ? 0 : head.revision + 1,
    previous: head === undefined ? null : toHex(head.leaf),
    eventId: event.eventId,
    type: event.type,
    recordText: canonicalJson(event.record),
    proofHash: event.proofHash,
    personTag: event.proofHash === null && event.type !== SUBJECT_ERASED ? null : event.personTag,
  };
  const parts = hooks.entryParts?.(honest, event) ?? honest;
  const text = hooks.entryText?.(entryText(parts), event) ?? entryText(parts);
  const { stream, revision, personTag: tag } = parts;
  const entry = { event, stream, revision, text, leaf: entryLeaf(text), tag, batch };
  heads.set(event.stream, entry);
  return entry;
}

function sealBatch(
  number: number,
  entries: readonly FixtureEntry[],
  { after, policies }: Pick<BatchHeader, 'after' | 'policies'>,
  hooks: LedgerHooks,
): FixtureBatch {
  const runs = new Map<string, Omit<StreamRun, 'start'>>();
  for (const { stream, revision } of entries) {
    runs.set(stream, { stream, first: runs.get(stream)?.first ?? revision, last: revision });
  }
  const tiled = tiledRuns([...runs.values()], testKeyOf);
  const claimed = hooks.runs?.([...tiled], number) ?? tiled;
  const sortedTags = entries.flatMap(({ tag }) => (tag === null ? [] : [Buffer.from(tag, 'hex')])).sort(Buffer.compare);
  const tags = hooks.tags?.(sortedTags, number) ?? sortedTags;
  const leaves =
    hooks.leaves?.(
      entries.map(({ leaf }) => leaf),
      number,
    ) ?? entries.map(({ leaf }) => leaf);
  const honest: BatchHeader = {
    v: 1,
    number,
    level: 0,
    count: leaves.length,
    root: toHex(treeRoot(leaves)),
    streams_count: claimed.length,
    streams_root: toHex(streamsRoot(claimed)),
    tags_count: tags.length,
    tags_root: toHex(treeRoot(tags.map(personTagLeaf))),
    policies,
    sealed_at: minute((number + 1) * 10 - 3).toISOString(),
    after,
  };
  const header = hooks.header?.(honest) ?? honest;
  return { header, text: batchHeaderText(header), runs: claimed, tags, leaves };
}

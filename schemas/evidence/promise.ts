/*
 * A promise: the service's signed statement that it will seal a record in a stream before a time
 * (docs/evidence-format.md §15). The caller keeps it, and can use it to show that a record was dropped before sealing.
 *
 * - The text has seven lines, each ended by a line feed: title, origin, stream, event id, base64 of the SHA-256 of the
 *   record, `created_at`, and the time before which the record is sealed. It contains no personal data.
 * - The promised time is 0 to 172,800 seconds after `created_at`.
 * - Promises that were made together are the leaves of one tree: the promise key signs its root, and the ledger's key
 *   certifies the promise key.
 *
 * For example, the promise for the record of consent-recorded.ts by a policy that seals within 600 seconds:
 *
 *   consent-ledger promise v1
 *   ledger.example/1
 *   consents-0190b3a4-5c00-7000-8000-000000000001
 *   0190b3a4-5c00-7000-8000-000000000002
 *   akMPSa5ePkJCMVyM3Ujtvp2D98KOl/Ih7nXE/Xjy3k8=
 *   2026-01-01T00:00:00.000Z
 *   2026-01-01T00:10:00.000Z
 *
 * The leaf hash of the promise, which is also the root if it was signed alone, is
 * 76463141bc39d7c55bea6f1720e2a948109b0b8dd8c8074258e659d5b4f77d68.
 */
import * as z from 'zod';
import { fromBase64, toBase64, utf8 } from '../crypto/encoding.js';
import { MAX_POLICY_DELAY_SECONDS } from '../events/ledger-policy.js';
import { siteOfStream } from '../events/streams.js';
import { leafHash } from '../merkle/hashing.js';
import { Count, Instant, Sha256Hex, Uuid } from './primitives.js';

/**
 * Content of the promise that the service makes when it accepts a consent: this record is sealed
 * in this stream of this ledger before a stated time. It contains no personal data.
 */
export interface PromisedRecord {
  /** Origin of the ledger. */
  readonly origin: string;
  /** Stream of the site's consents. Without it, no package could prove that the record is missing. */
  readonly stream: string;
  readonly eventId: string;
  /** SHA-256 of the UTF-8 of the record's canonical text, 32 bytes. */
  readonly recordDigest: Uint8Array;
  /** `created_at` of the record, RFC 3339, UTC, milliseconds. */
  readonly createdAt: string;
  /** Time before which the record is sealed, RFC 3339, UTC, milliseconds. */
  readonly sealedBefore: string;
}

const PROMISE = 'consent-ledger promise v1';
const ROOT = 'consent-ledger promises v1';
const KEY = 'consent-ledger promise key v1';

/** The text of a promise: seven lines, each ended by LF. */
export function promiseText(promised: PromisedRecord): string {
  const { origin, stream, eventId, recordDigest, createdAt, sealedBefore } = promised;
  return `${PROMISE}\n${origin}\n${stream}\n${eventId}\n${toBase64(recordDigest)}\n${createdAt}\n${sealedBefore}\n`;
}

/** @returns null if the text is not exactly a promise */
export function parsePromiseText(text: string): PromisedRecord | null {
  const lines = text.split('\n');
  const [title, origin, stream, eventId, digest, createdAt, sealedBefore, end] = lines;
  if (title !== PROMISE || lines.length !== 8 || end !== '' || !isOrigin(origin)) return null;
  const recordDigest = digestOf(digest);
  const isForm =
    stream?.startsWith('consents-') === true &&
    siteOfStream(stream) !== null &&
    Uuid.safeParse(eventId).success &&
    Instant.safeParse(createdAt).success &&
    Instant.safeParse(sealedBefore).success;
  if (!isForm || recordDigest === null) return null;
  if (eventId === undefined || createdAt === undefined || sealedBefore === undefined) return null;
  // No policy allows a longer delay, and a promise for a later time could never be broken. A promise for a time before
  // the record would already have been broken when it was made.
  const delay = Date.parse(sealedBefore) - Date.parse(createdAt);
  if (delay < 0 || delay > MAX_POLICY_DELAY_SECONDS * 1000) return null;
  return { origin, stream, eventId, recordDigest, createdAt, sealedBefore };
}

/** The leaf of a promise in the tree of its group: SHA-256(0x00 ‖ text) (RFC 9162 §2.1.1). */
export function promiseLeaf(text: string): Uint8Array {
  return leafHash(utf8(text));
}

/** The root of the promises of one group. */
export interface PromisesRoot {
  readonly origin: string;
  /** Number of promises. */
  readonly size: number;
  /** RFC 6962 root over the leaves of the promises, 32 bytes. */
  readonly root: Uint8Array;
}

/** The text that the promise key signs. No checkpoint has this first line. */
export function promisesRootText({ origin, size, root }: PromisesRoot): string {
  return `${ROOT}\n${origin}\n${size}\n${toBase64(root)}\n`;
}

/** @returns null if the text is not exactly the root of a group's promises */
export function parsePromisesRootText(text: string): PromisesRoot | null {
  const [title, origin, size, digest, end, ...rest] = text.split('\n');
  const root = digestOf(digest);
  if (title !== ROOT || !isOrigin(origin) || end !== '' || rest.length > 0 || root === null) return null;
  if (size === undefined || !/^[1-9]\d{0,8}$/.test(size)) return null;
  return { origin, size: Number(size), root };
}

/** The text of the note by which the ledger's key certifies the key that signs promises. */
export function promiseKeyText(origin: string, publicKey: Uint8Array): string {
  return `${KEY}\n${origin}\n${toBase64(publicKey)}\n`;
}

/** @returns null if the text does not certify a promise key */
export function parsePromiseKeyText(text: string): { origin: string; publicKey: Uint8Array } | null {
  const [title, origin, key, end, ...rest] = text.split('\n');
  const publicKey = digestOf(key);
  if (title !== KEY || !isOrigin(origin) || end !== '' || rest.length > 0 || publicKey === null) return null;
  return { origin, publicKey };
}

/** A signed note is at most this long: text, and the signatures of a few keys. */
const MAX_NOTE = 4000;

/** A promise with its signature, as in a response of the service and in a file. */
export const SignedPromise = z
  .strictObject({
    text: z.string().max(1000).describe('The promise: seven lines, each ended by a line feed.'),
    index: Count.describe('Index of the promise among those that were signed together.'),
    size: z.int().min(1).max(1_000_000).describe('Number of promises that were signed together.'),
    path: z.array(Sha256Hex).max(20).describe('Inclusion path from the promise to the signed root (RFC 9162), in hex.'),
    signed_root: z.string().max(MAX_NOTE).describe('Signed note by the promise key: number and root of the promises.'),
    certificate: z.string().max(MAX_NOTE).describe('Signed note by the ledger key: it certifies the promise key.'),
  })
  .meta({ id: 'SignedPromise' });
export type SignedPromise = z.infer<typeof SignedPromise>;

/** Whether a line may be the origin of a ledger: a name without white space and without `+`. */
function isOrigin(line: string | undefined): line is string {
  return line !== undefined && line.length <= 300 && /^[^\s+]+$/.test(line);
}

function digestOf(line: string | undefined): Uint8Array | null {
  const bytes = line === undefined ? null : fromBase64(line);
  return bytes?.length === 32 ? bytes : null;
}

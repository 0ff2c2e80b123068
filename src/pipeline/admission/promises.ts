import { sign } from 'node:crypto';
import { toHex, utf8 } from '../../../schemas/crypto/encoding.js';
import { consentsStream } from '../../../schemas/events/streams.js';
import {
  promiseKeyText,
  promisesRootText,
  promiseText,
  type SignedPromise,
} from '../../../schemas/evidence/promise.js';
import { formatNote, formatSignatureLine } from '../../../schemas/evidence/signed-note.js';
import { leafHash } from '../../../schemas/merkle/hashing.js';
import { hashesOfRanges, inclusionRanges } from '../../../schemas/merkle/proofs.js';
import { Frontier, type TreeNode } from '../../../schemas/merkle/tree.js';
import type { Keyring, SigningKey } from '../../platform/keys/index.js';
import { type LedgerSignerOptions, openLedgerSigner } from '../ledger/ledger-signer.js';
import type { Submission, SubmissionOutcome } from './admit-group.js';

/** The key that signs promises, with its certificate. */
interface PromiseKey {
  readonly key: SigningKey;
  /** Signed note by the ledger's key. */
  readonly certificate: string;
}

/** Issues the service's promise for each consent that admission accepts. */
export interface Promises {
  /** Milliseconds from `created_at` of a record to the promised deadline of its sealing. */
  readonly sealWithinMs: number;
  /**
   * Signs promises with one signature.
   * @param texts results of `promiseText`
   * @returns one promise for each text, in order
   */
  sign(texts: readonly string[]): readonly SignedPromise[];
  /** Origin of the ledger. */
  readonly origin: string;
}

export interface PromisesOptions {
  readonly origin: string;
  readonly sealWithinSeconds: number;
  /** The current key and certificate; called for each group. */
  readonly key: () => PromiseKey;
}

/** Creates the signer of promises. One signature covers a group: the root of a tree over the texts. */
export function createPromises({ origin, sealWithinSeconds, key }: PromisesOptions): Promises {
  return {
    origin,
    sealWithinMs: sealWithinSeconds * 1000,
    sign: (texts) => {
      if (texts.length === 0) return [];
      const { root, paths } = promiseTree(texts);
      const { key: signingKey, certificate } = key();
      const text = promisesRootText({ origin, size: texts.length, root: Buffer.from(root, 'hex') });
      const signature = sign(null, utf8(text), signingKey.privateKey);
      const signedRoot = formatNote(text, [formatSignatureLine(origin, signingKey.publicKeyBytes, signature)]);
      return texts.map((text, index) => ({
        text,
        index,
        size: texts.length,
        path: [...(paths[index] ?? [])],
        signed_root: signedRoot,
        certificate,
      }));
    },
  };
}

/** The outcome of a submission, with the promises for its consents. */
export interface PromisedOutcome extends SubmissionOutcome {
  /** One promise for each consent, or null if the consent was not accepted, or if signing failed. */
  readonly promises: readonly (SignedPromise | null)[];
}

/**
 * Adds promises to the outcomes of one committed group: one for each accepted consent and, for each duplicate, that of
 * the original record again.
 * @throws errors of the signature; the consents are durable
 */
export function promiseOutcomes(
  promises: Promises,
  submissions: readonly Submission[],
  outcomes: readonly SubmissionOutcome[],
): readonly PromisedOutcome[] {
  const texts: string[] = [];
  const places = outcomes.map((outcome, i) =>
    outcome.consents.map((_, j) => {
      const text = textOf(promises.origin, submissions[i], outcome, j);
      return text === null ? null : texts.push(text) - 1;
    }),
  );
  const signed = promises.sign(texts);
  return outcomes.map((outcome, i) => ({
    ...outcome,
    promises: (places[i] ?? []).map((place) => (place === null ? null : (signed[place] ?? null))),
  }));
}

/** The outcomes without promises, if they could not be signed. */
export function withoutPromises(outcomes: readonly SubmissionOutcome[]): readonly PromisedOutcome[] {
  return outcomes.map((outcome) => ({ ...outcome, promises: outcome.consents.map(() => null) }));
}

function textOf(
  origin: string,
  submission: Submission | undefined,
  { consents }: SubmissionOutcome,
  place: number,
): string | null {
  const outcome = consents[place];
  if (submission === undefined || outcome === undefined) return null;
  const record =
    outcome.kind === 'duplicate'
      ? outcome.original
      : outcome.kind === 'accepted'
        ? (submission.consents[place]?.prepared ?? null)
        : null;
  if (record === null) return null;
  return promiseText({
    origin,
    stream: consentsStream(submission.site.siteId),
    eventId: record.eventId,
    recordDigest: record.recordDigest,
    createdAt: new Date(record.createdAt).toISOString(),
    sealedBefore: new Date(record.sealedBefore).toISOString(),
  });
}

/** A tree over promises: its root, and the inclusion path of each, from the sibling upwards, in hex. */
export interface PromiseTree {
  readonly root: string;
  readonly paths: readonly (readonly string[])[];
}

/**
 * Builds the RFC 6962 tree over texts (RFC 9162 §2.1.1, §2.1.3.1).
 * @param texts the texts, at least one
 */
export function promiseTree(texts: readonly string[]): PromiseTree {
  const tree = new Frontier();
  const nodes = new Map<string, Uint8Array>();
  for (const text of texts)
    for (const { level, index, hash } of tree.append(leafHash(utf8(text)))) nodes.set(`${level}/${index}`, hash);
  const nodeAt = ({ level, index }: TreeNode): Uint8Array => {
    const hash = nodes.get(`${level}/${index}`);
    if (hash === undefined) throw new RangeError(`the tree of promises has no node ${index} at level ${level}`);
    return hash;
  };
  return {
    root: toHex(tree.root()),
    paths: texts.map((_, leaf) => hashesOfRanges(inclusionRanges(leaf, texts.length), nodeAt).map(toHex)),
  };
}

export interface CertifiedPromiseKeyOptions extends LedgerSignerOptions {
  /** Creates the keys at first use. */
  readonly keyring: Pick<Keyring, 'ledgerKey' | 'promiseKey'>;
}

/**
 * Reads the promise key and certifies it with the current Ed25519 key of the ledger. An ML-DSA-44 signature would add 3
 * KB to every response, which carries the certificate. Ed25519 is deterministic (RFC 8032), so every process makes the
 * same certificate and none needs to be stored. Call it at start, and regularly: another process may have rotated the
 * ledger's key.
 * @throws KeyError, database errors; the errors of `LedgerSigner`
 */
export async function certifiedPromiseKey(options: CertifiedPromiseKeyOptions): Promise<PromiseKey> {
  const key = await options.keyring.promiseKey();
  const signer = await openLedgerSigner(options);
  const text = promiseKeyText(signer.origin, key.publicKeyBytes);
  return { key, certificate: formatNote(text, [await signer.signText(text)]) };
}

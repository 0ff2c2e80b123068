import { sign } from 'node:crypto';
import { utf8 } from '../../../schemas/crypto/encoding.js';
import { consentsStream } from '../../../schemas/events/streams.js';
import { promisesRootText, promiseText, type SignedPromise } from '../../../schemas/evidence/promise.js';
import { formatNote, formatSignatureLine } from '../../../schemas/evidence/signed-note.js';
import type { SigningKey } from '../../platform/keys/index.js';
import type { Submission, SubmissionOutcome } from './admit-group.js';
import { promiseTree } from './promise-tree.js';

/** The key that signs promises, with its certificate. */
export interface PromiseKey {
  readonly key: SigningKey;
  /** Signed note by the ledger's key. */
  readonly certificate: string;
}

/** Issues the service's promise for each consent that admission accepts. */
export interface Promises {
  /** Milliseconds from `created_at` of a record to the sealing of its batch. */
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
  /** One for each consent; null if it was not accepted, or if signing failed. */
  readonly promises: readonly (SignedPromise | null)[];
}

/**
 * Adds promises to the outcomes of one committed group: for each accepted consent, and for each
 * duplicate the promise of the original record again.
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

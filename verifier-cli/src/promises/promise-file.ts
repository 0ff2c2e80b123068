import * as z from 'zod';
import { SignedPromise } from '../../../schemas/evidence/promise.js';
import { type Parsed, parseShape } from '../files/parse.js';

/** An acceptance, as the SDKs return it. Other members are ignored here. */
const Acceptance = z.object({ promise: SignedPromise });
/** The answer to one consent. */
const Answer = z.object({ data: Acceptance });

/**
 * Reads a promise: the value of `promise`, the whole answer to one consent, or the acceptance that an SDK
 * returns.
 * @returns the promise, or the reason why it is none of these. Never throws, because every input may be hostile.
 */
export function parsePromiseFile(bytes: Uint8Array): Parsed<SignedPromise> {
  const alone = parseShape(SignedPromise, bytes);
  if (alone.ok) return alone;
  const answer = parseShape(Answer, bytes);
  if (answer.ok) return { ok: true, value: answer.value.data.promise, json: answer.json };
  const acceptance = parseShape(Acceptance, bytes);
  return acceptance.ok ? { ok: true, value: acceptance.value.promise, json: acceptance.json } : alone;
}

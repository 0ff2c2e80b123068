import { HASHES } from '../../../../schemas/crypto/browser/hashes.js';
import { bitsOfChallenge, leadingZeroBits } from '../../../../schemas/crypto/proof-of-work.js';
import { ApiFailure } from '../../api/failure.js';

/** The page stays usable between slices. A worker would need a script URL of its own. */
const SLICE_MS = 25;
const TRIES_BETWEEN_LOOKS = 256;
/** Others may sign up while the page computes, so a further challenge can require more. */
const MOST_CHALLENGES = 3;

/**
 * Makes a request again with a proof of work, if the service refuses it without one.
 * @param request makes the request, with the proof if there is one
 * @param onWork the work begins
 * @throws ApiFailure
 */
export async function withProof<T>(request: (proof?: string) => Promise<T>, onWork: () => void): Promise<T> {
  let proof: string | undefined;
  for (let challenges = 0; ; challenges += 1) {
    try {
      return await request(proof);
    } catch (failure) {
      if (!(failure instanceof ApiFailure) || failure.challenge === undefined) throw failure;
      if (challenges === MOST_CHALLENGES) throw failure;
      onWork();
      proof = await proveWork(failure.challenge);
    }
  }
}

/** Finds a number that turns a challenge into a proof. */
async function proveWork(challenge: string): Promise<string> {
  const bits = bitsOfChallenge(challenge);
  if (bits === null) throw new Error('the service sent a challenge that this page does not know');
  const encoder = new TextEncoder();
  for (let next = 0; ; ) {
    const end = performance.now() + SLICE_MS;
    while (performance.now() < end) {
      for (const last = next + TRIES_BETWEEN_LOOKS; next < last; next += 1) {
        const proof = `${challenge}.${next}`;
        if (leadingZeroBits(HASHES.sha256(encoder.encode(proof))) >= bits) return proof;
      }
    }
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
}

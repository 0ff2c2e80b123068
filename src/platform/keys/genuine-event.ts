import { timingSafeEqual } from 'node:crypto';
import * as z from 'zod';
import {
  type EventWithBody,
  InvalidEventBody,
  isOfPolicyStream,
  sealedContent,
} from '../../../schemas/events/sealed-event.js';
import { consentsStream, POLICY_STREAM, siteOfStream } from '../../../schemas/events/streams.js';
import { KeyError } from './errors.js';
import { hmacSha256 } from './hmac.js';
import type { Keyring, ProofKey } from './keyring.js';

/**
 * Returns whether the proof hash (hex HMAC-SHA-256) belongs to exactly these bytes.
 * @param key 32 bytes
 */
export function isProofHashOf(recordText: string, proofHash: string, key: Uint8Array): boolean {
  return (
    /^[0-9a-f]{64}$/.test(proofHash) && timingSafeEqual(hmacSha256(key, recordText), Buffer.from(proofHash, 'hex'))
  );
}

/**
 * The key of the proof hashes of test records. Someone who can only write to the database cannot turn a test record
 * into a record of the site, because its proof hash is not one under the tenant's key.
 * @param key the tenant's proof key, 32 bytes
 */
export function testProofKey(key: Uint8Array): Uint8Array {
  return hmacSha256(key, 'consent-ledger test records');
}

/**
 * The service did not write the event in this form. Whoever wrote or changed it does not have the tenant's proof key.
 */
export class NotGenuine extends Error {
  override readonly name = 'NotGenuine';
}

export type ProofKeys = Pick<Keyring, 'proofKeyById'>;

/** An event of a sealed stream, from any source. */
export interface SiteEvent extends EventWithBody {
  readonly id: string;
  readonly stream: string;
}

const Named = z.object({ event_id: z.string(), site_id: z.string().optional(), proof_key_id: z.string().optional() });

/**
 * Verifies that the service wrote an event. Its record must name this event and the site of this
 * stream; an event of the stream `policy` names no site. The proof hash of a consent must be the HMAC of
 * its record under the tenant's proof key, which the database stores only encrypted. Events without a
 * person (notices, erasures) have no proof hash; only their names are checked.
 * @throws NotGenuine, without any content of the event
 * @throws database errors
 */
export async function assertGenuine(event: SiteEvent, keys: ProofKeys): Promise<void> {
  const { id, type, stream } = event;
  const { recordText, proofHash, consent } = contentOf(event);
  const named = consent?.record ?? Named.safeParse(parseJson(recordText)).data;
  if (named === undefined || named.event_id !== id || (named.site_id ?? null) !== siteOfStream(stream)) {
    throw new NotGenuine(`the record of event ${id} names another event or site than ${stream}`);
  }
  if (isOfPolicyStream(type) !== (stream === POLICY_STREAM))
    throw new NotGenuine(`event ${id} does not belong to ${stream}`);
  if (proofHash === null) return;
  if (stream !== consentsStream(named.site_id ?? '')) throw new NotGenuine(`event ${id} does not belong to ${stream}`);
  const found = await findProofKey(keys, named.proof_key_id ?? '');
  if (found === null || !isProofHashOf(recordText, proofHash, found.key)) {
    throw new NotGenuine(`the proof hash of event ${id} does not match its record: one of them was altered`);
  }
}

function contentOf(event: SiteEvent): ReturnType<typeof sealedContent> {
  try {
    return sealedContent(event);
  } catch (error) {
    if (!(error instanceof InvalidEventBody)) throw error;
    throw new NotGenuine(`event ${event.id} cannot be sealed: ${error.message}`, { cause: error });
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Returns the proof key that a record names, or null if the service has no such key. */
export async function findProofKey(keys: ProofKeys, keyId: string): Promise<ProofKey | null> {
  try {
    return await keys.proofKeyById(keyId);
  } catch (error) {
    if (error instanceof KeyError && error.code === 'key_missing') return null;
    throw error;
  }
}

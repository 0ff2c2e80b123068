import { z } from 'zod';
import { InvalidEventBody, sealedContent } from '../../../schemas/events/sealed-event.js';
import { consentsStream, siteOfStream } from '../../../schemas/events/streams.js';
import { KeyError } from './errors.js';
import type { Keyring } from './keyring.js';
import { isProofHashOf } from './proof-hash.js';

/** An event that the service did not write as it stands: whoever wrote or altered it has not the tenant's proof key. */
export class NotGenuine extends Error {
  override readonly name = 'NotGenuine';
}

export type ProofKeys = Pick<Keyring, 'proofKeyById'>;

/** An event of a site's stream, wherever it was read. */
export interface SiteEvent {
  readonly id: string;
  readonly type: string;
  readonly stream: string;
  readonly data: Uint8Array;
}

const Named = z.object({ event_id: z.string(), site_id: z.string(), proof_key_id: z.string().optional() });

/**
 * Makes sure that an event is the one which the service wrote: its record names this event and this stream's site, and the proof hash of a consent is the
 * HMAC of its record under the tenant's proof key, which is nowhere in the database in the clear. Events without a person (notices, erasures) have
 * no proof hash: of them only the names are checked.
 * @throws NotGenuine, naming nothing of the content; errors of the database
 */
export async function assertGenuine({ id, type, stream, data }: SiteEvent, keys: ProofKeys): Promise<void> {
  const { recordText, proofHash } = contentOf(id, type, data);
  const named = Named.safeParse(parseJson(recordText)).data;
  if (named === undefined || named.event_id !== id || named.site_id !== siteOfStream(stream)) {
    throw new NotGenuine(`the record of event ${id} names another event or site than ${stream}`);
  }
  if (proofHash === null) return;
  if (stream !== consentsStream(named.site_id)) throw new NotGenuine(`event ${id} does not belong to ${stream}`);
  const key = await proofKeyOf(keys, named.proof_key_id ?? '');
  if (key === null || !isProofHashOf(recordText, proofHash, key)) {
    throw new NotGenuine(`the proof hash of event ${id} does not match its record: one of them was altered`);
  }
}

function contentOf(id: string, type: string, data: Uint8Array): ReturnType<typeof sealedContent> {
  try {
    return sealedContent(type, data);
  } catch (error) {
    if (!(error instanceof InvalidEventBody)) throw error;
    throw new NotGenuine(`event ${id} cannot be sealed: ${error.message}`, { cause: error });
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

async function proofKeyOf(keys: ProofKeys, keyId: string): Promise<Uint8Array | null> {
  try {
    return (await keys.proofKeyById(keyId)).key;
  } catch (error) {
    if (error instanceof KeyError && error.code === 'key_missing') return null;
    throw error;
  }
}

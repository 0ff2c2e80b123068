import { type NamedKey, namedKey, signedNote } from './keys.js';
import type { Plan } from './ledger.js';
import { base64, canonical, hex, instant, sha256, utf8 } from './primitives.js';
import { leafHash, nodeHash } from './trees.js';
import { eventOf, SITE } from './world.js';

/** A promise as the service answers it. */
export interface MadePromise {
  text: string;
  index: number;
  size: number;
  path: string[];
  signed_root: string;
  certificate: string;
}

/** The lines of a promise's text, and who signs it. */
export interface PromiseTerms {
  origin?: string;
  stream?: string;
  eventId?: string;
  /** Base64 of the record's digest. */
  digest?: string;
  createdAt?: string;
  sealedBefore?: string;
  /** Key that signs the root. */
  promiser?: NamedKey;
  /** Key that certifies it. */
  certifier?: NamedKey;
  /** Key that the certificate names. */
  certified?: NamedKey;
  /** First line of the certificate. */
  title?: string;
  /** Origin in the root and in the certificate. */
  rootOrigin?: string;
  certificateOrigin?: string;
}

/** The promise of the record with this label, made without the code that verifies it. */
export function promiseOf(plan: Plan, label: string, terms: PromiseTerms = {}, site: string = SITE): MadePromise {
  const { record, stream } = eventOf(plan, label, site);
  const created = String(record.created_at);
  const { origin = plan.origin } = terms;
  const promiser = terms.promiser ?? namedKey(origin, 'promise key');
  const lines = [
    'consent-ledger promise v1',
    origin,
    terms.stream ?? stream,
    terms.eventId ?? String(record.event_id),
    terms.digest ?? base64(sha256(canonical(record))),
    terms.createdAt ?? created,
    terms.sealedBefore ?? instant(Date.parse(created) + 600_000),
  ];
  const text = lines.map((line) => `${line}\n`).join('');
  const sibling = sha256('another promise of the group');
  const root = base64(nodeHash(sibling, leafHash(utf8(text))));
  const { rootOrigin = origin, certificateOrigin = origin, certified = promiser, certifier = plan.keys.first } = terms;
  const { title = 'consent-ledger promise key v1' } = terms;
  return {
    text,
    index: 1,
    size: 2,
    path: [hex(sibling)],
    signed_root: signedNote(`consent-ledger promises v1\n${rootOrigin}\n2\n${root}\n`, promiser),
    certificate: signedNote(`${title}\n${certificateOrigin}\n${base64(certified.publicKey)}\n`, certifier),
  };
}

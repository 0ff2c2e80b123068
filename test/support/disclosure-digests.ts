import * as z from 'zod';
import type { ConsentRecord } from '../../schemas/events/consent-recorded.js';
import { isDisclosureName } from '../../schemas/evidence/disclosed-values.js';
import { disclosureDigest } from '../../schemas/evidence/disclosure.js';

const Encoded = z.tuple([z.string(), z.string(), z.unknown()]);

/** The `disclosures` of a record that commits to these encoded disclosures. */
export function digestsByName(encoded: readonly string[]): ConsentRecord['disclosures'] {
  const digests: ConsentRecord['disclosures'] = {};
  for (const text of encoded) {
    const [, name] = Encoded.parse(JSON.parse(Buffer.from(text, 'base64url').toString()));
    if (!isDisclosureName(name)) throw new RangeError(`no record can commit to ${name}`);
    digests[name] = disclosureDigest(text);
  }
  return digests;
}

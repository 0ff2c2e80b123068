import { FORGED_DISCLOSURES } from './forged-disclosures.js';
import { FORGED_ENDS } from './forged-ends.js';
import { FORGED_IMPORTS } from './forged-imports.js';
import { FORGED_KEYS } from './forged-keys.js';
import { FORGED_MANIFESTS } from './forged-manifests.js';
import { FORGED_PERSONS } from './forged-persons.js';
import { FORGED_PLACES } from './forged-places.js';
import { FORGED_POLICIES } from './forged-policies.js';
import { FORGED_PROMISES } from './forged-promises.js';
import { FORGED_QUORUM } from './forged-quorum.js';
import { FORGED_RECEIPTS } from './forged-receipts.js';
import { FORGED_SCOPES } from './forged-scopes.js';
import { FORGED_STRUCTURE } from './forged-structure.js';
import { FORGED_TIMES } from './forged-times.js';
import { FORGED_VALIDITY } from './forged-validity.js';
import { FORGED_VERSIONS } from './forged-versions.js';
import { FORGED_WITNESSES } from './forged-witnesses.js';
import type { Forgery } from './forgery.js';

/** Every forgery of the dishonest operator. */
export const FORGERIES: readonly Forgery[] = [
  ...FORGED_DISCLOSURES,
  ...FORGED_ENDS,
  ...FORGED_PERSONS,
  ...FORGED_PLACES,
  ...FORGED_IMPORTS,
  ...FORGED_TIMES,
  ...FORGED_VALIDITY,
  ...FORGED_MANIFESTS,
  ...FORGED_KEYS,
  ...FORGED_VERSIONS,
  ...FORGED_POLICIES,
  ...FORGED_QUORUM,
  ...FORGED_PROMISES,
  ...FORGED_RECEIPTS,
  ...FORGED_WITNESSES,
  ...FORGED_SCOPES,
  ...FORGED_STRUCTURE,
];

import { afterAll, beforeAll } from 'vitest';
import { acceptanceResultRules } from './rules/acceptance-result.js';
import { apiKeyRules, keyGuessingRules } from './rules/api-key.js';
import { consentFieldRules, documentVersionRules } from './rules/consent-fields.js';
import { endpointRules } from './rules/endpoints.js';
import { s2sRules } from './rules/s2s.js';
import { signInRules } from './rules/sign-in.js';
import { signatureRules } from './rules/signature.js';
import { World } from './support/world.js';

const world = new World();
beforeAll(() => world.open(), 300_000);
afterAll(() => world.close(), 60_000);

endpointRules(world);
apiKeyRules(world);
signatureRules(world);
s2sRules(world);
signInRules(world);
consentFieldRules(world);
documentVersionRules(world);
acceptanceResultRules(world);
keyGuessingRules(world);

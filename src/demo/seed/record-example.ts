import { browserConsent } from './consents.js';
import { DEMO_CONFIG } from './demo-texts.js';
import { SignedClient } from './signed-client.js';

const CATEGORIES = DEMO_CONFIG.categories.map(({ key }) => key);
const CONSENTS = 300;
const BATCH = 100;

/**
 * Records decisions of an example site over HTTP, as the backend of a customer would: charts and lists
 * of a dashboard without any are empty.
 * @returns how many
 */
export async function recordExample(
  url: string,
  keys: { readonly read: string; readonly write: string },
): Promise<number> {
  const client = new SignedClient(url, keys);
  const [en, tr] = await Promise.all([
    client.activeVersion('cookie-policy', 'en'),
    client.activeVersion('cookie-policy', 'tr'),
  ]);
  for (let from = 0; from < CONSENTS; from += BATCH)
    await client.recordBatch(
      Array.from({ length: BATCH }, (_, index) => browserConsent(from + index, { en, tr }, CATEGORIES)),
    );
  return CONSENTS;
}

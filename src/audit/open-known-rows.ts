import { KeyError, type KeyRow, type Keyring, type OpenKeyRow } from '../platform/keys/index.js';

/**
 * Opens rows of `record_keys`. Rows that fail, and those of a site whose key is missing or altered, are
 * left out.
 */
export async function openKnownRows(
  keyring: Pick<Keyring, 'siteKey' | 'openKeyRows'>,
  rows: readonly KeyRow[],
): Promise<readonly OpenKeyRow[]> {
  const known = new Set<string>();
  for (const site of new Set(rows.map((row) => row.site_id))) if (await hasKey(keyring, site)) known.add(site);
  return keyring.openKeyRows(rows.filter((row) => known.has(row.site_id)));
}

async function hasKey(keyring: Pick<Keyring, 'siteKey'>, site: string): Promise<boolean> {
  try {
    await keyring.siteKey(site);
    return true;
  } catch (error) {
    if (error instanceof KeyError) return false;
    throw error;
  }
}

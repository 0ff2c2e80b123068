import type * as z from 'zod';
import type { ApiKeyRestriction as RestrictionSchema } from '../../../schemas/api/panel/api-keys.js';

/**
 * Clients that may use a key. `publishable`: browsers alone, because the key is in the source of
 * a page; `secret`: all clients except browsers. A key without a restriction may be used in both.
 */
export type ApiKeyRestriction = NonNullable<z.infer<typeof RestrictionSchema>>;

export interface ApiKey {
  readonly id: string;
  readonly siteId: string;
  readonly scope: 'read' | 'write';
  readonly restriction: ApiKeyRestriction | null;
  /** `test`: the key sees and changes test records alone, which no stage after admission ever gets. */
  readonly mode: 'live' | 'test';
}

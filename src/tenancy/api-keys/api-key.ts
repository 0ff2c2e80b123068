import type { z } from 'zod';
import type { ApiKeyRestriction as RestrictionSchema } from '../../../schemas/api/panel/api-keys.js';

/**
 * Where a key may be used. `publishable`: in browsers alone, because it is in the source of a page;
 * `secret`: not in browsers. A key without a restriction may be used in both.
 */
export type ApiKeyRestriction = NonNullable<z.infer<typeof RestrictionSchema>>;

export interface ApiKey {
  readonly id: string;
  readonly siteId: string;
  readonly scope: 'read' | 'write';
  readonly restriction: ApiKeyRestriction | null;
}

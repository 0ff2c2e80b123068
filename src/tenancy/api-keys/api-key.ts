/**
 * Where a key may be used. `publishable`: in browsers alone, because it is in the source of a page;
 * `secret`: not in browsers. A key without a restriction may be used in both.
 */
export type ApiKeyRestriction = 'publishable' | 'secret';

export interface ApiKey {
  readonly id: string;
  readonly siteId: string;
  readonly scope: 'read' | 'write';
  readonly restriction: ApiKeyRestriction | null;
}

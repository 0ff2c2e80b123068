import { z } from 'zod';
import { Uuid } from '../../evidence/primitives.js';
import { displayName, SiteParams, Timestamp } from './common.js';

export const ApiKeyScope = z.enum(['read', 'write']);
export const ApiKeyName = displayName(100);

export const ApiKey = z.object({
  id: Uuid,
  name: z.string(),
  /** The first characters of the key. */
  prefix: z.string(),
  scope: ApiKeyScope,
  created_at: Timestamp,
  /** To the minute; null: never. */
  last_used_at: Timestamp.nullable(),
  /** Of a key that was rotated: from then on it is refused. */
  expires_at: Timestamp.nullable(),
  /** The key that took its place. */
  replaced_by: Uuid.nullable(),
  revoked_at: Timestamp.nullable(),
});
export type ApiKey = z.infer<typeof ApiKey>;

/** A key that was just made. */
export const NewApiKey = ApiKey.extend({
  /** The key itself: kept nowhere, and never shown again. */
  key: z.string(),
});

export const ApiKeyParams = SiteParams.extend({ key_id: Uuid });

export const CreateApiKeyRequest = z.strictObject({ name: ApiKeyName.default(''), scope: ApiKeyScope });

export const ChangeApiKeyRequest = z.strictObject({ name: ApiKeyName });

export const RotateApiKeyRequest = z.strictObject({
  /** Seconds for which the old key works on. */
  grace_seconds: z.int().min(0).max(2_592_000).default(86_400),
});

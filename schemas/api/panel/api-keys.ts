import * as z from 'zod';
import { Uuid } from '../../evidence/primitives.js';
import { InputUuid } from '../common.js';
import { displayName, SiteParams, Timestamp } from './common.js';

export const ApiKeyScope = z.enum(['read', 'write']);
/** Clients that may use a key. */
export const ApiKeyRestriction = z
  .enum(['publishable', 'secret'])
  .nullable()
  .describe(
    'Where the key may be used. `publishable`: in browsers alone, with an allowed `Origin`, and not on S2S routes; `secret`: not in browsers. If null, in both.',
  );
/** What requests with a key read and change: the site's records, or its test records. */
export const ApiKeyMode = z
  .enum(['live', 'test'])
  .describe('`test`: the key sees and changes test records alone, which are no evidence and last 30 days.');
export const ApiKeyName = displayName(100);

export const ApiKey = z
  .object({
    id: Uuid.describe('UUID of the object.'),
    name: z.string().describe('Name that the team chose.'),
    prefix: z.string().describe('The first characters of the key.'),
    publishable_key: z
      .string()
      .nullable()
      .describe('The whole key if it is publishable and works. Null also if it cannot be shown: make a new one.'),
    scope: ApiKeyScope.describe('`write` can record, and contains `read`.'),
    restriction: ApiKeyRestriction,
    mode: ApiKeyMode,
    created_at: Timestamp.describe('When it was created.'),
    last_used_at: Timestamp.nullable().describe('When the key was last used, to the minute, or null for never.'),
    live_host: z
      .string()
      .nullable()
      .describe('Test key: host of visitors on which a page had it within a day, and permitted nothing optional.'),
    expires_at: Timestamp.nullable().describe('When a rotated key stops working.'),
    replaced_by: Uuid.nullable().describe('The key that replaces it.'),
    revoked_at: Timestamp.nullable().describe('When it was revoked, or null if it was not.'),
  })
  .meta({ id: 'ApiKey' });
export type ApiKey = z.infer<typeof ApiKey>;

/** A key that was just created. */
export const NewApiKey = ApiKey.extend({
  key: z.string().describe('The key. If it is not publishable, only this response contains it.'),
}).meta({ id: 'NewApiKey' });

/** An idempotency key that was reused with a different body. */
export const IdempotencyConflict = z
  .object({
    consent_token: z.string().describe('The consent that was kept: that of the first request.'),
    event_id: Uuid.describe('Its record.'),
    api_key_id: Uuid.describe('The API key of the requests that were not recorded.'),
    first_at: Timestamp.describe('When the first of them arrived.'),
    last_at: Timestamp.describe('When the last of them arrived.'),
    times: z.int().describe('Number of these requests.'),
  })
  .meta({ id: 'IdempotencyConflict' });
export type IdempotencyConflict = z.infer<typeof IdempotencyConflict>;

export const ApiKeyParams = SiteParams.extend({ key_id: InputUuid.describe('The API key.') });

export const CreateApiKeyRequest = z.strictObject({
  name: ApiKeyName.default('').describe('Name that the team chose.'),
  scope: ApiKeyScope.describe('`write` can record, and contains `read`.'),
  restriction: ApiKeyRestriction.default(null),
  mode: ApiKeyMode.default('live'),
});

export const ChangeApiKeyRequest = z.strictObject({ name: ApiKeyName.describe('Name that the team chose.') });

export const RotateApiKeyRequest = z.strictObject({
  grace_seconds: z
    .int()
    .min(0)
    .max(2_592_000)
    .default(86_400)
    .describe('Seconds for which the old key continues to work.'),
});

import { expect, test } from 'vitest';
import type * as z from 'zod';
import { en } from '../../dashboard/src/i18n/en/index.js';
import { tr } from '../../dashboard/src/i18n/tr/index.js';
import { fieldMessage } from '../../dashboard/src/ui/field-message.js';
import { ChangePasswordRequest } from '../../schemas/api/auth.js';
import { CreateCategoryRequest } from '../../schemas/api/panel/categories.js';
import { ChangeConfigurationRequest } from '../../schemas/api/panel/configuration.js';
import { CreateCookieRequest } from '../../schemas/api/panel/cookies.js';
import { CreateDocumentRequest } from '../../schemas/api/panel/documents.js';
import { UserExportRequest } from '../../schemas/api/panel/exports.js';
import { CreateInvitationRequest } from '../../schemas/api/panel/invitations.js';
import { CreateSiteRequest, RetentionRules } from '../../schemas/api/panel/sites.js';
import { CreateWebhookRequest } from '../../schemas/api/panel/webhooks.js';
import { schemaWords } from '../../schemas/json/schema-words.js';

const site = { name: 'Shop', domain: 'shop.example' };
const passwords = { current_password: 'x' };

/** Requests that users of the dashboard can send, with one mistake each. */
const MISTAKES: readonly (readonly [schema: z.ZodType, body: unknown])[] = [
  [CreateSiteRequest, { ...site, name: '' }],
  [CreateSiteRequest, { ...site, name: 'a'.repeat(301) }],
  [CreateSiteRequest, { ...site, name: 'a\u202eb' }],
  [CreateSiteRequest, { ...site, domain: 'shop' }],
  [CreateSiteRequest, { ...site, domain: '192.0.2.1' }],
  [CreateSiteRequest, { ...site, domain: 'shop.localhost' }],
  [CreateSiteRequest, { ...site, allowed_origins: ['shop.example'] }],
  [CreateSiteRequest, { ...site, allowed_ips: ['everywhere'] }],
  [CreateDocumentRequest, { slug: 'Cookie Policy', kind: 'cookie_policy' }],
  [CreateCategoryRequest.pick({ key: true }), { key: 'Büro' }],
  [CreateCategoryRequest.shape.services, [{ key: 'a', name: 'A', recipient: 'A Ltd', policy_url: 'http://a.example' }]],
  [CreateCookieRequest.pick({ name: true }), { name: 'two words' }],
  [ChangeConfigurationRequest, { revision: 0, withdrawal_url: 'http://shop.example' }],
  [ChangeConfigurationRequest, { revision: 0, accounts: { person_space: ' Shops' } }],
  [ChangeConfigurationRequest, { revision: 0, accounts: { person_space: 'a'.repeat(81) } }],
  [UserExportRequest, { stated: { reason: 'other', name: 'a\nb' } }],
  [CreateWebhookRequest, { url: 'shop', events: ['consent.recorded'] }],
  [RetentionRules, { retention_days: 0 }],
  [RetentionRules, { retention_days: 40_000 }],
  [RetentionRules, { retention_days: 1.5 }],
  [CreateInvitationRequest, { email: 'someone', role: 'viewer' }],
  [ChangePasswordRequest, { ...passwords, new_password: 'short' }],
  [ChangePasswordRequest, { ...passwords, new_password: ' '.repeat(12) }],
  [ChangePasswordRequest, { ...passwords, new_password: 'abababababab' }],
  [ChangePasswordRequest, { ...passwords, new_password: 'passwordpassword' }],
];

test.each(MISTAKES)('the problem of %# has words in both languages', (schema, body) => {
  const messages = schema.safeParse(body, { error: schemaWords }).error?.issues.map(({ message }) => message) ?? [];
  expect(messages).not.toEqual([]);
  for (const message of messages) {
    const [english, turkish] = [en, tr].map(({ fieldMessages }) => fieldMessage(fieldMessages, message));
    expect(english, message).not.toBe(message);
    expect(turkish, message).not.toBe(message);
    expect(turkish).not.toBe(english);
    expect(`${english} ${turkish}`).not.toMatch(/[\^$\\]|[a-z]\.\d/);
  }
});

test('a problem without other words stays as the service states it', () => {
  expect(fieldMessage(tr.fieldMessages, 'must be purple')).toBe('must be purple');
});

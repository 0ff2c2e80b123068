import { expect, test } from 'vitest';
import { DOCUMENT_VERSION_ACTIVATED, DOCUMENT_VERSION_RETIRED } from '../../schemas/events/notices.js';
import { fixtureAuthority } from '../support/ledger-fixture.js';
import { minute } from '../support/ledger-fixture-events.js';
import { buildPackage, type PackageHooks } from '../support/package-builder.js';
import { event, record } from './attacks/attack.js';
import { DAYS_365, nextConfiguration, stateOf, stating, withNotices } from './attacks/in-force-attacks.js';
import { notPassed, verifyFixture } from './support.js';

const authority = fixtureAuthority();
const verdictOf = async (hooks: PackageHooks) => {
  const report = await verifyFixture(authority, buildPackage(authority, hooks));
  return { verdict: report.verdict, ...notPassed(report) };
};

const accepted: readonly (readonly [string, PackageHooks])[] = [
  ['a configuration superseded in its own batch', withNotices(4, nextConfiguration(42))],
  ['a configuration superseded 5 minutes before, by a clock that differs', withNotices(4, nextConfiguration(36))],
  [
    'a version retired in its own batch',
    withNotices(4, stateOf('retired', DOCUMENT_VERSION_RETIRED, 'version tr', 40)),
  ],
  ['a shorter validity than the configuration allows', event('c0', record({ valid_until: minute(12).toISOString() }))],
  ['a consent that states its periods', event('c7', stating({}))],
  ['a refusal', event('c7', stating({ decision: 'rejected', categories: null, ask_again_at: DAYS_365 }))],
  [
    'a refusal for the validity of a configuration in its own batch',
    {
      world: (world) => {
        withNotices(4, nextConfiguration(42, { validity_days: 400 })).world?.(world);
        const until = minute(41 + 400 * 24 * 60).toISOString();
        event('c7', stating({ decision: 'partial', valid_until: until })).world?.(world);
      },
    },
  ],
  [
    'an objection',
    event(
      'c7',
      stating({ consent_type: 'objection', decision: 'rejected', categories: { analytics: false }, valid_until: null }),
    ),
  ],
  [
    'an objection that was taken back',
    event('c7', stating({ consent_type: 'objection', decision: 'withdrawn', categories: null, valid_until: null })),
  ],
  ['an opt-out', event('c7', stating({ consent_type: 'do_not_sell_opt_out', categories: null, valid_until: null }))],
  ['a consent of before of the type of an objection', event('c0', record({ consent_type: 'objection' }))],
  [
    'no approval token for cookies, though the version requires one',
    {
      world: ({ batches }) => {
        for (const { type, record } of batches.flat())
          if (type === 'DocumentVersionPublished.v1') record.requires_approval_token = true;
          else if (type === 'ConsentRecorded.v1') record.consent_type = 'cookie';
      },
    },
  ],
  [
    'an approval token for a version that requires one',
    event('c0', record({ identity_assurance: 'tenant_attested', approval_token_id: 'atk_1', vouched: ['visitor_id'] })),
  ],
];

test.each(accepted)('accepts %s', async (_, hooks) => {
  expect(await verdictOf(hooks)).toEqual({ verdict: 'valid' });
});

test('a notice of an unknown type does not change what was in force in earlier batches', async () => {
  const report = await verifyFixture(
    authority,
    buildPackage(authority, withNotices(4, stateOf('later', 'DocumentVersionResumed.v1', 'version en', 42))),
  );
  const check = report.checks.find(({ id }) => id === 'document.in-force');
  // Only c7 is in the batch of the unknown notice.
  expect(check?.counts).toMatchObject({ fail: 0, indeterminate: 1, pass: 7 });
});

test('names a contradiction of two notices once for the notice, and for each consent after it', async () => {
  const again = stateOf('again', DOCUMENT_VERSION_ACTIVATED, 'version tr', 42);
  const report = await verifyFixture(authority, buildPackage(authority, withNotices(4, again)));
  const check = report.checks.find(({ id }) => id === 'document.in-force');
  expect(check?.counts).toMatchObject({ fail: 2 });
  expect(check?.problems.map(({ stream }) => stream?.split('-')[0])).toEqual(['notices', 'consents']);
});

import { utf8 } from '../../../schemas/crypto/encoding.js';
import { DOCUMENT_VERSION_ACTIVATED, DOCUMENT_VERSION_RETIRED } from '../../../schemas/events/notices.js';
import { SITE_CONFIG_PUBLISHED } from '../../../schemas/events/site-config.js';
import type { JsonObject } from '../../../schemas/json/json-value.js';
import {
  configuration,
  type FixtureEvent,
  type FixtureWorld,
  fixtureUuid,
  minute,
  notice,
  version,
} from '../../support/ledger-fixture-events.js';
import type { PackageHooks } from '../../support/package-builder.js';
import { type Attack, attack, createdAt, doubt, event, record } from './attack.js';

/** Moves events from the first batch into the last. */
function sealedLater({ batches }: FixtureWorld, labels: readonly string[]): void {
  const moved = batches[0]?.filter(({ label }) => labels.includes(label)) ?? [];
  batches[0] = batches[0]?.filter((one) => !moved.includes(one)) ?? [];
  batches[4]?.push(...moved);
}

/** Adds notices to a batch. */
export function withNotices(batch: number, ...notices: readonly FixtureEvent[]): PackageHooks {
  return { world: ({ batches }) => void batches[batch]?.push(...notices) };
}

/** A second configuration, which no consent names. */
export function nextConfiguration(minutes: number, change: JsonObject = {}): FixtureEvent {
  const head = { event_id: fixtureUuid('config 2'), created_at: minute(minutes).toISOString(), number: 2 };
  return notice('config 2', SITE_CONFIG_PUBLISHED, { ...configuration(), ...head, ...change });
}

/** A further English version of the fixture's document, which no consent names. */
function nextVersion(minutes: number, change: JsonObject = {}): FixtureEvent {
  const head = { event_id: fixtureUuid('published 2'), created_at: minute(minutes).toISOString(), number: 2 };
  const published = version('version en 2', 'en', utf8('Other text'));
  return notice('published 2', 'DocumentVersionPublished.v1', { ...published, ...head, ...change });
}

export function stateOf(label: string, type: string, versionLabel: string, minutes: number): FixtureEvent {
  return notice(label, type, {
    v: 1,
    event_id: fixtureUuid(label),
    site_id: fixtureUuid('site'),
    created_at: minute(minutes).toISOString(),
    document_id: fixtureUuid('document'),
    document_version_id: fixtureUuid(versionLabel),
  });
}

/** `c7`, the last consent, is recorded in minute 41. */
export const DAYS_365 = minute(41 + 365 * 24 * 60).toISOString();

/** Lets a record state its rule and periods, by default as a consent under no rule. */
export const stating = (change: JsonObject): ReturnType<typeof record> =>
  record({ v: 2, services: null, rule_id: null, ask_again_at: null, scope: 'device', ...change });

const activated = (minutes: number) => stateOf('activated 2', DOCUMENT_VERSION_ACTIVATED, 'version en 2', minutes);
const retired = (minutes: number, label = 'version en') =>
  stateOf(`retired ${label}`, DOCUMENT_VERSION_RETIRED, label, minutes);

/** Attacks on the notices in force at a consent, and on their requirements. */
export function inForceAttacks(): Attack[] {
  return [
    attack('a text published after the consents to it', 'document.in-force', {
      world: (world) => sealedLater(world, ['published version en', 'activated en']),
    }),
    attack('a version activated after the consents to it', 'document.in-force', {
      world: (world) => sealedLater(world, ['activated en']),
    }),
    attack('a version that was never activated', 'document.in-force', {
      world: ({ batches }) => void batches[0]?.pop(),
    }),
    attack(
      'a version retired before the consents to it',
      'document.in-force',
      event('activated tr', (one) => {
        one.type = DOCUMENT_VERSION_RETIRED;
        one.record.document_version_id = fixtureUuid('version en');
      }),
    ),
    attack('a version retired in a batch between the consents to it', 'document.in-force', withNotices(2, retired(23))),
    attack(
      'a version retired in the batch of a consent, ten minutes before it',
      'document.in-force',
      withNotices(4, retired(30, 'version tr')),
    ),
    attack('a configuration published after the consents under it', 'document.in-force', {
      world: (world) => sealedLater(world, ['config']),
    }),
    attack('a configuration that was superseded', 'document.in-force', withNotices(2, nextConfiguration(23))),
    attack(
      'a configuration superseded by created_at, though not by place',
      'document.in-force',
      withNotices(4, nextConfiguration(25)),
    ),
    attack(
      'a configuration whose number was used before',
      'document.in-force',
      withNotices(4, nextConfiguration(43, { number: 1 })),
    ),
    attack(
      'two active versions of one document and language',
      'document.in-force',
      withNotices(1, nextVersion(14), activated(15)),
    ),
    attack(
      'two texts under one number of a document and language',
      'document.in-force',
      withNotices(4, nextVersion(43, { number: 1 })),
    ),
    attack(
      'a version activated again after it was retired',
      'document.in-force',
      withNotices(4, retired(43), stateOf('again', DOCUMENT_VERSION_ACTIVATED, 'version en', 44)),
    ),
    attack(
      'a retirement of a version that was not published',
      'document.in-force',
      withNotices(4, retired(43, 'another version')),
    ),
    attack('a consent created before its text was published', 'document.in-force', createdAt('c0', -5)),
    attack(
      'a required approval token that is absent',
      'document.in-force',
      event('published version tr', record({ requires_approval_token: true })),
    ),
    attack(
      'a consent that is valid for longer than its configuration allows',
      'document.in-force',
      event('c0', record({ valid_until: minute(11 + 365 * 24 * 60 + 1).toISOString() })),
    ),
    attack(
      'a consent without an end under a configuration with one',
      'document.in-force',
      event('c0', record({ valid_until: null })),
    ),
    attack('a rule that was never published', 'document.configuration', event('c7', stating({ rule_id: 'uk' }))),
    attack(
      'an objection that permits',
      'record.format',
      event('c7', stating({ consent_type: 'objection', decision: 'rejected', valid_until: null })),
    ),
    attack(
      'a choice of a device that is sealed as that of an account',
      'record.format',
      event('c7', stating({ scope: 'account' })),
    ),
    attack(
      'a choice of an account under a configuration without accounts',
      'document.configuration',
      event('c7', stating({ scope: 'account', channel: 's2s' })),
    ),
    attack('records of before after one that states its scope', 'record.format', event('c0', stating({}))),
    attack(
      'a refusal that ends before an earlier consent can',
      'document.in-force',
      event('c7', stating({ decision: 'rejected', ask_again_at: DAYS_365, valid_until: minute(42).toISOString() })),
    ),
    attack(
      'a refusal that is asked about again after a day',
      'document.in-force',
      event('c7', stating({ decision: 'rejected', ask_again_at: minute(41 + 24 * 60).toISOString() })),
    ),
    attack(
      'a vouched value to which the record does not commit',
      'record.format',
      event(
        'c0',
        record({ identity_assurance: 'tenant_attested', approval_token_id: 'atk_1', vouched: ['signer_name'] }),
      ),
    ),
    attack('vouched values without a token', 'record.format', event('c0', record({ vouched: ['visitor_id'] }))),
    attack(
      'an approval token without an assurance',
      'record.format',
      event('c0', record({ approval_token_id: 'atk_1' })),
    ),
    attack(
      'an assurance without an approval token',
      'record.format',
      event('c0', record({ identity_assurance: 'tenant_attested' })),
    ),
    doubt(
      'an activation of an unknown type',
      'document.in-force',
      event('activated en', (one) => Object.assign(one, { type: 'DocumentVersionActivated.v2' })),
    ),
    doubt(
      'a period that is longer than known configurations allow, beside a notice of an unknown type',
      'document.in-force',
      {
        world: (world) => {
          withNotices(4, stateOf('later', 'DocumentVersionResumed.v1', 'version en', 42)).world?.(world);
          const until = minute(41 + 400 * 24 * 60).toISOString();
          event('c7', stating({ decision: 'partial', valid_until: until })).world?.(world);
        },
      },
    ),
    attack('a partial consent that is valid for longer than all configurations', 'document.in-force', {
      world: (world) => {
        const until = minute(41 + 400 * 24 * 60).toISOString();
        event('c7', stating({ decision: 'partial', valid_until: until })).world?.(world);
      },
    }),
    doubt('a retirement that a notice of an unknown type could undo', 'document.in-force', {
      world: ({ batches }) => {
        const [notices] = batches;
        notices?.push(retired(3), stateOf('resumed', 'DocumentVersionResumed.v1', 'version en', 4));
      },
    }),
  ];
}

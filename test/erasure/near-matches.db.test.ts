import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { UnknownSite } from '../../src/erasure/journal.js';
import { findSpellings, nearSpellings } from '../../src/erasure/near-matches.js';
import { type BlindIndexKind, blindIndex } from '../../src/platform/keys/index.js';
import { type LedgerWorld, openLedgerWorld } from '../evidence/package/ledger-world.js';

describe('similar spellings', () => {
  const siteKey = randomBytes(32);
  const index = (kind: BlindIndexKind, value: string) => blindIndex(siteKey, kind, value).toString('hex');

  it.each<[BlindIndexKind, string, string]>([
    ['phone', '+44 20 7946 0000', '020 79460000'],
    ['phone', '+44 20 7946 0000', '44 20 7946 0000'],
    ['phone', '020 7946 0000', '20 7946 0000'],
    ['phone', '+90 0532 111 22 33', '+90 532 111 22 33'],
    ['email', 'ada.l+shop@example.org', 'ADAL@example.org'],
    ['email', 'jos\u00e9@example.org', 'jose@example.org'],
    ['email', '\uff41da@example.org', 'ada@example.org'],
    ['id_number', 'ab 12-3', 'AB123'],
    ['visitor', ' User-1', 'user-1'],
    ['visitor', 'user-1', 'user-1 '],
  ])('of the %s %j include %j', (kind, value, other) => {
    expect(nearSpellings(kind, value).map((spelling) => index(kind, spelling))).toContain(index(kind, other));
  });

  it.each<[BlindIndexKind, string, string]>([
    ['email', 'ismet@example.org', 'İSMET@example.org'],
    ['email', 'ısmet@example.org', 'ISMET@example.org'],
    ['email', 'ısmet@example.org', 'İSMET@example.org'],
    ['email', 'ismet.yilmaz@example.org', 'ismet.yılmaz@example.org'],
    ['email', 'İSMET.YILMAZ@example.org', 'ismet.yılmaz@example.org'],
    ['email', 'ayşegül.çığ@example.org', 'aysegul.cig@example.org'],
    ['email', 'ayşegül@example.org', 'AYSEGÜL@example.org'],
    ['email', 'straße@example.org', 'STRASSE@example.org'],
    ['email', 'STRAẞE@example.org', 'strasse@example.org'],
    ['email', 'ΟΔΟΣ@example.org', 'οδοσ@example.org'],
    ['email', 'josé@example.org', 'JOSE@example.org'],
    ['email', 'ａｄａ@example.org', 'ada@example.org'],
    ['email', 'ada＠example.org', 'ada@example.org'],
    ['visitor', 'user-i', 'USER-İ'],
    ['visitor', 'user-ı', 'USER-I'],
    ['visitor', 'user-ı', 'user-i'],
    ['visitor', 'user-ß', 'USER-SS'],
    ['visitor', 'user-ß', 'USER-ẞ'],
    ['visitor', 'οδος', 'ΟΔΟΣ'],
    ['visitor', 'οδος', 'οδοσ'],
    ['visitor', 'ｕｓｅｒ', 'user'],
    ['visitor', 'ｕｓｅｒ', 'USER'],
    ['id_number', 'AI1', 'aı1'],
  ])('of the %s %j and of %j include each other', (kind, one, other) => {
    const spellings = (value: string) => nearSpellings(kind, value).map((spelling) => index(kind, spelling));
    expect(spellings(one)).toContain(index(kind, other));
    expect(spellings(other)).toContain(index(kind, one));
  });

  it('are not many, whatever the value', () => {
    expect(nearSpellings('email', `${'is'.repeat(160)}@example.org`).length).toBeLessThan(5000);
  });

  it.each<[BlindIndexKind, string]>([
    ['email', 'ada@example.org'],
    ['phone', '+44 20 7946 0000'],
    ['phone', ''],
    ['visitor', 'user'],
  ])('of the %s %j are distinct and not the value itself', (kind, value) => {
    const indexes = nearSpellings(kind, value).map((spelling) => index(kind, spelling));
    expect(new Set([index(kind, value), ...indexes]).size).toBe(indexes.length + 1);
  });
});

describe('the dry run of an erasure', () => {
  let world: LedgerWorld;
  beforeAll(async () => {
    world = await openLedgerWorld();
  });
  afterAll(() => world.close());

  it('counts the records of the value and of similar spellings in the site, and changes nothing', async () => {
    const { pipeline, keyring, site, otherSite } = world;
    const people = ['User-1', 'user-1', 'user-1', 'user-1 ', 'user-2'];
    await world.record(
      site,
      people.map((visitorId) => ({ visitorId })),
    );
    await world.record(otherSite, [{ visitorId: 'USER-1' }]);
    const found = await findSpellings(pipeline.worker, keyring, site.siteId, { kind: 'visitor', value: 'User-1' });
    expect(found[0]).toEqual({ spelling: 'User-1', isExact: true, records: 1, hasMore: false });
    expect(found.slice(1).map(({ spelling, records }) => [spelling, records])).toEqual([
      ['user-1', 2],
      ['user-1 ', 1],
    ]);
    const { rows } = await pipeline.owner.query(
      'select (select count(*)::int from record_keys) as keys, (select count(*)::int from erasure_requests) as requests',
    );
    expect(rows).toEqual([{ keys: 6, requests: 0 }]);
  });

  it('names the value also if it has no records, and refuses an unknown site', async () => {
    const { pipeline, keyring, site } = world;
    const person = { kind: 'email', value: 'nobody@example.org' } as const;
    expect(await findSpellings(pipeline.worker, keyring, site.siteId, person)).toEqual([
      { spelling: 'nobody@example.org', isExact: true, records: 0, hasMore: false },
    ]);
    const unknown = '00000000-0000-7000-8000-000000000000';
    await expect(findSpellings(pipeline.worker, keyring, unknown, person)).rejects.toBeInstanceOf(UnknownSite);
  });
});

import { describe, expect, test } from 'vitest';
import type { Request } from './export.js';
import { TimeAuthority } from './time-authority.js';
import { honestLedger, honestPackage, notPassed, verify } from './verification.js';
import { consentId, WORLDS } from './world.js';

const authority = new TimeAuthority();

const REQUESTS: Readonly<Record<string, Request>> = {
  'the whole site': {},
  'a person': { person: 'alice' },
  'a person with an erased record': { person: 'carol' },
  'event ids': { eventIds: [consentId('alice 2'), consentId('bob 1')] },
  'a time range': { from: '2026-03-02T08:00:00.000Z', to: '2026-03-02T08:10:00.000Z', disclose: ['visitor_id'] },
};

describe.each(Object.entries(WORLDS))('in the world %s', (_, world) => {
  const ledger = honestLedger(world, authority);

  test.each(Object.entries(REQUESTS))('the honest package for %s is valid', async (_request, request) => {
    const report = await verify(honestPackage(ledger, request), ledger.plan, authority);
    expect(notPassed(report)).toEqual({});
    expect(report.verdict).toBe('valid');
  });

  test.each(ledger.plan.stamps.slice(1))('the honest package as of checkpoint $size is valid', async ({ size }) => {
    const report = await verify(honestPackage(ledger, {}, size), ledger.plan, authority);
    expect(notPassed(report)).toEqual({});
    expect(report.verdict).toBe('valid');
  });
});

test('the honest package of a ledger with a roll-up of level 2 is valid', async () => {
  const stamps = Array.from({ length: 56 }, (_, i) => (i + 1) * 300);
  const world = { size: 16_800, from: 100, every: 1_640, stamps };
  const ledger = honestLedger(world, authority);
  const report = await verify(honestPackage(ledger, { person: 'alice' }), ledger.plan, authority);
  expect(notPassed(report)).toEqual({});
  expect(report.verdict).toBe('valid');
});

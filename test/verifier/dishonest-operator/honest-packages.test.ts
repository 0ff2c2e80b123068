import { describe, expect, test } from 'vitest';
import { REQUESTS } from './honest-requests.js';
import { TimeAuthority } from './time-authority.js';
import { honestLedger, honestPackage, notPassed, verify } from './verification.js';
import { WORLDS } from './world.js';

const authority = new TimeAuthority();

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

import { expect, test } from 'vitest';
import { DEFAULT_POLICY, Policies } from '../../verifier-cli/src/policy/policies.js';
import { PolicyDelays } from '../../verifier-cli/src/time/allowed-delays.js';

const policy = (number: number, sealWithinMs: number, stampWithinMs: number) => ({
  ...DEFAULT_POLICY,
  number,
  sealWithinMs,
  stampWithinMs,
});
const DEFAULTS = { sealMs: 600_000, stampMs: 4_200_000 };
const LONG = policy(1, 9_000_000, 9_000_000);

/** Policies by batch; a batch exists by the time of its number, in thousands. */
function delays(placed: readonly (readonly [batch: number, one: typeof LONG])[], maxDelay?: number): PolicyDelays {
  const existedBy = (batch: number) =>
    batch < 90 ? { size: batch + 1, file: '', time: batch * 1000, accuracy: 10 } : null;
  return new PolicyDelays({
    policies: new Policies(placed.map(([batch, one]) => ({ batch, createdAt: batch * 1000, policy: one }))),
    existedBy,
    maxDelay,
  });
}

test('a longer delay counts from the proved time of its policy, with the accuracy', () => {
  const some = delays([[7, LONG]]);
  expect(some.of(6, 99_000)).toEqual(DEFAULTS);
  expect(some.of(7, 7_009)).toEqual(DEFAULTS);
  expect(some.of(7, 7_010)).toEqual({ sealMs: 9_000_000, stampMs: 18_000_000 });
  expect(some.of(90, 7_010)).toEqual({ sealMs: 9_000_000, stampMs: 18_000_000 });
});

test('a policy that no time stamp covers lengthens nothing', () => {
  expect(delays([[95, LONG]]).of(99, 99_000_000)).toEqual(DEFAULTS);
});

test('a shorter delay counts from its proved time as well: what waited until then was promised the longer one', () => {
  const some = delays([
    [0, LONG],
    [5, policy(2, 60_000, 1_000)],
  ]);
  expect(some.of(4, 3_000)).toEqual({ sealMs: 9_000_000, stampMs: 18_000_000 });
  expect(some.of(6, 5_009)).toEqual({ sealMs: 9_000_000, stampMs: 18_000_000 });
  expect(some.of(6, 5_010)).toEqual({ sealMs: 60_000, stampMs: 61_000 });
});

test('the newest policy that existed at the time of the record decides', () => {
  const some = delays([
    [0, LONG],
    [5, policy(2, 60_000, 1_000)],
    [8, policy(3, 90_000, 9_000)],
  ]);
  expect(some.of(9, 8_010)).toEqual({ sealMs: 90_000, stampMs: 99_000 });
  expect(some.of(9, 8_009)).toEqual({ sealMs: 60_000, stampMs: 61_000 });
  expect(some.of(9, 10)).toEqual({ sealMs: 9_000_000, stampMs: 18_000_000 });
  expect(some.of(9, 9)).toEqual(DEFAULTS);
});

test('of several policies in one batch, the last one decides', () => {
  const some = delays([
    [3, LONG],
    [3, policy(2, 60_000, 1_000)],
  ]);
  expect(some.of(4, 3_009)).toEqual(DEFAULTS);
  expect(some.of(4, 3_010)).toEqual({ sealMs: 60_000, stampMs: 61_000 });
});

test('the relying party may only shorten the delay to the stamp', () => {
  expect(delays([[0, LONG]], 5_000).of(3, 2_000)).toEqual({ sealMs: 9_000_000, stampMs: 5_000 });
});

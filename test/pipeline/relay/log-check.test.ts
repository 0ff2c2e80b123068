import { expect, test } from 'vitest';
import { LogBehind, RevisionGap } from '../../../src/pipeline/event-log/errors.js';
import { damageOf } from '../../../src/pipeline/relay/log-check.js';

test('a stream that lost its last or its first event is damaged, and one that has grown is not', () => {
  const stream = 'consents-00000000-0000-4000-8000-000000000001';
  expect(damageOf({ stream, known: 4, first: 0, actual: 3 })).toBeInstanceOf(LogBehind);
  expect(damageOf({ stream, known: 4, first: 1, actual: 4 })).toBeInstanceOf(RevisionGap);
  expect(damageOf({ stream, known: 0, first: -1, actual: -1 })).toBeInstanceOf(LogBehind);
  for (const actual of [4, 5]) expect(damageOf({ stream, known: 4, first: 0, actual })).toBeNull();
  expect(damageOf({ stream, known: -1, first: -1, actual: -1 })).toBeNull();
});

import { describe, expect, test } from 'vitest';
import {
  type InForce,
  isOld,
  nextMove,
  passedBy,
  type QueuedConsent,
  recordedAs,
  streamOf,
  type Tries,
} from '../../../sdk/core/queue.js';

const item = (key: string, sent: Record<string, unknown>, queued_at = 0): QueuedConsent => ({
  idempotency_key: key,
  queued_at,
  body: JSON.stringify({
    consent_type: 'cookie',
    decision: 'accepted',
    document_version_id: 'v1',
    visitor_id: 'a',
    ...sent,
  }),
});
const tried = (faults: number, count = faults, notBefore = 0): Tries => ({ count, faults, notBefore });
const accept = item('accept', {});
const refuse = item('refuse', { decision: 'withdrawn' });
const approval = item('approval', { consent_type: 'document_approval' });

describe('the queue', () => {
  test('lets no consent wait for one of another kind, person or document', () => {
    const others = [
      accept,
      approval,
      item('o', { consent_type: 'do_not_sell_opt_out' }),
      item('b', { visitor_id: 'b' }),
      item('d', { consent_type: 'document_approval', document_version_id: 'v2' }),
    ];
    expect(new Set(others.map(streamOf)).size).toBe(others.length);
    expect(streamOf(accept)).toBe(streamOf(item('v2', { document_version_id: 'v2' })));
  });

  test('keeps the order of choices while the first one can be sent', () => {
    const tries = new Map([['accept', tried(2)]]);
    expect(nextMove([accept, refuse], tries, 1, 0)).toEqual({ send: accept });
    expect(nextMove([accept, refuse], new Map([['accept', tried(0, 2, 11)]]), 1, 0)).toEqual({ waitMs: 10 });
  });

  test('lets the others pass one that keeps failing by itself, and gives it up once a later choice was accepted', () => {
    const tries = new Map([['accept', tried(3)]]);
    expect(nextMove([accept, refuse], tries, 1, 0)).toEqual({ send: refuse });
    expect(passedBy(refuse, [accept, refuse])).toEqual([accept]);
    expect(passedBy(accept, [accept, refuse])).toEqual([]);
    expect(passedBy(item('again', { consent_type: 'document_approval' }), [approval])).toEqual([]);
  });

  test('tries a withdrawal although the service asked for a pause before', () => {
    expect(nextMove([accept], new Map(), 1, 1_001)).toEqual({ waitMs: 1_000 });
    expect(nextMove([refuse], new Map(), 1, 1_001)).toEqual({ send: refuse });
  });

  test('waits for no pause that was kept before the clock was set back', () => {
    const [hour, day] = [3_600_000, 86_400_000];
    expect(nextMove([accept], new Map(), 1, 1 + hour)).toBeNull();
    expect(nextMove([accept], new Map(), 1, 1 + day)).toEqual({ send: accept });
  });

  test('rests after eight attempts', () => {
    expect(nextMove([accept], new Map([['accept', tried(0, 8)]]), 1, 0)).toBeNull();
  });

  test.each([
    [0, false],
    [3_500_000, false],
    [3_700_000, true],
    [-120_000, true],
  ])('asks for the status first after %i ms: %s', (age, isAsked) => {
    expect(isOld({ ...accept, queued_at: 10 ** 12 }, 10 ** 12 + age)).toBe(isAsked);
  });

  test('finds the record of a lost answer: the newest, which says the same and is not of an earlier choice', () => {
    const record = (consent_token: string, decision: string): InForce => ({
      consent_token,
      proof_hash: 'f'.repeat(64),
      created_at: '2026-01-01T00:00:00.000Z',
      decision,
      categories: null,
    });
    const [first, withdrawn] = [record('ct_1', 'accepted'), record('ct_2', 'withdrawn')];
    const queuedAt = (ms: number): QueuedConsent => ({ ...accept, queued_at: Date.UTC(2026, 0, 1) + ms });
    expect(recordedAs(queuedAt(0), [first], [])).toMatchObject({ consent_token: 'ct_1', duplicate: true });
    expect(recordedAs(queuedAt(0), [withdrawn, first], [])).toBeNull();
    expect(recordedAs(queuedAt(0), [first], [first])).toBeNull();
    expect(recordedAs(queuedAt(3_600_000), [first], [])).toBeNull();
    expect(recordedAs(queuedAt(0), [], [])).toBeNull();
    expect(recordedAs(queuedAt(0), [{ ...first, imported_from: null }], [])).not.toBeNull();
    expect(recordedAs(queuedAt(0), [{ ...first, imported_from: 'Former tool' }], [])).toBeNull();
  });
});

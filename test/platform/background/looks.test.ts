import { expect, test } from 'vitest';
import { Looks } from '../../../src/platform/background/waiting.js';
import { createPool } from '../../../src/platform/database/pool.js';

const NEVER_MS = 3_600_000;

/** Looks at a database that gives these answers in turn, the last one again and again. */
function looksAt(...answers: readonly (Readonly<Record<string, boolean>> | null)[]) {
  const asked: string[] = [];
  const options = { url: '', applicationName: 'looks', maxConnections: 1, statementTimeoutMs: 0 };
  const db = createPool({ ...options, onIdleError: () => undefined });
  const query = async ({ text }: { readonly text: string }) => {
    const answer = answers[Math.min(asked.push(text), answers.length) - 1];
    if (answer == null) throw new Error('the database is away');
    return { rows: [answer] };
  };
  return { looks: new Looks(Object.assign(db, { query }), 1), asked };
}

test('one statement wakes those whose condition holds, and is not asked while nobody waits', async () => {
  const { looks, asked } = looksAt({ c1: false, c2: false }, { c1: false, c2: true });
  const [one, two] = [looks.add('first'), looks.add('second')];
  const stop = new AbortController();
  let isWoken = false;
  const waiting = one.wait(NEVER_MS, stop.signal).then(() => {
    isWoken = true;
  });
  await two.wait(NEVER_MS);
  expect([asked, isWoken]).toEqual([Array(2).fill('select (first) as c1, (second) as c2'), false]);
  stop.abort();
  await waiting;
  const { length } = asked;
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(asked.length).toBeLessThanOrEqual(length + 1);
});

test('a statement that fails wakes all, and a wait ends by itself', async () => {
  const { looks } = looksAt(null, { c1: false, c2: false });
  const [one, two] = [looks.add('first'), looks.add('second')];
  await Promise.all([one.wait(NEVER_MS), two.wait(NEVER_MS)]);
  await one.wait(10);
});

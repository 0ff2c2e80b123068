import { randomBytes, randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { recordKey, SEED_BYTES, sealOfKeyRow } from '../../../src/platform/keys/index.js';
import { KeyRow, openKeyColumns, openKeyRow } from '../../../src/platform/keys/key-rows.js';

const siteKey = randomBytes(32);

function row(visitor: Buffer | null, email: Buffer | null) {
  const eventId = randomUUID();
  const seed = randomBytes(SEED_BYTES);
  const key = recordKey(siteKey, seed, eventId);
  const seal = sealOfKeyRow(key, { visitor, email, phone: null, id_number: null });
  return { event_id: eventId, seed, seal, visitor_index: visitor, email_index: email };
}

it('opens columns as openKeyRow opens rows, and refuses the same altered ones', () => {
  const good = [row(null, null), row(randomBytes(16), null), row(randomBytes(16), randomBytes(16))];
  const [first, second, third] = good.map((one) => ({ ...one, visitor_index: one.visitor_index ?? randomBytes(16) }));
  const long = row(randomBytes(16), null);
  const altered = [
    { ...row(null, null), seed: randomBytes(SEED_BYTES) },
    { ...row(null, null), seed: randomBytes(SEED_BYTES + 1) },
    { ...row(null, null), seal: randomBytes(15) },
    { ...row(null, null), event_id: randomUUID() },
    { ...row(randomBytes(16), null), visitor_index: null },
    { ...long, visitor_index: Buffer.concat([long.visitor_index ?? Buffer.of(), Buffer.of(0)]) },
    first,
  ].filter((one) => one !== undefined);
  const rows = [...good, ...altered, ...[second, third].filter((one) => one !== undefined)];
  const hex = (bytes: Buffer | null) => bytes?.toString('hex') ?? null;
  const none = rows.map(() => null);
  const opened = openKeyColumns(siteKey, {
    eventIds: rows.map((one) => one.event_id),
    seeds: rows.map((one) => one.seed.toString('hex')),
    seals: rows.map((one) => one.seal.toString('hex')),
    indexes: {
      visitor: rows.map((one) => hex(one.visitor_index)),
      email: rows.map((one) => hex(one.email_index)),
      phone: none,
      id_number: none,
    },
  });
  const expected = rows.map((one) => {
    const whole = { ...one, site_id: randomUUID(), phone_index: null, id_number_index: null };
    return openKeyRow(siteKey, KeyRow.parse(whole))?.key ?? null;
  });
  expect(opened.map((key) => key && Buffer.from(key).toString('hex'))).toEqual(
    expected.map((key) => key && Buffer.from(key).toString('hex')),
  );
  expect(expected.map((key) => key !== null)).toEqual([true, true, true, ...altered.map(() => false), true, true]);
});

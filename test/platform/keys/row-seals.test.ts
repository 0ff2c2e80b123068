import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { SealedRow } from '../../../src/platform/keys/row-seals.js';

const [key, other] = [randomBytes(32), randomBytes(32)];
const content = '{"id": "one", "role": "viewer"}\n{"note": null}';

/** A row as a statement returns it. */
const rowWith = (seal: Buffer | null, text = `users ${content}`) =>
  new SealedRow('users', `${seal?.toString('hex') ?? ''} ${text}`);

it('opens a sealed row under its key alone, and only as it was sealed', () => {
  const seal = rowWith(null).sealUnder(key);
  expect(rowWith(seal).contentUnder(key)).toEqual({ id: 'one', role: 'viewer', note: null });
  expect(rowWith(seal).contentUnder(other)).toBeNull();
  expect(rowWith(seal, `users ${content.replace('viewer', 'owner')}`).contentUnder(key)).toBeNull();
  // A column that was added later, and is null.
  expect(
    rowWith(seal, `users ${content.replace('{"note": null}', '{"note": null, "more": null}')}`).contentUnder(key),
  ).not.toBeNull();
  expect(rowWith(seal, `sites ${content}`).contentUnder(key)).toBeNull();
  expect(rowWith(seal.subarray(1)).contentUnder(key)).toBeNull();
  expect(rowWith(null).contentUnder(key)).toBeNull();
});

it('names the key of a row that it does not open', () => {
  expect(rowWith(null).key).toBe('one');
  expect(new SealedRow('audit_log', ' audit_log {"seq": 4711}\n{}').key).toBe('4711');
});

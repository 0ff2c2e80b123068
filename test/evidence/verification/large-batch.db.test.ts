import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { verifyInclusion } from '../../../schemas/merkle/verify-inclusion.js';
import type { SeededDemo } from '../../../src/demo/seed/seed-demo.js';
import { readBatchPath } from '../../../src/pipeline/ledger/batch-nodes.js';
import { ask, get, type RunningApp, startApp } from '../../api/server/running-app.js';
import { postSigned } from '../../support/signed-requests.js';
import { eventually } from '../../support/wait.js';

const Leaf = z.object({ index: z.int(), event_id: z.string(), hash: z.instanceof(Uint8Array) });
const WRONG_HASH = new Uint8Array(32).fill(0xab);
const Batch = z.object({ number: z.int(), count: z.int(), root: z.instanceof(Uint8Array) });

describe('verification of a record in a large batch', () => {
  let app: RunningApp;
  let demo: SeededDemo;
  let batch: z.infer<typeof Batch>;
  let leaves: readonly z.infer<typeof Leaf>[];
  beforeAll(async () => {
    app = await startApp('serve', { PUBLIC_VERIFY_LIMIT: '100000', BATCH_MAX_AGE_MS: '5000' });
    demo = await app.seed();
    const policy = demo.documents.find(({ kind }) => kind === 'cookie_policy');
    const version = policy?.versions.find(({ state, language }) => state === 'active' && language === 'en');
    const consents = Array.from({ length: 100 }, () => ({
      consent_type: 'cookie',
      decision: 'accepted',
      document_version_id: version?.id,
      idempotency_key: randomUUID(),
    }));
    for (let i = 0; i < 3; i += 1) {
      const items = consents.map((consent) => ({ ...consent, idempotency_key: randomUUID() }));
      const response = await postSigned(app.url, demo.keys.write, '/tool/v1/consents/batch', { consents: items });
      expect(response.status).toBe(202);
    }
    await eventually(async () => {
      const { rowCount } = await app.superuser.query(`select from leaves where stream like 'consents-%'`);
      expect(rowCount).toBe(300);
    });
    const batches = await app.superuser.query('select number, count, root from batches order by count desc limit 1');
    batch = z.tuple([Batch]).parse(batches.rows)[0];
    const rows = await app.superuser.query('select index, event_id, hash from leaves where batch = $1 order by index', [
      batch.number,
    ]);
    leaves = z.array(Leaf).parse(rows.rows);
  });
  afterAll(() => app.stop());

  const consentAt = (index: number): string => leaves[index]?.event_id ?? '';
  const answers = async (id: string) => {
    const [keyed, open] = await Promise.all([
      get(app, `/tool/v1/consents/verify/${id}`, demo.keys.read),
      ask(`${app.url}/api/v1/public/consents/verify?id=${id}`),
    ]);
    return [keyed.body, open.body];
  };
  const sql = (text: string, values: unknown[] = []) => app.superuser.query(text, values);
  const setLeaf = (index: number, hash: Uint8Array | undefined) =>
    sql('update batches set leaves = overlay(leaves placing $3 from $2 * 32 + 1 for 32) where number = $1', [
      batch.number,
      index,
      hash,
    ]);
  const damageLines = () => app.log().split('do not lead to its root').length - 1;
  const valid = [
    { valid: true, data: { merkle_valid: true } },
    { valid: true, data: { merkle_valid: true } },
  ];
  const invalid = [
    { valid: false, data: { merkle_valid: false } },
    { valid: false, data: { merkle_valid: false } },
  ];

  it('finds a path to the root for each leaf in the stored nodes', async () => {
    expect(batch.count).toBeGreaterThan(50);
    for (const { index, hash } of leaves) {
      const path = await readBatchPath(app.superuser, batch.number, index, batch.count);
      expect(path?.length).toBeLessThanOrEqual(Math.ceil(Math.log2(batch.count)));
      expect(verifyInclusion(index, batch.count, hash, path ?? [], batch.root), String(index)).toEqual({ ok: true });
    }
    expect(await readBatchPath(app.superuser, batch.number, batch.count, batch.count)).toBeNull();
  });

  it('reads no leaf outside the path', async () => {
    // It is below an inner node of the path.
    const altered = 40;
    await setLeaf(altered, WRONG_HASH);
    const [others, own] = [await answers(consentAt(30)), await answers(consentAt(altered))];
    await setLeaf(altered, leaves[altered]?.hash);
    expect(others).toMatchObject(valid);
    expect(own).toMatchObject(invalid);
    expect(damageLines()).toBe(0);
  });

  it.each([
    ['altered', `decode(repeat('ab', length(nodes)), 'hex')`],
    ['truncated', `substring(nodes from 1 for 40)`],
    ['missing', `''`],
  ])('reports stored nodes that are %s, and lets the leaves decide', async (_what, damaged) => {
    const { rows } = await sql('select nodes from batches where number = $1', [batch.number]);
    const before = damageLines();
    await sql(`update batches set nodes = ${damaged} where number = $1`, [batch.number]);
    const damagedNodes = await answers(consentAt(30));
    await setLeaf(5, WRONG_HASH);
    const damagedLeafToo = await answers(consentAt(30));
    await setLeaf(5, leaves[5]?.hash);
    await sql('update batches set nodes = $2 where number = $1', [batch.number, rows[0]?.nodes]);
    expect(damagedNodes).toMatchObject(valid);
    expect(damagedLeafToo).toMatchObject(invalid);
    expect(damageLines()).toBe(before + 2);
    expect(await answers(consentAt(30))).toMatchObject(valid);
  });

  it.each([-1, 2_000_000_000])('is invalid if its stored number of leaves is %i', async (count) => {
    const { rows } = await sql('select count from batches where number = $1', [batch.number]);
    await sql('update batches set count = $2 where number = $1', [batch.number, count]);
    const altered = await answers(consentAt(30));
    await sql('update batches set count = $2 where number = $1', [batch.number, rows[0]?.count]);
    expect(altered).toMatchObject(invalid);
    expect(await answers(consentAt(30))).toMatchObject(valid);
  });
});

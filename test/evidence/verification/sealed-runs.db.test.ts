import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { SealedRuns } from '../../../src/evidence/verification/sealed-runs.js';
import { withTransaction } from '../../../src/platform/database/pool.js';
import { type RunningApp, startApp } from '../../api/server/running-app.js';

const Leaf = z.object({ batch: z.int(), stream: z.string(), revision: z.int(), sealed_at: z.date() });

describe('the positions that the events of the ledger seal', () => {
  let app: RunningApp;
  let leaves: readonly z.infer<typeof Leaf>[];
  beforeAll(async () => {
    app = await startApp('serve');
    await app.seed();
    const batches = async () => {
      const { rows } = await app.superuser.query(
        `select l.batch, l.stream, l.revision, b.sealed_at from leaves l join batches b on b.number = l.batch order by l.batch, l.index`,
      );
      leaves = z.array(Leaf).parse(rows);
      return new Set(leaves.map(({ batch }) => batch)).size;
    };
    while ((await batches()) < 3) await app.seed();
  });
  afterAll(() => app.stop());

  /** Asks in one snapshot; the answers tell how many bodies of events were read. */
  type Ask = (
    sealed: SealedRuns,
    position: { stream: string; revision: number },
    createdAt: Date,
  ) => Promise<{ isSealed: boolean; bodies: number }>;
  const inSnapshot = (work: (ask: Ask) => Promise<void>) =>
    withTransaction(
      app.superuser,
      (db) =>
        work(async (sealed, position, createdAt) => {
          let bodies = 0;
          const counting = new Proxy(db, {
            get: (target, name) => {
              if (name !== 'query') return Reflect.get(target, name);
              return (text: string, values: unknown[]) => {
                if (text.startsWith('select body')) bodies += 1;
                return target.query(text, values);
              };
            },
          });
          const isSealed = await sealed.contain(counting, position, createdAt.toISOString());
          return { isSealed, bodies };
        }),
      { isolation: 'repeatable read' },
    );

  it('contain every leaf, and no other position', async () => {
    await inSnapshot(async (ask) => {
      const sealed = new SealedRuns();
      for (const leaf of leaves) expect((await ask(sealed, leaf, leaf.sealed_at)).isSealed).toBe(true);
      const [{ stream, sealed_at }] = z.tuple([Leaf]).rest(Leaf).parse(leaves);
      expect((await ask(sealed, { stream, revision: 1_000_000 }, sealed_at)).isSealed).toBe(false);
    });
  });

  it('are parsed once, as long as they fit into the memory', async () => {
    await inSnapshot(async (ask) => {
      const [first] = z.tuple([Leaf]).rest(Leaf).parse(leaves);
      const unknown = { stream: first.stream, revision: 1_000_000 };
      const sealed = new SealedRuns();
      expect((await ask(sealed, unknown, first.sealed_at)).bodies).toBeGreaterThanOrEqual(3);
      expect((await ask(sealed, unknown, first.sealed_at)).bodies).toBe(0);
      const small = new SealedRuns(2);
      await ask(small, unknown, first.sealed_at);
      expect(await ask(small, first, first.sealed_at)).toMatchObject({ isSealed: true });
      expect((await ask(small, unknown, first.sealed_at)).bodies).toBeGreaterThanOrEqual(1);
    });
  });
});

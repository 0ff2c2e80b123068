import * as z from 'zod';
import { LEDGER_POLICY_SET } from '../../schemas/events/ledger-policy.js';
import { PublicEventBody } from '../../schemas/events/notices.js';
import { InvalidEventBody, parseBody, parseRecord } from '../../schemas/events/sealed-event.js';
import { consentsStreamSql } from '../platform/database/shared-statements.js';
import { PAGE } from './pages.js';
import type { Section } from './section.js';

/** Verifiers grant this to clocks (docs/evidence-format.md). */
const TOLERANCE_SECONDS = 300;

const PolicyRows = z.array(z.object({ body: z.instanceof(Uint8Array) }));
const LateRows = z.array(z.object({ event_id: z.string(), seconds: z.number() }));

/**
 * Lists consents that were sealed later than the most patient policy so far allows, and those that wait
 * longer.
 */
export async function auditPromises({ db, findings, now }: Pick<Section, 'db' | 'findings' | 'now'>): Promise<void> {
  const { rows } = await db.query('select body from ledger_policies order by revision');
  const limits = PolicyRows.parse(rows).flatMap(({ body }) => secondsOf(body));
  if (limits.length === 0) return;
  const seconds = Math.max(...limits);
  const late = await db.query(
    `select c.event_id, extract(epoch from coalesce(b.sealed_at, $2) - c.created_at)::float8 as seconds
       from read_model.consents c
       left join leaves l on l.stream = ${consentsStreamSql('c.site_id')} and l.revision = c.revision
       left join batches b on b.number = l.batch
      where coalesce(b.sealed_at, $2) > c.created_at + $1 * interval '1 second'
      order by c.created_at limit ${PAGE}`,
    [seconds + TOLERANCE_SECONDS, now()],
  );
  for (const row of LateRows.parse(late.rows))
    findings.add({
      kind: 'promise-broken',
      table: 'read_model.consents',
      key: row.event_id,
      detail: `a batch within ${seconds} seconds was promised, and it took ${Math.round(row.seconds)}`,
    });
}

function secondsOf(body: Uint8Array): readonly number[] {
  try {
    const { record } = parseBody(PublicEventBody, LEDGER_POLICY_SET, body);
    return [parseRecord(LEDGER_POLICY_SET, record).seal_within_seconds];
  } catch (error) {
    // Altered: the comparison with the stream of policies reports it.
    if (error instanceof InvalidEventBody || error instanceof SyntaxError) return [];
    throw error;
  }
}

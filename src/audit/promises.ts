import * as z from 'zod';
import { LEDGER_POLICY_SET } from '../../schemas/events/ledger-policy.js';
import { PublicEventBody } from '../../schemas/events/notices.js';
import { InvalidEventBody, parseBody, parseRecord } from '../../schemas/events/sealed-event.js';
import { consentsStreamSql } from '../platform/database/shared-statements.js';
import { PAGE, pagesOf, type Section } from './section.js';

/** Verifiers tolerate this difference of clocks (docs/evidence-format.md). */
const TOLERANCE_SECONDS = 300;

const PromisingPolicyRows = z.array(z.object({ body: z.instanceof(Uint8Array) }));
const LateRows = z.array(z.object({ event_id: z.string(), seconds: z.number() }));

/**
 * Lists consents that were sealed, or have been waiting, for longer than the policy with the longest delay so far
 * allows.
 */
export async function auditSealedPromises({ db, findings, now }: Section): Promise<void> {
  const { rows } = await db.query('select body from ledger_policies order by revision');
  const limits = PromisingPolicyRows.parse(rows).flatMap(({ body }) => secondsOf(body));
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
    // An altered policy is reported by the comparison with the stream of policies.
    if (error instanceof InvalidEventBody || error instanceof SyntaxError) return [];
    throw error;
  }
}

const PromiseRows = z.array(z.object({ place: z.string(), id: z.string(), sealed_before: z.date() }));

/** A consent that waits longer than its own promise says is a broken promise, at whatever stage it waits. */
export async function auditWaitingPromises({ db, findings, now, step }: Section): Promise<void> {
  const read = async (after: string | null) => {
    const [stream, revision] = after?.split(' ') ?? [null, null];
    const { rows } = await db.query(
      `select stream || ' ' || revision as place, id, sealed_before from event_log.unsealed_events
        where sealed_before < $2 and ($3::text is null or (stream, revision) > ($3, $4::bigint))
        order by stream, revision limit $1`,
      [PAGE, now(), stream, revision],
    );
    return PromiseRows.parse(rows);
  };
  let done = 0;
  for await (const page of pagesOf(read, (row) => row.place)) {
    for (const { id: key, sealed_before: promised } of page) {
      const seconds = Math.round((now().getTime() - promised.getTime()) / 1000);
      const detail = `a batch before ${promised.toISOString()} was promised, and it still waits, ${seconds} seconds later`;
      findings.add({ kind: 'promise-broken', table: 'event_log.events', key, detail });
    }
    done += page.length;
    await step(done, null);
  }
}

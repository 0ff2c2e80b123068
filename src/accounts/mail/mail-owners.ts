import * as z from 'zod';
import type { Queryable } from '../../platform/database/pool.js';
import { type RowSeals, sealedRows } from '../../platform/keys/index.js';
import type { NewMailJob } from './mail-job.js';
import type { QueueMail } from './mail-queue.js';

const Owner = z.object({ email: z.string() });

export interface OwnersOptions {
  readonly seals: RowSeals;
  readonly queueMail: QueueMail;
}

/**
 * Queues a mail to each owner of a tenant, in the transaction of what it reports.
 * @param db a handle in the role `consent_ledger_admin`
 * @param mailTo returns the mail to an address
 */
export async function mailOwners(
  db: Queryable,
  { seals, queueMail }: OwnersOptions,
  tenantId: string,
  mailTo: (address: string) => NewMailJob,
): Promise<void> {
  const where = "tenant_id = $1 and role = 'owner' and disabled_at is null order by created_at, id";
  for (const row of await sealedRows(db, { table: 'users', where, values: [tenantId] })) {
    const owner = await seals.open(row, Owner);
    if (owner !== null) await queueMail(db, mailTo(owner.email));
  }
}

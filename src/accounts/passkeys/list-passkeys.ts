import * as z from 'zod';
import type { Queryable } from '../../platform/database/pool.js';
import { ChangeRefused } from '../../platform/errors.js';

/** A passkey as its user sees it. */
export interface ListedPasskey {
  readonly id: string;
  readonly label: string;
  readonly wasVerified: boolean;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
  readonly credentialId: string;
  readonly transports: readonly string[];
}

const COLUMNS = 'p.id, p.label, p.was_verified, p.created_at, p.last_used_at, p.credential_id, p.transports';

const Rows = z.array(
  z
    .object({
      id: z.string(),
      label: z.string(),
      was_verified: z.boolean(),
      created_at: z.date(),
      last_used_at: z.date().nullable(),
      credential_id: z.string(),
      transports: z.array(z.string()),
    })
    .transform(
      (row): ListedPasskey => ({
        id: row.id,
        label: row.label,
        wasVerified: row.was_verified,
        createdAt: row.created_at,
        lastUsedAt: row.last_used_at,
        credentialId: row.credential_id,
        transports: row.transports,
      }),
    ),
);

/** Lists the passkeys of a user, oldest first. @param db a handle in the role `consent_ledger_admin` */
export async function listPasskeys(db: Queryable, userId: string): Promise<readonly ListedPasskey[]> {
  const { rows } = await db.query(
    `select ${COLUMNS} from passkeys p join users u on u.id = p.user_id
      where u.id = $1 and p.id = any (u.passkey_ids) order by p.created_at, p.id`,
    [userId],
  );
  return Rows.parse(rows);
}

/**
 * Reads one passkey of a user.
 * @throws ChangeRefused `not_found`, including for a passkey of another user
 */
export async function readPasskey(db: Queryable, userId: string, passkeyId: string): Promise<ListedPasskey> {
  const passkey = (await listPasskeys(db, userId)).find(({ id }) => id === passkeyId);
  if (passkey === undefined) throw new ChangeRefused('not_found', `You have no passkey ${passkeyId}.`);
  return passkey;
}

import { admitGroupSql } from './004-admit-group.sql.js';
import { generationsSql } from './004-generations.sql.js';
import { rateLimitSql } from './004-rate-limits.sql.js';

/** Ciphertext does not compress, and the usual body of an event, a little above 2 kB, is cheaper in its row than beside it. */
const storageSql = `
alter table outbox set (toast_tuple_target = 8160);
alter table outbox alter column body set storage external;
alter table attachments alter column ciphertext set storage external;
create index approval_tokens_unused on approval_tokens (expires_at) where consumed_by is null;
-- Locking rows takes the right to update them.
grant update on approval_tokens to consent_ledger_worker;
`;

/** What admission remembers for a while, and what it runs inside the database. */
export const admissionFunctionsSql = [storageSql, rateLimitSql, generationsSql, admitGroupSql].join('\n');

/** Rotation of the ledger's key: the worker retires the key that was, and tells the order of keys by their bridges. */
export const ledgerKeyRotationSql = `
grant update (retired_at) on keyring to consent_ledger_worker;
create unique index one_key_after_each on ledger_keys (replaces) nulls not distinct;
`;

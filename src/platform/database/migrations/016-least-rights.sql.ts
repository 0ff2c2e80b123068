/** Rights that turned out not to be needed: keys are made in the worker's role, also by processes that answer callers. */
export const leastRightsSql = `
revoke insert on keyring from consent_ledger_api;
`;

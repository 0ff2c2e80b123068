export { ALTERED_ROW_TABLES, type ReportAlteredRow } from './altered-row.js';
export { BLIND_INDEX_BYTES, type BlindIndexKind, blindIndex, normalise } from './blind-index.js';
export { checkKeyRows } from './check-key-rows.js';
export { KeyError } from './errors.js';
export { assertGenuine, findProofKey, NotGenuine, type ProofKeys } from './genuine-event.js';
export { hmacSha256, hmacSha256Hex } from './hmac.js';
export type { JwtKeys } from './jwt-keys.js';
export type { KeyColumns } from './key-columns.js';
export { type KeyRow, keyRowColumns, keyRowsOf, type OpenKeyRow, sealOfKeyRow } from './key-row.js';
export {
  createKeyring,
  type KeyRows,
  type Keyring,
  type ProofKey,
  type RecordKeyring,
  type RowSeals,
} from './keyring.js';
export { loadMasterKey, reloadOf } from './master-key.js';
export { type IndexedPerson, nextPersonRows, personRows, personRowsSql } from './person-rows.js';
export { isProofHashOf, testProofKey } from './proof-hash.js';
export { createRandomPool, type RandomPool } from './random-pool.js';
export { readSealed, sealedRows } from './read-sealed.js';
export {
  approvalTokenKey,
  decryptForRecord,
  decryptForToken,
  encryptForRecord,
  encryptForToken,
  personId,
  recordKey,
  SEED_BYTES,
} from './record-encryption.js';
export { rewrapAll } from './rotate-master-key.js';
export { FORGET_CHANGES, SealedBytes, type SealedRow, SealedTime, sealed, sealedRow } from './row-seals.js';
export { type SigningKey, seedOf } from './signing-key.js';

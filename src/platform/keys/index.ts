export { BLIND_INDEX_BYTES, type BlindIndexKind, blindIndex, normalise } from './blind-index.js';
export { checkKeyRows } from './check-key-rows.js';
export { KeyError } from './errors.js';
export {
  assertGenuine,
  findProofKey,
  isProofHashOf,
  NotGenuine,
  type ProofKeys,
  testProofKey,
} from './genuine-event.js';
export { hmacSha256, hmacSha256Hex } from './hmac.js';
export type { JwtKeys } from './jwt-keys.js';
export {
  type IndexedPerson,
  type KeyColumns,
  type KeyRow,
  keyRowColumns,
  keyRowsOf,
  nextPersonRows,
  type OpenKeyRow,
  personRows,
  personRowsSql,
  sealOfKeyRow,
} from './key-rows.js';
export {
  createKeyring,
  type KeyRows,
  type Keyring,
  type ProofKey,
  type RecordKeyring,
  type RowSeals,
  readSealed,
  sealedRows,
} from './keyring.js';
export { loadMasterKey, reloadOf, rewrapAll } from './master-key.js';
export {
  approvalTokenKey,
  createRandomPool,
  decryptForRecord,
  decryptForToken,
  encryptForRecord,
  encryptForToken,
  personId,
  type RandomPool,
  recordKey,
  SEED_BYTES,
} from './record-encryption.js';
export {
  ALTERED_ROW_TABLES,
  FORGET_CHANGES,
  type ReportAlteredRow,
  SealedBytes,
  type SealedRow,
  SealedTime,
  sealed,
  sealedRow,
} from './row-seals.js';
export { type SigningKey, seedOf } from './signing-key.js';

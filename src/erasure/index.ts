export { applyErasures } from './apply-erasures.js';
export { eraseSubject } from './erase-subject.js';
export { createErasureRunner } from './erasure-runner.js';
export { type ErasureJournal, openErasureJournal } from './journal.js';
export { findSpellings, type SpellingMatch } from './near-matches.js';
export { type Erasure, listErasures, readErasure } from './read-erasures.js';
export {
  auditOf,
  type ErasureOrder,
  type ErasureSubject,
  IDENTIFIER_KINDS,
  orderErasure,
  recordErasureRequest,
} from './requests.js';
export { createRetention } from './retention-part.js';
export { scrubErased } from './scrub.js';
export { INDEX_COLUMNS } from './select-subjects.js';
export {
  listAnnouncements,
  readRemains,
  shownAnnouncement,
  shownErasure,
  shownReceipt,
  statementOf,
  subjectOf,
} from './show-erasure.js';
export { eraseForTestKey } from './test-erasures.js';

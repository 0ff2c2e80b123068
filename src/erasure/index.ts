export { type AppliedErasures, type ApplyErasuresParts, applyErasures } from './apply-erasures.js';
export { type ErasureParts, eraseSubject, resumeErasures } from './erase-subject.js';
export { createErasureRunner, type ErasureRunnerOptions } from './erasure-runner.js';
export { JournalUnavailable, UnknownSite } from './errors.js';
export { type ErasureJournal, openErasureJournal } from './journal.js';
export {
  ANNOUNCEMENT_STATES,
  type Announcement,
  type Erasure,
  type ErasureReceipt,
  erasureReceipt,
  firstScrubSince,
  listAnnouncements,
  listErasures,
  type Remains,
  readErasure,
  remainsOf,
  statementOf,
} from './receipt.js';
export {
  auditOf,
  ERASURE_ACTION,
  ERASURE_CHANNELS,
  type ErasureOrder,
  type ErasureSubject,
  orderErasure,
  recordErasureRequest,
} from './requests.js';
export { createRetention, type RetentionOptions } from './retention-part.js';
export { ScrubFailed, scrubErased } from './scrub.js';
export { INDEX_COLUMNS } from './select-subjects.js';
export { IDENTIFIER_KINDS, shownAnnouncement, shownErasure, shownReceipt, subjectOf } from './show-erasure.js';

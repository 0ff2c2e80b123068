export { ANNOUNCEMENT_STATES, type Announcement, listAnnouncements } from './announcements.js';
export { type AppliedErasures, type ApplyErasuresOptions, applyErasures } from './apply-erasures.js';
export { type ErasureOptions, eraseSubject, resumeErasures } from './erase-subject.js';
export { createErasureRunner, type ErasureRunnerOptions } from './erasure-runner.js';
export { JournalUnavailable, UnknownSite } from './errors.js';
export type { ErasureSubject } from './identifiers.js';
export { IDENTIFIER_KINDS } from './identifiers.js';
export { type ErasureJournal, openErasureJournal } from './journal.js';
export { type Erasure, type ErasureReceipt, erasureReceipt, listErasures, readErasure } from './read-erasures.js';
export { firstScrubSince, type Remains, remainsOf, statementOf } from './remains.js';
export {
  auditOf,
  ERASURE_ACTION,
  ERASURE_CHANNELS,
  type ErasureOrder,
  orderErasure,
  recordErasureRequest,
} from './requests.js';
export { createRetention, type RetentionOptions } from './retention-part.js';
export { ScrubFailed, scrubErased } from './scrub.js';
export { INDEX_COLUMNS } from './select-subjects.js';
export { shownAnnouncement, shownErasure, shownReceipt, subjectOf } from './show-erasure.js';

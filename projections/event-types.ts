import {
  BATCH_SEALED,
  CHECKPOINT_STAMPED,
  EVIDENCE_KEPT,
  LEDGER_EVENT_SKIPPED,
  LEDGER_KEY_PUBLISHED,
  LEDGER_RESTORED,
  LOG_STARTED,
} from '../schemas/events/ledger.js';
import { LEDGER_KEY_ANNOUNCED } from '../schemas/events/ledger-key.js';
import { LEDGER_POLICY_SET } from '../schemas/events/ledger-policy.js';
import {
  DOCUMENT_VERSION_ACTIVATED,
  DOCUMENT_VERSION_PUBLISHED,
  DOCUMENT_VERSION_RETIRED,
} from '../schemas/events/notices.js';
import { CONSENT_TYPES } from '../schemas/events/sealed-event.js';
import { SITE_CONFIG_PUBLISHED } from '../schemas/events/site-config.js';
import { SITE_SCANNED } from '../schemas/events/site-scanned.js';
import { SUBJECT_ERASED } from '../schemas/events/subject-erased.js';

/** Events without a site. */
export const LEDGER_EVENTS = [
  LOG_STARTED,
  LEDGER_KEY_PUBLISHED,
  BATCH_SEALED,
  CHECKPOINT_STAMPED,
  EVIDENCE_KEPT,
  LEDGER_RESTORED,
  LEDGER_EVENT_SKIPPED,
  LEDGER_KEY_ANNOUNCED,
  LEDGER_POLICY_SET,
] as const;
export const NOTICE_EVENTS = [
  DOCUMENT_VERSION_PUBLISHED,
  DOCUMENT_VERSION_ACTIVATED,
  DOCUMENT_VERSION_RETIRED,
  SITE_CONFIG_PUBLISHED,
  SITE_SCANNED,
] as const;
/** Every type of event that this release appends to the log. */
export const EVENT_TYPES: readonly string[] = [...CONSENT_TYPES, SUBJECT_ERASED, ...NOTICE_EVENTS, ...LEDGER_EVENTS];

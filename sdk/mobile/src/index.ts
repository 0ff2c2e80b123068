export type {
  Acceptance,
  Configuration,
  KnownCategory,
  KnownDocument,
  KnownService,
  ShownDocument,
} from '../../core/answers.js';
export type { Categories, Choice, Decision } from '../../core/choice.js';
export type { ConsentSource } from '../../core/consent.js';
export type { ApprovalFields, Presentation } from '../../core/consent-body.js';
export type { KeptRecord } from '../../core/consent-queue.js';
export type { ConsentState, ConsentStatus } from '../../core/consent-state.js';
export type { QueuedConsent } from '../../core/queue.js';
export type { FieldError } from '../../shared/service-error.js';
export { type ErrorCode, ServiceError } from '../../shared/service-error.js';
export type { BrowserConsent, SignedPromise } from '../../shared/types.js';
export { Consent } from './consent.js';
export type { AppFetch, MobileOptions } from './options.js';
export {
  type AppStorage,
  type AsyncStorageLike,
  asyncStorage,
  capacitorPreferences,
  type PreferencesLike,
} from './storage.js';
